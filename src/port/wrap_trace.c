#include "port/wrap_trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "port/row.h"
#include "port/tx_ops.h"

enum { LINE_BYTES = 65536, ROWS_SHOWN = 20 };

struct trace_tx {
	struct ax_tx tx; /* what the function sees */
	struct ax_tx *inner;
	struct ax_trace_store *trace;
	ax_tx_fn fn;
	void *arg;
};

/* Printers of the argument types in port/tx_ops.h: SHOW_type(value) appends JSON to the buffer `out`. */

static void show_i64(struct ax_buf *out, int64_t value)
{
	ax_buf_printf(out, "\"%" PRId64 "\"", value);
}

static void show_int(struct ax_buf *out, int value)
{
	ax_buf_printf(out, "%d", value);
}

static void show_text(struct ax_buf *out, const char *s)
{
	if (s == NULL)
		ax_buf_adds(out, "null");
	else
		ax_text_print(s, strlen(s), out);
}

static void show_rows(struct ax_buf *out, const struct ax_row_type *type, const void *at, int n)
{
	ax_buf_printf(out, "{\"n\":%d,\"rows\":[", n);
	for (int i = 0; i < AX_MIN(n, ROWS_SHOWN); i++) {
		ax_buf_adds(out, i == 0 ? "" : ",");
		ax_row_print(type, (const char *)at + (size_t)i * type->size, out);
	}
	ax_buf_adds(out, "]}");
}

static void show_ids(struct ax_buf *out, const struct ax_ids *ids)
{
	ax_buf_addc(out, '[');
	for (int i = 0; i < AX_MIN(ids->n, ROWS_SHOWN); i++)
		ax_buf_printf(out, "%s\"%" PRId64 "\"", i == 0 ? "" : ",", ids->at[i]);
	ax_buf_addc(out, ']');
}

static void show_names(struct ax_buf *out, const struct ax_names *names)
{
	ax_buf_addc(out, '[');
	for (int i = 0; i < AX_MIN(names->n, ROWS_SHOWN); i++) {
		ax_buf_adds(out, i == 0 ? "" : ",");
		show_text(out, names->at[i]);
	}
	ax_buf_addc(out, ']');
}

static void show_counts(struct ax_buf *out, const int64_t *by_state)
{
	ax_buf_addc(out, '[');
	for (int i = 0; i < 32; i++)
		ax_buf_printf(out, "%s%" PRId64, i == 0 ? "" : ",", by_state[i]);
	ax_buf_addc(out, ']');
}

static void show_task_filter(struct ax_buf *out, const struct ax_task_filter *f)
{
	ax_buf_adds(out, "{\"group_key\":");
	show_text(out, f->group_key);
	ax_buf_adds(out, ",\"task_name\":");
	show_text(out, f->task_name);
	ax_buf_adds(out, ",\"calendar\":");
	show_text(out, f->calendar);
	ax_buf_adds(out, ",\"q\":");
	show_text(out, f->q);
	ax_buf_printf(out, ",\"status\":%d,\"task_type\":%d,\"after_id\":\"%" PRId64 "\",\"limit\":%d}", f->status,
		f->task_type, f->after_id, f->limit);
}

static void show_run_filter(struct ax_buf *out, const struct ax_run_filter *f)
{
	ax_buf_adds(out, "{\"group_key\":");
	show_text(out, f->group_key);
	ax_buf_adds(out, ",\"worker\":");
	show_text(out, f->worker);
	ax_buf_printf(out,
		",\"task_id\":\"%" PRId64 "\",\"backfill_id\":\"%" PRId64 "\",\"statuses\":%" PRIu32
		",\"kind\":%d,\"from_time\":\"%" PRId64 "\",\"to_time\":\"%" PRId64
		"\",\"live\":%d,\"before_gid\":\"%" PRId64 "\",\"limit\":%d,\"scan_limit\":%d}",
		f->task_id, f->backfill_id, f->statuses, f->kind, f->from_time, f->to_time, f->live, f->before_gid,
		f->limit, f->scan_limit);
}

