/* What only a database with several connections can do, and do wrong: locks, races, lost connections, servers that
 * start together. */

#include <arpa/inet.h>
#include <errmsg.h>
#include <mysqld_error.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "adapters/mariadb/conn.h"
#include "fixture.h"

enum { WAIT_MS = 20000 };

static int64_t mono_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A thread fails by ending the program: cmocka knows one thread only. */
#define MUST(cond)                                                                                                     \
	do {                                                                                                           \
		if (!(cond)) {                                                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                             \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

struct world {
	struct fixture f;
	struct ax_mariadb_conn *other, *watch;
};

static enum ax_status insert_tasks(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	(void)arg;
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		struct ax_task task = plain_task("g", names[i]);
		task.next_trigger_time = 1 + (int64_t)i;
		OK(task_insert, &task, &task.id);
	}
	return AX_OK;
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct ax_err err;
	*state = w;
	fixture_open_mariadb(&w->f);
	w->other = fixture_connect(&w->f);
	w->watch = fixture_connect(&w->f);
	assert_true(ax_mariadb_do(w->watch->mysql, "SET SESSION autocommit = 1"));
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, insert_tasks, NULL, &err), AX_OK);
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	ax_mariadb_disconnect(w->other);
	ax_mariadb_disconnect(w->watch);
	fixture_close(&w->f);
	free(w);
	return 0;
}

static int64_t ask(struct ax_mariadb_conn *conn, const char *question)
{
	struct ax_arena arena = { 0 };
	const char **answer = ax_mariadb_ask(conn->mysql, question, &arena);
	MUST(answer != NULL);
	int64_t number = strtoll(answer[0], NULL, 10);
	ax_arena_done(&arena);
	return number;
}

static void await(struct ax_mariadb_conn *conn, const char *question, int64_t wanted)
{
	int64_t end = mono_ms() + WAIT_MS;
	while (ask(conn, question) != wanted) {
		MUST(mono_ms() < end);
		poll(NULL, 0, 120); /* InnoDB refreshes its table of transactions only when nobody read it for 100 ms */
	}
}

static const char waiting_for_a_lock[] =
	"SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";

static void kill_session(struct world *w, struct ax_mariadb_conn *victim)
{
	char text[96];
	unsigned long id = mysql_thread_id(victim->mysql);
	snprintf(text, sizeof(text), "KILL %lu", id);
	MUST(ax_mariadb_do(w->watch->mysql, text));
	snprintf(text, sizeof(text), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = %lu", id);
	await(w->watch, text, 0);
}

/* locks */

struct counting {
	struct ax_store *store;
	struct world *w;
	pthread_t thread;
	atomic_int *turn;
	int64_t first, second; /* tasks */
	int calls;
	enum ax_status status;
	struct ax_err err;
};

static enum ax_status count_up(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	struct ax_task task;
	enum ax_status status = tx->ops->task_get(tx, id, true, &task, err);
	if (status != AX_OK)
		return status;
	int64_t old_next = task.next_trigger_time;
	task.next_trigger_time += 100;
	return tx->ops->task_advance(tx, &task, old_next, err);
}

static enum ax_status count_first(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct counting *c = arg;
	c->calls++;
	return count_up(tx, c->first, err);
}

static void *run_count_first(void *arg)
{
	struct counting *c = arg;
	struct ax_arena arena = { 0 };
	c->status = ax_store_run(c->store, &arena, count_first, c, &c->err);
	ax_arena_done(&arena);
	return NULL;
}

static enum ax_status count_while_another_waits(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct counting *c = arg;
	struct ax_task task;
	enum ax_status status = tx->ops->task_get(tx, c->first, true, &task, err);
	MUST(status == AX_OK);
	MUST(pthread_create(&c->thread, NULL, run_count_first, c) == 0);
	await(c->w->watch, waiting_for_a_lock, 1);
	return count_up(tx, c->first, err);
}

static enum ax_status read_next(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	int64_t *next = arg;
	struct ax_task task;
	enum ax_status status = tx->ops->task_get(tx, *next, false, &task, err);
	if (status == AX_OK)
		*next = task.next_trigger_time;
	return status;
}

static int64_t next_of(struct world *w, int64_t id)
{
	struct ax_err err;
	int64_t next = id;
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, read_next, &next, &err), AX_OK);
	return next;
}

static void test_a_row_read_for_update_waits_for_the_other(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct counting c = { .store = ax_mariadb_store(w->other), .w = w, .first = 1 };
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, count_while_another_waits, &c, &err), AX_OK);
	pthread_join(c.thread, NULL);
	assert_int_equal(c.status, AX_OK);
	assert_int_equal(c.calls, 1);
	assert_int_equal(next_of(w, 1), 201);
}

struct naming {
	struct ax_store *store;
	struct world *w;
	pthread_t thread;
	bool parts; /* of a group, not the workers */
	const char *const *names;
	int n, locked;
	enum ax_status status;
};

static enum ax_status put_workers(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	struct ax_worker worker;
	(void)arg;
	fill_row(&ax_worker_row, tx->arena, 1, &worker);
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		worker.name = names[i];
		OK(worker_put, &worker);
		OK(worker_group_put, names[i], "g", 1);
	}
	return AX_OK;
}

static enum ax_status lock_named(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct naming *n = arg;
	const struct ax_names names = { n->names, n->n };
	struct ax_workers workers = { 0 };
	struct ax_worker_groups parts = { 0 };
	enum ax_status status = n->parts ? tx->ops->group_workers_by_name(tx, "g", &names, true, &parts, err)
					 : tx->ops->workers_by_name(tx, &names, true, &workers, err);
	n->locked = workers.n + parts.n;
	return status;
}

