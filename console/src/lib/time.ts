// Instants and durations in words. Dates are written year-month-day in every language: sortable, never misread.

import { currentLang } from '@/i18n'

export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatter(zone: string): Intl.DateTimeFormat {
	let found = formatters.get(zone)
	if (!found) {
		found = new Intl.DateTimeFormat('en-US', {
			timeZone: zone,
			hourCycle: 'h23',
			year: 'numeric',
			month: '2-digit',
			day: '2-digit',
			hour: '2-digit',
			minute: '2-digit',
			second: '2-digit',
		})
		formatters.set(zone, found)
	}
	return found
}

export interface Civil {
	date: string
	time: string
}

/** The civil date and time of an instant in a zone: `{ date: "2026-03-29", time: "03:00:00" }`. */
export function civil(ms: number, zone = viewerZone): Civil {
	const part: Record<string, string> = {}
	for (const { type, value } of formatter(zone).formatToParts(ms)) part[type] = value
	return { date: `${part.year}-${part.month}-${part.day}`, time: `${part.hour}:${part.minute}:${part.second}` }
}

/** `2026-03-29 03:00:00` */
export function fullTime(ms: number, zone = viewerZone): string {
	const { date, time } = civil(ms, zone)
	return `${date} ${time}`
}

/** As short as can be understood at `now`: the time alone today, without the year in this year. */
export function shortTime(ms: number, now: number, zone = viewerZone): string {
	const then = civil(ms, zone)
	const today = civil(now, zone)
	if (then.date === today.date) return then.time
	if (then.date.slice(0, 4) === today.date.slice(0, 4)) return `${then.date.slice(5)} ${then.time}`
	return `${then.date} ${then.time}`
}

/** Hours and minutes east of UTC: `+02:00`. */
export function offsetText(seconds: number): string {
	const abs = Math.abs(seconds)
	const two = (n: number) => String(Math.floor(n)).padStart(2, '0')
	return `${seconds < 0 ? '−' : '+'}${two(abs / 3600)}:${two((abs % 3600) / 60)}`
}

const units = {
	en: { d: 'd', h: 'h', min: 'min', s: 's', ms: 'ms' },
	zh: { d: '天', h: '小时', min: '分钟', s: '秒', ms: '毫秒' },
}

/** `340 ms`, `12.3 s`, `4 min 05 s`, `1 h`, `3 h 20 min`, `2 d 4 h`; in Chinese `4 分钟 05 秒`. */
export function durationText(ms: number): string {
	const unit = units[currentLang.value]
	if (ms < 0) return `−${durationText(-ms)}`
	if (ms < 1000) return `${Math.round(ms)} ${unit.ms}`
	if (ms < 59_950) return `${(ms / 1000).toFixed(1)} ${unit.s}`
	const s = Math.round(ms / 1000)
	const two = (n: number) => String(n).padStart(2, '0')
	if (s < 3600) return `${Math.floor(s / 60)} ${unit.min}${s % 60 ? ` ${two(s % 60)} ${unit.s}` : ''}`
	const min = Math.floor(s / 60)
	if (min < 1440) return `${Math.floor(min / 60)} ${unit.h}${min % 60 ? ` ${two(min % 60)} ${unit.min}` : ''}`
	const h = Math.floor(min / 60)
	return `${Math.floor(h / 24)} ${unit.d}${h % 24 ? ` ${h % 24} ${unit.h}` : ''}`
}

/** A countdown that changes once a second: `8 s`, `4:05`, `3:20:09`, `2 d 4 h`. */
export function countdownText(ms: number): string {
	const unit = units[currentLang.value]
	const s = Math.max(0, Math.ceil(ms / 1000))
	const two = (n: number) => String(n).padStart(2, '0')
	if (s < 60) return `${s} ${unit.s}`
	if (s < 3600) return `${Math.floor(s / 60)}:${two(s % 60)}`
	if (s < 172_800) return `${Math.floor(s / 3600)}:${two(Math.floor((s % 3600) / 60))}:${two(s % 60)}`
	return `${Math.floor(s / 86_400)} ${unit.d} ${Math.floor((s % 86_400) / 3600)} ${unit.h}`
}

/** The value of `<input type="datetime-local">` for an instant, in the viewer's zone, to the minute. */
export function toLocalInput(ms: number): string {
	const { date, time } = civil(ms)
	return `${date}T${time.slice(0, 5)}`
}

/** The instant that a `datetime-local` value names in the viewer's zone; null when it names none. */
export function fromLocalInput(value: string): number | null {
	const ms = value ? new Date(value).getTime() : NaN
	return Number.isNaN(ms) ? null : ms
}

/** All zones that the browser knows, UTC first. */
export function knownZones(): string[] {
	const list = Intl.supportedValuesOf?.('timeZone') ?? []
	return ['UTC', ...list.filter((zone) => zone !== 'UTC')]
}
