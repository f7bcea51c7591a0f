#include <stdio.h>
#include <string.h>
#include "cli/ctl.h"
#include "cli/due.h"
#include "cli/follow.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/value.h"

/* ---- list ---- */

static const struct ax_opt list_opts[] = {
	{ "task", NULL, "TASK", "only of this task (id, GROUP/NAME, NAME)" },
	{ "group", "group-key", "G", "only of this group" },
	{ "status", NULL, "A,B", "only in these states" },
	{ "kind", NULL, "K", "schedule, miss, delay, event, manual, chain" },
	{ "worker", NULL, "W", "only on this worker" },
	{ "parent", NULL, "GID", "the shards of this run" },
	{ "backfill", NULL, "ID", "only of this backfill" },
	{ "batch", NULL, "B", "all that one root fire began, along its chains (the batch of a run)" },
	{ "from", NULL, "TIME", "due at or after (RFC 3339, -24h)" },
	{ "to", NULL, "TIME", "due before" },
	{ "failure", NULL, "ID", "only of this failure group" },
	{ "live", NULL, NULL, "only those that have not ended" },
	AX_CTL_LIMIT,
	{ 0 },
};

static const char *time_opt(struct ax_ctl *ctl, const char *name, int *code)
{
	int64_t ms = -1;
	if (*code == AX_EXIT_OK)
		*code = ax_ctl_opt_time(ctl, name, &ms);
	return ms >= 0 ? ax_sprintf(&ctl->arena, "%lld", (long long)ms) : NULL;
}

static int list_path(struct ax_ctl *ctl, struct ax_buf *path)
{
	const char *operand = ax_args_get(&ctl->args, "task"), *task_id = NULL;
	int code = AX_EXIT_OK;
	if (operand != NULL) {
		json_t *task = NULL;
		code = ax_ctl_task(ctl, operand, &task);
		if (code == AX_EXIT_OK)
			task_id = ax_strdup(&ctl->arena, ax_json_text(&ctl->arena, task, "id"));
		json_decref(task);
	}
	const char *from = time_opt(ctl, "from", &code), *to = time_opt(ctl, "to", &code);
	ax_buf_adds(path, "/runs");
	ax_value_query(path, "task_id", task_id);
	ax_value_query(path, "group_key", ax_args_get(&ctl->args, "group"));
	ax_value_query(path, "status", ax_args_get(&ctl->args, "status"));
	ax_value_query(path, "kind", ax_args_get(&ctl->args, "kind"));
	ax_value_query(path, "worker", ax_args_get(&ctl->args, "worker"));
	ax_value_query(path, "parent", ax_args_get(&ctl->args, "parent"));
	ax_value_query(path, "backfill_id", ax_args_get(&ctl->args, "backfill"));
	ax_value_query(path, "batch", ax_args_get(&ctl->args, "batch"));
	ax_value_query(path, "from", from);
	ax_value_query(path, "to", to);
	ax_value_query(path, "failure_id", ax_args_get(&ctl->args, "failure"));
	ax_value_query(path, "live", ax_args_has(&ctl->args, "live") ? "true" : NULL);
	return code;
}

/* "exit 3", "lost": why a run stands where it does, in a word. */
static const char *why_of(struct ax_arena *arena, const json_t *run, const char *field)
{
	const char *reason = ax_json_text(arena, run, field), *code = ax_json_text(arena, run, "result_code");
	if (*reason == '\0')
		return ax_json_text(arena, run, "waiting_for");
	return *code != '\0' ? ax_sprintf(arena, "%s %s", reason, code) : reason;
}

/* "manual", "manual 3/8" for a shard. */
static const char *kind_of(struct ax_arena *arena, const json_t *run, const char *field)
{
	const json_t *shard = json_object_get(run, "shard");
	const char *kind = ax_json_text(arena, run, field);
	if (!json_is_object(shard))
		return kind;
	return ax_sprintf(
		arena, "%s %s/%s", kind, ax_json_text(arena, shard, "index"), ax_json_text(arena, shard, "total"));
}

/* The worker, or how many of its shards are done. */
static const char *place_of(struct ax_arena *arena, const json_t *run, const char *field)
{
	const json_t *shards = json_object_get(run, "shards");
	if (!json_is_object(shards))
		return ax_json_text(arena, run, field);
	return ax_sprintf(
		arena, "%s of %s done", ax_json_text(arena, shards, "done"), ax_json_text(arena, shards, "count"));
}

static const char *duration_of(struct ax_arena *arena, const json_t *run, const char *field)
{
	bool timed = json_is_integer(json_object_get(run, field));
	return timed ? ax_print_duration(arena, ax_json_int(run, field)) : "";
}