static void *run_lock_named(void *arg)
{
	struct naming *n = arg;
	struct ax_arena arena = { 0 };
	struct ax_err err;
	n->status = ax_store_run(n->store, &arena, lock_named, n, &err);
	ax_arena_done(&arena);
	return NULL;
}

static int64_t count_free(const struct naming *n, const char *name)
{
	char text[160];
	snprintf(text, sizeof(text), "SELECT COUNT(*) FROM %s = '%s' FOR UPDATE SKIP LOCKED",
		n->parts ? "ax_worker_group WHERE worker" : "ax_worker WHERE name", name);
	return ask(n->w->watch, text);
}

static enum ax_status hold_while_others_lock(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	static const char *const beside[] = { "a", "c", "d" }, *const all[] = { "a", "b", "d" };
	struct naming *n = arg;
	struct ax_worker worker;
	struct ax_worker_group part;
	if (n->parts)
		OK(worker_group_get, "b", "g", true, &part);
	else
		OK(worker_get, "b", true, &worker);
	n->names = beside; /* what they do not name does not hold them up */
	n->n = 3;
	run_lock_named(n);
	assert_int_equal(n->status, AX_OK);
	assert_int_equal(n->locked, 3);
	n->names = all;                            /* and what comes behind it is nobody's until they have it */
	await(n->w->watch, waiting_for_a_lock, 0); /* one that waited before must not be taken for this one */
	MUST(pthread_create(&n->thread, NULL, run_lock_named, n) == 0);
	await(n->w->watch, waiting_for_a_lock, 1);
	assert_int_equal(count_free(n, "a"), 0);
	assert_int_equal(count_free(n, "d"), 1);
	return AX_OK;
}

static void test_named_workers_are_locked_in_the_order_of_their_names(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, put_workers, NULL, &err), AX_OK);
	for (int parts = 0; parts < 2; parts++) {
		struct naming n = { .store = ax_mariadb_store(w->other), .w = w, .parts = parts };
		assert_int_equal(ax_store_run(w->f.store, &w->f.arena, hold_while_others_lock, &n, &err), AX_OK);
		pthread_join(n.thread, NULL);
		assert_int_equal(n.status, AX_OK);
		assert_int_equal(n.locked, 3);
	}
}

static enum ax_status try_free(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct naming *n = arg;
	struct ax_worker worker;
	return tx->ops->worker_free(tx, n->names[0], &worker, err);
}

/* As turns of two groups do that give to one worker. */
static enum ax_status hold_beside_another(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	static const char *const both[] = { "a", "b" }, *const other[] = { "c" };
	struct naming *n = arg;
	n->names = both;
	n->n = AX_COUNT(both);
	assert_int_equal(lock_named(tx, n, err), AX_OK);
	assert_int_equal(n->locked, 2);
	run_lock_named(n);
	assert_int_equal(n->status, AX_OK);
	assert_int_equal(n->locked, 2);
	assert_int_equal(count_free(n, "a"), 0); /* for who would change it */
	assert_int_equal(ax_store_run(n->store, &n->w->f.arena, try_free, n, err), AX_NOT_FOUND);
	n->names = other;
	assert_int_equal(ax_store_run(n->store, &n->w->f.arena, try_free, n, err), AX_OK);
	return AX_OK;
}

static void test_named_workers_are_held_beside_others(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct naming n = { .store = ax_mariadb_store(w->other), .w = w };
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, put_workers, NULL, &err), AX_OK);
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, hold_beside_another, &n, &err), AX_OK);
}

struct taking {
	struct ax_store *other;
	struct ax_arena arena;
	int64_t ids[8];
	int n;
};

static enum ax_status take_due(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct taking *t = arg;
	struct ax_tasks due;
	OK(tasks_due, 1000, 2, &due);
	for (int i = 0; i < due.n; i++)
		t->ids[t->n++] = due.at[i].id;
	struct ax_store *other = t->other;
	t->other = NULL;
	return other == NULL ? AX_OK : ax_store_run(other, &t->arena, take_due, t, err);
}

static void test_what_another_holds_is_left_out(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct taking t = { .other = ax_mariadb_store(w->other) };
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, take_due, &t, &err), AX_OK);
	assert_int_equal(t.n, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(t.ids[i], 1 + i);
	t.n = 0; /* and nobody holds them any more */
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, take_due, &t, &err), AX_OK);
	assert_int_equal(t.ids[0], 1);
	ax_arena_done(&t.arena);
}

static enum ax_status cross(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct counting *c = arg;
	enum ax_status status = count_up(tx, c->first, err);
	if (status != AX_OK)
		return status;
	if (c->calls++ == 0) { /* until both hold their first */
		atomic_fetch_add(c->turn, 1);
		for (int64_t end = mono_ms() + WAIT_MS; atomic_load(c->turn) < 2;) {
			MUST(mono_ms() < end);
			poll(NULL, 0, 1);
		}
	}
	return count_up(tx, c->second, err);
}

static void *run_cross(void *arg)
{
	struct counting *c = arg;
	struct ax_arena arena = { 0 };
	c->status = ax_store_run(c->store, &arena, cross, c, &c->err);
	ax_arena_done(&arena);
	return NULL;
}

