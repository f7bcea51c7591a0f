#include "cli/ctl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/num.h"
#include "cli/file.h"
#include "cli/print.h"
#include "cli/value.h"

int ax_ctl_fail(int code, const char *field, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	fputs("axctl: ", stderr);
	if (*field != '\0')
		fprintf(stderr, "%s: ", field);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	return code;
}

int ax_ctl_opt_i64(const struct ax_ctl *ctl, const char *name, int64_t min, int64_t max, int64_t *ret)
{
	const char *value = ax_args_get(&ctl->args, name);
	if (value == NULL || ax_parse_i64(value, strlen(value), min, max, ret))
		return AX_EXIT_OK;
	return ax_ctl_fail(
		AX_EXIT_USAGE, name, "\"%s\" is no whole number from %" PRId64 " to %" PRId64, value, min, max);
}

int ax_ctl_opt_limit(const struct ax_ctl *ctl, int64_t *ret)
{
	*ret = ctl->json ? 0 : 50;
	return ax_ctl_opt_i64(ctl, "limit", 0, 1000000000, ret);
}

int64_t ax_ctl_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int ax_ctl_opt_time(const struct ax_ctl *ctl, const char *name, int64_t *ret_ms)
{
	const char *value = ax_args_get(&ctl->args, name);
	if (value == NULL || ax_value_time(value, ax_ctl_now_ms(), ret_ms))
		return AX_EXIT_OK;
	return ax_ctl_fail(AX_EXIT_USAGE, name,
		"\"%s\" is no time; write RFC 3339 (2026-12-01T02:00:00Z), \"now\", or a distance such as -24h or +10m",
		value);
}

int ax_ctl_opt_duration(const struct ax_ctl *ctl, const char *name, int64_t *ret_ms)
{
	const char *value = ax_args_get(&ctl->args, name);
	if (value == NULL || ax_value_duration(value, ret_ms))
		return AX_EXIT_OK;
	return ax_ctl_fail(
		AX_EXIT_USAGE, name, "\"%s\" is no duration; write it with units, as in 90s, 1h30m or 500ms", value);
}

int ax_ctl_read_file(struct ax_ctl *ctl, const char *path, size_t max_bytes, char **ret, size_t *ret_len)
{
	struct ax_err err;
	if (ax_file_read(&ctl->arena, path, max_bytes, ret, ret_len, &err) != AX_OK)
		return ax_ctl_fail(AX_EXIT_USAGE, "", "%s", err.msg);
	return AX_EXIT_OK;
}

int ax_ctl_json(struct ax_ctl *ctl, const char *field, const char *text, json_t **ret)
{
	char *read;
	size_t len = strlen(text);
	if (text[0] == '@' || strcmp(text, "-") == 0) {
		int code = ax_ctl_read_file(ctl, text + (text[0] == '@'), 32 << 20, &read, &len);
		if (code != AX_EXIT_OK)
			return code;
		text = read;
	}
	json_error_t bad;
	*ret = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &bad);
	if (*ret == NULL)
		return ax_ctl_fail(
			AX_EXIT_USAGE, field, "not JSON: line %d, column %d: %s", bad.line, bad.column, bad.text);
	return AX_EXIT_OK;
}

json_t *ax_ctl_reason(const struct ax_ctl *ctl)
{
	const char *reason = ax_args_get(&ctl->args, "reason");
	return reason != NULL ? json_pack("{s:s}", "reason", reason) : json_object();
}

/* ---- tasks by name ---- */

