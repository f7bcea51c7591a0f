import { expect, test, unique } from './fixture'

test('language and colours switch at once and are remembered', async ({ page }) => {
	await page.goto('/#/tasks')
	await page.getByTitle('Switch to Chinese').click()
	await expect(page.getByRole('heading', { level: 1, name: '任务' })).toBeVisible()
	await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
	await page.getByRole('button', { name: '配色：跟随系统' }).click()
	await page.getByRole('button', { name: '配色：浅色' }).click()
	await expect(page.locator('html')).toHaveClass(/dark/)
	await page.reload()
	await expect(page.getByRole('heading', { level: 1, name: '任务' })).toBeVisible()
	await expect(page.locator('html')).toHaveClass(/dark/)
})

test('keys: help, search, places', async ({ page }) => {
	await page.goto('/#/tasks')
	await expect(page.getByRole('heading', { level: 1, name: 'Tasks' })).toBeVisible()
	await page.keyboard.press('?')
	await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible()
	await page.keyboard.press('Escape')
	await expect(page.getByRole('dialog')).toBeHidden()
	await page.keyboard.press('/')
	await expect(page.getByLabel('Search by name')).toBeFocused()
	await page.keyboard.type('g w')
	await expect(page).toHaveURL(/q=g(\+|%20)w/)
	await page.keyboard.press('Escape')
	await page.keyboard.press('g')
	await page.keyboard.press('w')
	await expect(page.getByRole('heading', { level: 1, name: 'Workers' })).toBeVisible()
})

test('the header shows the live connection, and pausing it holds the page still', async ({ page, api }) => {
	await page.goto('/#/tasks')
	await expect(page.locator('[data-live]')).toHaveAttribute('data-live', 'live')
	const first = unique('appears')
	await api.scriptTask(first, 'true')
	await expect(page.getByRole('link', { name: first })).toBeVisible()

	await page.locator('[data-live]').click()
	await expect(page.locator('[data-live]')).toHaveAttribute('data-live', 'paused')
	const second = unique('held')
	await api.scriptTask(second, 'true')
	await page.locator('[data-live]').click()
	await expect(page.locator('[data-live]')).toHaveAttribute('data-live', 'live')
	await expect(page.getByRole('link', { name: second })).toBeVisible()
})

test('an unknown address and an unknown object say so', async ({ page }) => {
	await page.goto('/#/nowhere')
	await expect(page.getByRole('heading', { level: 1 })).toHaveText('There is no such page')
	await page.goto('/#/runs/1')
	await expect(page.getByRole('alert')).toContainText('does not exist')
})

test('nothing is wider than a phone', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('a-task-with-quite-a-long-name-that-must-break-somewhere'), 'echo hello; echo "$(head -c 400 /dev/zero | tr "\\0" x)"')
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'SUCCESS')
	await api.post('/calendars', { name: 'narrow', title: 'Days on which something happens' })
	await page.setViewportSize({ width: 360, height: 740 })
	const pages = ['tasks', 'tasks/new', `tasks/${id}`, `tasks/${id}?tab=next`, `tasks/${id}?tab=versions`, `tasks/${id}?tab=definition`, `tasks/${id}/edit`, 'runs', `runs/${gid}`, 'failures', 'alerts', 'channels', 'events', 'calendars', 'calendars/narrow', 'workers', 'groups', `tasks/${id}?tab=canary`]
	for (const path of pages) {
		await page.goto(`/#/${path}`)
		await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
		await expect(page.getByText('Loading…')).toHaveCount(0)
		const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
		expect(over, path).toBe(0)
	}
})
