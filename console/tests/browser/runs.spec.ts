import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test, unique } from './fixture'

test('output appears while it is written, is searched and downloaded', async ({ page, api }) => {
	// The script goes on when the test has seen what it wrote, however slow the machine is.
	const seen = join(mkdtempSync(join(tmpdir(), 'ax-output-')), 'seen')
	const { id } = await api.scriptTask(unique('talks'), `i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "line $i"
		while [ $i -eq 100 ] && [ ! -e ${seen} ]; do sleep 0.1; done; done`)
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await page.goto(`/#/runs/${gid}`)
	await expect(page.getByText(/line 100$/).first()).toBeAttached({ timeout: 20_000 })
	writeFileSync(seen, '')
	await expect(page.locator('.page-head .tag')).toHaveText('success', { timeout: 30_000 })
	await expect(page.locator('.output-bar')).toContainText('300 lines')

	await page.keyboard.press('/')
	await page.getByLabel('Search in the output').fill('LINE 25')
	await expect(page.locator('.output-bar')).toContainText('1 of 11')
	await page.keyboard.press('Enter')
	await expect(page.locator('.output-bar')).toContainText('2 of 11')
	await expect(page.locator('.output-line.at')).toContainText('line 250')

	const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()])
	expect(download.suggestedFilename()).toMatch(new RegExp(`^run-${gid}-\\d+\\.log$`))
	expect(readFileSync(await download.path(), 'utf8').split('\n')).toHaveLength(301)
	rmSync(dirname(seen), { recursive: true })
})

test('hostile output is text: no markup, no escape, no reversal', async ({ page, api }) => {
	const script = String.raw`printf '<img src=x onerror="document.title=1"><script>alert(1)</script>\n'; printf '\033[31mred\033[0m \033]0;title\007 \342\200\256gnp.exe\n'`
	const { id } = await api.scriptTask(unique('hostile<b>bold</b>'), script)
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'SUCCESS')
	await page.goto(`/#/runs/${gid}`)
	await expect(page.locator('.output-line').first()).toContainText('<script>alert(1)</script>')
	await expect(page.locator('.output-line').nth(1)).toContainText('red ⟨ESC⟩]0;title⟨BEL⟩ ⟨U+202E⟩gnp.exe')
	await expect(page.locator('.output-line .fg-1')).toHaveText('red')
	await expect(page.locator('.output-box img, .output-box script')).toHaveCount(0)
	await expect(page.getByRole('heading', { level: 1 })).toContainText('hostile<b>bold</b>')
})

test('a cancel is asked, then seen to have stopped', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('endless'), 'echo begun; sleep 300')
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'RUNNING')
	await page.goto(`/#/runs/${gid}`)
	await page.getByRole('button', { name: 'Cancel' }).click()
	await page.getByRole('dialog').getByLabel('Reason').fill('test')
	await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).last().click()
	await expect(page.locator('.cancel')).toBeVisible()
	await expect(page.locator('.page-head .tag')).toHaveText('cancelled', { timeout: 30_000 })
	await expect(page.locator('.cancel [aria-current]')).toHaveText('stopped')
	await expect(page.getByRole('button', { name: 'Run again' })).toBeVisible()
})

test('a run and a task say why', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('wonders'), 'exit 3')
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'FAILED')
	await page.goto(`/#/runs/${gid}`)
	const chain = page.locator('section', { has: page.locator('.why-steps') })
	await expect(chain.locator('p code')).toHaveText('failed')
	await expect(chain.locator('.why-steps .fail')).toContainText('no retry is left')
	await page.goto(`/#/tasks/${id}?tab=why`)
	await expect(chain.locator('p code')).toHaveText('no_fire_yet')
	await expect(chain).toContainText('The next fire is at')
	await page.getByText('Next fires').click()
	await expect(chain).toHaveCount(0)
})

