#ifndef AX_APP_PLACES_H
#define AX_APP_PLACES_H

/* Counts how many runs are out: of each group (ax_group.running) and of each worker in it (ax_worker_group.given).
 *
 * Several servers lock these rows against each other: the groups in the order of their keys, the workers of a group
 * while the group is locked. A claim holds its group anyway and counts at once. A report ends runs of any groups: it
 * gathers what it gives back and counts last, so that it holds nobody up for longer than its commit. */

#include "app/ctx.h"
#include "core/task.h"

struct ax_place;
struct ax_places {
	struct ax_place *at;
	size_t n, cap;
};

/* One more (delta 1) or one less (-1): at once, or by ax_places_settle when the context gathers. */
enum ax_status ax_places_count(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_run *run, int64_t delta, struct ax_err *err) AX_MUST_USE;

/* From here on the context gathers in `places`, until they are settled. */
void ax_places_gather(struct ax_ctx *ctx, struct ax_places *places);
enum ax_status ax_places_settle(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_err *err) AX_MUST_USE;

#endif
