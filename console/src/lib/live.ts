// What changed on the server, as it happens: one event stream for the whole tab, and what pages subscribe to.
// The stream rests while the tab is hidden or the user paused it; whoever comes back reads its page again.

import { onScopeDispose, ref, watch } from 'vue'
import { apiUrl } from '@/api'
import { prefs } from './prefs'

export type LiveState = 'live' | 'connecting' | 'paused'
export type LiveEvent =
	| { type: 'task'; id: string }
	| { type: 'run'; gid: string; task_id: string; status: string }
	| { type: 'worker'; worker: string }
	/** The stream is there again: anything may have changed in between. */
	| { type: 'again' }

export const liveState = ref<LiveState>('connecting')

const listeners = new Set<(event: LiveEvent) => void>()
const RETRY_FIRST_MS = 1_000
const RETRY_MAX_MS = 30_000
let source: EventSource | null = null
let retry: ReturnType<typeof setTimeout> | undefined
let retryMs = RETRY_FIRST_MS
let wanted = false

function emit(event: LiveEvent): void {
	for (const listener of [...listeners]) listener(event)
}

function close(): void {
	clearTimeout(retry)
	source?.close()
	source = null
}

function open(): void {
	close()
	liveState.value = 'connecting'
	source = new EventSource(apiUrl('/live'))
	source.onopen = () => {
		retryMs = RETRY_FIRST_MS
		liveState.value = 'live'
		emit({ type: 'again' })
	}
	for (const type of ['task', 'run', 'worker'] as const) {
		source.addEventListener(type, (event) => emit({ type, ...JSON.parse(event.data) } as LiveEvent))
	}
	source.addEventListener('reload', () => emit({ type: 'again' })) // events were left out
	source.onerror = () => {
		// The browser's own retries know no back-off and give up on an error status: ours do neither.
		close()
		liveState.value = 'connecting'
		retry = setTimeout(open, retryMs)
		retryMs = Math.min(RETRY_MAX_MS, retryMs * 2)
	}
}

function settle(): void {
	const shouldRun = wanted && !prefs.livePaused && !document.hidden
	if (shouldRun && !source) open()
	if (!shouldRun) {
		close()
		if (prefs.livePaused) liveState.value = 'paused'
	}
}

/** Called by the shell: true while somebody is signed in. */
export function setLiveWanted(value: boolean): void {
	wanted = value
	settle()
}

let watching = false
export function watchLive(): void {
	if (watching) return
	watching = true
	document.addEventListener('visibilitychange', settle)
	watch(() => prefs.livePaused, settle)
}

/**
 * Runs `refresh` when an event that `concerns` lets through arrives, at most once per `everyMs` and never twice at
 * the same time. Ends with the component.
 */
export function useLiveRefresh(
	concerns: (event: LiveEvent) => boolean,
	refresh: () => Promise<unknown>,
	everyMs = 1_000,
): void {
	let timer: ReturnType<typeof setTimeout> | undefined
	let running = false
	let again = false
	let last = 0

	async function run(): Promise<void> {
		timer = undefined
		if (running) {
			again = true
			return
		}
		running = true
		last = Date.now()
		try {
			await refresh()
		} finally {
			running = false
			if (again) {
				again = false
				soon()
			}
		}
	}
	function soon(): void {
		timer ??= setTimeout(run, Math.max(0, last + everyMs - Date.now()))
	}
	const listener = (event: LiveEvent) => {
		if (event.type === 'again' || concerns(event)) soon()
	}
	listeners.add(listener)
	onScopeDispose(() => {
		listeners.delete(listener)
		clearTimeout(timer)
	})
}
