// What a page shows, as the server has it, read again and again; a problem when it could not be.

import { shallowRef } from 'vue'
import { Problem } from '@/api'

export function useLoad(ask: () => Promise<void>) {
	const problem = shallowRef<Problem | null>(null)

	async function load(): Promise<void> {
		try {
			await ask()
			problem.value = null
		} catch (error) {
			if (!(error instanceof Problem)) throw error
			problem.value = error
		}
	}
	return { problem, load }
}
