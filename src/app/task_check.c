#include "app/task_check.h"

#include <inttypes.h>
#include <string.h>

#include "app/schedule_next.h"
#include "base/utf8.h"
#include "core/condition.h"
#include "core/limits.h"
#include "core/retry.h"
#include "core/task_def.h"
#include "core/watch.h"

static const int64_t TEN_YEARS_MS = INT64_C(315576000000);

static enum ax_status check_text(const char *field, const char *text, size_t min, size_t max, struct ax_err *err)
{
	size_t len = strlen(text), characters = 0;
	if (!ax_utf8_valid(text, len))
		return ax_fail(err, AX_INVALID, field, "the text is not well-formed UTF-8");
	for (size_t i = 0; i < len; i++)
		characters += ((unsigned char)text[i] & 0xc0) != 0x80;
	if (characters < min || characters > max)
		return ax_fail(err, AX_INVALID, field, "the text has %zu characters; %zu to %zu are allowed",
			characters, min, max);
	return AX_OK;
}

enum ax_status ax_line_check(const char *field, const char *text, size_t min, size_t max, struct ax_err *err)
{
	enum ax_status status = check_text(field, text, min, max, err);
	for (const unsigned char *p = (const unsigned char *)text; status == AX_OK && *p != '\0'; p++) {
		bool control = *p < 0x20 || *p == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);    /* C0, DEL, C1 */
		bool breaks = p[0] == 0xe2 && p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae; /* U+2028 … U+202E */
		bool turns = p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;  /* U+2066 … U+2069 */
		if (control || breaks || turns)
			return ax_fail(err, AX_INVALID, field,
				"no control characters, line breaks or direction marks are allowed");
	}
	return status;
}

static enum ax_status check_name(const struct ax_task_def *def, struct ax_err *err)
{
	const char *name = def->task_name;
	size_t len = strlen(name);
	enum ax_status status = ax_line_check("task_name", name, 1, AX_NAME_MAX, err);
	if (status == AX_OK && (name[0] == ' ' || name[len - 1] == ' '))
		return ax_fail(err, AX_INVALID, "task_name", "a name neither begins nor ends with a blank");
	return status;
}

