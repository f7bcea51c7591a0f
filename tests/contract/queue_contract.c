/* What every due queue must do. `queue_contract mem`, or `queue_contract redis` with the URL in AX_TEST_REDIS, of a
 * Redis that is empty; tests/lib/redis.py starts one. Each test has shards of its own. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <uv.h>

#include "adapters/redis/queue.h"
#include "base/arena.h"
#include "base/err.h"
#include "port/mem_queue.h"

enum { WAIT_MS = 10000, NOW = 1000000, HEARD_MAX = 32 };

/* --- two servers at one queue, and a stranger --------------------------------------------------------------------- */

struct heard {
	struct ax_hint hint;
	char group[AX_QUEUE_NAME_MAX + 1];
};

struct seat {
	struct ax_queue *queue;
	struct ax_redis_queue *redis;
	struct heard heard[HEARD_MAX];
	int n_heard;
};

static struct world {
	const char *url;
	struct seat a, b, stranger;
	struct ax_mem_queue *mem;
	struct ax_clock clock;
	int64_t mono_ms;
	uv_mutex_t lock; /* of answers and what was heard */
	uv_cond_t changed;
} w;

static int64_t mono_ms(struct ax_clock *clock)
{
	(void)clock;
	return w.mono_ms;
}

static void hear(void *user, const struct ax_hint *hint)
{
	struct seat *seat = user;
	uv_mutex_lock(&w.lock);
	assert_true(seat->n_heard < HEARD_MAX);
	struct heard *heard = &seat->heard[seat->n_heard++];
	heard->hint = *hint;
	snprintf(heard->group, sizeof(heard->group), "%s", hint->group_key);
	uv_cond_broadcast(&w.changed);
	uv_mutex_unlock(&w.lock);
}

static void wait_a_little(void)
{
	uv_mutex_lock(&w.lock);
	uv_cond_timedwait(&w.changed, &w.lock, UINT64_C(5000000));
	uv_mutex_unlock(&w.lock);
}

static int64_t real_ms(void)
{
	return (int64_t)(uv_hrtime() / 1000000);
}

static void open_redis(struct seat *seat, const char *identity)
{
	struct ax_err err = { 0 };
	const char *ca = getenv("AX_TEST_REDIS_CA");
	struct ax_redis_queue_config config = {
		.ca_file = ca == NULL ? "" : ca, .identity = identity, .ears = { hear, seat }
	};
	if (ax_redis_url_read(w.url, &config.url, &err) != AX_OK ||
		ax_redis_queue_new(&config, &seat->redis, &err) != AX_OK)
		fail_msg("%s", err.msg);
	seat->queue = ax_redis_queue_port(seat->redis);
}

static bool is_up(struct seat *seat)
{
	struct ax_queue_health health;
	seat->queue->ops->health(seat->queue, &health);
	return health.up;
}

static int open_all(void **state)
{
	static const struct ax_clock_ops clock = { NULL, mono_ms };
	(void)state;
	uv_mutex_init(&w.lock);
	uv_cond_init(&w.changed);
	w.clock.ops = &clock;
	w.mono_ms = 1;
	if (w.url != NULL) {
		open_redis(&w.a, "one");
		open_redis(&w.b, "one");
		open_redis(&w.stranger, "two");
	} else {
		w.mem = ax_mem_queue_new(&w.clock, "one");
		w.a.queue = ax_mem_queue_port(w.mem, &(struct ax_queue_ears){ hear, &w.a });
		w.b.queue = ax_mem_queue_port(w.mem, &(struct ax_queue_ears){ hear, &w.b });
	}
	for (int64_t end = real_ms() + WAIT_MS; !is_up(&w.a) || !is_up(&w.b);) {
		assert_true(real_ms() < end);
		wait_a_little();
	}
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	ax_redis_queue_free(w.a.redis);
	ax_redis_queue_free(w.b.redis);
	ax_redis_queue_free(w.stranger.redis);
	ax_mem_queue_free(w.mem);
	return 0;
}

/* --- calls that wait ---------------------------------------------------------------------------------------------- */

struct answer {
	bool there, done;
	int64_t n;
	struct ax_queue_taken taken;
	struct ax_member members[AX_QUEUE_TAKE_MAX];
};

