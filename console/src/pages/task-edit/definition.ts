// The definition of a task: what a form starts with, what is sent, which field a problem is about.

import type { Task, TaskDefinition } from '@/api'
import { FIELDS, isShown } from './fields'

export const DEFAULTS: TaskDefinition = {
	...Object.fromEntries(FIELDS.map(({ name, preset }) => [name, preset])),
	status: 'enabled',
} as unknown as TaskDefinition

/** The definition alone, in the order of the form; a copy that can be changed. */
export function definitionOf(task: Task): TaskDefinition {
	const out: Record<string, unknown> = {}
	for (const key of Object.keys(DEFAULTS) as (keyof TaskDefinition)[]) out[key] = structuredClone(task[key] ?? DEFAULTS[key])
	return out as unknown as TaskDefinition
}

/** What is sent: fields that mean nothing for this kind of task are as if nobody had written them. */
export function cleaned(form: TaskDefinition): TaskDefinition {
	const out: Record<string, unknown> = { ...form }
	for (const field of FIELDS) {
		const value = out[field.name]
		if (!isShown(field, form)) out[field.name] = structuredClone(field.preset)
		else if (field.kind === 'text' && typeof value === 'string') out[field.name] = value.trim() || field.preset
	}
	return out as unknown as TaskDefinition
}

/** Fields of a cron expression that the server names when it refuses one; all are shown at the schedule. */
const CRON_PARTS = ['second', 'minute', 'hour', 'day', 'month', 'weekday', 'year']

/** The field of the form that a problem's path names: `biz_param.argv[0]`, `change.timeout_seconds`, `minute`. */
export function fieldOfProblem(path: string | null): string {
	const top = (path ?? '').replace(/^change\./, '').split(/[.[]/)[0]!
	return CRON_PARTS.includes(top) ? 'cron_expr' : top
}
