// A list that is read page by page along its key, and refreshed in place.

import { onScopeDispose, ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { Problem, type Page } from '@/api'

/**
 * The list after its first page was read again. Rows of the old list that come after the last fresh one stay;
 * the others are replaced. `after(a, b)`: a comes after b.
 */
export function mergeFirstPage<T>(fresh: Page<T>, old: readonly T[], after: (a: T, b: T) => boolean): T[] {
	const last = fresh.items.at(-1)
	if (fresh.next === null || last === undefined) return [...fresh.items]
	return [...fresh.items, ...old.filter((row) => after(row, last))]
}

/** Reads on until `want` rows are there or the list ends: a page may be short although more follow. */
export async function readPages<T>(
	fetch: (after: string | null) => Promise<Page<T>>,
	after: string | null,
	want: number,
): Promise<Page<T>> {
	const items: T[] = []
	let next = after
	do {
		const page = await fetch(next)
		items.push(...page.items)
		next = page.next
	} while (next !== null && items.length < want)
	return { items, next }
}

export interface Keyset<T> {
	items: ShallowRef<T[]>
	more: Ref<boolean>
	loading: Ref<boolean>
	/** True until the first answer to the present filter. */
	fresh: Ref<boolean>
	problem: ShallowRef<Problem | null>
	/** Empties the list and reads it anew: the filter changed. */
	restart: () => Promise<void>
	/** Reads the first page again and keeps the rest. */
	refresh: () => Promise<void>
	loadMore: () => Promise<void>
}

export function useKeyset<T>(
	fetch: (after: string | null, signal: AbortSignal) => Promise<Page<T>>,
	after: (a: T, b: T) => boolean,
	want = 50,
): Keyset<T> {
	const items = shallowRef<T[]>([])
	const more = ref(false)
	const loading = ref(false)
	const fresh = ref(true)
	const problem = shallowRef<Problem | null>(null)
	let next: string | null = null
	let abort = new AbortController()

	async function read(from: string | null, take: (page: Page<T>) => void): Promise<void> {
		abort.abort()
		const mine = (abort = new AbortController())
		loading.value = true
		try {
			const page = await readPages((cursor) => fetch(cursor, mine.signal), from, want)
			if (mine.signal.aborted) return
			take(page)
			problem.value = null
			fresh.value = false
		} catch (error) {
			if (mine.signal.aborted) return
			if (!(error instanceof Problem)) throw error
			problem.value = error
		} finally {
			if (abort === mine) loading.value = false
		}
	}

	const adopt = (list: T[], cursor: string | null) => {
		items.value = list
		next = cursor
		more.value = cursor !== null
	}
	onScopeDispose(() => abort.abort())

	return {
		items,
		more,
		loading,
		fresh,
		problem,
		restart: () => {
			fresh.value = true
			return read(null, (page) => adopt(page.items, page.next))
		},
		refresh: () =>
			read(null, (page) => {
				const merged = mergeFirstPage(page, items.value, after)
				adopt(merged, merged.length > page.items.length ? next : page.next)
			}),
		loadMore: () => read(next, (page) => adopt([...items.value, ...page.items], page.next)),
	}
}

/** Compares two decimal strings as numbers of any size. */
export function idAfter(a: string, b: string): boolean {
	return a.length !== b.length ? a.length > b.length : a > b
}
