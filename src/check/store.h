#ifndef AX_CHECK_STORE_H
#define AX_CHECK_STORE_H

/* Reading a whole store: the file of an embedded one that no server has open, or a snapshot of a database. */

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "check/check.h"

struct ax_check_store {
	sqlite3 *db;     /* the file, or the copy of a database */
	int lock_fd;     /* shared lock of PATH-lock: a server, which wants it alone, does not start meanwhile */
	int64_t time_ms; /* the newest instant that the store shows: it lived until then */
	bool settled;    /* a server had run for a while before: what was due was dealt with */
};

/* `url`: sqlite:PATH opens the file read-only, in one transaction; AX_BUSY while a server holds the lock. mysql://…
 * takes a copy, with the password in `password_file` if one is named; servers may be at work. */
enum ax_status ax_check_store_open(
	const char *url, const char *password_file, struct ax_check_store *ret, struct ax_err *err);
void ax_check_store_close(struct ax_check_store *store);

/* The window that can be judged whole; `now_ms` bounds it. docs/audit.md says how it is chosen. */
enum ax_status ax_check_store_window(const struct ax_check_store *store, int64_t now_ms, int64_t *ret_from_ms,
	int64_t *ret_to_ms, struct ax_err *err);

/* Feeds every task to the audit, or the one with this id. */
enum ax_status ax_check_store_feed(const struct ax_check_store *store, struct ax_check_audit *audit, int64_t from_ms,
	int64_t to_ms, int64_t only_task_id, struct ax_err *err);

/* Statements. Text is copied to the arena. */
enum ax_status ax_check_prepare(
	const struct ax_check_store *store, const char *sql, sqlite3_stmt **ret, struct ax_err *err);
/* True while there are rows; *status tells the end from an error. */
bool ax_check_step(sqlite3_stmt *stmt, enum ax_status *status, struct ax_err *err);
const char *ax_check_column_text(struct ax_arena *arena, sqlite3_stmt *stmt, int column);
/* The columns week and days, which may be NULL. */
const struct ax_check_calendar *ax_check_column_calendar(struct ax_arena *arena, sqlite3_stmt *stmt, int column);

#endif
