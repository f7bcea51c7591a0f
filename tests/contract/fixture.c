#include "fixture.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "adapters/mariadb/conn.h"
#include "core/task_def.h"

void fixture_make_folder(struct fixture *f)
{
	const char *base = getenv("TMPDIR");
	snprintf(f->folder, sizeof(f->folder), "%.40s/ax-store-XXXXXX", base == NULL ? "/tmp" : base);
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/ax.db", f->folder);
}

int fixture_count_files(const struct fixture *f)
{
	DIR *dir = opendir(f->folder);
	assert_non_null(dir);
	int n = 0;
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

void fixture_drop_folder(struct fixture *f)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-lock", "-journal" };
	for (size_t i = 0; i < AX_COUNT(suffixes); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s%s", f->path, suffixes[i]);
		unlink(path);
	}
	rmdir(f->folder);
}

void fixture_open_mem(struct fixture *f)
{
	f->mem = ax_mem_store_new();
	f->store = ax_mem_store_port(f->mem);
}

void fixture_open_sqlite(struct fixture *f)
{
	struct ax_err err = { 0 };
	struct ax_sqlite_config config = { .path = f->path };
	if (ax_sqlite_open(&config, &f->sqlite, &err) != AX_OK)
		fail_msg("%s", err.msg);
	f->store = ax_sqlite_store(f->sqlite);
}

/* Rows and the numbers that the database gives. */
static void empty_tables(MYSQL *mysql)
{
	static const char question[] =
		"SELECT CONCAT(IF(AUTO_INCREMENT > 1, 'TRUNCATE TABLE ', 'DELETE FROM '), TABLE_NAME)"
		" FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT IN "
		"('ax_migration', "
		"'ax_store')";
	/* MySQL answers from what it once knew. */
	assert_true(ax_mariadb_do(mysql, "SET @now = 1 /*!80000 , SESSION information_schema_stats_expiry = 0 */"));
	assert_int_equal(mysql_real_query(mysql, question, strlen(question)), 0);
	MYSQL_RES *result = mysql_store_result(mysql);
	for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL;)
		assert_true(ax_mariadb_do(mysql, row[0]));
	mysql_free_result(result);
	assert_true(ax_mariadb_do(mysql, "COMMIT"));
}

void fixture_open_mariadb(struct fixture *f)
{
	struct ax_err err = { 0 };
	struct ax_mariadb_config config;
	const char *url = getenv("AX_TEST_MYSQL");
	if (url == NULL)
		fail_msg("no MariaDB: run this by tests/lib/mariadb.py, which needs mariadbd (make test installs it)");
	if (ax_mariadb_read_url(url, &f->arena, &config, &err) != AX_OK ||
		ax_mariadb_open(&config, &f->mariadb, &err) != AX_OK ||
		ax_mariadb_connect(f->mariadb, &f->conn, &err) != AX_OK)
		fail_msg("%s", err.msg);
	empty_tables(f->conn->mysql);
	f->store = ax_mariadb_store(f->conn);
}

struct ax_mariadb_conn *fixture_connect(struct fixture *f)
{
	struct ax_err err = { 0 };
	struct ax_mariadb_conn *conn;
	if (ax_mariadb_connect(f->mariadb, &conn, &err) != AX_OK)
		fail_msg("%s", err.msg);
	return conn;
}

void fixture_close(struct fixture *f)
{
	ax_mariadb_disconnect(f->conn);
	ax_mariadb_close(f->mariadb);
	ax_sqlite_close(f->sqlite);
	ax_mem_store_free(f->mem);
	ax_arena_done(&f->arena);
	f->conn = NULL;
	f->mariadb = NULL;
	f->sqlite = NULL;
	f->mem = NULL;
	f->store = NULL;
}

static enum ax_status call_body(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(*(tx_body *)arg)(tx, err);
	return AX_OK;
}

void in_transaction(struct fixture *f, tx_body body)
{
	struct ax_err err = { 0 };
	assert_int_equal(ax_store_run(f->store, &f->arena, call_body, &body, &err), AX_OK);
}

void fill_row(const struct ax_row_type *type, struct ax_arena *arena, int seed, void *row)
{
	memset(row, 0, type->size);
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		switch ((enum ax_field_kind)field->kind) {
		case AX_FIELD_I64:
			ax_field_set_number(field, row, INT64_C(1000000007) * seed + i);
			break;
		case AX_FIELD_ENUM:
			ax_field_set_number(field, row, 1 + (seed + i) % 2);
			break;
		case AX_FIELD_BOOL:
			ax_field_set_number(field, row, (seed + i) % 2);
			break;
		case AX_FIELD_TEXT:
			*ax_field_text(field, row) = ax_sprintf(arena, "%s-%d '\"\\ \xe7\xbb\x84", field->name, seed);
			break;
		case AX_FIELD_DATA:
			*ax_field_text(field, row) = "a\0b\n";
			*(int64_t *)(void *)(ax_field_text(field, row) + 1) = 4;
			break;
		}
	}
}

struct ax_task plain_task(const char *group_key, const char *task_name)
{
	struct ax_task task = {
		.def = ax_def_preset(), .status = AX_TASK_ENABLED, .version = 1, .updated_by = "", .durations = ""
	};
	task.def.group_key = group_key;
	task.def.task_name = task_name;
	task.def.cron_expr = "@hourly";
	task.def.executor_key = "x";
	task.def.biz_param = "{}";
	return task;
}

struct ax_run plain_run(int64_t gid, int64_t task_id)
{
	static _Thread_local char keys[64][24]; /* lives longer than any call that takes the row */
	static _Thread_local unsigned next;
	char *key = keys[next++ % AX_COUNT(keys)];
	snprintf(key, sizeof(keys[0]), "%" PRId64, gid);
	return (struct ax_run){
		.gid = gid,
		.task_id = task_id,
		.group_key = "g",
		.executor_key = "x",
		.kind = AX_KIND_SCHEDULE,
		.fire_key = key,
		.status = AX_RUN_WAITING,
		.reason = "",
		.version = 1,
		.worker = "",
		.incarnation = "",
		.result_msg = "",
		.result = "",
		.params = "",
		.trace_id = "",
		.progress_msg = "",
		.lane = AX_RUN_LANE_SHORT,
		.demand = "",
	};
}

struct ax_group plain_group(const char *key)
{
	return (struct ax_group){ .group_key = key, .title = "", .contacts = "", .defaults = "{}", .version = 1 };
}

int fixture_sqlite_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	fixture_make_folder(f);
	fixture_open_sqlite(f);
	return 0;
}

int fixture_down(void **state)
{
	struct fixture *f = *state;
	fixture_close(f);
	if (f->folder[0] != '\0')
		fixture_drop_folder(f);
	free(f);
	return 0;
}
