import { expect, test } from 'vitest'
import { civil, countdownText, durationText, fromLocalInput, fullTime, offsetText, shortTime, toLocalInput } from '@/lib/time'

const at = (text: string) => Date.parse(text)

test('an instant is written in the asked zone, on both sides of a clock change', () => {
	expect(fullTime(at('2026-03-29T00:59:59Z'), 'Europe/Berlin')).toBe('2026-03-29 01:59:59')
	expect(fullTime(at('2026-03-29T01:00:00Z'), 'Europe/Berlin')).toBe('2026-03-29 03:00:00')
	expect(civil(at('2026-01-01T00:00:00Z'), 'UTC')).toEqual({ date: '2026-01-01', time: '00:00:00' })
})

test('short times leave out what is clear from now', () => {
	const now = at('2026-11-29T12:00:00Z')
	expect(shortTime(at('2026-11-29T08:05:09Z'), now, 'UTC')).toBe('08:05:09')
	expect(shortTime(at('2026-11-28T08:05:09Z'), now, 'UTC')).toBe('11-28 08:05:09')
	expect(shortTime(at('2025-11-29T08:05:09Z'), now, 'UTC')).toBe('2025-11-29 08:05:09')
})

test.each([
	[0, '0 ms'],
	[999, '999 ms'],
	[1_000, '1.0 s'],
	[59_949, '59.9 s'],
	[59_950, '1 min'],
	[60_000, '1 min'],
	[245_000, '4 min 05 s'],
	[3_600_000, '1 h'],
	[12_000_000, '3 h 20 min'],
	[86_400_000, '1 d'],
	[187_200_000, '2 d 4 h'],
	[-1_500, '−1.5 s'],
])('a duration of %d ms reads %s', (ms, text) => {
	expect(durationText(ms)).toBe(text)
})

test.each([
	[-5, '0 s'],
	[1, '1 s'],
	[59_000, '59 s'],
	[60_000, '1:00'],
	[12_009_000, '3:20:09'],
	[172_800_000, '2 d 0 h'],
])('a countdown of %d ms reads %s', (ms, text) => {
	expect(countdownText(ms)).toBe(text)
})

test('offsets have a sign and two digits', () => {
	expect(offsetText(7200)).toBe('+02:00')
	expect(offsetText(-12_600)).toBe('−03:30')
})

test('what a datetime field shows is read back as the same minute', () => {
	const ms = at('2026-11-29T08:05:00Z')
	expect(fromLocalInput(toLocalInput(ms))).toBe(ms)
	expect(fromLocalInput('')).toBeNull()
	expect(fromLocalInput('not a time')).toBeNull()
})
