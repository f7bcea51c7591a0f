import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, unique } from './fixture'

test('a channel is made, tested and told of an alert, which is muted and resolved', async ({ page, api }) => {
	const heard: { channel: string; events: { kind: string }[] }[] = []
	const hook = createServer((request, response) => {
		let body = ''
		request.on('data', (data: Buffer) => (body += data.toString()))
		request.on('end', () => {
			heard.push(JSON.parse(body))
			response.end()
		})
	})
	await new Promise<void>((ready) => hook.listen(0, '127.0.0.1', ready))
	const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`
	const name = unique('hook')

	await page.goto('/#/channels')
	await page.getByRole('button', { name: 'New channel' }).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByLabel('Name').fill(name)
	await dialog.getByLabel('URL').fill('not a url')
	await dialog.getByRole('button', { name: 'Save' }).click()
	await expect(dialog.locator('.field-error')).toBeVisible()
	await dialog.getByLabel('URL').fill(url)
	await dialog.getByRole('button', { name: 'Save' }).click()
	const row = page.locator('tbody tr', { hasText: name })
	await expect(row).toContainText('127.0.0.1')
	await row.getByRole('button', { name: 'Test' }).click()
	await expect(page.locator('.list').last()).toContainText('sent', { timeout: 30_000 })
	expect(heard).toMatchObject([{ channel: name, events: [{ kind: 'test' }] }])

	// A secret that is set is not shown, and stays when it is left empty.
	await row.getByRole('button', { name: 'Edit' }).click()
	await expect(dialog.getByLabel('URL')).toHaveValue('')
	await expect(dialog).toContainText('Is set; leave it empty to keep it.')
	await dialog.getByText('Quiet hours').click()
	await dialog.getByRole('button', { name: 'Save' }).click()
	await expect(row).toContainText('22:00–07:30')

	const task = unique('alarming')
	const { id } = await api.scriptTask(task, 'exit 9')
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'FAILED')
	await page.goto(`/#/alerts?task_id=${id}&rule=failed`)
	const alert = page.locator('tbody tr', { hasText: task })
	await expect(alert.locator('.tag')).toHaveText(['open'])
	await alert.getByRole('button', { name: 'Mute' }).click()
	await dialog.getByLabel('Reason').fill('known')
	await dialog.getByRole('button', { name: 'Mute' }).click()
	await expect(alert.locator('.tag')).toHaveText(['open', 'muted'])
	await alert.getByRole('link').press('Enter')
	await expect(page.locator('.facts')).toContainText('a run failed')
	await expect(page.locator('.facts')).toContainText('known')
	await expect(page.locator('.list')).toContainText(name)
	await page.getByRole('button', { name: 'Resolve' }).click()
	await dialog.getByRole('button', { name: 'Resolve' }).click()
	await expect(page.locator('.page-head .tag').first()).toHaveText('resolved')

	await expect(page.locator('.facts')).toContainText(`Run ${gid} failed on`)
	await page.getByTitle('Switch to Chinese').click()
	await expect(page.locator('.facts')).toContainText(new RegExp(`运行 ${gid} 失败，在节点 \\S+ 上，代码 9`))
	await expect(page.locator('.facts')).toContainText(/由 \S+ 解除/)
	await page.getByTitle('切换到英文').click()

	await page.goto('/#/channels')
	await row.getByRole('button', { name: 'Delete' }).click()
	await dialog.getByRole('button', { name: 'Delete' }).click()
	await expect(row).toHaveCount(0)
	hook.close()
})
