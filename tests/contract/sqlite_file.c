/* What is special about the embedded store: its file, its lock, its batches, its readers, and bad days. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/sqlite/handle.h"
#include "faulty_vfs.h"
#include "fixture.h"

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	fixture_make_folder(f);
	return 0;
}

static int tear_down(void **state)
{
	faulty_vfs_calm();
	return fixture_down(state);
}

/* transactions on runs 1, 2, 3, … */

static enum ax_status insert_run(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_run run = plain_run(*(int64_t *)arg, 1);
	return tx->ops->run_insert(tx, &run, err);
}

static enum ax_status insert(struct fixture *f, int64_t gid, struct ax_err *err)
{
	return ax_store_run(f->store, &f->arena, insert_run, &gid, err);
}

static enum ax_status count_runs(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_run_filter filter = { .limit = 1000000, .scan_limit = 1000000 };
	struct ax_runs runs;
	int64_t before;
	enum ax_status status = tx->ops->runs_page(tx, &filter, &runs, &before, err);
	for (int i = 0; status == AX_OK && i < runs.n; i++)
		assert_int_equal(runs.at[i].gid, runs.n - i); /* 1 … n without gaps */
	*(int64_t *)arg = runs.n;
	return status;
}

static int64_t count_in(struct fixture *f, struct ax_store *store)
{
	struct ax_err err;
	int64_t n = -1;
	assert_int_equal(ax_store_run(store, &f->arena, count_runs, &n, &err), AX_OK);
	return n;
}

static int64_t count(struct fixture *f)
{
	return count_in(f, f->store);
}

static enum ax_status open_path(const char *path, struct ax_err *err)
{
	struct ax_sqlite *db;
	struct ax_sqlite_config config = { .path = path };
	enum ax_status status = ax_sqlite_open(&config, &db, err);
	if (status == AX_OK)
		ax_sqlite_close(db);
	return status;
}

static void expect_refusal(const char *path, enum ax_status status, const char *part_of_message)
{
	struct ax_err err = { 0 };
	assert_int_equal(open_path(path, &err), status);
	assert_int_equal(err.status, status);
	if (strstr(err.msg, part_of_message) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.msg, part_of_message);
}

static int64_t size_of(const struct fixture *f, const char *suffix)
{
	char path[128];
	struct stat st;
	snprintf(path, sizeof(path), "%s%s", f->path, suffix);
	return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

static void write_at(const char *path, int64_t offset, const void *bytes, size_t n)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, n, offset), n);
	close(fd);
}

/* Runs a child that does `work` and must end with exit code 0. */
static void in_child(void (*work)(struct fixture *f), struct fixture *f)
{
	fflush(stdout);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		work(f);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define MUST(condition)                                                                                                \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "child: line %d: %s\n", __LINE__, #condition);                                 \
			_exit(1);                                                                                      \
		}                                                                                                      \
	} while (0)

/* opening */

static void test_a_new_file(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	struct ax_err err;
	mode_t old = umask(0);
	fixture_open_sqlite(f);
	umask(old);
	assert_int_equal(insert(f, 1, &err), AX_OK);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	fixture_close(f);
	assert_int_equal(fixture_count_files(f), 2); /* the file and its lock: no WAL is left */
	fixture_open_sqlite(f);
	assert_int_equal(count(f), 1);
}

static void open_while_in_use(struct fixture *f)
{
	struct ax_err err;
	char parent[32];
	snprintf(parent, sizeof(parent), "process %ld ", (long)getppid());
	MUST(open_path(f->path, &err) == AX_BUSY);
	MUST(strstr(err.msg, f->path) != NULL && strstr(err.msg, parent) != NULL);
}

/* B019 */
static void test_only_one_server(void **state)
{
	struct fixture *f = *state;
	fixture_open_sqlite(f);
	expect_refusal(f->path, AX_BUSY, "stop that one first");
	in_child(open_while_in_use, f);
	fixture_close(f);
	fixture_open_sqlite(f); /* free again */
}

static void test_a_symbolic_link_is_the_same_file(void **state)
{
	struct fixture *f = *state;
	struct ax_err err;
	char by[128];
	snprintf(by, sizeof(by), "%s/link.db", f->folder);
	assert_int_equal(symlink("ax.db", by), 0);
	assert_int_equal(open_path(by, &err), AX_OK); /* makes what it leads to */
	assert_int_equal(fixture_count_files(f), 3);
	fixture_open_sqlite(f);
	expect_refusal(by, AX_BUSY, f->path);
	fixture_close(f);
	assert_int_equal(open_path(by, &err), AX_OK);
	assert_int_equal(unlink(by), 0);
}

