// The fields of a task's definition, one line each: where the form shows them, how they are typed in, what they are
// when nobody says otherwise. tests/unit/fields.test.ts holds them against the server's own description.

import type { TaskDefinition } from '@/api'

export const SECTIONS = ['what', 'when', 'run', 'fail', 'overlap', 'promises', 'other'] as const
export type Section = (typeof SECTIONS)[number]
export type FieldName = Exclude<keyof TaskDefinition, 'status'>
type Shown = (form: TaskDefinition) => boolean

interface Common {
	name: FieldName
	section: Section
	/** Where it means something; elsewhere it is neither shown nor sent. */
	when?: Shown
	/** Takes the whole width of the form. */
	wide?: boolean
}
export type Field = Common &
	(
		| { kind: 'text'; preset: string | null; max: number; mono?: boolean; lines?: boolean; placeholder?: string }
		| { kind: 'number'; preset: number; min: number; max: number; unit?: 's' | '%' }
		| { kind: 'choice'; preset: string | null; words: readonly (string | null)[] }
		/** Seconds, one after the other. */
		| { kind: 'numbers'; preset: number[] }
		/** An instant. */
		| { kind: 'time'; preset: null }
		/** A time of day. */
		| { kind: 'clock'; preset: null }
		| { kind: 'json'; preset: null }
		/** Fields with a form of their own in TaskForm.vue. */
		| { kind: 'own'; preset: string | string[] | null }
	)

/** Fires by itself: a task with upstreams has no schedule beside them. */
const scheduled: Shown = (form) => form.task_type === 'scheduled' && form.upstreams.length === 0
const onEvent: Shown = (form) => form.task_type === 'event'
const joined: Shown = (form) => form.upstreams.length > 0
const retried: Shown = (form) => form.retry_count > 0
const waits = (...kinds: TaskDefinition['retry_backoff'][]): Shown => (form) => retried(form) && kinds.includes(form.retry_backoff)

