/* Channels: what they hear and when they are quiet; how long a delivery waits. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/attr.h"
#include "base/rfc3339.h"
#include "core/alert_text.h"
#include "port/zones.h"

static int64_t at(const char *text)
{
	int64_t ms;
	assert_true(ax_rfc3339_parse(text, strlen(text), &ms));
	return ms;
}

static void test_words(void **state)
{
	(void)state;
	assert_true(ax_has_word("a b", "a"));
	assert_true(ax_has_word("a, b;c", "b"));
	assert_true(ax_has_word(" c\n", "c"));
	assert_false(ax_has_word("ab b-c", "b"));
	assert_false(ax_has_word("", "a"));
	assert_false(ax_has_word("a,,b", ""));
}

static void test_rules_have_names(void **state)
{
	(void)state;
	for (int rule = 1; rule < AX_ALERT_RULES; rule++) {
		const char *name = ax_alert_rule_name((enum ax_alert_rule)rule);
		assert_true(name[0] != '\0');
		assert_int_equal(ax_alert_rule_find(name), rule);
	}
	assert_int_equal(ax_alert_rule_find(""), 0);
	assert_int_equal(ax_alert_rule_find("nope"), 0);
	assert_string_equal(ax_alert_rule_name((enum ax_alert_rule)0), "");
	assert_string_equal(ax_alert_rule_name(AX_ALERT_RULES), "");
}

static void test_hearing(void **state)
{
	(void)state;
	struct ax_channel channel = { .enabled = true, .rules = "", .group_keys = "" };
	assert_true(ax_channel_hears(&channel, AX_ALERT_FAILED, "g"));
	channel.rules = "late failed";
	assert_true(ax_channel_hears(&channel, AX_ALERT_FAILED, "g"));
	assert_false(ax_channel_hears(&channel, AX_ALERT_MISSED, "g"));
	assert_false(ax_channel_hears(&channel, AX_ALERT_LATE_FINISH, "g"));
	channel.group_keys = "h";
	assert_false(ax_channel_hears(&channel, AX_ALERT_FAILED, "g"));
	assert_true(ax_channel_hears(&channel, AX_ALERT_FAILED, ""));
	channel.enabled = false;
	assert_false(ax_channel_hears(&channel, AX_ALERT_FAILED, ""));
}

static void test_quiet_hours(void **state)
{
	(void)state;
	struct ax_zones *zones = ax_zoneinfo_open(NULL);
	enum { NONE = 0, NIGHT, LUNCH, SPRING, AUTUMN };
	static const struct {
		int64_t from, to; /* minutes of the day */
	} hours[] = {
		[NONE] = { 300, 300 },
		[NIGHT] = { 22 * 60, 7 * 60 + 30 },
		[LUNCH] = { 12 * 60, 13 * 60 },
		[SPRING] = { 60, 150 }, /* ends at 02:30, which the clock jumps over on 2026-03-29 */
		[AUTUMN] = { 60, 150 }, /* ends at 02:30, which the clock shows twice on 2026-10-25 */
	};
	static const struct {
		int hours;
		const char *zone, *now, *until; /* until = now: not quiet */
	} cases[] = {
		{ NONE, "UTC", "2026-06-01T05:00:00Z", "2026-06-01T05:00:00Z" },
		{ NIGHT, "UTC", "2026-06-01T21:59:59.999Z", "2026-06-01T21:59:59.999Z" },
		{ NIGHT, "UTC", "2026-06-01T22:00:00Z", "2026-06-02T07:30:00Z" },
		{ NIGHT, "UTC", "2026-06-02T00:00:00Z", "2026-06-02T07:30:00Z" },
		{ NIGHT, "UTC", "2026-06-02T07:29:59.999Z", "2026-06-02T07:30:00Z" },
		{ NIGHT, "UTC", "2026-06-02T07:30:00Z", "2026-06-02T07:30:00Z" },
		{ NIGHT, "Asia/Shanghai", "2026-06-01T14:00:00Z", "2026-06-01T23:30:00Z" },
		{ NIGHT, "Asia/Shanghai", "2026-06-01T13:59:00Z", "2026-06-01T13:59:00Z" },
		{ LUNCH, "America/New_York", "2026-06-01T16:00:00Z", "2026-06-01T17:00:00Z" },
		{ LUNCH, "America/New_York", "2026-06-01T17:00:00Z", "2026-06-01T17:00:00Z" },
		{ SPRING, "Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z" },
		{ AUTUMN, "Europe/Berlin", "2026-10-25T00:10:00Z", "2026-10-25T00:30:00Z" },
		{ AUTUMN, "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-25T01:30:00Z" },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_channel channel = {
			.quiet_from = hours[cases[i].hours].from,
			.quiet_to = hours[cases[i].hours].to,
		};
		const struct ax_tz *tz = ax_zones_find(zones, cases[i].zone);
		assert_non_null(tz);
		if (ax_channel_quiet_until(&channel, tz, at(cases[i].now)) != at(cases[i].until))
			fail_msg("case %zu: %s %s", i, cases[i].zone, cases[i].now);
	}
	ax_zoneinfo_close(zones);
}

