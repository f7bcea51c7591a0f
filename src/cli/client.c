#include "cli/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/utf8.h"
#include "cli/ctl.h"
#include "cli/file.h"
#include "cli/print.h"
#include "cli/sse.h"
#include "cli/value.h"
#include "sys/ca_file.h"

enum { MAX_ANSWER_BYTES = 64 << 20, MAX_EVENT_BYTES = 8 << 20 };
static const long CALL_MS = 60000;
static const long READY_MS =
	3000; /* of several servers one that has not said by then whether it is ready is passed over */

/* ---- where the server is ---- */

static int read_token(struct ax_arena *arena, const char *path, const char **ret)
{
	char *text;
	struct ax_err err;
	if (ax_file_read(arena, path, 4096, &text, NULL, &err) != AX_OK)
		return ax_ctl_fail(AX_EXIT_USAGE, "--token-file", "%s", err.msg);
	text[strcspn(text, " \t\r\n")] = '\0';
	if (*text == '\0')
		return ax_ctl_fail(AX_EXIT_USAGE, "--token-file", "%s holds no token", path);
	*ret = text;
	return AX_EXIT_OK;
}

/* AX_STATE/dev.json, written by `ax-server --dev`. */
static int read_dev(struct ax_client *client, struct ax_arena *arena, const char *state)
{
	const char *path = ax_sprintf(arena, "%s/dev.json", state);
	char *text;
	size_t len;
	struct ax_err err;
	if (ax_file_read(arena, path, 65536, &text, &len, &err) != AX_OK)
		return ax_ctl_fail(AX_EXIT_NO_SERVER, "AX_STATE",
			"%s; is `ax-server --dev` running with this state folder? Otherwise give --server and --token",
			err.msg);
	json_t *dev = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *server = json_string_value(json_object_get(dev, "server"));
	const char *token = json_string_value(json_object_get(dev, "token"));
	client->server = ax_strdup(arena, server);
	client->token = ax_strdup(arena, token);
	json_decref(dev);
	if (client->server == NULL || client->token == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "AX_STATE", "%s holds no \"server\" and \"token\"", path);
	return AX_EXIT_OK;
}

static const char *env(const char *name)
{
	const char *value = getenv(name);
	return value != NULL && *value != '\0' ? value : NULL;
}

static int find_server(struct ax_client *client, struct ax_arena *arena, const struct ax_args *args, bool with_token)
{
	client->server = ax_args_get(args, "server");
	client->token = with_token ? ax_args_get(args, "token") : NULL;
	const char *file = with_token ? ax_args_get(args, "token-file") : NULL;
	if (client->token == NULL && file != NULL) {
		int code = read_token(arena, file, &client->token);
		if (code != AX_EXIT_OK)
			return code;
	}
	if (client->server == NULL)
		client->server = env("AX_SERVER");
	if (client->token == NULL && with_token)
		client->token = env("AX_TOKEN");
	if (client->server == NULL && client->token == NULL && env("AX_STATE") != NULL)
		return read_dev(client, arena, env("AX_STATE"));
	if (client->server == NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "--server",
			"no server is named; give --server URL or set AX_SERVER (or AX_STATE to the folder of "
			"`ax-server --dev`)");
	return AX_EXIT_OK;
}

/* "URL", or "URL,URL": servers of one database. */
static int read_servers(struct ax_client *client, struct ax_arena *arena, const char *list)
{
	for (const char *at = list + strspn(list, ", "); *at != '\0'; at += strspn(at, ", ")) {
		size_t len = strcspn(at, ", ");
		const char *url = ax_strndup(arena, at, len);
		if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
			return ax_ctl_fail(AX_EXIT_USAGE, "--server",
				"\"%s\" is no address; write http://HOST:PORT or https://HOST", url);
		if (client->n_servers == AX_CLIENT_SERVERS_MAX)
			return ax_ctl_fail(AX_EXIT_USAGE, "--server", "more than %d servers", AX_CLIENT_SERVERS_MAX);
		at += len;
		while (len > 0 && url[len - 1] == '/')
			len--;
		client->servers[client->n_servers++] = ax_strndup(arena, url, len);
	}
	if (client->n_servers == 0)
		return ax_ctl_fail(AX_EXIT_USAGE, "--server", "is empty; write http://HOST:PORT or https://HOST");
	client->server = client->servers[0];
	return AX_EXIT_OK;
}

static int read_ca(struct ax_client *client, const struct ax_args *args)
{
	const char *option = ax_args_get(args, "ca");
	struct ax_err err;
	client->ca_file = option != NULL ? option : env("AX_CA");
	if (client->ca_file != NULL && ax_ca_file_check(client->ca_file, &err) != AX_OK)
		return ax_ctl_fail(AX_EXIT_USAGE, option != NULL ? "--ca" : "AX_CA", "%s", err.msg);
	return AX_EXIT_OK;
}

