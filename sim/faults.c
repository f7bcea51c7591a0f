#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "sim.h"

#define CONTAINER(type, member, pointer) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* What a database does to a transaction, drawn anew for each (port/wrap_fault.h). */
/* B150 */
static struct ax_fault plan(void *arg)
{
	struct sim *sim = arg;
	if (sim_chance(sim, sim->profile.tx_fail))
		return (struct ax_fault){ .kind = AX_FAULT_BEFORE, .status = AX_BUSY };
	if (sim_chance(sim, sim->profile.tx_again))
		return (struct ax_fault){ .kind = AX_FAULT_TWICE };
	if (sim_chance(sim, sim->profile.tx_uncertain))
		return (struct ax_fault){ .kind = AX_FAULT_AFTER };
	if (sim_chance(sim, sim->profile.tx_fail))
		return (struct ax_fault){ .kind = AX_FAULT_OP, .status = AX_FULL, .op = (int)sim_between(sim, 1, 12) };
	return (struct ax_fault){ .kind = AX_FAULT_NONE };
}

static bool any_open(const struct sim_thread *self)
{
	bool open = false;
	for (int i = 0; i < self->sim->n_servers; i++)
		for (int k = 0; k < self->sim->servers[i].n_threads; k++) {
			struct sim_thread *other = &self->sim->servers[i].threads[k];
			if (other == self || other->fn == NULL)
				continue;
			other->alone = false;
			open = true;
		}
	return open;
}

/* The server may die on either side of a commit. */
static enum ax_status run(struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	struct sim_thread *t = CONTAINER(struct sim_thread, store, store);
	struct sim *sim = t->sim;
	sim->transactions++;
	if (!t->server->crash && sim_chance(sim, sim->profile.server_crash))
		t->server->crash = true;
	if (t->server->crash)
		return ax_fail(err, AX_UNAVAILABLE, "", "the server dies before the transaction");
	if (t->server->cut_until > sim->now)
		return ax_fail(err, AX_UNAVAILABLE, "", "the server does not reach the database");
	struct ax_err own = { 0 };
	if (any_open(t))
		t->alone = false;
	enum ax_status status = ax_store_run(&sim->faults.store, arena, fn, arg, &own);
	if (status == AX_BROKEN)
		sim_fail(sim, "the store is broken: %s", own.msg);
	if (status != AX_OK && err != NULL)
		*err = own;
	sim_check_step(sim);
	sim_server_tell(t);
	if (sim_chance(sim, sim->profile.server_crash)) {
		t->server->crash = true;
		return ax_fail(err, AX_UNCERTAIN, "", "the server dies after the commit");
	}
	return status;
}

int64_t sim_wall_now(const struct sim *sim)
{
	return sim->now + sim->wall_step + (sim->at != NULL ? sim->at->server->offset : 0);
}

static int64_t now_ms(struct ax_clock *clock)
{
	return sim_wall_now(CONTAINER(struct sim_thread, clock, clock)->sim);
}

static int64_t mono_ms(struct ax_clock *clock)
{
	return CONTAINER(struct sim_thread, clock, clock)->sim->now;
}

static uint64_t next_random(struct ax_rand *rand)
{
	return sim_random(CONTAINER(struct sim, rand, rand));
}

static void task_changed(struct ax_notify *notify, int64_t task_id)
{
	(void)task_id;
	struct sim_thread *t = CONTAINER(struct sim_thread, notify, notify);
	sim_server_wake(t->sim, t->server);
}

static void run_changed(struct ax_notify *notify, const struct ax_run *run_row)
{
	struct sim *sim = CONTAINER(struct sim_thread, notify, notify)->sim;
	sim_trace(sim, "run %lld task %lld key %s %s fence %lld %s", (long long)run_row->gid,
		(long long)run_row->task_id, run_row->fire_key, ax_run_state_name(run_row->status),
		(long long)run_row->fence, run_row->reason);
	if (run_row->cancel == AX_CANCEL_ASKED && ax_run_is_given_out(run_row->status) && !ax_run_is_parent(run_row))
		CONTAINER(struct sim_thread, notify, notify)->changed[run_row->worker[1] - '1'] = true;
}

static void worker_changed(struct ax_notify *notify, const char *worker)
{
	CONTAINER(struct sim_thread, notify, notify)->changed[worker[1] - '1'] = true;
}

static void group_ready(struct ax_notify *notify, const char *group_key)
{
	CONTAINER(struct sim_thread, notify, notify)->ready[strcmp(group_key, "default") != 0] = true;
}

static void event(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	struct sim *sim = CONTAINER(struct sim_thread, log, log)->sim;
	sim_trace(sim, "log %s %s", name, fields);
	if (level == AX_LOG_ERROR)
		sim_fail(sim, "logged an error: %s %s", name, fields);
}

static const struct ax_tz *find_zone(struct ax_zones *zones, const char *name)
{
	(void)zones;
	return strcmp(name, "UTC") == 0 ? ax_tz_utc() : NULL;
}

static const char *zone_version(struct ax_zones *zones)
{
	(void)zones;
	return "simulated";
}

void sim_faults_init(struct sim *sim)
{
	static const struct ax_rand_ops rand_ops = { next_random };
	static const struct ax_zones_ops zones_ops = { find_zone, zone_version };
	ax_fault_store_init(&sim->faults, ax_mem_store_port(sim->mem), plan, sim);
	sim->rand.ops = &rand_ops;
	sim->zones.ops = &zones_ops;
}

void sim_thread_ports(struct sim_thread *t)
{
	static const struct ax_store_ops store_ops = { .run = run };
	static const struct ax_clock_ops clock_ops = { now_ms, mono_ms };
	static const struct ax_notify_ops notify_ops = { task_changed, run_changed, run_changed, worker_changed,
		group_ready };
	static const struct ax_log_ops log_ops = { event };
	t->store = (struct ax_store){ .ops = &store_ops, .sole = t->sim->sole };
	t->clock.ops = &clock_ops;
	t->notify.ops = &notify_ops;
	t->log.ops = &log_ops;
}
