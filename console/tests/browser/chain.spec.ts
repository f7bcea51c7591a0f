import { expect, test, unique } from './fixture'

test('a chain is written, drawn, and followed from run to run', async ({ page, api }) => {
	const [first, second] = [unique('extract'), unique('load')]
	const { id } = await api.scriptTask(first, 'true')
	const { id: next } = await api.scriptTask(second, 'true')
	await page.goto(`/#/tasks/${next}/edit`)
	await page.locator('[data-field="upstreams"] input').fill(first)
	await page.getByRole('option', { name: `default/${first}` }).click()
	await page.keyboard.press('Escape')
	// What starts it is one or the other.
	await expect(page.locator('[data-field="cron_expr"]')).toHaveCount(0)
	await page.getByRole('button', { name: 'Save' }).click()
	await expect(page.getByText('Saved as version 2.')).toBeVisible()
	await page.getByRole('tab', { name: 'Chain' }).click()
	await expect(page.locator('.node')).toHaveText([new RegExp(first), new RegExp(second)])
	await expect(page.locator('.node.self')).toContainText(second)
	await page.getByRole('link', { name: first }).press('Enter')
	await expect(page.locator('.node.self')).toContainText(first)

	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'SUCCESS')
	const after = async () => (await api.get<{ items: { gid: string; status: string }[] }>(`/runs?task_id=${next}`)).items
	await expect.poll(async () => (await after())[0]?.status).toBe('SUCCESS')
	await page.goto(`/#/runs/${gid}`)
	await page.locator('.facts').getByRole('link', { name: second }).click()
	await expect(page.locator('.facts').getByRole('link', { name: first })).toBeVisible()
	await expect(page.locator('.facts')).toContainText('chain')
})

test('a past range is counted, made up and seen to its end', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('since-march'), 'true', { cron_expr: '0 0 * * *' })
	await page.goto(`/#/tasks/${id}?tab=backfills`)
	await page.getByLabel('From').fill('2026-03-01T00:00')
	await page.getByLabel('To (empty: now)').fill('2026-03-05T00:00')
	await expect(page.getByRole('button', { name: 'Start' })).toBeDisabled()
	await page.getByRole('button', { name: 'Count' }).click()
	await expect(page.getByText('4 runs would be made; 0 fires have one already.')).toBeVisible()
	await page.getByRole('button', { name: 'Start' }).click()
	await expect(page.locator('.list .tag')).toHaveText('done', { timeout: 30_000 })
	await expect(page.locator('.list')).toContainText('4 / 4')
	await page.getByRole('button', { name: 'Count' }).click()
	await expect(page.getByText('4 fires have one already')).toBeVisible()
	await expect(page.getByRole('button', { name: 'Start' })).toBeDisabled()
	await page.locator('.list a').click()
	await expect(page.locator('tbody tr')).toHaveCount(4)
})
