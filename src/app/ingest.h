#ifndef AX_APP_INGEST_H
#define AX_APP_INGEST_H

#include "app/ctx.h"
#include "app/worker_seen.h"

/* What workers report, see docs/protocol.md. */
enum ax_item_type {
	AX_ITEM_ACCEPTED,
	AX_ITEM_STARTED,
	AX_ITEM_HEARTBEAT,
	AX_ITEM_PROGRESS,
	AX_ITEM_OUTPUT,
	AX_ITEM_RESULT,
};

enum ax_verdict { AX_VERDICT_APPLIED, AX_VERDICT_DUPLICATE, AX_VERDICT_LATE, AX_VERDICT_STOP };

struct ax_item {
	enum ax_item_type type;
	int64_t gid, fence;
	int64_t percent;     /* progress, -1 = not said */
	const char *message; /* progress, result; never NULL */
	int64_t seq;         /* output */
	const char *data;    /* output; valid UTF-8 */
	int64_t len;
	enum ax_outcome outcome; /* result: SUCCESS … REFUSED */
	int64_t code;
	const char *result;  /* JSON text or "" */
	int64_t duration_ms; /* result: how long the worker was at it; 0 = not said */
	bool of_server;      /* no worker said it: nothing is recorded of it when it comes too late */
	/* filled by ax_ingest */
	enum ax_verdict verdict;
	bool unknown; /* the store never gave that attempt out, or has forgotten that it did */
};

/* As if its worker had given the attempt back unstarted, where the server knows that it never got it. */
static inline struct ax_item ax_item_given_back(const struct ax_run *run)
{
	return (struct ax_item){
		.type = AX_ITEM_RESULT,
		.gid = run->gid,
		.fence = run->fence,
		.outcome = AX_OUTCOME_CANCELLED,
		.message = "",
		.result = "",
		.of_server = true,
	};
}

struct ax_report {
	const char *worker;
	const char *incarnation;
	const char *const *groups; /* the credential's; runs of others are not touched. NULL-terminated; NULL = all */
	struct ax_item *items;
	int n;
	bool unheard; /* its worker does not get the answer: no stops are told */
	/* filled by ax_ingest */
	struct ax_stop *stops;
	int n_stops;
	bool drain;
};

/* Applies a report in one transaction. Idempotent: an item that was applied before answers DUPLICATE and changes
 * nothing. An item of another fence, worker or group changes nothing either; a result among them is recorded beside the
 * run (LATE); one of an attempt that the store does not know is in the log alone. AX_NOT_FOUND: unknown worker,
 * register again. AX_CONFLICT: another incarnation took over.
 *
 * Crash points: before the commit the worker sends again; after it, too, and is answered DUPLICATE. */
enum ax_status ax_ingest(struct ax_ctx *ctx, struct ax_report *report, struct ax_err *err) AX_MUST_USE;

#endif
