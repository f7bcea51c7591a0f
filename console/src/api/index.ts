// The calls of docs/api.md that the console makes, one line each.

import { call, type Call } from './client'
import type {
	Alert, AlertDetail, Backfill, Calendar, CalendarDay, CalendarHead, Canary, Channel, ChannelForm, Delivery, Failure, FailureDetail, Group, Json, NewBackfill, Output, Page, Preview, Run,
	RunDetail, SentEvent, SentEventDetail, Server, Session, Task, TaskDefinition, TaskGraph, TaskVersion, Weekday, Why, Worker,
} from './types'

export * from './types'
export { apiUrl, newIdempotencyKey, Problem } from './client'

const seg = encodeURIComponent
const get = <T>(path: string, query?: Call['query'], signal?: AbortSignal) => call<T>(path, { query, signal })
const post = <T>(path: string, body?: unknown, key?: string) =>
	call<T>(path, { method: 'POST', body, idempotencyKey: key })
const patch = <T>(path: string, body: unknown) => call<T>(path, { method: 'PATCH', body })
const remove = (path: string, query?: Call['query']) => call<void>(path, { method: 'DELETE', query })

export const api = {
	setupNeeded: () => get<{ needed: boolean }>('/setup'),
	setup: (body: { token: string; user: string; password: string }) => post<Session>('/setup', body),
	signIn: (body: { user: string; password: string } | { once: string }) => post<Session>('/session', body),
	session: () => get<Session>('/session'),
	signOut: () => remove('/session'),

	tasks: (query: Call['query'], signal?: AbortSignal) => get<Page<Task>>('/tasks', query, signal),
	task: (id: string) => get<Task>(`/tasks/${seg(id)}`),
	createTask: (body: Partial<TaskDefinition>, key: string) => post<Task>('/tasks', body, key),
	updateTask: (id: string, body: Partial<TaskDefinition> & { version: number }) =>
		patch<Task>(`/tasks/${seg(id)}`, body),
	deleteTask: (id: string, force: boolean) => remove(`/tasks/${seg(id)}`, force ? { force } : {}),
	pauseTask: (id: string, reason: string) =>
		post<{ task: Task; given_out: string[] }>(`/tasks/${seg(id)}/pause`, reason ? { reason } : {}),
	resumeTask: (id: string) => post<Task>(`/tasks/${seg(id)}/resume`),
	trigger: (id: string, body: { params?: Json; delay_ms?: number; run_at?: number; dedup_key?: string }, key: string) =>
		post<Run>(`/tasks/${seg(id)}/runs`, body, key),
	next: (id: string, n = 10) => get<Preview>(`/tasks/${seg(id)}/next`, { n }),
	taskWhy: (id: string, at?: number) => get<Why>(`/tasks/${seg(id)}/why`, { at }),
	versions: (id: string) => get<Page<TaskVersion>>(`/tasks/${seg(id)}/versions`),
	preview: (body: Partial<TaskDefinition> & { task_id?: string; n?: number }, signal?: AbortSignal) =>
		call<Preview>('/schedules/preview', { method: 'POST', body, signal }),

	runs: (query: Call['query'], signal?: AbortSignal) => get<Page<Run>>('/runs', query, signal),
	run: (gid: string) => get<RunDetail>(`/runs/${seg(gid)}`),
	runWhy: (gid: string) => get<Why>(`/runs/${seg(gid)}/why`),
	output: (gid: string, query: { fence?: number; after_seq?: number }) =>
		get<Output>(`/runs/${seg(gid)}/output`, query),
	changeRun: (gid: string, body: { run_at?: number; params?: Json }) => patch<Run>(`/runs/${seg(gid)}`, body),
	cancelRun: (gid: string, reason: string) => post<Run>(`/runs/${seg(gid)}/cancel`, reason ? { reason } : {}),
	retryRun: (gid: string) => post<Run>(`/runs/${seg(gid)}/retry`),
	rerun: (gid: string, key: string, failedOnly = false) => post<Run>(`/runs/${seg(gid)}/rerun`, failedOnly ? { failed_only: true } : {}, key),
	resolveRun: (gid: string, body: { action: 'run' | 'run_all' | 'dismiss'; note?: string }) =>
		post<{ run: Run; runs: Run[] }>(`/runs/${seg(gid)}/resolve`, body),

	groups: (signal?: AbortSignal) => get<Page<Group>>('/groups', {}, signal),
	createGroup: (body: Partial<Group>, key: string) => post<Group>('/groups', body, key),
	updateGroup: (key: string, body: Partial<Group>) => patch<Group>(`/groups/${seg(key)}`, body),
	deleteGroup: (key: string) => remove(`/groups/${seg(key)}`),

	taskGraph: (id: string) => get<TaskGraph>(`/tasks/${seg(id)}/graph`),
	backfills: (query: Call['query'], signal?: AbortSignal) => get<Page<Backfill>>('/backfills', query, signal),
	startBackfill: (id: string, body: NewBackfill) => post<Backfill>(`/tasks/${seg(id)}/backfills`, body),
	cancelBackfill: (id: string, reason: string) => post<Backfill>(`/backfills/${seg(id)}/cancel`, reason ? { reason } : {}),
	canary: (id: string) => get<Canary>(`/tasks/${seg(id)}/canary`),
	beginCanary: (id: string, body: { version: number; percent: number; change: Partial<TaskDefinition>; automatic: boolean }) =>
		post<Canary>(`/tasks/${seg(id)}/canary`, body),
	changeCanary: (id: string, body: { percent?: number; automatic?: boolean }) => patch<Canary>(`/tasks/${seg(id)}/canary`, body),
	endCanary: (id: string, how: 'promote' | 'rollback', reason: string) =>
		post<Canary>(`/tasks/${seg(id)}/canary/${how}`, reason ? { reason } : {}),

	failures: (query: Call['query'], signal?: AbortSignal) => get<Page<Failure>>('/failures', query, signal),
	failure: (id: string) => get<FailureDetail>(`/failures/${seg(id)}`),
	muteFailure: (id: string, body: { mute_until_time: number; reason: string }) => post<Failure>(`/failures/${seg(id)}/mute`, body),
	assignFailure: (id: string, body: { assignee: string | null; note: string | null }) => post<Failure>(`/failures/${seg(id)}/assign`, body),
	settleFailure: (id: string, how: 'resolve' | 'reopen', reason: string) => post<Failure>(`/failures/${seg(id)}/${how}`, reason ? { reason } : {}),
	retryFailure: (id: string, body: { limit: number; per_minute: number; reason?: string }) =>
		post<{ made: number; last_due_time: number | null; left: number }>(`/failures/${seg(id)}/retry`, body),

	alerts: (query: Call['query'], signal?: AbortSignal) => get<Page<Alert>>('/alerts', query, signal),
	alert: (id: string) => get<AlertDetail>(`/alerts/${seg(id)}`),
	settleAlert: (id: string, how: 'mute' | 'unmute' | 'resolve', note: string) => post<Alert>(`/alerts/${seg(id)}/${how}`, note ? { note } : {}),
	channels: (signal?: AbortSignal) => get<Page<Channel>>('/channels', {}, signal),
	createChannel: (body: ChannelForm) => post<Channel>('/channels', body),
	updateChannel: (id: string, body: Partial<ChannelForm> & { version: number }) => patch<Channel>(`/channels/${seg(id)}`, body),
	deleteChannel: (id: string) => remove(`/channels/${seg(id)}`),
	testChannel: (id: string) => post<Delivery>(`/channels/${seg(id)}/test`),
	deliveries: (id: string, query: Call['query'], signal?: AbortSignal) => get<Page<Delivery>>(`/channels/${seg(id)}/deliveries`, query, signal),

	calendars: (signal?: AbortSignal) => get<Page<CalendarHead>>('/calendars', {}, signal),
	calendar: (name: string) => get<Calendar>(`/calendars/${seg(name)}`),
	createCalendar: (body: { name: string; title: string; week: Weekday[] }) => post<Calendar>('/calendars', body),
	updateCalendar: (name: string, body: { version: number; title?: string; week?: Weekday[]; days?: CalendarDay[] }) =>
		patch<Calendar>(`/calendars/${seg(name)}`, body),
	deleteCalendar: (name: string) => remove(`/calendars/${seg(name)}`),
	importCalendar: (name: string, body: { format: 'csv' | 'ics'; text: string; replace: boolean; title?: string }) =>
		post<Calendar>(`/calendars/${seg(name)}/import`, body),
	exportCalendar: (name: string) => get<{ format: 'csv'; text: string }>(`/calendars/${seg(name)}/export`),

	events: (query: Call['query'], signal?: AbortSignal) => get<Page<SentEvent>>('/events', query, signal),
	event: (id: string) => get<SentEventDetail>(`/events/${seg(id)}`),
	sendEvent: (body: { name: string; event_id?: string; payload?: Json }, key: string) => post<SentEventDetail>('/events', body, key),

	workers: (signal?: AbortSignal) => get<Page<Worker>>('/workers', {}, signal),
	servers: (signal?: AbortSignal) => get<Page<Server>>('/servers', {}, signal),
	drainWorker: (name: string) => post<Worker>(`/workers/${seg(name)}/drain`),
	disableWorker: (name: string) => post<Worker>(`/workers/${seg(name)}/disable`),
	enableWorker: (name: string) => post<Worker>(`/workers/${seg(name)}/enable`),
	resumeWorker: (name: string) => post<Worker>(`/workers/${seg(name)}/resume`),
	forgetWorker: (name: string) => remove(`/workers/${seg(name)}`),
}