static size_t drop_body(char *bytes, size_t size, size_t n, void *ctx)
{
	(void)bytes;
	(void)ctx;
	return size * n;
}

/* What every transfer has in common. The easy handle keeps its connection over resets. */
static void prepare(struct ax_client *client, const char *method, const char *path, struct curl_slist *headers)
{
	struct ax_buf url;
	ax_buf_init(&url, 1 << 20);
	ax_buf_printf(&url, "%s%s", client->server, path);
	curl_easy_reset(client->curl);
	curl_easy_setopt(client->curl, CURLOPT_URL, url.data);
	curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(client->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(client->curl, CURLOPT_COOKIEFILE, ""); /* kept for this run of the program: setup signs in */
	curl_easy_setopt(client->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(client->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(client->curl, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
	curl_easy_setopt(client->curl, CURLOPT_USERAGENT, "axctl");
	if (client->ca_file != NULL)
		curl_easy_setopt(client->curl, CURLOPT_CAINFO, client->ca_file);
	ax_buf_done(&url);
}

/* Of several servers the first that is ready, else the first that answers at all, as it will say what is wrong. When
 * none does, the one that was called stays. */
static void choose_server(struct ax_client *client)
{
	const char *chosen = NULL;
	for (int i = 0; i < client->n_servers; i++) {
		long status = 0;
		client->server = client->servers[i];
		prepare(client, "GET", "/readyz", NULL);
		curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS, READY_MS);
		curl_easy_setopt(client->curl, CURLOPT_FORBID_REUSE, 1L); /* see transfer */
		curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, drop_body);
		if (curl_easy_perform(client->curl) != CURLE_OK)
			continue;
		curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
		if (status == 200)
			return;
		if (chosen == NULL)
			chosen = client->server;
	}
	client->server = chosen != NULL ? chosen : client->servers[0];
}

int ax_client_open(struct ax_client *client, struct ax_arena *arena, const struct ax_args *args, bool with_token)
{
	int code = find_server(client, arena, args, with_token);
	if (code == AX_EXIT_OK)
		code = read_servers(client, arena, client->server);
	if (code == AX_EXIT_OK)
		code = read_ca(client, args);
	if (code != AX_EXIT_OK)
		return code;
	if (client->token != NULL && strpbrk(client->token, "\r\n") != NULL)
		return ax_ctl_fail(AX_EXIT_USAGE, "--token", "a token is one line");
	AX_ASSERT(curl_global_init_mem(CURL_GLOBAL_DEFAULT, ax_malloc, free, ax_realloc, ax_strdup_heap, ax_calloc) ==
		CURLE_OK);
	client->curl = curl_easy_init();
	AX_ASSERT(client->curl != NULL);
	if (client->n_servers > 1)
		choose_server(client);
	return AX_EXIT_OK;
}

void ax_client_close(struct ax_client *client)
{
	if (client->curl == NULL)
		return;
	curl_easy_cleanup(client->curl);
	curl_global_cleanup();
	client->curl = NULL;
}

/* ---- one call ---- */

static size_t take_body(char *bytes, size_t size, size_t n, void *ctx)
{
	struct ax_buf *buf = ctx;
	ax_buf_add(buf, bytes, size * n);
	return buf->overflow ? 0 : size * n;
}

static struct curl_slist *headers_of(const struct ax_client *client, bool has_body, const char *accept)
{
	struct ax_buf line;
	ax_buf_init(&line, 8192);
	struct curl_slist *list = curl_slist_append(NULL, accept);
	if (client->token != NULL) {
		ax_buf_printf(&line, "Authorization: Bearer %s", client->token);
		list = curl_slist_append(list, line.data);
	}
	if (has_body)
		list = curl_slist_append(list, "Content-Type: application/json");
	if (client->csrf != NULL) {
		ax_buf_clear(&line);
		ax_buf_printf(&line, "X-AX-CSRF: %s", client->csrf);
		list = curl_slist_append(list, line.data);
	}
	if (client->idempotency_key != NULL) {
		ax_buf_clear(&line);
		ax_buf_printf(&line, "Idempotency-Key: %s", client->idempotency_key);
		list = curl_slist_append(list, line.data);
	}
	list = curl_slist_append(list, "Expect:");
	ax_buf_done(&line);
	return list;
}

int ax_client_exit(long http_status)
{
	if (http_status >= 200 && http_status < 300)
		return AX_EXIT_OK;
	if (http_status == 401 || http_status == 403)
		return AX_EXIT_DENIED;
	if (http_status == 404)
		return AX_EXIT_NOT_FOUND;
	if (http_status == 409)
		return AX_EXIT_CONFLICT;
	return http_status >= 500 || http_status == 429 ? AX_EXIT_NO_SERVER : AX_EXIT_USAGE;
}

const char *ax_client_hint(const char *code)
{
	static const struct {
		const char *code, *hint;
	} hints[] = {
		{ "unauthenticated", "the token is missing, wrong or expired: give --token, --token-file or AX_TOKEN" },
		{ "denied", "the token's role does not allow this: `axctl token list` shows roles" },
		{ "never_fires", "no date ever matches: `axctl cron explain EXPR` says why" },
		{ "exists", "choose another name, or change the one that is there with `update`" },
		{ "busy", "the server is overloaded: try again in a moment" },
		{ "unavailable", "the server cannot work now: its /readyz says why" },
		{ "out_of_space", "the server's disk or store is full" },
	};
	for (size_t i = 0; i < AX_COUNT(hints); i++)
		if (strcmp(code, hints[i].code) == 0)
			return hints[i].hint;
	return "";
}

static void print_clean(const char *text)
{
	struct ax_buf clean;
	ax_buf_init(&clean, 1 << 20);
	ax_print_clean(text, &clean);
	fputs(clean.len > 0 ? clean.data : "", stderr);
	ax_buf_done(&clean);
}

/* Renders a problem document (or whatever the server said instead) on standard error. */
static void print_problem(struct ax_client *client, long status, const json_t *body)
{
	const char *detail = json_string_value(json_object_get(body, "detail"));
	const char *title = json_string_value(json_object_get(body, "title"));
	const char *code = json_string_value(json_object_get(body, "code"));
	const char *field = json_string_value(json_object_get(body, "field"));
	snprintf(client->field, sizeof(client->field), "%s", field != NULL ? field : "");
	fputs("axctl: ", stderr);
	if (field != NULL && *field != '\0') {
		print_clean(field);
		fputs(": ", stderr);
	}
	if (detail != NULL || title != NULL)
		print_clean(detail != NULL ? detail : title);
	else
		fprintf(stderr, "%s answered %ld without a reason", client->server, status);
	if (code != NULL)
		fprintf(stderr, " [%.40s]", code);
	fputc('\n', stderr);
	bool of_the_setup_token = field != NULL && strcmp(field, "token") == 0; /* no token of an API has a say there */
	const char *hint = code != NULL && !of_the_setup_token ? ax_client_hint(code) : "";
	curl_off_t wait_s = 0;
	curl_easy_getinfo(client->curl, CURLINFO_RETRY_AFTER, &wait_s);
	if (*hint != '\0')
		fprintf(stderr, "       %s\n", hint);
	if (wait_s > 0)
		fprintf(stderr, "       the server asks to wait %ld s\n", (long)wait_s);
}

/* The answer of a finished transfer: parsed, or told as a problem. */
static int take_answer(struct ax_client *client, const struct ax_buf *answer, json_t **ret)
{
	long status = 0;
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	json_error_t bad;
	json_t *body = answer->len == 0
		? json_null()
		: json_loadb(answer->data, answer->len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &bad);
	int code = ax_client_exit(status);
	if (code != AX_EXIT_OK) {
		print_problem(client, status, body);
		json_decref(body);
		return code;
	}
	if (body == NULL)
		return ax_ctl_fail(AX_EXIT_NO_SERVER, "",
			"%s answered %ld with something that is not JSON (%s); is it ax-server?", client->server,
			status, bad.text);
	if (ret != NULL)
		*ret = body;
	else
		json_decref(body);
	return AX_EXIT_OK;
}

/* The path of an API call, under its root. */
static void prepare_call(struct ax_client *client, const char *method, const char *path, struct curl_slist *headers)
{
	struct ax_buf full;
	ax_buf_init(&full, 1 << 20);
	ax_buf_printf(&full, "/api/v1%s", path);
	prepare(client, method, full.data, headers);
	ax_buf_done(&full);
}

static CURLcode transfer(struct ax_client *client, const char *method, const char *path, const char *text,
	struct curl_slist *headers, struct ax_buf *answer)
{
	prepare_call(client, method, path, headers);
	/* libcurl sends a call once more when a connection that was used before breaks: a change has a new one */
	curl_easy_setopt(client->curl, CURLOPT_FRESH_CONNECT, strcmp(method, "GET") != 0 ? 1L : 0L);
	curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS,
		client->limit_ms > 0 ? (long)AX_MIN(client->limit_ms, CALL_MS) : CALL_MS);
	curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, answer);
	if (text != NULL || strcmp(method, "POST") == 0) {
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, text != NULL ? text : "");
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE, text != NULL ? (long)strlen(text) : 0L);
	}
	return curl_easy_perform(client->curl);
}

