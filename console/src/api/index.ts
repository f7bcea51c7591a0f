// The calls of docs/api.md that the console makes, one line each.

import { call, type Call } from './client'
import type {
	CalendarHead, Group, Json, Output, Page, Preview, Run, RunDetail, Session, Task, TaskDefinition, TaskVersion, Why, Worker,
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
	taskWhy: (id: string) => get<Why>(`/tasks/${seg(id)}/why`),
	versions: (id: string) => get<Page<TaskVersion>>(`/tasks/${seg(id)}/versions`),
	preview: (body: Partial<TaskDefinition> & { task_id?: string; n?: number }, signal?: AbortSignal) =>
		call<Preview>('/schedules/preview', { method: 'POST', body, signal }),

	runs: (query: Call['query'], signal?: AbortSignal) => get<Page<Run>>('/runs', query, signal),
	run: (gid: string) => get<RunDetail>(`/runs/${seg(gid)}`),
	runWhy: (gid: string) => get<Why>(`/runs/${seg(gid)}/why`),
	output: (gid: string, query: { fence?: number; after_seq?: number }) =>
		get<Output>(`/runs/${seg(gid)}/output`, query),
	cancelRun: (gid: string, reason: string) => post<Run>(`/runs/${seg(gid)}/cancel`, reason ? { reason } : {}),
	retryRun: (gid: string) => post<Run>(`/runs/${seg(gid)}/retry`),
	rerun: (gid: string, key: string) => post<Run>(`/runs/${seg(gid)}/rerun`, {}, key),
	resolveRun: (gid: string, body: { action: 'run' | 'run_all' | 'dismiss'; note?: string }) =>
		post<{ run: Run; runs: Run[] }>(`/runs/${seg(gid)}/resolve`, body),

	groups: (signal?: AbortSignal) => get<Page<Group>>('/groups', {}, signal),
	createGroup: (body: Partial<Group>, key: string) => post<Group>('/groups', body, key),
	updateGroup: (key: string, body: Partial<Group>) => patch<Group>(`/groups/${seg(key)}`, body),
	deleteGroup: (key: string) => remove(`/groups/${seg(key)}`),

	calendars: () => get<Page<CalendarHead>>('/calendars'),

	workers: (signal?: AbortSignal) => get<Page<Worker>>('/workers', {}, signal),
	drainWorker: (name: string) => post<Worker>(`/workers/${seg(name)}/drain`),
	resumeWorker: (name: string) => post<Worker>(`/workers/${seg(name)}/resume`),
	forgetWorker: (name: string) => remove(`/workers/${seg(name)}`),
}
