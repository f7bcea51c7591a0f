#include "app/counts.h"

#include "core/limits.h"

enum {
	MINUTE_MS = 60000,
	SETTLE_MS = 10000, /* a minute is first counted so long after its end … */
	AGAIN_MINUTES = 2, /* … and again with the next ones */
	STEP_MINUTES = 60, /* counted in one transaction */
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

static enum ax_status count_minute(struct ax_tx *tx, int64_t minute, struct ax_err *err)
{
	int64_t n[32];
	enum ax_status status = tx->ops->ended_counts(tx, minute * MINUTE_MS, (minute + 1) * MINUTE_MS, n, err);
	if (status != AX_OK)
		return status;
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

/* In a new store, and after a long stop, there is nothing to count. */
static enum ax_status skip_quiet_time(struct ax_tx *tx, int64_t *next, int64_t over, struct ax_err *err)
{
	int64_t n[32], sum = 0;
	enum ax_status status = tx->ops->ended_counts(tx, *next * MINUTE_MS, over * MINUTE_MS, n, err);
	for (int state = 0; status == AX_OK && state < 32; state++)
		sum += n[state];
	if (status == AX_OK && sum == 0)
		*next = over - 1;
	return status;
}

enum ax_status ax_counts_fold(struct ax_ctx *ctx, struct ax_tx *tx, int64_t now, int *ret_taken, struct ax_err *err)
{
	int64_t over = (now - SETTLE_MS) / MINUTE_MS; /* minutes before this one */
	int64_t next = ctx->counted_minute;
	enum ax_status status = AX_OK;
	if (next == 0 || next > over) { /* a server that begins, or a clock that went back */
		struct ax_ended_minutes rows;
		status = read_day(tx, now, &rows, err);
		next = status == AX_OK && rows.n > 0 ? rows.at[rows.n - 1].minute : 0;
	}
	next = AX_MAX(next - AGAIN_MINUTES, over - DAY_MINUTES);
	if (status == AX_OK && over - next > STEP_MINUTES)
		status = skip_quiet_time(tx, &next, over, err);
	int64_t end = AX_MIN(next + STEP_MINUTES, over);
	for (; status == AX_OK && next < end; next++)
		status = count_minute(tx, next, err);
	if (status == AX_OK)
		status = tx->ops->ended_minutes_cut(tx, over - KEEP_MINUTES, err);
	if (status == AX_OK) {
		ctx->counted_minute = end;
		*ret_taken = end < over ? AX_BATCH : 0;
	}
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
