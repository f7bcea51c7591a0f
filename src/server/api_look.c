/* Looking at the whole: audit, overview, metrics, health, the description of the API. */

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "app/counts.h"
#include "app/tick.h"
#include "check/check.h"
#include "core/limits.h"
#include "core/rule.h"
#include "server/handlers.h"
#include "server/render.h"
#include "server/server.h"

enum {
	TASKS_PAGE = 100,
	ROWS_PAGE = 1000,
	STEP_MS = 500,       /* of one transaction of the audit */
	SETTLE_MS = 10000,   /* a fire is dealt with by then */
	STALE_MS = 10 * 1000 /* no tick or commit for so long: this server does no work */
};

#define DAY_MS INT64_C(86400000)
#define AUDIT_SPAN_MAX_MS (400 * DAY_MS)

/* --- audit of fires ----------------------------------------------------------------------------------------------- */

struct audit {
	struct ax_check_audit *check;
	int64_t from, to;
	int64_t after_epoch; /* the tasks of the epochs up to this id are done */
};

static void audit_free(void *memo)
{
	struct audit *audit = memo;
	ax_check_audit_free(audit->check);
}

static enum ax_status read_epoch(
	struct ax_call *c, const struct ax_epoch *epoch, struct ax_check_epoch *ret, struct ax_err *err)
{
	*ret = (struct ax_check_epoch){
		.from_time = epoch->from_time,
		.enabled = epoch->enabled,
		.cron_expr = epoch->cron_expr,
		.dialect = epoch->dialect,
		.time_zone = epoch->time_zone,
		.anchor_time = epoch->anchor_time,
		.calendar_excludes = epoch->calendar_mode == AX_CALENDAR_EXCLUDE,
		.valid_from = epoch->valid_from,
		.valid_until = epoch->valid_until,
		.jitter_ms = epoch->jitter_ms,
	};
	if (epoch->calendar[0] == '\0')
		return AX_OK;
	struct ax_calendar_version version = { 0 };
	struct ax_check_calendar *calendar = ax_alloc(c->tx->arena, sizeof *calendar);
	enum ax_status status =
		c->tx->ops->calendar_version_get(c->tx, epoch->calendar, epoch->calendar_version, &version, err);
	*calendar = (struct ax_check_calendar){ version.week, version.days };
	ret->calendar = calendar;
	return status == AX_NOT_FOUND ? AX_OK : status;
}

static enum ax_status read_epochs(
	struct ax_call *c, int64_t task_id, struct ax_arena *arena, struct ax_check_task *ret, struct ax_err *err)
{
	struct ax_check_epoch *all = NULL;
	size_t n = 0, cap = 0;
	int64_t after = 0;
	for (;;) {
		struct ax_epochs page;
		enum ax_status status = c->tx->ops->epochs(c->tx, task_id, after, ROWS_PAGE, &page, err);
		if (status != AX_OK)
			return status;
		all = ax_grow_array(arena, all, n, (size_t)page.n, &cap, sizeof *all);
		for (int i = 0; i < page.n && status == AX_OK; i++) {
			status = read_epoch(c, &page.at[i], &all[n++], err);
			after = page.at[i].id;
		}
		if (status != AX_OK)
			return status;
		if (page.n < ROWS_PAGE)
			break;
	}
	ret->epochs = all;
	ret->n_epochs = n;
	return AX_OK;
}

static enum ax_status read_fired(struct ax_call *c, const struct audit *audit, int64_t task_id, struct ax_arena *arena,
	struct ax_check_task *ret, struct ax_err *err)
{
	struct ax_check_run *all = NULL;
	size_t n = 0, cap = 0;
	int64_t after = 0, to = audit->to;
	for (size_t i = 0; i < ret->n_epochs; i++) /* with jitter, runs are due later than their fires */
		to = AX_MAX(to, audit->to + ret->epochs[i].jitter_ms);
	for (;;) {
		struct ax_runs page;
		enum ax_status status =
			c->tx->ops->runs_fired(c->tx, task_id, audit->from, to, after, ROWS_PAGE, &page, err);
		if (status != AX_OK)
			return status;
		all = ax_grow_array(arena, all, n, (size_t)page.n, &cap, sizeof *all);
		for (int i = 0; i < page.n; i++) {
			const struct ax_run *r = &page.at[i];
			all[n++] = (struct ax_check_run){
				.gid = r->gid,
				.kind = (int)r->kind,
				.fire_key = r->fire_key,
				.shard = r->shard,
				.status = (int)r->status,
				.trigger_time = r->trigger_time,
				.end_time = r->end_time,
				.covers_from = r->covers_from,
				.covers_to = r->covers_to,
				.covers_count = r->covers_count,
				.made_up = r->made_up,
				.rerun_of = r->rerun_of,
			};
			after = r->gid;
		}
		if (page.n < ROWS_PAGE)
			break;
	}
	ret->runs = all;
	ret->n_runs = n;
	return AX_OK;
}