static void test_a_file_with_two_names_is_refused(void **state)
{
	struct fixture *f = *state;
	char other[128];
	snprintf(other, sizeof(other), "%s/other.db", f->folder);
	fixture_open_sqlite(f);
	fixture_close(f);
	assert_int_equal(link(f->path, other), 0);
	expect_refusal(other, AX_CONFLICT, "2 names");
	expect_refusal(f->path, AX_CONFLICT, "2 names");
	assert_int_equal(unlink(other), 0);
	fixture_open_sqlite(f);
}

static void test_places_that_cannot_hold_a_file(void **state)
{
	struct fixture *f = *state;
	char path[128];
	snprintf(path, sizeof(path), "%s/none/ax.db", f->folder);
	expect_refusal(path, AX_NOT_FOUND, "does not exist");
	expect_refusal("/proc/ax.db", AX_NOT_FOUND, "/proc/ax.db");
	assert_int_equal(mkdir(f->path, 0700), 0);
	expect_refusal(f->path, AX_INVALID, "is a folder");
	assert_int_equal(rmdir(f->path), 0);
}

static void open_without_rights(struct fixture *f)
{
	struct ax_err err;
	char lock[128];
	snprintf(lock, sizeof(lock), "%s-lock", f->path);
	/* The superuser may write everything: be somebody else, and let that one keep the lock file. */
	MUST(chmod(f->folder, 0777) == 0 && chmod(lock, 0666) == 0 && chmod(f->path, 0444) == 0);
	MUST(geteuid() != 0 || setuid(65534) == 0);
	MUST(open_path(f->path, &err) == AX_DENIED);
	MUST(strstr(err.msg, "no right to write") != NULL);
}

static void open_in_closed_folder(struct fixture *f)
{
	struct ax_err err;
	char path[128];
	snprintf(path, sizeof(path), "%s/new.db", f->folder);
	MUST(chmod(f->folder, 0555) == 0);
	MUST(geteuid() != 0 || setuid(65534) == 0);
	MUST(open_path(path, &err) == AX_DENIED);
	MUST(strstr(err.msg, "no right to write") != NULL);
}

static void test_missing_rights(void **state)
{
	struct fixture *f = *state;
	fixture_open_sqlite(f);
	fixture_close(f);
	in_child(open_without_rights, f);
	in_child(open_in_closed_folder, f);
	assert_int_equal(chmod(f->folder, 0700), 0);
}

static void test_files_of_others(void **state)
{
	struct fixture *f = *state;
	char text[8192];
	memset(text, 'x', sizeof(text));
	write_at(f->path, 0, text, sizeof(text));
	expect_refusal(f->path, AX_BROKEN, "is not a database");
	assert_int_equal(unlink(f->path), 0);

	sqlite3 *db;
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE theirs (x)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	expect_refusal(f->path, AX_BROKEN, "another program");
	assert_int_equal(unlink(f->path), 0);

	write_at(f->path, 0, "", 0); /* an empty file is a new database to SQLite, and to us */
	fixture_open_sqlite(f);
}

