#ifndef AX_SERVER_BACKEND_H
#define AX_SERVER_BACKEND_H

/* What differs between the stores, as the lanes' threads see it. A backend is opened once; then each thread that
 * touches the store has a link of its own. */

#include "port/clock.h"
#include "port/log.h"
#include "port/store.h"

struct ax_config;
struct ax_backend;
struct ax_link;

struct ax_backend_ops {
	const char *name;
	int writers;   /* links that may write at once; more than one: ticks have one for themselves */
	int batch_max; /* errands that share a commit */
	bool shared;   /* other servers may be at work on the same store */

	enum ax_status (*link)(struct ax_backend *backend, bool writes, struct ax_link **ret, struct ax_err *err);
	void (*unlink)(struct ax_link *link);
	struct ax_store *(*store)(struct ax_link *link);
	/* Around the errands of one commit, for a link that writes. What they wrote is durable once `commit` returned
	 * AX_OK. */
	enum ax_status (*begin)(struct ax_link *link, struct ax_err *err);
	enum ax_status (*commit)(struct ax_link *link, struct ax_err *err);
	/* Only opening the store anew tells what is in it. NULL: never so. */
	bool (*has_failed)(struct ax_link *link);
	/* The clock of a shared store, in ms UTC. Not from within a transaction. */
	enum ax_status (*now_ms)(struct ax_link *link, int64_t *ret, struct ax_err *err);
	/* Tries of transactions that were undone by chance since the start, or -1 for no such `by`; NULL where one
	 * writer needs no luck. */
	int64_t (*undone)(struct ax_backend *backend, int by, const char **ret_by);
	/* A quiet moment of a link that writes. */
	void (*idle)(struct ax_link *link);
	/* After the links. */
	void (*close)(struct ax_backend *backend);
};

struct ax_backend {
	const struct ax_backend_ops *ops;
};

/* The store that the options name, with its schema up to date. */
AX_MUST_USE enum ax_status ax_backend_open(const struct ax_config *config, struct ax_log *log, struct ax_clock *clock,
	struct ax_backend **ret, struct ax_err *err);

/* backend_sqlite.c */
AX_MUST_USE enum ax_status ax_backend_open_sqlite(
	const struct ax_config *config, struct ax_log *log, struct ax_backend **ret, struct ax_err *err);
/* backend_mariadb.c */
AX_MUST_USE enum ax_status ax_backend_open_mariadb(const struct ax_config *config, struct ax_log *log,
	struct ax_clock *clock, struct ax_backend **ret, struct ax_err *err);

#endif
