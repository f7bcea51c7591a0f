import { expect, test, vi } from 'vitest'
import { idAfter, mergeFirstPage, readPages } from '@/lib/keyset'

const newestFirst = (a: { id: string }, b: { id: string }) => idAfter(b.id, a.id)
const rows = (...ids: string[]) => ids.map((id) => ({ id }))

test('ids compare as numbers of any length', () => {
	expect(idAfter('10', '9')).toBe(true)
	expect(idAfter('9', '10')).toBe(false)
	expect(idAfter('385551347199509604', '385551347199509603')).toBe(true)
	expect(idAfter('7', '7')).toBe(false)
})

test('a fresh first page replaces its range and keeps what was loaded behind it', () => {
	const old = rows('9', '8', '7', '6', '5')
	expect(mergeFirstPage({ items: rows('11', '10', '9'), next: 'x' }, old, newestFirst)).toEqual(
		rows('11', '10', '9', '8', '7', '6', '5'),
	)
	// 8 is gone from the page's range: it does not match any more.
	expect(mergeFirstPage({ items: rows('10', '9', '7'), next: 'x' }, old, newestFirst)).toEqual(
		rows('10', '9', '7', '6', '5'),
	)
})

test('a first page that is all there is replaces everything', () => {
	expect(mergeFirstPage({ items: rows('3'), next: null }, rows('9', '3', '2'), newestFirst)).toEqual(rows('3'))
	expect(mergeFirstPage({ items: [], next: null }, rows('9'), newestFirst)).toEqual([])
})

test('reading goes on over short and empty pages until there is enough or the list ends', async () => {
	const pages = [
		{ items: [] as number[], next: 'a' },
		{ items: [1], next: 'b' },
		{ items: [2, 3], next: 'c' },
		{ items: [4], next: null },
	]
	const fetch = vi.fn(async (after: string | null) => pages[after === null ? 0 : after.charCodeAt(0) - 96]!)
	expect(await readPages(fetch, null, 2)).toEqual({ items: [1, 2, 3], next: 'c' })
	expect(fetch.mock.calls.map(([after]) => after)).toEqual([null, 'a', 'b'])
	expect(await readPages(fetch, null, Infinity)).toEqual({ items: [1, 2, 3, 4], next: null })
})
