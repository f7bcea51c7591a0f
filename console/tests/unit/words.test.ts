import { expect, test } from 'vitest'
import { chinese } from '@/lib/words'

test.each([
	['30 2 * * *', null, '每天 02:30'],
	['0 8,20 * * *', null, '每天 08:00、20:00'],
	['*/15 * * * *', null, '每 15 分钟'],
	['* * * * *', null, '每分钟'],
	['0 * * * *', null, '每小时的第 0 分'],
	['0 8 * * 1-5', null, '每周一至周五 08:00'],
	['0 8 * * MON,WED', null, '每周一、周三 08:00'],
	['0 4 1,15 * *', null, '每月 1、15 日 04:00'],
	['0 4 1 1 *', null, '1 月 1 日 04:00'],
	['0 4 13 * 5', null, '每月 13 日或周五 04:00'],
	['0 0 L * ?', null, '每月 最后一天 00:00'],
	['*/10 9-17 * * *', null, '9 点至 17 点内每 10 分钟'],
	['0 30 2 ? * 2', 'quartz', '每周一 02:30'],
	['0 30 2 * * 1', 'spring', '每周一 02:30'],
	['*/5 * * * * ?', null, '每 5 秒'],
	['0 0 9 ? * 6#3', null, '每第3个周五 09:00'],
	['@daily', null, '每天 00:00'],
	['@every 1h30m', null, '每 1 小时 30 分钟'],
	['@after 30s', null, '上次运行结束后 30 秒'],
] as const)('%s (%s) reads %s', (expr, dialect, words) => {
	expect(chinese(expr, dialect)).toBe(words)
})

test.each(['', 'x', '1 2 3', '1/7 3-9/2 * * *', '0 0 1 1 * 2027-2030 9', '@every', '@reboot'])(
	'%s is left to the expression itself',
	(expr) => {
		expect(chinese(expr, null)).toBeNull()
	},
)
