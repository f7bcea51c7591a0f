#include "app/unanswered.h"

#include <string.h>

struct pass {
	const struct ax_unanswered *polls;
	struct ax_report *report;
	struct ax_item *items;
	int n;
};

static bool is_brought_by(const struct ax_run *run, const struct ax_unanswered *polls)
{
	for (size_t i = 0; i < polls->n; i++)
		if (run->poll != 0 && run->poll == polls->at[i])
			return true;
	return false;
}

static bool is_told_of(const struct ax_run *run, const struct ax_report *report)
{
	for (int i = 0; i < report->n; i++)
		if (report->items[i].gid == run->gid && report->items[i].fence == run->fence)
			return true;
	return false;
}

static enum ax_status find(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	const struct ax_report *report = pass->report;
	struct ax_runs given;
	enum ax_status status = tx->ops->runs_of_worker(tx, report->worker, INT32_MAX, &given, err);
	if (status != AX_OK)
		return status;
	pass->n = report->n;
	pass->items = ax_alloc_array(tx->arena, (size_t)(report->n + given.n) + 1, sizeof(*pass->items));
	for (int i = 0; i < report->n; i++)
		pass->items[i] = report->items[i];
	for (int i = 0; i < given.n; i++) {
		const struct ax_run *run = &given.at[i];
		if (!run->accepted && is_brought_by(run, pass->polls) && !is_told_of(run, report) &&
			strcmp(run->incarnation, report->incarnation) == 0)
			pass->items[pass->n++] = ax_item_given_back(run);
	}
	return AX_OK;
}

enum ax_status ax_give_back_unanswered(
	struct ax_ctx *ctx, const struct ax_unanswered *polls, struct ax_report *report, struct ax_err *err)
{
	struct pass pass = { .polls = polls, .report = report };
	enum ax_status status = polls->n > 0 ? ax_store_run(ctx->store, ctx->arena, find, &pass, err) : AX_OK;
	if (status == AX_OK && polls->n > 0) {
		report->items = pass.items;
		report->n = pass.n;
	}
	return status;
}