static const struct ax_column list_columns[] = {
	{ ">GID", "gid", NULL },
	{ "TASK", "task_name", ax_json_task },
	{ "KIND", "kind", kind_of },
	{ "DUE", "trigger_time", ax_json_time },
	{ "STATUS", "status", NULL },
	{ "WHY", "reason", why_of },
	{ ">TRY", "attempt", NULL },
	{ ">TOOK", "duration_ms", duration_of },
	{ "WORKER", "worker", place_of },
	{ 0 },
};

static int list(struct ax_ctl *ctl)
{
	int64_t limit;
	int code = ax_ctl_opt_limit(ctl, &limit);
	if (code != AX_EXIT_OK)
		return code;
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	code = list_path(ctl, &path);
	if (code == AX_EXIT_OK)
		code = ax_report_list(ctl, path.data, limit, list_columns);
	ax_buf_done(&path);
	return code;
}

/* ---- show ---- */

/* Operand 0, checked to be a gid. */
static int gid_of(struct ax_ctl *ctl, const char **ret)
{
	const char *gid = ctl->args.operands[0];
	if (*gid == '\0' || gid[strspn(gid, "0123456789")] != '\0')
		return ax_ctl_fail(AX_EXIT_USAGE, "GID", "\"%s\" is no run id; `axctl run list` shows them", gid);
	*ret = gid;
	return AX_EXIT_OK;
}

static const struct ax_column attempt_columns[] = {
	{ ">TRY", "attempt", NULL },
	{ ">FENCE", "fence", NULL },
	{ "WORKER", "worker", NULL },
	{ "STARTED", "start_time", ax_json_time },
	{ "ENDED", "end_time", ax_json_time },
	{ "OUTCOME", "outcome", NULL },
	{ ">CODE", "code", NULL },
	{ "MESSAGE", "message", NULL },
	{ 0 },
};

static const struct ax_column timeline_columns[] = {
	{ "TIME", "time", ax_json_time },
	{ "EVENT", "event", NULL },
	{ "WHAT", "text", NULL },
	{ 0 },
};

/* Of a run with shards those that did not succeed, or not yet. */
static int print_shards(struct ax_ctl *ctl, const json_t *run)
{
	static const char others[] = "PENDING,WAITING,DISPATCHED,RUNNING,RETRYING,FAILED,TIMEOUT,CANCELLED";
	json_t *answer = NULL;
	const char *gid = ax_json_text(&ctl->arena, run, "gid");
	if (!json_is_object(json_object_get(run, "shards")))
		return AX_EXIT_OK;
	int code = ax_client_call(&ctl->client, "GET",
		ax_sprintf(&ctl->arena, "/runs?parent=%s&status=%s&limit=20", gid, others), NULL, &answer);
	if (code != AX_EXIT_OK)
		return code;
	ax_report_rows("shards that did not succeed, or not yet", json_object_get(answer, "items"), list_columns);
	if (json_is_string(json_object_get(answer, "next")))
		printf("… there are more: axctl run list --parent %s\n", gid);
	json_decref(answer);
	return AX_EXIT_OK;
}

static int show(struct ax_ctl *ctl)
{
	const char *gid;
	json_t *run = NULL;
	int code = gid_of(ctl, &gid);
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "GET", ax_sprintf(&ctl->arena, "/runs/%s", gid), NULL, &run);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, run);
	} else if (code == AX_EXIT_OK) {
		json_t *plain = json_copy(run);
		json_object_del(plain, "attempts");
		json_object_del(plain, "timeline");
		ax_report_object(ctl, plain);
		json_decref(plain);
		ax_report_rows("attempts", json_object_get(run, "attempts"), attempt_columns);
		code = print_shards(ctl, run);
		ax_report_rows("timeline", json_object_get(run, "timeline"), timeline_columns);
	}
	json_decref(run);
	return code;
}

/* ---- log ---- */

static const struct ax_opt log_opts[] = {
	{ "follow", "f", NULL, "go on until the run ends; exit 1 unless it succeeds" },
	{ "fence", NULL, "N", "only of the attempt with this fence" },
	{ 0 },
};

static int print_log(struct ax_ctl *ctl)
{
	const char *gid;
	int64_t fence = -1;
	int code = gid_of(ctl, &gid);
	if (code == AX_EXIT_OK)
		code = ax_ctl_opt_i64(ctl, "fence", 0, INT64_MAX, &fence);
	if (code != AX_EXIT_OK)
		return code;
	if (ax_args_has(&ctl->args, "follow"))
		return ax_follow_run(ctl, gid);
	return ax_follow_print_once(ctl, gid, fence);
}

/* ---- cancel, retry, rerun, resolve ---- */

