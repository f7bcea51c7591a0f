#ifndef AX_PORT_MEM_STORE_H
#define AX_PORT_MEM_STORE_H

/* The store in memory: deterministic, nothing outlives it. It is the executable meaning of port/store.h, the store of
 * the simulator and of the services' unit tests. Every operation finds its rows through a sorted index. */

#include <stddef.h>

#include "port/row.h"
#include "port/store.h"

struct ax_mem_store;

struct ax_mem_store *ax_mem_store_new(void);
void ax_mem_store_free(struct ax_mem_store *store); /* NULL is fine */
struct ax_store *ax_mem_store_port(struct ax_mem_store *store);

/* For checkers: committed rows in the order of the primary key, of every type in port/row.h. Borrowed until the next
 * transaction changes the row. NULL behind the last one:
 *
 *   for (size_t i = 0; (run = ax_mem_store_at(store, &ax_run_row, i)) != NULL; i++) */
const void *ax_mem_store_at(struct ax_mem_store *store, const struct ax_row_type *type, size_t i);
size_t ax_mem_store_count(struct ax_mem_store *store, const struct ax_row_type *type);

/* Changes of rows committed so far, of one type or, with NULL, of all: a checker that saw this number has seen every
 * row. */
uint64_t ax_mem_store_changes(struct ax_mem_store *store, const struct ax_row_type *type);

/* Transactions that overlap as those of several servers do. ax_store_run may be called while others are open, each on a
 * stack of its own; before every operation, and as long as it waits for a row, it lets others go on. Then the store is
 * like a database at READ COMMITTED: reads see what is committed at that moment and the transaction's own changes; rows
 * that were changed or read to be locked are the transaction's until it ends; unique keys wait for whoever takes or
 * gives them up; lists of work leave out what others hold. Of transactions that wait for each other one is undone and
 * runs again. */
struct ax_mem_turns {
	/* Not AX_OK: the operation fails so, and with it the transaction. */
	enum ax_status (*next)(struct ax_mem_turns *turns, struct ax_err *err);
	enum ax_status (*wait)(struct ax_mem_turns *turns, struct ax_err *err);
};
void ax_mem_store_share(struct ax_mem_store *store, struct ax_mem_turns *turns);
uint64_t ax_mem_store_deadlocks(const struct ax_mem_store *store);

#endif