static void test_of_a_dead_lock_both_succeed_in_the_end(void **state)
{
	struct world *w = *state;
	atomic_int turn = 0;
	struct counting sides[] = {
		{ .store = w->f.store, .turn = &turn, .first = 1, .second = 2 },
		{ .store = ax_mariadb_store(w->other), .turn = &turn, .first = 2, .second = 1 },
	};
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&sides[i].thread, NULL, run_cross, &sides[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(sides[i].thread, NULL);
	assert_int_equal(sides[0].status, AX_OK);
	assert_int_equal(sides[1].status, AX_OK);
	assert_true(sides[0].calls + sides[1].calls >= 3);
	assert_true(ax_mariadb_undone(w->f.mariadb, AX_MARIADB_BY_DEADLOCK) >= 1);
	assert_int_equal(next_of(w, 1), 201);
	assert_int_equal(next_of(w, 2), 202);
}

static enum ax_status count_what_another_counted(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct counting *c = arg;
	struct counting between = { .first = c->first };
	struct ax_arena arena = { 0 };
	int64_t next = c->first;
	MUST(read_next(tx, &next, err) == AX_OK); /* from here on it sees one moment */
	if (c->calls++ == 0)
		MUST(ax_store_run(c->w->f.store, &arena, count_first, &between, err) == AX_OK);
	ax_arena_done(&arena);
	return count_up(tx, c->first, err);
}

/* 1020: where the isolation is REPEATABLE READ, which AX's is not, MariaDB refuses to change what has changed. */
static void test_who_is_refused_a_changed_row_is_called_again(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct counting c = { .w = w, .first = 1 };
	assert_int_equal(ax_mariadb_fault_of(ER_CHECKREAD), AX_MARIADB_AGAIN);
	assert_true(ax_mariadb_do(w->other->mysql, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
	if (!ax_mariadb_do(w->other->mysql, "SET SESSION innodb_snapshot_isolation = ON"))
		skip(); /* MySQL has none, nor have older MariaDBs */
	assert_int_equal(
		ax_store_run(ax_mariadb_store(w->other), &w->f.arena, count_what_another_counted, &c, &err), AX_OK);
	assert_int_equal(c.calls, 2);
	assert_int_equal(ax_mariadb_undone(w->f.mariadb, AX_MARIADB_BY_OTHERS), 1);
	assert_int_equal(next_of(w, 1), 201);
}

struct blocked {
	struct counting *c;
	struct ax_arena arena;
};

static enum ax_status hold_and_let_try(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct blocked *b = arg;
	struct ax_task task;
	OK(task_get, b->c->first, true, &task);
	MUST(ax_mariadb_do(b->c->w->f.conn->mysql, "SET SESSION wait_timeout = 60")); /* MySQL takes it for hung */
	b->c->status = ax_store_run(b->c->store, &b->arena, count_first, b->c, &b->c->err);
	return AX_OK;
}

static void test_a_lock_that_is_never_free_is_busy(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct counting c = { .store = ax_mariadb_store(w->other), .w = w, .first = 1 };
	struct blocked b = { .c = &c };
	assert_true(ax_mariadb_do(w->other->mysql, "SET SESSION innodb_lock_wait_timeout = 0"));
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, hold_and_let_try, &b, &err), AX_OK);
	assert_int_equal(c.status, AX_BUSY);
	assert_int_equal(c.err.status, AX_BUSY);
	assert_int_equal(c.calls, 5);
	assert_int_equal(ax_mariadb_undone(w->f.mariadb, AX_MARIADB_BY_LOCK_WAIT), 5);
	assert_int_equal(next_of(w, 1), 1);
	assert_int_equal(ax_store_run(c.store, &b.arena, count_first, &c, &err), AX_OK); /* later */
	assert_int_equal(next_of(w, 1), 101);
	ax_arena_done(&b.arena);
}

/* Nothing comes from its client for a while: it stands still, or is cut off. */
static enum ax_status hold_until_another_has_it(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct blocked *b = arg;
	struct ax_task task;
	int64_t end = mono_ms() + WAIT_MS;
	OK(task_get, b->c->first, true, &task);
	do
		b->c->status = ax_store_run(b->c->store, &b->arena, count_first, b->c, &b->c->err);
	while (b->c->status == AX_BUSY && mono_ms() < end);
	return AX_OK;
}

/* B149 */
static void test_who_stands_still_in_a_transaction_lets_go(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct counting c = { .store = ax_mariadb_store(w->other), .first = 1 };
	struct blocked b = { .c = &c };
	assert_int_not_equal(ax_store_run(w->f.store, &w->f.arena, hold_until_another_has_it, &b, &err), AX_OK);
	assert_int_equal(c.status, AX_OK);
	assert_int_equal(next_of(w, 1), 101);
	ax_arena_done(&b.arena);
}

static int64_t count_prepared(struct ax_mariadb_conn *conn)
{
	struct ax_arena arena = { 0 };
	const char **answer = ax_mariadb_ask(conn->mysql, "SHOW SESSION STATUS LIKE 'Com_stmt_prepare'", &arena);
	MUST(answer != NULL);
	int64_t number = strtoll(answer[1], NULL, 10);
	ax_arena_done(&arena);
	return number;
}

static enum ax_status find_two(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct ax_ids ids = { (const int64_t[]){ 1, 2 }, 2 };
	struct ax_tasks tasks;
	(void)arg;
	OK(tasks_by_id, &ids, &tasks);
	MUST(tasks.n == 2);
	return AX_OK;
}

/* Preparing is a trip: of a statement that is there for few ids and for many only what is wanted. */
static void test_a_statement_of_few_ids_is_prepared_once(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	int64_t before = count_prepared(w->f.conn);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ax_store_run(w->f.store, &w->f.arena, find_two, NULL, &err), AX_OK);
	assert_int_equal(count_prepared(w->f.conn), before + 1);
}

/* MySQL ends who stands still, in a transaction or not: not a connection that is only not used. */
static void test_a_connection_at_rest_is_kept(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct counting c = { .first = 1 };
	for (int round = 0; round < 2; round++) {
		assert_int_equal(ax_store_run(ax_mariadb_store(w->other), &w->f.arena, count_first, &c, &err), AX_OK);
		ax_mariadb_rest(w->other);
		assert_int_equal(ask(w->other, "SELECT @@SESSION.wait_timeout"), 28800);
	}
	assert_int_equal(next_of(w, 1), 201);
	kill_session(w, w->other);
	ax_mariadb_rest(w->other); /* notices nothing … */
	assert_int_equal(ax_store_run(ax_mariadb_store(w->other), &w->f.arena, count_first, &c, &err), AX_OK);
	assert_int_equal(next_of(w, 1), 301);
}

