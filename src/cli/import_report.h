#ifndef AX_CLI_IMPORT_REPORT_H
#define AX_CLI_IMPORT_REPORT_H

/* What an import did or would do: one JSON object, printed as it is with --json and in words otherwise. */

#include <jansson.h>
#include <stdbool.h>

/* { "file", "group_key", "time_zone", "dry_run", "lines": [], "created": [], "updated": [], "unchanged": [],
 *   "refused": [], "warnings": [] }, later "inventory" (cli/inventory.h). */
json_t *ax_import_report_new(const char *file, const char *group, const char *zone, bool dry_run);

/* Appends { "line", key1: value1, key2: value2 } to a list, kept in order of the lines; key2 may be NULL. */
void ax_import_report_add(json_t *report, const char *list, int line, const char *key1, const char *value1,
	const char *key2, const char *value2);

void ax_import_report_print(const json_t *report);

#endif
