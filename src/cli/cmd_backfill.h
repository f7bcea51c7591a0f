#ifndef AX_CLI_CMD_BACKFILL_H
#define AX_CLI_CMD_BACKFILL_H

#include "cli/ctl.h"

/* `axctl task backfill`. */
extern const struct ax_opt ax_backfill_opts[];
int ax_backfill_start(struct ax_ctl *ctl);

#endif