static void answered(struct answer *answer)
{
	uv_mutex_lock(&w.lock);
	answer->there = true;
	uv_cond_broadcast(&w.changed);
	uv_mutex_unlock(&w.lock);
}

static void on_done(void *user, bool done)
{
	struct answer *answer = user;
	answer->done = done;
	answered(answer);
}

static void on_count(void *user, int64_t n)
{
	struct answer *answer = user;
	answer->n = n;
	answered(answer);
}

static void on_taken(void *user, const struct ax_queue_taken *taken)
{
	struct answer *answer = user;
	answer->done = taken != NULL;
	if (taken != NULL) {
		answer->taken = *taken;
		memcpy(answer->members, taken->members, (size_t)taken->n * sizeof(answer->members[0]));
	}
	answered(answer);
}

static void await(struct answer *answer, bool asked)
{
	assert_true(asked);
	uv_mutex_lock(&w.lock);
	for (int64_t end = real_ms() + WAIT_MS; !answer->there;) {
		assert_true(real_ms() < end);
		uv_cond_timedwait(&w.changed, &w.lock, UINT64_C(1000000000));
	}
	uv_mutex_unlock(&w.lock);
}

static struct ax_queue_entry task(int64_t id, int shard, int64_t due_ms, int64_t priority)
{
	return (struct ax_queue_entry){ { AX_MEMBER_TASK, id }, shard, due_ms, priority };
}

static void put(const struct ax_queue_entry *entries, int n)
{
	struct answer answer = { 0 };
	await(&answer, w.a.queue->ops->put(w.a.queue, entries, n, on_done, &answer));
	assert_true(answer.done);
}

static void put_one(int64_t id, int shard, int64_t due_ms)
{
	put((struct ax_queue_entry[]){ task(id, shard, due_ms, 5) }, 1);
}

static struct answer take_by(struct seat *seat, int shard, int64_t now_ms, int limit)
{
	struct answer answer = { 0 };
	await(&answer, seat->queue->ops->take(seat->queue, shard, now_ms, limit, on_taken, &answer));
	assert_true(answer.done);
	assert_int_equal(answer.taken.shard, shard);
	return answer;
}

static struct answer take(int shard, int64_t now_ms)
{
	return take_by(&w.a, shard, now_ms, AX_QUEUE_TAKE_MAX);
}

static bool load_begin(struct seat *seat, int shard, const char *token)
{
	struct answer answer = { 0 };
	await(&answer, seat->queue->ops->load_begin(seat->queue, shard, token, on_done, &answer));
	return answer.done;
}

static bool load_end(struct seat *seat, int shard, const char *token)
{
	struct answer answer = { 0 };
	await(&answer, seat->queue->ops->load_end(seat->queue, shard, token, on_done, &answer));
	return answer.done;
}

static bool lock(struct seat *seat, const char *name, const char *token, int64_t life_ms)
{
	struct answer answer = { 0 };
	await(&answer, seat->queue->ops->lock(seat->queue, name, token, life_ms, on_done, &answer));
	return answer.done;
}

static bool renew(struct seat *seat, const char *name, const char *token, int64_t life_ms)
{
	struct answer answer = { 0 };
	await(&answer, seat->queue->ops->renew(seat->queue, name, token, life_ms, on_done, &answer));
	return answer.done;
}

static bool unlock(struct seat *seat, const char *name, const char *token)
{
	struct answer answer = { 0 };
	await(&answer, seat->queue->ops->unlock(seat->queue, name, token, on_done, &answer));
	return answer.done;
}

static int64_t size_of(int shard)
{
	struct answer answer = { 0 };
	await(&answer, w.a.queue->ops->size(w.a.queue, shard, on_count, &answer));
	return answer.n;
}

static void assert_members(const struct answer *answer, int n, const int64_t *ids)
{
	assert_int_equal(answer->taken.n, n);
	for (int i = 0; i < n; i++)
		assert_int_equal(answer->members[i].id, ids[i]);
}

/* --- members ------------------------------------------------------------------------------------------------------ */

