import { expect, test } from 'vitest'
import { changes, same } from '@/lib/diff'
import { roleHolds } from '@/lib/session'
import { isLive, runActions, runStates } from '@/lib/states'
import { RUN_STATES } from '@/api'
import { cleaned, DEFAULTS, fieldOfProblem } from '@/pages/task-edit/definition'

test('only what differs is sent, whatever the order of keys', () => {
	expect(changes({ a: 1, b: { x: 1, y: 2 } }, { a: 1, b: { y: 2, x: 1 } })).toEqual({})
	expect(changes({ a: 1, b: [1, 2] }, { a: 2, b: [2, 1] })).toEqual({ a: 2, b: [2, 1] })
	expect(same(undefined, null)).toBe(true)
	expect(same(0, null)).toBe(false)
})

test('a delay task has no schedule, and names are trimmed', () => {
	const form = { ...DEFAULTS, task_name: ' x ', cron_expr: ' 0 1 * * * ', dialect: 'unix' as const }
	expect(cleaned(form)).toMatchObject({ task_name: 'x', cron_expr: '0 1 * * *', dialect: 'unix' })
	expect(cleaned({ ...form, task_type: 'delay' })).toMatchObject({ cron_expr: null, dialect: null })
})

test('a problem is shown at the field that it names', () => {
	expect(fieldOfProblem('biz_param.argv[0]')).toBe('biz_param')
	expect(fieldOfProblem('minute')).toBe('cron_expr')
	expect(fieldOfProblem('task_name')).toBe('task_name')
	expect(fieldOfProblem(null)).toBe('')
})

test('every state is in the table, five of them are live', () => {
	expect(Object.keys(runStates)).toEqual([...RUN_STATES])
	expect(RUN_STATES.filter(isLive)).toEqual(['PENDING', 'WAITING', 'DISPATCHED', 'RUNNING', 'RETRYING'])
})

test('what may be done depends on the state', () => {
	expect(runActions({ kind: 'schedule', status: 'RUNNING', cancel: null, reason: null })).toEqual({ cancel: true, retry: false, rerun: false, resolve: false, change: false })
	expect(runActions({ kind: 'schedule', status: 'RUNNING', cancel: 'asked', reason: null }).cancel).toBe(false)
	expect(runActions({ kind: 'schedule', status: 'RETRYING', cancel: null, reason: null })).toMatchObject({ cancel: true, retry: true })
	expect(runActions({ kind: 'schedule', status: 'FAILED', cancel: null, reason: null })).toMatchObject({ cancel: false, rerun: true })
	expect(runActions({ kind: 'schedule', status: 'MISSED', cancel: null, reason: 'missed' })).toMatchObject({ rerun: false, resolve: true })
	expect(runActions({ kind: 'schedule', status: 'MISSED', cancel: null, reason: 'dismissed' }).resolve).toBe(false)
	expect(runActions({ kind: 'delay', status: 'PENDING', cancel: null, reason: null })).toMatchObject({ cancel: true, change: true })
	expect(runActions({ kind: 'delay', status: 'WAITING', cancel: null, reason: null }).change).toBe(false)
	expect(runActions({ kind: 'chain', status: 'PENDING', cancel: null, reason: null }).change).toBe(false)
})

test('a role holds those before it', () => {
	expect(roleHolds('admin', 'viewer')).toBe(true)
	expect(roleHolds('operator', 'operator')).toBe(true)
	expect(roleHolds('viewer', 'operator')).toBe(false)
})
