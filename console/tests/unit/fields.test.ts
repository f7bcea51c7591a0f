// The form never lags behind silently: every field of the server's own description of a definition is in it, with the
// same presets, bounds and words.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cleaned, DEFAULTS, fieldOfProblem } from '@/pages/task-edit/definition'
import { FIELDS, type Field } from '@/pages/task-edit/fields'

interface Schema {
	enum?: (string | null)[]
	minimum?: number
	maximum?: number
	maxLength?: number
	default?: unknown
}
const spec = JSON.parse(readFileSync('../spec/openapi.json', 'utf8')) as {
	components: { schemas: Record<string, { properties: Record<string, Schema> }> }
}
const described = spec.components.schemas.Definition!.properties

/** Fields of the description that the form leaves out, and why. None so far. */
const EXCEPTIONS: string[] = []

test('the form has every field that the server describes, and no other', () => {
	const shown = FIELDS.map(({ name }) => name as string)
	expect([...shown, ...EXCEPTIONS].sort()).toEqual(Object.keys(described).sort())
})

test.each(FIELDS.filter(({ name }) => name in described))('$name is as the server describes it', (field: Field) => {
	const schema = described[field.name]!
	// The form starts with an executor; the server asks for one.
	if ('default' in schema && field.name !== 'executor_key') expect(field.preset).toEqual(schema.default)
	if (field.kind === 'number') expect([field.min, field.max]).toEqual([schema.minimum, schema.maximum])
	if (field.kind === 'choice') expect([...field.words]).toEqual(schema.enum)
	// Characters here, bytes there.
	if (field.kind === 'text') expect(field.max).toBeLessThanOrEqual(schema.maxLength!)
})

test('what means nothing for the type is not sent', () => {
	const form = { ...DEFAULTS, task_type: 'delay' as const, cron_expr: '0 3 * * *', calendar: 'x', overlap_max: 9, event_name: 'e', task_name: ' a ' }
	expect(cleaned(form)).toMatchObject({ cron_expr: null, calendar: null, overlap_max: 1, event_name: null, task_name: 'a' })
	expect(cleaned({ ...form, task_type: 'scheduled', upstreams: ['7'], join: 'all' })).toMatchObject({ cron_expr: null, upstreams: ['7'], join: 'all' })
	expect(cleaned({ ...form, task_type: 'event' })).toMatchObject({ event_name: 'e', cron_expr: null })
	expect(cleaned({ ...form, task_type: 'scheduled', overlap: 'allow' })).toMatchObject({ cron_expr: '0 3 * * *', overlap_max: 9, event_name: null })
})

test.each([
	['minute', 'cron_expr'],
	['biz_param.argv[0]', 'biz_param'],
	['change.timeout_seconds', 'timeout_seconds'],
	['change.hour', 'cron_expr'],
	['event_condition[0].op', 'event_condition'],
	['retry_delays[2]', 'retry_delays'],
	[null, ''],
])('a problem with %s is shown at %s', (path, field) => {
	expect(fieldOfProblem(path)).toBe(field)
})

test('the form of a group has every field that the server describes', () => {
	const form = readFileSync('src/pages/groups/GroupDialog.vue', 'utf8')
	const elsewhere = ['paused', 'version'] // a button, and the lock of editors
	const missing = Object.keys(spec.components.schemas.GroupChange!.properties).filter((field) => !form.includes(`errorOf('${field}')`))
	expect(missing.sort()).toEqual(elsewhere)
})
