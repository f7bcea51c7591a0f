#include "app/chore.h"

#include "core/limits.h"

struct pass {
	struct ax_ctx *ctx;
	const char *chore;
	ax_tx_fn fn;
	void *arg;
	int64_t now;
	bool mine;
};

/* A lease that has longer to run than one ever has is from before the clock went back. */
static bool is_anothers(const struct pass *pass, const struct ax_lease *lease)
{
	int64_t left = lease->until_time - pass->now;
	return lease->holder != pass->ctx->seat->incarnation && left > 0 && left <= AX_CHORE_LEASE_MS + AX_SKEW_MS;
}

/* Nobody ever did it. */
static enum ax_status begin(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_lease lease = {
		.name = pass->chore,
		.holder = pass->ctx->seat->incarnation,
		.fence = 1,
		.until_time = pass->now + AX_CHORE_LEASE_MS,
	};
	enum ax_status status = tx->ops->lease_insert(tx, &lease, err);
	pass->mine = status == AX_OK;
	return status == AX_EXISTS ? AX_OK : status; /* another one was quicker */
}

/* The row is locked from here on. It is written only when somebody new begins, or half of its time is over. */
static enum ax_status take(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_lease lease;
	enum ax_status status = tx->ops->lease_get(tx, pass->chore, true, &lease, err);
	if (status != AX_OK || is_anothers(pass, &lease))
		return status;
	int64_t old_fence = lease.fence, left = lease.until_time - pass->now;
	pass->mine = true;
	if (lease.holder == pass->ctx->seat->incarnation && left > AX_CHORE_LEASE_MS / 2 && left <= AX_CHORE_LEASE_MS)
		return AX_OK;
	lease.fence += lease.holder != pass->ctx->seat->incarnation;
	lease.holder = pass->ctx->seat->incarnation;
	lease.until_time = pass->now + AX_CHORE_LEASE_MS;
	return tx->ops->lease_update(tx, &lease, old_fence, err);
}

static enum ax_status run(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_lease lease;
	pass->mine = pass->ctx->store->sole;
	enum ax_status status = AX_OK;
	if (!pass->mine) {
		status = tx->ops->lease_get(tx, pass->chore, false, &lease, err); /* nobody waits for who does it */
		if (status == AX_NOT_FOUND)
			status = begin(pass, tx, err);
		else if (status == AX_OK && !is_anothers(pass, &lease))
			status = take(pass, tx, err);
	}
	return status == AX_OK && pass->mine ? pass->fn(tx, pass->arg, err) : status;
}

enum ax_status ax_chore_run(
	struct ax_ctx *ctx, const char *chore, ax_tx_fn fn, void *arg, bool *ret_mine, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .chore = chore, .fn = fn, .arg = arg, .now = ax_now_ms(ctx->clock) };
	*ret_mine = false;
	enum ax_status status = ax_store_run(ctx->store, ctx->arena, run, &pass, err);
	*ret_mine = status == AX_OK && pass.mine;
	return status;
}
