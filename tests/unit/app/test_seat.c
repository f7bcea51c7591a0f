/* Several servers at one store: whose number it is, and who does the chores. */

#include "app/birth.h"
#include "app/chore.h"
#include "app/seat.h"
#include "app/tasks.h"
#include "app/tick.h"
#include "core/limits.h"
#include "world.h"

/* The store is one for many. */
static int set_up(void **state)
{
	int result = world_up(state);
	((struct world *)*state)->ctx.store->sole = false;
	return result;
}

/* A second server at the world's store. */
struct other {
	struct ax_seat seat;
	struct ax_ctx ctx;
};

static void open_other(struct world *w, struct other *o)
{
	memset(o, 0, sizeof(*o));
	o->ctx = w->ctx;
	o->ctx.seat = &o->seat;
	o->ctx.place = 0;
	o->seat.version = "test";
	assert_int_equal(ax_seat_take(&o->ctx, NULL), AX_OK);
}

static enum ax_status read_servers(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	return tx->ops->servers(tx, arg, err);
}

static struct ax_server_row row_of(struct world *w, int64_t number)
{
	struct ax_servers servers;
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, read_servers, &servers, NULL), AX_OK);
	for (int i = 0; i < servers.n; i++)
		if (servers.at[i].number == number)
			return servers.at[i];
	fail_msg("no server %lld", (long long)number);
	return (struct ax_server_row){ 0 };
}

static void test_a_start_takes_a_free_number(void **state)
{
	struct world *w = *state;
	struct other a, b, c;
	assert_int_equal(ax_seat_number(&w->seat), 0);
	open_other(w, &a);
	open_other(w, &b);
	assert_int_equal(ax_seat_number(&a.seat), 1);
	assert_int_equal(ax_seat_number(&b.seat), 2);
	assert_int_equal(ax_seat_leave(&a.ctx, NULL), AX_OK); /* given back: free at once */
	open_other(w, &c);
	assert_int_equal(ax_seat_number(&c.seat), 1);
	assert_int_equal(ax_seat_leave(&a.ctx, NULL), AX_OK); /* it is not its own any more, and stays c's */
	assert_true(row_of(w, 1).lease_time > w->now);
}

static void test_gids_begin_above_the_mark(void **state)
{
	struct world *w = *state;
	struct other a, b;
	open_other(w, &a);
	assert_int_equal(ax_gids_ensure(&a.ctx, NULL), AX_OK);
	int64_t last = ax_gid_next(&a.ctx.gids, w->now);
	w->now += AX_SEAT_LEASE_MS;
	assert_int_equal(ax_seat_renew(&w->ctx, NULL), AX_OK);
	w->now -= 3600000; /* a clock that is an hour behind */
	assert_int_equal(row_of(w, 1).lease_time, 0);
	open_other(w, &b);
	assert_int_equal(ax_seat_number(&b.seat), 1);
	assert_int_equal(ax_gids_ensure(&b.ctx, NULL), AX_OK);
	assert_true(ax_gid_next(&b.ctx.gids, w->now) > last);
	assert_true(ax_gid_time(last) <= row_of(w, 1).gid_high_ms);
}

/* Threads raise the mark beside each other: the highest counts. */
static void test_the_mark_only_rises(void **state)
{
	struct world *w = *state;
	struct ax_ctx second = w->ctx;
	second.place = 0;
	second.stripe = 1;
	second.stripes = 2;
	assert_int_equal(ax_gids_ensure(&second, NULL), AX_OK);
	int64_t high = row_of(w, 0).gid_high_ms;
	assert_int_equal(second.gids.high_ms, high);
	assert_true(second.gids.first > 0);
	assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_OK);
	assert_true(row_of(w, 0).gid_high_ms >= high);
	assert_int_equal(ax_seat_renew(&w->ctx, NULL), AX_OK);
	assert_true(row_of(w, 0).gid_high_ms >= high);
}

static enum ax_status put_server(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	return tx->ops->server_put(tx, arg, err);
}

static bool is_known(struct world *w)
{
	struct ax_servers servers;
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, read_servers, &servers, NULL), AX_OK);
	return ax_seat_is_known(&w->seat, ax_seat_mark(&w->seat), &servers);
}

/* A failover to a replica that had not heard of the newest transactions. */
static void test_a_store_that_forgot_the_mark_has_it_again(void **state)
{
	struct world *w = *state;
	struct ax_server_row before = row_of(w, 0);
	w->now += AX_GID_AHEAD_MS + 1;
	assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_OK);
	assert_true(is_known(w));
	assert_true(w->ctx.gids.high_ms > before.gid_high_ms);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, put_server, &before, NULL), AX_OK);
	assert_false(is_known(w));
	assert_int_equal(ax_seat_renew(&w->ctx, NULL), AX_OK);
	assert_true(is_known(w));
	assert_int_equal(row_of(w, 0).gid_high_ms, w->ctx.gids.high_ms);
}

