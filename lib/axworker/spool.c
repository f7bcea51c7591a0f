#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/num.h"
#include "sys/crash_point.h"

/* Held so that results can still be written when the disk is full; given back in that moment. */
static const off_t RESERVE_BYTES = 64 << 20;

enum { EXIT_IO_ERROR = 74 };

/* What a server has taken is forgotten with the next results that are written, or so long after: a flush of the disk
 * less. Told again after a crash, it is a duplicate. */
static const uint64_t DELETE_WAIT_NS = 200000000;

struct op {
	bool put;
	int64_t gid;
	int64_t fence;
	char *text;
	void *cookie;
	struct op *next;
};

struct axw_spool {
	sqlite3 *db;
	sqlite3_stmt *insert;
	sqlite3_stmt *delete;
	struct axw_spool_ops ops;
	char *reserve_path;
	uv_thread_t thread;
	bool running;
	uv_mutex_t lock;
	uv_cond_t wake;
	struct op *head; /* under lock */
	struct op *tail;
	size_t puts; /* of them */
	bool closing;
};

static int64_t check_sum(int64_t gid, int64_t fence, const char *text)
{
	uint64_t h = ax_hash_bytes(text, strlen(text));
	return (int64_t)ax_mix64(ax_mix64(ax_mix64(h) ^ (uint64_t)gid) ^ (uint64_t)fence);
}

static void trouble(struct axw_spool *s, const char *event, const char *what)
{
	char sentence[400];
	snprintf(sentence, sizeof(sentence), "%s: %s", what, s->db ? sqlite3_errmsg(s->db) : strerror(errno));
	s->ops.trouble(s->ops.user, event, sentence);
}

_Noreturn static void die(struct axw_spool *s, const char *what)
{
	trouble(s, "spool_io_error", what);
	_exit(EXIT_IO_ERROR);
}

/* ---- opening */

static bool exec_sql(struct axw_spool *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool is_sound(struct axw_spool *s)
{
	sqlite3_stmt *check = NULL;
	bool sound = sqlite3_prepare_v2(s->db, "PRAGMA quick_check", -1, &check, NULL) == SQLITE_OK &&
		sqlite3_step(check) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(check, 0), "ok") == 0;
	sqlite3_finalize(check);
	return sound;
}

static bool open_db(struct axw_spool *s, const char *path)
{
	if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) !=
		SQLITE_OK)
		return false;
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* Exclusive locking keeps the WAL's index in memory: nobody else opens this file. */
	return exec_sql(s,
		       "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
		       "PRAGMA trusted_schema=OFF; PRAGMA cache_size=-512; PRAGMA journal_size_limit=1048576") &&
		is_sound(s) &&
		exec_sql(s,
			"CREATE TABLE IF NOT EXISTS result(gid INTEGER NOT NULL, fence INTEGER NOT NULL,"
			"body TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY(gid, fence)) STRICT, WITHOUT ROWID") &&
		sqlite3_prepare_v3(s->db,
			"INSERT INTO result(gid, fence, body, sum) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING", -1,
			SQLITE_PREPARE_PERSISTENT, &s->insert, NULL) == SQLITE_OK &&
		sqlite3_prepare_v3(s->db, "DELETE FROM result WHERE gid = ? AND fence = ?", -1,
			SQLITE_PREPARE_PERSISTENT, &s->delete, NULL) == SQLITE_OK;
}

static void close_db(struct axw_spool *s)
{
	sqlite3_finalize(s->insert);
	sqlite3_finalize(s->delete);
	sqlite3_close(s->db);
	s->insert = s->delete = NULL;
	s->db = NULL;
}

/* False when the file broke while it was read. */
static bool load(struct axw_spool *s)
{
	sqlite3_stmt *all = NULL;
	if (sqlite3_prepare_v2(s->db, "SELECT gid, fence, body, sum FROM result", -1, &all, NULL) != SQLITE_OK)
		return false;
	int damaged = 0;
	int rc;
	while ((rc = sqlite3_step(all)) == SQLITE_ROW) {
		int64_t gid = sqlite3_column_int64(all, 0);
		int64_t fence = sqlite3_column_int64(all, 1);
		const char *text = (const char *)sqlite3_column_text(all, 2);
		if (text && check_sum(gid, fence, text) == sqlite3_column_int64(all, 3))
			s->ops.found(s->ops.user, gid, fence, text);
		else
			damaged++;
	}
	sqlite3_finalize(all);
	if (damaged) {
		char sentence[120];
		snprintf(sentence, sizeof(sentence), "%d results in the spool are damaged and were not reported",
			damaged);
		s->ops.trouble(s->ops.user, "spool_damaged", sentence);
	}
	return rc == SQLITE_DONE;
}

/* A file that is no sound spool is kept for people and a new one begun: its attempts end as lost and run again. */
static void set_aside(struct axw_spool *s, const char *path)
{
	trouble(s, "spool_damaged", "the spool is damaged; it was renamed and a new one begun");
	close_db(s);
	static const char *const ends[] = { "", "-wal", "-shm" };
	for (size_t i = 0; i < AX_COUNT(ends); i++) {
		char from[4096];
		char to[4200];
		snprintf(from, sizeof(from), "%s%s", path, ends[i]);
		snprintf(to, sizeof(to), "%s.damaged-%lld%s", path, (long long)time(NULL), ends[i]);
		(void)rename(from, to);
	}
}

