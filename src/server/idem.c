#include "server/idem.h"

#include <string.h>

#include "server/secrets.h"

enum { KEEP_MS = 24 * 60 * 60 * 1000 };

static const char *stored_key(struct ax_call *c)
{
	return ax_sprintf(&c->arena, "%s\n%s", c->who.actor, c->idem_key);
}

static const char *request_hash(struct ax_call *c)
{
	struct ax_digest digest;
	ax_digest_begin(&digest);
	ax_digest_add(&digest, ax_http_method_name(c->route->method));
	ax_digest_add(&digest, c->path);
	ax_digest_add_bytes(&digest, c->body, c->body_len);
	return ax_digest_end(&digest, &c->arena);
}

enum ax_status ax_idem_replay(struct ax_call *c, bool *ret_replayed, struct ax_err *err)
{
	struct ax_idem kept;
	enum ax_status status = c->tx->ops->idem_get(c->tx, stored_key(c), &kept, err);
	bool over = status == AX_OK && kept.expire_time <= c->now;
	if (over)
		status = c->tx->ops->idem_purge(c->tx, c->now, err);
	if (over ? status == AX_OK : status == AX_NOT_FOUND) {
		*ret_replayed = false;
		return AX_OK;
	}
	if (status != AX_OK)
		return status;
	if (strcmp(kept.hash, request_hash(c)) != 0)
		return ax_fail(err, AX_CONFLICT, "Idempotency-Key", "this key was used for another request before");
	c->status = (int)kept.status;
	ax_buf_adds(&c->out, kept.body);
	*ret_replayed = true;
	return AX_OK;
}

enum ax_status ax_idem_keep(struct ax_call *c, struct ax_err *err)
{
	struct ax_idem idem = {
		.key = stored_key(c),
		.hash = request_hash(c),
		.status = c->status == 0 ? 200 : c->status,
		.body = ax_call_text(c),
		.expire_time = c->now + KEEP_MS,
	};
	return c->tx->ops->idem_put(c->tx, &idem, err);
}
