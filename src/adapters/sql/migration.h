#ifndef AX_ADAPTERS_SQL_MIGRATION_H
#define AX_ADAPTERS_SQL_MIGRATION_H

/* The migrations of a dialect: db/DIALECT/NNNN_name.sql, embedded, in order. */

#include "base/err.h"

struct ax_migration {
	int number;
	int oldest; /* programs that know this migration go on with the schema as it is after this one */
	const char *name;
	const char *hash; /* SHA-256, hex */
	const char *sql;
};

/* A migration that was applied to a database. */
struct ax_applied {
	int number, oldest;
	const char *hash;
};

/* Compares it with ours of the same number. AX_CONFLICT when another form of it was applied to `where`, or when a newer
 * program applied one that we cannot go on with. */
enum ax_status ax_migration_compare(const char *where, const struct ax_applied *applied,
	const struct ax_migration *migrations, int n, struct ax_err *err);

#endif