static const struct ax_opt cancel_opts[] = {
	{ "reason", NULL, "TEXT", "why; shown with the run" },
	{ "wait", NULL, NULL, "wait until it has ended, as long as it takes" },
	AX_CTL_WAIT_SECONDS,
	{ 0 },
};
static const struct ax_opt retry_opts[] = {
	{ "reason", NULL, "TEXT", "why; kept in the log of changes" },
	{ "wait", NULL, NULL, "wait for its end, as long as it takes; exit 1 unless it succeeds" },
	AX_CTL_WAIT_SECONDS,
	{ 0 },
};
static const struct ax_opt rerun_opts[] = {
	{ "failed-only", NULL, NULL, "of a run with shards only those that did not succeed" },
	{ "reason", NULL, "TEXT", "why; kept in the log of changes" },
	{ "wait", NULL, NULL, "wait for its end, as long as it takes; exit 1 unless it succeeds" },
	AX_CTL_WAIT_SECONDS,
	{ 0 },
};
static const struct ax_opt resolve_opts[] = {
	{ "note", NULL, "TEXT", "why; kept with the run" },
	{ 0 },
};

static const struct ax_opt change_opts[] = { AX_DUE_OPTS, { 0 } };

static int change(struct ax_ctl *ctl)
{
	const char *gid;
	json_t *body = NULL, *run = NULL;
	int code = gid_of(ctl, &gid);
	if (code == AX_EXIT_OK)
		code = ax_due_body(ctl, &body);
	if (code == AX_EXIT_OK && json_object_size(body) == 0) {
		json_decref(body);
		return ax_ctl_fail(AX_EXIT_USAGE, "", "nothing to change: give --at, --delay or --params");
	}
	if (code == AX_EXIT_OK)
		code = ax_client_call(&ctl->client, "PATCH", ax_sprintf(&ctl->arena, "/runs/%s", gid), body, &run);
	if (code == AX_EXIT_OK)
		ax_report_run_line(ctl, run);
	json_decref(run);
	return code;
}

static int act(struct ax_ctl *ctl, const char *word, json_t *body, json_t **ret)
{
	const char *gid;
	int code = gid_of(ctl, &gid);
	if (code != AX_EXIT_OK) {
		json_decref(body);
		return code;
	}
	return ax_client_call(&ctl->client, "POST", ax_sprintf(&ctl->arena, "/runs/%s/%s", gid, word), body, ret);
}

static int act_and_report(struct ax_ctl *ctl, const char *word, json_t *body)
{
	json_t *run = NULL;
	int64_t wait_ms;
	int code = ax_ctl_opt_wait(ctl, &wait_ms);
	if (code != AX_EXIT_OK) {
		json_decref(body);
		return code;
	}
	code = act(ctl, word, body, &run);
	if (code == AX_EXIT_OK)
		code = ax_report_run(ctl, run, wait_ms);
	json_decref(run);
	return code;
}

static int cancel(struct ax_ctl *ctl)
{
	int code = act_and_report(ctl, "cancel", ax_ctl_reason(ctl));
	return code == AX_EXIT_NO ? AX_EXIT_OK : code; /* that it ended otherwise than in success was the wish */
}

static int retry(struct ax_ctl *ctl)
{
	return act_and_report(ctl, "retry", ax_ctl_reason(ctl));
}

static int rerun(struct ax_ctl *ctl)
{
	json_t *body = ax_ctl_reason(ctl);
	if (ax_args_has(&ctl->args, "failed-only"))
		json_object_set_new(body, "failed_only", json_true());
	return act_and_report(ctl, "rerun", body);
}

static int resolve(struct ax_ctl *ctl)
{
	const char *note = ax_args_get(&ctl->args, "note");
	json_t *body = json_pack("{s:s}", "action", ctl->args.operands[1]), *answer = NULL;
	if (note != NULL)
		json_object_set_new(body, "note", json_string(note));
	int code = act(ctl, "resolve", body, &answer);
	if (code == AX_EXIT_OK && ctl->json) {
		ax_print_json(stdout, answer);
	} else if (code == AX_EXIT_OK) {
		ax_report_run_line(ctl, json_object_get(answer, "run"));
		size_t i;
		const json_t *run;
		json_array_foreach(json_object_get(answer, "runs"), i, run) ax_report_run_line(ctl, run);
	}
	json_decref(answer);
	return code;
}

const struct ax_verb ax_run_verbs[] = {
	{ "list", "", 0, 0, "runs, newest first", list_opts, list, false },
	{ "show", "GID", 1, 1, "one run with its attempts and what happened when", NULL, show, false },
	{ "log", "GID", 1, 1, "what it printed, of a run with shards what each of them did", log_opts, print_log,
		false },
	{ "change", "GID", 1, 1, "another time or other parameters for a delayed run that is not due yet", change_opts,
		change, false },
	{ "cancel", "GID", 1, 1, "stop it", cancel_opts, cancel, false },
	{ "retry", "GID", 1, 1, "try a RETRYING run now", retry_opts, retry, false },
	{ "rerun", "GID", 1, 1, "make a new run of one that has ended", rerun_opts, rerun, false },
	{ "resolve", "GID run|run_all|dismiss", 2, 2, "decide about a MISSED run", resolve_opts, resolve, false },
	{ 0 },
};
