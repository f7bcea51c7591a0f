#ifndef AX_CORE_EXECUTOR_PARAM_H
#define AX_CORE_EXECUTOR_PARAM_H

/* What the built-in executors `exec` and `http` take in a task's parameter (docs/protocol.md), as far as it is the same
 * on every machine: the server refuses the rest when a task is saved, a worker when it is to run, and what axctl makes
 * of a crontab keeps to it. A worker's own policy may refuse more. */

#include <stdbool.h>

enum {
	AX_ARGV_MAX = 256,
	AX_ENV_MAX = 256,
	AX_STDIN_MAX = 64 << 10,
	AX_URL_MAX = 8192,
	AX_HEADERS_MAX = 64,
	AX_HEADER_VALUE_MAX = 8192,
	AX_STATUSES_MAX = 32,
	AX_REDIRECTS_MAX = 3,
};

bool ax_env_is_name(const char *name);
/* "NAME", or "NAME*" for all that begin so. */
bool ax_env_matches(const char *pattern, const char *name);
/* Variables that no task may set: they change what a program loads or does before its first line, or are AX's own. A
 * script may set its PATH, which it could do in its first line anyway; a crontab's PATH keeps its meaning so. */
bool ax_env_is_denied(const char *name, bool script);

bool ax_method_is_known(const char *method);
extern const char ax_methods[]; /* "GET, HEAD, …" */
bool ax_header_is_name(const char *name);
bool ax_header_is_value(const char *value);
/* Ours to set: the connection's own headers, and those by which the target knows the run. */
bool ax_header_is_reserved(const char *name);

/* What keeps a URL from ever being called: not http or https, a user in it, room for two readings, … NULL when nothing
 * does. A worker takes it apart with more care still. */
const char *ax_url_fault(const char *url);

#endif
