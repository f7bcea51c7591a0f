// Dates of a calendar, without zones: which are in, and how a month lies in its weeks.

import { WEEKDAYS, type CalendarDay, type Weekday } from '@/api'

const DAY_MS = 86_400_000
const two = (n: number): string => String(n).padStart(2, '0')

export const dateText = (year: number, month: number, day: number): string => `${year}-${two(month)}-${two(day)}`
export const weekdayOf = (date: string): Weekday => WEEKDAYS[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7]!

/** The dates of a month in rows of seven from Monday on; null where another month lies. */
export function monthGrid(year: number, month: number): (string | null)[][] {
	const first = Date.UTC(year, month - 1, 1)
	const days = (Date.UTC(year, month, 1) - first) / DAY_MS
	const lead = (new Date(first).getUTCDay() + 6) % 7
	const cells: (string | null)[] = Array.from({ length: lead }, () => null)
	for (let day = 1; day <= days; day++) cells.push(dateText(year, month, day))
	while (cells.length % 7 !== 0) cells.push(null)
	return Array.from({ length: cells.length / 7 }, (_, row) => cells.slice(row * 7, row * 7 + 7))
}

/** The exceptions after a date was turned over: one that says what the week says anyway is none, unless it is labelled. */
export function turned(days: readonly CalendarDay[], week: readonly Weekday[], date: string): CalendarDay[] {
	const old = days.find((day) => day.date === date)
	const byWeek = week.includes(weekdayOf(date))
	const isIn = old ? old.kind === 'in' : byWeek
	const rest = days.filter((day) => day.date !== date)
	if (!isIn === byWeek && !old?.label) return rest
	return [...rest, { ...old, date, kind: isIn ? ('out' as const) : ('in' as const) }].sort((a, b) => (a.date < b.date ? -1 : 1))
}
