#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/num.h"
#include "sys/attempt_dir.h"

struct call {
	struct axw *w;
	struct server *server;
	CURL *easy;
	struct curl_slist *headers;
	struct ax_buf answer;
	char *body;
	bool often; /* the answer is looked into where it lies */
	int64_t sent_ms;
	call_done *done;
	void *user;
};

static size_t take_bytes(char *bytes, size_t size, size_t n, void *user)
{
	struct call *call = user;
	ax_buf_add(&call->answer, bytes, size * n);
	return call->answer.overflow ? 0 : size * n;
}

static void free_call(struct call *call)
{
	curl_easy_cleanup(call->easy);
	curl_slist_free_all(call->headers);
	ax_buf_done(&call->answer);
	free(call->body);
	free(call);
}

/* Said once when a server goes away and once when it is back. */
static void note_reachable(struct call *call, bool reachable, CURLcode result)
{
	struct server *server = call->server;
	if (server->unreachable == !reachable)
		return;
	server->unreachable = !reachable;
	if (reachable)
		axw_log_json(call->w, AXW_INFO, "server_back", json_pack("{s:s}", "url", server->url));
	else
		axw_log_json(call->w, AXW_WARN, "server_away",
			json_pack("{s:s, s:s}", "url", server->url, "error",
				result == CURLE_OK ? "the answer is not JSON" : curl_easy_strerror(result)));
}

static void call_ended(CURL *easy, CURLcode result, void *user)
{
	struct call *call = user;
	long status = 0;
	struct axw_answer answer = { 0 };
	long sent_bytes = 0;
	curl_off_t retry_after_s = 0;
	curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent_bytes);
	answer.sent = sent_bytes > 0;
	if (result == CURLE_OK) {
		curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after_s);
		bool look = call->often && status == 200;
		if (call->answer.len && look)
			answer.look = ax_look(call->answer.data);
		else if (call->answer.len)
			answer.json = json_loadb(call->answer.data, call->answer.len, JSON_REJECT_DUPLICATES, NULL);
		if (status == 200 && (look ? answer.look.type != AX_LOOK_OBJECT : !json_is_object(answer.json)))
			status = 0; /* no answer that can be trusted */
	}
	note_reachable(call, result == CURLE_OK && status != 0, result);
	int64_t retry_after_ms = AX_MIN((int64_t)retry_after_s, 60) * 1000;
	call->done(call->w, call->server, (int)status, &answer, retry_after_ms, call->sent_ms, call->user);
	json_decref(answer.json);
	free_call(call);
}

static void add_header(struct call *call, const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 3;
	char *line = ax_malloc(size);
	snprintf(line, size, "%s: %s", name, value);
	call->headers = curl_slist_append(call->headers, line);
	explicit_bzero(line, size); /* it may hold the token */
	free(line);
}

static void set_options(struct call *call, const char *what, int64_t timeout_ms)
{
	CURL *e = call->easy;
	size_t size = strlen(call->server->url) + strlen(what) + 32;
	char *url = ax_malloc(size);
	snprintf(url, size, "%s/worker/v1/%s", call->server->url, what);
	curl_easy_setopt(e, CURLOPT_URL, url);
	free(url);
	size = strlen(call->w->token) + 16;
	char *bearer = ax_malloc(size);
	snprintf(bearer, size, "Bearer %s", call->w->token);
	add_header(call, "Authorization", bearer);
	explicit_bzero(bearer, size);
	free(bearer);
	add_header(call, "Content-Type", "application/json");
	if (call->w->store_id[0])
		add_header(call, "AX-Store-Id", call->w->store_id);
	call->headers = curl_slist_append(call->headers, "Expect:");
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, call->headers);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_POSTFIELDS, call->body);
	curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(call->body));
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_bytes);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)AX_MIN(timeout_ms, 5000));
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_USERAGENT, "libaxworker");
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, 64L * 1024);
	if (call->w->ca_file)
		curl_easy_setopt(e, CURLOPT_CAINFO, call->w->ca_file);
}

static struct call *post(
	struct server *server, const char *what, char *body, int64_t timeout_ms, call_done *done, void *user)
{
	struct axw *w = server->w;
	struct call *call = ax_malloc(sizeof(*call));
	*call = (struct call){ .w = w, .server = server, .done = done, .user = user };
	call->easy = curl_easy_init();
	AX_ASSERT(call->easy);
	ax_buf_init(&call->answer, AXW_BODY_MAX);
	call->body = body;
	set_options(call, what, timeout_ms);
	call->sent_ms = ax_boottime_ms(); /* before anything is on the wire: leases count from here */
	ax_curl_loop_add(w->curl, call->easy, call_ended, call);
	return call;
}

struct call *axw_call(
	struct server *server, const char *what, json_t *body, int64_t timeout_ms, call_done *done, void *user)
{
	char *text = json_dumps(body, JSON_COMPACT);
	AX_ASSERT(text); /* all texts in it were made UTF-8 */
	json_decref(body);
	return post(server, what, text, timeout_ms, done, user);
}

struct call *axw_call_often(
	struct server *server, const char *what, struct ax_buf *body, int64_t timeout_ms, call_done *done, void *user)
{
	AX_ASSERT(!body->overflow);
	struct call *call = post(server, what, ax_buf_take(body, NULL), timeout_ms, done, user);
	call->often = true;
	return call;
}

void axw_call_abort(struct call *call)
{
	ax_curl_loop_remove(call->w->curl, call->easy);
	free_call(call);
}
