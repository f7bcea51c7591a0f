#ifndef AX_PORT_WRAP_FAULT_H
#define AX_PORT_WRAP_FAULT_H

/* A store that delegates to another one and goes wrong as told: everything that a database can do to a transaction
 * except losing committed rows. A plan is asked once per transaction. */

#include "port/rand.h"
#include "port/store.h"

enum ax_fault_kind {
	AX_FAULT_NONE,
	AX_FAULT_BEFORE, /* nothing runs; `status` is returned (AX_BUSY, AX_UNAVAILABLE, AX_FULL) */
	AX_FAULT_TWICE,  /* a deadlock: the function runs, is rolled back, and runs again */
	AX_FAULT_AFTER,  /* the transaction commits, and the answer is lost: AX_UNCERTAIN */
	AX_FAULT_OP,     /* operation number `op` (from 1) fails with `status` instead of being done */
};

struct ax_fault {
	enum ax_fault_kind kind;
	enum ax_status status;
	int op;
};

struct ax_fault_store {
	struct ax_store store; /* the port to use */
	struct ax_store *inner;
	struct ax_fault (*plan)(void *arg);
	void *arg;
	int64_t injected[AX_FAULT_OP + 1]; /* how often each kind was planned */
};

void ax_fault_store_init(
	struct ax_fault_store *fault, struct ax_store *inner, struct ax_fault (*plan)(void *arg), void *arg);

/* A plan by chance: `arg` is a struct ax_fault_chance. */
struct ax_fault_chance {
	struct ax_rand *rand;
	int before, twice, after, op; /* in 10,000 transactions each */
};
struct ax_fault ax_fault_by_chance(void *chance);

#endif
