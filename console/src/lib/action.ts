// Something the user asked for: busy while it runs, a problem when the server refused.

import { ref, shallowRef } from 'vue'
import { Problem } from '@/api'

export function useAction() {
	const busy = ref(false)
	const problem = shallowRef<Problem | null>(null)

	/** True when it was done. A second call while the first one runs does nothing. */
	async function run(action: () => Promise<unknown>): Promise<boolean> {
		if (busy.value) return false
		busy.value = true
		problem.value = null
		try {
			await action()
			return true
		} catch (error) {
			if (!(error instanceof Problem)) throw error
			problem.value = error
			return false
		} finally {
			busy.value = false
		}
	}
	return { busy, problem, run }
}