static void alter(const struct fixture *f, const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void test_schema_versions(void **state)
{
	struct fixture *f = *state;
	char numbers[128];
	fixture_open_sqlite(f);
	fixture_close(f);
	snprintf(numbers, sizeof(numbers), "INSERT INTO ax_migration VALUES (98, 'expands', 'x', 0, %d)",
		ax_sqlite_migrations_n);
	alter(f, numbers); /* one that we can go on with */
	fixture_open_sqlite(f);
	fixture_close(f);
	alter(f, "INSERT INTO ax_migration VALUES (99, 'later', 'x', 0, 98)");
	snprintf(numbers, sizeof(numbers), "schema version 99, this program knows version %d", ax_sqlite_migrations_n);
	expect_refusal(f->path, AX_CONFLICT, numbers);
	alter(f, "DELETE FROM ax_migration WHERE number >= 98");
	fixture_open_sqlite(f);
	fixture_close(f);
	alter(f, "UPDATE ax_migration SET hash = 'y' WHERE number = 1");
	expect_refusal(f->path, AX_CONFLICT, "another form of migration 1");
}

static enum ax_status read_id(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	return tx->ops->store_id(tx, arg, err);
}

/* Of the file at f->path. */
static int64_t id_of(struct fixture *f)
{
	struct ax_err err;
	int64_t id = 0;
	fixture_open_sqlite(f);
	assert_int_equal(ax_store_run(f->store, &f->arena, read_id, &id, &err), AX_OK);
	fixture_close(f);
	return id;
}

static void test_each_file_has_an_id(void **state)
{
	struct fixture *f = *state, other = { 0 };
	int64_t id = id_of(f);
	assert_true(id > 0);
	assert_true(id == id_of(f));
	fixture_make_folder(&other);
	assert_true(id != id_of(&other));
	fixture_drop_folder(&other);
}

static void test_migrations_are_applied_once(void **state)
{
	struct fixture *f = *state;
	struct ax_err err;
	static const struct ax_migration steps[] = {
		{ 1, 1, "one", "h1", "CREATE TABLE step (n); INSERT INTO step VALUES (1)" },
		{ 2, 1, "two", "h2", "INSERT INTO step VALUES (2)" },
		{ 3, 3, "bad", "h3", "INSERT INTO step VALUES (3); INSERT INTO nowhere VALUES (3)" },
	};
	struct ax_sqlite_conn conn = { .path = f->path };
	assert_int_equal(sqlite3_open(f->path, &conn.db), SQLITE_OK);
	assert_int_equal(ax_sqlite_migrate(&conn, steps, 1, &err), AX_OK);
	assert_int_equal(ax_sqlite_migrate(&conn, steps, 2, &err), AX_OK);
	assert_int_equal(ax_sqlite_migrate(&conn, steps, 2, &err), AX_OK);
	assert_int_equal(ax_sqlite_migrate(&conn, steps, 1, &err), AX_OK); /* the second one only expands */
	assert_int_equal(ax_sqlite_migrate(&conn, steps, 3, &err), AX_BROKEN);
	sqlite3_stmt *stmt;
	sqlite3_prepare_v2(conn.db,
		"SELECT (SELECT group_concat(n) FROM step), group_concat(name), min(time) FROM ax_migration", -1, &stmt,
		NULL);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_string_equal(sqlite3_column_text(stmt, 0), "1,2");
	assert_string_equal(sqlite3_column_text(stmt, 1), "one,two");
	assert_true(sqlite3_column_int64(stmt, 2) > INT64_C(1700000000000));
	sqlite3_finalize(stmt);
	ax_sqlite_conn_done(&conn);
}

/* damage */

static void fill(struct fixture *f, int64_t first, int64_t n)
{
	struct ax_err err;
	assert_int_equal(ax_sqlite_batch_begin(f->sqlite, &err), AX_OK);
	for (int64_t gid = first; gid < first + n; gid++)
		assert_int_equal(insert(f, gid, &err), AX_OK);
	assert_int_equal(ax_sqlite_batch_commit(f->sqlite, &err), AX_OK);
	ax_arena_reset(&f->arena);
}

static void test_damaged_files(void **state)
{
	struct fixture *f = *state;
	fixture_open_sqlite(f);
	fill(f, 1, 2000);
	fixture_close(f);
	int64_t size = size_of(f, "");
	assert_true(size > 400000);
	char *whole = malloc((size_t)size), noise[4096];
	FILE *file = fopen(f->path, "rb");
	assert_int_equal(fread(whole, 1, (size_t)size, file), size);
	fclose(file);

	assert_int_equal(truncate(f->path, size / 2), 0);
	expect_refusal(f->path, AX_BROKEN, "restore it from a backup");
	write_at(f->path, 0, whole, (size_t)size);
	memset(noise, 0x5a, sizeof(noise));
	write_at(f->path, size / 8192 * 4096, noise, sizeof(noise)); /* a page in the middle */
	expect_refusal(f->path, AX_BROKEN, "restore it from a backup");
	write_at(f->path, 0, whole, (size_t)size);
	write_at(f->path, 0, noise, 16);
	expect_refusal(f->path, AX_BROKEN, "is not a database");
	write_at(f->path, 0, whole, (size_t)size);
	free(whole);
	fixture_open_sqlite(f);
	assert_int_equal(count(f), 2000);
}

static void commit_and_vanish(struct fixture *f)
{
	struct ax_err err;
	fixture_open_sqlite(f);
	MUST(insert(f, 1, &err) == AX_OK);
	MUST(ax_sqlite_batch_begin(f->sqlite, &err) == AX_OK);
	MUST(insert(f, 2, &err) == AX_OK); /* never committed */
}

static void test_unclean_shutdown(void **state)
{
	struct fixture *f = *state;
	in_child(commit_and_vanish, f);
	assert_true(size_of(f, "-wal") > 0);
	fixture_open_sqlite(f);
	assert_int_equal(count(f), 1);
}

enum { BATCH = 50 };

/* Commits batches and says so, until it is killed. */
static void write_until_killed(struct fixture *f, int report_fd)
{
	struct ax_err err;
	fixture_open_sqlite(f);
	for (int64_t gid = 1;;) {
		MUST(ax_sqlite_batch_begin(f->sqlite, &err) == AX_OK);
		for (int i = 0; i < BATCH; i++)
			MUST(insert(f, gid++, &err) == AX_OK);
		MUST(ax_sqlite_batch_commit(f->sqlite, &err) == AX_OK);
		MUST(write(report_fd, "+", 1) == 1);
		ax_arena_reset(&f->arena);
	}
}

/* B213 */
static void test_kill_in_a_batch(void **state)
{
	struct fixture *f = *state;
	for (int round = 0; round < 5; round++) {
		int pipe_fd[2];
		char report;
		assert_int_equal(pipe(pipe_fd), 0);
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			close(pipe_fd[0]);
			write_until_killed(f, pipe_fd[1]);
		}
		close(pipe_fd[1]);
		int64_t reported = 0;
		while (reported < 3 + round * 2 && read(pipe_fd[0], &report, 1) == 1)
			reported++;
		assert_int_equal(kill(pid, SIGKILL), 0);
		while (read(pipe_fd[0], &report, 1) == 1)
			reported++;
		close(pipe_fd[0]);
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		fixture_open_sqlite(f);
		int64_t n = count(f); /* also: no gaps */
		assert_int_equal(n % BATCH, 0);
		assert_true(n == reported * BATCH || n == (reported + 1) * BATCH);
		fixture_close(f);
		fixture_drop_folder(f);
		fixture_make_folder(f);
	}
}

