// The server's sentences have their English in src/core/sentence.def, and their Chinese here.
import { readFileSync } from 'node:fs'
import { beforeAll, expect, test, vi } from 'vitest'
import { loadLang } from '@/i18n'
import { fillSentence, sentenceText, zhSentences } from '@/i18n/sentences'

const source = readFileSync('../src/core/sentence.def', 'utf8')
const shared = /#define ENDED "(.*)"/.exec(source)![1]!
const english = new Map([...source.matchAll(/^AX_SENTENCE\((\w+), (ENDED )?"(.*)"\)$/gm)].map((row) => [row[1]!.toLowerCase(), (row[2] ? shared : '') + row[3]!]))
const holes = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort()
/** Those that may be missing. */
const optional = (text: string) => holes((text.match(/\[[^\]]*\]/g) ?? []).join(''))

beforeAll(async () => {
	vi.stubGlobal('document', { documentElement: {} })
	await loadLang('zh')
})

test('both languages have the same sentences', () => {
	expect(english.size).toBe(source.match(/^AX_SENTENCE\(/gm)!.length)
	expect(Object.keys(zhSentences).sort()).toEqual([...english.keys()].sort())
})

test.each([...english])('%s has the same parameters in both, and leaves out the same', (name, text) => {
	expect(zhSentences[name]!.trim()).not.toBe('')
	expect(holes(zhSentences[name]!)).toEqual(holes(text))
	expect(optional(zhSentences[name]!)).toEqual(optional(text))
	expect(text.length).toBeLessThan(400)
})

test('parameters are shown as the console shows such things', () => {
	const said = { text: 'in English', sentence: 'overlap_held', params: { run: '7', state: 'RUNNING', overlap: 'queue', allowed: 1, live: 1 } }
	expect(sentenceText(said)).toBe('等待运行 7（运行中）结束：重叠规则为 queue，同时至多 1 次运行，现有 1 次。')
	expect(fillSentence('{states}，{took_ms}', { states: '5 SUCCESS, 1 RUNNING', took_ms: 200_000 })).toBe('5 成功, 1 运行中，3 min 20 s')
	expect(sentenceText({ text: 'A newer server says this.', sentence: 'of_tomorrow', params: {} })).toBe('A newer server says this.')
})
