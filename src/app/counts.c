#include "app/counts.h"

#include <string.h>

#include "core/limits.h"

enum {
	MINUTE_MS = 60000,
	LOOK_MS = 20000,
	GO_ON_MS = 200,        /* while a minute is counted in parts */
	SETTLE_MS = 10000,     /* a minute is first counted so long after its end … */
	AGAIN_MS = MINUTE_MS,  /* … and once more with the next one */
	PART_MS = 5000,        /* of a minute, counted at once … */
	SLICE_MIN_MS = 1000,   /* … or less, when many runs end */
	SLICE_MAX_MS = 960000, /* passed over when none do */
	SLICES = 200,          /* in one transaction … */
	RUNS = 10000,          /* … or as many as hold so many runs: what waits for the transaction must not notice */
	DAY_MINUTES = 1440,
	KEEP_MINUTES = 2 * DAY_MINUTES,
};

static enum ax_status read_day(struct ax_tx *tx, int64_t now, struct ax_ended_minutes *ret_rows, struct ax_err *err)
{
	/* A clock that went back may have left rows of minutes that are to come: they are not counted yet. */
	int64_t from = now / MINUTE_MS - DAY_MINUTES + 1;
	enum ax_status status = tx->ops->ended_minutes(tx, from, DAY_MINUTES, ret_rows, err);
	while (status == AX_OK && ret_rows->n > 0 && ret_rows->at[ret_rows->n - 1].minute > now / MINUTE_MS)
		ret_rows->n--;
	return status;
}

static enum ax_status put_minute(struct ax_tx *tx, int64_t minute, const int64_t n[32], struct ax_err *err)
{
	struct ax_ended_minute row = {
		.minute = minute,
		.success = n[AX_RUN_SUCCESS],
		.failed = n[AX_RUN_FAILED],
		.timeout = n[AX_RUN_TIMEOUT],
		.cancelled = n[AX_RUN_CANCELLED],
		.blocked = n[AX_RUN_BLOCKED],
		.skipped = n[AX_RUN_SKIPPED],
		.missed = n[AX_RUN_MISSED],
	};
	return tx->ops->ended_minute_put(tx, &row, err);
}

/* A part of a minute, a smaller one when many runs ended lately. Where none did, whole minutes are passed over at
 * once; not the last one, whose row says how far the counts go. Both in *ret_to; true = minutes are passed over. */
static bool choose_slice(const struct ax_counting *c, int64_t over, int64_t *ret_to)
{
	int64_t into = c->upto % MINUTE_MS;
	bool leap = into == 0 && c->slice_ms > MINUTE_MS && over - c->upto > 2 * (int64_t)MINUTE_MS;
	if (leap)
		*ret_to = AX_MIN(c->upto + c->slice_ms / MINUTE_MS * MINUTE_MS, over - MINUTE_MS);
	else
		*ret_to = c->upto + AX_MIN(AX_MIN(c->slice_ms, PART_MS), MINUTE_MS - into);
	return leap;
}

static enum ax_status count_slice(
	struct ax_tx *tx, int64_t over, struct ax_counting *c, int64_t *runs, struct ax_err *err)
{
	int64_t to, n[32], sum = 0;
	bool leap = choose_slice(c, over, &to);
	enum ax_status status = tx->ops->ended_counts(tx, c->upto, to, n, err);
	if (status != AX_OK)
		return status;
	for (int state = 0; state < 32; state++)
		sum += n[state];
	*runs += sum;
	if (leap && sum > 0) { /* not so fast */
		c->slice_ms = MINUTE_MS;
		return AX_OK;
	}
	if (sum > RUNS)
		c->slice_ms = AX_MAX(AX_MIN(c->slice_ms, to - c->upto) / 2, SLICE_MIN_MS);
	else if (sum < RUNS / 4)
		c->slice_ms = AX_MIN(c->slice_ms * 2, SLICE_MAX_MS);
	for (int state = 0; state < 32; state++)
		c->n[state] += n[state];
	c->upto = to;
	if (leap || to % MINUTE_MS != 0)
		return AX_OK;
	status = put_minute(tx, to / MINUTE_MS - 1, c->n, err);
	memset(c->n, 0, sizeof c->n);
	return status;
}

bool ax_counts_are_due(const struct ax_ctx *ctx, int64_t now)
{
	bool going_on = ctx->counting.upto > 0 && !ctx->counting.rests;
	int64_t since_ms = now - ctx->counted_ms;
	return since_ms < 0 || since_ms >= (going_on ? GO_ON_MS : LOOK_MS);
}

enum ax_status ax_counts_fold(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err)
{
	int64_t over = (now - SETTLE_MS) / MINUTE_MS * MINUTE_MS, runs = 0;
	struct ax_counting *c = &ctx->counting_next;
	enum ax_status status = AX_OK;
	*ret_taken = 0;
	*c = ctx->counting;
	if (c->rests && c->upto == over)
		return AX_OK;
	if (c->upto == 0 || c->upto > over) { /* a server that begins, or a clock that went back */
		struct ax_ended_minutes rows;
		status = read_day(tx, now, &rows, err);
		*c = (struct ax_counting){ .slice_ms = SLICE_MIN_MS };
		if (status == AX_OK && rows.n > 0)
			c->upto = rows.at[rows.n - 1].minute * MINUTE_MS;
	} else if (c->rests) {
		c->upto -= AGAIN_MS;
	}
	c->upto = AX_MAX(c->upto, over - DAY_MINUTES * (int64_t)MINUTE_MS);
	for (int i = 0; status == AX_OK && i < SLICES && runs < RUNS && c->upto < over; i++)
		status = count_slice(tx, over, c, &runs, err);
	c->rests = c->upto >= over;
	if (status == AX_OK)
		status = tx->ops->ended_minutes_cut(tx, over / MINUTE_MS - KEEP_MINUTES, err);
	return status;
}

static void add(int64_t by_state[32], const struct ax_ended_minute *row)
{
	by_state[AX_RUN_SUCCESS] += row->success;
	by_state[AX_RUN_FAILED] += row->failed;
	by_state[AX_RUN_TIMEOUT] += row->timeout;
	by_state[AX_RUN_CANCELLED] += row->cancelled;
	by_state[AX_RUN_BLOCKED] += row->blocked;
	by_state[AX_RUN_SKIPPED] += row->skipped;
	by_state[AX_RUN_MISSED] += row->missed;
}

enum ax_status ax_counts_of_a_day(struct ax_tx *tx, int64_t now, int64_t ret_by_state[32], struct ax_err *err)
{
	struct ax_ended_minutes rows;
	int64_t n[32], rest[32];
	enum ax_status status = tx->ops->live_counts(tx, n, err);
	if (status == AX_OK)
		status = read_day(tx, now, &rows, err);
	if (status != AX_OK)
		return status;
	int64_t from = now / MINUTE_MS - DAY_MINUTES + 1;
	for (int i = 0; i < rows.n; i++) {
		add(n, &rows.at[i]);
		from = rows.at[i].minute + 1;
	}
	status = tx->ops->ended_counts(tx, from * MINUTE_MS, INT64_MAX, rest, err);
	for (int state = 0; status == AX_OK && state < 32; state++)
		ret_by_state[state] = n[state] + rest[state];
	return status;
}
