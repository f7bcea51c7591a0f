import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiOver, expect, test } from './fixture'
import { startServer } from './server'

test('fires that a server missed wait for a person, who runs or dismisses them', async ({ page, playwright }) => {
	const state = mkdtempSync(join(tmpdir(), 'ax-missed-'))
	const request = await playwright.request.newContext({ storageState: { cookies: [], origins: [] } })
	let server = await startServer({ dev: true, state })
	let api = apiOver(request, server)
	const task = (task_name: string) => api.post<{ id: string }>('/tasks', { task_name, cron_expr: '@every 1s', window_seconds: 1, executor_key: 'exec', biz_param: { argv: ['/bin/true'] } })
	const ids = [(await task('made-up')).id, (await task('let-go')).id]
	const down = Date.now()
	await server.stop()
	// What is missed is time in which no server is there.
	await expect.poll(() => Date.now() - down, { timeout: 20_000 }).toBeGreaterThan(6_000)
	server = await startServer({ dev: true, state })
	api = apiOver(request, server)
	const missed: string[] = []
	for (const id of ids) {
		const runs = async () => (await api.get<{ items: { gid: string }[] }>(`/runs?task_id=${id}&status=MISSED`)).items
		await expect.poll(async () => (await runs()).length).toBeGreaterThan(0)
		missed.push((await runs())[0]!.gid)
		const { version } = await api.get<{ version: number }>(`/tasks/${id}`)
		await api.patch(`/tasks/${id}`, { version, cron_expr: '0 0 1 1 *' })
	}

	await page.goto(server.link)
	await expect(page.getByRole('heading', { level: 1 })).toHaveText('Tasks')
	const decide = async (gid: string, choice: string) => {
		await page.goto(`${server.url}/#/runs/${gid}`)
		await expect(page.locator('.page-head .tag')).toHaveText('missed')
		await page.getByRole('button', { name: 'Decide' }).click()
		await page.getByRole('dialog').getByText(choice).click()
		await page.getByRole('dialog').getByLabel('Note').fill('looked at it')
		await page.getByRole('dialog').getByRole('button', { name: 'Decide' }).click()
		await expect(page.getByRole('dialog')).toHaveCount(0)
	}
	await decide(missed[0]!, 'Run once, for the newest')
	await expect(page).not.toHaveURL(new RegExp(missed[0]!))
	await expect(page.locator('.page-head .tag')).toHaveText('success', { timeout: 30_000 })
	await decide(missed[1]!, 'Dismiss')
	await expect(page.getByRole('button', { name: 'Decide' })).toHaveCount(0)
	await request.dispose()
	await page.goto('about:blank') // while its server is there
	await server.stop()
	rmSync(state, { recursive: true, force: true })
})
