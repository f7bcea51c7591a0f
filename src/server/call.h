#ifndef AX_SERVER_CALL_H
#define AX_SERVER_CALL_H

/* One API request on its way: read in the loop thread (front.c), run in a lane inside one transaction, answered from
 * the loop thread after the commit. Handlers see only this. */

#include "adapters/http/server.h"
#include "app/accounts.h"
#include "app/claim.h"
#include "base/json_write.h"
#include "server/json_read.h"
#include "server/lanes.h"

struct ax_server;
struct ax_call;

/* Runs in the transaction c->tx; on the write lane services may be called with c->ctx. May be called again from its
 * beginning. Writes the answer to c->json (or sets c->status to 204) or fails. */
typedef enum ax_status (*ax_handler)(struct ax_call *c, struct ax_err *err);

/* Whom a route lets in. */
enum ax_may { AX_MAY_ANYONE, AX_MAY_VIEW, AX_MAY_OPERATE, AX_MAY_EDIT, AX_MAY_ADMINISTER, AX_MAY_WORK };

/* How a route is served. */
enum ax_via {
	AX_VIA_LOOP, /* the handler runs in the loop thread, without credentials or transaction */
	AX_VIA_READ,
	AX_VIA_WRITE,
	AX_VIA_STREAM, /* as READ; then the answer stays open and live.c feeds it */
	AX_VIA_POLL,   /* parked by polls.c */
};

struct ax_route {
	enum ax_http_method method;
	const char *pattern;
	enum ax_may may;
	enum ax_via via;
	ax_handler handler;
	size_t body_max_bytes;
	const char *summary;
};

extern const struct ax_route ax_routes[];
extern const size_t ax_n_routes;

enum { AX_CALL_PARAMS = 2, AX_CALL_QUERIES = 24 };

struct ax_call {
	struct ax_errand errand;
	struct ax_server *server;
	struct ax_http_request *req; /* loop thread only */
	const struct ax_route *route;
	struct ax_arena arena;

	/* the question */
	const char *param[AX_CALL_PARAMS]; /* of the pattern, in order */
	struct {
		const char *name, *value;
		bool used;
	} query[AX_CALL_QUERIES];
	int n_query;
	const char *path;
	const char *address;
	const char *hash; /* of the secret that came along, NULL = none came */
	bool by_cookie;
	const char *csrf;     /* the header's value or NULL */
	const char *idem_key; /* the header's value or NULL */
	const char *body;
	size_t body_len;
	json_t *json_in; /* NULL when there is no body */

	/* while it runs */
	struct ax_tx *tx;
	struct ax_ctx *ctx; /* write lane only */
	int64_t now;
	struct ax_caller who;
	struct ax_claim_view *claims; /* of a page of runs; NULL: each is looked at alone */

	/* the answer */
	int status; /* HTTP; 0 = 200 */
	struct ax_buf out;
	struct ax_json json;
	const char *content_type; /* NULL = JSON */
	const char *cookie;       /* value of Set-Cookie or NULL */
	int64_t retry_after_s;
	enum ax_status failed; /* AX_OK, or what to tell instead of the answer */
	enum ax_status told;   /* set by a handler that succeeds, but whose caller is told this and c->err */
	struct ax_err err;

	/* what comes next, set by the handler: another lane, or something in the loop thread after the commit */
	ax_handler then;
	enum ax_lane then_lane;
	const char *login;     /* somebody signs in with a password as this user: counted by front.c */
	bool passed;           /* … and the password was right */
	int64_t revoked_token; /* its streams and polls end */
	ax_handler step;       /* what runs: the route's handler, or what `then` was */
	void *memo;            /* a handler's own, for `then` */
	void (*memo_free)(void *memo);

	/* loop thread: the client left; the server wants to stop. NULL: nothing to do before the lane is through */
	void (*on_gone)(struct ax_call *c);
	void (*on_drain)(struct ax_call *c);
	void *holder; /* what keeps the call open: a parked poll, a stream */
};

/* --- for handlers ----------------------------------------------------------------------------------------------- */

/* Parameters of the path. AX_NOT_FOUND when it is no id, as when there were no such row. */
AX_MUST_USE enum ax_status ax_call_id(struct ax_call *c, int param, const char *what, int64_t *ret, struct ax_err *err);

/* Parameters of the query. Absent: *ret stays. What no handler asked for is refused at the end. */
const char *ax_call_query(struct ax_call *c, const char *name);
AX_MUST_USE enum ax_status ax_call_query_int(
	struct ax_call *c, const char *name, int64_t min, int64_t max, int64_t *ret, struct ax_err *err);
AX_MUST_USE enum ax_status ax_call_query_bool(struct ax_call *c, const char *name, bool *ret, struct ax_err *err);
/* `limit` (1-200, else 50) and `after` (an id, else 0) of lists. */
AX_MUST_USE enum ax_status ax_call_page(struct ax_call *c, int *ret_limit, int64_t *ret_after, struct ax_err *err);
/* The end of a list: closes "items" and writes "next" (0 = null), closes the object. */
void ax_call_items_begin(struct ax_call *c);
void ax_call_items_end(struct ax_call *c, int64_t next);

/* The body as an object; an absent body reads as an empty one. */
void ax_call_body(struct ax_call *c, struct ax_read *r, struct ax_err *err);

/* Appends to the audit log, in the call's transaction. `before` and `after` are JSON texts or "". */
AX_MUST_USE enum ax_status ax_call_audit(struct ax_call *c, const char *action, const char *object, const char *before,
	const char *after, const char *reason, struct ax_err *err);

/* The text written to `out` so far, copied to the arena: the audit log's "after". */
const char *ax_call_text(struct ax_call *c);

/* --- for front.c, polls.c, live.c --------------------------------------------------------------------------------- */

/* Admits the caller and checks the route's permission and groups-independent rules (CSRF). In a transaction. */
AX_MUST_USE enum ax_status ax_call_admit(struct ax_call *c, struct ax_err *err);
/* errand.run of the read, write and hash lanes. */
void ax_call_run_read(struct ax_errand *errand, struct ax_side *side);
void ax_call_run_write(struct ax_errand *errand, struct ax_side *side);
void ax_call_run_hash(struct ax_errand *errand, struct ax_side *side);
void ax_call_free(struct ax_call *c);

#endif
