#ifndef AX_TEST_APP_CHANGED_STORE_H
#define AX_TEST_APP_CHANGED_STORE_H

/* A store whose transactions have some operations that are the test's own: what others do meanwhile. */

#include "port/store.h"

struct changed_store {
	struct ax_store store, *inner;
	void (*change)(struct ax_tx_ops *ops);
	struct ax_tx_ops ops;
	const struct ax_tx_ops *inner_ops; /* for the test's own, which lead there */
	ax_tx_fn fn;
	void *arg;
};

static inline enum ax_status changed_store_call(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct changed_store *s = arg;
	s->inner_ops = tx->ops;
	s->ops = *tx->ops;
	s->change(&s->ops);
	tx->ops = &s->ops;
	enum ax_status status = s->fn(tx, s->arg, err);
	tx->ops = s->inner_ops;
	return status;
}

static inline enum ax_status changed_store_run(
	struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct changed_store *s = (struct changed_store *)(void *)store; /* its first member */
	s->fn = fn;
	s->arg = arg;
	return ax_store_run(s->inner, arena, changed_store_call, s, err);
}

/* Around `inner`, which stays the caller's. */
static inline void changed_store_init(
	struct changed_store *s, struct ax_store *inner, void (*change)(struct ax_tx_ops *ops))
{
	static const struct ax_store_ops ops = { changed_store_run };
	*s = (struct changed_store){ .store.ops = &ops, .inner = inner, .change = change };
}

#endif
