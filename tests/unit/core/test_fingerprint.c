#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/attr.h"
#include "base/utf8.h"
#include "core/fingerprint.h"
#include "core/message.h"

static struct ax_run failed(const char *message)
{
	return (struct ax_run){
		.task_id = 1,
		.executor_key = "exec",
		.reason = "exit",
		.result_code = 1,
		.result_msg = message,
	};
}

static int64_t hash_of(const char *message)
{
	struct ax_run run = failed(message);
	return ax_fingerprint_of(&run).hash;
}

/* Each line is what many runs said of one failure, as far as it can be seen from the text. */
static const char *const together[][4] = {
	{ "exit status 1: connection to 10.2.3.4:5432 refused after 30s",
		"exit status 1: connection to 10.2.3.17:5433 refused after 1m30.5s",
		"exit status 1: connection to 192.168.0.1:5432 refused after 900ms" },
	{ "psql: error: connection to server at \"db1.prod\" (10.0.0.8), port 5432 failed: Connection refused",
		"psql: error: connection to server at \"db2.prod\" (10.0.0.9), port 5432 failed: Connection refused" },
	{ "order 81723 not found", "order 5 not found", "order 1,234,567 not found" },
	{ "run 3fa85f64-5717-4562-b3fc-2c963f66afa6 vanished", "run 00000000-0000-4000-8000-0123456789AB vanished" },
	{ "commit 1b6d3586 has no parent", "commit 9f2c1e0d77aa has no parent" },
	{ "2026-06-01T12:00:00Z ERROR no space left on device",
		"2025-12-31T23:59:59.123+08:00 ERROR no space left on device",
		"2026-06-01 12:00:00,123 ERROR no space left on device" },
	{ "[Mon Jun  1 12:00:00 2026] child died", "[Tue Dec 30 01:02:03 2025] child died" },
	{ "[01/Jun/2026:12:00:00 +0000] upstream gone", "[28/Feb/2025:01:02:03 +0800] upstream gone" },
	{ "Sun, 31 May 2026 10:00:00 GMT: certificate expired", "Wed, 7 Jan 2026 01:00:00 GMT: certificate expired" },
	{ "2026/06/01 12:00:00 main.go:17: dial tcp [::1]:6379: connect: connection refused",
		"2026/07/13 02:00:00 main.go:18: dial tcp [fe80::1:2]:6380: connect: connection refused" },
	{ "cannot open /tmp/ax-8f3k2/in.csv: No such file", "cannot open /tmp/tmpq/other.csv: No such file" },
	{ "/var/lib/orders/10293/a.json is empty", "/var/lib/orders/4/a.json is empty" },
	{ "/data/2026-06-01/report.csv: permission denied", "/data/2026-06-02/report.csv: permission denied" },
	{ "GET https://api.example.org/v1/users/42?token=abc&x=1 timed out",
		"GET https://api.example.org/v1/users/17?token=zzz timed out" },
	{ "KeyError: 'customer_17'", "KeyError: 'customer_x'" },
	{ "Duplicate entry 'John Smith' for key 'users.name'", "Duplicate entry 'Zoë' for key 'users.name'" },
	{ "mail to bob.smith+x@example.org bounced", "mail to alice@mail.example.com bounced" },
	{ "java.lang.IllegalStateException: com.acme.Pool@1b6d3586 is closed",
		"java.lang.IllegalStateException: com.acme.Pool@6f2d9a is closed" },
	{ "NullPointerException\n\tat com.acme.A.run(A.java:17)\n\tat com.acme.B.go(B.java:170)",
		"NullPointerException\n\tat com.acme.A.run(A.java:19)\n\tat com.acme.B.go(B.java:182)" },
	{ "Traceback (most recent call last):\n  File \"/app/a.py\", line 17, in main\n  File \"/app/b.py\", line 3, "
	  "in get\nValueError: bad id 5",
		"Traceback (most recent call last):\n  File \"/app/a.py\", line 18, in main\n  File \"/app/b.py\", "
		"line 4, in get\nValueError: bad id 17" },
	{ "pod web-7d9f8b6c5-x2k9q evicted", "pod web-6c5d7d9f8-k3j9x evicted" },
	{ "thread [http-nio-8080-exec-3] blocked", "thread [http-nio-8081-exec-17] blocked" },
	{ "segfault at 0x7ffee4a0 ip 00007f3a", "segfault at 0xdeadbeef ip 00007f3b" },
	{ "ids 1, 2, 3 were rejected", "ids 17, 4 were rejected", "ids 9 were rejected" },
	{ "\x1b[31mERROR\x1b[0m disk full", "ERROR disk full" },
	{ "disk   full  ", "disk full" },
	{ "used 97.5% of 16GiB", "used 99% of 8GiB" },
	{ "offset -5 is out of range", "offset 17 is out of range" },
	{ "HTTP status 500: {\"error\":\"no such account\",\"id\":\"a1\"}",
		"HTTP status 500: {\"error\":\"no such account\",\"id\":\"b2\"}" },
	{ "\xe8\xae\xa2\xe5\x8d\x95 81723 \xe4\xb8\x8d\xe5\xad\x98\xe5\x9c\xa8",
		"\xe8\xae\xa2\xe5\x8d\x95 5 \xe4\xb8\x8d\xe5\xad\x98\xe5\x9c\xa8" },
	{ "token eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 is no good",
		"token eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVDEifQ is no good" },
};