static void test_tries_take_about_a_day(void **state)
{
	(void)state;
	int64_t sum = 0;
	for (int64_t attempts = 1; attempts < AX_DELIVERY_TRIES; attempts++) {
		int64_t most = ax_delivery_delay_ms(attempts, 0), least = most;
		for (uint64_t random = 0; random < 1000; random++) {
			int64_t delay = ax_delivery_delay_ms(attempts, random * 7919);
			least = AX_MIN(least, delay);
			most = AX_MAX(most, delay);
		}
		int64_t middle = attempts < 10 ? INT64_C(5000) << (attempts - 1) : 1800000;
		assert_true(least >= middle * 9 / 10 && most <= middle * 11 / 10 && least < most);
		sum += middle;
	}
	assert_true(sum > 23 * 3600000 && sum < 25 * 3600000);
}

static void test_texts(void **state)
{
	(void)state;
	const int64_t open = at("2026-06-01T08:00:00.500Z");
	static const struct {
		enum ax_alert_rule rule;
		enum ax_delivery_kind kind;
		enum ax_language language;
		const char *title, *body;
	} cases[] = {
		{ AX_ALERT_FAILED, AX_TELL_OPEN, AX_ENGLISH, "nightly failed",
			"Run 99 is due for 1 h 6 min and no worker has it yet; 30 s are allowed.\ngroup: ops\n"
			"since: 2026-06-01T08:00:00+00:00\ncount: 3\nlast seen: 2026-06-01T08:01:30+00:00\ntask: 17\n"
			"run: 99" },
		{ AX_ALERT_FAILED, AX_TELL_RESOLVED, AX_ENGLISH, "resolved: nightly failed",
			"group: ops\nsince: 2026-06-01T08:00:00+00:00\ncount: 3\nended: 2026-06-03T08:00:00+00:00\n"
			"lasted: 2 d\nhow: run 100 succeeded\ntask: 17\nrun: 99" },
		{ AX_ALERT_BACKLOG, AX_TELL_REMINDER, AX_CHINESE, "仍未恢复：分组 ops：有 4000 次运行在等待",
			"运行 99 到期已 1 小时 6 分钟，仍未派发；允许 30 "
			"秒。\n分组：ops\n开始：2026-06-01T08:00:00+00:00\n"
			"次数：3\n最近一次：2026-06-01T08:01:30+00:00\n任务：17\n运行：99" },
		{ AX_ALERT_LATE, AX_TELL_RESOLVED, AX_CHINESE, "已恢复：nightly 迟到 1 小时 6 分钟（已派发或仍在等待）",
			"分组：ops\n开始：2026-06-01T08:00:00+00:00\n次数：3\n结束：2026-06-03T08:00:00+00:00\n"
			"持续：2 天\n说明：运行 100 成功\n任务：17\n运行：99" },
		{ AX_ALERT_LATE, AX_TELL_OPEN, AX_ENGLISH, "nightly began 1 h 6 min late, or still waits", NULL },
		{ AX_ALERT_ABSENCE, AX_TELL_OPEN, AX_CHINESE, "nightly 已有 1 小时 6 分钟 没有成功", NULL },
		{ AX_ALERT_MISSED, AX_TELL_OPEN, AX_ENGLISH, "nightly missed 4000 fires", NULL },
		{ AX_ALERT_LATE_FINISH, AX_TELL_OPEN, AX_CHINESE, "nightly 未按时完成", NULL },
		{ AX_ALERT_STALLED, AX_TELL_OPEN, AX_ENGLISH, "nightly makes no progress", NULL },
		{ AX_ALERT_WORKER_LOST, AX_TELL_RESOLVED, AX_CHINESE, "已恢复：节点 nightly 失去联系", NULL },
		{ AX_ALERT_FAILURE_GROUP, AX_TELL_OPEN, AX_ENGLISH, "failures of one kind: nightly", NULL },
		{ AX_ALERT_FAILED, AX_TELL_TEST, AX_ENGLISH, "test message: this channel works", "" },
	};
	struct ax_arena arena = { 0 };
	const struct ax_said seen = { AX_SAY_ALERT_LATE_WAITS,
		{ ax_id_param(&arena, "run", 99), ax_number_param("late_ms", 4000000),
			ax_number_param("allowed_ms", 30000) } };
	const struct ax_said over = { AX_SAY_OVER_SUCCEEDED, { ax_id_param(&arena, "run", 100) } };
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		const struct ax_alert_reader reader = { &arena, cases[i].language, ax_tz_utc() };
		struct ax_alert alert = {
			.rule = cases[i].rule,
			.group_key = "ops",
			.subject = "nightly",
			.detail = ax_said_keep(&arena, &seen),
			.value = 4000,
			.bound = 3660,
			.count = 3,
			.task_id = 17,
			.gid = 99,
			.open_time = open,
			.seen_time = open + 90000,
			.resolve_time = open + 2 * 86400000,
			.resolve_note = ax_said_keep(&arena, &over),
		};
		struct ax_buf title, body;
		ax_buf_init(&title, 1000);
		ax_buf_init(&body, 1000);
		ax_alert_title(&reader, &alert, cases[i].kind, &title);
		assert_string_equal(title.data, cases[i].title);
		ax_alert_body(&reader, &alert, cases[i].kind, &body);
		if (cases[i].body != NULL)
			assert_string_equal(body.data == NULL ? "" : body.data, cases[i].body);
		ax_buf_done(&title);
		ax_buf_done(&body);
	}
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_rules_have_names),
		cmocka_unit_test(test_hearing),
		cmocka_unit_test(test_quiet_hours),
		cmocka_unit_test(test_tries_take_about_a_day),
		cmocka_unit_test(test_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
