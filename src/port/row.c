#include "port/row.h"

#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/utf8.h"
#include "port/store.h"

#define KIND(member)                                                                                                   \
	_Generic((member), int64_t: AX_FIELD_I64, bool: AX_FIELD_BOOL, const char *: AX_FIELD_TEXT, default: AX_FIELD_ENUM)
#define FIELD(type, path, name_, kind_, fixed_)                                                                        \
	{                                                                                                              \
		.name = #name_, .offset = offsetof(struct type, path name_), .kind = (kind_), .fixed = (fixed_)        \
	}
/* A column of the struct in TYPE: one that updates write, one that they leave alone. */
#define COL(name) FIELD(TYPE, , name, KIND(((struct TYPE *)0)->name), false)
#define FIX(name) FIELD(TYPE, , name, KIND(((struct TYPE *)0)->name), true)
#define SECRET(name_)                                                                                                  \
	{                                                                                                              \
		.name = #name_, .offset = offsetof(struct TYPE, name_), .kind = AX_FIELD_TEXT, .fixed = true,          \
		.secret = true                                                                                         \
	}
/* A secret that updates write. */
#define SECRET_COL(name_)                                                                                              \
	{                                                                                                              \
		.name = #name_, .offset = offsetof(struct TYPE, name_), .kind = AX_FIELD_TEXT, .secret = true          \
	}
#define DEF(name) FIELD(TYPE, def., name, KIND(((struct TYPE *)0)->def.name), false)
#define ROW(name, table_, fields_)                                                                                     \
	const struct ax_row_type name = { table_, sizeof(struct TYPE), fields_, AX_COUNT(fields_) }

/* The columns of a definition. */
#define AX_DEF_TEXT(name, ...) DEF(name),
#define AX_DEF_OPTIONAL(name, ...) DEF(name),
#define AX_DEF_NUMBER(name, ...) DEF(name),
#define AX_DEF_TIME(name, ...) DEF(name),
#define AX_DEF_ENUM(type, name, ...) DEF(name),
#define AX_DEF_FLAG(name, ...) DEF(name),
#define AX_DEF_NUMBERS(name, ...) DEF(name),
#define AX_DEF_IDS(name, ...) DEF(name),
#define AX_DEF_JSON(name, ...) DEF(name),

#define TYPE ax_task
static const struct ax_field task_fields[] = { FIX(id),
#include "core/task_def.def"
	COL(status), COL(version), FIX(create_time), COL(update_time), COL(updated_by), COL(next_trigger_time),
	COL(last_trigger_time), COL(anchor_time), COL(calendar_version), COL(epoch_time), COL(exhausted),
	COL(canary_version), COL(canary_percent), FIX(last_run_gid), FIX(last_run_status), FIX(last_run_end_time),
	COL(absence_time), COL(ending), FIX(durations) };
ROW(ax_task_row, "ax_task", task_fields);
#undef TYPE

#define TYPE ax_task_version
static const struct ax_field version_fields[] = {
	FIX(task_id),
	FIX(version),
	FIX(time),
	FIX(author),
#include "core/task_def.def"
};
ROW(ax_task_version_row, "ax_task_version", version_fields);
#undef TYPE

#define TYPE ax_canary
static const struct ax_field canary_fields[] = { FIX(task_id), COL(base_version), COL(version), COL(state),
	COL(percent), COL(automatic), COL(min_runs), COL(max_failure_points), COL(max_p95_percent), COL(succeeded),
	COL(failed), COL(base_succeeded), COL(base_failed), COL(durations), COL(base_durations), COL(start_time),
	COL(end_time), COL(started_by), COL(ended_by), COL(reason) };
ROW(ax_canary_row, "ax_canary", canary_fields);
#undef TYPE

#define TYPE ax_epoch
static const struct ax_field epoch_fields[] = { FIX(id), FIX(task_id), FIX(from_time), FIX(enabled), FIX(cron_expr),
	FIX(dialect), FIX(time_zone), FIX(anchor_time), FIX(tzdata), FIX(calendar), FIX(calendar_version),
	FIX(calendar_mode), FIX(valid_from), FIX(valid_until), FIX(jitter_ms) };
