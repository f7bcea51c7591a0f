/* What was applied to a database, against what this program knows. */

#include <string.h>

#include "adapters/sql/migration.h"

enum ax_status ax_migration_compare(const char *where, const struct ax_applied *applied,
	const struct ax_migration *migrations, int n, struct ax_err *err)
{
	int newest = n == 0 ? 0 : migrations[n - 1].number;
	if (applied->number > newest && applied->oldest <= newest)
		return AX_OK;
	if (applied->number > newest)
		return ax_fail(err, AX_CONFLICT, "store",
			"%s has schema version %d, this program knows version %d; use the newer program", where,
			applied->number, newest);
	for (int i = 0; i < n; i++) {
		if (migrations[i].number == applied->number && strcmp(migrations[i].hash, applied->hash) == 0)
			return AX_OK;
	}
	return ax_fail(err, AX_CONFLICT, "store",
		"%s was made with another form of migration %d than this program has; use the program that made it",
		where, applied->number);
}
