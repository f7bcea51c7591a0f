/* Opening: is this a database that can be relied on? Every failure says what to do; what only endangers data is logged.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/mariadb/conn.h"
#include "base/err.h"
#include "base/num.h"

enum {
	PACKET_BYTES = 8 << 20, /* the longest row, with room */
	CLOCK_MS = 1000,
};

static int64_t wall_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t number_of(const char *text)
{
	int64_t number = 0;
	return ax_parse_i64(text, strlen(text), INT64_MIN, INT64_MAX, &number) ? number : 0;
}

/* What the database says of itself. */
struct answers {
	const char *version;
	const char *max_packet;
	const char *flush_log;
	const char *sync_binlog;
	const char *log_bin;
	const char *innodb;
	const char *now;
};
#define QUESTION                                                                                                       \
	"SELECT VERSION(), @@SESSION.max_allowed_packet, @@GLOBAL.innodb_flush_log_at_trx_commit,"                     \
	" @@GLOBAL.sync_binlog, @@GLOBAL.log_bin, (SELECT COUNT(*) FROM information_schema.ENGINES"                    \
	" WHERE ENGINE = 'InnoDB' AND SUPPORT IN ('YES', 'DEFAULT')), " AX_MARIADB_NOW

static enum ax_status check_version(const char *version, struct ax_err *err)
{
	int major = 0, minor = 0;
	bool mariadb = strstr(version, "MariaDB") != NULL;
	if (sscanf(version, "%d.%d", &major, &minor) != 2 || strstr(version, "TiDB") != NULL)
		return ax_fail(err, AX_UNAVAILABLE, "store",
			"the database calls itself %.60s; AX works with MariaDB 10.6 and later and MySQL 8.0 and later",
			version);
	if (mariadb ? major * 100 + minor < 1006 : major < 8)
		return ax_fail(err, AX_UNAVAILABLE, "store",
			"the database is too old (%.60s); AX needs MariaDB 10.6 or later, or MySQL 8.0 or later",
			version);
	return AX_OK;
}

static void warn(struct ax_mariadb *db, const struct answers *a)
{
	char text[256];
	/* 3 is MariaDB's, and as good as 1 */
	if (strcmp(a->flush_log, "1") != 0 && strcmp(a->flush_log, "3") != 0) {
		snprintf(text, sizeof(text),
			"innodb_flush_log_at_trx_commit is %.10s: a crash of the database loses what it confirmed; set "
			"it to 1",
			a->flush_log);
		ax_mariadb_tell(db, AX_LOG_WARN, "mariadb.not_durable", 0, text);
	}
	if (strcmp(a->log_bin, "1") == 0 && strcmp(a->sync_binlog, "1") != 0) {
		snprintf(text, sizeof(text),
			"sync_binlog is %.10s: replicas may miss what a crash of the database took; set it to 1",
			a->sync_binlog);
		ax_mariadb_tell(db, AX_LOG_WARN, "mariadb.not_durable", 0, text);
	}
	int64_t difference = number_of(a->now) - wall_ms();
	if (difference > CLOCK_MS || difference < -CLOCK_MS) {
		snprintf(text, sizeof(text),
			"the clock of the database is %lld ms %s of this machine's; set both by NTP",
			(long long)(difference < 0 ? -difference : difference),
			difference < 0 ? "behind that" : "ahead");
		ax_mariadb_tell(db, AX_LOG_WARN, "mariadb.clock_differs", 0, text);
	}
	if (!db->tls && db->config.tls == AX_MARIADB_TLS_OFF)
		ax_mariadb_tell(
			db, AX_LOG_WARN, "mariadb.no_tls", 0, "the connection to the database is not encrypted");
}

/* It takes writes, or the session would have been refused. Only an account that may look at replication is told. */
static void warn_of_replica(struct ax_mariadb *db, MYSQL *mysql)
{
	struct ax_arena arena = { 0 };
	if (ax_mariadb_ask(mysql, "SHOW REPLICA STATUS", &arena) != NULL)
		ax_mariadb_tell(db, AX_LOG_WARN, "mariadb.is_replica", 0,
			"the database is a replica that takes writes: what is written here does not reach its primary; "
			"connect to the primary, or end the replication (RESET REPLICA ALL)");
	ax_arena_done(&arena);
}

static enum ax_status check(struct ax_mariadb *db, MYSQL *mysql, struct ax_err *err)
{
	struct ax_arena arena = { 0 };
	const char **columns = ax_mariadb_ask(mysql, QUESTION, &arena);
	enum ax_status status = AX_OK;
	if (columns == NULL) {
		status = ax_fail(
			err, AX_UNAVAILABLE, "store", "the database does not say what it is: %s", mysql_error(mysql));
	} else {
		struct answers a = { columns[0], columns[1], columns[2], columns[3], columns[4], columns[5],
			columns[6] };
		status = check_version(a.version, err);
		if (status == AX_OK && strcmp(a.innodb, "0") == 0)
			status = ax_fail(err, AX_UNAVAILABLE, "store", "the database has no InnoDB; enable it");
		if (status == AX_OK && number_of(a.max_packet) < PACKET_BYTES)
			status = ax_fail(err, AX_UNAVAILABLE, "store",
				"max_allowed_packet of the database is %s; AX needs %d or more", a.max_packet,
				PACKET_BYTES);
		if (status == AX_OK) {
			warn(db, &a);
			warn_of_replica(db, mysql);
		}
	}
	ax_arena_done(&arena);
	return status;
}

static void copy_config(struct ax_mariadb *db, const struct ax_mariadb_config *config)
{
	db->config = *config;
	const char **texts[] = { &db->config.host, &db->config.socket, &db->config.user, &db->config.password,
		&db->config.database, &db->config.ca_file, &db->config.cert_file, &db->config.key_file };
	for (size_t i = 0; i < AX_COUNT(texts); i++)
		*texts[i] = ax_strdup(&db->arena, *texts[i]);
	db->tls = ax_mariadb_wants_tls(config);
}

enum ax_status ax_mariadb_open(const struct ax_mariadb_config *config, struct ax_mariadb **ret, struct ax_err *err)
{
	struct ax_mariadb *db = ax_malloc(sizeof(*db));
	copy_config(db, config);
	MYSQL *mysql;
	enum ax_status status = ax_mariadb_session(db, AX_MARIADB_ANSWER_S, &mysql, err);
	if (status == AX_OK) {
		status = check(db, mysql, err);
		mysql_close(mysql);
	}
	if (status == AX_OK)
		status = ax_mariadb_migrate(db, ax_mariadb_migrations, ax_mariadb_migrations_n, err);
	if (status == AX_OK)
		*ret = db;
	else
		ax_mariadb_close(db);
	return status;
}

void ax_mariadb_close(struct ax_mariadb *db)
{
	if (db == NULL)
		return;
	ax_arena_done(&db->arena);
	free(db);
}
