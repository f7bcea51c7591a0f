// Whatever the API can say no with has words in both languages: the codes of src/base/status.def, and each sentence that the source of the
// server makes. Who adds one there adds its Chinese to i18n/faults.ts.
import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, expect, test, vi } from 'vitest'
import { Problem } from '@/api'
import { loadLang, tFault } from '@/i18n'
import { en } from '@/i18n/en'
import { faultText, messageText, zhFaults, zhMessages } from '@/i18n/faults'
import { problemText } from '@/lib/problems'

/** What makes a fault, and which of its arguments is the sentence. */
const makers: Record<string, number> = { ax_fail: 3, ax_read_fail: 2, ax_front_fail: 3, ax_front_problem: 4, bad: 2, bad_url: 1, FAIL: 1, REFUSE: 1 }
/** Sources of src/server that speak to whoever starts it, or to workers, and not to people at the console. */
const elsewhere = /^(config|seal|wire|dev|scheduler|worker_json|api_worker|polls|main|pulse|alarm)\.c$/

function sourcesOf(folder: string): string[] {
	return readdirSync(folder).filter((name) => name.endsWith('.c') && !(folder.endsWith('server') && elsewhere.test(name))).map((name) => `${folder}/${name}`)
}

const sources = [
	...['core', 'app', 'server'].flatMap((floor) => sourcesOf(`../src/${floor}`)),
	'../src/adapters/curl/alert_settings.c', '../src/adapters/curl/url_target.c',
]

/** The arguments of the call whose ( lies before `from`. */
function argumentsAt(text: string, from: number): string[] {
	const found: string[] = []
	let depth = 1
	let start = from
	for (let i = from; depth > 0; i++) {
		const c = text[i]!
		if (c === '"') while (text[++i] !== '"') i += text[i] === '\\' ? 1 : 0
		else if ('([{'.includes(c)) depth++
		else if (')]}'.includes(c)) depth--
		if (depth === 0 || (c === ',' && depth === 1)) {
			found.push(text.slice(start, i))
			start = i + 1
		}
	}
	return found
}

/** The sentences that an argument may be: its texts, those that stand side by side as one; two in `a ? "b" : "c"`. */
function textsOf(argument: string): string[] {
	const texts = ['']
	for (const [part] of argument.replace(/PRI[du]64/g, '"lld"').matchAll(/"(?:[^"\\]|\\.)*"|[?:]/g)) {
		if (part === '?' || part === ':') texts.push('')
		else texts[texts.length - 1] += JSON.parse(part.replaceAll("\\'", "'")) as string
	}
	return texts.filter(Boolean)
}

const withHoles = (text: string): string => text.replace(/%[-0-9.*]*(?:zu|lld|d|s|x|c)/g, '{}').replaceAll('%%', '%')
const oneQuote = (text: string): string => text.replaceAll('`', "'").replaceAll('"', "'")

function sentencesIn(file: string): string[] {
	const text = readFileSync(file, 'utf8')
	const calls = [...text.matchAll(new RegExp(`\\b(${Object.keys(makers).join('|')})\\(`, 'g'))].filter((call) => !text.slice(0, call.index).endsWith('#define '))
	return calls.flatMap((call) => {
		const given = argumentsAt(text, call.index + call[0].length)
		if (given.some((one) => /AX_BROKEN|enum ax_status|VA_ARGS/.test(one))) return []
		const said = textsOf(given[makers[call[1]!]!] ?? '')
		if (call[1] === 'REFUSE') return said.map((one) => `line %d: ${one === '%s' ? textsOf(given[2]!)[0]! : one}`)
		return said
	}).map((one) => oneQuote(withHoles(one))).filter((one) => one !== '{}')
}

