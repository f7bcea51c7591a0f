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
export type TaskStatus = 'created' | 'enabled' | 'paused' | 'deleting'
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
	/** Ids of the tasks whose success starts it. */
	upstreams: string[]
	join: 'any' | 'all'
	join_deadline_seconds: number
	route: 'least_busy' | 'round_robin' | 'random' | 'first' | 'last' | 'hash' | 'lru' | 'lfu' | 'failover'
	route_key: string | null
	route_tags: Json
	lane: 'auto' | 'short' | 'long'
	spread: 'one' | 'broadcast'
	shard_count: number
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
	duration_p50_ms: number | null
	duration_p90_ms: number | null
	next_lane: 'short' | 'long'
	canary_version: number | null
	canary_percent: number | null
	last_run: { gid: string; status: RunState; end_time: number | null } | null
	schedule_text: string | null
	warnings: Warning[]
}

/** A warning is a sentence, or a code with its English sentence. */
export interface Warning {
	code: string
	text: string
	params: Record<string, string>
}

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
	must_end_time: number | null
	/** Took longer, or ended later, than its task promises. */
	overran: boolean
	/** Reports no progress at the moment. */
	stalled: boolean
	result_code: number | null
	result_msg: string | null
	result: Json
	trace_id: string | null
	params: Json
	version: number
	rerun_of: string | null
	backfill_id: string | null
	/** What began it all: the same for all runs of a chain and their reruns. */
	batch: string | null
	/** The run whose end stands in the way of this one. */
	blocked_by: string | null
	/** The run that this one is a shard of. */
	parent: string | null
	shard: { index: number; total: number } | null
	shards: { spread: 'shards' | 'broadcast'; total: number; failed_only: boolean; count: number; done: number; states: Record<string, number> } | null
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

/** A task before or behind that of a run, with its run when there is one. */
export interface LinkedRun {
	gid: string | null
	task_id: string
	task_name: string | null
	status: RunState | null
}

export interface RunDetail extends Run {
	/** Its failure group, once it is counted there. */
	failure_id: string | null
	upstream_runs: LinkedRun[]
	downstream_runs: LinkedRun[]
	attempts: Attempt[]
	timeline: ({ time: number; event: string } & Sentence)[]
}

/** What the server says: `text` in English, and what it was made from. */
export interface Sentence {
	text: string
	sentence: string
	params: Record<string, string | number>
}

/** Why a run or a task does what it does: docs/why.md. */
export interface Why {
	subject: string
	answer: string
	verdict: string
	steps: ({ time: number | null; mark: 'ok' | 'fail' | 'info'; code: string } & Sentence)[]
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
	contacts: string[]
	long_share_percent: number
	worker_backlog: number
	defaults: Record<string, Json>
	late_seconds: number
	backlog_limit: number
	backlog_seconds: number
	keep_days: number
	keep_runs: number
	running: number
	waiting: number
	version: number
	create_time: number
	update_time: number
}

export interface Worker {
	worker: string
	state: 'online' | 'draining' | 'disabled' | 'offline' | 'left'
	incarnation: string
	version: string
	address: string
	groups: { group_key: string; pool_size: number; given: number }[]
	executors: string[]
	tags: Record<string, string>
	register_time: number
	seen_time: number
}