static void test_taken_in_order(void **state)
{
	(void)state;
	put((struct ax_queue_entry[]){ task(1, 0, NOW - 1, 1), task(2, 0, NOW - 2, 1), task(3, 0, NOW - 1, 10),
		    { { AX_MEMBER_RUN, INT64_MAX }, 0, NOW, 5 }, task(5, 0, NOW + 1, 10) },
		5);
	struct answer got = take(0, NOW);
	assert_members(&got, 4, (int64_t[]){ 2, 3, 1, INT64_MAX });
	assert_int_equal(got.members[0].kind, AX_MEMBER_TASK);
	assert_int_equal(got.members[3].kind, AX_MEMBER_RUN);
	assert_int_equal(got.taken.next_ms, NOW + 1);
}

/* R20 */
static void test_taken_is_hidden_then_shows_again(void **state)
{
	(void)state;
	put_one(1, 1, NOW);
	struct answer got = take(1, NOW - 1);
	assert_members(&got, 0, NULL);
	assert_int_equal(got.taken.next_ms, NOW);
	got = take(1, NOW);
	assert_members(&got, 1, (int64_t[]){ 1 });
	assert_int_equal(got.taken.next_ms, NOW + AX_QUEUE_HIDE_MS);
	got = take_by(&w.b, 1, NOW + AX_QUEUE_HIDE_MS - 1, AX_QUEUE_TAKE_MAX);
	assert_members(&got, 0, NULL);
	got = take_by(&w.b, 1, NOW + AX_QUEUE_HIDE_MS, AX_QUEUE_TAKE_MAX);
	assert_members(&got, 1, (int64_t[]){ 1 });
}

static void test_put_moves_and_drops(void **state)
{
	(void)state;
	put_one(1, 2, NOW);
	put_one(1, 2, NOW + 50);
	assert_int_equal(size_of(2), 1);
	struct answer got = take(2, NOW);
	assert_members(&got, 0, NULL);
	put((struct ax_queue_entry[]){ task(2, 2, NOW + 10, 5), task(1, 2, 0, 5), task(77, 2, 0, 5) }, 3);
	got = take(2, NOW + 60);
	assert_members(&got, 1, (int64_t[]){ 2 });
	put_one(2, 2, 0);
	assert_int_equal(size_of(2), 0);
	got = take(2, NOW + 60);
	assert_members(&got, 0, NULL);
	assert_int_equal(got.taken.next_ms, 0);
}

static void test_limit(void **state)
{
	(void)state;
	for (int i = 1; i <= 5; i++)
		put_one(i, 3, NOW + i);
	struct answer got = take_by(&w.a, 3, NOW + 10, 0); /* a question that hides nothing */
	assert_members(&got, 0, NULL);
	assert_int_equal(got.taken.next_ms, NOW + 1);
	got = take_by(&w.a, 3, NOW + 10, 2);
	assert_members(&got, 2, (int64_t[]){ 1, 2 });
	assert_int_equal(got.taken.next_ms, NOW + 3);
	got = take_by(&w.b, 3, NOW + 10, 10);
	assert_members(&got, 3, (int64_t[]){ 3, 4, 5 });
}

static void test_kinds_are_apart(void **state)
{
	(void)state;
	put((struct ax_queue_entry[]){ task(9, 4, NOW, 5), { { AX_MEMBER_RUN, 9 }, 4, NOW, 5 } }, 2);
	assert_int_equal(size_of(4), 2);
	put((struct ax_queue_entry[]){ { { AX_MEMBER_RUN, 9 }, 4, 0, 5 } }, 1);
	struct answer got = take(4, NOW);
	assert_members(&got, 1, (int64_t[]){ 9 });
	assert_int_equal(got.members[0].kind, AX_MEMBER_TASK);
}

static void test_many_in_all_shards(void **state)
{
	static struct ax_queue_entry entries[AX_QUEUE_PUT_MAX];
	int64_t before = 0, after = 0;
	(void)state;
	for (int shard = 0; shard < AX_QUEUE_SHARDS; shard++)
		before += size_of(shard);
	for (int i = 0; i < AX_QUEUE_PUT_MAX; i++)
		entries[i] = task(1000000 + i, i % AX_QUEUE_SHARDS, NOW * INT64_C(1000000), 5);
	put(entries, AX_QUEUE_PUT_MAX);
	for (int shard = 0; shard < AX_QUEUE_SHARDS; shard++)
		after += size_of(shard);
	assert_int_equal(after - before, AX_QUEUE_PUT_MAX);
	for (int i = 0; i < AX_QUEUE_PUT_MAX; i++)
		entries[i].due_ms = 0;
	put(entries, AX_QUEUE_PUT_MAX);
	for (int shard = 0; shard < AX_QUEUE_SHARDS; shard++)
		before -= size_of(shard);
	assert_int_equal(before, 0);
}

