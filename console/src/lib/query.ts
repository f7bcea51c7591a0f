// Filters live in the address: what one sees can be sent to somebody else, and Back undoes a filter.

import { computed, type WritableComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'

export function useQuery(): {
	text: (name: string) => WritableComputedRef<string>
	list: (name: string) => WritableComputedRef<string[]>
	clear: () => void
} {
	const route = useRoute()
	const router = useRouter()

	function put(name: string, value: string): void {
		const query = { ...route.query }
		if (value) query[name] = value
		else delete query[name]
		void router.replace({ query })
	}
	const read = (name: string): string => {
		const value = route.query[name]
		return (Array.isArray(value) ? value[0] : value) ?? ''
	}
	return {
		text: (name) => computed({ get: () => read(name), set: (value) => put(name, value ?? '') }),
		list: (name) =>
			computed({
				get: () => read(name).split(',').filter(Boolean),
				set: (value) => put(name, value.join(',')),
			}),
		clear: () => void router.replace({ query: {} }),
	}
}
