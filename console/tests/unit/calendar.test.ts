import { expect, test } from 'vitest'
import type { Weekday } from '@/api'
import { monthGrid, turned, weekdayOf } from '@/lib/calendar'

const WEEK: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri']

test('a month lies in its weeks from Monday on', () => {
	const rows = monthGrid(2024, 2)
	expect(rows).toHaveLength(5)
	expect(rows[0]).toEqual([null, null, null, '2024-02-01', '2024-02-02', '2024-02-03', '2024-02-04'])
	expect(rows[4]).toEqual(['2024-02-26', '2024-02-27', '2024-02-28', '2024-02-29', null, null, null])
	expect(monthGrid(2027, 2)).toHaveLength(4)
	expect(weekdayOf('2026-11-30')).toBe('mon')
})

test('a date is turned over and back; a label is kept', () => {
	const once = turned([], WEEK, '2026-11-30')
	expect(once).toEqual([{ date: '2026-11-30', kind: 'out' }])
	expect(turned(once, WEEK, '2026-11-30')).toEqual([])
	expect(turned(once, WEEK, '2026-11-29')).toEqual([{ date: '2026-11-29', kind: 'in' }, { date: '2026-11-30', kind: 'out' }])
	expect(turned([{ date: '2026-11-30', kind: 'out', label: 'x' }], WEEK, '2026-11-30')).toEqual([{ date: '2026-11-30', kind: 'in', label: 'x' }])
})