ROW(ax_epoch_row, "ax_schedule_epoch", epoch_fields);
#undef TYPE

#define TYPE ax_run
static const struct ax_field run_fields[] = { FIX(gid), FIX(task_id), FIX(kind), FIX(fire_key), FIX(shard),
	COL(shard_total), FIX(spread), FIX(parent), FIX(failed_only), FIX(group_key), COL(executor_key), COL(status),
	COL(reason), COL(rev), COL(version), FIX(batch), COL(blocked_by), FIX(trigger_time), FIX(create_time),
	COL(dispatch_time), COL(start_time), COL(heartbeat_time), COL(end_time), COL(deadline_time), COL(limit_time),
	FIX(rank), FIX(priority), COL(hold), COL(fence), COL(retry_times), COL(lost_times), COL(bounce_times),
	COL(accepted), COL(worker), COL(incarnation), COL(poll), COL(cancel), COL(ended_by_worker), COL(result_code),
	COL(result_msg), COL(result), FIX(params), FIX(trace_id), COL(progress_msg), COL(progress_percent),
	COL(progress_time), FIX(must_end_time), COL(watch_time), COL(overran), COL(stalled), FIX(rerun_of),
	COL(covers_from), COL(covers_to), COL(covers_count), FIX(made_up), FIX(backfill_id), COL(ready_time), FIX(lane),
	FIX(demand) };
ROW(ax_run_row, "ax_task_log", run_fields);
#undef TYPE

#define TYPE ax_attempt
static const struct ax_field attempt_fields[] = { FIX(gid), FIX(fence), FIX(attempt), FIX(worker), FIX(dispatch_time),
	FIX(start_time), FIX(end_time), FIX(outcome), FIX(code), FIX(message), FIX(late_time), FIX(late_outcome),
	FIX(late_code), FIX(late_message) };
ROW(ax_attempt_row, "ax_attempt", attempt_fields);
#undef TYPE

#define TYPE ax_output
static const struct ax_field output_fields[] = { FIX(gid), FIX(fence), FIX(seq), FIX(time),
	FIELD(ax_output, , data, AX_FIELD_DATA, true) };
_Static_assert(offsetof(struct ax_output, len) == offsetof(struct ax_output, data) + sizeof(const char *),
	"the length stands behind the data");
ROW(ax_output_row, "ax_output", output_fields);
#undef TYPE

#define TYPE ax_group
static const struct ax_field group_fields[] = { FIX(group_key), COL(title), COL(dispatch_quota), COL(pool_size),
	COL(paused), COL(contacts), COL(late_seconds), COL(backlog_limit), COL(backlog_seconds),
	COL(long_share_percent), COL(worker_backlog), COL(keep_days), COL(keep_runs), COL(defaults), FIX(running),
	FIX(running_long), COL(version), FIX(create_time), COL(update_time) };
ROW(ax_group_row, "ax_group", group_fields);
#undef TYPE

#define TYPE ax_worker
static const struct ax_field worker_fields[] = { FIX(name), FIX(incarnation), FIX(status), FIX(executors), FIX(tags),
	FIX(version), FIX(address), FIX(register_time), FIX(seen_time), FIX(disabled), FIX(past) };
ROW(ax_worker_row, "ax_worker", worker_fields);
#undef TYPE

#define TYPE ax_worker_group
static const struct ax_field worker_group_fields[] = { FIX(worker), FIX(group_key), COL(pool_size), FIX(given),
	FIX(given_long), FIX(given_order), FIX(turn_order), FIX(use_count), FIX(use_time) };
ROW(ax_worker_group_row, "ax_worker_group", worker_group_fields);
#undef TYPE

#define TYPE ax_server_row
static const struct ax_field server_fields[] = { FIX(number), FIX(name), FIX(version), FIX(start_time), FIX(seen_time),
	FIX(gid_high_ms), FIX(incarnation), FIX(lease_time) };