/* batches */

static enum ax_status insert_and_refuse(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	enum ax_status status = insert_run(tx, arg, err);
	return status == AX_OK ? ax_fail(err, AX_INVALID, "", "changed my mind") : status;
}

static void test_members_of_a_batch(void **state)
{
	struct fixture *f = *state;
	struct ax_err err;
	struct ax_sqlite_reader *reader;
	fixture_open_sqlite(f);
	assert_int_equal(ax_sqlite_reader_open(f->sqlite, &reader, &err), AX_OK);
	assert_int_equal(ax_sqlite_batch_begin(f->sqlite, &err), AX_OK);
	assert_int_equal(insert(f, 1, &err), AX_OK);
	int64_t gid = 2;
	assert_int_equal(ax_store_run(f->store, &f->arena, insert_and_refuse, &gid, &err), AX_INVALID);
	assert_int_equal(insert(f, 1, &err), AX_EXISTS);
	assert_int_equal(insert(f, 2, &err), AX_OK);
	assert_int_equal(count(f), 2);
	assert_int_equal(count_in(f, ax_sqlite_reader_store(reader)), 0); /* not yet */
	assert_int_equal(ax_sqlite_batch_commit(f->sqlite, &err), AX_OK);
	assert_int_equal(count_in(f, ax_sqlite_reader_store(reader)), 2);
	assert_int_equal(ax_sqlite_batch_begin(f->sqlite, &err), AX_OK); /* an empty one */
	assert_int_equal(ax_sqlite_batch_commit(f->sqlite, &err), AX_OK);
	ax_sqlite_reader_close(reader);
}

/* readers */

struct look {
	struct fixture *f;
	int64_t before, after;
};

static enum ax_status look_twice(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct look *look = arg;
	enum ax_status status = count_runs(tx, &look->before, err);
	fill(look->f, look->before + 1, 10); /* meanwhile */
	return status == AX_OK ? count_runs(tx, &look->after, err) : status;
}

