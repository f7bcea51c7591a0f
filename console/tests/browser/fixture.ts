// Tests run against a real server, signed in by its printed link, and fail on anything the browser complains of:
// errors on the console, uncaught exceptions, violations of the content security policy or of Trusted Types.

import { type APIRequestContext, test as base, expect, type Page } from '@playwright/test'
import { type Server, startServer } from './server'

export { expect }

type Json = Record<string, unknown>

export interface Api {
	get: <T = Json>(path: string) => Promise<T>
	post: <T = Json>(path: string, body?: Json) => Promise<T>
	patch: <T = Json>(path: string, body: Json) => Promise<T>
	/** A task that runs this shell script when it is triggered. */
	scriptTask: (name: string, script: string, more?: Json) => Promise<{ id: string; version: number }>
	/** Waits until the run is in one of the states. */
	runIn: (gid: string, ...states: string[]) => Promise<Json>
}

/** A name that no other test uses. */
let count = 0
export const unique = (name: string): string => `${name}-${process.pid}-${++count}`

export function watchPage(page: Page, complaints: string[]): void {
	page.on('pageerror', (error) => complaints.push(`exception: ${error.stack ?? error.message}`))
	page.on('console', (message) => {
		if (!['error', 'warning'].includes(message.type())) return
		// A refusal that a page handles is logged by the browser all the same.
		const refused = /^Failed to load resource: the server responded with a status of 4\d\d/.test(message.text())
		if (refused && message.location().url.includes('/api/v1/')) return
		complaints.push(`console ${message.type()}: ${message.text()} (${message.location().url})`)
	})
}

/**
 * Ends a page with its context. It leaves its server first: a context whose page still has a live stream has hung in close(), and a
 * server that goes away under one is a complaint of the browser's.
 */
export async function endPage(page: Page): Promise<void> {
	await page.goto('about:blank')
	await page.context().close()
}

async function watchPolicy(page: Page, complaints: string[]): Promise<void> {
	await page.exposeFunction('axViolation', (text: string) => complaints.push(`policy: ${text}`))
	await page.addInitScript(() => {
		document.addEventListener('securitypolicyviolation', (event) => {
			const report = (window as unknown as { axViolation: (text: string) => void }).axViolation
			report(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`)
		})
	})
}

export function apiOver(request: APIRequestContext, server: Server): Api {
	async function send<T>(method: string, path: string, data?: Json): Promise<T> {
		const answer = await request.fetch(`${server.url}/api/v1${path}`, {
			method,
			data,
			headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' },
		})
		if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`)
		return answer.status() === 204 ? (undefined as T) : ((await answer.json()) as T)
	}
	const api: Api = {
		get: (path) => send('GET', path),
		post: (path, body = {}) => send('POST', path, body),
		patch: (path, body) => send('PATCH', path, body),
		scriptTask: (task_name, script, more = {}) =>
			api.post('/tasks', {
				task_name,
				task_type: 'scheduled',
				cron_expr: '0 0 1 1 *',
				executor_key: 'exec',
				biz_param: { script },
				retry_count: 0,
				...more,
			}),
		runIn: async (gid, ...states) => {
			let run: Json = {}
			await expect
				.poll(async () => (run = await api.get(`/runs/${gid}`)).status, { timeout: 30_000 })
				.toMatch(new RegExp(`^(${states.join('|')})$`))
			return run
		},
	}
	return api
}

interface WorkerFixtures {
	server: Server
	/** Cookies of a session that the printed link opened. */
	signedIn: Awaited<ReturnType<import('@playwright/test').BrowserContext['storageState']>>
}

interface TestFixtures {
	api: Api
	/** What the browser complained of; must be empty in the end. */
	complaints: string[]
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
	server: [
		async ({}, use) => {
			const server = await startServer({ dev: true })
			await use(server)
			await server.stop()
		},
		{ scope: 'worker', timeout: 60_000 },
	],
	signedIn: [
		async ({ server, browser }, use) => {
			const context = await browser.newContext()
			const page = await context.newPage()
			await page.goto(server.link)
			await expect(page.getByRole('heading', { level: 1 })).toHaveText(/Tasks|任务/)
			const state = await context.storageState()
			await endPage(page)
			await use(state)
		},
		{ scope: 'worker', timeout: 60_000 },
	],
	baseURL: async ({ server }, use) => use(server.url),
	storageState: async ({ signedIn }, use) => use(signedIn),
	api: async ({ playwright, server }, use) => {
		const request = await playwright.request.newContext({ storageState: { cookies: [], origins: [] } })
		await use(apiOver(request, server))
		await request.dispose()
	},
	complaints: [
		async ({ page }, use) => {
			const complaints: string[] = []
			watchPage(page, complaints)
			await watchPolicy(page, complaints)
			await use(complaints)
			expect(complaints).toEqual([])
		},
		{ auto: true },
	],
})