static void show_alert_filter(struct ax_buf *out, const struct ax_alert_filter *f)
{
	ax_buf_adds(out, "{\"group_key\":");
	show_text(out, f->group_key);
	ax_buf_printf(out,
		",\"task_id\":\"%" PRId64 "\",\"rule\":%d,\"state\":%d,\"before_id\":\"%" PRId64
		"\",\"limit\":%d,\"scan_limit\":%d}",
		f->task_id, f->rule, f->state, f->before_id, f->limit, f->scan_limit);
}

static void show_failure_filter(struct ax_buf *out, const struct ax_failure_filter *f)
{
	ax_buf_adds(out, "{\"group_key\":");
	show_text(out, f->group_key);
	ax_buf_adds(out, ",\"worker\":");
	show_text(out, f->worker);
	ax_buf_adds(out, ",\"q\":");
	show_text(out, f->q);
	ax_buf_printf(out,
		",\"state\":%d,\"now\":\"%" PRId64 "\",\"task_id\":\"%" PRId64 "\",\"before_time\":\"%" PRId64
		"\",\"before_id\":\"%" PRId64 "\",\"limit\":%d,\"scan_limit\":%d}",
		f->state, f->now, f->task_id, f->before_time, f->before_id, f->limit, f->scan_limit);
}

