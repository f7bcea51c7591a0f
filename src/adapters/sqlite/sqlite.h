#ifndef AX_ADAPTERS_SQLITE_H
#define AX_ADAPTERS_SQLITE_H

/* The embedded store: one SQLite file in WAL mode, durable at every commit (synchronous = FULL).
 *
 * One connection writes and checkpoints; it is owned by one thread. Any number of readers, each owned by one thread,
 * see snapshots through read-only connections. Nothing else may open the file: SQLite before 3.51.3 can corrupt a WAL
 * that two connections write or checkpoint at once. The side file PATH-lock keeps other processes away; symbolic links
 * to PATH lead to the same lock, and a file with several hard links is refused.
 *
 * A commit costs a disk flush, whatever is in it. A program with many small transactions puts them into a batch:
 *
 *   ax_sqlite_batch_begin; ax_store_run, ax_store_run, …; ax_sqlite_batch_commit
 *
 * Each ax_store_run is still atomic by itself, but nothing is durable, and nobody may be told, before the commit. */

#include "port/log.h"
#include "port/store.h"

struct ax_sqlite;
struct ax_sqlite_reader;

#ifdef AX_CRASH_POINTS
/* The name of statement number *i, or of the first behind it, that changes something; NULL when there is none. */
const char *ax_sqlite_change_name(int *i);
#endif

struct ax_sqlite_config {
	const char *path;
	struct ax_log *log; /* NULL = silent */
};

/* Opens or makes the file (mode 0600), checks it when it is small or was not closed properly, and brings its schema up
 * to date. Fails with AX_NOT_FOUND (no such folder), AX_DENIED (no right to write), AX_BUSY (another process has it),
 * AX_CONFLICT (made by a newer version, its migrations were altered, or it has several names), AX_FULL, AX_BROKEN
 * (damaged, or another program's file), AX_UNAVAILABLE; the sentence names the file and what to do. */
enum ax_status ax_sqlite_open(const struct ax_sqlite_config *config, struct ax_sqlite **ret, struct ax_err *err);
/* After the readers. NULL is fine. */
void ax_sqlite_close(struct ax_sqlite *db);

/* Transactions that may write. After a failed flush of the disk every call returns AX_UNAVAILABLE until the file is
 * opened again: what is on the disk is no longer certain. */
struct ax_store *ax_sqlite_store(struct ax_sqlite *db);
bool ax_sqlite_has_failed(const struct ax_sqlite *db);

enum ax_status ax_sqlite_batch_begin(struct ax_sqlite *db, struct ax_err *err);
/* AX_OK: all members are durable. AX_UNCERTAIN: all of them or none. Anything else: none of them happened. */
enum ax_status ax_sqlite_batch_commit(struct ax_sqlite *db, struct ax_err *err);

/* For the writer's thread when nothing waits: moves the WAL into the file. When there never is a quiet moment the
 * store does it by itself once the WAL passes 64 MB. */
void ax_sqlite_idle(struct ax_sqlite *db);

/* Opened for one thread from the writer's settings; may be called while the writer works. */
enum ax_status ax_sqlite_reader_open(const struct ax_sqlite *db, struct ax_sqlite_reader **ret, struct ax_err *err);
void ax_sqlite_reader_close(struct ax_sqlite_reader *reader);
/* A transaction sees one snapshot, may take 2 s (then AX_BUSY: go on by key in a new one, so that the WAL can be
 * moved), and may not write (AX_DENIED). */
struct ax_store *ax_sqlite_reader_store(struct ax_sqlite_reader *reader);

#endif