static void test_a_reader_sees_one_moment(void **state)
{
	struct fixture *f = *state;
	struct ax_err err;
	struct ax_sqlite_reader *reader;
	struct ax_arena arena = { 0 };
	struct look look = { .f = f };
	fixture_open_sqlite(f);
	fill(f, 1, 5);
	assert_int_equal(ax_sqlite_reader_open(f->sqlite, &reader, &err), AX_OK);
	assert_int_equal(ax_store_run(ax_sqlite_reader_store(reader), &arena, look_twice, &look, &err), AX_OK);
	assert_int_equal(look.before, 5);
	assert_int_equal(look.after, 5);
	assert_int_equal(count_in(f, ax_sqlite_reader_store(reader)), 15);
	int64_t gid = 16;
	assert_int_equal(ax_store_run(ax_sqlite_reader_store(reader), &arena, insert_run, &gid, &err), AX_DENIED);
	assert_int_equal(count_in(f, ax_sqlite_reader_store(reader)), 15);
	ax_sqlite_reader_close(reader);
	ax_arena_done(&arena);
}

static enum ax_status read_too_long(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	int64_t n;
	struct ax_sqlite_conn *conn = arg;
	assert_true(
		conn->until_mono_ms > ax_sqlite_mono_ms() + 1000 && conn->until_mono_ms <= ax_sqlite_mono_ms() + 2000);
	assert_int_equal(tx->ops->user_count(tx, &n, err), AX_OK);
	conn->until_mono_ms = ax_sqlite_mono_ms() - 1; /* time flies */
	assert_int_equal(tx->ops->user_count(tx, &n, err), AX_BUSY);
	return AX_OK;
}

static enum ax_status read_one_endless_thing(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)tx;
	struct ax_sqlite_conn *conn = arg;
	conn->until_mono_ms = ax_sqlite_mono_ms() - 1;
	int code = ax_sqlite_now(
		conn, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
	assert_int_equal(code & 0xff, SQLITE_INTERRUPT);
	return ax_sqlite_fail(conn, err);
}

/* B213 */
static void test_a_reader_has_two_seconds(void **state)
{
	struct fixture *f = *state;
	struct ax_err err;
	struct ax_sqlite_reader *reader;
	fixture_open_sqlite(f);
	assert_int_equal(ax_sqlite_reader_open(f->sqlite, &reader, &err), AX_OK);
	struct ax_store *store = ax_sqlite_reader_store(reader);
	assert_int_equal(ax_store_run(store, &f->arena, read_too_long, &reader->conn, &err), AX_BUSY);
	assert_non_null(strstr(err.msg, "go on by key"));
	assert_int_equal(ax_store_run(store, &f->arena, read_one_endless_thing, &reader->conn, &err), AX_BUSY);
	assert_int_equal(count_in(f, store), 0); /* and can be used again */
	ax_sqlite_reader_close(reader);
}

struct onlooker {
	pthread_t thread;
	struct ax_sqlite_reader *reader;
	const atomic_bool *stop;
	int looks;
	bool wrong; /* saw half a batch, or went back in time */
};

static enum ax_status count_all(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	int64_t n[32];
	enum ax_status status = tx->ops->live_counts(tx, n, err);
	*(int64_t *)arg = n[AX_RUN_WAITING];
	return status;
}

static void *look_on(void *arg)
{
	struct onlooker *self = arg;
	struct ax_arena arena = { 0 };
	struct ax_err err;
	int64_t last = 0, n = 0;
	while (!atomic_load(self->stop) && !self->wrong) {
		enum ax_status status = ax_store_run(ax_sqlite_reader_store(self->reader), &arena, count_all, &n, &err);
		self->wrong = status != AX_OK || n < last || n % 10 != 0;
		last = n;
		self->looks++;
		ax_arena_reset(&arena);
	}
	ax_arena_done(&arena);
	return NULL;
}

static void test_readers_in_threads(void **state)
{
	struct fixture *f = *state;
	struct ax_err err;
	atomic_bool stop = false;
	struct onlooker onlookers[2] = { { .stop = &stop }, { .stop = &stop } };
	fixture_open_sqlite(f);
	f->sqlite->conn.checkpoint_pages = 50; /* checkpoints all the time */
	for (size_t i = 0; i < AX_COUNT(onlookers); i++) {
		assert_int_equal(ax_sqlite_reader_open(f->sqlite, &onlookers[i].reader, &err), AX_OK);
		assert_int_equal(pthread_create(&onlookers[i].thread, NULL, look_on, &onlookers[i]), 0);
	}
	for (int64_t i = 0; i < 100; i++)
		fill(f, 1 + i * 10, 10);
	atomic_store(&stop, true);
	for (size_t i = 0; i < AX_COUNT(onlookers); i++) {
		pthread_join(onlookers[i].thread, NULL);
		ax_sqlite_reader_close(onlookers[i].reader);
		assert_false(onlookers[i].wrong);
		assert_true(onlookers[i].looks > 0);
	}
	assert_int_equal(count(f), 1000);
}