export const FIELDS: readonly Field[] = [
	{ section: 'what', name: 'task_name', kind: 'text', preset: '', max: 128, wide: true },
	{ section: 'what', name: 'group_key', kind: 'own', preset: 'default' },
	{ section: 'what', name: 'executor_key', kind: 'own', preset: 'exec' },
	{ section: 'what', name: 'biz_param', kind: 'own', preset: null, wide: true },

	{ section: 'when', name: 'task_type', kind: 'own', preset: 'scheduled', wide: true },
	{ section: 'when', name: 'upstreams', kind: 'own', preset: [], wide: true },
	{ section: 'when', name: 'join', kind: 'choice', preset: 'any', words: ['any', 'all'], when: joined },
	{ section: 'when', name: 'join_deadline_seconds', kind: 'number', preset: 86_400, min: 60, max: 2_592_000, unit: 's', when: (form) => joined(form) && form.join === 'all' },
	{ section: 'when', name: 'cron_expr', kind: 'text', preset: null, max: 1024, when: scheduled, wide: true, mono: true, placeholder: '30 2 * * *' },
	{ section: 'when', name: 'time_zone', kind: 'own', preset: 'UTC', when: (form) => scheduled(form) || form.must_end_by !== null },
	{ section: 'when', name: 'dialect', kind: 'choice', preset: null, words: [null, 'unix', 'quartz', 'spring'], when: scheduled },
	{ section: 'when', name: 'event_name', kind: 'text', preset: null, max: 128, when: onEvent, wide: true, placeholder: 'order.paid' },
	{ section: 'when', name: 'event_condition', kind: 'json', preset: null, when: onEvent, wide: true },
	{ section: 'when', name: 'calendar', kind: 'own', preset: null, when: scheduled },
	{ section: 'when', name: 'calendar_mode', kind: 'choice', preset: 'include', words: ['include', 'exclude'], when: (form) => scheduled(form) && form.calendar !== null },
	{ section: 'when', name: 'valid_from', kind: 'time', preset: null, when: scheduled },
	{ section: 'when', name: 'valid_until', kind: 'time', preset: null, when: scheduled },
	{ section: 'when', name: 'jitter_seconds', kind: 'number', preset: 0, min: 0, max: 86_399, unit: 's', when: scheduled },

	{ section: 'run', name: 'timeout_seconds', kind: 'number', preset: 60, min: 0, max: 604_800, unit: 's' },
	{ section: 'run', name: 'grace_seconds', kind: 'number', preset: 5, min: 1, max: 30, unit: 's' },
	{ section: 'run', name: 'priority', kind: 'number', preset: 5, min: 1, max: 10 },
	{ section: 'run', name: 'start', kind: 'choice', preset: 'optimistic', words: ['optimistic', 'confirmed'] },
	{ section: 'run', name: 'lane', kind: 'choice', preset: 'auto', words: ['auto', 'short', 'long'] },
	{ section: 'run', name: 'route', kind: 'choice', preset: 'least_busy', words: ['least_busy', 'round_robin', 'random', 'first', 'last', 'hash', 'lru', 'lfu', 'failover'] },
	{ section: 'run', name: 'route_key', kind: 'text', preset: null, max: 128, when: (form) => form.route === 'hash' },
	{ section: 'run', name: 'route_tags', kind: 'json', preset: null, wide: true },
	{ section: 'run', name: 'spread', kind: 'choice', preset: 'one', words: ['one', 'broadcast'] },
	{ section: 'run', name: 'shard_count', kind: 'number', preset: 0, min: 0, max: 1000, when: (form) => form.spread === 'one' },

	{ section: 'fail', name: 'retry_count', kind: 'number', preset: 3, min: 0, max: 100 },
	{ section: 'fail', name: 'retry_on', kind: 'text', preset: null, max: 256, when: retried, placeholder: '75,500-599' },
	{ section: 'fail', name: 'retry_backoff', kind: 'choice', preset: 'exponential', words: ['exponential', 'fixed', 'list'], when: retried },
	{ section: 'fail', name: 'retry_delay_seconds', kind: 'number', preset: 60, min: 1, max: 86_400, unit: 's', when: waits('exponential', 'fixed') },
	{ section: 'fail', name: 'retry_cap_seconds', kind: 'number', preset: 1800, min: 1, max: 86_400, unit: 's', when: waits('exponential') },
	{ section: 'fail', name: 'retry_delays', kind: 'numbers', preset: [], when: waits('list') },
	{ section: 'fail', name: 'retry_jitter_percent', kind: 'number', preset: 10, min: 0, max: 100, unit: '%', when: retried },
	{ section: 'fail', name: 'on_lost', kind: 'choice', preset: 'retry', words: ['retry', 'fail'] },
	{ section: 'fail', name: 'lost_limit', kind: 'number', preset: 3, min: 0, max: 20, when: (form) => form.on_lost === 'retry' },
	{ section: 'fail', name: 'on_unreachable', kind: 'choice', preset: 'kill', words: ['kill', 'continue'] },

	{ section: 'overlap', name: 'overlap', kind: 'choice', preset: 'queue', words: ['queue', 'skip', 'replace', 'allow'] },
	{ section: 'overlap', name: 'overlap_max', kind: 'number', preset: 1, min: 1, max: 1000, when: (form) => form.overlap === 'allow' },
	{ section: 'overlap', name: 'misfire', kind: 'choice', preset: 'fire_once', words: ['fire_once', 'fire_all', 'skip'], when: scheduled },
	{ section: 'overlap', name: 'window_seconds', kind: 'number', preset: 600, min: 0, max: 86_400, unit: 's', when: scheduled },

	{ section: 'promises', name: 'expected_seconds', kind: 'number', preset: 0, min: 0, max: 604_800, unit: 's' },
	{ section: 'promises', name: 'must_end_by', kind: 'clock', preset: null },
	{ section: 'promises', name: 'stall_seconds', kind: 'number', preset: 0, min: 0, max: 86_400, unit: 's' },
	{ section: 'promises', name: 'late_seconds', kind: 'number', preset: 0, min: 0, max: 604_800, unit: 's' },
	{ section: 'promises', name: 'absence_seconds', kind: 'number', preset: 0, min: 0, max: 31_536_000, unit: 's' },

	{ section: 'other', name: 'owner', kind: 'text', preset: '', max: 128, wide: true },
	{ section: 'other', name: 'notes', kind: 'text', preset: '', max: 4000, lines: true, wide: true },
]

export const isShown = (field: Field, form: TaskDefinition): boolean => field.when?.(form) ?? true
