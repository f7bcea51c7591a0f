#ifndef AX_CLI_CRONTAB_NAME_H
#define AX_CLI_CRONTAB_NAME_H

/* Names for the tasks that crontab lines become. */

#include <stdbool.h>
#include "base/arena.h"

/* A comment line without '#', blanks and ornaments, NULL when it is nothing to name a task by: empty, a ruler, the
 * "m h dom mon dow command" header, a picture of it, crontab(1)'s own header, or an entry that was commented out. */
const char *ax_crontab_comment_words(struct ax_arena *arena, const char *line);

/* The name of a line: the first line of its comment, or, without one, what its command runs ("backup.sh",
 * "run-parts cron.hourly"). 1-128 characters, no control characters. */
const char *ax_crontab_name(struct ax_arena *arena, const char *comment, const char *command);

#endif
