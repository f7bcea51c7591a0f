#include <string.h>
#include <ucontext.h>

#include "base/err.h"
#include "sim.h"

/* What servers do, they do on their threads: each has a context, and a stack of its own, so that it can stand still in
 * the middle of a transaction while others go on. One is at work at a time; who, and for how long, the seed says. */

enum { STACK_BYTES = 512 * 1024 };

/* For the life of the program: stacks are used again by the next seed. */
static _Thread_local ucontext_t scheduler;
static _Thread_local struct {
	ucontext_t context;
	char *stack;
} stacks[SIM_SERVERS * SIM_THREADS];
static _Thread_local struct sim_thread *starting;

static int place_of(const struct sim_thread *t)
{
	return t->server->index * SIM_THREADS + t->index;
}

static void live(void)
{
	struct sim_thread *t = starting;
	for (;;) {
		t->fn(t->sim, t->arg);
		t->fn = NULL;
		swapcontext(&stacks[place_of(t)].context, &scheduler);
	}
}

void sim_thread_init(struct sim_thread *t)
{
	int place = place_of(t);
	if (stacks[place].stack == NULL)
		stacks[place].stack = ax_malloc(STACK_BYTES);
	AX_ASSERT(getcontext(&stacks[place].context) == 0);
	stacks[place].context.uc_stack.ss_sp = stacks[place].stack;
	stacks[place].context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&stacks[place].context, live, 0);
}

static void go_on(struct sim_thread *t)
{
	starting = t;
	t->sim->at = t;
	swapcontext(&scheduler, &stacks[place_of(t)].context);
	t->sim->at = NULL;
}

static bool all_idle(const struct sim_server *server)
{
	for (int i = 0; i < server->n_threads; i++)
		if (server->threads[i].fn != NULL)
			return false;
	return true;
}

static void begin(struct sim_thread *t, sim_fn fn, void *arg)
{
	ax_arena_reset(&t->arena);
	t->ctx.hold_leases_until = t->server->threads[0].ctx.hold_leases_until; /* the ticks' */
	t->fn = fn;
	t->arg = arg;
	t->stepped = false;
}

static struct sim_call *take_call(struct sim_server *server)
{
	struct sim_call *call = server->calls;
	if (call != NULL)
		server->calls = call->next;
	return call;
}

/* The thread has done what it was called for: is there more? */
static bool find_work(struct sim_thread *t)
{
	struct sim_server *server = t->server;
	if (server->crash) {
		if (all_idle(server))
			sim_server_die(t->sim, server);
		return false;
	}
	if (server->dispatch_due && !server->dispatching) {
		begin(t, sim_server_dispatch, server);
		return true;
	}
	struct sim_call *call = take_call(server);
	if (call == NULL)
		return false;
	begin(t, call->fn, call->arg);
	return true;
}

static void work(struct sim_thread *t)
{
	do
		go_on(t);
	while (t->fn == NULL && find_work(t));
}

void sim_thread_run(struct sim_thread *t, sim_fn fn, void *arg)
{
	begin(t, fn, arg);
	work(t);
}

void sim_call(struct sim *sim, struct sim_server *server, sim_fn fn, void *arg)
{
	for (int i = server->n_threads - 1; i >= 0; i--)
		if (server->threads[i].fn == NULL) {
			sim_thread_run(&server->threads[i], fn, arg);
			return;
		}
	struct sim_call *call = sim_keep(sim, sizeof(*call)), **end = &server->calls;
	*call = (struct sim_call){ .fn = fn, .arg = arg };
	while (*end != NULL)
		end = &(*end)->next;
	*end = call;
}

/* --- between the operations of a transaction ---------------------------------------------------------------------- */

static void wake(struct sim *sim, void *arg)
{
	(void)sim;
	work(arg);
}

static enum ax_status stand_still(struct sim *sim, int64_t ms, struct ax_err *err)
{
	struct sim_thread *t = sim->at;
	sim_after(sim, ms, wake, t);
	swapcontext(&stacks[place_of(t)].context, &scheduler);
	if (t->server->crash)
		return ax_fail(err, AX_UNAVAILABLE, "", "the server dies in the transaction");
	return AX_OK;
}

#define SIM_OF(turns_) ((struct sim *)(void *)((char *)(turns_)-offsetof(struct sim, turns)))

static enum ax_status next(struct ax_mem_turns *turns, struct ax_err *err)
{
	struct sim *sim = SIM_OF(turns);
	return sim_chance(sim, sim->profile.interleave)
		? stand_still(sim, sim_between(sim, 0, sim->profile.stand_ms), err)
		: AX_OK;
}

static enum ax_status wait_for_row(struct ax_mem_turns *turns, struct ax_err *err)
{
	return stand_still(SIM_OF(turns), 1, err);
}

void sim_threads_init(struct sim *sim)
{
	sim->turns = (struct ax_mem_turns){ next, wait_for_row };
	sim->shared = sim->n_servers > 1 || sim->servers[0].n_threads > 1;
	if (sim->shared)
		ax_mem_store_share(sim->mem, &sim->turns);
}