ROW(ax_server_row_row, "ax_server", server_fields);
#undef TYPE

#define TYPE ax_due
static const struct ax_field due_fields[] = { FIX(time), FIX(id), FIX(group_key), FIX(priority) };
ROW(ax_due_row, "", due_fields);
#undef TYPE

#define TYPE ax_lease
static const struct ax_field lease_fields[] = { FIX(name), COL(holder), COL(fence), COL(until_time) };
ROW(ax_lease_row, "ax_lease", lease_fields);
#undef TYPE

#define TYPE ax_user
static const struct ax_field user_fields[] = { FIX(id), FIX(name), SECRET(password_hash), FIX(role), FIX(create_time) };
ROW(ax_user_row, "ax_user", user_fields);
#undef TYPE

#define TYPE ax_token
static const struct ax_field token_fields[] = { FIX(id), SECRET(hash), FIX(kind), FIX(name), FIX(role),
	FIX(worker_groups), SECRET(csrf), FIX(create_time), FIX(expire_time), FIX(last_used_time) };
ROW(ax_token_row, "ax_token", token_fields);
#undef TYPE

#define TYPE ax_audit_entry
static const struct ax_field audit_fields[] = { FIX(id), FIX(time), FIX(actor), FIX(address), FIX(action), FIX(object),
	FIX(before), FIX(after), FIX(reason) };
ROW(ax_audit_row, "ax_audit", audit_fields);
#undef TYPE

#define TYPE ax_idem
static const struct ax_field idem_fields[] = { FIX(key), FIX(hash), FIX(status), FIX(body), FIX(expire_time) };
ROW(ax_idem_row, "ax_idem", idem_fields);
#undef TYPE

#define TYPE ax_event
static const struct ax_field event_fields[] = { FIX(id), FIX(event_name), FIX(event_key), FIX(event_id), FIX(payload),
	FIX(sent_by), FIX(time), FIX(runs), FIX(passed) };
ROW(ax_event_row, "ax_event", event_fields);
#undef TYPE

#define TYPE ax_event_task
static const struct ax_field event_task_fields[] = { FIX(event), FIX(task_id), FIX(fate), FIX(gid) };
ROW(ax_event_task_row, "ax_event_task", event_task_fields);
#undef TYPE

#define TYPE ax_upstream
static const struct ax_field upstream_fields[] = { FIX(task_id), FIX(upstream_id) };
ROW(ax_upstream_row, "ax_upstream", upstream_fields);
#undef TYPE

#define TYPE ax_run_upstream
static const struct ax_field run_upstream_fields[] = { FIX(gid), FIX(upstream_id), FIX(upstream_gid),
	FIX(upstream_status) };
ROW(ax_run_upstream_row, "ax_run_upstream", run_upstream_fields);
#undef TYPE

#define TYPE ax_run_told
static const struct ax_field run_told_fields[] = { FIX(upstream_id), FIX(task_name), FIX(upstream_gid),
	FIX(upstream_status), FIX(result) };
ROW(ax_run_told_row, "", run_told_fields);
#undef TYPE

#define TYPE ax_ended_minute
static const struct ax_field ended_minute_fields[] = { FIX(minute), COL(success), COL(failed), COL(timeout),
	COL(cancelled), COL(blocked), COL(skipped), COL(missed) };
ROW(ax_ended_minute_row, "ax_ended_minute", ended_minute_fields);
#undef TYPE

#define TYPE ax_notice
static const struct ax_field notice_fields[] = { FIX(server), FIX(seq), FIX(time), FIX(body) };
ROW(ax_notice_row, "ax_notice", notice_fields);
#undef TYPE

#define TYPE ax_channel
static const struct ax_field channel_fields[] = { FIX(id), COL(name), FIX(kind), SECRET_COL(settings), COL(enabled),
	COL(language), COL(rules), COL(group_keys), COL(quiet_from), COL(quiet_to), COL(time_zone), COL(remind_seconds),
	COL(version), FIX(create_time), COL(update_time), COL(updated_by) };
