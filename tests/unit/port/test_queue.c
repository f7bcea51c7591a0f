/* What all due queues have in common: shards, scores, and how members and hints are written. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/limits.h"
#include "port/queue.h"

static void test_shards_are_spread(void **state)
{
	int seen[AX_QUEUE_SHARDS] = { 0 };
	char group[32];
	(void)state;
	for (int i = 0; i < 1600; i++) {
		snprintf(group, sizeof(group), "group-%d", i);
		int shard = ax_queue_shard(group);
		assert_in_range(shard, 0, AX_QUEUE_SHARDS - 1);
		assert_int_equal(shard, ax_queue_shard(group));
		seen[shard]++;
	}
	for (int i = 0; i < AX_QUEUE_SHARDS; i++)
		assert_in_range(seen[i], 60, 140);
}

static void test_score(void **state)
{
	(void)state;
	assert_true(ax_queue_score(1000, 10) < ax_queue_score(1000, 1));
	assert_true(ax_queue_score(1000, 1) < ax_queue_score(1001, 10));
	assert_int_equal(ax_queue_score(1000, 5) / 16, 1000);
	assert_true(ax_queue_score(AX_TIME_MAX_MS, 1) < INT64_C(1) << 53); /* a double holds it */
}

static void test_members(void **state)
{
	static const char *const bad[] = { "", "t", "x1", "t0", "t-1", "t01", "t9223372036854775808", "t1 ", "1" };
	const struct ax_member member = { AX_MEMBER_RUN, INT64_MAX };
	struct ax_member read;
	char text[AX_MEMBER_TEXT];
	(void)state;
	ax_member_write(&member, text);
	assert_string_equal(text, "r9223372036854775807");
	assert_true(ax_member_read(text, strlen(text), &read));
	assert_int_equal(read.kind, AX_MEMBER_RUN);
	assert_int_equal(read.id, INT64_MAX);
	for (size_t i = 0; i < AX_COUNT(bad); i++)
		assert_false(ax_member_read(bad[i], strlen(bad[i]), &read));
}

static void check_hint(const struct ax_hint *hint, const char *as)
{
	char text[AX_HINT_TEXT], group[AX_QUEUE_NAME_MAX + 1];
	struct ax_hint read;
	ax_hint_write(hint, text);
	assert_string_equal(text, as);
	assert_true(ax_hint_read(text, strlen(text), group, &read));
	assert_int_equal(read.kind, hint->kind);
	assert_string_equal(read.group_key, hint->group_key);
	assert_int_equal(read.shard, hint->shard);
	assert_int_equal(read.due_ms, hint->due_ms);
}

static void test_hints(void **state)
{
	static const char *const bad[] = { "", "g", "g:", "e:", "e:1", "e:16:1", "e:-1:1", "e:1:0", "e:1:x", "c:x",
		"x:1", "e:1:1:1" };
	char group[AX_QUEUE_NAME_MAX + 1], text[AX_HINT_TEXT];
	struct ax_hint read;
	(void)state;
	check_hint(&(struct ax_hint){ AX_HINT_READY, "a:b c", 0, 0 }, "g:a:b c");
	check_hint(&(struct ax_hint){ AX_HINT_EARLIER, "", 15, 1767225600000 }, "e:15:1767225600000");
	check_hint(&(struct ax_hint){ AX_HINT_CHANGED, "", 0, 0 }, "c:");
	for (size_t i = 0; i < AX_COUNT(bad); i++)
		assert_false(ax_hint_read(bad[i], strlen(bad[i]), group, &read));
	assert_false(ax_hint_read("g:a\0b", 5, group, &read));
	snprintf(text, sizeof(text), "g:%0200d", 7);
	assert_true(ax_hint_read(text, 202, group, &read));
	snprintf(text, sizeof(text), "g:%0201d", 7);
	assert_false(ax_hint_read(text, 203, group, &read));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shards_are_spread),
		cmocka_unit_test(test_score),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_hints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
