#include "port/mem_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "port/mem/db.h"

static const struct ax_tx_ops ops = {
#define OP(op) .op = ax_mem_##op,
	AX_TX_OPS(OP)
#undef OP
};

static enum ax_status run(struct ax_store *port, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_mem_store *store = (struct ax_mem_store *)(void *)port;
	AX_ASSERT(!store->in_transaction);
	int64_t last_id[AX_MEM_TABLES];
	memcpy(last_id, store->last_id, sizeof(last_id));
	store->in_transaction = true;
	store->doomed = AX_OK;
	struct ax_mem_tx tx = { .tx = { &ops, arena }, .store = store };
	enum ax_status status = fn(&tx.tx, arg, err);
	store->in_transaction = false;
	if (status == AX_OK)
		status = store->doomed;
	if (status == AX_OK) {
		store->commits += store->journal.n > 0;
		ax_mem_commit(&store->journal);
	} else {
		ax_mem_rollback(&store->journal);
		memcpy(store->last_id, last_id, sizeof(last_id));
	}
	return status;
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
	free(store->journal.at);
	free(store);
}

struct ax_store *ax_mem_store_port(struct ax_mem_store *store)
{
	return &store->port;
}

static const struct ax_mem_table *table_of(const struct ax_mem_store *store, const struct ax_row_type *type)
{
	for (size_t i = 0; i < AX_MEM_TABLES; i++) {
		if (store->tables[i].type == type)
			return &store->tables[i];
	}
	ax_die(__FILE__, __LINE__, "no table of this type");
}

const void *ax_mem_store_at(const struct ax_mem_store *store, const struct ax_row_type *type, size_t i)
{
	return ax_mem_at(table_of(store, type), 0, i);
}

size_t ax_mem_store_count(const struct ax_mem_store *store, const struct ax_row_type *type)
{
	return table_of(store, type)->lists[0].n;
}

uint64_t ax_mem_store_commits(const struct ax_mem_store *store)
{
	return store->commits;
}
