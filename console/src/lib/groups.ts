// The keys of the groups, for filters and forms; read once and again when a page asks.

import { shallowRef } from 'vue'
import { api, Problem } from '@/api'

export const groupKeys = shallowRef<string[]>([])

export async function loadGroupKeys(): Promise<void> {
	try {
		groupKeys.value = (await api.groups()).items.map((group) => group.group_key)
	} catch (error) {
		// A filter without its choices is no reason to fail a page: the list itself shows what is wrong.
		if (!(error instanceof Problem)) throw error
	}
}
