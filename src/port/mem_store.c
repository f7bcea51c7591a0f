#include "port/mem_store.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "port/mem/db.h"

static const struct ax_tx_ops ops = {
#define OP(op) .op = ax_mem_##op,
	AX_TX_OPS(OP)
#undef OP
};

/* The same where transactions overlap: each operation may have to wait, and to be done again. */
#define OP(op)                                                                                                         \
	static enum ax_status turn_##op(struct ax_tx *tx AX_TX_PARAMS(op), struct ax_err *err)                         \
	{                                                                                                              \
		struct ax_mem_tx *self = ax_mem_tx(tx);                                                                \
		size_t mark;                                                                                           \
		enum ax_status status = ax_mem_turn(self, &mark, err);                                                 \
		while (status == AX_OK) {                                                                              \
			enum ax_status result = ax_mem_##op(tx AX_TX_PASS(op), err);                                   \
			if (self->wants == NULL)                                                                       \
				return result;                                                                         \
			status = ax_mem_wait(self, mark, err);                                                         \
			if (status == AX_OK)                                                                           \
				status = ax_mem_turn(self, &mark, err);                                                \
		}                                                                                                      \
		return status;                                                                                         \
	}
AX_TX_OPS(OP)
#undef OP

static const struct ax_tx_ops turn_ops = {
#define OP(op) .op = turn_##op,
	AX_TX_OPS(OP)
#undef OP
};

enum { TRIES = 20 }; /* of a transaction that meets deadlocks */

static enum ax_status end(struct ax_mem_tx *tx, enum ax_status status)
{
	struct ax_mem_store *store = tx->store;
	if (status == AX_OK)
		status = tx->doomed;
	if (store->turns != NULL)
		ax_mem_close(tx);
	if (status == AX_OK) {
		for (size_t i = 0; i < tx->journal.n; i++)
			store->changes[tx->journal.at[i].table - store->tables]++;
		ax_mem_commit(&tx->journal);
	} else {
		ax_mem_rollback(&tx->journal, 0);
	}
	return status;
}

static enum ax_status run_shared(
	struct ax_mem_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	for (int tries = 1;; tries++) {
		struct ax_mem_tx tx = { .tx = { &turn_ops, arena }, .store = store };
		ax_mem_open(&tx);
		enum ax_status status = end(&tx, fn(&tx.tx, arg, err));
		free(tx.journal.at);
		if (!tx.deadlocked || tries == TRIES)
			return status;
	}
}

static enum ax_status run_alone(
	struct ax_mem_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	AX_ASSERT(!store->in_transaction);
	int64_t last_id[AX_MEM_TABLES];
	memcpy(last_id, store->last_id, sizeof(last_id));
	store->in_transaction = true;
	struct ax_mem_tx tx = { .tx = { &ops, arena }, .store = store, .journal = store->spare };
	enum ax_status status = end(&tx, fn(&tx.tx, arg, err));
	store->in_transaction = false;
	store->spare = tx.journal;
	if (status != AX_OK)
		memcpy(store->last_id, last_id, sizeof(last_id));
	return status;
}

static enum ax_status run(struct ax_store *port, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_mem_store *store = (struct ax_mem_store *)(void *)port;
	return store->turns != NULL ? run_shared(store, arena, fn, arg, err) : run_alone(store, arena, fn, arg, err);
}

static const struct ax_store_ops store_ops = { run };

struct ax_mem_store *ax_mem_store_new(void)
{
	struct ax_mem_store *store = ax_malloc(sizeof(*store));
	store->port.ops = &store_ops;
	ax_mem_tables_init(store->tables);
	return store;
}

void ax_mem_store_free(struct ax_mem_store *store)
{
	if (store == NULL)
		return;
	for (size_t i = 0; i < AX_MEM_TABLES; i++)
		ax_mem_table_done(&store->tables[i]);
	free(store->spare.at);
	free(store);
}

struct ax_store *ax_mem_store_port(struct ax_mem_store *store)
{
	return &store->port;
}

static const struct ax_mem_table *find_table(const struct ax_mem_store *store, const struct ax_row_type *type)
{
	for (size_t i = 0; i < AX_MEM_TABLES; i++) {
		if (store->tables[i].type == type)
			return &store->tables[i];
	}
	ax_die(__FILE__, __LINE__, "no table of this type");
}

/* Checkers ask for every row of many tables, again and again. */
static const struct ax_mem_table *table_of(struct ax_mem_store *store, const struct ax_row_type *type)
{
	const struct ax_mem_table **asked = &store->asked[(uintptr_t)type / sizeof(*type) % AX_MEM_ASKED];
	if (*asked == NULL || (*asked)->type != type)
		*asked = find_table(store, type);
	return *asked;
}

const void *ax_mem_store_at(struct ax_mem_store *store, const struct ax_row_type *type, size_t i)
{
	if (store->shown != NULL)
		ax_mem_show_committed(store);
	return ax_mem_at(table_of(store, type), 0, i);
}

size_t ax_mem_store_count(struct ax_mem_store *store, const struct ax_row_type *type)
{
	ax_mem_show_committed(store);
	return table_of(store, type)->lists[0].n;
}

uint64_t ax_mem_store_changes(struct ax_mem_store *store, const struct ax_row_type *type)
{
	uint64_t n = 0;
	if (type != NULL)
		return store->changes[table_of(store, type) - store->tables];
	for (size_t i = 0; i < AX_MEM_TABLES; i++)
		n += store->changes[i];
	return n;
}

void ax_mem_store_share(struct ax_mem_store *store, struct ax_mem_turns *turns)
{
	store->turns = turns;
}

uint64_t ax_mem_store_deadlocks(const struct ax_mem_store *store)
{
	return store->deadlocks;
}
