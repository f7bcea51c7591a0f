/* The HTTP face in the loop thread: requests become calls, calls become answers. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/handlers.h"
#include "server/secrets.h"
#include "server/server.h"
#include "sys/crash_point.h"

enum { UNKNOWN_BODY_MAX = 4096, BUSY_RETRY_S = 1 };

/* --- headers ------------------------------------------------------------------------------------------------------ */

#define SECURITY_HEADERS                                                                                               \
	{ "Content-Security-Policy",                                                                                   \
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "  \
		"font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "                       \
		"require-trusted-types-for 'script'" },                                                                \
		{ "X-Content-Type-Options", "nosniff" }, { "X-Frame-Options", "DENY" },                                \
		{ "Referrer-Policy", "no-referrer" },                                                                  \
		{ "Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()" },              \
		{ "Cross-Origin-Opener-Policy", "same-origin" },                                                       \
	{                                                                                                              \
		"Cross-Origin-Resource-Policy", "same-origin"                                                          \
	}

const struct ax_http_header *ax_front_headers(bool tls)
{
	static const struct ax_http_header plain[] = { SECURITY_HEADERS, { NULL, NULL } };
	static const struct ax_http_header with_tls[] = { SECURITY_HEADERS,
		{ "Strict-Transport-Security", "max-age=31536000" }, { NULL, NULL } };
	return tls ? with_tls : plain;
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

static const char *title(int status)
{
	switch (status) {
	case 400:
		return "Bad Request";
	case 401:
		return "Unauthorized";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 409:
		return "Conflict";
	case 413:
		return "Content Too Large";
	case 421:
		return "Misdirected Request";
	case 429:
		return "Too Many Requests";
	case 503:
		return "Service Unavailable";
	case 507:
		return "Insufficient Storage";
	default:
		return "Internal Server Error";
	}
}

void ax_front_problem(struct ax_http_request *req, int http_status, const char *code, const char *field,
	const char *detail, int64_t retry_after_s, const char *allow)
{
	struct ax_buf out;
	struct ax_json json;
	ax_buf_init(&out, 8192);
	ax_json_init(&json, &out);
	ax_json_obj(&json, NULL);
	ax_json_str(&json, "type", "about:blank");
	ax_json_str(&json, "title", title(http_status));
	ax_json_int(&json, "status", http_status);
	ax_json_str(&json, "code", code);
	ax_json_str(&json, "detail", detail);
	if (field[0] != '\0')
		ax_json_str(&json, "field", field);
	ax_json_obj_end(&json);

	char retry[24];
	struct ax_http_header headers[5] = { { "Content-Type", "application/problem+json" },
		{ "Cache-Control", "no-store" } };
	int n = 2;
	if (retry_after_s > 0) {
		snprintf(retry, sizeof retry, "%lld", (long long)retry_after_s);
		headers[n++] = (struct ax_http_header){ "Retry-After", retry };
	}
	if (allow[0] != '\0')
		headers[n++] = (struct ax_http_header){ "Allow", allow };
	if (http_status == 401)
		headers[n++] = (struct ax_http_header){ "WWW-Authenticate", "Bearer" };
	headers[AX_MIN(n, 4)] = (struct ax_http_header){ NULL, NULL };
	size_t len;
	char *body = ax_buf_take(&out, &len);
	ax_http_respond_take(req, http_status, headers, body, len);
}

static void count(struct ax_call *c, int http_status)
{
	c->server->metrics.answers[AX_MIN(http_status / 100, 5)]++;
}

/* Some answers mean more to a worker than their status says (docs/protocol.md). */
static const char *code_of(const struct ax_call *c, enum ax_status status, const char *field)
{
	if (c->route->may == AX_MAY_WORK && status == AX_NOT_FOUND && strcmp(field, "worker") == 0)
		return "unknown_worker";
	if (c->route->may == AX_MAY_WORK && status == AX_CONFLICT && strcmp(field, "incarnation") == 0)
		return "superseded";
	if (c->route->may == AX_MAY_WORK && status == AX_CONFLICT && strcmp(field, "store_id") == 0)
		return "other_store";
	return ax_status_code(status);
}

void ax_front_fail(struct ax_call *c, enum ax_status status, const char *field, const char *msg)
{
	int http_status = ax_status_http(status);
	if (c->retry_after_s == 0 && (http_status == 503 || http_status == 507))
		c->retry_after_s = BUSY_RETRY_S;
	count(c, http_status);
	/* our own faults are for the log, not for callers */
	if (status == AX_BROKEN) {
		ax_log_text(&c->server->log, AX_LOG_ERROR, "internal_error", "message", msg);
		msg = "a fault inside the server; its log has the reason";
		field = "";
	}
	ax_front_problem(c->req, http_status, code_of(c, status, field), field, msg, c->retry_after_s, "");
	ax_call_free(c);
}

void ax_front_answer(struct ax_call *c)
{
	if (c->failed != AX_OK) {
		struct ax_err err = c->err;
		ax_front_fail(c, c->failed, err.field, err.msg);
		return;
	}
	int status = c->status == 0 ? 200 : c->status;
	struct ax_http_header headers[4] = {
		{ "Content-Type", c->content_type != NULL ? c->content_type : "application/json" },
		{ "Cache-Control", "no-store" },
		{ c->cookie != NULL ? "Set-Cookie" : NULL, c->cookie },
	};
	size_t len;
	count(c, status);
	char *body = ax_buf_take(&c->out, &len);
	ax_http_respond_take(c->req, status, headers, body, len);
	ax_call_free(c);
}

/* --- what happens after a lane ------------------------------------------------------------------------------------ */

/* What is written about a call after it was answered: that a credential was used, or that a right was missing. */
struct note_errand {
	struct ax_errand errand;
	struct ax_server *server;
	struct ax_arena arena;
	struct ax_caller who;
	struct ax_audit_entry denied; /* action NULL: it was not */
};

static enum ax_status write_note(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct note_errand *note = arg;
	if (note->denied.action != NULL)
		return tx->ops->audit_append(tx, &note->denied, err);
	enum ax_status status = ax_account_touch(tx, &note->who, ax_now_ms(&note->server->clock.port), err);
	return status == AX_NOT_FOUND ? AX_OK : status;
}

static void run_note(struct ax_errand *errand, struct ax_side *side)
{
	struct note_errand *note = (struct note_errand *)errand;
	struct ax_err err;
	if (ax_store_run(side->store, &note->arena, write_note, note, &err) != AX_OK)
		ax_log_text(&note->server->log, AX_LOG_WARN, "note_not_written", "message", err.msg);
}

static void note_done(struct ax_errand *errand)
{
	struct note_errand *note = (struct note_errand *)errand;
	ax_arena_done(&note->arena);
	free(note);
}

static void note_call(struct ax_call *c)
{
	bool denied = c->failed == AX_DENIED && c->who.actor != NULL;
	if (!denied && !(c->failed == AX_OK && c->who.touch))
		return;
	struct note_errand *note = ax_malloc(sizeof *note);
	note->errand = (struct ax_errand){ .run = run_note, .done = note_done };
	note->server = c->server;
	note->who = c->who; /* its texts are not used */
	if (denied)
		note->denied = (struct ax_audit_entry){
			.time = c->now,
			.actor = ax_strdup(&note->arena, c->who.actor),
			.address = ax_strdup(&note->arena, c->address),
			.action = "denied",
			.object =
				ax_sprintf(&note->arena, "call:%s %s", ax_http_method_name(c->route->method), c->path),
			.before = "",
			.after = "",
			.reason = ax_strdup(&note->arena, c->err.msg),
		};
	if (!ax_lane_post(&c->server->lanes, AX_LANE_WRITE, &note->errand))
		note_done(&note->errand);
}

static void post(struct ax_call *c, enum ax_lane lane, ax_handler step);

/* Addresses of one household or host count as one: IPv6 by its first 64 bits. */
static const char *login_address(struct ax_call *c)
{
	const char *address = c->address;
	if (strchr(address, ':') == NULL || strncmp(address, "::ffff:", 7) == 0)
		return address;
	size_t i = 0;
	for (int colons = 0; address[i] != '\0' && colons < 4; i++)
		colons += address[i] == ':';
	return ax_strndup(&c->arena, address, i);
}

static bool may_try_login(struct ax_call *c)
{
	int64_t wait_ms =
		ax_login_limit_try(c->server->logins, c->login, login_address(c), ax_mono_ms(&c->server->clock.port));
	if (wait_ms == 0) {
		ax_board_sign_in(&c->server->board, c->login, login_address(c), false);
		return true;
	}
	c->retry_after_s = wait_ms / 1000 + 1;
	ax_front_fail(c, AX_LIMITED, "", "too many failed sign-ins; wait before the next");
	return false;
}

static void call_done(struct ax_errand *errand)
{
	struct ax_call *c = (struct ax_call *)errand;
	if (errand->run == ax_call_run_write)
		AX_CRASHPOINT(c->route->pattern, "before_reply");
	if (errand->commit != AX_OK && c->failed == AX_OK) {
		c->failed = errand->commit;
		c->err = errand->commit_err;
	}
	if (c->passed) {
		ax_login_limit_passed(c->server->logins, c->login, login_address(c));
		ax_board_sign_in(&c->server->board, c->login, login_address(c), true);
		c->passed = false;
	}
	if (c->failed == AX_OK && c->then != NULL && !ax_http_is_gone(c->req)) {
		if (c->then_lane != AX_LANE_HASH || c->login == NULL || may_try_login(c))
			post(c, c->then_lane, c->then);
		return;
	}
	note_call(c);
	if (c->failed == AX_OK && c->revoked_token != 0) {
		ax_live_revoke(c->server, c->revoked_token);
		ax_polls_revoke(c->server, c->revoked_token);
	}
	if (c->failed == AX_OK && c->route->via == AX_VIA_STREAM) {
		ax_live_begin(c);
		return;
	}
	if (c->failed == AX_OK && c->route->handler == ax_get_metrics) {
		ax_metrics_print(c->server, c->memo, &c->out);
		ax_due_queue_metrics(c->server, &c->out);
		c->content_type = "text/plain; version=0.0.4; charset=utf-8";
	}
	ax_front_answer(c);
}

static void post(struct ax_call *c, enum ax_lane lane, ax_handler step)
{
	static void (*const run[])(struct ax_errand *, struct ax_side *) = { [AX_LANE_READ] = ax_call_run_read,
		[AX_LANE_WRITE] = ax_call_run_write,
		[AX_LANE_HASH] = ax_call_run_hash };
	c->errand.run = run[lane];
	c->errand.done = call_done;
	c->step = step;
	if (ax_lane_post(&c->server->lanes, lane, &c->errand))
		return;
	c->server->metrics.refused_busy++;
	if (lane == AX_LANE_HASH)
		ax_front_fail(c, AX_LIMITED, "", "too many sign-ins at once; try again in a moment");
	else
		ax_front_fail(c, AX_BUSY, "", "the server has more to do than it can; try again in a moment");
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* The value of a cookie, NULL without. */
static char *find_cookie(struct ax_arena *arena, const char *header, const char *name)
{
	size_t len = strlen(name);
	while (header != NULL && *header != '\0') {
		header += strspn(header, " ;");
		size_t part = strcspn(header, ";");
		if (part > len && strncmp(header, name, len) == 0 && header[len] == '=')
			return ax_strndup(arena, header + len + 1, part - len - 1);
		header += part;
	}
	return NULL;
}

static void read_credential(struct ax_call *c)
{
	const char *authorization = ax_http_header(c->req, "authorization");
	const char *secret = NULL;
	if (authorization != NULL) {
		if (strncasecmp(authorization, "Bearer ", 7) == 0)
			secret = authorization + 7;
	} else {
		bool tls = ax_http_is_tls(c->req);
		secret = find_cookie(&c->arena, ax_http_header(c->req, "cookie"), tls ? "__Host-ax" : "ax");
		c->by_cookie = secret != NULL;
	}
	if (secret == NULL || secret[0] == '\0' || strlen(secret) > 128)
		return;
	char *hash = ax_alloc(&c->arena, AX_SECRET_HASH_SIZE);
	ax_secret_hash(secret, hash);
	c->hash = hash;
}

static bool is_json(const char *content_type)
{
	return content_type != NULL && strncasecmp(content_type, "application/json", 16) == 0 &&
		(content_type[16] == '\0' || content_type[16] == ';' || content_type[16] == ' ');
}

/* A browser says where a call comes from; a page of another origin may not make it do anything. NULL: fine. */
static const char *cross_origin(struct ax_call *c)
{
	bool open_to_all = c->route->may == AX_MAY_ANYONE;
	if (c->route->method == AX_HTTP_GET || (!c->by_cookie && !open_to_all))
		return NULL;
	if (!is_json(ax_http_header(c->req, "content-type")))
		return "this call needs Content-Type: application/json";
	const char *site = ax_http_header(c->req, "sec-fetch-site");
	if (site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return "this call came from a page of another origin";
	const char *origin = ax_http_header(c->req, "origin"), *host = ax_http_header(c->req, "host");
	const char *rest = origin == NULL ? NULL : strstr(origin, "://");
	if (origin != NULL && (rest == NULL || host == NULL || strcasecmp(rest + 3, host) != 0))
		return "this call came from a page of another origin";
	return NULL;
}

static struct ax_call *new_call(
	struct ax_server *server, struct ax_http_request *req, const struct ax_http_match *match)
{
	struct ax_call *c = ax_malloc(sizeof *c);
	c->server = server;
	c->req = req;
	c->route = match->route->user;
	c->address = ax_strdup(&c->arena, ax_http_peer(req));
	c->path = ax_http_path(req);
	for (size_t i = 0; i < match->n_params && i < AX_CALL_PARAMS; i++)
		c->param[i] = ax_strndup(&c->arena, match->params[i].value, match->params[i].value_len);
	ax_http_set_user(req, c);
	return c;
}

static enum ax_status read_question(struct ax_call *c)
{
	const struct ax_http_param *params;
	size_t n = ax_http_params(c->req, &params);
	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < c->n_query; k++)
			if (strcmp(c->query[k].name, params[i].name) == 0)
				return ax_fail(
					&c->err, AX_INVALID, params[i].name, "`%.64s` is given twice", params[i].name);
		if (c->n_query == AX_CALL_QUERIES)
			return ax_fail(&c->err, AX_INVALID, "", "too many query parameters");
		c->query[c->n_query].name = params[i].name;
		c->query[c->n_query++].value = params[i].value;
	}
	c->csrf = ax_http_header(c->req, "x-ax-csrf");
	c->idem_key = c->route->method == AX_HTTP_POST ? ax_http_header(c->req, "idempotency-key") : NULL;
	if (c->idem_key != NULL && (c->idem_key[0] == '\0' || strlen(c->idem_key) > 128))
		return ax_fail(&c->err, AX_INVALID, "Idempotency-Key", "Idempotency-Key must have 1-128 characters");
	c->body = ax_http_body(c->req, &c->body_len);
	if (c->body_len == 0)
		return AX_OK;
	if (c->route->body_max_bytes == 0)
		return ax_fail(&c->err, AX_INVALID, "", "this call takes no body");
	return ax_json_parse(c->body, c->body_len, &c->json_in, &c->err);
}

static void serve_in_loop(struct ax_call *c)
{
	ax_buf_init(&c->out, 16 * 1024 * 1024);
	ax_json_init(&c->json, &c->out);
	c->failed = c->route->handler(c, &c->err);
	ax_front_answer(c);
}

/* Its runs have the gids of others here. Before the credential is looked up: it is another store's as well. */
static bool is_for_another_store(const struct ax_call *c)
{
	const char *meant = ax_http_header(c->req, "ax-store-id");
	return meant != NULL && strcmp(meant, c->server->store_id) != 0;
}

static void start_call(struct ax_call *c)
{
	const char *refusal = cross_origin(c);
	if (refusal != NULL) {
		ax_front_fail(c, AX_DENIED, "", refusal);
		return;
	}
	if (c->route->may != AX_MAY_ANYONE && c->hash == NULL) {
		ax_front_fail(c, AX_UNAUTHENTICATED, "",
			atomic_load(&c->server->setup_needed)
				? "there is no administrator yet: open the setup link that the server printed"
				: "this call needs a credential: sign in, or send Authorization: Bearer <token>");
		return;
	}
	if (c->route->may == AX_MAY_WORK && is_for_another_store(c)) {
		ax_front_fail(c, AX_CONFLICT, "store_id", "this call is for a server of another store than this one's");
		return;
	}
	enum ax_status status = read_question(c);
	if (status != AX_OK) {
		struct ax_err err = c->err;
		ax_front_fail(c, status, err.field, err.msg);
		return;
	}
	switch (c->route->via) {
	case AX_VIA_LOOP:
		serve_in_loop(c);
		break;
	case AX_VIA_READ:
	case AX_VIA_STREAM:
		post(c, AX_LANE_READ, c->route->handler);
		break;
	case AX_VIA_WRITE:
		post(c, AX_LANE_WRITE, c->route->handler);
		break;
	case AX_VIA_POLL:
		if (!ax_polls_park(c))
			post(c, AX_LANE_READ, c->route->handler); /* says what is wrong, to whom it may be said */
		break;
	}
}

/* Over plain HTTP on loopback a foreign name that points here (DNS rebinding) must not reach us. */
static bool is_our_host(struct ax_server *server, struct ax_http_request *req)
{
	if (ax_http_is_tls(req) || !server->config.loopback)
		return true;
	const char *host = ax_http_header(req, "host");
	if (host == NULL)
		return false;
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		char own[64];
		snprintf(own, sizeof own, "%s:%d", names[i], server->port);
		if (strcasecmp(host, own) == 0 || (server->port == 80 && strcasecmp(host, names[i]) == 0))
			return true;
	}
	return strcasecmp(host, server->host) == 0;
}

static void on_head(struct ax_http_request *req, struct ax_http_verdict *verdict, void *user)
{
	struct ax_server *server = user;
	struct ax_http_match match;
	if (!is_our_host(server, req)) {
		verdict->status = 421;
		verdict->detail = "the Host header must be localhost, 127.0.0.1 or [::1] with the port of this server";
		return;
	}
	if (!ax_http_router_find(server->router, ax_http_method(req), ax_http_path(req), &match)) {
		verdict->body_limit_bytes = UNKNOWN_BODY_MAX;
		return;
	}
	const struct ax_route *route = match.route->user;
	bool known = ax_http_header(req, "authorization") != NULL || ax_http_header(req, "cookie") != NULL;
	verdict->body_limit_bytes =
		known ? route->body_max_bytes : AX_MIN(route->body_max_bytes, (size_t)UNKNOWN_BODY_MAX);
}

static void on_request(struct ax_http_request *req, void *user)
{
	struct ax_server *server = user;
	struct ax_http_match match;
	if (!ax_http_router_find(server->router, ax_http_method(req), ax_http_path(req), &match)) {
		if (ax_http_static_serve(&ax_console_files, req, NULL))
			return;
		if (match.allow[0] != '\0')
			ax_front_problem(
				req, 405, "method_not_allowed", "", "this path has no such method", 0, match.allow);
		else
			ax_front_problem(req, 404, "not_found", "", "there is no such path", 0, "");
		return;
	}
	struct ax_call *c = new_call(server, req, &match);
	read_credential(c);
	start_call(c);
}

static void on_gone(struct ax_http_request *req, void *user)
{
	(void)user;
	struct ax_call *c = ax_http_user(req);
	if (c != NULL && c->on_gone != NULL)
		c->on_gone(c);
}

static void on_drain(struct ax_http_request *req, void *user)
{
	(void)user;
	struct ax_call *c = ax_http_user(req);
	if (c != NULL && c->on_drain != NULL)
		c->on_drain(c);
}

struct ax_http_callbacks ax_front_callbacks(struct ax_server *server)
{
	return (struct ax_http_callbacks){
		.on_head = on_head, .on_request = on_request, .on_gone = on_gone, .on_drain = on_drain, .user = server
	};
}
