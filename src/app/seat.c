#include "app/seat.h"

#include <inttypes.h>

#include "core/limits.h"

/* Number and mark change together, for all threads at once: so they are one value, and never 0. */
static int64_t place_of(int64_t number, int64_t used_ms)
{
	return AX_MAX(used_ms, AX_GID_EPOCH_MS) * AX_GID_SERVERS + number;
}

int64_t ax_seat_number(const struct ax_seat *seat)
{
	return atomic_load(&seat->place) % AX_GID_SERVERS;
}

/* Under another number, or for the first time: above everything that was used before. */
static void begin_gids(struct ax_ctx *ctx)
{
	int64_t place = atomic_load(&ctx->seat->place);
	if (place == ctx->place)
		return;
	ctx->place = place;
	ax_gid_init(&ctx->gids, place % AX_GID_SERVERS, place / AX_GID_SERVERS, ctx->stripe, AX_MAX(ctx->stripes, 1));
}

struct pass {
	struct ax_ctx *ctx;
	struct ax_server_row row; /* of this server */
	int64_t now;
	bool lost;
};

static bool lives(const struct pass *pass, const struct ax_server_row *row)
{
	return row->lease_time > pass->now && !pass->ctx->store->sole;
}

/* What a server that is gone was sending is sent again. The row is locked. */
static enum ax_status release(struct ax_tx *tx, struct ax_server_row *row, struct ax_err *err)
{
	row->lease_time = 0;
	enum ax_status status = tx->ops->deliveries_release(tx, row->number, err);
	return status == AX_OK ? tx->ops->server_put(tx, row, err) : status;
}

/* Tries one number. AX_EXISTS: it is somebody's. */
static enum ax_status try_number(struct pass *pass, struct ax_tx *tx, int64_t number, bool known, struct ax_err *err)
{
	struct ax_server_row old;
	pass->row.number = number;
	pass->row.gid_high_ms = 0;
	if (!known)
		return tx->ops->server_insert(tx, &pass->row, err);
	enum ax_status status = tx->ops->server_get(tx, number, true, &old, err);
	if (status == AX_OK && lives(pass, &old)) /* another one was quicker */
		return AX_EXISTS;
	if (status == AX_OK)
		status = release(tx, &old, err);
	pass->row.gid_high_ms = old.gid_high_ms;
	return status == AX_OK ? tx->ops->server_put(tx, &pass->row, err) : status;
}

static enum ax_status take(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_servers servers;
	enum ax_status status = tx->ops->servers(tx, &servers, err);
	if (status != AX_OK)
		return status;
	int at = 0; /* they come by number */
	for (int64_t number = 0; number < AX_GID_SERVERS; number++) {
		bool known = at < servers.n && servers.at[at].number == number;
		if (known && lives(pass, &servers.at[at++]))
			continue;
		status = try_number(pass, tx, number, known, err);
		if (status != AX_EXISTS)
			return status;
	}
	return ax_fail(err, AX_UNAVAILABLE, "", "all %d server numbers are taken", AX_GID_SERVERS);
}

enum ax_status ax_seat_take(struct ax_ctx *ctx, struct ax_err *err)
{
	struct ax_seat *seat = ctx->seat;
	int64_t mono = ax_mono_ms(ctx->clock);
	struct pass pass = { .ctx = ctx, .now = ax_now_ms(ctx->clock) };
	while (seat->incarnation == 0)
		seat->incarnation = (int64_t)(ax_rand_u64(ctx->rand) >> 1);
	pass.row = (struct ax_server_row){
		.name = ctx->server_name,
		.version = seat->version,
		.start_time = pass.now,
		.seen_time = pass.now,
		.incarnation = seat->incarnation,
		.lease_time = pass.now + AX_SEAT_LEASE_MS,
	};
	enum ax_status status = ax_store_run(ctx->store, ctx->arena, take, &pass, err);
	if (status != AX_OK)
		return status;
	atomic_store(&seat->place, place_of(pass.row.number, pass.row.gid_high_ms));
	atomic_store(&seat->mark_ms, pass.row.gid_high_ms);
	atomic_store(&seat->renewed_mono, mono);
	begin_gids(ctx);
	return AX_OK;
}

/* Servers whose leases have lapsed: whoever takes note releases what they left. */
static enum ax_status release_lapsed(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_servers servers;
	enum ax_status status = tx->ops->servers(tx, &servers, err);
	for (int i = 0; status == AX_OK && i < servers.n; i++) {
		struct ax_server_row *row = &servers.at[i];
		if (row->number == pass->row.number || row->lease_time == 0 || lives(pass, row))
			continue;
		status = tx->ops->server_get(tx, row->number, true, row, err);
		if (status == AX_OK && row->lease_time != 0 && !lives(pass, row))
			status = release(tx, row, err);
	}
	return status;
}

static enum ax_status renew(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	enum ax_status status = tx->ops->server_renew(tx, &pass->row, pass->row.incarnation, err);
	pass->lost = status == AX_CONFLICT || status == AX_NOT_FOUND;
	if (pass->lost)
		return AX_OK;
	return status == AX_OK ? release_lapsed(pass, tx, err) : status;
}

