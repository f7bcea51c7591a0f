/* Transactions that overlap, in the store in memory: READ COMMITTED with locked rows.
 *
 * The tables show the changes of one transaction at a time. Another one's are taken out and its own put in before its
 * next operation: whatever it changed it holds, so its rows are where it left them. */

#include <stdlib.h>

#include "base/err.h"
#include "port/mem/db.h"

void ax_mem_show_committed(struct ax_mem_store *store)
{
	if (store->shown != NULL)
		ax_mem_undo(&store->shown->journal);
	store->shown = NULL;
}

static void show(struct ax_mem_tx *tx)
{
	if (tx->store->shown == tx)
		return;
	ax_mem_show_committed(tx->store);
	ax_mem_redo(&tx->journal);
	tx->store->shown = tx;
}

bool ax_mem_is_anothers(struct ax_tx *tx, const void *stored)
{
	const void *holder = *ax_mem_holder(stored);
	return holder != NULL && holder != tx;
}

bool ax_mem_lock(struct ax_tx *tx, const void *stored)
{
	struct ax_mem_tx *self = ax_mem_tx(tx);
	void **holder = ax_mem_holder(stored);
	if (self->store->turns == NULL || *holder == self)
		return true;
	if (*holder != NULL) {
		self->wants = *holder;
		return false;
	}
	if (self->n_held == self->cap_held) {
		self->cap_held = AX_MAX((size_t)64, self->cap_held * 2);
		self->held = ax_realloc(self->held, self->cap_held * sizeof(*self->held));
	}
	self->held[self->n_held++] = stored;
	*holder = self;
	return true;
}

void ax_mem_hold_new(struct ax_tx *tx)
{
	struct ax_mem_tx *self = ax_mem_tx(tx);
	void *new = self->journal.at[self->journal.n - 1].new;
	if (self->store->turns != NULL && new != NULL)
		*ax_mem_holder(new) = self;
}

bool ax_mem_key_is_anothers(struct ax_tx *tx, enum ax_mem_table_id id, const void *stored, const void *row)
{
	struct ax_mem_tx *self = ax_mem_tx(tx);
	const struct ax_mem_table *table = ax_mem_table(tx, id);
	const char *key;
	if (self->store->turns == NULL)
		return false;
	const void *taken = ax_mem_taken(table, stored, row, &key);
	if (taken != NULL && ax_mem_is_anothers(tx, taken)) /* which may give it up */
		self->wants = *ax_mem_holder(taken);
	for (struct ax_mem_tx *other = self->store->open; other != NULL; other = other->next)
		if (other != self && ax_mem_journal_takes(&other->journal, table, stored, row))
			self->wants = other;
	return self->wants != NULL;
}

enum ax_status ax_mem_turn(struct ax_mem_tx *tx, size_t *ret_mark, struct ax_err *err)
{
	enum ax_status status = tx->store->turns->next(tx->store->turns, err);
	if (status != AX_OK)
		tx->doomed = status;
	show(tx);
	*ret_mark = tx->journal.n;
	return status;
}

/* Would waiting for it never end? */
static bool is_circle(const struct ax_mem_tx *tx)
{
	for (const struct ax_mem_tx *other = tx->wants; other != NULL; other = other->wants)
		if (other == tx)
			return true;
	return false;
}

enum ax_status ax_mem_wait(struct ax_mem_tx *tx, size_t mark, struct ax_err *err)
{
	struct ax_mem_turns *turns = tx->store->turns;
	enum ax_status status = AX_OK;
	ax_mem_rollback(&tx->journal, mark);
	if (is_circle(tx)) {
		tx->deadlocked = true;
		tx->store->deadlocks++;
		status = ax_fail(err, AX_BUSY, "", "a deadlock");
	}
	while (status == AX_OK && tx->wants != NULL) /* until that one has ended */
		status = turns->wait(turns, err);
	tx->wants = NULL;
	tx->doomed = status;
	return status;
}

void ax_mem_open(struct ax_mem_tx *tx)
{
	tx->next = tx->store->open;
	tx->store->open = tx;
}

void ax_mem_close(struct ax_mem_tx *tx)
{
	struct ax_mem_tx **link = &tx->store->open;
	show(tx);
	for (size_t i = 0; i < tx->n_held; i++)
		*ax_mem_holder(tx->held[i]) = NULL;
	for (size_t i = 0; i < tx->journal.n; i++)
		if (tx->journal.at[i].new != NULL)
			*ax_mem_holder(tx->journal.at[i].new) = NULL;
	while (*link != tx)
		link = &(*link)->next;
	*link = tx->next;
	for (struct ax_mem_tx *other = tx->store->open; other != NULL; other = other->next)
		if (other->wants == tx)
			other->wants = NULL;
	tx->store->shown = NULL; /* the caller commits or rolls back now */
	free(tx->held);
}
