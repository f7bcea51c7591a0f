// One function that speaks to the server: JSON both ways, the CSRF header, problem documents as exceptions.

/** What the server said no with (RFC 9457), or our own word when it could not be asked at all. */
export class Problem extends Error {
	constructor(
		readonly status: number,
		readonly code: string,
		readonly title: string,
		readonly detail: string,
		/** The input field that is wrong, with a path for nested ones: `biz_param.argv[0]`. */
		readonly field: string | null = null,
	) {
		super(detail || title)
	}
}

export type Query = Record<string, string | number | boolean | null | undefined>

export interface Call {
	method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
	query?: Query
	body?: unknown
	idempotencyKey?: string
	signal?: AbortSignal
}

let csrf = ''
let onSignedOut: () => void = () => {}
let renew: () => Promise<boolean> = async () => false

export function setCsrf(token: string): void {
	csrf = token
}

/** Called when a call finds that its session is over, unless another one has begun since: that one is not. */
export function setSignedOutHandler(handler: () => void): void {
	onSignedOut = handler
}

/** Called when a change was refused because another tab has begun a session: true when it is the same user's, and its
 * token is set. */
export function setRenewHandler(handler: () => Promise<boolean>): void {
	renew = handler
}

/** `/api/v1` + path with the query parameters that have a value. */
export function apiUrl(path: string, query: Query = {}): string {
	const params = new URLSearchParams()
	for (const [key, value] of Object.entries(query)) {
		if (value !== null && value !== undefined && value !== '') params.set(key, String(value))
	}
	const text = params.toString()
	return `/api/v1${path}${text ? `?${text}` : ''}`
}

async function problemOf(response: Response): Promise<Problem> {
	const text = await response.text().catch(() => '')
	try {
		const doc = JSON.parse(text) as Partial<Problem>
		return new Problem(
			response.status,
			doc.code ?? 'internal',
			doc.title ?? response.statusText,
			doc.detail ?? '',
			doc.field ?? null,
		)
	} catch {
		return new Problem(response.status, 'internal', response.statusText || `HTTP ${response.status}`, '')
	}
}

async function callOnce<T>(path: string, options: Call): Promise<T> {
	const { method = 'GET', query, body, idempotencyKey, signal } = options
	const headers: Record<string, string> = { Accept: 'application/json' }
	const sessionsToken = csrf
	if (method !== 'GET') {
		headers['Content-Type'] = 'application/json'
		if (csrf) headers['X-AX-CSRF'] = csrf
	}
	if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey
	let response: Response
	try {
		response = await fetch(apiUrl(path, query), {
			method,
			headers,
			body: method === 'POST' || method === 'PATCH' ? JSON.stringify(body ?? {}) : undefined,
			credentials: 'same-origin',
			signal,
		})
	} catch (error) {
		if (error instanceof DOMException && error.name === 'AbortError') throw error
		throw new Problem(0, 'unreachable', 'The server does not answer.', '')
	}
	if (!response.ok) {
		const problem = await problemOf(response)
		if (problem.status === 401 && path !== '/session' && csrf === sessionsToken) onSignedOut()
		throw problem
	}
	if (response.status === 204) return undefined as T
	return (await response.json()) as T
}

export async function call<T>(path: string, options: Call = {}): Promise<T> {
	try {
		return await callOnce<T>(path, options)
	} catch (error) {
		const otherSession = error instanceof Problem && error.status === 403 && error.field === 'X-AX-CSRF'
		if (!otherSession || !(await renew())) throw error
		return callOnce<T>(path, options) // nothing was done
	}
}

/** A key for one wish of the user's: pressing the button twice, or a repeated request, makes one thing. */
export function newIdempotencyKey(): string {
	const bytes = crypto.getRandomValues(new Uint8Array(16))
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