int ax_client_call(struct ax_client *client, const char *method, const char *path, json_t *body, json_t **ret)
{
	char *text = body != NULL ? json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	AX_ASSERT(body == NULL || text != NULL);
	struct ax_buf answer;
	ax_buf_init(&answer, MAX_ANSWER_BYTES);
	struct curl_slist *headers =
		headers_of(client, body != NULL, "Accept: application/json, application/problem+json");
	json_decref(body);
	CURLcode rc = transfer(client, method, path, text, headers, &answer);
	/* a server that is gone may have done what it was asked to: another one is only asked to look, or when the
	 * first one never heard of it */
	bool again = rc == CURLE_COULDNT_CONNECT || (rc != CURLE_OK && strcmp(method, "GET") == 0);
	if (again && client->n_servers > 1) {
		choose_server(client);
		ax_buf_clear(&answer);
		rc = transfer(client, method, path, text, headers, &answer);
	}
	client->idempotency_key = NULL;
	client->limit_ms = 0;
	int code;
	if (rc == CURLE_OK)
		code = take_answer(client, &answer, ret);
	else
		code = ax_ctl_fail(AX_EXIT_NO_SERVER, "", "cannot reach %s: %s%s", client->server,
			curl_easy_strerror(rc), client->n_servers > 1 ? ", and the others do not answer either" : "");
	curl_slist_free_all(headers);
	ax_buf_done(&answer);
	free(text);
	return code;
}

