#include "server/call.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "app/birth.h"
#include "base/num.h"
#include "server/idem.h"
#include "server/server.h"
#include "sys/crash_point.h"

enum { ANSWER_MAX_BYTES = 64 * 1024 * 1024 };

enum ax_status ax_call_id(struct ax_call *c, int param, const char *what, int64_t *ret, struct ax_err *err)
{
	const char *text = c->param[param];
	if (!ax_parse_i64(text, strlen(text), 1, INT64_MAX, ret))
		return ax_fail(err, AX_NOT_FOUND, "", "there is no %s `%.64s`", what, text);
	return AX_OK;
}

const char *ax_call_query(struct ax_call *c, const char *name)
{
	for (int i = 0; i < c->n_query; i++) {
		if (strcmp(c->query[i].name, name) == 0) {
			c->query[i].used = true;
			return c->query[i].value;
		}
	}
	return NULL;
}

enum ax_status ax_call_query_int(
	struct ax_call *c, const char *name, int64_t min, int64_t max, int64_t *ret, struct ax_err *err)
{
	const char *text = ax_call_query(c, name);
	if (text != NULL && !ax_parse_i64(text, strlen(text), min, max, ret))
		return ax_fail(
			err, AX_INVALID, name, "%s must be a number from %" PRId64 " to %" PRId64, name, min, max);
	return AX_OK;
}

enum ax_status ax_call_query_bool(struct ax_call *c, const char *name, bool *ret, struct ax_err *err)
{
	const char *text = ax_call_query(c, name);
	if (text == NULL)
		return AX_OK;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return ax_fail(err, AX_INVALID, name, "%s must be true or false", name);
	*ret = strcmp(text, "true") == 0;
	return AX_OK;
}

enum ax_status ax_call_page(struct ax_call *c, int *ret_limit, int64_t *ret_after, struct ax_err *err)
{
	int64_t limit = 50, after = 0;
	enum ax_status status = ax_call_query_int(c, "limit", 1, 200, &limit, err);
	if (status == AX_OK)
		status = ax_call_query_int(c, "after", 1, INT64_MAX, &after, err);
	if (status != AX_OK)
		return status;
	*ret_limit = (int)limit;
	*ret_after = after;
	return AX_OK;
}

void ax_call_items_begin(struct ax_call *c)
{
	ax_json_obj(&c->json, NULL);
	ax_json_arr(&c->json, "items");
}

void ax_call_items_end(struct ax_call *c, int64_t next)
{
	ax_json_arr_end(&c->json);
	ax_json_id(&c->json, "next", next);
	ax_json_obj_end(&c->json);
}

void ax_call_body(struct ax_call *c, struct ax_read *r, struct ax_err *err)
{
	ax_read_begin(r, c->json_in, "", &c->arena, err);
}

enum ax_status ax_call_audit(struct ax_call *c, const char *action, const char *object, const char *before,
	const char *after, const char *reason, struct ax_err *err)
{
	struct ax_audit_entry entry = {
		.time = c->now,
		.actor = c->who.actor != NULL ? c->who.actor : "",
		.address = c->address,
		.action = action,
		.object = object,
		.before = before,
		.after = after,
		.reason = reason,
	};
	return c->tx->ops->audit_append(c->tx, &entry, err);
}

const char *ax_call_text(struct ax_call *c)
{
	return c->out.data == NULL ? "" : ax_strndup(&c->arena, c->out.data, c->out.len);
}

static enum ax_status check_permission(const struct ax_call *c, struct ax_err *err)
{
	static const enum ax_role needed[] = {
		[AX_MAY_VIEW] = AX_ROLE_VIEWER,
		[AX_MAY_OPERATE] = AX_ROLE_OPERATOR,
		[AX_MAY_EDIT] = AX_ROLE_EDITOR,
		[AX_MAY_ADMINISTER] = AX_ROLE_ADMIN,
	};
	if (c->route->may == AX_MAY_WORK) {
		if (!c->who.worker)
			return ax_fail(err, AX_DENIED, "", "this call needs a worker token (axctl worker token)");
		return AX_OK;
	}
	if (c->who.worker)
		return ax_fail(err, AX_DENIED, "", "a worker token reaches only /worker/v1");
	if (c->who.role < needed[c->route->may])
		return ax_fail(err, AX_DENIED, "", "this call needs the role `%s`, you have `%s`",
			ax_role_name(needed[c->route->may]), ax_role_name(c->who.role));
	return AX_OK;
}

static enum ax_status check_csrf(const struct ax_call *c, struct ax_err *err)
{
	if (!c->by_cookie || c->route->method == AX_HTTP_GET)
		return AX_OK;
	size_t len = strlen(c->who.csrf);
	if (c->csrf == NULL || strlen(c->csrf) != len || sodium_memcmp(c->csrf, c->who.csrf, len) != 0)
		return ax_fail(err, AX_DENIED, "X-AX-CSRF",
			"a change with the cookie needs the header X-AX-CSRF with the value of GET /session");
	return AX_OK;
}

/* Before there is an administrator no worker can have a token, and one that was started first is to wait. */
static enum ax_status refuse_stranger(const struct ax_call *c, struct ax_err *err)
{
	int64_t users = 0;
	struct ax_err ignored;
	bool early = c->route->may == AX_MAY_WORK && atomic_load(&c->server->setup_needed) &&
		c->tx->ops->user_count(c->tx, &users, &ignored) == AX_OK && users == 0;
	return early ? ax_fail(err, AX_UNAVAILABLE, "", "there is no administrator yet, and so no worker token")
		     : AX_UNAUTHENTICATED;
}