static void make_reserve(struct axw_spool *s)
{
	struct statvfs fs;
	int fd = open(s->reserve_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	/* Only where it does not make the disk full itself. */
	if (fstatvfs(fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize > 4 * (uint64_t)RESERVE_BYTES)
		(void)posix_fallocate(fd, 0, RESERVE_BYTES);
	close(fd);
}

struct axw_spool *axw_spool_open(const char *dir, const struct axw_spool_ops *ops, char *error, size_t error_size)
{
	struct axw_spool *s = ax_malloc(sizeof(*s));
	s->ops = *ops;
	AX_ASSERT(uv_mutex_init(&s->lock) == 0 && uv_cond_init(&s->wake) == 0);
	char path[4096];
	snprintf(path, sizeof(path), "%s/reserve", dir);
	s->reserve_path = ax_strdup_heap(path);
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	for (int tries = 0; tries < 2; tries++) {
		if (open_db(s, path) && load(s)) {
			make_reserve(s);
			return s;
		}
		int rc = sqlite3_errcode(s->db) & 0xff;
		if (tries == 1 ||
			(rc != SQLITE_CORRUPT && rc != SQLITE_NOTADB && rc != SQLITE_OK && rc != SQLITE_ROW &&
				rc != SQLITE_ERROR))
			break;
		set_aside(s, path);
	}
	snprintf(error, error_size, "cannot open the spool %s: %s", path, sqlite3_errmsg(s->db));
	axw_spool_close(s);
	return NULL;
}

/* ---- the thread */

static int run_op(struct axw_spool *s, const struct op *op)
{
	sqlite3_stmt *stmt = op->put ? s->insert : s->delete;
	sqlite3_bind_int64(stmt, 1, op->gid);
	sqlite3_bind_int64(stmt, 2, op->fence);
	if (op->put) {
		sqlite3_bind_text(stmt, 3, op->text, -1, SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 4, check_sum(op->gid, op->fence, op->text));
	}
	int rc = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static bool has_puts(const struct op *ops)
{
	while (ops && !ops->put)
		ops = ops->next;
	return ops;
}

static int run_batch(struct axw_spool *s, const struct op *ops)
{
	const char *what = has_puts(ops) ? "spool" : "spool_delete";
	(void)what; /* a build without crash points does not ask */
	AX_CRASHPOINT(what, "before_write");
	int rc = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	for (const struct op *op = ops; op && rc == SQLITE_OK; op = op->next)
		rc = run_op(s, op);
	AX_CRASHPOINT(what, "before_fsync");
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
	AX_CRASHPOINT(what, "after_fsync");
	if (rc != SQLITE_OK && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* Only a full disk is waited out: first with the reserve, then until somebody makes room. */
static void commit(struct axw_spool *s, const struct op *ops)
{
	for (int tries = 0;; tries++) {
		int rc = run_batch(s, ops);
		if (rc == SQLITE_OK)
			return;
		if ((rc & 0xff) != SQLITE_FULL)
			die(s, "cannot write results to the spool");
		if (tries == 0) {
			trouble(s, "spool_disk_full", "results wait for room on the disk");
			(void)unlink(s->reserve_path);
		} else {
			uv_sleep(1000);
		}
	}
}

static void finish_ops(struct axw_spool *s, struct op *ops)
{
	for (struct op *op = ops, *next; op; op = next) {
		next = op->next;
		if (op->put)
			s->ops.stored(s->ops.user, op->cookie);
		free(op->text);
		free(op);
	}
}

static void thread_main(void *arg)
{
	struct axw_spool *s = arg;
	uv_mutex_lock(&s->lock);
	for (;;) {
		while (!s->head && !s->closing)
			uv_cond_wait(&s->wake, &s->lock);
		if (s->puts == 0 && !s->closing)
			(void)uv_cond_timedwait(&s->wake, &s->lock, DELETE_WAIT_NS);
		struct op *ops = s->head;
		s->head = s->tail = NULL;
		s->puts = 0;
		if (!ops)
			break;
		uv_mutex_unlock(&s->lock);
		commit(s, ops);
		finish_ops(s, ops);
		uv_mutex_lock(&s->lock);
	}
	uv_mutex_unlock(&s->lock);
}

int axw_spool_start(struct axw_spool *s)
{
	/* SQLite needs little stack; the default of 8 MiB would only be reserved. */
	uv_thread_options_t options = { .flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = 256 * 1024 };
	s->running = uv_thread_create_ex(&s->thread, &options, thread_main, s) == 0;
	return s->running ? 0 : -1;
}

static void enqueue(struct axw_spool *s, struct op *op)
{
	uv_mutex_lock(&s->lock);
	if (s->tail)
		s->tail->next = op;
	else
		s->head = op;
	s->tail = op;
	bool news = op->put ? s->puts++ == 0 : s->head == op;
	if (news)
		uv_cond_signal(&s->wake);
	uv_mutex_unlock(&s->lock);
}

void axw_spool_put(struct axw_spool *s, int64_t gid, int64_t fence, char *text, void *cookie)
{
	struct op *op = ax_malloc(sizeof(*op));
	*op = (struct op){ .put = true, .gid = gid, .fence = fence, .text = text, .cookie = cookie };
	enqueue(s, op);
}

void axw_spool_delete(struct axw_spool *s, int64_t gid, int64_t fence)
{
	struct op *op = ax_malloc(sizeof(*op));
	*op = (struct op){ .gid = gid, .fence = fence };
	enqueue(s, op);
}

void axw_spool_close(struct axw_spool *s)
{
	if (s->running) {
		uv_mutex_lock(&s->lock);
		s->closing = true;
		uv_cond_signal(&s->wake);
		uv_mutex_unlock(&s->lock);
		uv_thread_join(&s->thread);
	}
	close_db(s);
	uv_mutex_destroy(&s->lock);
	uv_cond_destroy(&s->wake);
	free(s->reserve_path);
	free(s);
}
