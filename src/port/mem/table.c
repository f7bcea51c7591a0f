#include "port/mem/table.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* A stored row: the struct, padded, and behind it the text that it points to. */
struct block {
	size_t text_bytes;
	void *holder;
	alignas(max_align_t) char row[];
};

static const struct block *block_of(const void *stored)
{
	return (const struct block *)(const void *)((const char *)stored - offsetof(struct block, row));
}

void **ax_mem_holder(const void *stored)
{
	return (void **)(uintptr_t)&block_of(stored)->holder;
}

static void *pack(const struct ax_row_type *type, const void *row)
{
	size_t text_bytes = 0;
	for (int i = 0; i < type->n; i++) {
		if (ax_field_has_text(&type->fields[i]))
			text_bytes += ax_field_len(&type->fields[i], row) + 1;
	}
	struct block *block = ax_malloc(sizeof(*block) + type->size + text_bytes);
	block->text_bytes = text_bytes;
	block->holder = NULL;
	memcpy(block->row, row, type->size);
	char *text = block->row + type->size;
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		if (!ax_field_has_text(field))
			continue;
		size_t len = ax_field_len(field, row);
		memcpy(text, *ax_field_text(field, row), len);
		*ax_field_text(field, block->row) = text;
		text += len + 1;
	}
	return block->row;
}

static void free_row(void *stored)
{
	if (stored != NULL)
		free((char *)stored - offsetof(struct block, row));
}

void ax_mem_copy_out(const struct ax_mem_table *table, struct ax_arena *arena, const void *stored, void *ret)
{
	const struct ax_row_type *type = table->type;
	const char *from = (const char *)stored + type->size;
	char *to = ax_alloc(arena, block_of(stored)->text_bytes);
	memcpy(to, from, block_of(stored)->text_bytes);
	memcpy(ret, stored, type->size);
	for (int i = 0; i < type->n; i++) {
		if (ax_field_has_text(&type->fields[i])) {
			const char **text = ax_field_text(&type->fields[i], ret);
			*text = to + (*text - from);
		}
	}
}

void ax_mem_table_init(struct ax_mem_table *table, const struct ax_row_type *type, const struct ax_mem_index *indexes,
	size_t n_indexes)
{
	table->type = type;
	table->indexes = indexes;
	table->n_indexes = n_indexes;
	table->lists = ax_malloc(n_indexes * sizeof(*table->lists));
}

void ax_mem_table_done(struct ax_mem_table *table)
{
	for (size_t i = 0; i < table->lists[0].n; i++)
		free_row(table->lists[0].at[i]);
	for (size_t i = 0; i < table->n_indexes; i++)
		free(table->lists[i].at);
	free(table->lists);
}

