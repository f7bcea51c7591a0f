#ifndef AX_WORKER_OPTIONS_H
#define AX_WORKER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
	const char *server;
	const char *token_file;
	const char *groups;
	const char *state;
	const char *name;
	const char *policy;
	const char *plugin;
	const char *ca;
	const char *journal;
	char *tags; /* joined with commas; free it */
	const char *shim;
	bool shim_named; /* by an option, and not beside this program */
	int64_t drain_ms;
	bool dev;
	int64_t dev_parent; /* the process that a --dev worker ends with; 0 = its parent */
};

/* From the command line, and from the environment where that says nothing. Ends the program on --help, --version
 * and bad usage (exit 2). */
void options_read(int argc, char **argv, struct options *ret_options);

#endif
