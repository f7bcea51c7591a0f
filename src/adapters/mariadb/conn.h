#ifndef AX_ADAPTERS_MARIADB_CONN_H
#define AX_ADAPTERS_MARIADB_CONN_H

/* What the public handles are, and how a connection works. */

#include <mysql.h>

#include "adapters/mariadb/mariadb.h"
#include "adapters/sql/migration.h"
#include "adapters/sql/sql.h"

/* No call waits longer than these; together they bound how long a database that hangs can hold a thread. */
enum {
	AX_MARIADB_CONNECT_S = 3,
	AX_MARIADB_ANSWER_S = 7,    /* longer than a wait for a lock */
	AX_MARIADB_LOCK_WAIT_S = 5, /* then the statement fails, and the transaction is called again */
	AX_MARIADB_MIGRATE_S = 6 * 3600,
	AX_MARIADB_IDLE_S = 4, /* in the middle of a transaction: then the database ends the session */
};

struct ax_mariadb {
	struct ax_mariadb_config config; /* with texts of its own */
	struct ax_arena arena;
	bool tls;
	_Atomic int64_t undone[AX_MARIADB_UNDONE_MAX];
};

/* What many inputs of a statement are laid out in. */
struct ax_mariadb_room {
	void *at;
	size_t size;
};

struct ax_mariadb_conn {
	struct ax_sql_conn sql;
	struct ax_store reader_port;
	struct ax_mariadb *db;
	MYSQL *mysql;                                /* NULL while there is none */
	struct ax_sql_cursor *cursors[AX_SQL_COUNT]; /* prepared when first used */
	struct ax_sql_cursor *few[AX_SQL_COUNT];     /* … the same for few ids */
	int named[AX_SQL_COUNT];                     /* parameters of each, and one more; 0 = not counted */
	int64_t changes, last_id;
	struct ax_mariadb_room bulk_room;
	bool bulk;      /* a statement takes many inputs at once */
	bool snapshots; /* the isolation is that of readers */
	bool mariadb;   /* not MySQL */
	bool watched;   /* MySQL ends the session when it stands still */
	/* of this transaction */
	bool lost;         /* the connection broke, or nobody knows what it is worth */
	bool again;        /* undone by chance: worth another try */
	struct ax_err why; /* the failure that it must end with */
	unsigned why_code;
};

/* What a failure means. */
enum ax_mariadb_fault {
	AX_MARIADB_LOST,  /* the connection */
	AX_MARIADB_AGAIN, /* the transaction lost against another */
	AX_MARIADB_OTHER,
};
enum ax_mariadb_fault ax_mariadb_fault_of(unsigned code);
/* Turns a failure of the server or the client into a status. Failures that end a transaction are noted. `row` is what
 * the statement is about, or NULL. */
enum ax_status ax_mariadb_fail(struct ax_mariadb_conn *conn, unsigned code, const char *message,
	const struct ax_row_type *row, struct ax_err *err);
/* A failed attempt to connect, as a sentence. */
enum ax_status ax_mariadb_cannot_connect(
	const struct ax_mariadb *db, unsigned code, const char *message, struct ax_err *err);
void ax_mariadb_tell(
	const struct ax_mariadb *db, enum ax_log_level level, const char *event, unsigned code, const char *message);

/* Connects with the settings that every session has, and checks it. */
enum ax_status ax_mariadb_session(const struct ax_mariadb *db, unsigned answer_s, MYSQL **ret, struct ax_err *err);
/* Can transactions rely on it? What was set may have been lost on the way, and after a failover the database may be
 * another one. */
enum ax_status ax_mariadb_check_session(MYSQL *mysql, struct ax_err *err);
/* MySQL: from now on a session that stands still is ended. */
enum ax_status ax_mariadb_watch(struct ax_mariadb_conn *conn, struct ax_err *err);
/* Makes a connection that has none. */
enum ax_status ax_mariadb_revive(struct ax_mariadb_conn *conn, struct ax_err *err);
/* Drops what belongs to the session; the connection can be revived. */
void ax_mariadb_drop(struct ax_mariadb_conn *conn);

/* A statement without parameters; its rows, if any, are dropped. False: mysql_errno tells. */
bool ax_mariadb_do(MYSQL *mysql, const char *text);
/* The first row of an answer, as texts ("" for NULL) in the arena; NULL when the statement failed. */
const char **ax_mariadb_ask(MYSQL *mysql, const char *text, struct ax_arena *arena);

/* The parts of a connection that belong to no session. */
void ax_mariadb_use_driver(struct ax_mariadb_conn *conn);
void ax_mariadb_use_as_store(struct ax_mariadb_conn *conn);
void ax_mariadb_drop_cursors(struct ax_mariadb_conn *conn);

/* The clock of the database in milliseconds, as an expression. */
#define AX_MARIADB_NOW "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)"

/* The dialect. */
const struct ax_sql_text *ax_mariadb_texts(void);
extern const struct ax_migration ax_mariadb_migrations[];
extern const int ax_mariadb_migrations_n;
enum ax_status ax_mariadb_migrate(
	struct ax_mariadb *db, const struct ax_migration *migrations, int n, struct ax_err *err);

#endif
