// A schedule in words. English comes from the server; Chinese is put together here for the common shapes, and what
// is not among them is shown as the expression that it is.

import type { Dialect } from '@/api'
import { currentLang } from '@/i18n'

export function scheduleWords(expr: string, dialect: Dialect | null, english: string | null): string {
	return currentLang.value === 'zh' ? chinese(expr, dialect) ?? expr : english ?? expr
}

const DAYS = ['日', '一', '二', '三', '四', '五', '六']
const NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const MACROS: Record<string, string> = {
	'@yearly': '0 0 1 1 *',
	'@annually': '0 0 1 1 *',
	'@monthly': '0 0 1 * *',
	'@weekly': '0 0 * * 0',
	'@daily': '0 0 * * *',
	'@midnight': '0 0 * * *',
	'@hourly': '0 * * * *',
}

const isFree = (field: string): boolean => field === '*' || field === '?'
const two = (n: string | number): string => String(n).padStart(2, '0')

function span(text: string): string | null {
	const match = /^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text.trim())
	if (!match) return null
	const [, h, m, s] = match
	return [h && `${h} 小时`, m && `${m} 分钟`, s && `${s} 秒`].filter(Boolean).join(' ')
}

/** "1-5", "MON,WED" … as numbers in words; null when there is more to it than values and ranges. */
function items(field: string, word: (value: string) => string | null): string | null {
	const out: string[] = []
	for (const item of field.split(',')) {
		const [from, to, more] = item.split('-')
		const first = word(from!)
		const last = to === undefined ? '' : word(to)
		if (first === null || last === null || more !== undefined) return null
		out.push(last ? `${first}至${/^\d/.test(last) ? ' ' : ''}${last}` : first)
	}
	return out.join('、')
}

function weekdays(field: string, dialect: 'unix' | 'quartz' | 'spring'): string | null {
	const word = (value: string): string | null => {
		const named = NAMES.indexOf(value.toUpperCase())
		if (named >= 0) return `周${DAYS[named]}`
		if (!/^\d$/.test(value)) return null
		const index = dialect === 'quartz' ? Number(value) - 1 : Number(value) % 7
		return DAYS[index] ? `周${DAYS[index]}` : null
	}
	const nth = /^(\w+)#([1-5])$/.exec(field)
	if (nth) return word(nth[1]!) && `第${nth[2]}个${word(nth[1]!)}`
	const last = /^(\w+)L$/i.exec(field)
	if (last) return word(last[1]!) && `最后一个${word(last[1]!)}`
	return items(field, word)
}

function monthDays(field: string): string | null {
	if (/^L$/i.test(field)) return '最后一天'
	if (/^LW$/i.test(field)) return '最后一个工作日'
	const nearest = /^(\d+)W$/i.exec(field)
	if (nearest) return `最接近 ${nearest[1]} 日的工作日`
	const step = /^\*\/(\d+)$/.exec(field)
	if (step) return `从 1 日起每 ${step[1]} 天`
	const text = items(field, (value) => (/^\d+$/.test(value) ? value : null))
	return text && `${text} 日`
}

/** The time of day: a list of times, or how often; "" is every minute of the day's hours. */
function times(second: string, minute: string, hour: string): string | null {
	const every = (field: string, unit: string, rest: string): string | null => {
		if (field === '*') return `每${rest}${unit}`
		const step = /^(?:\*|0)\/(\d+)$/.exec(field)
		return step ? `每 ${step[1]} ${unit}` : null
	}
	const inHours = (): string | null => {
		if (isFree(hour)) return ''
		const list = items(hour, (value) => (/^\d+$/.test(value) ? `${value} 点` : null))
		return list && `${list}内`
	}
	if (second !== '0') {
		const often = every(second, '秒', '')
		return often && minute === '*' && hour === '*' ? often : null
	}
	const often = every(minute, '分钟', '')
	if (often) {
		const within = inHours()
		return within === null ? null : within + often
	}
	if (!/^\d+(,\d+)*$/.test(minute)) return null
	const minutes = minute.split(',')
	const hourly = every(hour, '小时', '')
	if (hourly) return `${hourly}的第 ${minutes.join('、')} 分`
	if (/^\d+(,\d+)*$/.test(hour) && minutes.length * hour.split(',').length <= 6) {
		return hour.split(',').flatMap((h) => minutes.map((m) => `${two(h)}:${two(m)}`)).join('、')
	}
	const list = items(hour, (value) => (/^\d+$/.test(value) ? `${value} 点` : null))
	return list && `${list}的第 ${minutes.join('、')} 分`
}

export function chinese(source: string, stated: Dialect | null): string | null {
	const expr = source.trim()
	const [head, tail = ''] = [expr.split(/\s+/)[0]!.toLowerCase(), expr.replace(/^\S+\s*/, '')]
	if (head === '@every') return span(tail) && `每 ${span(tail)}`
	if (head === '@after') return span(tail) && `上次运行结束后 ${span(tail)}`
	if (head === '@at') return `仅一次：${tail}`
	const fields = (MACROS[expr.toLowerCase()] ?? expr).split(/\s+/)
	if (fields.length < 5 || fields.length > 7) return null
	const dialect = stated ?? (fields.length === 5 ? 'unix' : 'quartz')
	const [second, minute, hour, day, month, weekday] = (fields.length === 5 ? ['0', ...fields] : fields) as [
		string, string, string, string, string, string,
	]
	const year = fields.length === 7 ? fields[6]! : '*'
	if (!isFree(year) && !/^\d{4}$/.test(year)) return null

	const time = times(second, minute, hour)
	const months = isFree(month)
		? ''
		: items(month, (value) => {
				const named = MONTHS.indexOf(value.toUpperCase())
				return named >= 0 ? `${named + 1} 月` : /^\d+$/.test(value) ? `${Number(value)} 月` : null
			})
	const days = isFree(day) ? '' : monthDays(day)
	const week = isFree(weekday) ? '' : weekdays(weekday, dialect)
	if (time === null || months === null || days === null || week === null) return null
	const star = day.startsWith('*') || weekday.startsWith('*')
	const date = days && week ? `${days}${star ? '且' : '或'}${week}` : days || week
	const when = [!isFree(year) && `${year} 年`, months || (days && '每月'), !days && week ? `每${week}` : date, !date && !months && !time.includes('每') && '每天']
	return [...when, time].filter(Boolean).join(' ')
}
