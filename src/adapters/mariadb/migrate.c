/* Bringing a database's schema up to date: numbered migrations, each applied once, by one server at a time. A
 * definition commits by itself, so a migration that was cut short is done again: its statements must bear that. */

#include <mysqld_error.h>
#include <stdio.h>
#include <string.h>

#include "adapters/mariadb/conn.h"
#include "base/err.h"
#include "base/num.h"

enum { LOCK_WAIT_S = 60 };

static enum ax_status fail(MYSQL *mysql, struct ax_err *err)
{
	if (mysql_errno(mysql) == ER_BINLOG_CREATE_ROUTINE_NEED_SUPER)
		return ax_fail(err, AX_UNAVAILABLE, "store",
			"the database has a binary log and lets no ordinary account make triggers; SET GLOBAL "
			"log_bin_trust_function_creators = 1 there, start again, and set it back to 0");
	return ax_fail(err, AX_UNAVAILABLE, "store", "the schema cannot be brought up to date: %s (%u)",
		mysql_error(mysql), mysql_errno(mysql));
}

static bool ask_number(MYSQL *mysql, const char *question, int64_t *ret)
{
	struct ax_arena arena = { 0 };
	const char **answer = ax_mariadb_ask(mysql, question, &arena);
	bool done = answer != NULL && ax_parse_i64(answer[0], strlen(answer[0]), INT64_MIN, INT64_MAX, ret);
	ax_arena_done(&arena);
	return done;
}

/* What is no number is from a future that we do not know. */
static int64_t read_number(const char *text)
{
	int64_t number;
	return ax_parse_i64(text, strlen(text), 1, INT32_MAX, &number) ? number : INT32_MAX;
}

/* Compares all that was applied with ours; the number of the last. */
static enum ax_status compare(const char *where, MYSQL *mysql, const struct ax_migration *migrations, int n,
	int *ret_number, struct ax_err *err)
{
	static const char question[] = "SELECT number, oldest, hash FROM ax_migration ORDER BY number";
	if (mysql_real_query(mysql, question, strlen(question)) != 0)
		return fail(mysql, err);
	MYSQL_RES *result = mysql_store_result(mysql);
	if (result == NULL)
		return fail(mysql, err);
	enum ax_status status = AX_OK;
	int64_t number = 0;
	for (MYSQL_ROW row; status == AX_OK && (row = mysql_fetch_row(result)) != NULL;) {
		number = read_number(row[0]);
		const struct ax_applied applied = {
			.number = (int)number, .oldest = (int)read_number(row[1]), .hash = row[2]
		};
		status = ax_migration_compare(where, &applied, migrations, n, err);
	}
	mysql_free_result(result);
	if (status == AX_OK)
		*ret_number = (int)number;
	return status;
}

/* The number of the last applied migration; 0 in a database without tables of ours. */
static enum ax_status read_applied(const char *where, MYSQL *mysql, const struct ax_migration *migrations, int n,
	int *ret_number, struct ax_err *err)
{
	int64_t listed, tables;
	if (!ask_number(mysql,
		    "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
		    " AND TABLE_NAME = 'ax_migration'",
		    &listed) ||
		!ask_number(mysql,
			"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
			" AND TABLE_NAME IN ('ax_task', 'ax_task_log')",
			&tables))
		return fail(mysql, err);
	if (listed > 0)
		return compare(where, mysql, migrations, n, ret_number, err);
	if (tables > 0)
		return ax_fail(err, AX_CONFLICT, "store",
			"%s has tables of AX without their list ax_migration; restore it whole, or name another "
			"database",
			where);
	*ret_number = 0;
	return AX_OK;
}

/* Several statements; definitions may hold semicolons of their own, so the server takes them apart. */
static bool do_all(MYSQL *mysql, const char *text)
{
	mysql_set_server_option(mysql, MYSQL_OPTION_MULTI_STATEMENTS_ON);
	int more = mysql_real_query(mysql, text, strlen(text));
	while (more == 0) {
		mysql_free_result(mysql_store_result(mysql));
		if (mysql_errno(mysql) != 0)
			return false;
		more = mysql_next_result(mysql); /* -1: that was all */
	}
	return more < 0 && mysql_set_server_option(mysql, MYSQL_OPTION_MULTI_STATEMENTS_OFF) == 0;
}

static bool apply(MYSQL *mysql, const struct ax_migration *migration)
{
	char record[512];
	snprintf(record, sizeof(record),
		"INSERT INTO ax_migration (number, name, hash, time, oldest) VALUES (%d, '%s', '%s', " AX_MARIADB_NOW
		", %d)",
		migration->number, migration->name, migration->hash, migration->oldest);
	return do_all(mysql, migration->sql) && ax_mariadb_do(mysql, record);
}

static enum ax_status apply_new(
	const char *where, MYSQL *mysql, const struct ax_migration *migrations, int n, struct ax_err *err)
{
	char lock[128];
	int64_t locked;
	int applied;
	snprintf(lock, sizeof(lock), "SELECT COALESCE(GET_LOCK(CONCAT('ax.migrate.', LEFT(DATABASE(), 48)), %d), -1)",
		LOCK_WAIT_S);
	if (!ask_number(mysql, lock, &locked) || locked < 0)
		return fail(mysql, err);
	if (locked == 0)
		return ax_fail(err, AX_BUSY, "store",
			"another server has been changing the schema of %s for %d s; start again when it is done",
			where, LOCK_WAIT_S);
	if (!ax_mariadb_do(mysql,
		    "CREATE TABLE IF NOT EXISTS ax_migration (number INT NOT NULL PRIMARY KEY, name VARCHAR(255) NOT "
		    "NULL,"
		    " hash VARCHAR(64) NOT NULL, time BIGINT NOT NULL, oldest INT NOT NULL) ENGINE=InnoDB DEFAULT "
		    "CHARSET=utf8mb4"
		    " COLLATE=utf8mb4_bin"))
		return fail(mysql, err);
	enum ax_status status = compare(where, mysql, migrations, n, &applied, err);
	for (int i = 0; status == AX_OK && i < n; i++) {
		if (migrations[i].number > applied && !apply(mysql, &migrations[i]))
			status = fail(mysql, err);
	}
	return status;
}

enum ax_status ax_mariadb_migrate(
	struct ax_mariadb *db, const struct ax_migration *migrations, int n, struct ax_err *err)
{
	const char *where = db->config.database;
	int applied, newest = n == 0 ? 0 : migrations[n - 1].number;
	MYSQL *mysql;
	enum ax_status status = ax_mariadb_session(db, AX_MARIADB_MIGRATE_S, &mysql, err);
	if (status != AX_OK)
		return status;
	status = read_applied(where, mysql, migrations, n, &applied, err);
	/* a long transaction elsewhere must not hold the start up for a day */
	if (status == AX_OK && applied < newest)
		status = ax_mariadb_do(mysql, "SET SESSION lock_wait_timeout = 60")
			? apply_new(where, mysql, migrations, n, err)
			: fail(mysql, err);
	mysql_close(mysql); /* and with it the lock */
	return status;
}
