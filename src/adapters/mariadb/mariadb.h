#ifndef AX_ADAPTERS_MARIADB_H
#define AX_ADAPTERS_MARIADB_H

/* The store on MariaDB (10.6 and later) or MySQL (8.0 and later), for several servers at once.
 *
 * A database is opened once; each thread that works with it has a connection of its own. A transaction that loses
 * against another (dead lock, lock time-out), or whose connection broke before the commit was sent, is undone and
 * called again from its beginning, a few times. A connection that broke while the commit was under way gives
 * AX_UNCERTAIN: read back by key. Broken connections are made anew at the next transaction, never within one. */

#include "adapters/mariadb/url.h"
#include "port/log.h"
#include "port/store.h"

struct ax_mariadb;
struct ax_mariadb_conn;

/* Looks whether the database can be used and brings its schema up to date, one server at a time. Fails with
 * AX_UNAVAILABLE (not reachable, too old, read-only, …), AX_DENIED (account), AX_INVALID (no such database, TLS),
 * AX_CONFLICT (made by a newer version, or its migrations were altered), AX_BUSY (another server has been changing the
 * schema for a minute); the sentence says what to do. What endangers data without preventing work is logged. */
enum ax_status ax_mariadb_open(const struct ax_mariadb_config *config, struct ax_mariadb **ret, struct ax_err *err);
/* After the connections. NULL is fine. */
void ax_mariadb_close(struct ax_mariadb *db);

/* Tries of transactions that were undone by chance, since the start; most were called again. */
enum ax_mariadb_undone {
	AX_MARIADB_BY_DEADLOCK,
	AX_MARIADB_BY_LOCK_WAIT,  /* another one held a row for too long */
	AX_MARIADB_BY_CONNECTION, /* it broke */
	AX_MARIADB_BY_OTHERS,
	AX_MARIADB_UNDONE_MAX,
};
int64_t ax_mariadb_undone(struct ax_mariadb *db, enum ax_mariadb_undone by);

/* A connection for one thread. */
enum ax_status ax_mariadb_connect(struct ax_mariadb *db, struct ax_mariadb_conn **ret, struct ax_err *err);
void ax_mariadb_disconnect(struct ax_mariadb_conn *conn); /* NULL is fine */

/* In a quiet moment: MySQL is to keep a connection that is not used. */
void ax_mariadb_rest(struct ax_mariadb_conn *conn);

/* Transactions that may write, at READ COMMITTED: what must stay as it was read is read `for_update`. */
struct ax_store *ax_mariadb_store(struct ax_mariadb_conn *conn);
/* Transactions that see one snapshot and may not write (AX_DENIED), on the same connection. */
struct ax_store *ax_mariadb_reader_store(struct ax_mariadb_conn *conn);

/* The database's clock, in milliseconds UTC. Not from within a transaction. */
enum ax_status ax_mariadb_now_ms(struct ax_mariadb_conn *conn, int64_t *ret_ms, struct ax_err *err);

#endif
