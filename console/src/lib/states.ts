// The one table of a run's states: what the console needs to know of each. Colours of the tones are in
// styles/tokens.css; nothing else names a colour for a state.

import type { Alert, Backfill, Canary, Delivery, Failure, Run, RunState, TaskStatus, Worker } from '@/api'

export type Tone = 'wait' | 'busy' | 'good' | 'bad' | 'warn' | 'mute'

export const runStates: Record<RunState, { tone: Tone; live: boolean }> = {
	PENDING: { tone: 'mute', live: true },
	WAITING: { tone: 'wait', live: true },
	DISPATCHED: { tone: 'busy', live: true },
	RUNNING: { tone: 'busy', live: true },
	RETRYING: { tone: 'warn', live: true },
	SUCCESS: { tone: 'good', live: false },
	FAILED: { tone: 'bad', live: false },
	TIMEOUT: { tone: 'bad', live: false },
	CANCELLED: { tone: 'mute', live: false },
	BLOCKED: { tone: 'warn', live: false },
	SKIPPED: { tone: 'mute', live: false },
	MISSED: { tone: 'warn', live: false },
}

export const taskTones: Record<TaskStatus, Tone> = { created: 'mute', enabled: 'good', paused: 'warn', deleting: 'bad' }

export const workerTones: Record<Worker['state'], Tone> = {
	online: 'good',
	draining: 'warn',
	disabled: 'mute',
	offline: 'bad',
	left: 'mute',
}

export const failureTones: Record<Failure['state'], Tone> = { open: 'bad', muted: 'mute', resolved: 'good' }

export const alertTones: Record<Alert['state'], Tone> = { open: 'bad', resolved: 'good' }
export const deliveryTones: Record<Delivery['state'], Tone> = { pending: 'wait', sent: 'good', given_up: 'bad' }
export const backfillTones: Record<NonNullable<Backfill['status']>, Tone> = { running: 'busy', done: 'good', cancelled: 'mute' }
export const canaryTones: Record<Canary['state'], Tone> = { running: 'busy', promoted: 'good', rolled_back: 'warn' }

export const isLive = (state: RunState): boolean => runStates[state]?.live ?? false

/** A worker holds it: its time goes on. */
export const isGivenOut = (state: RunState): boolean => runStates[state]?.tone === 'busy'

/** What may be done to a run in its present state. */
export function runActions(run: Pick<Run, 'kind' | 'status' | 'cancel' | 'reason'>): {
	cancel: boolean
	retry: boolean
	rerun: boolean
	resolve: boolean
	change: boolean
} {
	const live = isLive(run.status)
	return {
		cancel: live && run.cancel === null,
		retry: run.status === 'RETRYING',
		rerun: !live && run.status !== 'MISSED',
		// Once decided on, it stays MISSED and its reason says how.
		resolve: run.status === 'MISSED' && run.reason === 'missed',
		change: run.status === 'PENDING' && run.kind === 'delay',
	}
}
