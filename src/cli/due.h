#ifndef AX_CLI_DUE_H
#define AX_CLI_DUE_H

/* When and with what a run is to be: --params, --delay and --at as a request body. */

#include "cli/ctl.h"

#define AX_DUE_OPTS                                                                                                    \
	{ "params", NULL, "JSON", "parameters of this run; \"@FILE\" reads them from a file" },                        \
		{ "delay", NULL, "D", "later by so much: 90s, 1h30m (delay tasks)" },                                  \
	{                                                                                                              \
		"at", NULL, "TIME", "at an instant: RFC 3339, +10m (delay tasks)"                                      \
	}

/* The caller owns *ret. */
int ax_due_body(struct ax_ctl *ctl, json_t **ret);

#endif
