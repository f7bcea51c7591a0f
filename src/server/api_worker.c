/* The worker API, /worker/v1. Polls are in polls.c. */

#include "server/handlers.h"
#include "server/worker_json.h"

enum ax_status ax_post_register(struct ax_call *c, struct ax_err *err)
{
	struct ax_registration reg;
	enum ax_status status = ax_worker_read_registration(c, &reg, err);
	if (status == AX_OK)
		status = ax_worker_check_groups(c, reg.worker.name, err);
	for (int i = 0; i < reg.n_groups && status == AX_OK; i++)
		if (!ax_worker_token_covers(c, reg.groups[i].group_key))
			status = ax_fail(err, AX_DENIED, "groups", "the worker token is not for the group `%.64s`",
				reg.groups[i].group_key);
	if (status == AX_OK)
		status = ax_worker_register(c->ctx, &reg, err);
	if (status == AX_NOT_FOUND) /* 404 means another thing to a worker: register again */
		status = ax_fail(err, AX_INVALID, "groups", "%s", ax_sprintf(&c->arena, "%s", err->msg));
	if (status == AX_OK)
		ax_worker_write_registered(c, &reg);
	return status;
}

/* Polls are parked by polls.c; only one that cannot be read comes here. */
enum ax_status ax_post_poll(struct ax_call *c, struct ax_err *err)
{
	struct ax_poll poll;
	int64_t wait_ms;
	enum ax_status status = ax_worker_read_poll(c, &poll, &wait_ms, err);
	AX_ASSERT(status != AX_OK);
	return status;
}

enum ax_status ax_post_report(struct ax_call *c, struct ax_err *err)
{
	struct ax_report report;
	struct ax_unanswered polls;
	enum ax_status status = ax_worker_read_report(c, &report, &polls, err);
	int said = report.n;
	if (status == AX_OK)
		status = ax_worker_token_groups(c, &report.groups, err);
	if (status == AX_OK)
		status = ax_give_back_unanswered(c->ctx, &polls, &report, err);
	if (status == AX_OK)
		status = ax_ingest(c->ctx, &report, err);
	report.n = said; /* the verdicts are about these */
	if (status == AX_OK)
		ax_worker_write_report(&c->json, &report);
	return status;
}

enum ax_status ax_post_leave(struct ax_call *c, struct ax_err *err)
{
	const char *worker, *incarnation;
	enum ax_status status = ax_worker_read_leave(c, &worker, &incarnation, err);
	if (status == AX_OK)
		status = ax_worker_check_groups(c, worker, err);
	if (status == AX_OK)
		status = ax_worker_leave(c->ctx, worker, incarnation, err);
	if (status == AX_OK) {
		ax_json_obj(&c->json, NULL);
		ax_json_obj_end(&c->json);
	}
	return status;
}
