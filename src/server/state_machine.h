#ifndef AX_SERVER_STATE_MACHINE_H
#define AX_SERVER_STATE_MACHINE_H

#include "base/buf.h"

/* docs/state-machine.md, from the table in core/run_fsm.c. */
void ax_state_machine_print(struct ax_buf *out);

#endif
