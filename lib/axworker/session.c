#include "worker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "sys/attempt_dir.h"
#include "sys/crash_point.h"

static const int64_t BACKOFF_FIRST_MS = 200;
static const int64_t BACKOFF_LAST_MS = 5000;

/* Heartbeats until a server of another store is asked again: it may have become the right one. */
enum { STRANGER_BEATS = 4 };

json_t *axw_hello(const struct axw *w)
{
	return json_pack("{s:s, s:s}", "worker", w->name, "incarnation", w->incarnation);
}

void axw_hello_write(const struct axw *w, struct ax_json *json)
{
	ax_json_str(json, "worker", w->name);
	ax_json_str(json, "incarnation", w->incarnation);
}

static void retry_now(uv_timer_t *timer)
{
	struct server *server = timer->data;
	for (int i = 0; i < AXW_POLLS_MAX; i++)
		server->polls[i].rests = false;
	if (server->registered)
		axw_session_poll(server->w);
	else
		axw_session_start(server);
}

static void retry_later(struct server *server, int64_t at_least_ms)
{
	server->backoff_ms = server->backoff_ms ? AX_MIN(2 * server->backoff_ms, BACKOFF_LAST_MS) : BACKOFF_FIRST_MS;
	int64_t wait = AX_MAX(axw_jitter(server->w, server->backoff_ms), at_least_ms);
	uv_timer_start(&server->retry, retry_now, (uint64_t)wait, 0);
}

/* A server that goes on refusing says so once: with each change, and how often that was until then. */
static void log_refusal(struct server *server, const char *event, int status, json_t *answer)
{
	char now[sizeof(server->refused)];
	const char *detail = json_string_value(json_object_get(answer, "detail"));
	if (!detail)
		detail = json_string_value(json_object_get(answer, "title"));
	snprintf(now, sizeof(now), "%s %d %s", event, status, detail ? detail : "");
	server->refusals++;
	if (strcmp(now, server->refused) == 0)
		return;
	memcpy(server->refused, now, sizeof(now));
	axw_log_json(server->w, AXW_WARN, event,
		json_pack("{s:s, s:i, s:s*, s:i}", "url", server->url, "http_status", status, "detail", detail, "times",
			server->refusals));
}

static void forget_refusals(struct server *server)
{
	server->refused[0] = 0;
	server->refusals = 0;
}

static bool is_superseded(int status, json_t *answer)
{
	const char *code = json_string_value(json_object_get(answer, "code"));
	return status == 409 && (!code || strcmp(code, "superseded") == 0);
}

/* ---- registration */

/* Everything that this worker still executes or has results of. */
static json_t *list_running(const struct axw *w)
{
	json_t *list = json_array();
	for (struct axw_attempt *a = w->attempts; a; a = a->hh.next) {
		if (!a->forget)
			json_array_append_new(
				list, json_pack("{s:s, s:I}", "gid", a->gid_text, "fence", (json_int_t)a->id.fence));
	}
	return list;
}

static json_t *registration(const struct axw *w)
{
	json_t *body = axw_hello(w);
	json_t *groups = json_array();
	for (int i = 0; i < w->n_groups; i++)
		json_array_append_new(groups,
			w->groups[i].pool_size > 0 ? json_pack("{s:s, s:i}", "group", w->groups[i].name, "pool_size",
							     w->groups[i].pool_size)
						   : json_pack("{s:s}", "group", w->groups[i].name));
	json_t *executors = json_array();
	for (const struct executor *e = w->executors; e; e = e->hh.next)
		json_array_append_new(executors, json_string(e->key));
	json_object_set_new(body, "groups", groups);
	json_object_set_new(body, "executors", executors);
	json_object_set(body, "tags", w->tags);
	json_object_set_new(body, "version", json_string(w->version));
	json_object_set_new(body, "running", list_running(w));
	return body;
}

