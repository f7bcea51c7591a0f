import { expect, test } from 'vitest'
import type { Json } from '@/api'
import { emptyExec, emptyHttp, parseJson, printJson, readExec, readHttp, writeExec, writeHttp } from '@/lib/params'

const execs: Json[] = [
	{ argv: ['/usr/bin/true'] },
	{ argv: ['/bin/echo', 'two words', '--x=1'] },
	{ script: 'set -e\necho $HOME\n' },
	{ script: 'x', shell: '/bin/bash', stdin: 'in', env: { A: '1', B: 'x=y' }, cwd: '/tmp', user: 'ops' },
]
test.each(execs)('exec %j survives the form', (value) => {
	const form = readExec(value)
	expect(form).not.toBeNull()
	expect(writeExec(form!)).toEqual(value)
})

const https: Json[] = [
	{ url: 'https://example.org/' },
	{
		url: 'https://example.org/a?b=c',
		method: 'PUT',
		headers: { 'Content-Type': 'text/plain', 'X-Time': '10:30' },
		body: 'hello',
		success: [200, 204],
		follow_redirects: 2,
	},
]
test.each(https)('http %j survives the form', (value) => {
	const form = readHttp(value)
	expect(form).not.toBeNull()
	expect(writeHttp(form!)).toEqual(value)
})

test('no value yet is an empty form', () => {
	expect(readExec(null)).toEqual(emptyExec())
	expect(readHttp(null)).toEqual(emptyHttp())
})

const notExec: Json[] = [
	'text',
	[],
	{ argv: ['/bin/echo', ''] },
	{ argv: ['/bin/echo', 'two\nlines'] },
	{ argv: ['/bin/echo'], script: 'x' },
	{ argv: ['/bin/echo'], shell: '/bin/sh' },
	{ argv: [1] },
	{ argv: ['/x'], surprise: true },
	{ argv: ['/x'], env: { 'A=B': '1' } },
	{ argv: ['/x'], env: { A: 'two\nlines' } },
]
test.each(notExec)('exec %j stays JSON: the form would lose something', (value) => {
	expect(readExec(value)).toBeNull()
})

const notHttp: Json[] = [
	{ url: 'x', body: { json: true } },
	{ url: 'x', headers: { 'X:Y': '1' } },
	{ url: 'x', headers: { X: ' padded ' } },
	{ url: 'x', success: ['2xx'] },
	{ url: 'x', other: 1 },
]
test.each(notHttp)('http %j stays JSON: the form would lose something', (value) => {
	expect(readHttp(value)).toBeNull()
})

test('JSON text and back', () => {
	expect(parseJson('  ')).toBeNull()
	expect(parseJson('{"a":[1,null]}')).toEqual({ a: [1, null] })
	expect(() => parseJson('{')).toThrow(SyntaxError)
	expect(printJson(null)).toBe('')
	expect(printJson({ a: 1 })).toBe('{\n  "a": 1\n}')
})