/* Nobody gets what another one has, however they hurry. */
static void test_two_takers_share(void **state)
{
	static struct ax_queue_entry entries[AX_QUEUE_PUT_MAX];
	static bool seen[AX_QUEUE_PUT_MAX];
	enum { BATCHES = 50 };
	static struct answer got[BATCHES * 2];
	int total = 0;
	(void)state;
	for (int i = 0; i < AX_QUEUE_PUT_MAX; i++)
		entries[i] = task(i + 1, 5, NOW, 5);
	put(entries, AX_QUEUE_PUT_MAX);
	for (int i = 0; i < BATCHES * 2; i++) {
		struct seat *seat = i % 2 == 0 ? &w.a : &w.b;
		assert_true(seat->queue->ops->take(seat->queue, 5, NOW, 10, on_taken, &got[i]));
	}
	for (int i = 0; i < BATCHES * 2; i++) {
		await(&got[i], true);
		total += got[i].taken.n;
		for (int k = 0; k < got[i].taken.n; k++) {
			assert_false(seen[got[i].members[k].id - 1]);
			seen[got[i].members[k].id - 1] = true;
		}
	}
	assert_int_equal(total, AX_QUEUE_PUT_MAX);
}

/* --- marks -------------------------------------------------------------------------------------------------------- */

static void test_mark(void **state)
{
	(void)state;
	assert_int_equal(take(6, NOW).taken.mark, AX_QUEUE_UNMARKED);
	assert_false(load_end(&w.a, 6, "never begun"));
	assert_true(load_begin(&w.a, 6, "load-1"));
	put_one(1, 6, NOW + 100);
	assert_int_equal(take(6, NOW).taken.mark, AX_QUEUE_UNMARKED);
	assert_int_equal(size_of(6), 1); /* the note is none */
	assert_true(load_end(&w.a, 6, "load-1"));
	struct answer got = take_by(&w.b, 6, NOW, 10);
	assert_int_equal(got.taken.mark, AX_QUEUE_OURS);
	assert_int_equal(got.taken.next_ms, NOW + 100);
	put_one(1, 6, 0);
	got = take(6, NOW);
	assert_int_equal(got.taken.mark, AX_QUEUE_OURS);
	assert_int_equal(got.taken.next_ms, 0); /* the mark is none */
	assert_int_equal(size_of(6), 0);
	assert_true(load_begin(&w.a, 6, "load-2"));
	assert_true(load_end(&w.a, 6, "load-2"));
	assert_int_equal(take(6, NOW).taken.mark, AX_QUEUE_OURS);
}

static void test_the_newer_load_marks(void **state)
{
	(void)state;
	assert_true(load_begin(&w.a, 7, "first"));
	assert_true(load_begin(&w.b, 7, "second"));
	assert_false(load_end(&w.a, 7, "first"));
	assert_int_equal(take(7, NOW).taken.mark, AX_QUEUE_UNMARKED);
	assert_true(load_end(&w.b, 7, "second"));
	assert_int_equal(take(7, NOW).taken.mark, AX_QUEUE_OURS);
}

static void test_a_stranger_is_seen(void **state)
{
	(void)state;
	if (w.url == NULL)
		return; /* one memory is one installation */
	assert_true(load_begin(&w.stranger, 8, "theirs"));
	assert_int_equal(take(8, NOW).taken.mark, AX_QUEUE_UNMARKED);
	assert_true(load_end(&w.stranger, 8, "theirs"));
	assert_int_equal(take(8, NOW).taken.mark, AX_QUEUE_FOREIGN);
	assert_int_equal(take_by(&w.stranger, 8, NOW, 1).taken.mark, AX_QUEUE_OURS);
}

/* --- locks -------------------------------------------------------------------------------------------------------- */

