// The shapes of docs/api.md. Instants are milliseconds UTC, ids decimal strings.

export type Role = 'viewer' | 'operator' | 'editor' | 'admin'

export interface Session {
	user: string
	role: Role
	csrf: string
	dev: boolean
	version: string
	tzdata: string
	server_time: number
}

export interface Page<T> {
	items: T[]
	next: string | null
}

export type TaskType = 'scheduled' | 'delay' | 'event'
export type TaskStatus = 'created' | 'enabled' | 'paused'
export type Dialect = 'unix' | 'quartz' | 'spring'
export type Overlap = 'queue' | 'skip' | 'replace' | 'allow'
export type Misfire = 'fire_once' | 'fire_all' | 'skip'
export type Backoff = 'exponential' | 'fixed' | 'list'

export const RUN_STATES = [
	'PENDING', 'WAITING', 'DISPATCHED', 'RUNNING', 'RETRYING',
	'SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED', 'BLOCKED', 'SKIPPED', 'MISSED',
] as const
export type RunState = (typeof RUN_STATES)[number]

export const RUN_KINDS = ['schedule', 'miss', 'delay', 'event', 'manual', 'chain'] as const
export type RunKind = (typeof RUN_KINDS)[number]

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** What a person writes of a task; everything that POST and PATCH take. */
export interface TaskDefinition {
	group_key: string
	task_name: string
	task_type: TaskType
	status: TaskStatus
	event_name: string | null
	event_condition: Json
	cron_expr: string | null
	dialect: Dialect | null
	time_zone: string
	calendar: string | null
	calendar_mode: 'include' | 'exclude'
	valid_from: number | null
	valid_until: number | null
	jitter_seconds: number
	executor_key: string
	biz_param: Json
	timeout_seconds: number
	grace_seconds: number
	retry_count: number
	retry_backoff: Backoff
	retry_delay_seconds: number
	retry_cap_seconds: number
	retry_delays: number[]
	retry_jitter_percent: number
	retry_on: string | null
	priority: number
	overlap: Overlap
	overlap_max: number
	misfire: Misfire
	window_seconds: number
	on_lost: 'retry' | 'fail'
	lost_limit: number
	on_unreachable: 'kill' | 'continue'
	start: 'optimistic' | 'confirmed'
	expected_seconds: number
	must_end_by: string | null
	stall_seconds: number
	late_seconds: number
	absence_seconds: number
	owner: string
	notes: string
}

export interface Task extends TaskDefinition {
	id: string
	version: number
	create_time: number
	update_time: number
	updated_by: string
	next_trigger_time: number | null
	last_trigger_time: number | null
	exhausted: boolean
	canary_version: number | null
	canary_percent: number | null
	last_run: { gid: string; status: RunState; end_time: number | null } | null
	schedule_text: string | null
	warnings: Warning[]
}

/** A warning is a sentence, or a code with its English sentence. */
export type Warning = string | { code: string; text: string }

export interface Fire {
	/** The schedule's own instant; with jitter the run is due at `due_time`. */
	time: number
	due_time: number
	/** False: the instant of a clock change at which the schedule does not fire. */
	fires: boolean
	local: string
	offset_seconds: number
	abbreviation: string
	note: { code: string; text: string } | null
}

export interface Preview {
	words: string
	warnings: Warning[]
	fires: Fire[]
}

export interface TaskVersion {
	version: number
	time: number
	author: string
	definition: Partial<TaskDefinition>
}

export interface Run {
	gid: string
	task_id: string
	task_name: string
	group_key: string
	executor_key: string
	kind: RunKind
	fire_key: string
	status: RunState
	reason: string | null
	waiting_for: string | null
	trigger_time: number
	create_time: number
	dispatch_time: number | null
	start_time: number | null
	heartbeat_time: number | null
	end_time: number | null
	deadline_time: number | null
	priority: number
	attempt: number
	fence: number
	retry_times: number
	lost_times: number
	worker: string | null
	cancel: 'asked' | 'stopping' | 'stopped' | null
	progress: { percent: number | null; message: string | null } | null
	result_code: number | null
	result_msg: string | null
	result: Json
	trace_id: string | null
	params: Json
	version: number
	rerun_of: string | null
	covers: { from: number; to: number; count: number } | null
	lateness_ms: number | null
	duration_ms: number | null
}

export interface Attempt {
	attempt: number
	fence: number
	worker: string | null
	dispatch_time: number | null
	start_time: number | null
	end_time: number | null
	outcome: string | null
	code: number | null
	message: string | null
	late: { time: number; outcome: string; code: number | null; message: string | null } | null
}

export interface RunDetail extends Run {
	attempts: Attempt[]
	timeline: { time: number; event: string; text: string }[]
}

/** Why a run or a task does what it does: docs/why.md. */
export interface Why {
	subject: string
	answer: string
	verdict: string
	steps: { time: number | null; mark: 'ok' | 'fail' | 'info'; code: string; text: string }[]
}

export interface OutputChunk {
	fence: number
	seq: number
	time: number
	data: string
}

export interface Output {
	chunks: OutputChunk[]
	truncated: boolean
	live: boolean
}

export interface Group {
	group_key: string
	title: string
	dispatch_quota: number
	pool_size: number
	paused: boolean
	contacts: Json
	running: number
	waiting: number
	version: number
	create_time: number
	update_time: number
}

export interface Worker {
	worker: string
	state: 'online' | 'draining' | 'offline' | 'left'
	incarnation: string
	version: string
	address: string
	groups: { group_key: string; pool_size: number; given: number }[]
	executors: string[]
	tags: Record<string, string>
	register_time: number
	seen_time: number
}

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

export interface CalendarHead {
	name: string
	title: string
	version: number
	/** The days of the week that are in unless a day of its own says otherwise. */
	week: Weekday[]
	day_count: number
	create_time: number
	update_time: number
	updated_by: string
}
