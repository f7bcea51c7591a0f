import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fill } from '@/i18n'
import { en, type Key } from '@/i18n/en'
import { zh } from '@/i18n/zh'

const keys = Object.keys(en) as Key[]
const holes = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort()

function sources(folder: string): string[] {
	return readdirSync(folder).flatMap((name) => {
		const path = join(folder, name)
		if (statSync(path).isDirectory()) return sources(path)
		return /\.(vue|ts)$/.test(name) ? [readFileSync(path, 'utf8')] : []
	})
}

test('both languages have the same keys, in the same order', () => {
	expect(Object.keys(zh)).toEqual(keys)
})

test.each(keys)('%s has a text and the same holes in both', (key) => {
	expect(en[key].trim()).not.toBe('')
	expect(zh[key].trim()).not.toBe('')
	expect(holes(zh[key])).toEqual(holes(en[key]))
})

test('every key is used', () => {
	const code = sources('src').join('\n')
	// Keys put together at run time: `state.${…}`, tWord('reason', …), options('edit.overlap', …).
	const prefixes = [...code.matchAll(/[`'"]([a-zA-Z]+(?:\.[a-zA-Z]+)*)\.\$\{/g), ...code.matchAll(/(?:tWord|options)\(\s*'([\w.]+)'/g)].map((m) => m[1]!)
	const unused = keys.filter((key) => {
		const uses = code.split(`'${key}'`).length - 1
		// One use is the definition in en.ts, one that in zh.ts.
		return uses <= 2 && !prefixes.some((prefix) => key.startsWith(`${prefix}.`)) && !/^(workers|groups)\.\w+(Title|Text)$/.test(key)
	})
	expect(unused).toEqual([])
})

test('Chinese text has Chinese punctuation', () => {
	const wrong = keys.filter((key) => /[\u4e00-\u9fff][,;:?!()]|[,;:?!()][\u4e00-\u9fff]/.test(zh[key]))
	expect(wrong).toEqual([])
})

test('holes are filled and forms picked by number', () => {
	expect(fill('Hello {name}', { name: 'x' })).toBe('Hello x')
	expect(fill('{missing}')).toBe('{missing}')
	expect(fill('one fire|{n} fires', { n: 1 })).toBe('one fire')
	expect(fill('one fire|{n} fires', { n: 0 })).toBe('0 fires')
	expect(fill('none|one|{n}', { n: 0 })).toBe('none')
	expect(fill('none|one|{n}', { n: 1 })).toBe('one')
	expect(fill('none|one|{n}', { n: 7 })).toBe('7')
	expect(fill('{n} 次', { n: 3 })).toBe('3 次')
})
