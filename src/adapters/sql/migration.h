#ifndef AX_ADAPTERS_SQL_MIGRATION_H
#define AX_ADAPTERS_SQL_MIGRATION_H

/* The migrations of a dialect: db/DIALECT/NNNN_name.sql, embedded, in order. */

#include "base/err.h"

struct ax_migration {
	int number;
	const char *name;
	const char *hash; /* SHA-256, hex */
	const char *sql;
};

/* Compares a migration that was applied to the database `where` with ours of the same number: AX_CONFLICT when a newer
 * program applied it, or another form of it was. */
enum ax_status ax_migration_compare(const char *where, int number, const char *hash,
	const struct ax_migration *migrations, int n, struct ax_err *err);

#endif