/* The lease begins anew; the mark is raised on the way. */
static enum ax_status renew_with_mark(struct ax_ctx *ctx, int64_t gid_high_ms, struct ax_err *err)
{
	struct ax_seat *seat = ctx->seat;
	int64_t mono = ax_mono_ms(ctx->clock);
	struct pass pass = { .ctx = ctx, .now = ax_now_ms(ctx->clock) };
	pass.row = (struct ax_server_row){
		.number = ax_seat_number(seat),
		.seen_time = pass.now,
		.incarnation = seat->incarnation,
		.lease_time = pass.now + AX_SEAT_LEASE_MS,
		.gid_high_ms = gid_high_ms,
	};
	enum ax_status status = ax_store_run(ctx->store, ctx->arena, renew, &pass, err);
	if (status == AX_OK && pass.lost)
		return ax_fail(err, AX_CONFLICT, "", "the number %" PRId64 " of this server is another one's",
			pass.row.number);
	if (status == AX_OK)
		atomic_store(&seat->renewed_mono, mono);
	return status;
}

/* It was away for longer than its lease: it goes on under another number. */
static enum ax_status take_another(struct ax_ctx *ctx, struct ax_err *err)
{
	int64_t old = ax_seat_number(ctx->seat);
	enum ax_status status = ax_seat_take(ctx, err);
	if (status == AX_OK)
		ctx->log->ops->event(ctx->log, AX_LOG_WARN, "server_number_lost",
			ax_sprintf(
				ctx->arena, "\"number\":%" PRId64 ",\"now\":%" PRId64, old, ax_seat_number(ctx->seat)));
	return status;
}

enum ax_status ax_seat_renew(struct ax_ctx *ctx, struct ax_err *err)
{
	enum ax_status status = renew_with_mark(ctx, ax_seat_mark(ctx->seat), err);
	return status == AX_CONFLICT ? take_another(ctx, err) : status;
}

int64_t ax_seat_mark(const struct ax_seat *seat)
{
	return atomic_load(&seat->mark_ms);
}

bool ax_seat_is_known(const struct ax_seat *seat, int64_t mark_ms, const struct ax_servers *servers)
{
	int64_t number = ax_seat_number(seat);
	for (int i = 0; i < servers->n; i++)
		if (servers->at[i].number == number)
			return servers->at[i].incarnation == seat->incarnation && servers->at[i].gid_high_ms >= mark_ms;
	return false;
}

static int64_t age_ms(struct ax_ctx *ctx)
{
	return ax_mono_ms(ctx->clock) - atomic_load(&ctx->seat->renewed_mono);
}

bool ax_seat_is_due(struct ax_ctx *ctx)
{
	return !ctx->store->sole && age_ms(ctx) >= AX_SEAT_RENEW_MS;
}

enum ax_status ax_seat_check(struct ax_ctx *ctx, struct ax_err *err)
{
	int64_t age = age_ms(ctx);
	if (ctx->store->sole || age < AX_SEAT_STALE_MS)
		return AX_OK;
	return ax_fail(err, AX_UNAVAILABLE, "",
		"this server could not renew the lease on its number for %" PRId64
		" s, and starts nothing until it can",
		age / 1000);
}

/* So that another server goes on with the chores at once. */
static enum ax_status leave_chores(struct pass *pass, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_leases leases;
	enum ax_status status = tx->ops->leases(tx, &leases, err);
	for (int i = 0; status == AX_OK && i < leases.n; i++) {
		struct ax_lease *lease = &leases.at[i];
		if (lease->holder != pass->ctx->seat->incarnation)
			continue;
		lease->until_time = 0;
		status = tx->ops->lease_update(tx, lease, lease->fence, err);
		if (status == AX_CONFLICT) /* it is another one's by now */
			status = AX_OK;
	}
	return status;
}

static enum ax_status leave(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_server_row row;
	enum ax_status status = tx->ops->server_get(tx, ax_seat_number(pass->ctx->seat), true, &row, err);
	if (status == AX_NOT_FOUND || (status == AX_OK && row.incarnation != pass->ctx->seat->incarnation))
		return AX_OK;
	row.seen_time = pass->now;
	if (status == AX_OK)
		status = release(tx, &row, err);
	return status == AX_OK ? leave_chores(pass, tx, err) : status;
}

enum ax_status ax_seat_leave(struct ax_ctx *ctx, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .now = ax_now_ms(ctx->clock) };
	return ax_store_run(ctx->store, ctx->arena, leave, &pass, err);
}

static void raise_gids(struct ax_ctx *ctx, int64_t high_ms)
{
	_Atomic int64_t *mark = &ctx->seat->mark_ms;
	ax_gid_raise(&ctx->gids, high_ms);
	for (int64_t old = atomic_load(mark); old < high_ms;)
		if (atomic_compare_exchange_weak(mark, &old, high_ms))
			break;
}

enum ax_status ax_seat_ensure_gids(struct ax_ctx *ctx, int64_t count, struct ax_err *err)
{
	enum ax_status status = ax_seat_is_due(ctx) ? ax_seat_renew(ctx, err) : AX_OK;
	for (int tries = 0; status == AX_OK && tries < 2; tries++) {
		begin_gids(ctx);
		int64_t high_ms = ax_gid_need(&ctx->gids, ax_now_ms(ctx->clock), count);
		if (high_ms == 0)
			return ax_seat_check(ctx, err);
		status = renew_with_mark(ctx, high_ms, err);
		if (status == AX_CONFLICT)
			status = take_another(ctx, err);
		else if (status == AX_OK)
			raise_gids(ctx, high_ms);
	}
	return status == AX_OK ? ax_seat_check(ctx, err) : status;
}
