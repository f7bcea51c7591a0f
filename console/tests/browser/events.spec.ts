import { expect, test, unique } from './fixture'

test('an event is sent, and what became of it is told for each task', async ({ page, api }) => {
	const name = unique('order.paid')
	const [dear, any] = [unique('dear'), unique('any')]
	const task = (task_name: string, event_condition: object[] | null) =>
		api.post('/tasks', { task_name, task_type: 'event', event_name: name, event_condition, executor_key: 'exec', biz_param: { script: 'true' } })
	await task(dear, [{ field: '/total', op: 'ge', value: 100 }])
	await task(any, null)
	await page.goto('/#/events')
	await page.getByRole('button', { name: 'Send an event' }).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByLabel('Event', { exact: true }).fill(name)
	await dialog.getByLabel('Its own id').fill('order-17')
	await dialog.getByLabel('Payload').fill('{"total": 7')
	await expect(dialog.getByRole('button', { name: 'Send', exact: true })).toBeDisabled()
	await dialog.getByLabel('Payload').fill('{"total": 7}')
	await dialog.getByRole('button', { name: 'Send', exact: true }).click()
	await expect(page).toHaveURL(/events\/\d+/)
	await expect(page.locator('tr', { hasText: dear })).toContainText('its condition does not hold')
	const row = page.locator('tr', { hasText: any })
	await expect(row).toContainText('got a run')
	await page.goto(`/#/events?name=${name}`)
	await expect(page.locator('tbody tr')).toHaveCount(1)
	await expect(page.locator('tbody tr')).toContainText('order-17')
	await page.locator('tbody a').click()
	await row.locator('a.mono').click()
	await expect(page.locator('.facts')).toContainText('event')
})
