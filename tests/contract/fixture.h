#ifndef AX_TESTS_CONTRACT_FIXTURE_H
#define AX_TESTS_CONTRACT_FIXTURE_H

/* A fresh store of each kind for each test, rows to put in, and transactions to put them in with. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "adapters/mariadb/mariadb.h"
#include "adapters/sqlite/sqlite.h"
#include "base/err.h"
#include "port/mem_store.h"
#include "port/row.h"
#include "port/store.h"

struct fixture {
	struct ax_store *store;
	struct ax_arena arena;
	struct ax_mem_store *mem;
	struct ax_sqlite *sqlite;
	struct ax_mariadb *mariadb;
	struct ax_mariadb_conn *conn;
	char folder[64];
	char path[96]; /* of the SQLite file */
};

void fixture_make_folder(struct fixture *f); /* a new temp folder; sets path to a file in it */
void fixture_drop_folder(struct fixture *f);
void fixture_open_mem(struct fixture *f);
void fixture_open_sqlite(struct fixture *f); /* in a folder that was made */
/* An empty database of the server in AX_TEST_MYSQL, which tests/lib/mariadb.py starts. Tests that run one after the
 * other share it. */
void fixture_open_mariadb(struct fixture *f);
struct ax_mariadb_conn *fixture_connect(struct fixture *f); /* one more connection to it */
void fixture_close(struct fixture *f);                      /* the store, not the folder */

/* Set-up of a test over an embedded store in a folder of its own; its state is the fixture. */
int fixture_sqlite_up(void **state);
int fixture_down(void **state); /* tear-down, whatever was opened */

/* The number of files that the folder holds. */
int fixture_count_files(const struct fixture *f);

/* One transaction around a body that asserts; it must commit. */
typedef void (*tx_body)(struct ax_tx *tx, struct ax_err *err);
void in_transaction(struct fixture *f, tx_body body);

/* A test that is one committed transaction. */
#define TX_TEST(name)                                                                                                  \
	static void name##_tx(struct ax_tx *tx, struct ax_err *err);                                                   \
	static void name(void **state)                                                                                 \
	{                                                                                                              \
		in_transaction(*state, name##_tx);                                                                     \
	}                                                                                                              \
	static void name##_tx(struct ax_tx *tx, struct ax_err *err)

#define GIVES(status, op, ...) assert_int_equal(tx->ops->op(tx, __VA_ARGS__, err), status)
#define OK(op, ...) GIVES(AX_OK, op, __VA_ARGS__)

/* Every field of the row gets a value of its own, made from `seed`. */
void fill_row(const struct ax_row_type *type, struct ax_arena *arena, int seed, void *row);

/* Rows with nothing special about them. */
struct ax_task plain_task(const char *group_key, const char *task_name);
struct ax_run plain_run(int64_t gid, int64_t task_id); /* WAITING in group "g", executor "x", a fire key of its own */
struct ax_group plain_group(const char *key);

#endif
