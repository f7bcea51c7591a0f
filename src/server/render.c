#include "server/render.h"

#include <inttypes.h>
#include <string.h>

#include "app/claim.h"
#include "app/worker_seen.h"
#include "base/num.h"
#include "core/duration.h"
#include "core/limits.h"
#include "core/schedule_text.h"
#include "core/task_def.h"
#include "core/task_idle.h"
#include "server/server.h"

const char *const ax_kind_words[] = { "schedule", "miss", "delay", "event", "manual", "chain", NULL };
const char *const ax_task_status_words[] = { "created", "enabled", "paused", "deleting", NULL };

const char *ax_kind_name(enum ax_run_kind kind)
{
	return ax_kind_words[kind - 1];
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

/* "60 300" as an array. */
static void render_numbers(struct ax_json *json, const char *key, const char *text, bool ids)
{
	ax_json_arr(json, key);
	for (const char *at = text; *at != '\0';) {
		size_t len = strcspn(at, " ");
		int64_t number = 0;
		ax_parse_i64(at, len, INT64_MIN, INT64_MAX, &number);
		if (ids)
			ax_json_id(json, NULL, number);
		else
			ax_json_int(json, NULL, number);
		at += len + strspn(at + len, " ");
	}
	ax_json_arr_end(json);
}

static void render_field(struct ax_json *json, const struct ax_def_field *field, const struct ax_task_def *def)
{
	const char *word;
	switch (field->kind) {
	case AX_DEF_KIND_TEXT:
		ax_json_str(json, field->name, ax_def_text(field, def));
		return;
	case AX_DEF_KIND_OPTIONAL:
		ax_json_word(json, field->name, ax_def_text(field, def));
		return;
	case AX_DEF_KIND_NUMBER:
		ax_json_int(json, field->name, ax_def_number(field, def));
		return;
	case AX_DEF_KIND_TIME:
		ax_json_time(json, field->name, ax_def_number(field, def));
		return;
	case AX_DEF_KIND_ENUM:
	case AX_DEF_KIND_FLAG:
		word = field->words[ax_def_number(field, def) - field->min];
		ax_json_word(json, field->name, strcmp(word, "null") == 0 ? NULL : word);
		return;
	case AX_DEF_KIND_NUMBERS:
	case AX_DEF_KIND_IDS:
		render_numbers(json, field->name, ax_def_text(field, def), field->kind == AX_DEF_KIND_IDS);
		return;
	case AX_DEF_KIND_JSON:
		ax_json_raw(json, field->name, ax_def_text(field, def));
		return;
	}
}

void ax_render_def(struct ax_json *json, const struct ax_task_def *def)
{
	for (int i = 0; i < ax_def_fields_n; i++)
		render_field(json, &ax_def_fields[i], def);
}

enum ax_status ax_offers_read(struct ax_call *c, struct ax_offers *ret, struct ax_err *err)
{
	enum ax_status status = c->tx->ops->workers(c->tx, &ret->workers, err);
	if (status == AX_OK)
		status = c->tx->ops->worker_groups(c->tx, NULL, &ret->groups, err);
	ret->now = c->now;
	return status;
}

static bool serves(const struct ax_offers *offers, const struct ax_worker *worker, const char *group_key)
{
	for (int i = 0; i < offers->groups.n; i++)
		if (strcmp(offers->groups.at[i].worker, worker->name) == 0 &&
			strcmp(offers->groups.at[i].group_key, group_key) == 0)
			return true;
	return false;
}

/* Opens a warning up to its parameters. */
static void begin_warning(struct ax_json *json, const char *code, const char *text)
{
	ax_json_obj(json, NULL);
	ax_json_str(json, "code", code);
	ax_json_str(json, "text", text);
	ax_json_obj(json, "params");
}

static void end_warning(struct ax_json *json)
{
	ax_json_obj_end(json);
	ax_json_obj_end(json);
}

/* What no worker has that the task needs. */
static void warn_of_workers(struct ax_call *c, const struct ax_task_def *def, const struct ax_offers *offers)
{
	struct ax_json *json = &c->json;
	bool offered = false;
	for (int i = 0; i < offers->workers.n; i++) {
		const struct ax_worker *worker = &offers->workers.at[i];
		if (strcmp(ax_worker_state(worker, offers->now), "online") != 0 ||
			!ax_worker_offers(worker->executors, def->executor_key) ||
			!serves(offers, worker, def->group_key))
			continue;
		offered = true;
		if (ax_worker_suits(worker, def->executor_key, ax_route_demand(def)))
			return;
	}
	begin_warning(json, offered ? "no_worker_tags" : "no_worker",
		ax_sprintf(&c->arena,
			offered ? "no worker that offers executor `%s` in group `%s` has the tags %s"
				: "no worker offers executor `%s` in group `%s`",
			def->executor_key, def->group_key, def->route_tags));
	ax_json_str(json, "executor", def->executor_key);
	ax_json_str(json, "group", def->group_key);
	if (offered)
		ax_json_str(json, "tags", def->route_tags);
	end_warning(json);
}

static void warn_of_idle_fields(struct ax_call *c, const struct ax_task_def *def)
{
	struct ax_idle idle[AX_IDLE_MAX];
	int n = ax_def_idle(def, idle);
	for (int i = 0; i < n; i++) {
		begin_warning(&c->json, "idle_field",
			ax_sprintf(&c->arena, "`%s` does nothing here: it needs %s", idle[i].field, idle[i].needs));
		ax_json_str(&c->json, "field", idle[i].field);
		ax_json_str(&c->json, "needs", idle[i].needs);
		end_warning(&c->json);
	}
}

void ax_render_schedule_warnings(struct ax_call *c, const struct ax_schedule *schedule)
{
	struct ax_buf text;
	unsigned warnings = ax_schedule_warnings(schedule);
	ax_buf_init(&text, 4096);
	for (unsigned bit = 1; bit <= AX_WARN_INTERVAL_HOURS; bit <<= 1) {
		if ((warnings & bit) == 0)
			continue;
		ax_buf_clear(&text);
		ax_schedule_warning_text(schedule, (enum ax_schedule_warning)bit, &text);
		begin_warning(&c->json, ax_schedule_warning_code((enum ax_schedule_warning)bit), text.data);
		end_warning(&c->json);
	}
	ax_buf_done(&text);
}

void ax_render_warnings(struct ax_call *c, const struct ax_task_def *def, const struct ax_schedule *schedule,
	const struct ax_offers *offers)
{
	ax_json_arr(&c->json, "warnings");
	warn_of_workers(c, def, offers);
	warn_of_idle_fields(c, def);
	if (schedule != NULL)
		ax_render_schedule_warnings(c, schedule);
	ax_json_arr_end(&c->json);
}

static void render_schedule(struct ax_call *c, const struct ax_task_def *def, const struct ax_offers *offers)
{
	struct ax_schedule schedule;
	struct ax_err err;
	bool scheduled = ax_def_has_schedule(def) &&
		ax_schedule_parse(def->cron_expr, strlen(def->cron_expr), (enum ax_dialect)def->dialect, &schedule,
			&err) == AX_OK;
	struct ax_buf text;
	ax_buf_init(&text, 4096);
	if (scheduled)
		ax_schedule_describe(&schedule, &text);
	ax_json_word(&c->json, "schedule_text", text.data);
	ax_buf_done(&text);
	ax_render_warnings(c, def, scheduled ? &schedule : NULL, offers);
}

/* What the task's runs took of late, and the lane that a run made now goes to. */
static void render_durations(struct ax_json *json, const struct ax_task *task)
{
	static const struct {
		const char *key;
		int percent;
	} shown[] = { { "duration_p50_ms", 50 }, { "duration_p90_ms", 90 } };
	for (size_t i = 0; i < AX_COUNT(shown); i++) {
		int64_t ms = ax_durations_quantile(task->durations, shown[i].percent);
		if (ms >= 0)
			ax_json_int(json, shown[i].key, ms);
		else
			ax_json_null(json, shown[i].key);
	}
	ax_json_str(json, "next_lane",
		ax_lane_name(ax_lane_choose(task->def.lane, ax_durations_quantile(task->durations, 90))));
}

void ax_render_last_run(struct ax_json *json, const struct ax_task *task)
{
	if (task->last_run_gid == 0) {
		ax_json_null(json, "last_run");
	} else {
		ax_json_obj(json, "last_run");
		ax_json_id(json, "gid", task->last_run_gid);
		ax_json_str(json, "status", ax_run_state_name(task->last_run_status));
		ax_json_int(json, "end_time", task->last_run_end_time);
		ax_json_obj_end(json);
	}
}

void ax_render_task(struct ax_call *c, const char *key, const struct ax_task *task, const struct ax_offers *offers)
{
	struct ax_json *json = &c->json;
	ax_json_obj(json, key);
	ax_json_id(json, "id", task->id);
	ax_render_def(json, &task->def);
	ax_json_str(json, "status", ax_task_status_words[task->status]);
	ax_json_int(json, "version", task->version);
	ax_json_int(json, "create_time", task->create_time);
	ax_json_int(json, "update_time", task->update_time);
	ax_json_str(json, "updated_by", task->updated_by);
	int64_t upstream = 0;
	(void)ax_ids_read(task->def.upstreams, &upstream, 1);
	ax_json_id(json, "upstream_task_id", upstream); /* the first of them */
	ax_json_time(json, "next_trigger_time", task->next_trigger_time);
	ax_json_time(json, "last_trigger_time", task->last_trigger_time);
	ax_json_bool(json, "exhausted", task->exhausted);
	ax_json_time(json, "canary_version", task->canary_version);
	ax_json_time(json, "canary_percent", task->canary_percent);
	ax_render_last_run(json, task);
	render_durations(json, task);
	render_schedule(c, &task->def, offers);
	ax_json_obj_end(json);
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static const char *const cancel_words[] = { NULL, "asked", "stopping", "stopped" };
static const char *const outcome_words[] = { NULL, "success", "failed", "timeout", "cancelled", "refused", "lost",
	"bounced" };

static void render_times(struct ax_json *json, const struct ax_run *run)
{
	ax_json_time(json, "trigger_time", run->trigger_time);
	ax_json_time(json, "create_time", run->create_time);
	ax_json_time(json, "dispatch_time", run->dispatch_time);
	ax_json_time(json, "start_time", run->start_time);
	ax_json_time(json, "heartbeat_time", run->heartbeat_time);
	ax_json_time(json, "end_time", run->end_time);
	ax_json_time(json, "deadline_time", run->deadline_time);
	/* how late the first attempt was given out; later ones are late for reasons of their own */
	if (run->fence == 1 && run->dispatch_time > 0)
		ax_json_int(json, "lateness_ms", AX_MAX(run->dispatch_time - run->trigger_time, 0));
	else
		ax_json_null(json, "lateness_ms");
	if (run->start_time > 0 && run->end_time > 0)
		ax_json_int(json, "duration_ms", AX_MAX(run->end_time - run->start_time, 0));
	else
		ax_json_null(json, "duration_ms");
}

/* How far the shards of a run are. */
struct shards {
	int64_t n, done, by_state[32];
};

static enum ax_status count_shards(
	struct ax_call *c, const struct ax_run *parent, struct shards *ret, struct ax_err *err)
{
	enum ax_status status = c->tx->ops->shard_counts(c->tx, parent->gid, ret->by_state, err);
	for (int state = 0; status == AX_OK && state < 32; state++) {
		ret->n += ret->by_state[state];
		ret->done += ax_run_is_terminal((enum ax_run_state)state) ? ret->by_state[state] : 0;
	}
	return status;
}

/* What the attempt reports of itself; of a run with shards, how many of them are done. */
static void render_progress(struct ax_call *c, const struct ax_run *run, const struct shards *shards)
{
	struct ax_json *json = &c->json;
	bool reported = run->progress_percent >= 0 || run->progress_msg[0] != '\0';
	if (!reported && shards->n == 0) {
		ax_json_null(json, "progress");
		return;
	}
	ax_json_obj(json, "progress");
	if (shards->n > 0)
		ax_json_int(json, "percent", shards->done * 100 / shards->n);
	else if (run->progress_percent < 0)
		ax_json_null(json, "percent");
	else
		ax_json_int(json, "percent", run->progress_percent);
	ax_json_str(json, "message",
		shards->n == 0
			? run->progress_msg
			: ax_sprintf(&c->arena, "%" PRId64 " of %" PRId64 " shards are done", shards->done, shards->n));
	ax_json_time(json, "time", run->progress_time);
	ax_json_obj_end(json);
}

static void render_result(struct ax_json *json, const struct ax_run *run)
{
	ax_json_word(json, "cancel", cancel_words[run->cancel]);
	ax_json_time(json, "must_end_time", run->must_end_time);
	ax_json_bool(json, "overran", run->overran);
	ax_json_bool(json, "stalled", run->stalled);
	bool ended_attempt = run->ended_by_worker;
	if (ended_attempt)
		ax_json_int(json, "result_code", run->result_code);
	else
		ax_json_null(json, "result_code");
	ax_json_word(json, "result_msg", run->result_msg);
	ax_json_raw(json, "result", run->result);
}

/* The name of a run's task, also when the task is gone: its versions stay. */
static enum ax_status find_task_name(struct ax_call *c, const struct ax_run *run, const char **ret, struct ax_err *err)
{
	struct ax_task task;
	struct ax_task_version version;
	enum ax_status status = c->tx->ops->task_get(c->tx, run->task_id, false, &task, err);
	*ret = status == AX_OK ? task.def.task_name : NULL;
	if (status != AX_NOT_FOUND)
		return status;
	status = c->tx->ops->task_version_get(c->tx, run->task_id, run->version, &version, err);
	*ret = status == AX_OK ? version.def.task_name : NULL;
	return status == AX_NOT_FOUND ? AX_OK : status;
}

/* What shard it is, and what became of the shards that it has. */
static void render_shards(struct ax_json *json, const struct ax_run *run, const struct shards *shards)
{
	ax_json_id(json, "parent", run->parent);
	if (run->parent == 0) {
		ax_json_null(json, "shard");
	} else {
		ax_json_obj(json, "shard");
		ax_json_int(json, "index", run->shard);
		ax_json_int(json, "total", run->shard_total);
		ax_json_obj_end(json);
	}
	if (!ax_run_is_parent(run)) {
		ax_json_null(json, "shards");
		return;
	}
	ax_json_obj(json, "shards");
	ax_json_str(json, "spread", run->spread == AX_SPREAD_BROADCAST ? "broadcast" : "shards");
	ax_json_int(json, "total", run->shard_total);
	ax_json_bool(json, "failed_only", run->failed_only);
	ax_json_int(json, "count", shards->n);
	ax_json_int(json, "done", shards->done);
	ax_json_obj(json, "states");
	for (int state = 0; state < 32; state++)
		if (shards->by_state[state] > 0)
			ax_json_int(json, ax_run_state_name((enum ax_run_state)state), shards->by_state[state]);
	ax_json_obj_end(json);
	ax_json_obj_end(json);
}

enum ax_status ax_render_run_members(struct ax_call *c, const struct ax_run *run, struct ax_err *err)
{
	struct ax_json *json = &c->json;
	const char *task_name, *waiting_for;
	struct ax_claim_view alone = { .tx = c->tx, .now = c->now };
	struct shards shards = { 0 };
	enum ax_status status = ax_run_waiting_for(c->claims != NULL ? c->claims : &alone, run, &waiting_for, err);
	if (status == AX_OK)
		status = find_task_name(c, run, &task_name, err);
	if (status == AX_OK && ax_run_is_parent(run))
		status = count_shards(c, run, &shards, err);
	if (status != AX_OK)
		return status;
	ax_json_id(json, "gid", run->gid);
	ax_json_id(json, "task_id", run->task_id);
	ax_json_str(json, "task_name", task_name);
	ax_json_str(json, "group_key", run->group_key);
	ax_json_str(json, "executor_key", run->executor_key);
	ax_json_str(json, "kind", ax_kind_name(run->kind));
	ax_json_str(json, "fire_key", run->fire_key);
	ax_json_str(json, "status", ax_run_state_name(run->status));
	ax_json_word(json, "reason", run->reason);
	ax_json_word(json, "waiting_for", waiting_for);
	render_times(json, run);
	ax_json_int(json, "priority", run->priority);
	ax_json_str(json, "lane", ax_lane_name(run->lane));
	ax_json_int(json, "attempt", ax_run_attempt(run));
	ax_json_int(json, "fence", run->fence);
	ax_json_int(json, "retry_times", run->retry_times);
	ax_json_int(json, "lost_times", run->lost_times);
	ax_json_word(json, "worker", run->worker);
	render_progress(c, run, &shards);
	render_result(json, run);
	ax_json_word(json, "trace_id", run->trace_id);
	ax_json_raw(json, "params", run->params);
	ax_json_int(json, "version", run->version);
	ax_json_id(json, "rerun_of", run->rerun_of);
	ax_json_id(json, "backfill_id", run->backfill_id);
	render_shards(json, run, &shards);
	ax_json_id(json, "batch", run->batch);
	ax_json_id(json, "blocked_by", run->blocked_by);
	if (run->covers_count == 0) {
		ax_json_null(json, "covers");
	} else {
		ax_json_obj(json, "covers");
		ax_json_int(json, "from", run->covers_from);
		ax_json_int(json, "to", run->covers_to);
		ax_json_int(json, "count", run->covers_count);
		ax_json_obj_end(json);
	}
	return AX_OK;
}

enum ax_status ax_render_run(struct ax_call *c, const char *key, const struct ax_run *run, struct ax_err *err)
{
	ax_json_obj(&c->json, key);
	enum ax_status status = ax_render_run_members(c, run, err);
	ax_json_obj_end(&c->json);
	return status;
}

void ax_render_told(struct ax_json *json, const char *key, const struct ax_tolds *told)
{
	ax_json_arr(json, key);
	for (int i = 0; i < told->n; i++) {
		const struct ax_told *t = &told->at[i];
		ax_json_obj(json, NULL);
		ax_json_id(json, "task_id", t->task_id);
		ax_json_word(json, "task_name", t->task_name);
		ax_json_id(json, "gid", t->gid);
		ax_json_str(json, "status", ax_run_state_name(t->status));
		ax_json_raw(json, "result", t->result);
		ax_json_bool(json, "result_omitted", t->omitted);
		ax_json_obj_end(json);
	}
	ax_json_arr_end(json);
}

static void render_link(struct ax_json *json, int64_t task_id, const char *task_name, int64_t gid, const char *state)
{
	ax_json_obj(json, NULL);
	ax_json_id(json, "task_id", task_id);
	ax_json_word(json, "task_name", task_name);
	ax_json_id(json, "gid", gid);
	ax_json_str(json, "status", state);
	ax_json_obj_end(json);
}

/* What the run follows; of a join also what it waits for. */
static enum ax_status render_upstream_runs(struct ax_call *c, const struct ax_run *run, struct ax_err *err)
{
	struct ax_tolds told = { 0 };
	struct ax_upstreams upstreams = { 0 };
	struct ax_task task;
	enum ax_status status = ax_chain_tell(c->tx, run, &told, err);
	if (status == AX_OK && ax_run_is_joining(run))
		status = c->tx->ops->upstreams_of(c->tx, run->task_id, &upstreams, err);
	ax_json_arr(&c->json, "upstream_runs");
	for (int i = 0; status == AX_OK && i < told.n; i++)
		render_link(&c->json, told.at[i].task_id, told.at[i].task_name, told.at[i].gid,
			ax_run_state_name(told.at[i].status));
	for (int i = 0; status == AX_OK && i < upstreams.n; i++) {
		int k = 0;
		while (k < told.n && told.at[k].task_id != upstreams.at[i].upstream_id)
			k++;
		if (k < told.n)
			continue;
		status = c->tx->ops->task_get(c->tx, upstreams.at[i].upstream_id, false, &task, err);
		if (status == AX_OK)
			render_link(&c->json, task.id, task.def.task_name, 0, NULL);
	}
	ax_json_arr_end(&c->json);
	return status;
}

static enum ax_status render_downstream_runs(struct ax_call *c, const struct ax_run *run, struct ax_err *err)
{
	struct ax_upstreams downstreams = { 0 };
	struct ax_task task;
	struct ax_run next;
	enum ax_status status = AX_OK;
	if (run->shard == 0)
		status = c->tx->ops->downstreams_of(c->tx, run->task_id, &downstreams, err);
	ax_json_arr(&c->json, "downstream_runs");
	for (int i = 0; status == AX_OK && i < downstreams.n; i++) {
		status = c->tx->ops->task_get(c->tx, downstreams.at[i].task_id, false, &task, err);
		if (status == AX_OK)
			status = ax_chain_find(c->tx, run, &task, &next, err);
		if (status == AX_OK)
			render_link(&c->json, task.id, task.def.task_name, next.gid, ax_run_state_name(next.status));
		if (status == AX_NOT_FOUND)
			status = AX_OK;
	}
	ax_json_arr_end(&c->json);
	return status;
}

enum ax_status ax_render_run_chain(struct ax_call *c, const struct ax_run *run, struct ax_err *err)
{
	enum ax_status status = render_upstream_runs(c, run, err);
	return status == AX_OK ? render_downstream_runs(c, run, err) : status;
}

static void render_attempt(struct ax_json *json, const struct ax_attempt *a)
{
	ax_json_obj(json, NULL);
	ax_json_int(json, "attempt", a->attempt);
	ax_json_int(json, "fence", a->fence);
	ax_json_word(json, "worker", a->worker);
	ax_json_time(json, "dispatch_time", a->dispatch_time);
	ax_json_time(json, "start_time", a->start_time);
	ax_json_time(json, "end_time", a->end_time);
	ax_json_word(json, "outcome", a->outcome == 0 ? NULL : outcome_words[a->outcome]);
	if (a->end_time > 0)
		ax_json_int(json, "code", a->code);
	else
		ax_json_null(json, "code");
	ax_json_word(json, "message", a->message);
	if (a->late_time == 0) {
		ax_json_null(json, "late");
	} else {
		ax_json_obj(json, "late");
		ax_json_int(json, "time", a->late_time);
		ax_json_word(json, "outcome", outcome_words[a->late_outcome]);
		ax_json_int(json, "code", a->late_code);
		ax_json_word(json, "message", a->late_message);
		ax_json_obj_end(json);
	}
	ax_json_obj_end(json);
}

/* The run's own last attempt, which has a row of its own only when something came late for it. */
static struct ax_attempt last_attempt(const struct ax_run *run)
{
	struct ax_attempt a = {
		.gid = run->gid,
		.fence = run->fence,
		.attempt = ax_run_attempt(run),
		.worker = run->worker,
		.dispatch_time = run->dispatch_time,
		.start_time = run->start_time,
		.end_time = run->end_time,
		.code = run->result_code,
		.message = run->result_msg,
		.late_message = "",
	};
	switch (run->status) {
	case AX_RUN_SUCCESS:
		a.outcome = AX_OUTCOME_SUCCESS;
		break;
	case AX_RUN_FAILED:
		a.outcome = strcmp(run->reason, "refused") == 0 ? AX_OUTCOME_REFUSED : AX_OUTCOME_FAILED;
		break;
	case AX_RUN_TIMEOUT:
		a.outcome = strcmp(run->reason, "lost") == 0 ? AX_OUTCOME_LOST : AX_OUTCOME_TIMEOUT;
		break;
	case AX_RUN_CANCELLED:
		a.outcome = AX_OUTCOME_CANCELLED;
		break;
	case AX_RUN_PENDING:
	case AX_RUN_WAITING:
	case AX_RUN_DISPATCHED:
	case AX_RUN_RUNNING:
	case AX_RUN_RETRYING:
	case AX_RUN_BLOCKED:
	case AX_RUN_SKIPPED:
	case AX_RUN_MISSED:
		break;
	}
	return a;
}

void ax_render_sentence(struct ax_call *c, enum ax_sentence sentence, const struct ax_param *params, int n)
{
	ax_json_str(&c->json, "sentence", ax_sentence_name(&c->arena, sentence));
	ax_params_json(&c->json, "params", params, n);
}

static void timeline_entry(struct ax_call *c, int64_t time, const char *event, enum ax_sentence sentence,
	const struct ax_param *params, int n)
{
	if (time == 0)
		return;
	ax_json_obj(&c->json, NULL);
	ax_json_int(&c->json, "time", time);
	ax_json_str(&c->json, "event", event);
	ax_json_str(&c->json, "text", ax_sentence_text(&c->arena, sentence, params, n));
	ax_render_sentence(c, sentence, params, n);
	ax_json_obj_end(&c->json);
}

static void timeline_attempt(struct ax_call *c, const struct ax_attempt *a, bool ended)
{
	const struct ax_param out[] = {
		ax_number_param("attempt", a->attempt),
		ax_text_param("worker", a->worker),
		ax_number_param("fence", a->fence),
	};
	const struct ax_param end[] = {
		ax_text_param("outcome", outcome_words[a->outcome]),
		ax_text_param("message", a->message),
	};
	const struct ax_param late[] = {
		ax_text_param("worker", a->worker),
		ax_text_param("outcome", outcome_words[a->late_outcome]),
	};
	timeline_entry(c, a->dispatch_time, "dispatched", AX_SAY_LINE_DISPATCHED, out, AX_COUNT(out));
	timeline_entry(c, a->start_time, "started", AX_SAY_LINE_STARTED, out, AX_COUNT(out));
	if (ended && a->outcome != 0)
		timeline_entry(c, a->end_time, "attempt_ended", AX_SAY_LINE_ATTEMPT_ENDED, end, AX_COUNT(end));
	if (a->late_time > 0)
		timeline_entry(c, a->late_time, "late_report", AX_SAY_LINE_LATE_REPORT, late, AX_COUNT(late));
}

void ax_render_run_history(struct ax_call *c, const struct ax_run *run, const struct ax_attempts *attempts)
{
	struct ax_json *json = &c->json;
	struct ax_attempt last = last_attempt(run);
	bool stored = attempts->n > 0 && attempts->at[attempts->n - 1].fence == run->fence;
	bool own = run->fence > 0 && !stored;
	ax_json_arr(json, "attempts");
	for (int i = 0; i < attempts->n; i++)
		render_attempt(json, &attempts->at[i]);
	if (own)
		render_attempt(json, &last);
	ax_json_arr_end(json);

	const struct ax_param made[] = {
		ax_text_param("kind", ax_kind_name(run->kind)),
		ax_number_param("version", run->version),
		ax_number_param("late_ms", run->create_time - run->trigger_time),
		ax_number_param("total", run->shard_total),
	};
	const struct ax_param end[] = {
		ax_text_param("state", ax_run_state_name(run->status)),
		ax_text_param("message", run->result_msg),
	};
	ax_json_arr(json, "timeline");
	if (run->create_time <= run->trigger_time)
		timeline_entry(c, run->create_time, "created", AX_SAY_LINE_CREATED, made, AX_COUNT(made));
	timeline_entry(c, run->trigger_time, "due", AX_SAY_LINE_DUE, NULL, 0);
	if (run->create_time > run->trigger_time)
		timeline_entry(c, run->create_time, "created", AX_SAY_LINE_CREATED_LATE, made, AX_COUNT(made));
	for (int i = 0; i < attempts->n; i++)
		timeline_attempt(c, &attempts->at[i], true);
	if (own)
		timeline_attempt(c, &last, false);
	if (ax_run_is_parent(run))
		timeline_entry(c, run->start_time, "split", AX_SAY_LINE_SPLIT, made, AX_COUNT(made));
	if (run->status == AX_RUN_RETRYING)
		timeline_entry(c, run->deadline_time, "retry_due", AX_SAY_LINE_RETRY_DUE, NULL, 0);
	timeline_entry(c, run->end_time, "ended", AX_SAY_LINE_ENDED, end, AX_COUNT(end));
	ax_json_arr_end(json);
}

void ax_render_output(struct ax_json *json, const struct ax_output *output)
{
	ax_json_obj(json, NULL);
	ax_json_int(json, "fence", output->fence);
	ax_json_int(json, "seq", output->seq);
	ax_json_int(json, "time", output->time);
	ax_json_strn(json, "data", output->data, (size_t)output->len);
	ax_json_obj_end(json);
}

/* --- groups, workers, tokens -------------------------------------------------------------------------------------- */

static void render_words(struct ax_json *json, const char *key, const char *words)
{
	ax_json_arr(json, key);
	for (const char *at = words; *at != '\0';) {
		size_t len = strcspn(at, " ");
		ax_json_strn(json, NULL, at, len);
		at += len;
		at += strspn(at, " ");
	}
	ax_json_arr_end(json);
}

enum ax_status ax_render_group(struct ax_call *c, const struct ax_group *group, struct ax_err *err)
{
	int64_t waiting;
	enum ax_status status = c->tx->ops->group_waiting(c->tx, group->group_key, &waiting, err);
	if (status != AX_OK)
		return status;
	struct ax_json *json = &c->json;
	ax_json_obj(json, NULL);
	ax_json_str(json, "group_key", group->group_key);
	ax_json_str(json, "title", group->title);
	ax_json_int(json, "dispatch_quota", group->dispatch_quota);
	ax_json_int(json, "pool_size", group->pool_size);
	ax_json_bool(json, "paused", group->paused);
	render_words(json, "contacts", group->contacts);
	ax_json_int(json, "late_seconds", group->late_seconds);
	ax_json_int(json, "backlog_limit", group->backlog_limit);
	ax_json_int(json, "backlog_seconds", group->backlog_seconds);
	ax_json_int(json, "long_share_percent", group->long_share_percent);
	ax_json_int(json, "worker_backlog", group->worker_backlog);
	ax_json_int(json, "keep_days", group->keep_days);
	ax_json_int(json, "keep_runs", group->keep_runs);
	ax_json_raw(json, "defaults", group->defaults);
	ax_json_int(json, "running", group->running);
	ax_json_int(json, "running_long", group->running_long);
	ax_json_int(json, "waiting", waiting);
	ax_json_int(json, "version", group->version);
	ax_json_int(json, "create_time", group->create_time);
	ax_json_int(json, "update_time", group->update_time);
	ax_json_obj_end(json);
	return AX_OK;
}

const char *ax_worker_state(const struct ax_worker *worker, int64_t now)
{
	if (worker->status == AX_WORKER_LEFT)
		return "left";
	if (now - worker->seen_time >= AX_LEASE_MS)
		return "offline";
	return worker->disabled ? "disabled" : worker->status == AX_WORKER_DRAINING ? "draining" : "online";
}

void ax_render_worker(struct ax_call *c, const struct ax_worker *worker, const struct ax_worker_groups *groups)
{
	struct ax_json *json = &c->json;
	ax_json_obj(json, NULL);
	ax_json_str(json, "worker", worker->name);
	ax_json_str(json, "state", ax_worker_state(worker, c->now));
	ax_json_bool(json, "disabled", worker->disabled);
	ax_json_str(json, "incarnation", worker->incarnation);
	ax_json_str(json, "version", worker->version);
	ax_json_str(json, "address", worker->address);
	ax_json_arr(json, "groups");
	for (int i = 0; i < groups->n; i++) {
		const struct ax_worker_group *g = &groups->at[i];
		if (strcmp(g->worker, worker->name) != 0)
			continue;
		ax_json_obj(json, NULL);
		ax_json_str(json, "group_key", g->group_key);
		ax_json_int(json, "pool_size", g->pool_size);
		ax_json_int(json, "given", g->given);
		ax_json_int(json, "given_long", g->given_long);
		ax_json_obj_end(json);
	}
	ax_json_arr_end(json);
	render_words(json, "executors", worker->executors);
	ax_json_raw(json, "tags", worker->tags);
	ax_json_int(json, "register_time", worker->register_time);
	ax_json_int(json, "seen_time", worker->seen_time);
	ax_json_obj_end(json);
}

void ax_render_token(struct ax_json *json, const struct ax_token *token, const char *secret)
{
	ax_json_obj(json, NULL);
	ax_json_id(json, "id", token->id);
	ax_json_str(json, "name", token->name);
	ax_json_word(json, "role", token->role);
	ax_json_raw(json, "worker_groups", token->worker_groups);
	ax_json_int(json, "create_time", token->create_time);
	ax_json_int(json, "expire_time", token->expire_time);
	ax_json_time(json, "last_used_time", token->last_used_time);
	if (secret != NULL)
		ax_json_str(json, "token", secret);
	ax_json_obj_end(json);
}
