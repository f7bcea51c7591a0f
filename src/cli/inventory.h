#ifndef AX_CLI_INVENTORY_H
#define AX_CLI_INVENTORY_H

/* What a crontab as a whole looks like: duplicates, crowded minutes, guesses at what depends on what. Pure: `now` is
 * an argument. */

#include <jansson.h>
#include "cli/crontab.h"
#include "core/tz.h"

/* A line on its way to be a task. */
struct ax_inventory_item {
	const struct ax_crontab_entry *entry;
	const char *name;
	const char *zone;
	const struct ax_tz *tz;
};

/* { "duplicates": [ { "lines": [3, 9] } ],
 *   "crowded_minutes": { "count": 12, "top": [ { "time": ms, "fires": 7, "tasks": [...] } ] },  at least `crowded`
 * fires "dependencies": [ { "path", "kind": "file" | "lock", "first", "then" } ] }     "then" reads what "first" writes
 *
 * The next 24 hours after now_ms are looked at. */
json_t *ax_inventory_make(const struct ax_inventory_item *items, size_t n, int64_t now_ms, int crowded);

#endif
