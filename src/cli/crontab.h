#ifndef AX_CLI_CRONTAB_H
#define AX_CLI_CRONTAB_H

/* Reads a crontab as Vixie cron (Debian's crond) and cronie do (docs/crontab.md). Pure: bytes in, lines out.
 *
 * A line is accepted only when crond runs it and AX reads its times as the same set of minutes; any other line is
 * refused with its number and with what to write instead, and the rest of the file goes on. */

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "core/schedule.h"

struct ax_crontab_env {
	const char *name, *value;
};

struct ax_crontab_entry {
	int line;         /* from 1 */
	const char *text; /* the whole line */
	const char *expr; /* five fields with one blank between them, or the macro */
	struct ax_schedule schedule;
	const char *user;                 /* system crontabs; else NULL */
	const char *command;              /* up to the first bare '%', every "\%" as '%' */
	const char *input;                /* what crond writes to standard input; NULL: nothing */
	const struct ax_crontab_env *env; /* set by the lines above it, the last of a name alone */
	size_t n_env;
	const char *comment;         /* the comment directly above, its lines joined by '\n'; NULL: none */
	const char *const *warnings; /* sentences for people; ends with NULL */
};

struct ax_crontab_refused {
	int line;
	const char *text, *why;
};

struct ax_crontab {
	struct ax_crontab_entry *entries;
	size_t n_entries;
	struct ax_crontab_refused *refused;
	size_t n_refused;
};

enum { AX_CRONTAB_MAX_BYTES = 1 << 20 };

/* `text` may be anything. `system`: a user column stands before the command. Everything lives in the arena. */
void ax_crontab_parse(const char *text, size_t len, bool system, struct ax_arena *arena, struct ax_crontab *ret);

/* The value of a variable for this line, NULL when it was not set. */
const char *ax_crontab_env_get(const struct ax_crontab_entry *entry, const char *name);

#endif