static void test_lock_is_one_at_a_time(void **state)
{
	(void)state;
	assert_true(lock(&w.a, "load", "a", 60000));
	assert_false(lock(&w.b, "load", "b", 60000));
	assert_false(lock(&w.a, "load", "a", 60000));
	assert_true(lock(&w.b, "other", "b", 60000));
	assert_true(unlock(&w.a, "load", "a"));
	assert_true(lock(&w.b, "load", "b", 60000));
}

static void test_only_ones_own_lock_is_renewed_and_released(void **state)
{
	(void)state;
	assert_true(lock(&w.a, "own", "a", 60000));
	assert_false(unlock(&w.b, "own", "b"));
	assert_false(renew(&w.b, "own", "b", 60000));
	assert_false(lock(&w.b, "own", "b", 60000));
	assert_true(renew(&w.a, "own", "a", 60000));
	assert_true(unlock(&w.a, "own", "a"));
	assert_false(unlock(&w.a, "own", "a"));
	assert_false(renew(&w.a, "own", "a", 60000));
}

static void test_lock_ends_by_itself(void **state)
{
	(void)state;
	assert_true(lock(&w.a, "short", "a", 60000));
	assert_true(renew(&w.a, "short", "a", 50));
	w.mono_ms += 50;
	for (int64_t end = real_ms() + WAIT_MS; !lock(&w.b, "short", "b", 60000); wait_a_little())
		assert_true(real_ms() < end);
	assert_false(renew(&w.a, "short", "a", 60000));
	assert_false(unlock(&w.a, "short", "a"));
}

/* --- hints -------------------------------------------------------------------------------------------------------- */

static bool has_heard(struct seat *seat, const struct ax_hint *hint)
{
	bool found = false;
	uv_mutex_lock(&w.lock);
	for (int i = 0; i < seat->n_heard; i++)
		found = found ||
			(seat->heard[i].hint.kind == hint->kind && seat->heard[i].hint.shard == hint->shard &&
				seat->heard[i].hint.due_ms == hint->due_ms &&
				strcmp(seat->heard[i].group, hint->group_key) == 0);
	uv_mutex_unlock(&w.lock);
	return found;
}

static void test_hints_are_heard_by_all(void **state)
{
	static const struct ax_hint hints[] = {
		{ AX_HINT_READY, "payments \xe7\xbb\x84", 0, 0 },
		{ AX_HINT_EARLIER, "", 15, 1767225600000 },
		{ AX_HINT_CHANGED, "", 0, 0 },
	};
	(void)state;
	int64_t end = real_ms() + WAIT_MS;
	for (size_t i = 0; i < AX_COUNT(hints); i++) {
		while (!has_heard(&w.a, &hints[i]) || !has_heard(&w.b, &hints[i])) {
			assert_true(real_ms() < end);
			/* who listens only since now may have missed it */
			if (w.a.n_heard < HEARD_MAX - 4 && w.b.n_heard < HEARD_MAX - 4)
				assert_true(w.a.queue->ops->publish(w.a.queue, &hints[i]));
			wait_a_little();
			wait_a_little();
		}
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_in_order),
		cmocka_unit_test(test_taken_is_hidden_then_shows_again),
		cmocka_unit_test(test_put_moves_and_drops),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_kinds_are_apart),
		cmocka_unit_test(test_many_in_all_shards),
		cmocka_unit_test(test_two_takers_share),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_the_newer_load_marks),
		cmocka_unit_test(test_a_stranger_is_seen),
		cmocka_unit_test(test_lock_is_one_at_a_time),
		cmocka_unit_test(test_only_ones_own_lock_is_renewed_and_released),
		cmocka_unit_test(test_lock_ends_by_itself),
		cmocka_unit_test(test_hints_are_heard_by_all),
	};
	if (argc == 2 && strcmp(argv[1], "redis") == 0)
		w.url = getenv("AX_TEST_REDIS");
	if (argc != 2 || (w.url == NULL && strcmp(argv[1], "mem") != 0)) {
		fprintf(stderr, "usage: queue_contract mem, or queue_contract redis with AX_TEST_REDIS\n");
		return 2;
	}
	return cmocka_run_group_tests(tests, open_all, close_all);
}
