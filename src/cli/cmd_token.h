#ifndef AX_CLI_CMD_TOKEN_H
#define AX_CLI_CMD_TOKEN_H

#include "cli/ctl.h"

/* What a command says of the token that it makes. */
struct ax_token_out {
	int64_t days;     /* --expire-days; -1 = not given */
	const char *path; /* --out; NULL = standard output */
	int fd;           /* the new file, empty; -1 = none, or the token is in it */
};

/* Before anything is asked of the server: what is wrong with --expire-days and --out is said while nothing was made. */
int ax_token_open(struct ax_ctl *ctl, struct ax_token_out *ret);
/* Creates the token that `body` (taken over) describes. */
int ax_token_create(struct ax_ctl *ctl, struct ax_token_out *out, json_t *body);
/* Takes the file away again unless a token is in it. */
void ax_token_close(struct ax_token_out *out);

#endif
