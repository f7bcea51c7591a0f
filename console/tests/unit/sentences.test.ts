// The server's sentences have their English in src/core/sentence.def, and their Chinese here.
import { readFileSync } from 'node:fs'
import { beforeAll, expect, test, vi } from 'vitest'
import { loadLang, tFault } from '@/i18n'
import { fillSentence, sentenceText, zhSentences } from '@/i18n/sentences'

const source = readFileSync('../src/core/sentence.def', 'utf8')
const shared = /#define ENDED "(.*)"/.exec(source)![1]!
const rows = [...source.matchAll(/^AX_SENTENCE(?:_SENT)?\((\w+), (ENDED )?"(.*?)"(?:,\s+"(.*)")?\)$/gm)]
const english = new Map(rows.map((row) => [row[1]!.toLowerCase(), (row[2] ? shared : '') + row[3]!]))
/** The Chinese of those that the server sends itself. */
const sent = rows.filter((row) => row[4]).map((row) => [row[1]!.toLowerCase(), row[4]!] as const)
const holes = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort()
/** Those that may be missing. */
const optional = (text: string) => holes((text.match(/\[[^\]]*\]/g) ?? []).join(''))

beforeAll(async () => {
	vi.stubGlobal('document', { documentElement: {} })
	await loadLang('zh')
	await vi.waitUntil(() => tFault('whole numbers are expected') === '须为整数')
})

test('both languages have the same sentences', () => {
	expect(english.size).toBe(source.match(/^AX_SENTENCE(_SENT)?\(/gm)!.length)
	expect(Object.keys(zhSentences).sort()).toEqual([...english.keys()].sort())
})

test.each([...english])('%s has the same parameters in both, and leaves out the same', (name, text) => {
	expect(zhSentences[name]!.trim()).not.toBe('')
	expect(holes(zhSentences[name]!)).toEqual(holes(text))
	expect(optional(zhSentences[name]!)).toEqual(optional(text))
	expect(text.length).toBeLessThan(400)
})

test('what channels are told is said here in the same words', () => {
	expect(sent.length).toBe(source.match(/^AX_SENTENCE_SENT\(/gm)!.length)
	expect(sent.map(([name]) => [name, zhSentences[name]])).toEqual(sent)
})

test('parameters are shown as the console shows such things', () => {
	const said = { text: 'in English', sentence: 'overlap_held', params: { run: '7', state: 'RUNNING', overlap: 'queue', allowed: 1, live: 1 } }
	expect(sentenceText(said)).toBe('等待运行 7（运行中）结束：重叠规则为 queue，同时至多 1 次运行，现有 1 次。')
	expect(fillSentence('{states}，{took_ms}', { states: '5 SUCCESS, 1 RUNNING', took_ms: 200_000 })).toBe('5 成功, 1 运行中，3 分钟 20 秒')
	expect(sentenceText({ text: 'A newer server says this.', sentence: 'of_tomorrow', params: {} })).toBe('A newer server says this.')
})

test('what the server filled in is in Chinese, what workers said is as it is', () => {
	expect(fillSentence('{fault}', { fault: "the zone data has no zone 'Mars'; write an IANA name" })).toBe('时区数据中没有“Mars”；请写 IANA 名称')
	expect(fillSentence('{message}', { message: '2 of 8 shards did not succeed; shard 3 FAILED: exit status 9: disk full' })).toBe('8 个分片中有 2 个未成功；第 3 个分片失败：退出码 9：disk full')
	expect(fillSentence('{message}', { message: 'disk full' })).toBe('disk full')
})