/* A rotated token is found without a restart. */
static void read_token(struct axw *w)
{
	char text[4096];
	if (!w->token_file)
		return;
	int fd = open(w->token_file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	text[n] = 0;
	text[strcspn(text, "\r\n \t")] = 0;
	free(w->token);
	w->token = ax_strdup_heap(text);
}

static int64_t integer(json_t *answer, const char *name, int64_t min, int64_t max, int64_t otherwise)
{
	json_t *value = json_object_get(answer, name);
	if (!json_is_integer(value))
		return otherwise;
	return AX_MAX(min, AX_MIN(max, (int64_t)json_integer_value(value)));
}

static void read_durations(struct axw *w, json_t *answer)
{
	w->heartbeat_ms = integer(answer, "heartbeat_ms", 50, 60000, 15000);
	w->start_within_ms = integer(answer, "start_within_ms", 50, 60000, 12000);
	w->unreachable_ms = integer(answer, "unreachable_ms", 100, 600000, 35000);
	w->poll_wait_ms = integer(answer, "poll_wait_ms", 0, 5000, 5000);
}

/* Pools that were left to the groups. */
static void read_pools(struct axw *w, json_t *answer)
{
	size_t i;
	json_t *group;
	json_array_foreach(json_object_get(answer, "groups"), i, group)
	{
		const char *name = json_string_value(json_object_get(group, "group"));
		for (int g = 0; name && g < w->n_groups; g++) {
			struct group *own = &w->groups[g];
			if (own->pool_size == 0 && strcmp(own->name, name) == 0)
				own->pool_size = (int)integer(group, "pool_size", 1, AXW_POOL_MAX, AXW_POOL_PRESET);
		}
	}
	for (int g = 0; g < w->n_groups; g++)
		if (w->groups[g].pool_size == 0)
			w->groups[g].pool_size = AXW_POOL_PRESET;
}

static void make_heartbeats_due(struct axw *w)
{
	w->beat_ms = ax_boottime_ms();
	for (struct axw_attempt *a = w->attempts; a; a = a->hh.next) {
		if (a->state == QUEUED || a->state == CONFIRMING || a->state == RUNNING) {
			a->heartbeat_due = true;
			axw_report_mark(a);
		}
	}
}

static void beat(uv_timer_t *timer)
{
	struct axw *w = timer->data;
	make_heartbeats_due(w);
	axw_tell_beat(w);
}

/* A worker that no server ever took, and that all of them refuse, has nothing to wait for. */
static bool is_refused_by_all(const struct axw *w)
{
	for (int i = 0; i < w->n_servers; i++)
		if (w->servers[i].refusal == 0)
			return false;
	return !w->registered_once;
}

static void not_registered(struct server *server, int status, json_t *answer, int64_t retry_after_ms)
{
	struct axw *w = server->w;
	if (status)
		log_refusal(server, "registration_refused", status, answer);
	server->refusal = status == 400 || status == 401 || status == 403 ? status : 0;
	if (is_refused_by_all(w))
		axw_end_now(w, status == 400 ? AXW_END_INVALID : AXW_END_DENIED);
	else
		retry_later(server, retry_after_ms);
}

/* What the server has to stop, of an answer that was read as a tree. */
static void take_stops(struct axw *w, json_t *answer)
{
	json_t *stops = json_object_get(answer, "stop");
	char *text = stops ? json_dumps(stops, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	if (text)
		axw_report_stops(w, ax_look(text));
	free(text);
}

/* Which store is this worker's: that of what it holds, else of the first server that told. Those that do not tell are
 * believed to be of the same. */
static bool is_of_own_store(struct server *server, int status, json_t *answer)
{
	struct axw *w = server->w;
	const char *code = json_string_value(json_object_get(answer, "code"));
	const char *store_id = json_string_value(json_object_get(answer, "store_id"));
	if (status == 409)
		return !code || strcmp(code, "other_store") != 0;
	if (status != 200 || !store_id || !axw_is_name(store_id))
		return true;
	if (w->store_id[0] == '\0') {
		snprintf(w->store_id, sizeof(w->store_id), "%s", store_id);
		w->store_teller = server;
	}
	return strcmp(w->store_id, store_id) == 0;
}

static void log_stranger(const struct server *server)
{
	struct axw *w = server->w;
	if (w->store_teller)
		axw_log_json(w, AXW_ERROR, "other_store",
			json_pack("{s:s, s:s, s:s}", "url", server->url, "own_url", w->store_teller->url, "error",
				"these are servers of different databases; this one is left alone: take it out of "
				"--server, or, if it is the right one, take the other out and start again"));
	else
		axw_log_json(w, AXW_ERROR, "other_store",
			json_pack("{s:s, s:s, s:s}", "url", server->url, "state", w->state_dir, "error",
				"the spool in the state folder holds results for another database than this server's; "
				"this server is left alone: name servers of the former, or, to give these results up, "
				"start with another state folder"));
}

/* It has runs of its own under the gids of this worker's: it is neither asked for runs nor told anything. */
static void leave_stranger(struct server *server)
{
	struct axw *w = server->w;
	if (!server->stranger)
		log_stranger(server);
	server->stranger = true;
	server->refusal = 409;
	if (is_refused_by_all(w))
		axw_end_now(w, AXW_END_INVALID);
	else
		uv_timer_start(&server->retry, retry_now, (uint64_t)(STRANGER_BEATS * w->heartbeat_ms), 0);
}

static void registered(struct axw *w, struct server *server, int status, const struct axw_answer *given,
	int64_t retry_after_ms, int64_t sent_ms, void *user)
{
	json_t *answer = given->json;
	(void)user;
	AX_CRASHPOINT("register", "answered");
	server->registration = NULL;
	if (is_superseded(status, answer)) {
		axw_end_now(w, AXW_END_SUPERSEDED);
		return;
	}
	if (!is_of_own_store(server, status, answer)) {
		leave_stranger(server);
		return;
	}
	if (status != 200) {
		not_registered(server, status, answer, retry_after_ms);
		return;
	}
	server->registered = true;
	server->stranger = false;
	server->refusal = 0;
	server->backoff_ms = 0;
	w->registered_once = true;
	read_durations(w, answer);
	read_pools(w, answer);
	axw_log_json(w, AXW_INFO, "registered",
		json_pack("{s:s, s:s*, s:i}", "url", server->url, "server",
			json_string_value(json_object_get(answer, "server")), "refusals", server->refusals));
	forget_refusals(server);
	take_stops(w, answer);
	axw_tell_trust(server, ax_boottime_ms() - sent_ms);
	/* Only the first registration of a process begins leases anew: what they are now, a heartbeat tells. */
	make_heartbeats_due(w);
	if (!uv_is_active((uv_handle_t *)&w->heartbeat))
		uv_timer_start(&w->heartbeat, beat, (uint64_t)w->heartbeat_ms, (uint64_t)w->heartbeat_ms);
	axw_tell_soon(w);
	axw_session_poll(w);
}

void axw_session_start(struct server *server)
{
	struct axw *w = server->w;
	if (server->registration || w->closing)
		return;
	read_token(w);
	server->registration = axw_call(server, "register", registration(w), 10000, registered, NULL);
}

void axw_session_lost(struct server *server, int status, json_t *answer)
{
	if (is_superseded(status, answer)) {
		axw_end_now(server->w, AXW_END_SUPERSEDED);
		return;
	}
	if (!server->registered)
		return;
	server->registered = false;
	log_refusal(server, "register_again", status, answer);
	if (!uv_is_active((uv_handle_t *)&server->retry))
		retry_later(server, 0);
}

/* ---- polls */

/* Groups ask by themselves: what one is given, and the time that takes, holds up no other. Where there are more groups
 * than polls, some share one: a connection for each of many would be dear. */
static int count_polls(const struct axw *w)
{
	return AX_MIN(w->n_groups, (int)AXW_POLLS_MAX);
}

static void take_runs(struct server *server, struct ax_look answer, int64_t sent_ms)
{
	struct axw *w = server->w;
	struct ax_look_walk runs = ax_look_into(ax_look_member(answer, "runs"));
	struct ax_look key, run;
	while (ax_look_next(&runs, &key, &run))
		axw_attempt_take(server, run, sent_ms);
	axw_report_stops(w, ax_look_member(answer, "stop"));
	axw_dispatch(w);
}

/* As long as one of a server's polls fails, the pauses grow, and nothing is said twice. */
static void poll_succeeded(struct poll *poll)
{
	struct server *server = poll->server;
	bool any = false;
	poll->failed = false;
	for (int i = 0; i < AXW_POLLS_MAX; i++)
		any = any || server->polls[i].failed;
	if (any)
		return;
	server->backoff_ms = 0;
	forget_refusals(server);
}

/* The others go on: it may be its group's trouble alone. */
static void poll_failed(struct poll *poll, int status, const struct axw_answer *answer, int64_t retry_after_ms)
{
	struct server *server = poll->server;
	poll->failed = poll->rests = true;
	if (status == 0)
		axw_tell_doubt(server);
	if ((status == 0 && answer->sent) || status >= 500) { /* what was committed may be uncertain there, too */
		axw_unanswered_add(server->w, poll->number);
		axw_tell_soon(server->w);
	}
	if (status == 404 || status == 401 || status == 403 || status == 409)
		axw_session_lost(server, status, answer->json);
	else if (status)
		log_refusal(server, "poll_refused", status, answer->json);
	if (!uv_is_active((uv_handle_t *)&server->retry)) /* all its polls may fail together */
		retry_later(server, retry_after_ms);
}

static void polled(struct axw *w, struct server *server, int status, const struct axw_answer *answer,
	int64_t retry_after_ms, int64_t sent_ms, void *user)
{
	struct poll *poll = user;
	poll->call = NULL;
	if (status != 200) {
		poll_failed(poll, status, answer, retry_after_ms);
		return;
	}
	poll_succeeded(poll);
	take_runs(server, answer->look, sent_ms);
	axw_session_poll(w);
}

/* What the one of the polls that is `at` there asks for. False when there is nothing. */
static bool write_free(const struct axw *w, int at, struct ax_json *json)
{
	bool any = false;
	ax_json_arr(json, "free");
	for (int i = at; i < w->n_groups; i += count_polls(w)) {
		int64_t slots = axw_slots(w, &w->groups[i]);
		if (slots == 0)
			continue;
		ax_json_obj(json, NULL);
		ax_json_str(json, "group", w->groups[i].name);
		ax_json_int(json, "slots", slots);
		ax_json_obj_end(json);
		any = true;
	}
	ax_json_arr_end(json);
	return any;
}

static void poll_one(struct server *server, int at)
{
	struct axw *w = server->w;
	struct poll *poll = &server->polls[at];
	struct ax_buf body;
	struct ax_json json;
	ax_buf_init(&body, AXW_BODY_MAX);
	ax_json_init(&json, &body);
	ax_json_obj(&json, NULL);
	axw_hello_write(w, &json);
	ax_json_int(&json, "number", w->polls_sent + 1);
	bool any = write_free(w, at, &json);
	poll->failed = poll->failed && any; /* who asks for nothing cannot fail */
	ax_json_int(&json, "wait_ms", w->poll_wait_ms);
	ax_json_obj_end(&json);
	if (any) {
		poll->number = ++w->polls_sent;
		poll->call = axw_call_often(server, "poll", &body, w->poll_wait_ms + 10000, polled, poll);
	}
	ax_buf_done(&body);
}

void axw_session_poll(struct axw *w)
{
	if (w->draining || w->closing)
		return;
	for (int i = 0; i < w->n_servers; i++)
		for (int at = 0; w->servers[i].registered && at < count_polls(w); at++)
			if (!w->servers[i].polls[at].call && !w->servers[i].polls[at].rests)
				poll_one(&w->servers[i], at);
}

/* ---- the end */

static void abort_call(struct call **call)
{
	if (*call)
		axw_call_abort(*call);
	*call = NULL;
}

void axw_session_stop_polls(struct axw *w)
{
	for (int i = 0; i < w->n_servers; i++) {
		for (int at = 0; at < AXW_POLLS_MAX; at++) {
			struct poll *poll = &w->servers[i].polls[at];
			if (poll->call)
				axw_unanswered_add(w, poll->number);
			abort_call(&poll->call);
		}
	}
}

void axw_session_abort(struct axw *w)
{
	axw_session_stop_polls(w);
	for (int i = 0; i < w->n_servers; i++) {
		struct server *server = &w->servers[i];
		abort_call(&server->registration);
		abort_call(&server->leaving);
		uv_timer_stop(&server->retry);
	}
}

/* One server that heard it is enough. */
static void said_goodbye(struct axw *w, struct server *server, int status, const struct axw_answer *answer,
	int64_t retry_after_ms, int64_t sent_ms, void *user)
{
	(void)answer;
	(void)retry_after_ms;
	(void)sent_ms;
	bool waits = false;
	server->leaving = NULL;
	for (int i = 0; i < w->n_servers; i++)
		waits = waits || w->servers[i].leaving;
	if (status == 200 || !waits)
		((void (*)(struct axw *))(uintptr_t)user)(w);
}

void axw_session_leave(struct axw *w, void (*left)(struct axw *w))
{
	bool said = false;
	w->unanswered.n = 0; /* who leaves gives back whatever it was given */
	for (int i = 0; i < w->n_servers; i++) {
		struct server *server = &w->servers[i];
		if (!server->registered)
			continue;
		server->leaving = axw_call(server, "leave", axw_hello(w), 3000, said_goodbye, (void *)(uintptr_t)left);
		said = true;
	}
	if (!said)
		left(w);
}