#define SHOW_IN_I64(v) show_i64(out, v)
#define SHOW_IN_INT(v) show_int(out, v)
#define SHOW_IN_BOOL(v) show_int(out, v)
#define SHOW_IN_STATE(v) show_text(out, ax_run_state_name(v))
#define SHOW_IN_KIND(v) show_int(out, (int)(v))
#define SHOW_IN_LANE(v) show_int(out, (int)(v))
#define SHOW_IN_TEXT(v) show_text(out, v)
#define SHOW_IN_IDS(v) show_ids(out, v)
#define SHOW_IN_NAMES(v) show_names(out, v)
#define SHOW_IN_SECRET(v) show_text(out, "***")
#define SHOW_IN_TASK_FILTER(v) show_task_filter(out, v)
#define SHOW_IN_RUN_FILTER(v) show_run_filter(out, v)
#define SHOW_IN_TASK(v) ax_row_print(&ax_task_row, v, out)
#define SHOW_IN_TASK_VERSION(v) ax_row_print(&ax_task_version_row, v, out)
#define SHOW_IN_EPOCH(v) ax_row_print(&ax_epoch_row, v, out)
#define SHOW_IN_RUN(v) ax_row_print(&ax_run_row, v, out)
#define SHOW_IN_ATTEMPT(v) ax_row_print(&ax_attempt_row, v, out)
#define SHOW_IN_OUTPUT(v) ax_row_print(&ax_output_row, v, out)
#define SHOW_IN_GROUP(v) ax_row_print(&ax_group_row, v, out)
#define SHOW_IN_WORKER(v) ax_row_print(&ax_worker_row, v, out)
#define SHOW_IN_WORKER_GROUP(v) ax_row_print(&ax_worker_group_row, v, out)
#define SHOW_IN_SERVER(v) ax_row_print(&ax_server_row_row, v, out)
#define SHOW_IN_LEASE(v) ax_row_print(&ax_lease_row, v, out)
#define SHOW_IN_USER(v) ax_row_print(&ax_user_row, v, out)
#define SHOW_IN_TOKEN(v) ax_row_print(&ax_token_row, v, out)
#define SHOW_IN_AUDIT(v) ax_row_print(&ax_audit_row, v, out)
#define SHOW_IN_IDEM(v) ax_row_print(&ax_idem_row, v, out)
#define SHOW_IN_RULE(v) show_text(out, ax_alert_rule_name(v))
#define SHOW_IN_ALERT_FILTER(v) show_alert_filter(out, v)
#define SHOW_IN_EVENT(v) ax_row_print(&ax_event_row, v, out)
#define SHOW_IN_EVENT_TASK(v) ax_row_print(&ax_event_task_row, v, out)
#define SHOW_IN_CANARY(v) ax_row_print(&ax_canary_row, v, out)
#define SHOW_IN_UPSTREAM(v) ax_row_print(&ax_upstream_row, v, out)
#define SHOW_IN_RUN_UPSTREAM(v) ax_row_print(&ax_run_upstream_row, v, out)
#define SHOW_IN_CHANNEL(v) ax_row_print(&ax_channel_row, v, out)
#define SHOW_IN_ALERT(v) ax_row_print(&ax_alert_row, v, out)
#define SHOW_IN_DELIVERY(v) ax_row_print(&ax_delivery_row, v, out)
#define SHOW_IN_CALENDAR(v) ax_row_print(&ax_calendar_row_row, v, out)
#define SHOW_IN_CALENDAR_VERSION(v) ax_row_print(&ax_calendar_version_row, v, out)
#define SHOW_IN_BACKFILL(v) ax_row_print(&ax_backfill_row, v, out)
#define SHOW_IN_NOTICE(v) ax_row_print(&ax_notice_row, v, out)
#define SHOW_IN_ENDED_MINUTE(v) ax_row_print(&ax_ended_minute_row, v, out)
#define SHOW_OUT_I64(v) show_i64(out, *(v))
#define SHOW_OUT_INT(v) show_int(out, *(v))
#define SHOW_OUT_DUES(v) show_rows(out, &ax_due_row, (v)->at, (v)->n)
#define SHOW_OUT_COUNTS(v) show_counts(out, v)
#define SHOW_OUT_TASK(v) ax_row_print(&ax_task_row, v, out)
#define SHOW_OUT_TASK_VERSION(v) ax_row_print(&ax_task_version_row, v, out)
#define SHOW_OUT_RUN(v) ax_row_print(&ax_run_row, v, out)
#define SHOW_OUT_ATTEMPT(v) ax_row_print(&ax_attempt_row, v, out)
#define SHOW_OUT_GROUP(v) ax_row_print(&ax_group_row, v, out)
#define SHOW_OUT_WORKER(v) ax_row_print(&ax_worker_row, v, out)
#define SHOW_OUT_WORKER_GROUP(v) ax_row_print(&ax_worker_group_row, v, out)
#define SHOW_OUT_SERVER(v) ax_row_print(&ax_server_row_row, v, out)
#define SHOW_OUT_LEASE(v) ax_row_print(&ax_lease_row, v, out)
#define SHOW_OUT_LEASES(v) show_rows(out, &ax_lease_row, (v)->at, (v)->n)
#define SHOW_OUT_USER(v) ax_row_print(&ax_user_row, v, out)
#define SHOW_OUT_TOKEN(v) ax_row_print(&ax_token_row, v, out)
#define SHOW_OUT_IDEM(v) ax_row_print(&ax_idem_row, v, out)
#define SHOW_OUT_TASKS(v) show_rows(out, &ax_task_row, (v)->at, (v)->n)
#define SHOW_OUT_TASK_VERSIONS(v) show_rows(out, &ax_task_version_row, (v)->at, (v)->n)
#define SHOW_OUT_EPOCHS(v) show_rows(out, &ax_epoch_row, (v)->at, (v)->n)
#define SHOW_OUT_RUNS(v) show_rows(out, &ax_run_row, (v)->at, (v)->n)
#define SHOW_OUT_ATTEMPTS(v) show_rows(out, &ax_attempt_row, (v)->at, (v)->n)
#define SHOW_OUT_OUTPUTS(v) show_rows(out, &ax_output_row, (v)->at, (v)->n)
#define SHOW_OUT_GROUPS(v) show_rows(out, &ax_group_row, (v)->at, (v)->n)
#define SHOW_OUT_WORKERS(v) show_rows(out, &ax_worker_row, (v)->at, (v)->n)
#define SHOW_OUT_WORKER_GROUPS(v) show_rows(out, &ax_worker_group_row, (v)->at, (v)->n)
#define SHOW_OUT_SERVERS(v) show_rows(out, &ax_server_row_row, (v)->at, (v)->n)
#define SHOW_OUT_TOKENS(v) show_rows(out, &ax_token_row, (v)->at, (v)->n)
#define SHOW_OUT_AUDITS(v) show_rows(out, &ax_audit_row, (v)->at, (v)->n)
#define SHOW_OUT_ENDED_MINUTES(v) show_rows(out, &ax_ended_minute_row, (v)->at, (v)->n)
#define SHOW_OUT_NOTICES(v) show_rows(out, &ax_notice_row, (v)->at, (v)->n)
#define SHOW_OUT_EVENT(v) ax_row_print(&ax_event_row, v, out)
#define SHOW_OUT_EVENTS(v) show_rows(out, &ax_event_row, (v)->at, (v)->n)
#define SHOW_OUT_EVENT_TASKS(v) show_rows(out, &ax_event_task_row, (v)->at, (v)->n)
#define SHOW_OUT_CANARY(v) ax_row_print(&ax_canary_row, v, out)
#define SHOW_OUT_UPSTREAMS(v) show_rows(out, &ax_upstream_row, (v)->at, (v)->n)
#define SHOW_OUT_RUN_UPSTREAMS(v) show_rows(out, &ax_run_upstream_row, (v)->at, (v)->n)
#define SHOW_OUT_RUN_TOLDS(v) show_rows(out, &ax_run_told_row, (v)->at, (v)->n)
#define SHOW_OUT_CHANNEL(v) ax_row_print(&ax_channel_row, v, out)
#define SHOW_OUT_ALERT(v) ax_row_print(&ax_alert_row, v, out)
#define SHOW_OUT_DELIVERY(v) ax_row_print(&ax_delivery_row, v, out)
#define SHOW_OUT_CHANNELS(v) show_rows(out, &ax_channel_row, (v)->at, (v)->n)
#define SHOW_OUT_ALERTS(v) show_rows(out, &ax_alert_row, (v)->at, (v)->n)
#define SHOW_OUT_DELIVERIES(v) show_rows(out, &ax_delivery_row, (v)->at, (v)->n)
#define SHOW_IN_FAILURE(v) ax_row_print(&ax_failure_row, v, out)
#define SHOW_IN_FAILURE_FILTER(v) show_failure_filter(out, v)
#define SHOW_IN_FAILURE_GROUP(v) ax_row_print(&ax_failure_group_row, v, out)
#define SHOW_IN_FAILURE_SPREAD(v) ax_row_print(&ax_failure_spread_row, v, out)
#define SHOW_IN_FAILURE_HOUR(v) ax_row_print(&ax_failure_hour_row, v, out)
#define SHOW_OUT_FAILURE(v) ax_row_print(&ax_failure_row, v, out)
#define SHOW_OUT_FAILURE_GROUP(v) ax_row_print(&ax_failure_group_row, v, out)
#define SHOW_OUT_FAILURES(v) show_rows(out, &ax_failure_row, (v)->at, (v)->n)
#define SHOW_OUT_FAILURE_GROUPS(v) show_rows(out, &ax_failure_group_row, (v)->at, (v)->n)
#define SHOW_OUT_FAILURE_SPREADS(v) show_rows(out, &ax_failure_spread_row, (v)->at, (v)->n)
#define SHOW_OUT_FAILURE_HOURS(v) show_rows(out, &ax_failure_hour_row, (v)->at, (v)->n)
#define SHOW_OUT_CALENDAR(v) ax_row_print(&ax_calendar_row_row, v, out)
#define SHOW_OUT_CALENDAR_VERSION(v) ax_row_print(&ax_calendar_version_row, v, out)
#define SHOW_OUT_CALENDARS(v) show_rows(out, &ax_calendar_row_row, (v)->at, (v)->n)
#define SHOW_OUT_CALENDAR_VERSIONS(v) show_rows(out, &ax_calendar_version_row, (v)->at, (v)->n)
#define SHOW_OUT_BACKFILL(v) ax_row_print(&ax_backfill_row, v, out)
#define SHOW_OUT_BACKFILLS(v) show_rows(out, &ax_backfill_row, (v)->at, (v)->n)