/* The one task of that name (and group, unless NULL). */
static int find_task(struct ax_ctl *ctl, const char *group, const char *name, json_t **ret_task)
{
	struct ax_buf path;
	ax_buf_init(&path, 65536);
	ax_buf_adds(&path, "/tasks");
	ax_value_query(&path, "group_key", group);
	ax_value_query(&path, "task_name", name);
	json_t *list = NULL;
	int code = ax_client_list(&ctl->client, path.data, 0, &list);
	ax_buf_done(&path);
	if (code != AX_EXIT_OK)
		return code;
	const json_t *items = json_object_get(list, "items");
	if (json_array_size(items) == 1)
		*ret_task = json_incref(json_array_get(items, 0));
	else if (json_array_size(items) == 0)
		code = ax_ctl_fail(AX_EXIT_NOT_FOUND, "",
			"there is no task \"%s\" in %s%s; `axctl task list` shows all", name,
			group != NULL ? "group " : "any group", group != NULL ? group : "");
	else
		code = ax_ctl_fail(AX_EXIT_USAGE, "", "%zu groups have a task \"%s\": write GROUP/NAME",
			json_array_size(items), name);
	json_decref(list);
	return code;
}

int ax_ctl_task(struct ax_ctl *ctl, const char *operand, json_t **ret_task)
{
	size_t len = strlen(operand);
	if (len > 0 && strspn(operand, "0123456789") == len)
		return ax_client_call(
			&ctl->client, "GET", ax_sprintf(&ctl->arena, "/tasks/%s", operand), NULL, ret_task);
	const char *slash = strchr(operand, '/');
	size_t group_len = strspn(operand, "abcdefghijklmnopqrstuvwxyz0123456789._-");
	if (slash == NULL || operand + group_len != slash) /* "Back up /var": a name, not a group */
		return find_task(ctl, NULL, operand, ret_task);
	return find_task(ctl, ax_strndup(&ctl->arena, operand, group_len), slash + 1, ret_task);
}

/* ---- waiting for runs ---- */

bool ax_run_ended(const json_t *run)
{
	static const char *const live[] = { "PENDING", "WAITING", "DISPATCHED", "RUNNING", "RETRYING" };
	const char *status = json_string_value(json_object_get(run, "status"));
	for (size_t i = 0; status != NULL && i < AX_COUNT(live); i++)
		if (strcmp(status, live[i]) == 0)
			return false;
	return status != NULL;
}

int ax_ctl_opt_wait(const struct ax_ctl *ctl, int64_t *ret_ms)
{
	int64_t seconds = 0;
	int code = ax_ctl_opt_i64(ctl, "wait-seconds", 1, 31536000, &seconds);
	*ret_ms = seconds > 0 ? seconds * 1000 : ax_args_has(&ctl->args, "wait") ? INT64_MAX : 0;
	return code;
}

static int64_t monotonic_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int ax_ctl_wait(struct ax_ctl *ctl, const char *gid, int64_t limit_ms, json_t **ret_run)
{
	const char *path = ax_sprintf(&ctl->arena, "/runs/%s", gid);
	enum { LOOK_MS = 3000 }; /* also the last look gets the time that an answer may take */
	int64_t end_ms = ax_add_sat(monotonic_ms(), limit_ms), pause_ms = 50;
	for (;;) {
		json_t *run = NULL;
		ctl->client.limit_ms = AX_MAX(end_ms - monotonic_ms(), LOOK_MS);
		int code = ax_client_call(&ctl->client, "GET", path, NULL, &run);
		if (code != AX_EXIT_OK)
			return code;
		if (ax_run_ended(run)) {
			bool good = strcmp(ax_json_text(&ctl->arena, run, "status"), "SUCCESS") == 0;
			*ret_run = run;
			return good ? AX_EXIT_OK : AX_EXIT_NO;
		}
		int64_t left_ms = end_ms - monotonic_ms();
		if (left_ms <= 0) {
			*ret_run = run;
			return ax_ctl_fail(AX_EXIT_NOT_YET, "--wait-seconds", "the run has not ended yet; it goes on");
		}
		json_decref(run);
		pause_ms = AX_MIN(pause_ms, left_ms);
		struct timespec pause = { pause_ms / 1000, pause_ms % 1000 * 1000000 };
		nanosleep(&pause, NULL);
		pause_ms = AX_MIN(pause_ms * 2, 1000);
	}
}
