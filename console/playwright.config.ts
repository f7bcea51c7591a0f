import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { defineConfig } from '@playwright/test'

/** The browser of the distribution; none is ever downloaded. */
function chromium(): string {
	for (const folder of (process.env.PATH ?? '').split(delimiter)) {
		const file = join(folder, 'chromium')
		try {
			accessSync(file, constants.X_OK)
			return file
		} catch {
			// Not in this folder.
		}
	}
	throw new Error('chromium is not on the PATH')
}

export default defineConfig({
	testDir: 'tests/browser',
	workers: 1,
	timeout: 120_000,
	expect: { timeout: 25_000 },
	forbidOnly: true,
	reporter: 'list',
	outputDir: process.env.AX_TEST_OUTPUT ?? 'node_modules/.cache/playwright',
	use: {
		viewport: { width: 1280, height: 800 },
		locale: 'en-GB',
		timezoneId: 'Asia/Shanghai',
		screenshot: 'only-on-failure',
		launchOptions: {
			executablePath: chromium(),
			args: [
				'--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
				'--disable-component-update', '--disable-sync',
			],
		},
	},
})