static struct ax_buf *begin_op(struct trace_tx *t, const char *op)
{
	struct ax_buf *out = &t->trace->line;
	ax_buf_clear(out);
	ax_buf_printf(out, "\"tx\":%" PRId64 ",\"op\":\"%s\",\"in\":{", t->trace->transactions, op);
	return out;
}

static void tell(struct ax_trace_store *trace, const char *event)
{
	const char *fields = trace->line.overflow ? "\"cut\":true" : trace->line.data;
	trace->log->ops->event(trace->log, AX_LOG_DEBUG, event, fields);
}

#define IN(type, name) (ax_buf_printf(out, "%s\"%s\":", (n++ == 0 ? "" : ","), #name), SHOW_IN_##type(name));
#define OUT(type, name) (ax_buf_printf(out, "%s\"%s\":", (n++ == 0 ? "" : ","), #name), SHOW_OUT_##type(ret_##name));
#define NOTHING(type, name)
#define OP(op)                                                                                                         \
	static enum ax_status trace_##op(struct ax_tx *tx AX_TX_PARAMS(op), struct ax_err *err)                        \
	{                                                                                                              \
		struct trace_tx *t = (struct trace_tx *)(void *)tx;                                                    \
		struct ax_buf *out = begin_op(t, #op);                                                                 \
		int n = 0;                                                                                             \
		AX_ARGS_##op(IN, NOTHING) enum ax_status status = t->inner->ops->op(t->inner AX_TX_PASS(op), err);     \
		ax_buf_printf(out, "},\"status\":\"%s\",\"out\":{", ax_status_code(status));                           \
		n = 0;                                                                                                 \
		if (status == AX_OK) {                                                                                 \
			AX_ARGS_##op(NOTHING, OUT)                                                                     \
		}                                                                                                      \
		(void)n;                                                                                               \
		ax_buf_addc(out, '}');                                                                                 \
		tell(t->trace, "store.op");                                                                            \
		return status;                                                                                         \
	}
AX_TX_OPS(OP)
#undef OP

static const struct ax_tx_ops ops = {
#define OP(op) .op = trace_##op,
	AX_TX_OPS(OP)
#undef OP
};

static enum ax_status call(struct ax_tx *inner, void *arg, struct ax_err *err)
{
	struct trace_tx *t = arg;
	struct ax_buf *out = &t->trace->line;
	ax_buf_clear(out);
	ax_buf_printf(out, "\"tx\":%" PRId64, ++t->trace->transactions);
	tell(t->trace, "store.begin");
	t->tx = (struct ax_tx){ &ops, inner->arena };
	t->inner = inner;
	return t->fn(&t->tx, t->arg, err);
}

static enum ax_status run(struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_trace_store *trace = (struct ax_trace_store *)(void *)store;
	struct trace_tx t = { .trace = trace, .fn = fn, .arg = arg };
	enum ax_status status = ax_store_run(trace->inner, arena, call, &t, err);
	ax_buf_clear(&trace->line);
	ax_buf_printf(
		&trace->line, "\"tx\":%" PRId64 ",\"status\":\"%s\"", trace->transactions, ax_status_code(status));
	tell(trace, "store.end");
	return status;
}

static const struct ax_store_ops store_ops = { run };

void ax_trace_store_init(struct ax_trace_store *trace, struct ax_store *inner, struct ax_log *log)
{
	memset(trace, 0, sizeof(*trace));
	trace->store.ops = &store_ops;
	trace->store.sole = inner->sole;
	trace->inner = inner;
	trace->log = log;
	ax_buf_init(&trace->line, LINE_BYTES);
}

void ax_trace_store_done(struct ax_trace_store *trace)
{
	ax_buf_done(&trace->line);
}