/* A deleted task demands nothing any more, but what it demanded is still accounted for. */
static enum ax_status audit_task(struct ax_call *c, struct audit *audit, int64_t id, struct ax_err *err)
{
	struct ax_task task;
	struct ax_runs live;
	struct ax_check_task check = { .id = id, .name = "(deleted)", .next_trigger_time = -1 };
	enum ax_status status = c->tx->ops->task_get(c->tx, id, false, &task, err);
	if (status == AX_OK) {
		check.name = task.def.task_name;
		check.next_trigger_time = task.next_trigger_time;
		if (task.next_trigger_time > audit->to - SETTLE_MS)
			check.under_way_from = task.next_trigger_time - ax_jitter_ms(task.id, task.def.jitter_seconds);
	} else if (status != AX_NOT_FOUND) {
		return status;
	}
	status = read_epochs(c, id, c->tx->arena, &check, err);
	if (status == AX_OK)
		status = read_fired(c, audit, id, c->tx->arena, &check, err);
	if (status == AX_OK)
		status = c->tx->ops->runs_live(c->tx, id, false, 1, &live, err);
	if (status != AX_OK)
		return status;
	check.live = live.n > 0;
	ax_check_audit_task(audit->check, &check);
	return AX_OK;
}

/* Each task once: with the first of its epochs. */
static enum ax_status audit_epoch(
	struct ax_call *c, struct audit *audit, const struct ax_epoch *epoch, struct ax_err *err)
{
	struct ax_epochs first;
	enum ax_status status = c->tx->ops->epochs(c->tx, epoch->task_id, 0, 1, &first, err);
	if (status == AX_OK && first.at[0].id == epoch->id)
		status = audit_task(c, audit, epoch->task_id, err);
	if (status == AX_OK)
		audit->after_epoch = epoch->id;
	return status;
}

/* Some tasks in one transaction; then the next step in another, so that no snapshot is held for long. */
static enum ax_status audit_step(struct ax_call *c, struct ax_err *err)
{
	struct audit *audit = c->memo;
	int64_t start = ax_mono_ms(&c->server->clock.port);
	struct ax_epochs epochs;
	enum ax_status status = c->tx->ops->epochs(c->tx, 0, audit->after_epoch, TASKS_PAGE, &epochs, err);
	for (int i = 0; i < epochs.n && status == AX_OK; i++) {
		status = audit_epoch(c, audit, &epochs.at[i], err);
		if (ax_mono_ms(&c->server->clock.port) - start > STEP_MS)
			break;
	}
	if (status != AX_OK)
		return status;
	if (epochs.n > 0) {
		c->then = audit_step;
		c->then_lane = AX_LANE_READ;
		return AX_OK;
	}
	char *text = ax_check_audit_json(audit->check);
	ax_json_raw(&c->json, NULL, text);
	free(text);
	return AX_OK;
}

enum ax_status ax_get_audit_fires(struct ax_call *c, struct ax_err *err)
{
	struct audit *audit = ax_alloc(&c->arena, sizeof *audit);
	audit->to = c->now;
	enum ax_status status = ax_call_query_int(c, "to", 0, INT64_C(4102444800000), &audit->to, err);
	audit->from = AX_MAX(audit->to - DAY_MS, 0);
	if (status == AX_OK)
		status = ax_call_query_int(c, "from", 0, INT64_C(4102444800000), &audit->from, err);
	if (status != AX_OK)
		return status;
	if (audit->from >= audit->to)
		return ax_fail(err, AX_INVALID, "from", "from must be before to");
	if (audit->to - audit->from > AUDIT_SPAN_MAX_MS)
		return ax_fail(err, AX_INVALID, "from", "the window must not be longer than 400 days");
	if (audit->to > c->now)
		audit->to = c->now;
	const char *zones = c->server->config.zoneinfo;
	audit->check = ax_check_audit_new(zones[0] != '\0' ? zones : NULL, audit->from, audit->to);
	c->memo = audit;
	c->memo_free = audit_free;
	c->then = audit_step;
	c->then_lane = AX_LANE_READ;
	return AX_OK;
}

enum ax_status ax_get_audit_log(struct ax_call *c, struct ax_err *err)
{
	int limit;
	int64_t after;
	struct ax_audit_entries entries;
	enum ax_status status = ax_call_page(c, &limit, &after, err);
	if (status == AX_OK)
		status = c->tx->ops->audit_page(
			c->tx, ax_call_query(c, "object"), ax_call_query(c, "actor"), after, limit, &entries, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < entries.n; i++) {
		const struct ax_audit_entry *e = &entries.at[i];
		ax_json_obj(&c->json, NULL);
		ax_json_id(&c->json, "id", e->id);
		ax_json_int(&c->json, "time", e->time);
		ax_json_str(&c->json, "actor", e->actor);
		ax_json_str(&c->json, "address", e->address);
		ax_json_str(&c->json, "action", e->action);
		ax_json_str(&c->json, "object", e->object);
		ax_json_raw(&c->json, "before", e->before);
		ax_json_raw(&c->json, "after", e->after);
		ax_json_str(&c->json, "reason", e->reason);
		ax_json_obj_end(&c->json);
	}
	ax_call_items_end(c, entries.n == limit ? entries.at[entries.n - 1].id : 0);
	return AX_OK;
}

