import { expect, test } from 'vitest'
import { MAX_LINE, OutputLog, searchLines } from '@/lib/output'

const chunk = (seq: number, data: string) => ({ fence: 1, seq, time: 0, data })
const texts = (log: OutputLog) => log.lines.map((line) => line.text)

test('lines are put together over the borders of chunks', () => {
	const log = new OutputLog()
	log.add([chunk(0, 'one\ntw')])
	expect(texts(log)).toEqual(['one', 'tw'])
	log.add([chunk(1, 'o\nthree\n')])
	expect(texts(log)).toEqual(['one', 'two', 'three'])
	expect(log.lastSeq).toBe(1)
})

test('a chunk that comes twice counts once, and changes nothing', () => {
	const log = new OutputLog()
	log.add([chunk(0, 'a\n')])
	const before = log.revision.value
	log.add([chunk(0, 'a\n')])
	expect(texts(log)).toEqual(['a'])
	expect(log.revision.value).toBe(before)
})

test('chunks out of order end up in order', () => {
	const log = new OutputLog()
	log.add([chunk(2, 'c\n')])
	log.add([chunk(1, 'b\n'), chunk(0, 'a\n')])
	expect(texts(log)).toEqual(['a', 'b', 'c'])
	expect(log.raw()).toBe('a\nb\nc\n')
})

test('an escape sequence cut by a chunk border still colours', () => {
	const log = new OutputLog()
	log.add([chunk(0, '\x1b[3')])
	log.add([chunk(1, '1mred\nstill\n')])
	expect(log.lines.map((line) => line.pieces)).toEqual([
		[{ text: 'red', cls: 'fg-1' }],
		[{ text: 'still', cls: 'fg-1' }],
	])
})

test('CR LF ends a line; a CR elsewhere is shown', () => {
	const log = new OutputLog()
	log.add([chunk(0, 'a\r\nb\rc\r\n')])
	expect(texts(log)).toEqual(['a', 'b⟨CR⟩c'])
})

test('a giant line is cut in the view, not in the download', () => {
	const log = new OutputLog()
	log.add([chunk(0, 'x'.repeat(MAX_LINE + 5))])
	expect(log.lines[0]!.text).toBe(`${'x'.repeat(MAX_LINE)} …`)
	expect(log.raw()).toHaveLength(MAX_LINE + 5)
})

test('search ignores case and finds the line numbers', () => {
	const log = new OutputLog()
	log.add([chunk(0, 'Error one\nfine\nsome error\n')])
	expect(searchLines(log.lines, 'ERROR')).toEqual([0, 2])
	expect(searchLines(log.lines, '')).toEqual([])
})
