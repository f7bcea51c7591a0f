import { expect, test, unique } from './fixture'

test('failures of one cause are one row, which is opened, assigned, muted, resolved and run again', async ({ page, api }) => {
	const name = unique('breaks')
	const { id } = await api.scriptTask(name, 'echo "order 17 was not found" >&2; exit 4')
	const gids: string[] = []
	for (let i = 0; i < 3; i++) gids.push((await api.post<{ gid: string }>(`/tasks/${id}/runs`)).gid)
	for (const gid of gids) await api.runIn(gid, 'FAILED')

	// From the run to its group, as soon as it is counted there.
	await page.goto(`/#/runs/${gids[0]}`)
	await page.getByRole('link', { name: 'runs that failed like this' }).click({ timeout: 20_000 })
	await expect(page.locator('.page-head .tag').first()).toHaveText('open')
	await expect(page.locator('.spread')).toContainText(name)
	await expect(page.locator('tbody .run-name')).toHaveCount(3)
	const failure = /failures\/(\d+)/.exec(page.url())![1]!

	const act = async (what: string, fill: () => Promise<void> = async () => {}) => {
		await page.getByRole('button', { name: what, exact: true }).click()
		await fill()
		await page.getByRole('dialog').getByRole('button', { name: what, exact: true }).click()
		await expect(page.getByRole('dialog')).toHaveCount(0)
	}
	await act('Assign', () => page.getByRole('dialog').getByLabel('Assigned to').fill('ann'))
	await expect(page.locator('.facts')).toContainText('ann')
	await page.getByRole('button', { name: 'Mute', exact: true }).click()
	await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click()
	await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible()
	await page.getByRole('dialog').getByLabel('Reason').fill('known')
	await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click()
	await expect(page.locator('.page-head .tag').first()).toHaveText('muted')
	await act('Run all again')
	await expect(page.locator('.el-message')).toContainText('3 runs were made')
	await act('Resolve')
	expect(await api.get(`/failures/${failure}`)).toMatchObject({ assignee: 'ann' })

	await page.goto('/#/failures')
	await page.getByLabel('Search in the message').fill(unique('nothing-says-this'))
	await expect(page.getByText('No failure matches.')).toBeVisible()
	await page.goto(`/#/failures?task_id=${id}`)
	await expect(page.locator('tbody tr')).toHaveCount(1)
	await expect(page.locator('tbody tr .spark rect')).not.toHaveCount(1)
	await page.locator('tbody a').press('Enter')
	await expect(page).toHaveURL(new RegExp(`failures/${failure}`))
	await page.getByRole('link', { name: 'All its runs' }).click()
	await expect(page).toHaveURL(new RegExp(`failure_id=${failure}`))
})

test('what may be said of the spread is said in both languages', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('alone'), 'exit 5')
	let gid = ''
	for (let i = 0; i < 3; i++) {
		gid = (await api.post<{ gid: string }>(`/tasks/${id}/runs`)).gid
		await api.runIn(gid, 'FAILED')
	}
	let run: { failure_id?: string } = {}
	await expect.poll(async () => (run = await api.get(`/runs/${gid}`)).failure_id ?? null).not.toBeNull()
	await expect.poll(async () => (await api.get<{ count: number }>(`/failures/${run.failure_id}`)).count).toBe(3)
	await page.goto(`/#/failures/${run.failure_id}`)
	await expect(page.locator('.hints')).toContainText('worker')
	await page.getByTitle('Switch to Chinese').click()
	await expect(page.locator('.hints')).toContainText('3 次失败全部发生在节点')
})

test('a run that takes longer than promised is marked', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('slow'), 'sleep 300', { expected_seconds: 1 })
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'RUNNING')
	await expect.poll(async () => (await api.get(`/runs/${gid}`)).overran, { timeout: 20_000 }).toBe(true)
	await page.goto(`/#/runs/${gid}`)
	await expect(page.locator('.page-head .tag', { hasText: 'overran' })).toBeVisible()
	await api.post(`/runs/${gid}/cancel`)
})