/* Each pair differs in what went wrong. */
static const char *const apart[][2] = {
	{ "connection refused", "connection reset by peer" },
	{ "ORA-00942: table or view does not exist", "ORA-01017: table or view does not exist" },
	{ "SQL0803N", "SQL0911N" },
	{ "failed with errno 13", "failed with errno 2" },
	{ "upstream answered status=502", "upstream answered status=504" },
	{ "HTTP status 500: {\"error\":\"no such account\"}", "HTTP status 500: {\"error\":\"account is locked\"}" },
	{ "HTTP status 400: {\"code\": \"INVALID_IBAN\"}", "HTTP status 400: {\"code\": \"EXPIRED\"}" },
	{ "GET https://api.example.org/users timed out", "GET https://auth.example.org/users timed out" },
	{ "/var/lib/orders/1 is empty", "/var/lib/users/1 is empty" },
	{ "NullPointerException\n\tat com.acme.A.run(A.java:17)",
		"NullPointerException\n\tat com.acme.C.run(C.java:17)" },
	{ "Traceback (most recent call last):\n  File \"/app/a.py\", line 17, in main\nValueError: bad",
		"Traceback (most recent call last):\n  File \"/app/a.py\", line 17, in main\nKeyError: bad" },
	{ "it may be full", "it must be full" },
	{ "can't connect", "can't read" },
};

static void test_same_failures_fall_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < AX_COUNT(together); i++)
		for (size_t k = 1; k < AX_COUNT(together[i]) && together[i][k] != NULL; k++)
			if (hash_of(together[i][0]) != hash_of(together[i][k])) {
				char a[500], b[500];
				ax_message_normalise(together[i][0], a, sizeof(a));
				ax_message_normalise(together[i][k], b, sizeof(b));
				fail_msg("not together:\n%s\n%s", a, b);
			}
}

static void test_other_failures_stay_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < AX_COUNT(apart); i++)
		if (hash_of(apart[i][0]) == hash_of(apart[i][1]))
			fail_msg("together: %s | %s", apart[i][0], apart[i][1]);
	for (size_t i = 0; i < AX_COUNT(together); i++)
		for (size_t k = 0; k < i; k++)
			if (hash_of(together[i][0]) == hash_of(together[k][0]))
				fail_msg("together: %s | %s", together[i][0], together[k][0]);
}

