#ifndef AX_PORT_MEM_DB_H
#define AX_PORT_MEM_DB_H

/* The tables of the in-memory store, its transaction, and what its operations are made of. */

#include "port/mem/table.h"
#include "port/mem_store.h"
#include "port/tx_ops.h"

enum ax_mem_table_id {
	AX_MEM_TASK,
	AX_MEM_TASK_VERSION,
	AX_MEM_EPOCH,
	AX_MEM_CANARY,
	AX_MEM_RUN,
	AX_MEM_ATTEMPT,
	AX_MEM_OUTPUT,
	AX_MEM_GROUP,
	AX_MEM_WORKER,
	AX_MEM_WORKER_GROUP,
	AX_MEM_SERVER,
	AX_MEM_LEASE,
	AX_MEM_USER,
	AX_MEM_TOKEN,
	AX_MEM_AUDIT,
	AX_MEM_IDEM,
	AX_MEM_EVENT,
	AX_MEM_EVENT_TASK,
	AX_MEM_UPSTREAM,
	AX_MEM_RUN_UPSTREAM,
	AX_MEM_CHANNEL,
	AX_MEM_ALERT,
	AX_MEM_DELIVERY,
	AX_MEM_FAILURE,
	AX_MEM_FAILURE_GROUP,
	AX_MEM_FAILURE_SPREAD,
	AX_MEM_FAILURE_HOUR,
	AX_MEM_CALENDAR,
	AX_MEM_CALENDAR_VERSION,
	AX_MEM_BACKFILL,
	AX_MEM_NOTICE,
	AX_MEM_ENDED_MINUTE,
	AX_MEM_TABLES
};

/* Indexes besides the primary key, which is 0 everywhere. */
enum {
	AX_MEM_TASK_BY_NAME = 1,
	AX_MEM_TASK_DUE,
	AX_MEM_TASK_STUCK,
	AX_MEM_TASK_ENDING,
	AX_MEM_TASK_ABSENCE,
	AX_MEM_TASK_LISTENING,
	AX_MEM_TASK_BEHIND
};
enum { AX_MEM_EPOCH_BY_TASK = 1 };
enum {
	AX_MEM_RUN_BY_FIRE = 1,
	AX_MEM_RUN_BY_TASK, /* this, LIVE, ACTIVE and ENDED are without shards */
	AX_MEM_RUN_LIVE,
	AX_MEM_RUN_LIVE_BY_TASK,
	AX_MEM_RUN_ACTIVE_BY_TASK, /* live, but neither PENDING nor held by the overlap rule */
	AX_MEM_RUN_PENDING_BY_TASK,
	AX_MEM_RUN_HELD_BY_TASK, /* by the overlap rule */
	AX_MEM_RUN_WAITING,
	AX_MEM_RUN_LOOKED, /* WAITING, parents and shards, by gid */
	AX_MEM_RUN_DEADLINE,
	AX_MEM_RUN_WATCHED,
	AX_MEM_RUN_GIVEN,
	AX_MEM_RUN_ENDED,
	AX_MEM_RUN_UNDISPATCHED,
	AX_MEM_RUN_UNDECIDED,
	AX_MEM_RUN_BY_BACKFILL,
	AX_MEM_RUN_BY_BATCH,
	AX_MEM_RUN_PAGE, /* by gid, without shards */
	AX_MEM_RUN_SHARDS,
	AX_MEM_RUN_SHARDS_LIVE
};
enum { AX_MEM_BACKFILL_BY_TASK = 1, AX_MEM_BACKFILL_OPEN };
enum { AX_MEM_WORKER_GROUP_BY_GROUP = 1 };
enum { AX_MEM_USER_BY_NAME = 1 };
enum { AX_MEM_TOKEN_BY_HASH = 1 };
enum { AX_MEM_EVENT_BY_KEY = 1, AX_MEM_EVENT_BY_NAME, AX_MEM_EVENT_BY_TIME };
enum { AX_MEM_UPSTREAM_DOWN = 1 }; /* by the upstream */
enum { AX_MEM_CHANNEL_BY_NAME = 1 };
enum {
	AX_MEM_ALERT_OPEN = 1,
	AX_MEM_ALERT_OPEN_BY_TASK,
	AX_MEM_ALERT_UNTOLD,
	AX_MEM_ALERT_RESOLVED,
	AX_MEM_ALERT_OPEN_BY_RULE
};
enum {
	AX_MEM_DELIVERY_DUE = 1,
	AX_MEM_DELIVERY_TURN, /* pending, by channel and alert */
	AX_MEM_DELIVERY_BY_ALERT,
	AX_MEM_DELIVERY_BY_CHANNEL
};
enum { AX_MEM_FAILURE_UNFOLDED = 1, AX_MEM_FAILURE_OF_GROUP, AX_MEM_FAILURE_TO_RERUN };
enum {
	AX_MEM_FAILURE_GROUP_BY_KEY = 1,
	AX_MEM_FAILURE_GROUP_SEEN,
	AX_MEM_FAILURE_GROUP_RESOLVED, /* by last_seen_time */
	AX_MEM_FAILURE_GROUP_ALIKE
};

