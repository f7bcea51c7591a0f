/* What the numbers of server and client mean to us. */

#include <errmsg.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <string.h>

#include "adapters/mariadb/conn.h"
#include "base/err.h"

enum {
	/* Of the server, for errors that name none of their own. */
	DISK_FULL = 1021,
	TABLE_FULL = 1114,
	STORAGE_ENGINE = 1030, /* the message carries the errno */
	/* Of one kind of server only, so that the header may lack them. */
	CONNECTION_KILLED = 1927,
	STATEMENT_TIME_MARIADB = 1969,
	STATEMENT_TIME_MYSQL = 3024,
	IDLE_TOO_LONG_MYSQL = 4031,
	GROUP_CONFLICT_MYSQL = 3101, /* of group replication */
	NODE_NOT_READY = 1047,       /* of a cluster */
};

enum ax_mariadb_fault ax_mariadb_fault_of(unsigned code)
{
	switch (code) {
	case CR_SERVER_GONE_ERROR:
	case CR_SERVER_LOST:
	case CR_SERVER_LOST_EXTENDED:
	case CR_CONNECTION_ERROR:
	case CR_CONN_HOST_ERROR:
	case ER_SERVER_SHUTDOWN:
	case ER_NET_READ_ERROR:
	case ER_NET_READ_INTERRUPTED:
	case ER_NET_ERROR_ON_WRITE:
	case ER_NET_WRITE_INTERRUPTED:
	case CONNECTION_KILLED:
	case IDLE_TOO_LONG_MYSQL:
		return AX_MARIADB_LOST;
	case ER_LOCK_WAIT_TIMEOUT:
	case ER_LOCK_DEADLOCK:
	case ER_CHECKREAD: /* the row changed since the snapshot */
	case ER_QUERY_INTERRUPTED:
	case ER_TABLE_DEF_CHANGED: /* a migration, since the snapshot */
	case ER_NEED_REPREPARE:
	case GROUP_CONFLICT_MYSQL:
	case STATEMENT_TIME_MARIADB:
	case STATEMENT_TIME_MYSQL:
		return AX_MARIADB_AGAIN;
	default:
		return AX_MARIADB_OTHER;
	}
}

static enum ax_status status_of(unsigned code, const char *message)
{
	switch (ax_mariadb_fault_of(code)) {
	case AX_MARIADB_LOST:
		return AX_UNAVAILABLE;
	case AX_MARIADB_AGAIN:
		return AX_BUSY;
	case AX_MARIADB_OTHER:
		break;
	}
	switch (code) {
	case DISK_FULL:
	case TABLE_FULL:
		return AX_FULL;
	case STORAGE_ENGINE:
		return strstr(message, " 28 ") != NULL ? AX_FULL : AX_UNAVAILABLE;
	case ER_OPTION_PREVENTS_STATEMENT:
	case ER_READ_ONLY_MODE:
	case NODE_NOT_READY:
	case ER_CON_COUNT_ERROR:
	case ER_TOO_MANY_USER_CONNECTIONS:
	case ER_USER_LIMIT_REACHED:
	case ER_MAX_PREPARED_STMT_COUNT_REACHED:
	case ER_TABLEACCESS_DENIED_ERROR:
	case ER_COLUMNACCESS_DENIED_ERROR:
	case ER_DBACCESS_DENIED_ERROR:
		return AX_UNAVAILABLE;
	case ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION:
		return AX_DENIED;
	case ER_NET_PACKET_TOO_LARGE:
	case ER_DATA_TOO_LONG:
	case ER_WARN_DATA_OUT_OF_RANGE:
		return AX_TOO_LARGE;
	default:
		return AX_BROKEN;
	}
}

/* Of keys with several columns the last one names the key, as in every store. */
static const char *last_of_primary(const struct ax_row_type *row)
{
	static const struct {
		const struct ax_row_type *row;
		const char *column;
	} keys[] = {
		{ &ax_task_version_row, "version" },
		{ &ax_attempt_row, "fence" },
		{ &ax_output_row, "seq" },
		{ &ax_notice_row, "seq" },
		{ &ax_worker_group_row, "group_key" },
		{ &ax_calendar_version_row, "version" },
		{ &ax_event_task_row, "task_id" },
		{ &ax_upstream_row, "upstream_id" },
		{ &ax_run_upstream_row, "upstream_id" },
	};
	for (size_t i = 0; i < AX_COUNT(keys); i++) {
		if (keys[i].row == row)
			return keys[i].column;
	}
	return row->fields[0].name;
}

/* "Duplicate entry '…' for key 'ax_task_task_name'", in MySQL 'ax_task.ax_task_task_name': a unique key is called after
 * its table and its column. The value may hold quotes, the name does not. */