ROW(ax_channel_row, "ax_channel", channel_fields);
#undef TYPE

#define TYPE ax_alert
static const struct ax_field alert_fields[] = { FIX(id), FIX(rule), FIX(group_key), FIX(episode), COL(state),
	COL(task_id), COL(gid), COL(subject), COL(detail), COL(value), COL(bound), COL(count), FIX(open_time),
	COL(seen_time), COL(resolve_time), COL(told_time), COL(resolve_note), COL(muted), COL(note), COL(note_by),
	COL(rev) };
ROW(ax_alert_row, "ax_alert", alert_fields);
#undef TYPE

#define TYPE ax_delivery
static const struct ax_field delivery_fields[] = { FIX(id), FIX(alert_id), FIX(channel_id), FIX(kind), COL(state),
	COL(attempts), COL(next_time), COL(server), FIX(create_time), COL(sent_time), COL(error), COL(rev) };
ROW(ax_delivery_row, "ax_alert_outbox", delivery_fields);
#undef TYPE

#define TYPE ax_failure
static const struct ax_field failure_fields[] = { FIX(gid), FIX(fingerprint), FIX(group_key), FIX(task_id),
	FIX(version), FIX(executor_key), FIX(reason), FIX(code), FIX(title), FIX(worker), FIX(time), FIX(muted),
	FIX(folded), FIX(rerun_gid) };
ROW(ax_failure_row, "ax_failure", failure_fields);
#undef TYPE

#define TYPE ax_failure_group
static const struct ax_field failure_group_fields[] = { FIX(id), FIX(group_key), FIX(fingerprint), FIX(executor_key),
	FIX(reason), FIX(code), FIX(title), COL(count), COL(first_seen_time), COL(last_seen_time), COL(sample_gid),
	COL(growth_time), COL(state), COL(state_time), COL(state_by), COL(state_reason), COL(mute_until_time),
	COL(reopen_count), COL(assignee), COL(note), COL(rerun_due_time), COL(rev) };
ROW(ax_failure_group_row, "ax_failure_group", failure_group_fields);
#undef TYPE

#define TYPE ax_failure_spread
static const struct ax_field failure_spread_fields[] = { FIX(failure_id), FIX(task_id), FIX(version), FIX(worker),
	COL(count), COL(first_seen_time), COL(last_seen_time) };
ROW(ax_failure_spread_row, "ax_failure_spread", failure_spread_fields);
#undef TYPE

#define TYPE ax_failure_hour
static const struct ax_field failure_hour_fields[] = { FIX(failure_id), FIX(hour), COL(count) };
ROW(ax_failure_hour_row, "ax_failure_hour", failure_hour_fields);
#undef TYPE

#define TYPE ax_calendar_row
static const struct ax_field calendar_fields[] = { FIX(name), COL(title), COL(version), FIX(create_time),
	COL(update_time), COL(updated_by) };
ROW(ax_calendar_row_row, "ax_calendar", calendar_fields);
#undef TYPE

#define TYPE ax_calendar_version
static const struct ax_field calendar_version_fields[] = { FIX(name), FIX(version), FIX(time), FIX(author), FIX(title),
	FIX(week), FIX(days) };
ROW(ax_calendar_version_row, "ax_calendar_version", calendar_version_fields);
#undef TYPE

#define TYPE ax_backfill
static const struct ax_field backfill_fields[] = { FIX(id), FIX(task_id), FIX(from_time), FIX(to_time), FIX(max_live),
	FIX(newest_first), COL(status), COL(cursor_time), FIX(total), COL(made), COL(existed), COL(done), COL(failed),
	FIX(create_time), COL(end_time), FIX(created_by), COL(rev) };
ROW(ax_backfill_row, "ax_backfill", backfill_fields);
#undef TYPE

_Static_assert(sizeof(enum ax_run_state) == sizeof(int), "enums are read and written as int");

static int64_t *data_len(const struct ax_field *field, const void *row)
{
	return (int64_t *)(void *)(ax_field_text(field, row) + 1);
}

