#ifndef AX_CLI_ARGS_H
#define AX_CLI_ARGS_H

/* Command-line arguments against a table of options.
 *
 *   --name VALUE, --name=VALUE, --flag, -n VALUE; options and operands in any order; "--" ends the options, and what
 *   follows it is kept apart in `rest`.
 *
 * The same tables give the usage text and the shell completion. */

#include <stdbool.h>
#include "base/err.h"

struct ax_opt {
	const char *name;  /* without dashes; one character means a short option */
	const char *alias; /* a second name, or NULL */
	const char *value; /* what the usage calls the value; NULL for a flag */
	const char *about; /* NULL ends a table */
};

enum { AX_ARGS_MAX_GIVEN = 64 };

struct ax_args {
	const struct ax_opt *opts;   /* of the command; ends with a row whose name is NULL */
	const struct ax_opt *common; /* of every command */
	struct {
		const struct ax_opt *opt;
		const char *value; /* "" for a flag */
	} given[AX_ARGS_MAX_GIVEN];
	int n_given;
	char **operands; /* borrowed: points into argv, which is reordered */
	int n_operands;
	char **rest; /* what followed "--"; NULL without one */
	int n_rest;
};

/* Reads argv[0..argc-1] (no program name). AX_INVALID names the option in err->field. */
enum ax_status ax_args_parse(int argc, char **argv, const struct ax_opt *opts, const struct ax_opt *common,
	struct ax_args *ret, struct ax_err *err);

/* The last value given for an option, NULL when it was not given. The option must be in one of the tables. */
const char *ax_args_get(const struct ax_args *args, const char *name);
bool ax_args_has(const struct ax_args *args, const char *name);

#endif
