// biz_param of the built-in executors as forms, both ways. A value that the form cannot show whole stays raw JSON.

import type { Json } from '@/api'

type JsonObject = { [key: string]: Json }

export interface ExecForm {
	mode: 'argv' | 'script'
	/** One argument a line. */
	argv: string
	script: string
	shell: string
	stdin: string
	/** NAME=value, one a line. */
	env: string
	cwd: string
	user: string
}

export interface HttpForm {
	method: string
	url: string
	/** Name: value, one a line. */
	headers: string
	body: string
	/** Statuses separated by commas. */
	success: string
	follow_redirects: number
}

export const emptyExec = (): ExecForm => ({
	mode: 'argv', argv: '', script: '', shell: '', stdin: '', env: '', cwd: '', user: '',
})
export const emptyHttp = (): HttpForm => ({
	method: '', url: '', headers: '', body: '', success: '', follow_redirects: 0,
})

const isObject = (value: Json): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value)

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

function onlyKeys(value: JsonObject, keys: readonly string[]): boolean {
	return Object.keys(value).every((key) => keys.includes(key))
}

/** The object as `name<sep>value` lines; null when a name or value would not survive that. */
function toLines(value: Json | undefined, separator: string): string | null {
	if (value === undefined) return ''
	if (!isObject(value)) return null
	const out: string[] = []
	for (const [name, text] of Object.entries(value)) {
		if (typeof text !== 'string' || /[\n\r]/.test(name + text) || name.includes(separator.trim())) return null
		if (name.trim() !== name || name === '') return null
		if (separator === ': ' && text.trim() !== text) return null
		out.push(`${name}${separator}${text}`)
	}
	return out.join('\n')
}

function fromLines(text: string, separator: string): { [key: string]: string } | undefined {
	const out: { [key: string]: string } = {}
	for (const line of lines(text)) {
		const at = line.indexOf(separator)
		const name = at < 0 ? line : line.slice(0, at)
		const value = at < 0 ? '' : line.slice(at + 1)
		out[name.trim()] = separator === ':' ? value.trim() : value
	}
	return Object.keys(out).length > 0 ? out : undefined
}

const text = (value: Json | undefined): string | null =>
	value === undefined ? '' : typeof value === 'string' ? value : null

export function readExec(value: Json): ExecForm | null {
	if (value === null) return emptyExec()
	if (!isObject(value)) return null
	if (!onlyKeys(value, ['argv', 'script', 'shell', 'stdin', 'env', 'cwd', 'user'])) return null
	if ('argv' in value && ('script' in value || 'shell' in value)) return null
	const argv = value.argv ?? []
	if (!Array.isArray(argv)) return null
	// An empty or blank argument would vanish between the lines.
	if (!argv.every((arg): arg is string => typeof arg === 'string' && arg.trim() !== '' && !arg.includes('\n'))) return null
	const script = text(value.script)
	const shell = text(value.shell)
	const stdin = text(value.stdin)
	const cwd = text(value.cwd)
	const user = text(value.user)
	const env = toLines(value.env, '=')
	if (script === null || shell === null || stdin === null || cwd === null || user === null || env === null) return null
	return { mode: 'script' in value ? 'script' : 'argv', argv: argv.join('\n'), script, shell, stdin, env, cwd, user }
}

export function writeExec(form: ExecForm): JsonObject {
	const out: JsonObject = form.mode === 'argv' ? { argv: lines(form.argv) } : { script: form.script }
	if (form.mode === 'script' && form.shell) out.shell = form.shell
	if (form.stdin) out.stdin = form.stdin
	const env = fromLines(form.env, '=')
	if (env) out.env = env
	if (form.cwd) out.cwd = form.cwd
	if (form.user) out.user = form.user
	return out
}

export function readHttp(value: Json): HttpForm | null {
	if (value === null) return emptyHttp()
	if (!isObject(value)) return null
	if (!onlyKeys(value, ['method', 'url', 'headers', 'body', 'success', 'follow_redirects'])) return null
	const method = text(value.method)
	const url = text(value.url)
	const body = text(value.body)
	const headers = toLines(value.headers, ': ')
	const success = value.success ?? []
	const redirects = value.follow_redirects ?? 0
	if (method === null || url === null || body === null || headers === null) return null
	if (!Array.isArray(success) || !success.every((status) => typeof status === 'number')) return null
	if (typeof redirects !== 'number') return null
	return { method, url, headers, body, success: success.join(', '), follow_redirects: redirects }
}

export function writeHttp(form: HttpForm): JsonObject {
	const out: JsonObject = { url: form.url }
	if (form.method) out.method = form.method
	const headers = fromLines(form.headers, ':')
	if (headers) out.headers = headers
	if (form.body) out.body = form.body
	const success = form.success.split(/[\s,]+/).filter(Boolean).map(Number)
	if (success.length > 0) out.success = success
	if (form.follow_redirects > 0) out.follow_redirects = form.follow_redirects
	return out
}

/** JSON text → value; an empty text is null. Throws SyntaxError. */
export function parseJson(source: string): Json {
	return source.trim() === '' ? null : (JSON.parse(source) as Json)
}

export const printJson = (value: Json | undefined): string =>
	value === null || value === undefined ? '' : JSON.stringify(value, null, 2)