static enum ax_status check_executor(const struct ax_task_def *def, struct ax_err *err)
{
	size_t len = strlen(def->executor_key);
	if (len < 1 || len > AX_NAME_MAX ||
		strspn(def->executor_key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") != len)
		return ax_fail(err, AX_INVALID, "executor_key",
			"an executor key is 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-'");
	return AX_OK;
}

/* What narrows a schedule and spreads it. */
static enum ax_status check_rule(const struct ax_task_def *def, const struct ax_schedule *schedule, struct ax_err *err)
{
	int64_t shortest_s = ax_schedule_shortest_s(schedule);
	if (def->valid_until != 0 && def->valid_until <= def->valid_from)
		return ax_fail(err, AX_INVALID, "valid_until", "the window of validity ends before it begins");
	if (schedule->kind == AX_SCHEDULE_AFTER && def->calendar[0] != '\0')
		return ax_fail(err, AX_INVALID, "calendar",
			"@after counts from the task's own runs and knows no dates; write a cron expression");
	if (schedule->kind == AX_SCHEDULE_AFTER && def->jitter_seconds != 0)
		return ax_fail(err, AX_INVALID, "jitter_seconds",
			"@after counts from the task's own runs, which spreads it already; leave the jitter out");
	if (def->jitter_seconds >= shortest_s)
		return ax_fail(err, AX_INVALID, "jitter_seconds",
			"jitter must be shorter than the time between two fires; here they may be %" PRId64 " s apart",
			shortest_s);
	return AX_OK;
}

/* Fields that only a schedule has. */
static enum ax_status refuse_schedule(const struct ax_task_def *def, struct ax_err *err)
{
	const char *field = def->cron_expr[0] != '\0' ? "cron_expr"
		: def->calendar[0] != '\0'            ? "calendar"
		: def->valid_from != 0                ? "valid_from"
		: def->valid_until != 0               ? "valid_until"
		: def->jitter_seconds != 0            ? "jitter_seconds"
						      : NULL;
	if (field == NULL)
		return AX_OK;
	return ax_fail(err, AX_INVALID, field, "only a task with a schedule has a %s; leave it out", field);
}

enum ax_status ax_schedule_check(struct ax_zones *zones, const struct ax_task_def *def, struct ax_err *err)
{
	struct ax_schedule schedule;
	const struct ax_tz *tz;
	enum ax_status status;
	if (ax_def_has_schedule(def) && def->upstreams[0] != '\0')
		return ax_fail(err, AX_INVALID, "cron_expr",
			"a task with upstreams has no schedule of its own, or it would run twice; leave one of the two "
			"out");
	if (def->task_type == AX_TASK_SCHEDULED && def->upstreams[0] == '\0') {
		if (def->cron_expr[0] == '\0')
			return ax_fail(err, AX_INVALID, "cron_expr",
				"a task of type scheduled needs a schedule, or upstreams that start it");
		status = ax_schedule_of(zones, def->cron_expr, def->dialect, def->time_zone, &schedule, &tz, err);
		return status == AX_OK ? check_rule(def, &schedule, err) : status;
	}
	if (ax_zones_find(zones, def->time_zone) == NULL)
		return ax_fail(err, AX_INVALID, "time_zone", "the zone data has no zone '%.64s'; write an IANA name",
			def->time_zone);
	return refuse_schedule(def, err);
}

static enum ax_status check_retries(const struct ax_task_def *def, struct ax_err *err)
{
	if (def->retry_backoff == AX_BACKOFF_LIST && def->retry_delays[0] == '\0')
		return ax_fail(
			err, AX_INVALID, "retry_delays", "retry_backoff list needs at least one wait in seconds");
	return ax_retry_on_check(def->retry_on, err);
}

static enum ax_status check_spread(const struct ax_task_def *def, struct ax_err *err)
{
	if (def->shard_count == 1)
		return ax_fail(err, AX_INVALID, "shard_count",
			"a run is split into 2 to %d shards; write 0 for one that is not", AX_SHARDS_MAX);
	if (def->broadcast && def->shard_count > 0)
		return ax_fail(err, AX_INVALID, "shard_count",
			"a broadcast has a shard for each worker that is online; leave shard_count out");
	return AX_OK;
}

static enum ax_status check_promises(const struct ax_task_def *def, struct ax_err *err)
{
	int minutes;
	if (def->must_end_by[0] != '\0' && !ax_clock_parse(def->must_end_by, &minutes))
		return ax_fail(err, AX_INVALID, "must_end_by", "write a time of the day from 00:00 to 23:59");
	return AX_OK;
}

static enum ax_status check_chain(const struct ax_task_def *def, struct ax_err *err)
{
	if (def->join_all && def->upstreams[0] == '\0')
		return ax_fail(
			err, AX_INVALID, "join", "there is nothing to join: name upstreams, or leave it at `any`");
	return AX_OK;
}

static enum ax_status check_event(const struct ax_task_def *def, struct ax_err *err)
{
	bool listens = def->task_type == AX_TASK_EVENT;
	if (!listens && def->event_name[0] != '\0')
		return ax_fail(
			err, AX_INVALID, "event_name", "only a task of type event has an event_name; leave it out");
	if (!listens && strcmp(def->event_condition, "null") != 0)
		return ax_fail(err, AX_INVALID, "event_condition",
			"only a task of type event has an event_condition; leave it out");
	enum ax_status status = ax_line_check("event_name", def->event_name, listens, AX_EVENT_NAME_MAX, err);
	return status == AX_OK ? ax_condition_check(def->event_condition, err) : status;
}

enum ax_status ax_task_check(struct ax_ctx *ctx, const struct ax_task_def *def, struct ax_err *err)
{
	enum ax_status status = check_name(def, err);
	if (status == AX_OK)
		status = ax_schedule_check(ctx->zones, def, err);
	if (status == AX_OK)
		status = check_event(def, err);
	if (status == AX_OK)
		status = check_chain(def, err);
	if (status == AX_OK)
		status = check_executor(def, err);
	if (status == AX_OK)
		status = ax_def_check_ranges(def, err);
	if (status == AX_OK)
		status = check_retries(def, err);
	if (status == AX_OK)
		status = check_promises(def, err);
	if (status == AX_OK)
		status = check_spread(def, err);
	if (status == AX_OK)
		status = ax_route_tags_check(def->route_tags, err);
	if (status == AX_OK)
		status = ax_line_check("owner", def->owner, 0, AX_NAME_MAX, err);
	if (status == AX_OK)
		status = check_text("notes", def->notes, 0, AX_MESSAGE_MAX, err);
	return status;
}

enum ax_status ax_trigger_check(struct ax_ctx *ctx, int64_t run_at, const char *params, struct ax_err *err)
{
	int64_t now = ax_now_ms(ctx->clock);
	/* so that seconds taken for milliseconds do not run at once */
	if (run_at != 0 && (run_at > now + TEN_YEARS_MS || run_at < now - TEN_YEARS_MS))
		return ax_fail(err, AX_INVALID, "run_at",
			"the due instant is at most ten years away, in milliseconds since 1970 (UTC)");
	if (strlen(params) > AX_PARAM_MAX)
		return ax_fail(err, AX_TOO_LARGE, "params", "the parameters have %zu bytes; %d are allowed",
			strlen(params), AX_PARAM_MAX);
	return AX_OK;
}

enum ax_status ax_task_refuse_if_deleting(const struct ax_task *task, struct ax_err *err)
{
	if (task->status != AX_TASK_DELETING)
		return AX_OK;
	return ax_fail(err, AX_CONFLICT, "id",
		"task %" PRId64 " is being deleted: it takes no change and makes no runs any more", task->id);
}
