#include "app/quota_audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/chore.h"

enum { STEP = 20 };

/* Runs given out, as a row counts them or as they are found. */
struct count {
	int64_t all, in_long;
};

struct difference {
	const char *worker; /* "" = the group's own row */
	struct count counted, found;
};

struct pass {
	struct ax_ctx *ctx;
	const char *key;
	struct ax_groups groups;
	struct difference *differences; /* told when the transaction is over: it may be called several times */
	size_t n, cap;
};

static bool differs(struct pass *pass, struct ax_tx *tx, const char *worker, struct count counted, struct count found)
{
	if (counted.all == found.all && counted.in_long == found.in_long)
		return false;
	pass->differences =
		ax_grow_array(tx->arena, pass->differences, pass->n, 1, &pass->cap, sizeof(*pass->differences));
	pass->differences[pass->n++] = (struct difference){ worker, counted, found };
	return true;
}

static enum ax_status check_group(struct pass *pass, struct ax_tx *tx, const struct ax_group *group,
	const struct ax_worker_groups *found, struct ax_err *err)
{
	struct count counted = { group->running, group->running_long }, sum = { 0 };
	for (int i = 0; i < found->n; i++) {
		sum.all += found->at[i].given;
		sum.in_long += found->at[i].given_long;
	}
	if (!differs(pass, tx, "", counted, sum))
		return AX_OK;
	pass->ctx->notify->ops->group_ready(pass->ctx->notify, pass->key); /* it may have more room now */
	return tx->ops->group_add_running(tx, pass->key, sum.all - counted.all, sum.in_long - counted.in_long, err);
}

static enum ax_status check_part(struct pass *pass, struct ax_tx *tx, const struct ax_worker_group *part,
	const struct ax_worker_group *found, struct ax_err *err)
{
	struct count counted = { part->given, part->given_long }, is = { 0 };
	if (found != NULL)
		is = (struct count){ found->given, found->given_long };
	if (!differs(pass, tx, part->worker, counted, is))
		return AX_OK;
	pass->ctx->notify->ops->worker_changed(pass->ctx->notify, part->worker);
	return tx->ops->worker_group_add_given(
		tx, part->worker, pass->key, is.all - counted.all, is.in_long - counted.in_long, err);
}

/* A worker has runs, and no part of the group. It gets one, as large as they are made: without it none of the runs can
 * end, and a tick that meets the lease of one fails. It goes when the worker registers without the group. */
static enum ax_status add_part(struct pass *pass, struct ax_tx *tx, const struct ax_group *group,
	const struct ax_worker_group *found, struct ax_err *err)
{
	differs(pass, tx, found->worker, (struct count){ 0 }, (struct count){ found->given, found->given_long });
	pass->ctx->notify->ops->worker_changed(pass->ctx->notify, found->worker);
	enum ax_status status = tx->ops->worker_group_put(tx, found->worker, pass->key, group->pool_size, err);
	return status == AX_OK
		? tx->ops->worker_group_add_given(tx, found->worker, pass->key, found->given, found->given_long, err)
		: status;
}

/* Both ascend by worker. */
static enum ax_status check_parts(struct pass *pass, struct ax_tx *tx, const struct ax_group *group,
	const struct ax_worker_groups *parts, const struct ax_worker_groups *found, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	for (int i = 0, k = 0; status == AX_OK && (i < parts->n || k < found->n);) {
		int order = i == parts->n ? 1 : k == found->n ? -1 : strcmp(parts->at[i].worker, found->at[k].worker);
		if (order <= 0)
			status = check_part(pass, tx, &parts->at[i], order == 0 ? &found->at[k] : NULL, err);
		else
			status = add_part(pass, tx, group, &found->at[k], err);
		i += order <= 0;
		k += order >= 0;
	}
	return status;
}

static enum ax_status audit_group(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_group group;
	struct ax_worker_groups parts, found;
	pass->differences = NULL;
	pass->n = pass->cap = 0;
	enum ax_status status = tx->ops->group_get(tx, pass->key, true, &group, err);
	if (status == AX_NOT_FOUND)
		return AX_OK; /* it was deleted meanwhile */
	if (status == AX_OK)
		status = tx->ops->group_given(tx, pass->key, &found, err);
	if (status == AX_OK)
		status = tx->ops->group_workers(tx, pass->key, &parts, err);
	if (status == AX_OK)
		status = check_group(pass, tx, &group, &found, err);
	return status == AX_OK ? check_parts(pass, tx, &group, &parts, &found, err) : status;
}

static void tell(const struct pass *pass)
{
	struct ax_log *log = pass->ctx->log;
	for (size_t i = 0; i < pass->n; i++) {
		const struct difference *d = &pass->differences[i];
		log->ops->event(log, AX_LOG_ERROR, "quota_differs",
			ax_sprintf(pass->ctx->arena,
				"\"group\":\"%s\",\"worker\":\"%s\",\"counted\":%" PRId64 ",\"found\":%" PRId64
				",\"counted_long\":%" PRId64 ",\"found_long\":%" PRId64,
				pass->key, d->worker, d->counted.all, d->found.all, d->counted.in_long,
				d->found.in_long));
	}
}

static enum ax_status read_groups(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	return tx->ops->groups(tx, &((struct pass *)arg)->groups, err);
}

enum ax_status ax_quota_audit(struct ax_ctx *ctx, struct ax_quota_audit *audit, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx };
	int i = 0, done = 0;
	bool mine = true;
	audit->differ = 0;
	enum ax_status status = ax_store_run(ctx->store, ctx->arena, read_groups, &pass, err);
	while (status == AX_OK && i < pass.groups.n && strcmp(pass.groups.at[i].group_key, audit->after) <= 0)
		i++;
	for (; status == AX_OK && mine && i < pass.groups.n && done < STEP; i++, done++) {
		pass.key = pass.groups.at[i].group_key;
		status = ax_chore_run(ctx, "quotas", audit_group, &pass, &mine, err);
		tell(&pass); /* also when it was not committed: it is wrong all the same */
		audit->differ += (int64_t)pass.n;
		snprintf(audit->after, sizeof(audit->after), "%s", pass.key);
	}
	audit->more = status == AX_OK && mine && i < pass.groups.n;
	return status;
}
