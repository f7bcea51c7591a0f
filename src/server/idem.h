#ifndef AX_SERVER_IDEM_H
#define AX_SERVER_IDEM_H

/* Idempotency-Key: the same caller, key and request get the first answer again, for a day. Kept in the transaction
 * that did the work, so that there is no moment in which one is there without the other. */

#include "server/call.h"

/* *ret_replayed: the answer is written. AX_CONFLICT when the key came with another request before. */
AX_MUST_USE enum ax_status ax_idem_replay(struct ax_call *c, bool *ret_replayed, struct ax_err *err);
/* AX_EXISTS: the same request was answered meanwhile, by another thread or server. */
AX_MUST_USE enum ax_status ax_idem_keep(struct ax_call *c, struct ax_err *err);

#endif
