/* Opening: the lock, the file, the settings, the check, the schema. Every failure says which file and what to do. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/sqlite/handle.h"
#include "adapters/sqlite/memory.h"
#include "base/err.h"

enum { CHECKED_BYTES = 64 << 20 }; /* a file up to this size is checked at every start */

static char *with_suffix(const char *path, const char *suffix)
{
	size_t len = strlen(path), more = strlen(suffix) + 1;
	char *joined = ax_malloc(len + more);
	memcpy(joined, path, len);
	memcpy(joined + len, suffix, more);
	return joined;
}

static void free_text(char **text)
{
	free(*text);
}

/* An open(2) that failed, as a sentence. */
static enum ax_status cannot_open(const char *path, int code, struct ax_err *err)
{
	switch (code) {
	case ENOENT:
	case ENOTDIR:
		return ax_fail(err, AX_NOT_FOUND, "store", "the folder of %s does not exist; make it first", path);
	case EACCES:
	case EPERM:
		return ax_fail(err, AX_DENIED, "store", "no right to write %s; give it to the server's user", path);
	case EROFS:
		return ax_fail(err, AX_DENIED, "store", "%s is on a read-only file system", path);
	case EISDIR:
		return ax_fail(err, AX_INVALID, "store", "%s is a folder; name a file in it", path);
	case ENOSPC:
	case EDQUOT:
		return ax_fail(err, AX_FULL, "store", "no space left for %s", path);
	default:
		return ax_fail(err, AX_UNAVAILABLE, "store", "cannot open %s: %s", path, strerror(code));
	}
}

static enum ax_status is_locked(const char *path, const char *lock_path, int fd, struct ax_err *err)
{
	char pid[32] = "";
	ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);
	pid[n < 0 ? 0 : n] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	return ax_fail(err, AX_BUSY, "store", "%s is in use by process %s (lock file %s); stop that one first", path,
		pid[0] == '\0' ? "unknown" : pid, lock_path);
}

/* The lock ends with the process, whatever ends it. The file stays: removing it could take it away from another. */
static enum ax_status take_lock(const char *path, int *ret_fd, struct ax_err *err)
{
	AX_CLEANUP(free_text) char *lock_path = with_suffix(path, "-lock");
	int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cannot_open(lock_path, errno, err);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		enum ax_status status =
			errno == EWOULDBLOCK ? is_locked(path, lock_path, fd, err) : cannot_open(lock_path, errno, err);
		close(fd);
		return status;
	}
	if (ftruncate(fd, 0) != 0 || dprintf(fd, "%ld\n", (long)getpid()) < 0) {
		enum ax_status status = cannot_open(lock_path, errno, err);
		close(fd);
		return status;
	}
	*ret_fd = fd;
	return AX_OK;
}

/* Makes the file if it is not there, so that it is ours alone from its first byte on; SQLite gives the files beside it
 * the same mode. Also finds out early, with a clear errno, that it cannot be written. */
static enum ax_status make_file(const char *path, struct ax_err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return cannot_open(path, errno, err);
	close(fd);
	return AX_OK;
}

/* The name that the lock and SQLite's files beside the database are made from: whoever comes through a symbolic link
 * must find the same ones. A file that is not there yet is made, as only then does a link to it lead somewhere. */
static enum ax_status find_file(const char *path, char **ret, struct ax_err *err)
{
	char *real = realpath(path, NULL);
	if (real == NULL && errno == ENOENT) {
		enum ax_status status = make_file(path, err);
		if (status != AX_OK)
			return status;
		real = realpath(path, NULL);
	}
	if (real == NULL)
		return cannot_open(path, errno, err);
	*ret = real;
	return AX_OK;
}

/* Under another hard name the file would have another lock, and another write-ahead log. */
static enum ax_status check_names(const char *path, struct ax_err *err)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return cannot_open(path, errno, err);
	return st.st_nlink <= 1 ? AX_OK
				: ax_fail(err, AX_CONFLICT, "store",
					  "%s has %ju names (hard links), and a server behind another one would not be "
					  "noticed; keep one name, or copy the file",
					  path, (uintmax_t)st.st_nlink);
}

