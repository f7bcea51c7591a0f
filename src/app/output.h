#ifndef AX_APP_OUTPUT_H
#define AX_APP_OUTPUT_H

#include "port/store.h"

/* Keeps the first and the last parts of an attempt's output: when the room is used up, the middle gives way. What comes
 * a second time is not kept again: then it is not new. */
enum ax_status ax_output_keep(struct ax_tx *tx, const struct ax_output *output, bool *ret_new, struct ax_err *err);

#endif