size_t ax_mem_seek(const struct ax_mem_table *table, size_t index, const void *probe)
{
	const struct ax_mem_list *list = &table->lists[index];
	size_t low = 0, high = list->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (table->indexes[index].compare(list->at[middle], probe) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const void *ax_mem_at(const struct ax_mem_table *table, size_t index, size_t position)
{
	const struct ax_mem_list *list = &table->lists[index];
	return position < list->n ? list->at[position] : NULL;
}

const void *ax_mem_find(const struct ax_mem_table *table, size_t index, const void *probe)
{
	const void *row = ax_mem_at(table, index, ax_mem_seek(table, index, probe));
	return row != NULL && table->indexes[index].compare(row, probe) == 0 ? row : NULL;
}

static bool covers(const struct ax_mem_index *index, const void *row)
{
	return row != NULL && (index->covers == NULL || index->covers(row));
}

static void list_insert(struct ax_mem_list *list, size_t position, void *row)
{
	if (list->n == list->cap) {
		list->cap = AX_MAX((size_t)16, list->cap * 2);
		list->at = ax_realloc(list->at, list->cap * sizeof(*list->at));
	}
	memmove(list->at + position + 1, list->at + position, (list->n - position) * sizeof(*list->at));
	list->at[position] = row;
	list->n++;
}

static void list_remove(struct ax_mem_list *list, size_t position)
{
	list->n--;
	memmove(list->at + position, list->at + position + 1, (list->n - position) * sizeof(*list->at));
}

/* Brings one index from the old row to the new one. */
static void swap_in_index(struct ax_mem_table *table, size_t i, void *old, void *new)
{
	const struct ax_mem_index *index = &table->indexes[i];
	struct ax_mem_list *list = &table->lists[i];
	bool had = covers(index, old);
	bool has = covers(index, new);
	if (had && has && index->compare(old, new) == 0) {
		list->at[ax_mem_seek(table, i, old)] = new;
		return;
	}
	if (had)
		list_remove(list, ax_mem_seek(table, i, old));
	if (has)
		list_insert(list, ax_mem_seek(table, i, new), new);
}

static void swap_rows(struct ax_mem_table *table, void *old, void *new)
{
	for (size_t i = 0; i < table->n_indexes; i++)
		swap_in_index(table, i, old, new);
}

/* Does the index keep apart from `row` what has the same key, as it did not from `old`? */
static bool is_new_key(const struct ax_mem_index *index, const void *old, const void *row)
{
	return index->key != NULL && covers(index, row) && !(covers(index, old) && index->compare(old, row) == 0);
}

const void *ax_mem_taken(const struct ax_mem_table *table, const void *old, const void *row, const char **ret_key)
{
	for (size_t i = 0; i < table->n_indexes; i++) {
		const void *other = is_new_key(&table->indexes[i], old, row) ? ax_mem_find(table, i, row) : NULL;
		*ret_key = table->indexes[i].key;
		if (other != NULL)
			return other;
	}
	return NULL;
}

bool ax_mem_journal_takes(
	const struct ax_mem_journal *journal, const struct ax_mem_table *table, const void *old, const void *row)
{
	for (size_t c = 0; c < journal->n; c++) {
		const void *other = journal->at[c].new;
		for (size_t i = 0; journal->at[c].table == table && other != NULL && i < table->n_indexes; i++)
			if (is_new_key(&table->indexes[i], old, row) && covers(&table->indexes[i], other) &&
				table->indexes[i].compare(other, row) == 0)
				return true;
	}
	return false;
}

const char *ax_mem_put(struct ax_mem_table *table, struct ax_mem_journal *journal, const void *old, const void *row)
{
	AX_ASSERT(old != NULL || row != NULL);
	const char *taken;
	if (row != NULL && ax_mem_taken(table, old, row, &taken) != NULL)
		return taken;
	if (journal->n == journal->cap) {
		journal->cap = AX_MAX((size_t)16, journal->cap * 2);
		journal->at = ax_realloc(journal->at, journal->cap * sizeof(*journal->at));
	}
	struct ax_mem_change *change = &journal->at[journal->n++];
	change->table = table;
	change->old = (void *)(uintptr_t)old;
	change->new = row == NULL ? NULL : pack(table->type, row);
	swap_rows(table, change->old, change->new);
	return NULL;
}

void ax_mem_commit(struct ax_mem_journal *journal)
{
	for (size_t i = 0; i < journal->n; i++)
		free_row(journal->at[i].old);
	journal->n = 0;
}

void ax_mem_rollback(struct ax_mem_journal *journal, size_t to)
{
	while (journal->n > to) {
		struct ax_mem_change *change = &journal->at[--journal->n];
		swap_rows(change->table, change->new, change->old);
		free_row(change->new);
	}
}

void ax_mem_undo(const struct ax_mem_journal *journal)
{
	for (size_t i = journal->n; i > 0; i--)
		swap_rows(journal->at[i - 1].table, journal->at[i - 1].new, journal->at[i - 1].old);
}

void ax_mem_redo(const struct ax_mem_journal *journal)
{
	for (size_t i = 0; i < journal->n; i++)
		swap_rows(journal->at[i].table, journal->at[i].old, journal->at[i].new);
}