static void test_titles(void **state)
{
	static const char *const titles[][2] = {
		{ "exit status 1: connection to 10.2.3.4:5432 refused after 30s",
			"exit status 1: connection to <addr> refused after <n>" },
		{ "2026-06-01T12:00:00Z cannot open '/x'", "<time> cannot open <text>" },
		{ "[Mon Jun  1 12:00:00 2026] child 17 died", "[<time>] child <n> died" },
		{ "at 12:30 worker12 and utf8", "at <time> worker<n> and utf<n>" },
		{ "a.c:10:30: error", "a.c:<n>:<n>: error" },
		{ "the May release of v2.0.1 on port 80", "the May release of v<n>.<n> on port <n>" },
		{ "std::bad_alloc in a::b", "std::bad_alloc in a::b" },
		{ "\n\n  Traceback (most recent call last):\n x\nValueError: bad id 5\n", "ValueError: bad id <n>" },
		{ "GET https://api.example.org:8443/v1/users/42?a=b failed",
			"GET https://api.example.org:<n>/v<n>/users/<n>?<query> failed" },
		{ "", "exit, code 1" },
		{ "HTTP status 503", "HTTP status 503" },
		{ "[1, 2, 3]", "[<n>]" },
		{ "say \"x", "say \"x" },
		{ "{\"error\": \"user 5 is \\\"gone\\\"\", \"id\": \"x y\"}",
			"{\"error\": \"user <n> is \\\"gone\\\"\", \"id\": <text>}" },
	};
	(void)state;
	for (size_t i = 0; i < AX_COUNT(titles); i++) {
		struct ax_run run = failed(titles[i][0]);
		struct ax_fingerprint print = ax_fingerprint_of(&run);
		const char *title = print.title;
		assert_string_equal(title, titles[i][1]);
	}
}

static void test_what_counts_beside_the_message(void **state)
{
	(void)state;
	struct ax_run run = failed("disk full"), other = run;
	int64_t hash = ax_fingerprint_of(&run).hash;
	other.task_id = 2; /* a cause that can be named is shared by tasks */
	other.gid = 5;
	other.worker = "w2";
	other.version = 7;
	assert_true(ax_fingerprint_of(&other).hash == hash);
	other = run;
	other.executor_key = "http";
	assert_true(ax_fingerprint_of(&other).hash != hash);
	other = run;
	other.result_code = 2;
	assert_true(ax_fingerprint_of(&other).hash != hash);
	other = run;
	other.reason = "refused";
	assert_true(ax_fingerprint_of(&other).hash != hash);
}

static void test_what_says_nothing_is_of_one_task(void **state)
{
	static const char *const messages[] = { "", "exit status 1", "HTTP status 500", "ended by signal SIGSEGV" };
	(void)state;
	for (size_t i = 0; i < AX_COUNT(messages); i++) {
		struct ax_run run = failed(messages[i]), other = run;
		other.task_id = 2;
		assert_true(ax_fingerprint_of(&run).hash != ax_fingerprint_of(&other).hash);
	}
	struct ax_run run = failed("time limit of 60 s reached"), other = run;
	run.reason = other.reason = "timeout";
	other.task_id = 2;
	assert_true(ax_fingerprint_of(&run).hash != ax_fingerprint_of(&other).hash);
	run.reason = other.reason = "lost"; /* the worker's fault, not the tasks' */
	assert_true(ax_fingerprint_of(&run).hash == ax_fingerprint_of(&other).hash);
}

static void test_long_texts_are_cut_between_characters(void **state)
{
	char message[4000], text[64];
	(void)state;
	for (size_t i = 0; i + 3 < sizeof(message); i += 3)
		memcpy(message + i, "\xe7\xbb\x84", 4);
	for (size_t size = 1; size < sizeof(text); size++) {
		size_t len = ax_message_normalise(message, text, size);
		assert_true(len < size && len == strlen(text) && len + 3 >= size - (size > 1));
		assert_true(ax_utf8_valid(text, len));
	}
	struct ax_run run = failed(message);
	assert_true(strlen(ax_fingerprint_of(&run).title) <= AX_FAILURE_TITLE_MAX);
}

static void test_normalising_twice_changes_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < AX_COUNT(together); i++) {
		char once[1000], twice[1000];
		ax_message_normalise(together[i][0], once, sizeof(once));
		ax_message_normalise(once, twice, sizeof(twice));
		assert_string_equal(twice, once);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_failures_fall_together),
		cmocka_unit_test(test_other_failures_stay_apart),
		cmocka_unit_test(test_titles),
		cmocka_unit_test(test_what_counts_beside_the_message),
		cmocka_unit_test(test_what_says_nothing_is_of_one_task),
		cmocka_unit_test(test_long_texts_are_cut_between_characters),
		cmocka_unit_test(test_normalising_twice_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
