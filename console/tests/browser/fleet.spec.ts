import { expect, test, unique } from './fixture'

test('a worker is drained, taken back, and forgotten when it left', async ({ page, api, server, request }) => {
	// A worker of the test's own, that speaks the protocol and asks for no work.
	const worker = unique('probe')
	const incarnation = '0123456789abcdef'
	const { token } = await api.post<{ token: string }>('/tokens', { name: worker, worker_groups: ['default'] })
	const say = async (call: string, data: object) => {
		const answer = await request.post(`${server.url}/worker/v1/${call}`, { data, headers: { Authorization: `Bearer ${token}` } })
		expect(answer.ok(), await answer.text()).toBe(true)
	}
	await say('register', {
		worker, incarnation, groups: [{ group: 'default', pool_size: 3 }], executors: ['probe.only'], tags: { place: 'here' }, version: '9', running: [],
	})

	await page.goto('/#/workers')
	const row = page.locator('tbody tr', { hasText: worker })
	await expect(row.locator('.tag')).toHaveText('online')
	await expect(row).toContainText('probe.only')
	await expect(row).toContainText('0 / 3')
	await expect(row).toContainText('place=here')
	await row.getByRole('button', { name: 'Drain' }).click()
	await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click()
	await expect(row.locator('.tag')).toHaveText('draining')
	await row.getByRole('button', { name: 'Resume' }).click()
	await expect(row.locator('.tag')).toHaveText('online')
	await say('leave', { worker, incarnation })
	await expect(row.locator('.tag')).toHaveText('left')
	await row.getByRole('button', { name: 'Forget' }).click()
	await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
	await expect(row).toHaveCount(0)
})

test('a group is made, its quota changed, paused, resumed and deleted', async ({ page, api }) => {
	const key = unique('group')
	await page.goto('/#/groups')
	await page.getByRole('button', { name: 'New group' }).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByLabel('Key').fill('Not Allowed')
	await dialog.getByRole('button', { name: 'Save' }).click()
	await expect(dialog.locator('.field-error')).not.toBeEmpty()
	await dialog.getByLabel('Key').fill(key)
	await dialog.getByRole('button', { name: 'Save' }).click()
	const row = page.locator('tbody tr', { hasText: key })
	await expect(row).toContainText('0 / 200')
	await row.getByRole('button', { name: 'Edit' }).click()
	await page.getByRole('dialog').getByLabel('Quota').fill('7')
	await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
	await expect(row).toContainText('0 / 7')
	await row.getByRole('button', { name: 'Edit' }).click()
	const edit = page.getByRole('dialog')
	await edit.getByLabel('Long lane (%)').fill('30')
	await edit.getByLabel('Runs a worker').fill('12')
	await edit.getByLabel('Contacts').fill('ops@example.org dba@example.org')
	await edit.getByLabel('Late after (s)').fill('90')
	await edit.getByLabel('Backlog above').fill('40')
	await edit.getByLabel('Too long is (s)').fill('60')
	await edit.getByLabel('Keep for (days)').fill('14')
	await edit.getByLabel('Keep of each task').fill('500')
	await edit.getByLabel('Defaults of its tasks').fill('{"retry_count": 500}')
	await edit.getByRole('button', { name: 'Save' }).click()
	await expect(edit.locator('.field-error')).toContainText('defaults.retry_count')
	await edit.getByLabel('Defaults of its tasks').fill('{"retry_count": 5}')
	await edit.getByRole('button', { name: 'Save' }).click()
	await expect(edit).toHaveCount(0)
	expect(await api.get(`/groups/${key}`)).toMatchObject({
		long_share_percent: 30, worker_backlog: 12, contacts: ['ops@example.org', 'dba@example.org'], late_seconds: 90, backlog_limit: 40,
		backlog_seconds: 60, keep_days: 14, keep_runs: 500, defaults: { retry_count: 5 }, dispatch_quota: 7,
	})
	await row.getByRole('button', { name: 'Pause' }).click()
	await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
	await expect(row.locator('.tag')).toHaveText('paused')
	expect(await api.get(`/groups/${key}`)).toMatchObject({ dispatch_quota: 7, paused: true })
	await row.getByRole('button', { name: 'Resume' }).click()
	await expect(row.locator('.tag')).toHaveCount(0)
	await row.getByRole('button', { name: 'Delete' }).click()
	await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
	await expect(row).toHaveCount(0)
})
