/* A MariaDB or MySQL database, for several servers at once: each link is a connection, each transaction is committed by
 * itself.
 *
 * While the database is away, one call a second tries it; the others are told so at once instead of waiting for a
 * connection each, so that nothing piles up behind them. */

#include <stdatomic.h>
#include <stdlib.h>

#include "adapters/mariadb/mariadb.h"
#include "port/clock.h"
#include "server/backend.h"
#include "server/config.h"

enum {
	WRITERS = 5,
	TRY_EVERY_MS = 1000,
	AWAY_AFTER = 3, /* calls in a row: one broken connection is not the database */
};

struct mariadb_backend {
	struct ax_backend backend;
	struct ax_arena arena; /* of the settings */
	struct ax_mariadb *db;
	struct ax_clock *clock;
	_Atomic int failures;        /* in a row, on all links */
	_Atomic int64_t try_mono_ms; /* when somebody may try again */
};

struct ax_link {
	struct ax_store port;
	struct ax_store *store;
	struct ax_mariadb_conn *conn;
	struct mariadb_backend *backend;
};

/* --- whether it is there ------------------------------------------------------------------------------------------ */

static bool may_try(struct mariadb_backend *b)
{
	if (b->failures < AWAY_AFTER)
		return true;
	int64_t now = ax_mono_ms(b->clock), at = b->try_mono_ms;
	return now >= at && atomic_compare_exchange_strong(&b->try_mono_ms, &at, now + TRY_EVERY_MS);
}

static enum ax_status is_away(struct ax_err *err)
{
	return ax_fail(err, AX_UNAVAILABLE, "", "the database does not answer; try again in a moment");
}

static void learn(struct mariadb_backend *b, enum ax_status status)
{
	if (status != AX_UNAVAILABLE)
		b->failures = 0;
	else if (++b->failures == AWAY_AFTER)
		b->try_mono_ms = ax_mono_ms(b->clock) + TRY_EVERY_MS;
}

static enum ax_status run(struct ax_store *port, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_link *link = (struct ax_link *)port;
	if (!may_try(link->backend))
		return is_away(err);
	enum ax_status status = ax_store_run(link->store, arena, fn, arg, err);
	learn(link->backend, status);
	return status;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

static enum ax_status make_link(struct ax_backend *backend, bool writes, struct ax_link **ret, struct ax_err *err)
{
	static const struct ax_store_ops ops = { run };
	struct mariadb_backend *b = (struct mariadb_backend *)backend;
	struct ax_mariadb_conn *conn;
	enum ax_status status = ax_mariadb_connect(b->db, &conn, err);
	if (status != AX_OK)
		return status;
	struct ax_link *link = ax_malloc(sizeof *link);
	*link = (struct ax_link){
		.port = { .ops = &ops },
		.store = writes ? ax_mariadb_store(conn) : ax_mariadb_reader_store(conn),
		.conn = conn,
		.backend = b,
	};
	*ret = link;
	return AX_OK;
}

static void end_link(struct ax_link *link)
{
	ax_mariadb_disconnect(link->conn);
	free(link);
}

static struct ax_store *store(struct ax_link *link)
{
	return &link->port;
}

static enum ax_status now_ms(struct ax_link *link, int64_t *ret, struct ax_err *err)
{
	if (!may_try(link->backend))
		return is_away(err);
	enum ax_status status = ax_mariadb_now_ms(link->conn, ret, err);
	learn(link->backend, status);
	return status;
}

/* Each transaction was committed when it ended. */
static enum ax_status no_batch(struct ax_link *link, struct ax_err *err)
{
	(void)link;
	(void)err;
	return AX_OK;
}

static int64_t undone(struct ax_backend *backend, int by, const char **ret_by)
{
	static const char *const names[AX_MARIADB_UNDONE_MAX] = { "deadlock", "lock_wait", "connection", "other" };
	struct mariadb_backend *b = (struct mariadb_backend *)backend;
	if (by >= AX_MARIADB_UNDONE_MAX)
		return -1;
	*ret_by = names[by];
	return ax_mariadb_undone(b->db, (enum ax_mariadb_undone)by);
}

static void idle(struct ax_link *link)
{
	ax_mariadb_rest(link->conn);
}

static void close_backend(struct ax_backend *backend)
{
	struct mariadb_backend *b = (struct mariadb_backend *)backend;
	ax_mariadb_close(b->db);
	ax_arena_done(&b->arena);
	free(b);
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

enum ax_status ax_backend_open_mariadb(const struct ax_config *config, struct ax_log *log, struct ax_clock *clock,
	struct ax_backend **ret, struct ax_err *err)
{
	static const struct ax_backend_ops ops = {
		.name = "mariadb",
		.writers = WRITERS,
		.batch_max = 1,
		.shared = true,
		.link = make_link,
		.unlink = end_link,
		.store = store,
		.begin = no_batch,
		.commit = no_batch,
		.now_ms = now_ms,
		.undone = undone,
		.idle = idle,
		.close = close_backend,
	};
	struct mariadb_backend *b = ax_malloc(sizeof *b);
	struct ax_mariadb_config mariadb;
	b->backend.ops = &ops;
	b->clock = clock;
	enum ax_status status = ax_mariadb_read_url(config->store_url, &b->arena, &mariadb, err);
	if (status == AX_OK && config->store_password_file[0] != '\0')
		mariadb.password_file = config->store_password_file;
	if (status == AX_OK)
		status = ax_mariadb_read_password(&mariadb, &b->arena, err);
	mariadb.log = log;
	if (status == AX_OK)
		status = ax_mariadb_open(&mariadb, &b->db, err);
	if (status == AX_OK)
		*ret = &b->backend;
	else
		close_backend(&b->backend);
	return status;
}