/* races */

enum { RACERS = 8, ROUNDS = 20 };

struct racer {
	struct ax_mariadb_conn *conn;
	pthread_t thread;
	pthread_barrier_t *start;
	int64_t gid;
	int won, lost;
};

static enum ax_status insert_fire(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const int64_t *key = arg;
	char text[24];
	struct ax_run run = plain_run(key[0], 1);
	snprintf(text, sizeof(text), "%lld", (long long)key[1]);
	run.fire_key = text;
	return tx->ops->run_insert(tx, &run, err);
}

static void *race(void *arg)
{
	struct racer *r = arg;
	struct ax_arena arena = { 0 };
	struct ax_err err;
	for (int round = 0; round < ROUNDS; round++) {
		int64_t key[] = { r->gid + round, round };
		pthread_barrier_wait(r->start);
		enum ax_status status = ax_store_run(ax_mariadb_store(r->conn), &arena, insert_fire, key, &err);
		MUST(status == AX_OK || status == AX_EXISTS);
		MUST(status == AX_OK || strcmp(err.field, "fire_key") == 0);
		r->won += status == AX_OK;
		r->lost += status == AX_EXISTS;
	}
	ax_arena_done(&arena);
	return NULL;
}

static void test_of_those_who_insert_one_key_one_wins(void **state)
{
	struct world *w = *state;
	struct racer racers[RACERS] = { 0 };
	pthread_barrier_t start;
	int won = 0;
	pthread_barrier_init(&start, NULL, RACERS);
	for (int i = 0; i < RACERS; i++) {
		racers[i].conn = fixture_connect(&w->f);
		racers[i].start = &start;
		racers[i].gid = 1000 * (i + 1);
	}
	for (int i = 0; i < RACERS; i++)
		assert_int_equal(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
	for (int i = 0; i < RACERS; i++) {
		pthread_join(racers[i].thread, NULL);
		ax_mariadb_disconnect(racers[i].conn);
		assert_int_equal(racers[i].won + racers[i].lost, ROUNDS);
		won += racers[i].won;
	}
	pthread_barrier_destroy(&start);
	assert_int_equal(won, ROUNDS);
	assert_int_equal(ask(w->watch, "SELECT COUNT(*) FROM ax_task_log"), ROUNDS);
}

/* connections that break */

struct killing {
	struct world *w;
	struct ax_mariadb_conn *victim;
	int64_t gid;
	int calls, kill_before, kill_after; /* kills at these calls, before or after the insert */
};

static enum ax_status insert_and_kill(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct killing *k = arg;
	struct ax_run run = plain_run(k->gid, 1), again;
	if (++k->calls == k->kill_before)
		kill_session(k->w, k->victim);
	enum ax_status status = tx->ops->run_insert(tx, &run, err);
	if (status != AX_OK)
		return status;
	if (k->calls == k->kill_after)
		kill_session(k->w, k->victim);
	if (k->calls == k->kill_after && k->kill_before < 0) /* look for it once more */
		return tx->ops->run_get(tx, k->gid, false, &again, err);
	return AX_OK;
}

static enum ax_status run_killing(struct killing *k, struct ax_err *err)
{
	return ax_store_run(ax_mariadb_store(k->victim), &k->w->f.arena, insert_and_kill, k, err);
}

static void test_a_connection_lost_before_the_commit_is_made_anew(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct killing before = { .w = w, .victim = w->other, .gid = 1, .kill_before = 1 };
	assert_int_equal(run_killing(&before, &err), AX_OK);
	assert_int_equal(before.calls, 2);
	struct killing between = { .w = w, .victim = w->other, .gid = 2, .kill_before = -1, .kill_after = 1 };
	assert_int_equal(run_killing(&between, &err), AX_OK);
	assert_int_equal(between.calls, 2);
	struct killing idle = { .w = w, .victim = w->other, .gid = 3 };
	kill_session(w, idle.victim);
	assert_int_equal(run_killing(&idle, &err), AX_OK);
	assert_int_equal(idle.calls, 2); /* the first one found out */
	assert_int_equal(ax_mariadb_undone(w->f.mariadb, AX_MARIADB_BY_CONNECTION), 3);
	assert_int_equal(ask(w->watch, "SELECT COUNT(*) FROM ax_task_log"), 3);
	int64_t now = 0;
	kill_session(w, idle.victim);
	assert_int_equal(ax_mariadb_now_ms(w->other, &now, &err), AX_OK);
	assert_true(now > INT64_C(1700000000000));
}

static void test_a_connection_lost_at_the_commit_is_uncertain(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct killing k = { .w = w, .victim = w->other, .gid = 1, .kill_after = 1 };
	assert_int_equal(run_killing(&k, &err), AX_UNCERTAIN);
	assert_int_equal(err.status, AX_UNCERTAIN);
	assert_int_equal(k.calls, 1); /* nobody does it again by himself */
	assert_int_equal(ask(w->watch, "SELECT COUNT(*) FROM ax_task_log"), 0);
	assert_int_equal(run_killing(&k, &err), AX_OK);
}

/* A wire to the database that can be cut and held. */
struct wire {
	pthread_t thread;
	int listener, port;
	struct sockaddr_in server;
	atomic_bool lose_answer; /* the next answer is lost, with the connection */
	atomic_bool hang;        /* nothing passes any more */
	atomic_bool stop;
};

static bool pass(int from, int to)
{
	char bytes[16384];
	ssize_t n = read(from, bytes, sizeof(bytes));
	return n > 0 && write(to, bytes, (size_t)n) == n;
}

static void carry(struct wire *wire, int client)
{
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	MUST(connect(server, (struct sockaddr *)&wire->server, sizeof(wire->server)) == 0);
	for (bool open = true; open && !atomic_load(&wire->stop);) {
		struct pollfd fds[] = { { client, POLLIN, 0 }, { server, POLLIN, 0 } };
		if (atomic_load(&wire->hang)) {
			poll(NULL, 0, 5);
			continue;
		}
		poll(fds, 2, 20);
		if (fds[0].revents != 0)
			open = pass(client, server);
		if (fds[1].revents != 0)
			open = !atomic_exchange(&wire->lose_answer, false) && pass(server, client) && open;
	}
	close(server);
	close(client);
}

static void *run_wire(void *arg)
{
	struct wire *wire = arg;
	while (!atomic_load(&wire->stop)) {
		struct pollfd fd = { wire->listener, POLLIN, 0 };
		if (poll(&fd, 1, 20) > 0 && !atomic_load(&wire->hang))
			carry(wire, accept(wire->listener, NULL, NULL));
	}
	return NULL;
}

static void start_wire(struct wire *wire, int server_port)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(own);
	wire->server = own;
	wire->server.sin_port = htons((uint16_t)server_port);
	wire->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(wire->listener, (struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(listen(wire->listener, 8), 0);
	assert_int_equal(getsockname(wire->listener, (struct sockaddr *)&own, &len), 0);
	wire->port = ntohs(own.sin_port);
	assert_int_equal(pthread_create(&wire->thread, NULL, run_wire, wire), 0);
}

static void stop_wire(struct wire *wire)
{
	atomic_store(&wire->stop, true);
	pthread_join(wire->thread, NULL);
	close(wire->listener);
}

struct commit_lost {
	struct wire *wire;
	int64_t gid;
	int calls;
};

static enum ax_status insert_and_lose_the_answer(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct commit_lost *c = arg;
	struct ax_run run = plain_run(c->gid, 1);
	enum ax_status status = tx->ops->run_insert(tx, &run, err);
	if (c->calls++ == 0)
		atomic_store(&c->wire->lose_answer, true);
	return status;
}

static void test_a_commit_whose_answer_is_lost_is_uncertain_and_done(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct wire wire = { 0 };
	start_wire(&wire, w->f.mariadb->config.port);
	struct ax_mariadb far = *w->f.mariadb;
	far.config.port = wire.port;
	struct ax_mariadb_conn *conn;
	assert_int_equal(ax_mariadb_connect(&far, &conn, &err), AX_OK);
	struct commit_lost c = { .wire = &wire, .gid = 1 };
	assert_int_equal(
		ax_store_run(ax_mariadb_store(conn), &w->f.arena, insert_and_lose_the_answer, &c, &err), AX_UNCERTAIN);
	assert_int_equal(c.calls, 1);
	assert_int_equal(ask(w->watch, "SELECT COUNT(*) FROM ax_task_log"), 1);
	assert_int_equal(/* reading back by key, which is what AX_UNCERTAIN asks for */
		ax_store_run(ax_mariadb_store(conn), &w->f.arena, insert_and_lose_the_answer, &c, &err), AX_EXISTS);
	ax_mariadb_disconnect(conn);
	stop_wire(&wire);
}

static void test_a_database_that_hangs_holds_nobody_for_long(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct wire wire = { 0 };
	start_wire(&wire, w->f.mariadb->config.port);
	struct ax_mariadb far = *w->f.mariadb;
	far.config.port = wire.port;
	struct ax_mariadb_conn *conn;
	assert_int_equal(ax_mariadb_connect(&far, &conn, &err), AX_OK);
	atomic_store(&wire.hang, true);
	struct counting c = { .first = 1 };
	int64_t start = mono_ms();
	assert_int_equal(ax_store_run(ax_mariadb_store(conn), &w->f.arena, count_first, &c, &err), AX_UNAVAILABLE);
	assert_in_range(mono_ms() - start, 5000, 12000);
	start = mono_ms(); /* nor the next one */
	assert_int_equal(ax_store_run(ax_mariadb_store(conn), &w->f.arena, count_first, &c, &err), AX_UNAVAILABLE);
	assert_in_range(mono_ms() - start, 0, 12000);
	atomic_store(&wire.hang, false);
	assert_int_equal(ax_store_run(ax_mariadb_store(conn), &w->f.arena, count_first, &c, &err), AX_OK);
	assert_int_equal(next_of(w, 1), 101);
	ax_mariadb_disconnect(conn);
	stop_wire(&wire);
}

/* readers */

struct look {
	struct world *w;
	struct ax_arena arena;
	int64_t before, after;
};

static enum ax_status look_twice(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct look *look = arg;
	struct counting c = { .first = 1 };
	look->before = look->after = 1;
	enum ax_status status = read_next(tx, &look->before, err);
	MUST(status == AX_OK);
	MUST(ax_store_run(look->w->f.store, &look->arena, count_first, &c, err) == AX_OK);
	return read_next(tx, &look->after, err);
}

static enum ax_status lock_one(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_task task;
	(void)arg;
	return tx->ops->task_get(tx, 1, true, &task, err);
}

static void test_a_reader_sees_one_moment(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct look look = { .w = w };
	struct ax_store *reader = ax_mariadb_reader_store(w->other);
	assert_int_equal(ax_store_run(reader, &w->f.arena, look_twice, &look, &err), AX_OK);
	assert_int_equal(look.before, 1);
	assert_int_equal(look.after, 1);
	int64_t key[] = { 1, 1 };
	assert_int_equal(ax_store_run(reader, &w->f.arena, insert_fire, key, &err), AX_DENIED);
	assert_int_equal(ax_store_run(reader, &w->f.arena, lock_one, NULL, &err), AX_DENIED);
	/* the same connection may write, at another isolation */
	assert_int_equal(ax_store_run(ax_mariadb_store(w->other), &w->f.arena, insert_fire, key, &err), AX_OK);
	assert_int_equal(ask(w->watch, "SELECT COUNT(*) FROM ax_task_log"), 1);
	ax_arena_done(&look.arena);
}

/* opening */

static void test_an_account_that_logs_in_by_an_unknown_method(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	assert_int_equal(ax_mariadb_cannot_connect(w->f.mariadb, CR_AUTH_PLUGIN_CANNOT_LOAD,
				 "Authentication plugin 'a_new_one' cannot be loaded: no such file", &err),
		AX_INVALID);
	assert_non_null(strstr(err.msg, "'a_new_one'"));
	assert_non_null(strstr(err.msg, "MARIADB_PLUGIN_DIR"));
}

struct kept_events {
	struct ax_log log;
	char names[256];
	char last[512]; /* its fields */
};

static void keep_event(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	struct kept_events *kept = (struct kept_events *)(void *)log;
	size_t len = strlen(kept->names);
	(void)level;
	snprintf(kept->names + len, sizeof(kept->names) - len, "%s ", name);
	snprintf(kept->last, sizeof(kept->last), "%s", fields);
}

static void expect_open(const struct ax_mariadb_config *config, enum ax_status status, const char *part)
{
	struct ax_mariadb *db = NULL;
	struct ax_err err = { 0 };
	enum ax_status got = ax_mariadb_open(config, &db, &err);
	ax_mariadb_close(db);
	if (got != status || strstr(err.msg, part) == NULL)
		fail_msg("not \"%s\" but %d: %s", part, (int)got, err.msg);
	assert_null(strstr(err.msg, "hunter2"));
}

static void do_by(struct world *w, const char *text)
{
	if (!ax_mariadb_do(w->watch->mysql, text))
		fail_msg("%s: %s", text, mysql_error(w->watch->mysql));
}

static void test_what_opening_refuses(void **state)
{
	struct world *w = *state;
	struct ax_mariadb_config good = w->f.mariadb->config, config = good;
	config.password = "hunter2";
	expect_open(&config, AX_DENIED, "refuses the account ax");
	config = good;
	config.database = "nowhere";
	expect_open(&config, AX_INVALID, "CREATE DATABASE nowhere");
	config = good;
	config.port = 1;
	config.password = "hunter2";
	expect_open(&config, AX_UNAVAILABLE, "does not answer");
	config = good;
	config.socket = "/nowhere/socket";
	expect_open(&config, AX_UNAVAILABLE, "/nowhere/socket does not answer");
	config = good;
	config.tls = AX_MARIADB_TLS_ON; /* the server has none */
	expect_open(&config, AX_INVALID, "TLS");
	do_by(w, "SET GLOBAL read_only = 1");
	expect_open(&good, AX_UNAVAILABLE, "read-only");
	do_by(w, "SET GLOBAL read_only = 0");
	do_by(w, "SET GLOBAL max_allowed_packet = 1048576");
	expect_open(&good, AX_UNAVAILABLE, "max_allowed_packet");
	do_by(w, "SET GLOBAL max_allowed_packet = 16777216");
	expect_open(&good, AX_OK, "");
}

/* Each of its connections, also one that was made anew. */
static void test_a_session_is_strict_and_read_committed(void **state)
{
	static const char question[] = "SELECT @@SESSION.sql_mode LIKE '%STRICT_TRANS_TABLES%' AND"
				       " /*M! @@SESSION.tx_isolation */ /*!50720 @@SESSION.transaction_isolation */"
				       " = 'READ-COMMITTED'";
	struct world *w = *state;
	struct ax_err err;
	do_by(w, "SET GLOBAL sql_mode = ''");
	do_by(w, "SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE");
	int64_t first_session = ask(w->other, "SELECT CONNECTION_ID()");
	kill_session(w, w->other);
	struct counting c = { .first = 1 };
	assert_int_equal(ax_store_run(ax_mariadb_store(w->other), &w->f.arena, count_first, &c, &err), AX_OK);
	assert_int_not_equal(ask(w->other, "SELECT CONNECTION_ID()"), first_session);
	assert_int_equal(ask(w->other, question), 1);
	do_by(w, "SET GLOBAL sql_mode = DEFAULT");
	do_by(w, "SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ");
}

static void expect_of_session(struct world *w, enum ax_status status, const char *part)
{
	struct ax_err err = { 0 };
	assert_int_equal(ax_mariadb_check_session(w->watch->mysql, &err), status);
	if (strstr(err.msg, part) == NULL)
		fail_msg("not \"%s\" but: %s", part, err.msg);
}

/* As behind a proxy that shares sessions. */
static void test_a_session_that_lost_its_settings_is_refused(void **state)
{
	struct world *w = *state;
	expect_of_session(w, AX_OK, "");
	do_by(w, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
	expect_of_session(w, AX_UNAVAILABLE, "isolation is REPEATABLE-READ");
	do_by(w, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
	do_by(w, "SET SESSION sql_mode = 'ANSI_QUOTES'");
	expect_of_session(w, AX_UNAVAILABLE, "sql_mode is 'ANSI_QUOTES'");
}

static void test_a_connection_is_not_made_anew_to_a_read_only_database(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	struct counting c = { .first = 1 };
	struct ax_store *store = ax_mariadb_store(w->other);
	kill_session(w, w->other);
	do_by(w, "SET GLOBAL read_only = 1");
	assert_int_equal(ax_store_run(store, &w->f.arena, count_first, &c, &err), AX_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "read-only"));
	do_by(w, "SET GLOBAL read_only = 0");
	assert_int_equal(ax_store_run(store, &w->f.arena, count_first, &c, &err), AX_OK);
	assert_int_equal(next_of(w, 1), 101);
}

static void test_what_endangers_data_is_logged(void **state)
{
	static const struct ax_log_ops log_ops = { keep_event };
	struct world *w = *state;
	struct kept_events kept = { .log.ops = &log_ops };
	struct ax_mariadb_config config = w->f.mariadb->config;
	config.log = &kept.log;
	expect_open(&config, AX_OK, "");
	assert_string_equal(kept.names, "");
	do_by(w, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
	config.tls = AX_MARIADB_TLS_OFF;
	expect_open(&config, AX_OK, "");
	do_by(w, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
	assert_string_equal(kept.names, "mariadb.not_durable mariadb.no_tls ");
}

static void test_a_replica_that_takes_writes_is_logged(void **state)
{
	static const struct ax_log_ops log_ops = { keep_event };
	struct world *w = *state;
	struct kept_events kept = { .log.ops = &log_ops };
	struct ax_mariadb_config config = w->f.mariadb->config;
	config.log = &kept.log;
	do_by(w,
		"CHANGE /*M! MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1 */"
		" /*!80023 REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1 */");
	expect_open(&config, AX_OK, "");
	do_by(w, "RESET REPLICA ALL");
	assert_string_equal(kept.names, "mariadb.is_replica ");
	expect_open(&config, AX_OK, "");
	assert_string_equal(kept.names, "mariadb.is_replica ");
}

static void keep_lost(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	if (strcmp(name, "mariadb.connection_lost") == 0)
		keep_event(log, level, name, fields);
}

static void test_a_lost_connection_is_logged_with_its_reason(void **state)
{
	static const struct ax_log_ops log_ops = { keep_lost };
	struct world *w = *state;
	struct kept_events kept = { .log.ops = &log_ops };
	struct ax_err err;
	struct killing k = { .w = w, .victim = w->other, .gid = 1, .kill_before = 1 };
	w->f.mariadb->config.log = &kept.log;
	assert_int_equal(run_killing(&k, &err), AX_OK);
	w->f.mariadb->config.log = NULL;
	assert_string_equal(kept.names, "mariadb.connection_lost ");
	assert_null(strstr(kept.last, "\"code\":0"));
	assert_non_null(strstr(kept.last, "the database says: "));
}

static void test_a_clock_that_differs_is_logged(void **state)
{
	static const struct ax_log_ops log_ops = { keep_event };
	struct world *w = *state;
	struct kept_events kept = { .log.ops = &log_ops };
	struct ax_mariadb_config config = w->f.mariadb->config;
	config.log = &kept.log;
	config.user = config.password = "late"; /* what follows is done for no account that may do everything */
	do_by(w, "DROP USER IF EXISTS late@'%'");
	do_by(w, "CREATE USER late@'%' IDENTIFIED BY 'late'");
	do_by(w, "GRANT ALL ON ax.* TO late@'%'");
	do_by(w, "SET GLOBAL init_connect = 'SET SESSION timestamp = UNIX_TIMESTAMP() - 5'");
	expect_open(&config, AX_OK, "");
	assert_non_null(strstr(kept.last, "ms behind that of this machine"));
	do_by(w, "SET GLOBAL init_connect = 'SET SESSION timestamp = UNIX_TIMESTAMP() + 60'");
	expect_open(&config, AX_OK, "");
	assert_non_null(strstr(kept.last, "ms ahead of this machine"));
	assert_string_equal(kept.names, "mariadb.clock_differs mariadb.clock_differs ");
	do_by(w, "SET GLOBAL init_connect = ''");
	do_by(w, "DROP USER late@'%'");
}

static void test_schemas_that_are_not_ours_are_refused(void **state)
{
	struct world *w = *state;
	struct ax_mariadb_config config = w->f.mariadb->config;
	do_by(w, "INSERT INTO ax_migration VALUES (98, 'expands', 'x', 0, 1)"); /* one that we can go on with */
	expect_open(&config, AX_OK, "");
	do_by(w, "INSERT INTO ax_migration VALUES (99, 'later', 'x', 0, 98)");
	expect_open(&config, AX_CONFLICT, "schema version 99");
	do_by(w, "DELETE FROM ax_migration WHERE number = 98");
	do_by(w, "DELETE FROM ax_migration WHERE number = 99");
	do_by(w, "UPDATE ax_migration SET hash = REVERSE(hash) WHERE number = 1");
	expect_open(&config, AX_CONFLICT, "another form of migration 1");
	do_by(w, "UPDATE ax_migration SET hash = REVERSE(hash) WHERE number = 1");
	do_by(w, "RENAME TABLE ax_migration TO gone");
	expect_open(&config, AX_CONFLICT, "without their list ax_migration");
	do_by(w, "RENAME TABLE gone TO ax_migration");
	do_by(w, "DELETE FROM ax_migration"); /* as after a migration that was cut short: done again */
	expect_open(&config, AX_OK, "");
	assert_true(ask(w->watch, "SELECT COUNT(*) FROM ax_migration") > 0);
	assert_int_equal(next_of(w, 1), 1);
}

/* Those of docs/databases.md. */
static void test_the_rights_that_are_asked_for_are_enough(void **state)
{
	struct world *w = *state;
	struct ax_mariadb_config config = w->f.mariadb->config;
	struct ax_mariadb *db;
	struct ax_mariadb_conn *conn;
	struct ax_err err;
	config.user = "few";
	config.password = "few";
	config.database = "ax_few";
	do_by(w, "DROP DATABASE IF EXISTS ax_few");
	do_by(w, "CREATE DATABASE ax_few");
	do_by(w, "DROP USER IF EXISTS few@'%'");
	do_by(w, "CREATE USER few@'%' IDENTIFIED BY 'few'");
	do_by(w, "GRANT SELECT, INSERT, UPDATE, DELETE ON ax_few.* TO few@'%'");
	expect_open(&config, AX_UNAVAILABLE, "CREATE command denied");
	do_by(w, "GRANT CREATE, ALTER, INDEX, DROP, TRIGGER ON ax_few.* TO few@'%'");
	expect_open(&config, AX_OK, "");
	do_by(w, "REVOKE CREATE, ALTER, INDEX, DROP, TRIGGER ON ax_few.* FROM few@'%'");
	assert_int_equal(ax_mariadb_open(&config, &db, &err), AX_OK);
	assert_int_equal(ax_mariadb_connect(db, &conn, &err), AX_OK);
	struct ax_store *store = ax_mariadb_store(conn);
	int64_t key[] = { 1, 1 }, next[] = { 2, 2 };
	assert_int_equal(ax_store_run(store, &w->f.arena, insert_fire, key, &err), AX_OK);
	do_by(w, "SET GLOBAL read_only = 1"); /* as a failover leaves it */
	assert_int_equal(ax_store_run(store, &w->f.arena, insert_fire, next, &err), AX_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "the database is read-only now"));
	do_by(w, "SET GLOBAL read_only = 0");
	assert_int_equal(ax_store_run(store, &w->f.arena, insert_fire, next, &err), AX_OK);
	ax_mariadb_disconnect(conn);
	ax_mariadb_close(db);
	do_by(w, "DROP USER few@'%'");
	do_by(w, "DROP DATABASE ax_few");
}

static enum ax_status fill_upstreams(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	(void)arg;
	for (int64_t i = 0; status == AX_OK && i < 100000; i++)
		status = tx->ops->upstream_insert(tx, &(struct ax_upstream){ .task_id = i, .upstream_id = 1 }, err);
	return status;
}

static void test_no_space_left(void **state)
{
	struct world *w = *state;
	struct ax_err err;
	do_by(w, "SET SESSION max_heap_table_size = 16384"); /* a table in memory stands for a small disk */
	do_by(w, "ALTER TABLE ax_upstream ENGINE = MEMORY");
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, fill_upstreams, NULL, &err), AX_FULL);
	assert_non_null(strstr(err.msg, "no space left"));
	do_by(w, "DELETE FROM ax_upstream");
	do_by(w, "ALTER TABLE ax_upstream ENGINE = InnoDB");
	int64_t key[] = { 1, 1 };
	assert_int_equal(ax_store_run(w->f.store, &w->f.arena, insert_fire, key, &err), AX_OK);
}

struct starter {
	pthread_t thread;
	struct ax_mariadb_config config;
};

static void *open_and_close(void *arg)
{
	struct starter *s = arg;
	struct ax_mariadb *db = NULL;
	struct ax_err err = { 0 };
	if (ax_mariadb_open(&s->config, &db, &err) != AX_OK)
		fprintf(stderr, "%s\n", err.msg);
	MUST(db != NULL);
	ax_mariadb_close(db);
	return NULL;
}

static void test_servers_that_start_together_make_one_schema(void **state)
{
	struct world *w = *state;
	struct starter starters[4];
	do_by(w, "DROP DATABASE IF EXISTS ax_together");
	do_by(w, "CREATE DATABASE ax_together CHARACTER SET latin1"); /* AX's tables say what they need */
	for (size_t i = 0; i < AX_COUNT(starters); i++) {
		starters[i].config = w->f.mariadb->config;
		starters[i].config.database = "ax_together";
		assert_int_equal(pthread_create(&starters[i].thread, NULL, open_and_close, &starters[i]), 0);
	}
	for (size_t i = 0; i < AX_COUNT(starters); i++)
		pthread_join(starters[i].thread, NULL);
	assert_int_equal(ask(w->watch, "SELECT COUNT(*) FROM ax_together.ax_migration"), ax_mariadb_migrations_n);
	assert_int_equal(ask(w->watch, "SELECT COUNT(*) FROM ax_together.ax_store"), 1);
	assert_int_equal(ask(w->watch, "SELECT COUNT(*) FROM ax_together.ax_store JOIN ax_store USING (id)"), 0);
	do_by(w, "DROP DATABASE ax_together");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_row_read_for_update_waits_for_the_other),
		TEST(test_named_workers_are_locked_in_the_order_of_their_names),
		TEST(test_named_workers_are_held_beside_others),
		TEST(test_what_another_holds_is_left_out),
		TEST(test_of_a_dead_lock_both_succeed_in_the_end),
		TEST(test_who_is_refused_a_changed_row_is_called_again),
		TEST(test_a_lock_that_is_never_free_is_busy),
		TEST(test_who_stands_still_in_a_transaction_lets_go),
		TEST(test_a_connection_at_rest_is_kept),
		TEST(test_a_statement_of_few_ids_is_prepared_once),
		TEST(test_an_account_that_logs_in_by_an_unknown_method),
		TEST(test_of_those_who_insert_one_key_one_wins),
		TEST(test_a_connection_lost_before_the_commit_is_made_anew),
		TEST(test_a_connection_lost_at_the_commit_is_uncertain),
		TEST(test_a_commit_whose_answer_is_lost_is_uncertain_and_done),
		TEST(test_a_database_that_hangs_holds_nobody_for_long),
		TEST(test_a_reader_sees_one_moment),
		TEST(test_what_opening_refuses),
		TEST(test_a_session_is_strict_and_read_committed),
		TEST(test_a_session_that_lost_its_settings_is_refused),
		TEST(test_a_connection_is_not_made_anew_to_a_read_only_database),
		TEST(test_what_endangers_data_is_logged),
		TEST(test_a_replica_that_takes_writes_is_logged),
		TEST(test_a_lost_connection_is_logged_with_its_reason),
		TEST(test_a_clock_that_differs_is_logged),
		TEST(test_schemas_that_are_not_ours_are_refused),
		TEST(test_the_rights_that_are_asked_for_are_enough),
		TEST(test_no_space_left),
		TEST(test_servers_that_start_together_make_one_schema),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
