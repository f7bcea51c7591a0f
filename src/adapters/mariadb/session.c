/* Connections: how each is made, so that all sessions are alike, whatever the server's own settings are. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/mariadb/conn.h"
#include "base/err.h"

#define PATIENT "SET SESSION wait_timeout = 28800"

/* MariaDB and MySQL take each of these. */
static const char *const settings[] = {
	"SET NAMES utf8mb4 COLLATE utf8mb4_bin",
	"SET SESSION sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
	"SET SESSION time_zone = '+00:00'",
	PATIENT,
};

bool ax_mariadb_do(MYSQL *mysql, const char *text)
{
	if (mysql_real_query(mysql, text, strlen(text)) != 0)
		return false;
	mysql_free_result(mysql_store_result(mysql));
	return mysql_errno(mysql) == 0;
}

const char **ax_mariadb_ask(MYSQL *mysql, const char *text, struct ax_arena *arena)
{
	if (mysql_real_query(mysql, text, strlen(text)) != 0)
		return NULL;
	MYSQL_RES *result = mysql_store_result(mysql);
	MYSQL_ROW row = result == NULL ? NULL : mysql_fetch_row(result);
	const char **ret = NULL;
	if (row != NULL) {
		unsigned n = mysql_num_fields(result);
		ret = ax_alloc_array(arena, n, sizeof(*ret));
		for (unsigned i = 0; i < n; i++)
			ret[i] = row[i] == NULL ? "" : ax_strdup(arena, row[i]);
	}
	mysql_free_result(result);
	return ret;
}

static void start_library(void)
{
	if (mysql_library_init(0, NULL, NULL) != 0)
		ax_die(__FILE__, __LINE__, "libmariadb does not start");
}

static void set_options(const struct ax_mariadb *db, unsigned answer_s, MYSQL *mysql)
{
	static const my_bool yes = 1, no = 0;
	static const unsigned connect_s = AX_MARIADB_CONNECT_S, never = 0;
	unsigned protocol = db->config.socket[0] != '\0' ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
	mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
	mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &answer_s);
	mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &answer_s);
	mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol); /* "localhost" would mean a socket by itself */
	mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &never);
	mysql_options(mysql, MYSQL_OPT_RECONNECT, &no); /* it would go on outside of the transaction */
	if (!db->tls)
		return;
	mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
	mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
	if (db->config.ca_file[0] != '\0')
		mysql_options(mysql, MYSQL_OPT_SSL_CA, db->config.ca_file);
	if (db->config.cert_file[0] == '\0')
		return;
	mysql_options(mysql, MYSQL_OPT_SSL_CERT, db->config.cert_file);
	mysql_options(mysql, MYSQL_OPT_SSL_KEY, db->config.key_file);
}

static bool set_session(MYSQL *mysql)
{
	char text[128];
	for (size_t i = 0; i < AX_COUNT(settings); i++) {
		if (!ax_mariadb_do(mysql, settings[i]))
			return false;
	}
	/* Rows that a server has locked which stands still, or is cut off, are free again soon. MySQL has nothing like
	 * it: see ax_mariadb_watch. */
	snprintf(text, sizeof(text),
		"SET SESSION innodb_lock_wait_timeout = %d /*M!100300 , SESSION idle_transaction_timeout = %d */",
		AX_MARIADB_LOCK_WAIT_S, AX_MARIADB_IDLE_S);
	return ax_mariadb_do(mysql, text);
}

/* "0", or "OFF" where the setting has more than two values. */
static bool is_off(const char *setting)
{
	return strcmp(setting, "0") == 0 || strcmp(setting, "OFF") == 0;
}

/* MySQL reads over the first comment and MariaDB over the second: each has its own name for the isolation. */
#define QUESTION                                                                                                       \
	"SELECT @@GLOBAL.read_only, @@SESSION.sql_mode,"                                                               \
	" /*M! @@SESSION.tx_isolation */ /*!50720 @@SESSION.transaction_isolation */"

enum ax_status ax_mariadb_check_session(MYSQL *mysql, struct ax_err *err)
{
	struct ax_arena arena = { 0 };
	const char **answer = ax_mariadb_ask(mysql, QUESTION, &arena);
	enum ax_status status = AX_OK;
	if (answer == NULL)
		status = ax_fail(
			err, AX_UNAVAILABLE, "store", "the database does not say what it is: %s", mysql_error(mysql));
	else if (!is_off(answer[0]))
		status = ax_fail(err, AX_UNAVAILABLE, "store",
			"the database is read-only; connect to the one that takes writes");
	else if (strstr(answer[1], "STRICT_TRANS_TABLES") == NULL)
		status = ax_fail(err, AX_UNAVAILABLE, "store",
			"the session's sql_mode is '%.200s' although STRICT_TRANS_TABLES was set; connect past any "
			"proxy that shares sessions",
			answer[1]);
	else if (strcmp(answer[2], "READ-COMMITTED") != 0)
		status = ax_fail(err, AX_UNAVAILABLE, "store",
			"the session's isolation is %.40s although READ COMMITTED was set; connect past any proxy that "
			"shares sessions",
			answer[2]);
	ax_arena_done(&arena);
	return status;
}