enum { AX_MEM_ASKED = 64 };

struct ax_mem_tx {
	struct ax_tx tx;
	struct ax_mem_store *store;
	struct ax_mem_journal journal;
	enum ax_status doomed; /* the failure that this transaction must end with, or AX_OK */

	/* In a store that is shared (turns.c): */
	struct ax_mem_tx *next; /* open too */
	const void **held;      /* committed rows that are this transaction's until it ends */
	size_t n_held, cap_held;
	struct ax_mem_tx *wants; /* a row or key of that one: the operation is to be undone and done again */
	bool deadlocked;
};

struct ax_mem_store {
	struct ax_store port;
	struct ax_mem_table tables[AX_MEM_TABLES];
	int64_t last_id[AX_MEM_TABLES]; /* of the tables whose ids the store gives */
	struct ax_mem_journal spare;    /* memory of the last transaction's */
	bool in_transaction;
	uint64_t changes[AX_MEM_TABLES];                /* committed */
	const struct ax_mem_table *asked[AX_MEM_ASKED]; /* by the types that checkers asked for last */

	struct ax_mem_turns *turns; /* NULL = one transaction at a time */
	struct ax_mem_tx *open;     /* all that are open … */
	struct ax_mem_tx *shown;    /* … and the one whose changes are in the tables now; NULL = none */
	uint64_t deadlocks;
};

void ax_mem_tables_init(struct ax_mem_table tables[AX_MEM_TABLES]);

#define AX_MEM_OP(op) enum ax_status ax_mem_##op(struct ax_tx *tx AX_TX_PARAMS(op), struct ax_err *err);
AX_TX_OPS(AX_MEM_OP)
#undef AX_MEM_OP

static inline struct ax_mem_tx *ax_mem_tx(struct ax_tx *tx)
{
	return (struct ax_mem_tx *)(void *)tx;
}

static inline struct ax_mem_store *ax_mem_of(struct ax_tx *tx)
{
	return ax_mem_tx(tx)->store;
}

static inline struct ax_mem_table *ax_mem_table(struct ax_tx *tx, enum ax_mem_table_id id)
{
	return &ax_mem_of(tx)->tables[id];
}

/* Stored rows are read through these; `probe` is a struct of which only the key is filled in. */
static inline const void *ax_mem_row(struct ax_tx *tx, enum ax_mem_table_id id, size_t index, const void *probe)
{
	return ax_mem_find(ax_mem_table(tx, id), index, probe);
}

/* Copies the row out, or AX_NOT_FOUND. */
enum ax_status ax_mem_get(
	struct ax_tx *tx, enum ax_mem_table_id id, size_t index, const void *probe, void *ret, struct ax_err *err);