enum ax_status ax_call_admit(struct ax_call *c, struct ax_err *err)
{
	if (c->route->may == AX_MAY_ANYONE)
		return AX_OK;
	if (c->hash == NULL)
		return ax_fail(err, AX_UNAUTHENTICATED, "", "this call needs a credential");
	enum ax_status status = ax_account_admit(c->tx, c->hash, c->now, c->server->config.dev, &c->who, err);
	if (status == AX_UNAUTHENTICATED)
		return refuse_stranger(c, err);
	if (status != AX_OK)
		return status;
	if (c->by_cookie != c->who.session)
		return ax_fail(err, AX_UNAUTHENTICATED, "", "the credential does not belong there");
	status = check_permission(c, err);
	return status == AX_OK ? check_csrf(c, err) : status;
}

static enum ax_status check_query(const struct ax_call *c, struct ax_err *err)
{
	for (int i = 0; i < c->n_query; i++)
		if (!c->query[i].used)
			return ax_fail(
				err, AX_INVALID, c->query[i].name, "unknown query parameter `%.64s`", c->query[i].name);
	return AX_OK;
}

static void begin_answer(struct ax_call *c)
{
	c->status = 0;
	c->out.max = ANSWER_MAX_BYTES;
	ax_buf_clear(&c->out);
	ax_json_init(&c->json, &c->out);
	c->then = NULL;
	c->cookie = NULL;
	c->content_type = NULL;
	c->revoked_token = 0;
	c->told = AX_OK;
}

/* A store whose transactions are parts of the one that is open: so what a service does, the audit entry and the kept
 * answer are one. A part that fails must fail the whole. */
struct joined_store {
	struct ax_store port;
	struct ax_tx *tx;
};

static enum ax_status run_joined(
	struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	(void)arena;
	return fn(((struct joined_store *)store)->tx, arg, err);
}

static enum ax_status serve_joined(struct ax_call *c, struct ax_err *err)
{
	static const struct ax_store_ops ops = { run_joined };
	if (c->ctx == NULL)
		return c->step(c, err);
	struct joined_store joined = { { .ops = &ops, .sole = c->ctx->store->sole, .joined = true }, c->tx };
	struct ax_store *own = c->ctx->store;
	c->ctx->store = &joined.port;
	enum ax_status status = c->step(c, err);
	c->ctx->store = own;
	return status;
}

static enum ax_status serve(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_call *c = arg;
	bool first = c->step == c->route->handler;
	c->tx = tx;
	begin_answer(c);
	enum ax_status status = ax_call_admit(c, err);
	if (status != AX_OK)
		return status;
	bool replayed = false;
	if (c->ctx != NULL && c->idem_key != NULL)
		status = ax_idem_replay(c, &replayed, err);
	if (status == AX_OK && !replayed) {
		status = serve_joined(c, err);
		if (status == AX_OK && first)
			status = check_query(c, err);
		if (status == AX_OK && c->told == AX_OK && c->ctx != NULL && c->idem_key != NULL)
			status = ax_idem_keep(c, err);
	}
	if (status == AX_OK && c->out.overflow)
		status = ax_fail(err, AX_TOO_LARGE, "", "the answer is too large; ask for less");
	return status;
}

static void run_in(struct ax_call *c, struct ax_side *side)
{
	c->now = ax_now_ms(&c->server->clock.port);
	c->err = (struct ax_err){ 0 };
	c->failed = ax_store_run(side->store, &c->arena, serve, c, &c->err);
	/* Who used the same key at the same moment may have been first, and its answer is there by now: else the
	 * refusal is the same again. */
	if ((c->failed == AX_EXISTS || c->failed == AX_CONFLICT) && c->ctx != NULL && c->idem_key != NULL)
		c->failed = ax_store_run(side->store, &c->arena, serve, c, &c->err);
	if (c->failed == AX_OK)
		c->failed = c->told;
	c->tx = NULL;
}

void ax_call_run_read(struct ax_errand *errand, struct ax_side *side)
{
	run_in((struct ax_call *)errand, side);
}

void ax_call_run_write(struct ax_errand *errand, struct ax_side *side)
{
	struct ax_call *c = (struct ax_call *)errand;
	c->ctx = side->ctx;
	/* services take their memory from the context's arena: lend it the call's, so that rows live until the answer
	 */
	struct ax_arena *own = side->ctx->arena;
	side->ctx->arena = &c->arena;
	/* before the call's transaction: were that undone, the raised mark would be undone with it */
	c->failed = ax_gids_ensure(side->ctx, &c->err);
	if (c->failed == AX_OK)
		run_in(c, side);
	AX_CRASHPOINT(c->route->pattern, "before_commit");
	side->ctx->arena = own;
	c->ctx = NULL;
}

void ax_call_run_hash(struct ax_errand *errand, struct ax_side *side)
{
	(void)side;
	struct ax_call *c = (struct ax_call *)errand;
	begin_answer(c);
	c->failed = c->step(c, &c->err);
}

void ax_call_free(struct ax_call *c)
{
	if (c->memo_free != NULL)
		c->memo_free(c->memo);
	json_decref(c->json_in);
	ax_buf_done(&c->out);
	ax_arena_done(&c->arena);
	free(c);
}