static int64_t file_size(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* A server that closes its file leaves no WAL. */
static bool was_left_open(const char *path)
{
	AX_CLEANUP(free_text) char *wal = with_suffix(path, "-wal");
	return file_size(wal) > 0;
}

static enum ax_status cannot_use(struct ax_sqlite_conn *conn, struct ax_err *err)
{
	int code = sqlite3_extended_errcode(conn->db) & 0xff;
	if (code == SQLITE_NOTADB)
		return ax_fail(err, AX_BROKEN, "store",
			"%s is not a database; name another file, or restore this one from a backup", conn->path);
	if (code == SQLITE_CORRUPT)
		return ax_fail(err, AX_BROKEN, "store", "%s is damaged (%s); restore it from a backup", conn->path,
			sqlite3_errmsg(conn->db));
	return ax_sqlite_fail(conn, err);
}

static enum ax_status connect(struct ax_sqlite_conn *conn, int flags, struct ax_err *err)
{
	ax_sqlite_conn_init(conn);
	int code = sqlite3_open_v2(conn->path, &conn->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (conn->db == NULL)
		ax_die(__FILE__, __LINE__, "out of memory");
	sqlite3_extended_result_codes(conn->db, 1);
	if (code != SQLITE_OK)
		return cannot_use(conn, err);
	sqlite3_db_config(conn->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(conn->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(conn->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_busy_timeout(conn->db, 5000);
	/* Small caches: what falls out of them is still in the system's. */
	const char *cache =
		(flags & SQLITE_OPEN_READONLY) != 0 ? "PRAGMA cache_size = -2048" : "PRAGMA cache_size = -6144";
	if (ax_sqlite_now(conn, "PRAGMA foreign_keys = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY") !=
			SQLITE_OK ||
		ax_sqlite_now(conn, cache) != SQLITE_OK)
		return cannot_use(conn, err);
	return AX_OK;
}

/* The first column of the first row as text, or "". */
static enum ax_status ask(struct ax_sqlite_conn *conn, const char *question, char ret[256], struct ax_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(conn->db, question, -1, &stmt, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	enum ax_status status = code == SQLITE_ROW || code == SQLITE_DONE ? AX_OK : cannot_use(conn, err);
	const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
	snprintf(ret, 256, "%s", text == NULL ? "" : text);
	sqlite3_finalize(stmt);
	return status;
}

static enum ax_status set_writer(struct ax_sqlite_conn *conn, struct ax_err *err)
{
	char mode[256];
	enum ax_status status = ask(conn, "PRAGMA journal_mode = WAL", mode, err);
	if (status != AX_OK)
		return status;
	if (strcmp(mode, "wal") != 0)
		return ax_fail(err, AX_UNAVAILABLE, "store",
			"%s cannot have a write-ahead log here (network file system?); use a local disk", conn->path);
	ax_sqlite_use_as_writer(conn);
	return ax_sqlite_now(conn, "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864") == SQLITE_OK
		? AX_OK
		: cannot_use(conn, err);
}

static enum ax_status check(struct ax_sqlite_conn *conn, struct ax_err *err)
{
	char verdict[256];
	enum ax_status status = ask(conn, "PRAGMA quick_check(1)", verdict, err);
	if (status == AX_OK && strcmp(verdict, "ok") != 0)
		return ax_fail(
			err, AX_BROKEN, "store", "%s is damaged (%s); restore it from a backup", conn->path, verdict);
	return status;
}

/* Nobody wants AX's tables in the file of another program. */
static enum ax_status check_owner(struct ax_sqlite_conn *conn, struct ax_err *err)
{
	char foreign[256];
	enum ax_status status = ask(conn,
		"SELECT count(*) FROM sqlite_schema WHERE NOT EXISTS"
		" (SELECT 1 FROM sqlite_schema WHERE name = 'ax_migration')",
		foreign, err);
	if (status == AX_OK && strcmp(foreign, "0") != 0)
		return ax_fail(err, AX_BROKEN, "store", "%s is the database of another program; name another file",
			conn->path);
	return status;
}

static enum ax_status open_writer(struct ax_sqlite *db, struct ax_err *err)
{
	struct ax_sqlite_conn *conn = &db->conn;
	enum ax_status status = take_lock(db->path, &db->lock_fd, err);
	if (status == AX_OK)
		status = make_file(db->path, err);
	if (status == AX_OK)
		status = check_names(db->path, err);
	if (status != AX_OK)
		return status;
	bool suspect = was_left_open(db->path) || file_size(db->path) <= CHECKED_BYTES;
	status = connect(conn, SQLITE_OPEN_READWRITE, err);
	if (status == AX_OK)
		status = check_owner(conn, err);
	if (status == AX_OK)
		status = set_writer(conn, err);
	if (status == AX_OK && suspect)
		status = check(conn, err);
	if (status == AX_OK)
		status = ax_sqlite_migrate(conn, ax_sqlite_migrations, ax_sqlite_migrations_n, err);
	return status;
}

enum ax_status ax_sqlite_open(const struct ax_sqlite_config *config, struct ax_sqlite **ret, struct ax_err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, ax_sqlite_lend_memory);
	struct ax_sqlite *db = ax_malloc(sizeof(*db));
	db->lock_fd = -1;
	db->conn.log = config->log;
	enum ax_status status = find_file(config->path, &db->path, err);
	db->conn.path = db->path;
	if (status == AX_OK)
		status = open_writer(db, err);
	if (status == AX_OK)
		*ret = db;
	else
		ax_sqlite_close(db);
	return status;
}

void ax_sqlite_close(struct ax_sqlite *db)
{
	if (db == NULL)
		return;
	ax_sqlite_conn_done(&db->conn);
	if (db->lock_fd >= 0)
		close(db->lock_fd);
	free(db->path);
	free(db);
}

enum ax_status ax_sqlite_reader_open(const struct ax_sqlite *db, struct ax_sqlite_reader **ret, struct ax_err *err)
{
	struct ax_sqlite_reader *reader = ax_malloc(sizeof(*reader));
	reader->conn.path = db->path;
	enum ax_status status = connect(&reader->conn, SQLITE_OPEN_READONLY, err);
	if (status == AX_OK) {
		ax_sqlite_use_as_reader(&reader->conn);
		*ret = reader;
	} else {
		ax_sqlite_reader_close(reader);
	}
	return status;
}

void ax_sqlite_reader_close(struct ax_sqlite_reader *reader)
{
	if (reader == NULL)
		return;
	ax_sqlite_conn_done(&reader->conn);
	free(reader);
}