/* The same, and locks it when `lock`. */
enum ax_status ax_mem_get_for(struct ax_tx *tx, enum ax_mem_table_id id, size_t index, const void *probe, bool lock,
	void *ret, struct ax_err *err);
/* Inserts, or AX_EXISTS. */
enum ax_status ax_mem_insert(struct ax_tx *tx, enum ax_mem_table_id id, const void *row, struct ax_err *err);
/* Inserts under the next id, which it writes into `row`, a struct of the caller's. */
enum ax_status ax_mem_insert_next(
	struct ax_tx *tx, enum ax_mem_table_id id, void *row, int64_t *row_id, struct ax_err *err);
/* Inserts or replaces the row of the same primary key. */
enum ax_status ax_mem_upsert(struct ax_tx *tx, enum ax_mem_table_id id, const void *row, struct ax_err *err);
/* Puts `row` in the place of the stored one, or AX_EXISTS. */
enum ax_status ax_mem_replace(
	struct ax_tx *tx, enum ax_mem_table_id id, const void *stored, const void *row, struct ax_err *err);
/* Deletes the row of this primary key, or AX_NOT_FOUND. */
enum ax_status ax_mem_delete(struct ax_tx *tx, enum ax_mem_table_id id, const void *probe, struct ax_err *err);

enum ax_status ax_mem_missing(struct ax_tx *tx, enum ax_mem_table_id id, struct ax_err *err);
enum ax_status ax_mem_conflict(struct ax_tx *tx, enum ax_mem_table_id id, struct ax_err *err);
/* A constraint that only a fault in AX can break: the transaction is lost. */
enum ax_status ax_mem_broken(struct ax_tx *tx, const char *what, struct ax_err *err);

/* Lists in the making: a cursor over an index. */
struct ax_mem_list_walk {
	struct ax_tx *tx;
	enum ax_mem_table_id table;
	size_t index, position;
	struct ax_rows rows;
};
struct ax_mem_list_walk ax_mem_walk(struct ax_tx *tx, enum ax_mem_table_id id, size_t index, const void *probe);
const void *ax_mem_next(struct ax_mem_list_walk *walk);
const void *ax_mem_previous(struct ax_mem_list_walk *walk);
void ax_mem_keep(struct ax_mem_list_walk *walk, const void *stored); /* copies the row to the list */
/* The same, and the row is locked; the second leaves out what others hold. */
void ax_mem_keep_locked(struct ax_mem_list_walk *walk, const void *stored);
void ax_mem_keep_free(struct ax_mem_list_walk *walk, const void *stored);

/* turns.c: transactions that overlap */

/* Makes the stored row this transaction's. False: it is another one's, and so must be waited for. */
bool ax_mem_lock(struct ax_tx *tx, const void *stored);
/* The row that was put in last is this transaction's. */
void ax_mem_hold_new(struct ax_tx *tx);
bool ax_mem_is_anothers(struct ax_tx *tx, const void *stored);
/* Would `row`, in the place of `stored`, have a unique key that an open transaction takes or gives up? */
bool ax_mem_key_is_anothers(struct ax_tx *tx, enum ax_mem_table_id id, const void *stored, const void *row);
/* Before an operation: others may go on; then the tables show what this transaction may see. */
enum ax_status ax_mem_turn(struct ax_mem_tx *tx, size_t *ret_mark, struct ax_err *err);
/* After an operation that wanted what another transaction holds: undoes it and waits. AX_OK: it is to be done again. */
enum ax_status ax_mem_wait(struct ax_mem_tx *tx, size_t mark, struct ax_err *err);
void ax_mem_open(struct ax_mem_tx *tx);
/* Before the commit or the rollback: its changes are in the tables, and it holds nothing any more. */
void ax_mem_close(struct ax_mem_tx *tx);
/* The tables show what is committed. */
void ax_mem_show_committed(struct ax_mem_store *store);

#define AX_MEM_GIVE(walk, ret) ((ret)->at = (walk).rows.at, (ret)->n = (walk).rows.n, AX_OK)

#endif
