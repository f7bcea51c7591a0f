#include "port/wrap_fault.h"

#include <string.h>

#include "base/err.h"
#include "port/tx_ops.h"

/* One call of the function inside the inner store's transaction. */
struct fault_tx {
	struct ax_tx tx; /* what the function sees */
	struct ax_tx *inner;
	ax_tx_fn fn;
	void *arg;
	struct ax_fault fault;
	bool roll_back;        /* end with AX_BUSY whatever the function says */
	int ops;               /* operations so far */
	enum ax_status doomed; /* the failure that the function must end with */
};

static bool may_go_on(enum ax_status status)
{
	return status == AX_NOT_FOUND || status == AX_EXISTS || status == AX_CONFLICT;
}

/* True when this operation is the one that fails. */
static bool hit(struct fault_tx *self, const char *op, struct ax_err *err)
{
	AX_ASSERT(self->doomed == AX_OK); /* the function went on after a failure that ends the transaction */
	if (self->fault.kind != AX_FAULT_OP || ++self->ops != self->fault.op)
		return false;
	if (!may_go_on(self->fault.status))
		self->doomed = self->fault.status;
	ax_fail(err, self->fault.status, "", "injected fault in %s", op);
	return true;
}

#define OP(op)                                                                                                         \
	static enum ax_status fault_##op(struct ax_tx *tx AX_TX_PARAMS(op), struct ax_err *err)                        \
	{                                                                                                              \
		struct fault_tx *self = (struct fault_tx *)(void *)tx;                                                 \
		if (hit(self, #op, err))                                                                               \
			return self->fault.status;                                                                     \
		return self->inner->ops->op(self->inner AX_TX_PASS(op), err);                                          \
	}
AX_TX_OPS(OP)
#undef OP

static const struct ax_tx_ops ops = {
#define OP(op) .op = fault_##op,
	AX_TX_OPS(OP)
#undef OP
};

static enum ax_status call(struct ax_tx *inner, void *arg, struct ax_err *err)
{
	struct fault_tx *self = arg;
	self->tx = (struct ax_tx){ &ops, inner->arena };
	self->inner = inner;
	self->ops = 0;
	self->doomed = AX_OK;
	enum ax_status status = self->fn(&self->tx, self->arg, err);
	AX_ASSERT(self->doomed == AX_OK || status == self->doomed); /* the function swallowed the failure */
	if (status == AX_OK && self->roll_back)
		return AX_BUSY;
	return status;
}

static enum ax_status run(struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct ax_fault_store *wrapper = (struct ax_fault_store *)(void *)store;
	struct ax_fault fault = wrapper->plan(wrapper->arg);
	wrapper->injected[fault.kind]++;
	if (fault.kind == AX_FAULT_BEFORE)
		return ax_fail(err, fault.status, "", "injected fault before the transaction");
	struct fault_tx self = { .fn = fn, .arg = arg, .fault = fault };
	if (fault.kind == AX_FAULT_TWICE) {
		self.roll_back = true;
		ax_store_run(wrapper->inner, arena, call, &self, err);
		self.roll_back = false;
	}
	enum ax_status status = ax_store_run(wrapper->inner, arena, call, &self, err);
	if (fault.kind == AX_FAULT_AFTER && status == AX_OK)
		return ax_fail(err, AX_UNCERTAIN, "", "injected fault after the commit");
	return status;
}

static const struct ax_store_ops store_ops = { run };

void ax_fault_store_init(
	struct ax_fault_store *fault, struct ax_store *inner, struct ax_fault (*plan)(void *arg), void *arg)
{
	memset(fault, 0, sizeof(*fault));
	fault->store.ops = &store_ops;
	fault->store.sole = inner->sole;
	fault->inner = inner;
	fault->plan = plan;
	fault->arg = arg;
}

struct ax_fault ax_fault_by_chance(void *arg)
{
	static const enum ax_status refusals[] = { AX_BUSY, AX_UNAVAILABLE, AX_FULL };
	static const enum ax_status failures[] = { AX_BUSY, AX_UNAVAILABLE, AX_FULL, AX_BROKEN };
	const struct ax_fault_chance *chance = arg;
	int roll = (int)(ax_rand_u64(chance->rand) % 10000);
	if ((roll -= chance->before) < 0) {
		enum ax_status status = refusals[ax_rand_u64(chance->rand) % AX_COUNT(refusals)];
		return (struct ax_fault){ AX_FAULT_BEFORE, status, 0 };
	}
	if ((roll -= chance->twice) < 0)
		return (struct ax_fault){ AX_FAULT_TWICE, AX_OK, 0 };
	if ((roll -= chance->after) < 0)
		return (struct ax_fault){ AX_FAULT_AFTER, AX_UNCERTAIN, 0 };
	if ((roll -= chance->op) < 0) {
		enum ax_status status = failures[ax_rand_u64(chance->rand) % AX_COUNT(failures)];
		/* Early operations are in every function, late ones only in big batches. */
		int reach = 1 << ax_rand_u64(chance->rand) % 8;
		return (struct ax_fault){ AX_FAULT_OP, status, 1 + (int)(ax_rand_u64(chance->rand) % (unsigned)reach) };
	}
	return (struct ax_fault){ AX_FAULT_NONE, AX_OK, 0 };
}
