#ifndef AX_PORT_WRAP_DUE_H
#define AX_PORT_WRAP_DUE_H

/* A store that tells where the members of a due queue belong after each transaction that wrote their rows. No service
 * has to think of it, and none can forget it. */

#include "port/queue.h"
#include "port/store.h"

struct ax_due_store {
	struct ax_store store; /* the port to use */
	struct ax_store *inner;
	/* After a transaction that happened, or may have. The entries are borrowed; what has no next instant any more
	 * has due_ms 0. */
	void (*told)(void *user, const struct ax_queue_entry *entries, int n);
	void *user;
	struct ax_queue_entry *at; /* of this transaction */
	int n, cap;
};

void ax_due_store_init(struct ax_due_store *due, struct ax_store *inner,
	void (*told)(void *user, const struct ax_queue_entry *entries, int n), void *user);
void ax_due_store_done(struct ax_due_store *due);

/* Where the member of a row belongs. */
struct ax_queue_entry ax_due_of_task(const struct ax_task *task);
struct ax_queue_entry ax_due_of_run(const struct ax_run *run);

#endif
