// One ax-server on a free port with a state folder of its own, ended by its pid.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const START_MS = 20_000
const STOP_MS = 15_000

export interface Server {
	url: string
	/** The printed link, good once: signs in with --dev, else makes the first administrator. */
	link: string
	/** An administrator's API token; empty without --dev. */
	token: string
	stop: () => Promise<void>
}

function freePort(): Promise<number> {
	return new Promise((found, failed) => {
		const probe = createServer()
		probe.once('error', failed)
		probe.listen(0, '127.0.0.1', () => {
			const address = probe.address()
			probe.close(() => found(typeof address === 'object' && address ? address.port : 0))
		})
	})
}

/** Polls until `ready` gives something; fails at the deadline or when the process ends before. */
async function until<T>(child: ChildProcess, what: string, output: () => string, ready: () => T | null): Promise<T> {
	const deadline = Date.now() + START_MS
	for (;;) {
		const value = ready()
		if (value !== null) return value
		if (child.exitCode !== null) throw new Error(`ax-server ended (${child.exitCode}) before ${what}:\n${output()}`)
		if (Date.now() > deadline) throw new Error(`ax-server: no ${what} in ${START_MS} ms:\n${output()}`)
		await new Promise((later) => setTimeout(later, 50))
	}
}

/** In the folder that AX_BUILD names, else where `make` and a plain `meson setup build` put it. */
function builtServer(): string {
	const folders = process.env.AX_BUILD ? [process.env.AX_BUILD] : ['build/gcc', 'build']
	const files = folders.map((folder) => resolve('..', folder, 'src/server/ax-server'))
	const found = files.find((file) => existsSync(file))
	if (!found) throw new Error(`ax-server is not built: looked for ${files.join(' and ')}`)
	return found
}

/** With a `state` folder of the caller's the server takes up what is there, and leaves it behind. */
export async function startServer({ dev, state: kept }: { dev: boolean; state?: string }): Promise<Server> {
	const binary = builtServer()
	const state = kept ?? mkdtempSync(join(tmpdir(), 'ax-console-'))
	const port = await freePort()
	const child = spawn(binary, [...(dev ? ['--dev'] : []), '--listen', `127.0.0.1:${port}`, '--state', state], {
		stdio: ['ignore', 'pipe', 'pipe'],
		env: { ...process.env, AX_SERVER: undefined, AX_TOKEN: undefined },
	})
	let text = ''
	child.stdout.on('data', (data: Buffer) => (text += data.toString()))
	child.stderr.on('data', (data: Buffer) => (text += data.toString()))
	const ended = new Promise<void>((done) => child.once('exit', () => done()))

	async function stop(): Promise<void> {
		child.kill('SIGTERM')
		const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
		await ended
		clearTimeout(timer)
		if (!kept) rmSync(state, { recursive: true, force: true })
	}
	try {
		const link = await until(child, 'link', () => text, () => /https?:\/\/\S*#\/(signin\?once|setup\?token)=[\w.~-]+/.exec(text)?.[0] ?? null)
		if (!dev) return { url: `http://127.0.0.1:${port}`, link, token: '', stop }
		const file = join(state, 'dev.json')
		const token = await until(child, 'dev.json', () => text, () => {
			try {
				return (JSON.parse(readFileSync(file, 'utf8')) as { token: string }).token
			} catch {
				return null
			}
		})
		return { url: `http://127.0.0.1:${port}`, link, token, stop }
	} catch (error) {
		await stop()
		throw error
	}
}
