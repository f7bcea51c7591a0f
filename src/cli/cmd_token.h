#ifndef AX_CLI_CMD_TOKEN_H
#define AX_CLI_CMD_TOKEN_H

#include "cli/ctl.h"

/* Refuses a file of --out that is there already: before anything is made that nobody keeps. */
int ax_token_check_out(struct ax_ctl *ctl);
/* Creates the token that `body` (taken over) describes, with the options --expire-days and --out of the command. */
int ax_token_create(struct ax_ctl *ctl, json_t *body);

#endif
