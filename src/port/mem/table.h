#ifndef AX_PORT_MEM_TABLE_H
#define AX_PORT_MEM_TABLE_H

/* Tables of the in-memory store: rows that never change in place, found through sorted indexes.
 *
 * A change puts another row in the place of an old one (insert: none before, delete: none after) and is noted in the
 * journal of the transaction; undoing is the same step backwards. A stored row is one block of memory, struct and text,
 * freed once no journal needs it. */

#include <stdbool.h>
#include <stddef.h>

#include "port/row.h"

struct ax_mem_index {
	/* Total order of the rows by this key; two stored rows are never equal in it. */
	int (*compare)(const void *a, const void *b);
	bool (*covers)(const void *row); /* rows that the index holds; NULL = all */
	const char *key;                 /* names the field in AX_EXISTS; NULL: ends in the primary key by itself */
};

struct ax_mem_list {
	void **at;
	size_t n, cap;
};

struct ax_mem_table {
	const struct ax_row_type *type;
	const struct ax_mem_index *indexes; /* the first is the primary key */
	size_t n_indexes;
	struct ax_mem_list *lists; /* one per index */
};

struct ax_mem_change {
	struct ax_mem_table *table;
	void *old, *new;
};

struct ax_mem_journal {
	struct ax_mem_change *at;
	size_t n, cap;
};

void ax_mem_table_init(struct ax_mem_table *table, const struct ax_row_type *type, const struct ax_mem_index *indexes,
	size_t n_indexes);
void ax_mem_table_done(struct ax_mem_table *table);

/* The first position of the index whose row is not below `probe`, a struct of which only the key is filled in. */
size_t ax_mem_seek(const struct ax_mem_table *table, size_t index, const void *probe);
/* The stored row there, or NULL behind the last. */
const void *ax_mem_at(const struct ax_mem_table *table, size_t index, size_t position);
/* The stored row with exactly this key, or NULL. */
const void *ax_mem_find(const struct ax_mem_table *table, size_t index, const void *probe);

/* Puts a copy of `row` in the place of the stored row `old`. Either may be NULL, not both. Returns NULL, or the name of
 * the unique key that another row has; then nothing was changed. */
const char *ax_mem_put(struct ax_mem_table *table, struct ax_mem_journal *journal, const void *old, const void *row);

/* The row that has a unique key which `row`, in the place of `old`, would have; NULL = none. */
const void *ax_mem_taken(const struct ax_mem_table *table, const void *old, const void *row, const char **ret_key);
/* The same, among the rows that the changes of a journal put in. */
bool ax_mem_journal_takes(
	const struct ax_mem_journal *journal, const struct ax_mem_table *table, const void *old, const void *row);

void ax_mem_commit(struct ax_mem_journal *journal);
/* Undoes and forgets the changes behind the first `to`. */
void ax_mem_rollback(struct ax_mem_journal *journal, size_t to);
/* Takes the changes out of the tables, and puts them in again. */
void ax_mem_undo(const struct ax_mem_journal *journal);
void ax_mem_redo(const struct ax_mem_journal *journal);

/* Who holds a stored row: a place for the caller's use, NULL at first. */
void **ax_mem_holder(const void *stored);

/* Copies a stored row and its text out. */
void ax_mem_copy_out(const struct ax_mem_table *table, struct ax_arena *arena, const void *stored, void *ret);

#endif
