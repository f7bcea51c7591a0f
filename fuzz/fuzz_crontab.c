/* Any bytes as a crontab: every line is taken or refused, and what is taken makes a task and an inventory.
 * Input: one character, odd for a system crontab, then the file. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "cli/crontab.h"
#include "cli/crontab_name.h"
#include "cli/crontab_task.h"
#include "cli/inventory.h"

enum { MAX_ITEMS = 4 };

static void check_entry(struct ax_arena *arena, const struct ax_crontab_entry *entry, const char *name)
{
	const char *why = NULL;
	AX_ASSERT(entry->command[strspn(entry->command, " \t")] != '\0');
	AX_ASSERT(strchr(entry->command, '\n') == NULL);
	AX_ASSERT(entry->input == NULL || entry->input[0] != '\0');
	AX_ASSERT(*name != '\0' && strlen(name) <= 4 * 128 && ax_utf8_valid(name, strlen(name)));
	json_t *task = ax_crontab_task_make(
		arena, entry, &(struct ax_crontab_task){ "default", name, "UTC", entry->user }, &why);
	AX_ASSERT((task == NULL) == (why != NULL));
	json_decref(task);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ax_arena arena = { 0 };
	struct ax_crontab crontab;
	struct ax_inventory_item items[MAX_ITEMS];
	if (size < 1 || size > 65536)
		return 0;
	ax_crontab_parse((const char *)data + 1, size - 1, data[0] & 1, &arena, &crontab);
	int line = 0;
	for (size_t i = 0; i < crontab.n_refused; i++) {
		AX_ASSERT(crontab.refused[i].line > line && strlen(crontab.refused[i].why) > 15);
		line = crontab.refused[i].line;
	}
	line = 0;
	for (size_t i = 0; i < crontab.n_entries; i++) {
		const struct ax_crontab_entry *entry = &crontab.entries[i];
		AX_ASSERT(entry->line > line);
		line = entry->line;
		const char *name = ax_crontab_name(&arena, entry->comment, entry->command);
		check_entry(&arena, entry, name);
		if (i < MAX_ITEMS)
			items[i] = (struct ax_inventory_item){ entry, name, "UTC", ax_tz_utc() };
	}
	json_decref(ax_inventory_make(items, AX_MIN(crontab.n_entries, MAX_ITEMS), 1764547200000, 2));
	ax_arena_done(&arena);
	return 0;
}