static void test_who_is_forgotten_takes_another_number(void **state)
{
	struct world *w = *state;
	struct ax_server_row other = row_of(w, 0);
	other.incarnation++; /* it was quicker */
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, put_server, &other, NULL), AX_OK);
	assert_false(is_known(w));
	assert_int_equal(ax_seat_renew(&w->ctx, NULL), AX_OK);
	assert_true(is_known(w));
	assert_int_equal(ax_seat_number(&w->seat), 1);
}

/* Until it has, both may make the same gid. */
static void test_a_gid_that_is_taken_costs_no_fire(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "* * * * *", NULL), next_ms;
	w->now += 60000;
	assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_OK);
	struct ax_gid_gen gids = w->ctx.gids;
	trigger(w, id);
	w->ctx.gids = gids;
	assert_int_equal(ax_tick(&w->ctx, &next_ms, NULL), AX_BUSY);
	assert_int_equal(ax_tick(&w->ctx, &next_ms, NULL), AX_OK);
	assert_int_equal(find_run(w, id, AX_RUN_WAITING, 1).kind, AX_KIND_SCHEDULE);
}

enum { GIDS_OF_A_CALL = 1000000 };

/* As a call of the API runs services: parts of its one transaction, which has its gids from before. */
struct joined {
	struct ax_store port;
	struct ax_tx *tx;
	struct world *w;
	int64_t task;
	enum ax_status end;
};

static enum ax_status run_joined(
	struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	(void)arena;
	return fn(((struct joined *)store)->tx, arg, err);
}

static enum ax_status trigger_thrice(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct joined *joined = arg;
	struct world *w = joined->w;
	struct ax_store *own = w->ctx.store;
	struct ax_trigger ask = { .task_id = joined->task, .params = "", .key = "" };
	struct ax_run run;
	bool existed;
	enum ax_status status = AX_OK;
	joined->tx = tx;
	w->ctx.store = &joined->port;
	for (int i = 0; status == AX_OK && i < 3; i++) {
		w->now++;
		status = ax_task_trigger(&w->ctx, &ask, &run, &existed, err);
	}
	w->ctx.store = own;
	return status == AX_OK ? joined->end : status;
}

static void in_a_thousand_shards(struct ax_task_def *def)
{
	def->shard_count = AX_SHARDS_MAX;
	def->overlap = AX_OVERLAP_ALLOW;
	def->overlap_max = 10;
}

/* Each of them asks for gids again, when they only just suffice. */
static enum ax_status call_joined(struct world *w, int64_t task, enum ax_status end)
{
	static const struct ax_store_ops ops = { run_joined };
	struct joined joined = { { .ops = &ops, .joined = true }, NULL, w, task, end };
	do {
		w->now++;
		assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_OK);
	} while (ax_gid_need(&w->ctx.gids, w->now + 1, GIDS_OF_A_CALL) == 0);
	return ax_store_run(w->ctx.store, &w->arena, trigger_thrice, &joined, NULL);
}

static void test_a_call_that_is_undone_raises_no_mark(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@hourly", in_a_thousand_shards);
	assert_int_equal(call_joined(w, id, AX_CONFLICT), AX_CONFLICT);
	assert_true(w->ctx.gids.high_ms <= row_of(w, 0).gid_high_ms);
}

static void test_a_call_makes_no_more_shards_than_one_transaction(void **state)
{
	struct world *w = *state;
	int64_t id = make_task(w, "@hourly", in_a_thousand_shards);
	assert_int_equal(call_joined(w, id, AX_OK), AX_OK);
	assert_int_equal(count_runs(w, id, AX_RUN_RUNNING), AX_SHARDS_STEP / AX_SHARDS_MAX);
	assert_int_equal(count_runs(w, id, AX_RUN_WAITING), AX_SHARDS_STEP + 1); /* a look goes on with the third */
}

static enum ax_status no_transactions(
	struct ax_store *store, struct ax_arena *arena, ax_tx_fn fn, void *arg, struct ax_err *err)
{
	(void)store, (void)arena, (void)fn, (void)arg;
	return ax_fail(err, AX_UNAVAILABLE, "", "the database is away");
}

static void test_a_stale_server_starts_nothing(void **state)
{
	static const struct ax_store_ops none = { no_transactions };
	struct world *w = *state;
	struct ax_store away = { .ops = &none }, *own = w->ctx.store;
	struct ax_err err = { 0 };
	assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_OK);
	w->ctx.store = &away;
	w->now += AX_SEAT_STALE_MS - 1;
	assert_int_equal(ax_seat_check(&w->ctx, NULL), AX_OK);
	w->now++;
	assert_int_equal(ax_seat_check(&w->ctx, &err), AX_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "could not renew"));
	assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_UNAVAILABLE);
	w->ctx.store = own; /* it is back: the server looks at its seat first, and goes on */
	assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_OK);
	assert_int_equal(ax_seat_number(&w->seat), 0);
}

