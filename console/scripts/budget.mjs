// Holds what the browser loads against the budget: the shell with the sign-in page, and what each page adds.
// Reads dist/manifest.json; sizes are those of gzip, scripts and styles together, both languages' texts not counted
// twice: the larger catalogue is part of the shell.

import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const SHELL_KB = 120
const PAGE_KB = 80
const dist = new URL('../dist/', import.meta.url)

let manifest
try {
	manifest = JSON.parse(readFileSync(new URL('manifest.json', dist), 'utf8'))
} catch {
	console.error('budget: there is no build in dist/; run `npm run build` first')
	process.exit(1)
}

const sizes = new Map()
function size(file) {
	if (!sizes.has(file)) sizes.set(file, gzipSync(readFileSync(new URL(file, dist))).length)
	return sizes.get(file)
}

/** All files that an entry needs at once: itself, its static imports, their styles. */
function files(key, found = new Set(), seen = new Set()) {
	if (seen.has(key)) return found
	seen.add(key)
	const chunk = manifest[key]
	found.add(chunk.file)
	for (const css of chunk.css ?? []) found.add(css)
	for (const next of chunk.imports ?? []) files(next, found, seen)
	return found
}

const sum = (set) => [...set].reduce((total, file) => total + size(file), 0) / 1024
const largest = (pattern) =>
	Object.keys(manifest)
		.filter((key) => pattern.test(key))
		.sort((a, b) => size(manifest[b].file) - size(manifest[a].file))[0]

const shell = files('index.html')
for (const key of ['src/pages/signin/SignIn.vue', largest(/^src\/i18n\/(en|zh)\.ts$/), largest(/element-plus\/es\/locale\/lang\//)]) {
	if (key) files(key, shell)
}

let failed = false
function line(name, kb, budget) {
	const over = kb > budget
	failed ||= over
	console.log(`${over ? 'OVER' : '  ok'}  ${kb.toFixed(1).padStart(6)} kB of ${budget}  ${name}`)
}
line('shell and sign-in', sum(shell), SHELL_KB)
for (const key of Object.keys(manifest).filter((name) => /^src\/pages\/.*\.vue$/.test(name) && manifest[name].isDynamicEntry)) {
	line(key.replace('src/pages/', ''), sum(new Set([...files(key)].filter((file) => !shell.has(file)))), PAGE_KB)
}
process.exit(failed ? 1 : 0)