export interface Server {
	server: string
	number: number
	version: string
	start_time: number
	seen_time: number
	tick_age_ms: number | null
	store: string
	store_id: string
	tzdata: string | null
	/** What no other server does meanwhile. */
	chores: string[]
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

export interface Calendar extends CalendarHead {
	days: CalendarDay[]
}

export interface CalendarDay {
	date: string
	kind: 'in' | 'out'
	label?: string
}

export const FAILURE_STATES = ['open', 'muted', 'resolved'] as const

/** Failed runs with one cause: docs/failures.md. */
export interface Failure {
	id: string
	group_key: string
	executor_key: string
	reason: string
	code: number
	title: string
	state: (typeof FAILURE_STATES)[number]
	count: number
	first_seen_time: number
	last_seen_time: number
	growing: boolean
	trend: { from_time: number; hours: number[] }
	sample_gid: string
	state_time: number | null
	state_by: string | null
	state_reason: string | null
	mute_until_time: number | null
	reopen_count: number
	assignee: string | null
	note: string | null
}

interface Seen {
	count: number
	first_seen_time: number
	last_seen_time: number
}

export interface FailureDetail extends Failure {
	hints: ({ code: string; advice: string | null; advice_sentence: string | null } & Sentence)[]
	also_in: { id: string; group_key: string; count: number; last_seen_time: number }[]
	spread: {
		workers: (Seen & { worker: string })[]
		versions: (Seen & { task_id: string; task_name: string | null; version: number })[]
		truncated: boolean
	}
	/** How many of its failed runs were not run again. */
	not_rerun: number
	runs: Run[]
}

export interface SentEvent {
	id: string
	name: string
	event_id: string | null
	time: number
	sent_by: string
	runs: number
	passed_over: number
}

export interface SentEventDetail extends SentEvent {
	payload: Json
	tasks: { task_id: string; task_name: string | null; outcome: string; gid: string | null }[]
}

interface CanaryArm {
	version: number
	succeeded: number
	failed: number
	p95_ms: number | null
}

/** A new definition on trial for a share of the runs: docs/canary.md. */
export interface Canary {
	task_id: string
	state: 'running' | 'promoted' | 'rolled_back'
	percent: number
	automatic: boolean
	min_runs: number
	max_failure_points: number
	max_p95_percent: number
	base: CanaryArm
	trial: CanaryArm
	start_time: number
	end_time: number | null
	started_by: string
	ended_by: string | null
	reason: string | null
	warnings: Warning[]
}

export const ALERT_RULES = ['failed', 'missed', 'late', 'late_finish', 'stalled', 'absence', 'backlog', 'worker_lost', 'failure_group', 'unschedulable'] as const

export interface Alert {
	id: string
	rule: string
	group_key: string | null
	episode: string
	state: 'open' | 'resolved'
	task_id: string | null
	gid: string | null
	subject: string
	detail: string
	detail_sentence: string | null
	detail_params: Record<string, string | number>
	value: number
	bound: number
	count: number
	open_time: number
	seen_time: number
	resolve_time: number | null
	resolve_note: string
	resolve_note_sentence: string | null
	resolve_note_params: Record<string, string | number>
	muted: boolean
	note: string
	note_by: string | null
}

export interface Delivery {
	id: string
	alert_id: string | null
	channel_id: string
	kind: 'open' | 'resolved' | 'reminder' | 'test'
	state: 'pending' | 'sent' | 'given_up'
	attempts: number
	create_time: number
	next_time: number | null
	sent_time: number | null
	error: string | null
}

export interface AlertDetail extends Alert {
	deliveries: Delivery[]
}

export const CHANNEL_KINDS = ['webhook', 'smtp', 'dingtalk', 'feishu', 'wecom', 'slack'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** What a person writes of a channel. */
export interface ChannelForm {
	name: string
	kind: ChannelKind
	enabled: boolean
	language: 'en' | 'zh'
	rules: string[]
	group_keys: string[]
	time_zone: string
	quiet_hours: { from: string; to: string } | null
	remind_seconds: number
	settings: { [name: string]: Json }
}

export interface Channel extends ChannelForm {
	id: string
	/** Names of the secret settings that are set; their values never leave the server. */
	secrets: string[]
	target: string
	version: number
	create_time: number
	update_time: number
	updated_by: string
}

/** Tasks around a task; upstreams have a negative distance. */
export interface TaskGraph {
	task_id: string
	tasks: {
		id: string
		group_key: string
		task_name: string
		status: TaskStatus
		join: 'any' | 'all'
		distance: number
		last_run: { gid: string; status: RunState; end_time: number } | null
	}[]
	edges: { upstream_id: string; task_id: string }[]
	truncated: boolean
}

export interface NewBackfill {
	from: number
	to?: number
	max_live: number
	order: 'oldest_first' | 'newest_first'
	dry_run?: boolean
}

/** The fires of a past range, made up: docs/backfills.md. */
export interface Backfill {
	/** Null, like the status, when it was only counted. */
	id: string | null
	task_id: string
	task_name: string | null
	status: 'running' | 'done' | 'cancelled' | null
	from: number
	to: number
	max_live: number
	order: NewBackfill['order']
	total: number
	made: number
	existed: number
	live: number
	done: number
	failed: number
	create_time: number
	end_time: number | null
	created_by: string
}
