/* The embedded store: one link writes, many errands share its commit, and with it one flush of the disk. */

#include <stdlib.h>

#include "adapters/sqlite/sqlite.h"
#include "server/backend.h"
#include "server/config.h"

struct sqlite_backend {
	struct ax_backend backend;
	struct ax_sqlite *db;
};

struct ax_link {
	struct ax_sqlite *db; /* of the one that writes */
	struct ax_sqlite_reader *reader;
};

static enum ax_status make_link(struct ax_backend *backend, bool writes, struct ax_link **ret, struct ax_err *err)
{
	struct ax_sqlite *db = ((struct sqlite_backend *)backend)->db;
	struct ax_link *link = ax_malloc(sizeof *link);
	enum ax_status status = AX_OK;
	if (writes)
		link->db = db;
	else
		status = ax_sqlite_reader_open(db, &link->reader, err);
	if (status == AX_OK)
		*ret = link;
	else
		free(link);
	return status;
}

static void end_link(struct ax_link *link)
{
	ax_sqlite_reader_close(link->reader);
	free(link);
}

static struct ax_store *store(struct ax_link *link)
{
	return link->db != NULL ? ax_sqlite_store(link->db) : ax_sqlite_reader_store(link->reader);
}

static enum ax_status begin(struct ax_link *link, struct ax_err *err)
{
	return ax_sqlite_batch_begin(link->db, err);
}

static enum ax_status commit(struct ax_link *link, struct ax_err *err)
{
	return ax_sqlite_batch_commit(link->db, err);
}

static bool has_failed(struct ax_link *link)
{
	return ax_sqlite_has_failed(link->db);
}

static void idle(struct ax_link *link)
{
	ax_sqlite_idle(link->db);
}

static void close_backend(struct ax_backend *backend)
{
	ax_sqlite_close(((struct sqlite_backend *)backend)->db);
	free(backend);
}

enum ax_status ax_backend_open_sqlite(
	const struct ax_config *config, struct ax_log *log, struct ax_backend **ret, struct ax_err *err)
{
	static const struct ax_backend_ops ops = {
		.name = "sqlite",
		.writers = 1,
		.batch_max = 500,
		.link = make_link,
		.unlink = end_link,
		.store = store,
		.begin = begin,
		.commit = commit,
		.has_failed = has_failed,
		.idle = idle,
		.close = close_backend,
	};
	struct ax_sqlite_config sqlite = { .path = config->store_path, .log = log };
	struct ax_sqlite *db;
	enum ax_status status = ax_sqlite_open(&sqlite, &db, err);
	if (status != AX_OK)
		return status;
	struct sqlite_backend *backend = ax_malloc(sizeof *backend);
	*backend = (struct sqlite_backend){ { &ops }, db };
	*ret = &backend->backend;
	return AX_OK;
}