/* checkpoints */

/* B213 */
static void test_the_wal_is_moved(void **state)
{
	struct fixture *f = *state;
	fixture_open_sqlite(f);
	int64_t begin = size_of(f, "");
	fill(f, 1, 10000);
	assert_true(size_of(f, "-wal") > 1000000);
	assert_int_equal(size_of(f, ""), begin);
	ax_sqlite_idle(f->sqlite);
	assert_true(size_of(f, "") > begin + 400000);
	int64_t wal = size_of(f, "-wal");
	fill(f, 10001, 10000); /* begins at the front of the WAL again */
	assert_true(size_of(f, "-wal") < wal * 2);

	begin = size_of(f, "");
	f->sqlite->conn.checkpoint_pages = 100; /* 64 MB in miniature: no idle moment is needed */
	fill(f, 20001, 10000);
	assert_true(size_of(f, "") > begin + 400000);
	assert_int_equal(count(f), 30000);
}

/* full and failing disks */

static enum ax_status insert_stubbornly(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	int64_t gid = *(int64_t *)arg;
	while (insert_run(tx, &gid, err) == AX_OK)
		gid++;
	struct ax_group group = plain_group("after");
	assert_int_equal(tx->ops->group_insert(tx, &group, err), AX_FULL); /* nothing is done outside a transaction */
	return AX_OK;
}

static void test_a_bounded_file_is_full(void **state)
{
	struct fixture *f = *state;
	struct ax_err err;
	fixture_open_sqlite(f);
	fill(f, 1, 100);
	assert_int_equal(ax_sqlite_now(&f->sqlite->conn, "PRAGMA max_page_count = 1"), SQLITE_OK); /* = as it is */
	int64_t gid = 101;
	enum ax_status status;
	while ((status = insert(f, gid, &err)) == AX_OK)
		gid++;
	assert_int_equal(status, AX_FULL);
	assert_non_null(strstr(err.msg, f->path));
	assert_int_equal(count(f), gid - 1);

	assert_int_equal(ax_store_run(f->store, &f->arena, insert_stubbornly, &gid, &err), AX_FULL);
	assert_int_equal(count(f), gid - 1);

	assert_int_equal(ax_sqlite_batch_begin(f->sqlite, &err), AX_OK);
	assert_int_equal(insert(f, gid, &err), AX_FULL);
	status = ax_sqlite_batch_commit(f->sqlite, &err); /* its other members may live on, or not: as it says */
	assert_true(status == AX_OK || status == AX_FULL);
	assert_int_equal(count(f), gid - 1);

	assert_int_equal(ax_sqlite_now(&f->sqlite->conn, "PRAGMA max_page_count = 1000000"), SQLITE_OK);
	assert_int_equal(insert(f, gid, &err), AX_OK);
	assert_int_equal(count(f), gid);
}

static void write_into_a_limit(struct fixture *f)
{
	struct ax_err err;
	struct rlimit limit = { 1500000, 1500000 };
	fixture_open_sqlite(f);
	signal(SIGXFSZ, SIG_IGN);
	MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	int64_t gid = 1;
	enum ax_status status;
	while ((status = insert(f, gid, &err)) == AX_OK)
		gid++;
	MUST(status == AX_FULL);
	MUST(count(f) == gid - 1);
	MUST(insert(f, gid, &err) == AX_FULL);
	MUST(gid > 3);
	char n[32];
	int len = snprintf(n, sizeof(n), "%lld", (long long)gid - 1);
	char path[128];
	snprintf(path, sizeof(path), "%s/n", f->folder);
	write_at(path, 0, n, (size_t)len);
}

static void test_a_full_disk(void **state)
{
	struct fixture *f = *state;
	in_child(write_into_a_limit, f);
	char path[128], n[32] = "";
	snprintf(path, sizeof(path), "%s/n", f->folder);
	FILE *file = fopen(path, "r");
	assert_non_null(fgets(n, sizeof(n), file));
	fclose(file);
	unlink(path);
	fixture_open_sqlite(f);
	assert_int_equal(count(f), atoll(n));
}

