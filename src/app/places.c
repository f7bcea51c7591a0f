#include "app/places.h"

#include <stdlib.h>
#include <string.h>

struct ax_place {
	const char *group_key, *worker;
	int64_t delta, long_delta;
};

static enum ax_status count_in_group(struct ax_tx *tx, const struct ax_place *sum, struct ax_err *err)
{
	return tx->ops->group_add_running(tx, sum->group_key, sum->delta, sum->long_delta, err);
}

static enum ax_status count_for_worker(struct ax_tx *tx, const struct ax_place *place, struct ax_err *err)
{
	return tx->ops->worker_group_add_given(
		tx, place->worker, place->group_key, place->delta, place->long_delta, err);
}

enum ax_status ax_places_count(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run, int64_t delta, struct ax_err *err)
{
	struct ax_place place = {
		.group_key = run->group_key,
		.worker = run->worker,
		.delta = delta,
		.long_delta = run->lane == AX_RUN_LANE_LONG ? delta : 0,
	};
	struct ax_places *places = ctx->places;
	if (places != NULL) {
		places->at = ax_grow_array(tx->arena, places->at, places->n, 1, &places->cap, sizeof(*places->at));
		places->at[places->n++] = place;
		return AX_OK;
	}
	enum ax_status status = count_in_group(tx, &place, err);
	return status == AX_OK ? count_for_worker(tx, &place, err) : status;
}

void ax_places_gather(struct ax_ctx *ctx, struct ax_places *places)
{
	*places = (struct ax_places){ 0 };
	ctx->places = places;
}

static int by_group(const void *pa, const void *pb)
{
	const struct ax_place *a = pa, *b = pb;
	int order = strcmp(a->group_key, b->group_key);
	return order != 0 ? order : strcmp(a->worker, b->worker);
}

/* The group's row of places[0..n), then those of its workers. */
static enum ax_status settle_group(struct ax_tx *tx, const struct ax_place *places, size_t n, struct ax_err *err)
{
	struct ax_place sum = { .group_key = places[0].group_key };
	for (size_t i = 0; i < n; i++) {
		sum.delta += places[i].delta;
		sum.long_delta += places[i].long_delta;
	}
	enum ax_status status = count_in_group(tx, &sum, err);
	for (size_t i = 0; status == AX_OK && i < n;) {
		struct ax_place own = places[i];
		for (i++; i < n && strcmp(places[i].worker, own.worker) == 0; i++) {
			own.delta += places[i].delta;
			own.long_delta += places[i].long_delta;
		}
		status = count_for_worker(tx, &own, err);
	}
	return status;
}

enum ax_status ax_places_settle(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_err *err)
{
	struct ax_places *places = ctx->places;
	enum ax_status status = AX_OK;
	ctx->places = NULL;
	if (places->n > 1)
		qsort(places->at, places->n, sizeof(*places->at), by_group);
	for (size_t from = 0, to; status == AX_OK && from < places->n; from = to) {
		for (to = from + 1; to < places->n; to++)
			if (strcmp(places->at[to].group_key, places->at[from].group_key) != 0)
				break;
		status = settle_group(tx, &places->at[from], to - from, err);
	}
	return status;
}