static enum ax_status key_is_taken(const char *message, const struct ax_row_type *row, struct ax_err *err)
{
	char name[64] = "";
	const char *end = strrchr(message, '\''), *start = end;
	while (start != NULL && start > message && start[-1] != '\'' && start[-1] != '.')
		start--;
	if (end != NULL && (size_t)(end - start) < sizeof(name))
		memcpy(name, start, (size_t)(end - start));
	const char *key = name;
	if (row != NULL && strcmp(name, "PRIMARY") == 0)
		key = last_of_primary(row);
	else if (row != NULL && strncmp(name, row->table, strlen(row->table)) == 0 && name[strlen(row->table)] == '_')
		key = name + strlen(row->table) + 1;
	return ax_fail(err, AX_EXISTS, key, "there already is a row with this %s", key);
}

static enum ax_status explain(enum ax_status status, unsigned code, const char *message, struct ax_err *err)
{
	if (code == ER_OPTION_PREVENTS_STATEMENT || code == ER_READ_ONLY_MODE)
		return ax_fail(err, status, "",
			"the database is read-only now (%s); the server must be connected to the one that takes writes",
			message);
	if (status == AX_DENIED)
		return ax_fail(err, status, "", "a reader may not write");
	if (status == AX_FULL)
		return ax_fail(err, status, "", "no space left for the database: %s", message);
	return ax_fail(err, status, "", "the database says: %s (%u)", message, code);
}

enum ax_status ax_mariadb_fail(struct ax_mariadb_conn *conn, unsigned code, const char *message,
	const struct ax_row_type *row, struct ax_err *err)
{
	if (code == ER_DUP_ENTRY || code == ER_DUP_ENTRY_WITH_KEY_NAME)
		return key_is_taken(message, row, err);
	if (code == CR_OUT_OF_MEMORY)
		ax_die(__FILE__, __LINE__, "out of memory");
	enum ax_mariadb_fault fault = ax_mariadb_fault_of(code);
	conn->lost = conn->lost || fault == AX_MARIADB_LOST;
	conn->again = conn->again || fault != AX_MARIADB_OTHER;
	conn->why_code = code;
	conn->sql.doomed = explain(status_of(code, message), code, message, &conn->why);
	*err = conn->why;
	return conn->sql.doomed;
}

enum ax_status ax_mariadb_cannot_connect(
	const struct ax_mariadb *db, unsigned code, const char *message, struct ax_err *err)
{
	const struct ax_mariadb_config *c = &db->config;
	char where[160];
	if (c->socket[0] != '\0')
		snprintf(where, sizeof(where), "%s", c->socket);
	else
		snprintf(where, sizeof(where), "%s port %d", c->host, c->port);
	switch (code) {
	case ER_ACCESS_DENIED_ERROR:
	case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
		return ax_fail(err, AX_DENIED, "store",
			"the database at %s refuses the account %s; look at its name, its password, the hosts that it "
			"may come from, and the certificate that it may ask for (cert=FILE, key=FILE)",
			where, c->user);
	case ER_DBACCESS_DENIED_ERROR:
		return ax_fail(err, AX_DENIED, "store", "the account %s has no rights on the database %s; grant them",
			c->user, c->database);
	case ER_BAD_DB_ERROR:
		return ax_fail(err, AX_INVALID, "store",
			"there is no database %s at %s; make it: CREATE DATABASE %s CHARACTER SET utf8mb4", c->database,
			where, c->database);
	case CR_AUTH_PLUGIN_CANNOT_LOAD:
		return ax_fail(err, AX_INVALID, "store",
			"the account %s logs in by a method that this machine's libmariadb lacks (%s); "
			"MARIADB_PLUGIN_DIR "
			"may name the folder of its plugins",
			c->user, message);
	case CR_SSL_CONNECTION_ERROR:
		return ax_fail(err, AX_INVALID, "store",
			"no trusted TLS with the database at %s (%s); name its CA with ca=FILE, %s", where, message,
			c->cert_file[0] == '\0' ? "or say tls=off"
						: "and with cert=FILE a certificate whose CA it knows");
	case ER_CON_COUNT_ERROR:
	case ER_TOO_MANY_USER_CONNECTIONS:
	case ER_USER_LIMIT_REACHED:
		return ax_fail(err, AX_UNAVAILABLE, "store",
			"the database at %s has too many connections; raise max_connections, or let servers have fewer",
			where);
	case CR_SERVER_LOST: /* TLS 1.3 knows what becomes of our certificate only when it is used */
	case CR_SERVER_GONE_ERROR:
		return ax_fail(err, AX_UNAVAILABLE, "store", "the database at %s does not answer: %s (%u)%s", where,
			message, code, c->cert_file[0] == '\0' ? "" : "; maybe it does not know the CA of cert=FILE");
	default:
		return ax_fail(err, AX_UNAVAILABLE, "store", "the database at %s does not answer: %s (%u)", where,
			message, code);
	}
}

void ax_mariadb_tell(
	const struct ax_mariadb *db, enum ax_log_level level, const char *event, unsigned code, const char *message)
{
	struct ax_log *log = db->config.log;
	if (log == NULL)
		return;
	struct ax_buf fields;
	ax_buf_init(&fields, 8192);
	ax_buf_printf(&fields, "\"code\":%u,\"message\":", code);
	ax_text_print(message, strlen(message), &fields);
	log->ops->event(log, level, event, fields.data);
	ax_buf_done(&fields);
}