static enum ax_status give_up(const struct ax_mariadb *db, MYSQL *mysql, struct ax_err *err)
{
	enum ax_status status = ax_mariadb_cannot_connect(db, mysql_errno(mysql), mysql_error(mysql), err);
	mysql_close(mysql);
	return status;
}

enum ax_status ax_mariadb_session(const struct ax_mariadb *db, unsigned answer_s, MYSQL **ret, struct ax_err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start_library);
	const struct ax_mariadb_config *c = &db->config;
	MYSQL *mysql = mysql_init(NULL);
	if (mysql == NULL)
		ax_die(__FILE__, __LINE__, "out of memory");
	set_options(db, answer_s, mysql);
	/* CLIENT_FOUND_ROWS: an update counts the rows that it found, changed or not. */
	if (mysql_real_connect(mysql, c->socket[0] == '\0' ? c->host : NULL, c->user, c->password, c->database,
		    (unsigned)c->port, c->socket[0] == '\0' ? NULL : c->socket, CLIENT_FOUND_ROWS) == NULL)
		return give_up(db, mysql, err);
	if (db->tls && mysql_get_ssl_cipher(mysql) == NULL) {
		mysql_close(mysql);
		return ax_fail(err, AX_INVALID, "store",
			"the database at %s has no TLS; set it up there, or say tls=off", c->host);
	}
	if (!set_session(mysql))
		return give_up(db, mysql, err);
	enum ax_status status = ax_mariadb_check_session(mysql, err);
	if (status == AX_OK)
		*ret = mysql;
	else
		mysql_close(mysql);
	return status;
}

static bool takes_arrays(MYSQL *mysql)
{
	unsigned long extended = 0;
	return mariadb_get_infov(mysql, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &extended) == 0 &&
		(extended & (MARIADB_CLIENT_STMT_BULK_OPERATIONS >> 32)) != 0;
}

enum ax_status ax_mariadb_revive(struct ax_mariadb_conn *conn, struct ax_err *err)
{
	MYSQL *mysql;
	if (conn->mysql != NULL)
		return AX_OK;
	enum ax_status status = ax_mariadb_session(conn->db, AX_MARIADB_ANSWER_S, &mysql, err);
	if (status != AX_OK)
		return status;
	if (!ax_mariadb_do(mysql, "SET SESSION autocommit = 0"))
		return give_up(conn->db, mysql, err);
	conn->mysql = mysql;
	conn->bulk = takes_arrays(mysql);
	conn->snapshots = false;
	conn->mariadb = mariadb_connection(mysql);
	conn->watched = false;
	return AX_OK;
}

/* To MySQL a session that stands still is one, in a transaction or not: it must have little patience with this one
 * while transactions follow each other, and may have more in a quiet moment. */
enum ax_status ax_mariadb_watch(struct ax_mariadb_conn *conn, struct ax_err *err)
{
	char text[64];
	if (conn->mariadb || conn->watched)
		return AX_OK;
	snprintf(text, sizeof(text), "SET SESSION wait_timeout = %d", AX_MARIADB_IDLE_S);
	if (!ax_mariadb_do(conn->mysql, text))
		return ax_mariadb_fail(conn, mysql_errno(conn->mysql), mysql_error(conn->mysql), NULL, err);
	conn->watched = true;
	return AX_OK;
}

void ax_mariadb_rest(struct ax_mariadb_conn *conn)
{
	AX_ASSERT(!conn->sql.in_transaction);
	if (conn->mysql != NULL && conn->watched && ax_mariadb_do(conn->mysql, PATIENT))
		conn->watched = false; /* else the next transaction finds out that the connection is gone */
}

void ax_mariadb_drop(struct ax_mariadb_conn *conn)
{
	ax_mariadb_drop_cursors(conn);
	if (conn->mysql != NULL)
		mysql_close(conn->mysql);
	conn->mysql = NULL;
}

enum ax_status ax_mariadb_connect(struct ax_mariadb *db, struct ax_mariadb_conn **ret, struct ax_err *err)
{
	struct ax_mariadb_conn *conn = ax_malloc(sizeof(*conn));
	conn->db = db;
	ax_mariadb_use_driver(conn);
	ax_mariadb_use_as_store(conn);
	enum ax_status status = ax_mariadb_revive(conn, err);
	if (status == AX_OK)
		*ret = conn;
	else
		ax_mariadb_disconnect(conn);
	return status;
}

void ax_mariadb_disconnect(struct ax_mariadb_conn *conn)
{
	if (conn == NULL)
		return;
	ax_mariadb_drop(conn);
	free(conn->bulk_room.at);
	free(conn);
}
