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
const void *ax_mem_store_at(const struct ax_mem_store *store, const struct ax_row_type *type, size_t i);
size_t ax_mem_store_count(const struct ax_mem_store *store, const struct ax_row_type *type);

/* Transactions committed so far that changed something: a checker that saw this number has seen every row. */
uint64_t ax_mem_store_commits(const struct ax_mem_store *store);

#endif
