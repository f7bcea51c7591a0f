#ifndef AX_ADAPTERS_SQLITE_CONN_H
#define AX_ADAPTERS_SQLITE_CONN_H

/* One connection: its statement cache and the transaction on it. */

#include <sqlite3.h>

#include "adapters/sql/migration.h"
#include "adapters/sql/sql.h"
#include "adapters/sqlite/sqlite.h"

/* Where transactions, and members of a batch, begin and end. */
enum ax_sqlite_control {
	AX_SQLITE_BEGIN,
	AX_SQLITE_BEGIN_READ,
	AX_SQLITE_COMMIT,
	AX_SQLITE_ROLLBACK,
	AX_SQLITE_MEMBER_BEGIN,
	AX_SQLITE_MEMBER_COMMIT,
	AX_SQLITE_MEMBER_ROLLBACK,
	AX_SQLITE_CONTROLS
};

enum { AX_SQLITE_NO_COLUMN = 255 };

struct ax_sqlite_conn {
	struct ax_sql_conn sql;
	sqlite3 *db;
	const char *path;
	struct ax_log *log;
	sqlite3_stmt *statements[AX_SQL_COUNT]; /* prepared when first used */
	unsigned char *named[AX_SQL_COUNT];     /* the row's columns that it names, and AX_SQLITE_NO_COLUMN */
	sqlite3_stmt *controls[AX_SQLITE_CONTROLS];
	bool reader;
	int64_t until_mono_ms; /* readers: end of this transaction's time */
	/* the writer's */
	bool failed; /* a flush failed: what is on the disk is not certain */
	bool in_batch;
	enum ax_status batch_lost; /* the failure that undid the whole batch, or AX_OK */
	int wal_pages;
	int checkpoint_pages; /* the store checkpoints by itself above this */
};

/* The driver of a connection whose other members are set. */
void ax_sqlite_conn_init(struct ax_sqlite_conn *conn);
void ax_sqlite_conn_done(struct ax_sqlite_conn *conn);

/* Turns the failure of the last call on the connection into a status. Failures that end a transaction are noted. */
enum ax_status ax_sqlite_fail(struct ax_sqlite_conn *conn, struct ax_err *err);
enum ax_status ax_sqlite_control(struct ax_sqlite_conn *conn, enum ax_sqlite_control what, struct ax_err *err);
/* One-off statements of opening and closing. */
int ax_sqlite_now(struct ax_sqlite_conn *conn, const char *text);
int64_t ax_sqlite_mono_ms(void);

/* The dialect. */
const struct ax_sql_text *ax_sqlite_texts(void);
extern const struct ax_migration ax_sqlite_migrations[];
extern const int ax_sqlite_migrations_n;
enum ax_status ax_sqlite_migrate(
	struct ax_sqlite_conn *conn, const struct ax_migration *migrations, int n, struct ax_err *err);

#endif
