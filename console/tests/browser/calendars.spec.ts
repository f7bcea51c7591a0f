import { readFileSync } from 'node:fs'
import { expect, test, unique } from './fixture'

test('a calendar is made, its days turned over, imported into, exported and deleted', async ({ page, api }) => {
	const name = unique('workdays')
	await page.goto('/#/calendars')
	await page.getByRole('button', { name: 'New calendar' }).click()
	await page.getByRole('dialog').getByLabel('Name').fill(name)
	await page.getByRole('dialog').getByRole('button', { name: 'New calendar' }).click()
	await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()

	const year = (await page.locator('h2[aria-live]').textContent())!
	const monday = page.getByRole('button', { name: new RegExp(`^${year}-03-`) })
	await expect(monday).toHaveCount(31)
	await page.getByRole('button', { name: 'The year after' }).click()
	const next = Number(year) + 1
	const first = page.getByRole('button', { name: new RegExp(`^${next}-01-04`) })
	const was = await first.getAttribute('aria-pressed')
	await first.press('Enter')
	await expect(first).toHaveAttribute('aria-pressed', was === 'true' ? 'false' : 'true')
	await page.getByRole('button', { name: 'Save' }).click()
	await expect(page.getByRole('button', { name: 'Save' })).toHaveCount(0)
	expect(await api.get(`/calendars/${name}`)).toMatchObject({ version: 2, days: [{ date: `${next}-01-04`, kind: was === 'true' ? 'out' : 'in' }] })

	await page.getByRole('button', { name: 'Import' }).click()
	const file = { name: 'days.csv', mimeType: 'text/csv', buffer: Buffer.from(`date,kind,label\n${next}-05-01,holiday,Labour Day\n`) }
	await page.getByRole('dialog').getByLabel('File').setInputFiles({ ...file, buffer: Buffer.from('date,kind\nnever,in\n') })
	await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
	await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible()
	await page.getByRole('dialog').getByLabel('File').setInputFiles(file)
	await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
	await expect(page.getByRole('button', { name: `${next}-05-01 · out · Labour Day` })).toBeVisible()
	const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()])
	expect(readFileSync(await download.path(), 'utf8')).toContain('Labour Day')

	const { id } = await api.scriptTask(unique('by-calendar'), 'true', { calendar: name })
	await page.getByRole('link', { name: 'Its tasks' }).click()
	await expect(page.locator('tbody tr')).toHaveCount(1)
	await page.goto(`/#/calendars/${name}`)
	await page.getByRole('button', { name: 'Delete' }).click()
	await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
	await expect(page.getByRole('dialog').getByRole('alert')).toContainText('by-calendar')
	await api.patch(`/tasks/${id}`, { version: 1, calendar: null })
	await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
	await expect(page).toHaveURL(/#\/calendars$/)
})

test('the form of a task previews what its calendar leaves', async ({ page, api }) => {
	const name = unique('weekends')
	await api.post('/calendars', { name, week: ['sat', 'sun'] })
	await page.goto('/#/tasks/new')
	await page.getByLabel('Schedule', { exact: true }).fill('0 9 * * *')
	await page.getByLabel('Time zone').fill('UTC')
	await page.locator('[data-field="calendar"] .el-select__wrapper').click()
	await page.getByRole('option', { name }).click()
	await expect(page.locator('[data-field="calendar_mode"]')).toBeVisible()
	const dates = () => page.locator('.side .fires tbody tr:not(.fire-note):not(.skipped) td:first-child').allTextContents()
	await expect.poll(async () => (await dates()).map((text) => new Date(`${text.trim().slice(0, 10)}T00:00:00Z`).getUTCDay() % 6)).toEqual(Array(10).fill(0))
})
