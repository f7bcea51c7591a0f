import { webcrypto } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { apiUrl, call, newIdempotencyKey, Problem, setCsrf, setRenewHandler, setSignedOutHandler } from '@/api/client'

afterEach(() => {
	vi.unstubAllGlobals()
	setCsrf('')
	setSignedOutHandler(() => undefined)
	setRenewHandler(async () => false)
})

function answer(status: number, body: unknown, type = 'application/json') {
	const fetch = vi.fn(async () => new Response(status === 204 ? null : typeof body === 'string' ? body : JSON.stringify(body), { status, headers: { 'Content-Type': type } }))
	vi.stubGlobal('fetch', fetch)
	return fetch as unknown as ReturnType<typeof vi.fn<(url: string, init: RequestInit) => Promise<Response>>>
}

test('empty parameters are left out of the address', () => {
	expect(apiUrl('/runs', { status: 'A,B', worker: '', live: undefined, after: null, n: 0 })).toBe('/api/v1/runs?status=A%2CB&n=0')
	expect(apiUrl('/runs')).toBe('/api/v1/runs')
})

test('a change carries the CSRF token, JSON and the idempotency key', async () => {
	const fetch = answer(201, { id: '1' })
	setCsrf('secret')
	expect(await call('/tasks', { method: 'POST', body: { a: 1 }, idempotencyKey: 'k' })).toEqual({ id: '1' })
	const [url, init] = fetch.mock.calls[0]!
	expect(url).toBe('/api/v1/tasks')
	expect(init.headers).toMatchObject({ 'X-AX-CSRF': 'secret', 'Content-Type': 'application/json', 'Idempotency-Key': 'k' })
	expect(init.body).toBe('{"a":1}')
})

test('reading sends no token', async () => {
	const fetch = answer(200, {})
	setCsrf('secret')
	await call('/tasks')
	expect(fetch.mock.calls[0]![1].headers).not.toHaveProperty('X-AX-CSRF')
})

test('204 has no body', async () => {
	answer(204, null)
	expect(await call('/session', { method: 'DELETE' })).toBeUndefined()
})

test('a problem document becomes a Problem', async () => {
	answer(400, { title: 'Bad', status: 400, code: 'invalid', detail: 'Write a path.', field: 'biz_param.argv[0]' }, 'application/problem+json')
	const problem = await call('/tasks', { method: 'POST' }).catch((error: unknown) => error)
	expect(problem).toBeInstanceOf(Problem)
	expect(problem).toMatchObject({ status: 400, code: 'invalid', field: 'biz_param.argv[0]', message: 'Write a path.' })
})

test('an answer that is no problem document is one all the same', async () => {
	answer(502, '<html>', 'text/html')
	await expect(call('/tasks')).rejects.toMatchObject({ status: 502, code: 'internal' })
})

test('a server that cannot be reached is a Problem of its own', async () => {
	vi.stubGlobal('fetch', vi.fn(async () => Promise.reject(new TypeError('failed'))))
	await expect(call('/tasks')).rejects.toMatchObject({ status: 0, code: 'unreachable' })
})

test('a lost session is reported, except when it is what was asked', async () => {
	const out = vi.fn()
	setSignedOutHandler(out)
	answer(401, { code: 'unauthenticated' })
	await call('/session').catch(() => undefined)
	expect(out).not.toHaveBeenCalled()
	await call('/tasks').catch(() => undefined)
	expect(out).toHaveBeenCalledOnce()
})

test('what was asked in the session before says nothing about this one', async () => {
	const out = vi.fn()
	setSignedOutHandler(out)
	answer(401, { code: 'unauthenticated' })
	setCsrf('before')
	const late = call('/tasks').catch(() => undefined)
	setCsrf('now')
	await late
	expect(out).not.toHaveBeenCalled()
})

test('idempotency keys are long and new each time', () => {
	// Node 18 has it under this name only.
	vi.stubGlobal('crypto', webcrypto)
	expect(newIdempotencyKey()).toMatch(/^[0-9a-f]{32}$/)
	expect(newIdempotencyKey()).not.toBe(newIdempotencyKey())
})

test('a change is made again in the session that another tab has begun, once', async () => {
	const refused = { code: 'denied', field: 'X-AX-CSRF', detail: 'a change with the cookie needs …' }
	const tokens: (string | undefined)[] = []
	vi.stubGlobal('fetch', vi.fn(async (_url: string, init: RequestInit) => {
		const token = (init.headers as Record<string, string>)['X-AX-CSRF']
		tokens.push(token)
		return new Response(JSON.stringify(token === 'new' ? { id: '1' } : refused), { status: token === 'new' ? 201 : 403 })
	}))
	setCsrf('old')
	await expect(call('/tasks', { method: 'POST' })).rejects.toMatchObject({ status: 403 }) // it is somebody else's
	setRenewHandler(async () => true)
	await expect(call('/tasks', { method: 'POST' })).rejects.toMatchObject({ status: 403 })
	setRenewHandler(async () => {
		setCsrf('new')
		return true
	})
	expect(await call('/tasks', { method: 'POST' })).toEqual({ id: '1' })
	expect(tokens).toEqual(['old', 'old', 'old', 'old', 'new'])
})