static void test_who_was_away_goes_on_under_another_number(void **state)
{
	struct world *w = *state;
	struct other a, b;
	open_other(w, &a);
	assert_int_equal(ax_gids_ensure(&a.ctx, NULL), AX_OK);
	w->now += AX_SEAT_LEASE_MS;
	open_other(w, &b); /* both have lapsed, the lowest is taken */
	assert_int_equal(ax_seat_number(&b.seat), 0);
	assert_int_equal(ax_gids_ensure(&w->ctx, NULL), AX_OK);
	assert_int_equal(ax_seat_number(&w->seat), 1);
	assert_int_equal(w->ctx.gids.server_number, 1);
	assert_int_equal(ax_gids_ensure(&a.ctx, NULL), AX_OK);
	assert_int_equal(ax_seat_number(&a.seat), 2);
	assert_int_equal(ax_seat_number(&b.seat), 0);
}

static void test_one_process_alone_has_its_number_again_at_once(void **state)
{
	struct world *w = *state;
	struct other a;
	w->ctx.store->sole = true;
	open_other(w, &a);
	assert_int_equal(ax_seat_number(&a.seat), 0);
	w->now += 10 * AX_SEAT_LEASE_MS;
	assert_false(ax_seat_is_due(&a.ctx));
	assert_int_equal(ax_seat_check(&a.ctx, NULL), AX_OK);
}

struct put {
	int64_t ret_server;
	int64_t id;
	int64_t server;
};

static enum ax_status put_delivery(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct put *put = arg;
	struct ax_delivery d = { .kind = AX_TELL_TEST, .server = put->server, .next_time = INT64_MAX, .error = "" };
	return tx->ops->delivery_insert(tx, &d, &put->id, err);
}

static enum ax_status get_delivery(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct put *put = arg;
	struct ax_delivery d;
	enum ax_status status = tx->ops->delivery_get(tx, put->id, false, &d, err);
	put->ret_server = d.server;
	return status;
}

static void test_what_a_dead_server_sent_is_released(void **state)
{
	struct world *w = *state;
	struct other dead;
	open_other(w, &dead);
	struct put put = { .server = 1 };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, put_delivery, &put, NULL), AX_OK);
	w->now += AX_SEAT_LEASE_MS - 1;
	assert_int_equal(ax_seat_renew(&w->ctx, NULL), AX_OK);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, get_delivery, &put, NULL), AX_OK);
	assert_int_equal(put.ret_server, 1);
	w->now++;
	assert_int_equal(ax_seat_renew(&w->ctx, NULL), AX_OK);
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, get_delivery, &put, NULL), AX_OK);
	assert_int_equal(put.ret_server, -1);
}

/* --- chores ------------------------------------------------------------------------------------------------------- */

static enum ax_status count_call(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)tx, (void)err;
	++*(int *)arg;
	return AX_OK;
}

static bool try_chore(struct ax_ctx *ctx, const char *name)
{
	int calls = 0;
	bool mine;
	assert_int_equal(ax_chore_run(ctx, name, count_call, &calls, &mine, NULL), AX_OK);
	assert_int_equal(calls, mine);
	return mine;
}

static void test_a_chore_is_one_servers(void **state)
{
	struct world *w = *state;
	struct other a;
	open_other(w, &a);
	assert_true(try_chore(&w->ctx, "x"));
	assert_false(try_chore(&a.ctx, "x"));
	assert_true(try_chore(&a.ctx, "y"));
	w->now += AX_CHORE_LEASE_MS - 1;
	assert_true(try_chore(&w->ctx, "x")); /* it goes on: the lease begins anew */
	w->now += AX_CHORE_LEASE_MS - 1;
	assert_false(try_chore(&a.ctx, "x"));
	w->now++;
	assert_true(try_chore(&a.ctx, "x")); /* it was silent for too long */
	assert_false(try_chore(&w->ctx, "x"));
	assert_int_equal(ax_seat_leave(&a.ctx, NULL), AX_OK); /* a clean stop lets go of what it does */
	assert_true(try_chore(&w->ctx, "x"));
	assert_true(try_chore(&w->ctx, "y"));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, world_down)
	const struct CMUnitTest tests[] = {
		T(test_a_start_takes_a_free_number),
		T(test_gids_begin_above_the_mark),
		T(test_the_mark_only_rises),
		T(test_a_store_that_forgot_the_mark_has_it_again),
		T(test_who_is_forgotten_takes_another_number),
		T(test_a_gid_that_is_taken_costs_no_fire),
		T(test_a_call_that_is_undone_raises_no_mark),
		T(test_a_call_makes_no_more_shards_than_one_transaction),
		T(test_a_stale_server_starts_nothing),
		T(test_who_was_away_goes_on_under_another_number),
		T(test_one_process_alone_has_its_number_again_at_once),
		T(test_what_a_dead_server_sent_is_released),
		T(test_a_chore_is_one_servers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
