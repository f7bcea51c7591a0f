// The definition of a task: its defaults (docs/api.md), what a form starts with, what is sent.

import type { Task, TaskDefinition } from '@/api'

export const DEFAULTS: TaskDefinition = {
	group_key: 'default',
	task_name: '',
	task_type: 'scheduled',
	status: 'enabled',
	cron_expr: '',
	dialect: null,
	time_zone: 'UTC',
	executor_key: 'exec',
	biz_param: null,
	timeout_seconds: 60,
	grace_seconds: 5,
	retry_count: 3,
	priority: 5,
	overlap: 'queue',
	overlap_max: 1,
	misfire: 'fire_once',
	window_seconds: 600,
	on_lost: 'retry',
	lost_limit: 3,
	on_unreachable: 'kill',
	start: 'optimistic',
	owner: '',
	notes: '',
}

/** The definition alone, in the order of the documentation; a copy that can be changed. */
export function definitionOf(task: Task): TaskDefinition {
	const out: Record<string, unknown> = {}
	for (const key of Object.keys(DEFAULTS) as (keyof TaskDefinition)[]) out[key] = structuredClone(task[key] ?? DEFAULTS[key])
	return out as unknown as TaskDefinition
}

/** What a create sends: a delay task has no schedule. */
export function cleaned(form: TaskDefinition): TaskDefinition {
	const scheduled = form.task_type === 'scheduled'
	return {
		...form,
		task_name: form.task_name.trim(),
		cron_expr: scheduled ? (form.cron_expr ?? '').trim() : null,
		dialect: scheduled ? form.dialect : null,
	}
}

/** The part of a problem's field path that names a field of the task: `biz_param.argv[0]` → `biz_param`. */
export const topField = (path: string | null): string => path?.split(/[.[]/)[0] ?? ''

/** Fields of a cron expression that the server names when it refuses one; all are shown at the schedule. */
const CRON_PARTS = ['second', 'minute', 'hour', 'day', 'month', 'weekday', 'year']
export const fieldOfProblem = (path: string | null): string => {
	const top = topField(path)
	return CRON_PARTS.includes(top) ? 'cron_expr' : top
}
