import { expect, test } from 'vitest'
import { applySgr, parseLine, plain, visible } from '@/lib/ansi'

const shape = (line: string) => parseLine(line).pieces.map(({ text, cls }) => [text, cls])

test('plain text is one piece', () => {
	expect(shape('hello')).toEqual([['hello', '']])
	expect(shape('')).toEqual([])
})

test('SGR colours become class names, and reset ends them', () => {
	expect(shape('\x1b[31mred\x1b[0m plain')).toEqual([['red', 'fg-1'], [' plain', '']])
	expect(shape('\x1b[1;92;44mx')).toEqual([['x', 'fg-10 bg-4 bold']])
	expect(shape('\x1b[mplain')).toEqual([['plain', '']])
})

test('a style goes on in the next line', () => {
	const { end } = parseLine('\x1b[33mone')
	expect(parseLine('two', end).pieces).toEqual([{ text: 'two', cls: 'fg-3' }])
})

test('256 and true colours fall to the nearest of the sixteen', () => {
	expect(applySgr(plain, '38;5;9').fg).toBe(9)
	expect(applySgr(plain, '38;5;196').fg).toBe(1)
	expect(applySgr(plain, '48;2;255;255;255').bg).toBe(15)
	expect(applySgr(plain, '38;5;9;1')).toMatchObject({ fg: 9, bold: true })
})

test('inverse swaps', () => {
	expect(shape('\x1b[7;31mx')).toEqual([['x', 'bg-1']])
	expect(shape('\x1b[7mx')).toEqual([['x', 'inverse']])
})

test('every other escape and control character is shown, not obeyed', () => {
	expect(shape('\x1b]0;title\x07')).toEqual([['⟨ESC⟩]0;title⟨BEL⟩', '']])
	expect(shape('\x1b[2J')).toEqual([['⟨ESC⟩[2J', '']])
	expect(visible('a\tb')).toBe('a\tb')
	expect(visible('\x00\x9b\x7f\x01')).toBe('⟨NUL⟩⟨U+009B⟩⟨DEL⟩⟨U+0001⟩')
})

test('bidirectional and invisible characters cannot hide', () => {
	expect(visible('\u202egnp.exe')).toBe('⟨U+202E⟩gnp.exe')
	for (const code of [0x202a, 0x202d, 0x2066, 0x2069, 0x200f, 0x061c, 0xfeff]) {
		expect(visible(String.fromCharCode(code))).toMatch(/^⟨U\+[0-9A-F]{4}⟩$/)
	}
})

test('markup stays text', () => {
	expect(shape('<img src=x onerror=alert(1)>')).toEqual([['<img src=x onerror=alert(1)>', '']])
})
