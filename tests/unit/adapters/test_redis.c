/* What of the Redis adapter needs no Redis: its URLs, the slots of keys. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "adapters/redis/slot.h"
#include "adapters/redis/url.h"

static struct ax_redis_url read_url(const char *text)
{
	struct ax_redis_url url;
	struct ax_err err = { 0 };
	if (ax_redis_url_read(text, &url, &err) != AX_OK)
		fail_msg("%s: %s", text, err.msg);
	return url;
}

static void test_single(void **state)
{
	(void)state;
	struct ax_redis_url url = read_url("redis://10.0.0.7:6380/3");
	assert_int_equal(url.kind, AX_REDIS_SINGLE);
	assert_false(url.tls);
	assert_string_equal(url.at[0].host, "10.0.0.7");
	assert_int_equal(url.at[0].port, 6380);
	assert_int_equal(url.db, 3);
	assert_string_equal(url.password, "");
	url = read_url("redis://cache.example");
	assert_int_equal(url.at[0].port, 6379);
	assert_int_equal(url.db, 0);
	url = read_url("rediss://[::1]:7000/");
	assert_true(url.tls);
	assert_string_equal(url.at[0].host, "::1");
	assert_int_equal(url.at[0].port, 7000);
}

static void test_credentials(void **state)
{
	(void)state;
	struct ax_redis_url url = read_url("redis://ax:p%40ss%2Fw%3ard@h:1/0");
	assert_string_equal(url.user, "ax");
	assert_string_equal(url.password, "p@ss/w:rd");
	url = read_url("redis://:se:cr@et@h:1");
	assert_string_equal(url.user, "");
	assert_string_equal(url.password, "se:cr@et");
	url = read_url("redis-cluster://u:p%25@a:1,b:2");
	assert_string_equal(url.password, "p%");
	url = read_url("redis-sentinel://a%40x@a:1/m"); /* the password comes from elsewhere */
	assert_string_equal(url.user, "a@x");
	assert_string_equal(url.password, "");
}

static void test_many_addresses(void **state)
{
	(void)state;
	struct ax_redis_url url = read_url("redis-cluster://a:1,[fe80::2]:2,c");
	assert_int_equal(url.kind, AX_REDIS_CLUSTER);
	assert_int_equal(url.n, 3);
	assert_string_equal(url.at[1].host, "fe80::2");
	assert_int_equal(url.at[2].port, 6379);
	url = read_url("rediss-sentinel://:pw@s1,s2:5000/the-primary/4");
	assert_int_equal(url.kind, AX_REDIS_SENTINEL);
	assert_true(url.tls);
	assert_int_equal(url.at[0].port, 26379);
	assert_int_equal(url.at[1].port, 5000);
	assert_string_equal(url.primary, "the-primary");
	assert_int_equal(url.db, 4);
	assert_int_equal(read_url("redis-sentinel://s1/m").db, 0);
}

static void test_refused_without_telling_secrets(void **state)
{
	static const char *const bad[] = {
		"",
		"redis:",
		"redis://",
		"http://h:1",
		"redis://:s3cret@",
		"redis://u:s3cret@h:0",
		"redis://u:s3cret@h:x",
		"redis://u:s3cret@h:65536",
		"redis://u:s3cret@h:1/x",
		"redis://u:s3cret@h:1/-1",
		"redis://u:s3cret@h:1/0/1",
		"redis://u:s3cret@a:1,b:2",
		"redis://@h:1",
		"redis://u:@h:1",
		"redis://u:s3cret%@h:1",
		"redis://u:s3cret%0@h:1",
		"redis://u:s3cret%00@h:1",
		"redis://u:s3cret%zz@h:1",
		"redis-cluster://u:s3cret@",
		"redis-cluster://a:1,",
		"redis-cluster://a:1,,b:1",
		"redis-cluster://a:1/0",
		"redis-sentinel://a:1",
		"redis-sentinel://a:1/",
		"redis-sentinel://a:1//0",
		"redis-sentinel://a:1/m/x",
		"redis://[::1:1",
		"redis://[::1]x:1",
		"redis://h :1",
		"redis://[]:1",
		"redis-cluster://a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a",
	};
	(void)state;
	for (size_t i = 0; i < AX_COUNT(bad); i++) {
		struct ax_redis_url url;
		struct ax_err err = { 0 };
		if (ax_redis_url_read(bad[i], &url, &err) != AX_INVALID)
			fail_msg("%s was taken", bad[i]);
		assert_string_equal(err.field, "queue");
		assert_true(err.msg[0] != '\0');
		assert_null(strstr(err.msg, "s3cret"));
	}
}

static void test_long_parts_are_refused(void **state)
{
	char text[1200];
	struct ax_redis_url url;
	(void)state;
	snprintf(text, sizeof(text), "redis://:%0512d@h:1", 7);
	assert_int_equal(ax_redis_url_read(text, &url, NULL), AX_OK);
	snprintf(text, sizeof(text), "redis://:%0513d@h:1", 7);
	assert_int_equal(ax_redis_url_read(text, &url, NULL), AX_INVALID);
	snprintf(text, sizeof(text), "redis://%0254d:1", 7);
	assert_int_equal(ax_redis_url_read(text, &url, NULL), AX_INVALID);
	snprintf(text, sizeof(text), "redis-sentinel://h:1/%0129d", 7);
	assert_int_equal(ax_redis_url_read(text, &url, NULL), AX_INVALID);
}

static int slot(const char *key)
{
	return ax_redis_slot(key, strlen(key));
}

static void test_slots(void **state)
{
	(void)state;
	assert_int_equal(slot("123456789"), 12739);
	assert_int_equal(slot(""), 0);
	assert_int_equal(slot("{user1000}.following"), slot("user1000"));
	assert_int_equal(slot("ax:{s07}:due"), slot("s07"));
	assert_int_equal(slot("foo{bar}{zap}"), slot("bar"));
	assert_int_equal(slot("foo{{bar}}zap"), slot("{bar"));
	/* an empty tag, or one that is not closed, is none */
	assert_int_not_equal(slot("foo{}{bar}"), slot("bar"));
	assert_int_not_equal(slot("foo{bar"), slot("bar"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_many_addresses),
		cmocka_unit_test(test_refused_without_telling_secrets),
		cmocka_unit_test(test_long_parts_are_refused),
		cmocka_unit_test(test_slots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