const codes = [...readFileSync('../src/base/status.def', 'utf8').matchAll(/^AX_STATUS\(\w+, +\d+, "(\w+)"/gm)].map((row) => row[1]!).filter((code) => code !== 'ok')
const said = [...new Set(sources.flatMap(sentencesIn))].sort()
const known = new Set(Object.keys(zhFaults).map(oneQuote))

beforeAll(async () => {
	vi.stubGlobal('document', { documentElement: {} })
	await loadLang('zh')
	await vi.waitUntil(() => tFault('whole numbers are expected') === '须为整数')
})

test('every code has its words', () => {
	expect(codes.length).toBeGreaterThan(10)
	expect([...codes, 'method_not_allowed', 'unreachable'].filter((code) => !(`problem.${code}` in en))).toEqual([])
})

test('the source says something', () => {
	expect(said.length).toBeGreaterThan(250)
	expect(said).toContain("there is no group '{}'; create it first")
	expect(said).toContain("'?' stands alone and only in the day and weekday fields; write * here.")
})

test('every sentence of the source has its Chinese', () => {
	expect(said.filter((one) => !known.has(one))).toEqual([])
})

test('the table holds nothing that the source does not say', () => {
	/** Said by sources that are not read here, outside of a call, or by servers of a neighbouring version, which answer beside this one for a while. */
	const apart = [
		'a fault inside the server; its log has the reason', 'the database does not answer; try again in a moment',
		'{} runs of this task have not ended; cancel them or force the delete', '{}{} runs of this task have not ended; cancel them or force the delete',
		'the task is being deleted: its runs are being cancelled', 'its late fires are being made up; ask again in a moment',
		'the task is paused and its runs are being cancelled, a part of them at a time; delete it again when they have ended',
	]
	expect([...known].filter((one) => !said.includes(one) && !apart.includes(one))).toEqual([])
})

test('what the server writes as a message is what its source says', () => {
	const source = [...sourcesOf('../src/core'), ...sourcesOf('../src/app'), ...sourcesOf('../src/adapters/curl'), ...sourcesOf('../src/worker'), ...sourcesOf('../lib/axworker')].map((file) => readFileSync(file, 'utf8')).join('\n')
	const whole = oneQuote(withHoles(source.replace(/" *PRI[du]64\s*"/g, 'lld').replace(/"\s+"/g, '').replaceAll('%02lld', '%lld')))
	const longest = (text: string) => text.split(/\{\}|(?<=calendar) /).sort((a, b) => b.length - a.length)[0]!.replace(/^: |: $/g, '').trim()
	expect(Object.keys(zhMessages).filter((english) => !whole.includes(longest(oneQuote(english))))).toEqual([])
})

test.each([...Object.entries(zhFaults), ...Object.entries(zhMessages)])('%s', (english, chinese) => {
	const holes = english.split('{}').length - 1
	const used = [...chinese.matchAll(/\{(\d)\}/g)].map((hole) => Number(hole[1])).sort()
	expect(used).toEqual(Array.from({ length: holes }, (_, i) => i + 1))
	expect(chinese).not.toMatch(/[\u4e00-\u9fff][,;:?!]|[,;:?!][\u4e00-\u9fff]/)
})

test('what is filled in stays, words of the server become Chinese', () => {
	expect(faultText('task_name must be a text')).toBe('task_name 须为文本')
	expect(faultText('there is no group `ops`; create it first')).toBe('没有分组“ops”；请先新建')
	expect(faultText('this schedule has no fire after now within its calendar and validity; write one that has')).toBe('该时间表此后没有触发（在其日历和有效期内）；请改写')
	expect(faultText('the run has ended already (CANCELLED)')).toBe('该运行已结束（已取消）')
	expect(faultText('The minute field has an empty item: remove the extra comma.')).toBe('分段中有空项：请去掉多余的逗号。')
	expect(faultText('the URL cannot be called: it is not a URL')).toBe('该 URL 无法调用：不是 URL')
	expect(faultText('something that a newer server says')).toBeNull()
})

test('what is said of clocks and canaries is in Chinese', () => {
	expect(messageText('29 Mar: 02:30 does not exist on this day; the task runs at 03:00 CEST, when the clock moves forward.')).toBe('3 月 29 日：当天不存在 02:30；任务在时钟前拨的 03:00 CEST 触发。')
	expect(messageText('failures 12.50 % against 0.00 %, p95 10 ms against 9 ms')).toBe('失败率 12.50%，原定义 0.00%；95% 耗时 10 毫秒，原定义 9 毫秒')
})

test('a problem is one line of Chinese; one that is new, what its code means and the sentence as it came', () => {
	expect(problemText(new Problem(400, 'invalid', 'Bad Request', 'cron_expr is missing', 'cron_expr'))).toBe('缺少 cron_expr')
	expect(problemText(new Problem(400, 'invalid', 'Bad Request', 'new here', 'x'))).toBe('输入不被接受。 new here')
})