/* --- overview ----------------------------------------------------------------------------------------------------- */

static void render_counts(struct ax_json *json, const char *key, const int64_t by_state[32], bool ended)
{
	ax_json_obj(json, key);
#define AX_RUN_STATE(name, number, text)                                                                               \
	if (ax_run_is_terminal(AX_RUN_##name) == ended)                                                                \
		ax_json_int(json, #name, by_state[number]);
	AX_RUN_STATES(AX_RUN_STATE)
#undef AX_RUN_STATE
	ax_json_obj_end(json);
}

enum ax_status ax_get_overview(struct ax_call *c, struct ax_err *err)
{
	int64_t tasks[32], runs[32];
	struct ax_workers workers;
	enum ax_status status = c->tx->ops->task_counts(c->tx, tasks, err);
	if (status == AX_OK)
		status = ax_counts_of_a_day(c->tx, c->now, runs, err);
	if (status == AX_OK)
		status = c->tx->ops->workers(c->tx, &workers, err);
	if (status != AX_OK)
		return status;
	int64_t online = 0;
	for (int i = 0; i < workers.n; i++)
		online += strcmp(ax_worker_state(&workers.at[i], c->now), "online") == 0;
	ax_json_obj(&c->json, NULL);
	ax_json_obj(&c->json, "tasks");
	for (int i = 0; ax_task_status_words[i] != NULL; i++)
		ax_json_int(&c->json, ax_task_status_words[i], tasks[i]);
	ax_json_obj_end(&c->json);
	render_counts(&c->json, "runs", runs, false);
	render_counts(&c->json, "last_24h", runs, true);
	ax_json_int(&c->json, "workers_online", online);
	ax_json_int(&c->json, "waiting", runs[AX_RUN_WAITING]);
	ax_json_int(&c->json, "server_time", c->now);
	ax_json_obj_end(&c->json);
	return AX_OK;
}

enum ax_status ax_get_live(struct ax_call *c, struct ax_err *err)
{
	(void)c;
	(void)err;
	return AX_OK; /* live.c takes it from here */
}

/* --- numbers and health ------------------------------------------------------------------------------------------- */

/* Second half, in the loop thread, whose numbers they are (see front.c). */
enum ax_status ax_get_metrics(struct ax_call *c, struct ax_err *err)
{
	struct ax_stored_counts *counts = ax_alloc(&c->arena, sizeof *counts);
	c->memo = counts;
	enum ax_status status = c->tx->ops->live_counts(c->tx, counts->runs, err);
	if (status == AX_OK)
		status = c->tx->ops->alert_counts(c->tx, counts->alerts, err);
	if (status == AX_OK)
		status = c->tx->ops->deliveries_pending(c->tx, &counts->deliveries, err);
	return status == AX_OK ? ax_tick_find_next(c->tx, &counts->next_ms, err) : status;
}

static enum ax_status health(struct ax_call *c, bool ready)
{
	struct ax_server *server = c->server;
	int64_t mono = ax_mono_ms(&server->clock.port);
	int64_t tick_age = mono - server->metrics.tick_ms, commit_age = mono - server->metrics.commit_ms;
	struct ax_err err = { 0 };
	bool able = !ready || ax_pulse_check(server, &err) == AX_OK;
	bool ok =
		tick_age < STALE_MS && commit_age < STALE_MS && able && (!ready || server->phase == AX_SERVER_SERVING);
	ax_json_obj(&c->json, NULL);
	ax_json_str(&c->json, "status", ok ? "ok" : "failing");
	ax_json_int(&c->json, "tick_age_ms", tick_age);
	ax_json_int(&c->json, "commit_age_ms", commit_age);
	ax_json_arr(&c->json, "reasons");
	if (tick_age >= STALE_MS)
		ax_json_str(&c->json, NULL, "the scheduler does not come round");
	if (commit_age >= STALE_MS)
		ax_json_str(&c->json, NULL, "the store does not commit");
	if (!able)
		ax_json_str(&c->json, NULL, err.msg);
	if (ready && server->phase != AX_SERVER_SERVING)
		ax_json_str(&c->json, NULL, "the server is starting or stopping");
	ax_json_arr_end(&c->json);
	ax_json_obj_end(&c->json);
	c->status = ok ? 200 : 503;
	return AX_OK;
}

enum ax_status ax_get_healthz(struct ax_call *c, struct ax_err *err)
{
	(void)err;
	return health(c, false);
}

enum ax_status ax_get_readyz(struct ax_call *c, struct ax_err *err)
{
	(void)err;
	return health(c, true);
}

enum ax_status ax_get_openapi(struct ax_call *c, struct ax_err *err)
{
	const struct ax_http_file *file = ax_spec_files.files;
	(void)err;
	ax_buf_add(&c->out, file->raw, file->raw_len);
	return AX_OK;
}
