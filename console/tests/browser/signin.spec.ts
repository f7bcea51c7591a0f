import { endPage, expect, test, watchPage } from './fixture'
import { startServer } from './server'

test.describe('without a session', () => {
	test.use({ storageState: { cookies: [], origins: [] } })

	test('the printed link signs in once, then says why it does not', async ({ page, server, signedIn }) => {
		expect(signedIn.cookies.some((cookie) => cookie.name === 'ax' && cookie.httpOnly && cookie.sameSite === 'Strict')).toBe(true)
		await page.goto(server.link)
		await expect(page.getByRole('alert')).toContainText('This link does not work')
		expect(page.url()).not.toContain('once=')
	})

	test('a page asks to sign in and keeps its address', async ({ page }) => {
		await page.goto('/#/runs?status=FAILED')
		await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
		expect(decodeURIComponent(page.url())).toContain('to=/runs?status=FAILED')
	})

	test('a wrong password is refused in one sentence', async ({ page }) => {
		await page.goto('/#/signin')
		await page.getByLabel('User').fill('nobody')
		await page.getByLabel('Password').fill('not the password')
		await page.getByRole('button', { name: 'Sign in' }).click()
		await expect(page.getByRole('alert')).toHaveText('User and password do not match.')
		await expect(page.getByLabel('Password')).toHaveValue('')
	})

	test('the console speaks the language of the browser', async ({ browser, server }) => {
		const context = await browser.newContext({ locale: 'zh-CN', storageState: { cookies: [], origins: [] } })
		const page = await context.newPage()
		await page.goto(`${server.url}/#/signin`)
		await expect(page.getByRole('heading', { name: '登录' })).toBeVisible()
		await endPage(page)
	})
})

test('a printed link signs in where the page asks for it already', async ({ browser, complaints }) => {
	const server = await startServer({ dev: true })
	const context = await browser.newContext({ storageState: { cookies: [], origins: [] } })
	const page = await context.newPage()
	watchPage(page, complaints)
	try {
		await page.goto(`${server.url}/#/signin?once=old`)
		await expect(page.getByRole('alert')).toContainText('This link does not work')
		await page.goto(server.link) // the same document: only what stands behind the # is new
		await expect(page.getByText('No tasks yet.')).toBeVisible()
	} finally {
		await endPage(page)
		await server.stop()
	}
})

test('the setup link makes the first administrator, who signs out and in again', async ({ browser, complaints }) => {
	const server = await startServer({ dev: false })
	const context = await browser.newContext({ storageState: { cookies: [], origins: [] } })
	const fresh = await context.newPage()
	watchPage(fresh, complaints)
	try {
		await fresh.goto(`${server.url}/#/tasks`)
		await expect(fresh.getByRole('alert')).toContainText('the server has no administrator')
		await fresh.goto(server.link)
		await expect(fresh.getByRole('heading', { name: 'First administrator' })).toBeVisible() // the page before has a field "User", too
		await fresh.getByLabel('User').fill('ada')
		await fresh.getByLabel('Password', { exact: true }).fill('short')
		await fresh.getByRole('button', { name: 'Create and sign in' }).click()
		await expect(fresh.getByText('The password has fewer than 12 characters.')).toBeVisible()
		await fresh.getByLabel('Password', { exact: true }).fill('a long enough sentence')
		await fresh.getByLabel('Password again').fill('a long enough sentence')
		await fresh.getByRole('button', { name: 'Create and sign in' }).click()
		await expect(fresh.getByText('No tasks yet.')).toBeVisible()
		expect(fresh.url()).not.toContain('token')

		await fresh.getByRole('button', { name: 'Sign out' }).click()
		await expect(fresh.getByRole('heading', { name: 'Sign in' })).toBeVisible()
		await fresh.getByLabel('User').fill('ada')
		await fresh.getByLabel('Password').fill('a long enough sentence')
		await expect(fresh.getByLabel('User')).toHaveValue('ada')
		await expect(fresh.getByLabel('Password')).toHaveValue('a long enough sentence')
		await fresh.getByRole('button', { name: 'Sign in' }).click()
		await expect(fresh.getByText('No tasks yet.')).toBeVisible()

		// Another tab signs in anew: the cookie of both is that session's, and this tab goes on in it.
		const other = await context.newPage()
		watchPage(other, complaints)
		await other.goto(`${server.url}/#/signin`)
		await other.getByLabel('User').fill('ada')
		await other.getByLabel('Password').fill('a long enough sentence')
		await other.getByRole('button', { name: 'Sign in' }).click()
		await expect(other.getByText('No tasks yet.')).toBeVisible()
		await other.goto('about:blank')
		await other.close()
		await fresh.getByRole('button', { name: 'Sign out' }).click()
		await expect(fresh.getByRole('heading', { name: 'Sign in' })).toBeVisible()
		await fresh.goto(`${server.url}/#/runs`)
		await expect(fresh.getByRole('heading', { name: 'Sign in' })).toBeVisible() // out it is
		await fresh.goto(server.link)
		await expect(fresh.getByRole('heading', { name: 'First administrator' })).toHaveCount(0)
	} finally {
		await endPage(fresh)
		await server.stop()
	}
})

test('who could not be signed out is told so', async ({ browser, server, signedIn }) => {
	const context = await browser.newContext({ storageState: signedIn })
	const page = await context.newPage()
	await page.goto(`${server.url}/#/tasks`)
	const refusal = { status: 503, code: 'unavailable', title: 'Service Unavailable', detail: 'the disk is gone' }
	await page.route('**/api/v1/session', (route) =>
		route.request().method() === 'DELETE' ? route.fulfill({ status: 503, json: refusal }) : route.continue(),
	)
	await page.getByRole('button', { name: 'Sign out' }).click()
	await expect(page.getByText('the disk is gone')).toBeVisible()
	await expect(page.getByRole('heading', { name: 'Tasks', exact: true })).toBeVisible()
	await endPage(page)
})

test('every file comes with the policy, and nothing of it is inline', async ({ page, server }) => {
	const answer = await page.goto(server.url)
	const policy = answer!.headers()['content-security-policy'] ?? ''
	for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "require-trusted-types-for 'script'"]) {
		expect(policy).toContain(rule)
	}
	const html = await answer!.text()
	expect(html).not.toMatch(/<style|style=|<script(?![^>]*src=)|onload=|https?:\/\//)
})
