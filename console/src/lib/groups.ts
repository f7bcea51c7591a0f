// The keys of the groups, for filters and forms; read once and again when a page asks.

import { shallowRef } from 'vue'
import { api, Problem } from '@/api'
import { readPages } from './keyset'

export const groupKeys = shallowRef<string[]>([])

export async function loadGroupKeys(): Promise<void> {
	try {
		const { items } = await readPages((after) => api.groups({ after, limit: 200 }), null, Infinity)
		groupKeys.value = items.map((group) => group.group_key)
	} catch (error) {
		// A filter without its choices is no reason to fail a page: the list itself shows what is wrong.
		if (!(error instanceof Problem)) throw error
	}
}