size_t ax_field_len(const struct ax_field *field, const void *row)
{
	if (field->kind == AX_FIELD_DATA)
		return (size_t)*data_len(field, row);
	return strlen(*ax_field_text(field, row));
}

long long ax_field_number(const struct ax_field *field, const void *row)
{
	const void *at = ax_field_at(field, row);
	switch (field->kind) {
	case AX_FIELD_I64:
		return *(const int64_t *)at;
	case AX_FIELD_ENUM:
		return *(const int *)at;
	case AX_FIELD_BOOL:
		return *(const bool *)at;
	default:
		ax_die(__FILE__, __LINE__, "not a number");
	}
}

void ax_field_set_number(const struct ax_field *field, void *row, long long value)
{
	void *at = ax_field_at(field, row);
	switch (field->kind) {
	case AX_FIELD_I64:
		*(int64_t *)at = value;
		return;
	case AX_FIELD_ENUM:
		*(int *)at = (int)value;
		return;
	case AX_FIELD_BOOL:
		*(bool *)at = value != 0;
		return;
	default:
		ax_die(__FILE__, __LINE__, "not a number");
	}
}

void ax_row_copy(const struct ax_row_type *type, struct ax_arena *arena, const void *row, void *ret)
{
	memmove(ret, row, type->size);
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		if (!ax_field_has_text(field))
			continue;
		const char **text = ax_field_text(field, ret);
		*text = ax_strndup(arena, *text, ax_field_len(field, ret));
	}
}

void ax_row_take_changes(const struct ax_row_type *type, const void *row, void *ret)
{
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		if (field->fixed)
			continue;
		if (ax_field_has_text(field))
			*ax_field_text(field, ret) = *ax_field_text(field, row);
		else
			ax_field_set_number(field, ret, ax_field_number(field, row));
	}
}

bool ax_row_equal(const struct ax_row_type *type, const void *a, const void *b)
{
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		if (!ax_field_has_text(field)) {
			if (ax_field_number(field, a) != ax_field_number(field, b))
				return false;
			continue;
		}
		size_t len = ax_field_len(field, a);
		if (len != ax_field_len(field, b) ||
			memcmp(*ax_field_text(field, a), *ax_field_text(field, b), len) != 0)
			return false;
	}
	return true;
}

void ax_text_print(const char *s, size_t len, struct ax_buf *out)
{
	ax_buf_addc(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c == '"' || c == '\\')
			ax_buf_addc(out, '\\');
		if (c < 0x20)
			ax_buf_printf(out, "\\u%04x", c);
		else
			ax_buf_addc(out, (char)c);
	}
	ax_buf_addc(out, '"');
}

void ax_row_print(const struct ax_row_type *type, const void *row, struct ax_buf *out)
{
	enum { TEXT_SHOWN = 200 };
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		ax_buf_printf(out, "%s\"%s\":", i == 0 ? "{" : ",", field->name);
		if (field->secret) {
			ax_buf_adds(out, "\"***\"");
		} else if (ax_field_has_text(field)) {
			const char *text = *ax_field_text(field, row);
			ax_text_print(text, ax_utf8_cut(text, ax_field_len(field, row), TEXT_SHOWN), out);
		} else {
			const char *quote = field->kind == AX_FIELD_I64 ? "\"" : "";
			ax_buf_printf(out, "%s%lld%s", quote, ax_field_number(field, row), quote);
		}
	}
	ax_buf_addc(out, '}');
}

void *ax_rows_add(struct ax_rows *rows, struct ax_arena *arena, const struct ax_row_type *type)
{
	if (rows->n == rows->cap) {
		int cap = AX_MAX(4, rows->cap * 2);
		void *at = ax_alloc_array(arena, (size_t)cap, type->size);
		if (rows->n > 0)
			memcpy(at, rows->at, (size_t)rows->n * type->size);
		rows->at = at;
		rows->cap = cap;
	}
	return (char *)rows->at + (size_t)rows->n++ * type->size;
}