test('a failure says why, and running it again makes a new run of it', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('fails'), 'echo oh; exit 3')
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'FAILED')
	await page.goto(`/#/runs/${gid}`)
	await expect(page.locator('.page-head .tag')).toHaveText('failed')
	await expect(page.locator('.facts')).toContainText('code 3')
	await page.getByRole('button', { name: 'Run again' }).click()
	await expect(page).not.toHaveURL(new RegExp(gid))
	await expect(page.locator('.facts')).toContainText(gid)
})

test('a run that waits for its next try is tried now', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('second-try'), '[ "$AX_ATTEMPT" -ge 2 ]', { retry_count: 2 })
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'RETRYING')
	await page.goto(`/#/runs/${gid}`)
	await expect(page.locator('.page-head .tag')).toHaveText('retrying')
	await page.getByRole('button', { name: 'Retry now' }).click()
	await expect(page.locator('.page-head .tag')).toHaveText('success', { timeout: 30_000 })
	await expect(page.locator('section', { hasText: 'Attempts' }).locator('tbody tr')).toHaveCount(2)
})

test('a run that waits says what for', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('nobody'), 'x', { executor_key: 'nobody.offers.this', biz_param: null })
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'WAITING')
	await page.goto(`/#/runs/${gid}`)
	await expect(page.getByText('Why it waits:')).toBeVisible()
	await api.post(`/runs/${gid}/cancel`)
	await expect(page.locator('.page-head .tag')).toHaveText('cancelled')
})

test('the list follows the runs, and its filters are in the address', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('listed'), 'true')
	await page.goto(`/#/runs?task_id=${id}`)
	await expect(page.getByText('No run matches.')).toBeVisible()
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await expect(page.locator('tbody tr')).toHaveCount(1)
	await expect(page.locator('tbody .tag')).toHaveText('success', { timeout: 30_000 })
	await page.goto(`/#/runs?task_id=${id}&status=FAILED,TIMEOUT`)
	await expect(page.getByText('No run matches.')).toBeVisible()
	await page.getByRole('button', { name: 'Clear filters' }).click()
	await page.getByLabel('Open by id').fill(gid)
	await page.keyboard.press('Enter')
	await expect(page).toHaveURL(new RegExp(`#/runs/${gid}`))
})

test('a run with shards shows how far they are, and each of them', async ({ page, api }) => {
	const { id } = await api.scriptTask(unique('split'), '[ "$AX_SHARD_INDEX" != 1 ]', { shard_count: 3 })
	const { gid } = await api.post<{ gid: string }>(`/tasks/${id}/runs`)
	await api.runIn(gid, 'FAILED')
	await page.goto(`/#/runs/${gid}`)
	await expect(page.locator('.shards')).toContainText('3 of 3 have ended')
	await expect(page.locator('.shards tbody tr')).toHaveCount(3)
	await page.locator('.shards tbody a').first().click()
	await expect(page.locator('.facts')).toContainText(gid)
	await page.goto(`/#/runs/${gid}`)
	await page.getByRole('button', { name: 'Run failed shards again' }).click()
	await expect(page.locator('.shards')).toContainText('of 1 have ended')
})

test('why it waits is said in both languages, and what of a task does nothing', async ({ page, api }) => {
	const name = unique('nobody')
	const task = await api.post<{ id: string }>('/tasks', { task_name: name, task_type: 'delay', executor_key: 'nobody.has', overlap_max: 7 })
	await api.post(`/tasks/${task.id}/resume`, {})
	const run = await api.post<{ gid: string }>(`/tasks/${task.id}/runs`, {})
	await page.goto(`/#/runs/${run.gid}`)
	const failed = page.locator('.why-steps .fail')
	await expect(failed).toContainText('No worker offers executor nobody.has')
	await page.getByTitle('Switch to Chinese').click()
	await expect(failed).toContainText('没有节点提供该执行器')
	await expect(failed).toContainText('nobody.has')
	await page.goto(`/#/tasks/${task.id}`)
	await expect(page.locator('.warnings')).toContainText('overlap_max 在此不起作用')
})
