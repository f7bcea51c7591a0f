#ifndef AX_ADAPTERS_SQLITE_HANDLE_H
#define AX_ADAPTERS_SQLITE_HANDLE_H

/* What the public handles are. */

#include "adapters/sqlite/conn.h"

struct ax_sqlite {
	struct ax_sqlite_conn conn;
	char *path;
	int lock_fd;
};

struct ax_sqlite_reader {
	struct ax_sqlite_conn conn;
};

void ax_sqlite_use_as_writer(struct ax_sqlite_conn *conn);
void ax_sqlite_use_as_reader(struct ax_sqlite_conn *conn);

#endif