int ax_client_page(struct ax_client *client, const char *path, size_t limit, const char *after, json_t **ret)
{
	struct ax_buf page;
	char number[24];
	ax_buf_init(&page, 65536);
	ax_buf_adds(&page, path);
	snprintf(number, sizeof(number), "%zu", limit);
	ax_value_query(&page, "limit", limit > 0 ? number : NULL);
	ax_value_query(&page, "after", after);
	int code = ax_client_call(client, "GET", page.data, NULL, ret);
	ax_buf_done(&page);
	return code;
}

int ax_client_list(struct ax_client *client, const char *path, size_t max, json_t **ret)
{
	json_t *items = json_array();
	json_t *next = json_null();
	int code = AX_EXIT_OK;
	do {
		json_t *answer = NULL;
		size_t limit = max > 0 ? AX_MIN(max - json_array_size(items), AX_CLIENT_PAGE_MAX) : 0;
		code = ax_client_page(client, path, limit, json_string_value(next), &answer);
		if (code != AX_EXIT_OK)
			break;
		json_array_extend(items, json_object_get(answer, "items"));
		json_decref(next);
		next = json_incref(json_object_get(answer, "next"));
		json_decref(answer);
	} while (json_is_string(next) && (max == 0 || json_array_size(items) < max));
	if (code == AX_EXIT_OK)
		*ret = json_pack("{s:o, s:o}", "items", items, "next", next != NULL ? next : json_null());
	else {
		json_decref(items);
		json_decref(next);
	}
	return code;
}

/* ---- event streams ---- */

struct stream {
	struct ax_client *client;
	struct ax_client_events *events;
	struct ax_sse sse;
};

static bool pass_event(void *ctx, const char *name, const char *data)
{
	struct stream *stream = ctx;
	return stream->events->on_event(stream->events, name, data);
}

static size_t take_stream(char *bytes, size_t size, size_t n, void *ctx)
{
	struct stream *stream = ctx;
	long status = 0;
	const char *type = NULL;
	curl_easy_getinfo(stream->client->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(stream->client->curl, CURLINFO_CONTENT_TYPE, &type);
	if (status != 200 || type == NULL || strncmp(type, "text/event-stream", 17) != 0)
		return 0;
	return ax_sse_feed(&stream->sse, bytes, size * n, pass_event, stream) ? size * n : 0;
}

int ax_client_stream(struct ax_client *client, const char *path, struct ax_client_events *events)
{
	struct stream stream = { .client = client, .events = events };
	ax_sse_init(&stream.sse, MAX_EVENT_BYTES);
	struct curl_slist *headers = headers_of(client, false, "Accept: text/event-stream");
	prepare_call(client, "GET", path, headers);
	/* The server sends a comment every 15 s: a stream that is silent for a minute is dead. */
	curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_TIME, 60L);
	curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, take_stream);
	curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, &stream);
	CURLcode rc = curl_easy_perform(client->curl);
	long status = 0;
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	ax_sse_done(&stream.sse);
	bool ended = rc == CURLE_OK || rc == CURLE_WRITE_ERROR;
	return ended && status == 200 ? AX_EXIT_OK : AX_EXIT_NO_SERVER;
}
