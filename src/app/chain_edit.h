#ifndef AX_APP_CHAIN_EDIT_H
#define AX_APP_CHAIN_EDIT_H

/* The upstreams that a task names: checked against all that hangs together with it, and kept as rows. Inside the
 * transaction that writes the task. */

#include "app/ctx.h"

/* The rows of a task that was just written. AX_INVALID with the field `upstreams` when one of them is not there or the
 * task itself, when one would have more than AX_DOWNSTREAMS_MAX downstreams, and for shapes that ax_chain_check
 * refuses. */
enum ax_status ax_chain_save(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_err *err);

/* AX_CONFLICT that names them while other tasks name this one. */
enum ax_status ax_chain_refuse_delete(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_task *task, struct ax_err *err);

#endif