/* Every write and every flush of a commit fails once; what is said and what is there must agree. */
static void fail_each_call(struct fixture *f, int *counter, int code, bool in_batch)
{
	struct ax_err err;
	int64_t n = 0;
	for (int nth = 1;; nth++) {
		fixture_open_sqlite(f);
		if (n == 0)
			n = count(f);
		faulty_vfs = (struct faulty_vfs){ .code = code };
		*counter = nth;
		enum ax_status status;
		if (in_batch) {
			status = ax_sqlite_batch_begin(f->sqlite, &err);
			assert_int_equal(status, AX_OK);
			insert(f, n + 1, &err);
			insert(f, n + 2, &err);
			status = ax_sqlite_batch_commit(f->sqlite, &err);
		} else {
			status = insert(f, n + 1, &err);
		}
		int failures = faulty_vfs.failures;
		faulty_vfs_calm();
		if (status == AX_UNCERTAIN) { /* nothing goes on before the file is opened anew */
			int64_t gid = n + 9;
			assert_int_equal(ax_store_run(f->store, &f->arena, insert_run, &gid, &err), AX_UNAVAILABLE);
			assert_int_equal(ax_sqlite_batch_begin(f->sqlite, &err), AX_UNAVAILABLE);
		}
		fixture_close(f);
		fixture_open_sqlite(f);
		int64_t now = count(f), more = in_batch ? 2 : 1;
		fixture_close(f);
		if (status == AX_OK)
			assert_int_equal(now, n + more);
		else if (status == AX_UNCERTAIN)
			assert_true(now == n || now == n + more);
		else
			assert_int_equal(now, n);
		n = now;
		if (failures == 0) {
			assert_int_equal(status, AX_OK);
			assert_true(nth > 1);
			return;
		}
		assert_int_not_equal(status, AX_OK);
		assert_true(code != SQLITE_FULL || status == AX_FULL);
		assert_true(code != SQLITE_IOERR_FSYNC || status == AX_UNCERTAIN);
	}
}

/* B145 */
static void test_every_call_of_a_commit_fails(void **state)
{
	struct fixture *f = *state;
	for (int in_batch = 0; in_batch <= 1; in_batch++) {
		fail_each_call(f, &faulty_vfs.write_in, SQLITE_FULL, in_batch);
		fail_each_call(f, &faulty_vfs.write_in, SQLITE_IOERR_WRITE, in_batch);
		fail_each_call(f, &faulty_vfs.flush_in, SQLITE_IOERR_FSYNC, in_batch);
	}
}

static void test_a_checkpoint_that_cannot_flush(void **state)
{
	struct fixture *f = *state;
	struct ax_err err;
	fixture_open_sqlite(f);
	fill(f, 1, 10000);
	faulty_vfs = (struct faulty_vfs){ .code = SQLITE_IOERR_FSYNC, .flush_in = 2 }; /* 1: WAL, 2: file */
	ax_sqlite_idle(f->sqlite);
	assert_int_equal(faulty_vfs.failures, 1);
	faulty_vfs_calm();
	assert_int_equal(insert(f, 10001, &err), AX_UNAVAILABLE); /* pages may be lost, the WAL still has them */
	fixture_close(f);
	fixture_open_sqlite(f);
	assert_int_equal(count(f), 10000);
}

int main(void)
{
	faulty_vfs_install();
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_new_file),
		TEST(test_only_one_server),
		TEST(test_a_symbolic_link_is_the_same_file),
		TEST(test_a_file_with_two_names_is_refused),
		TEST(test_places_that_cannot_hold_a_file),
		TEST(test_missing_rights),
		TEST(test_files_of_others),
		TEST(test_schema_versions),
		TEST(test_each_file_has_an_id),
		TEST(test_migrations_are_applied_once),
		TEST(test_damaged_files),
		TEST(test_unclean_shutdown),
		TEST(test_kill_in_a_batch),
		TEST(test_members_of_a_batch),
		TEST(test_a_reader_sees_one_moment),
		TEST(test_a_reader_has_two_seconds),
		TEST(test_readers_in_threads),
		TEST(test_the_wal_is_moved),
		TEST(test_a_bounded_file_is_full),
		TEST(test_a_full_disk),
		TEST(test_every_call_of_a_commit_fails),
		TEST(test_a_checkpoint_that_cannot_flush),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
