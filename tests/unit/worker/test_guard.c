#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>

#include "adapters/curl/url_target.h"
#include "base/arena.h"
#include "base/attr.h"
#include "core/target_guard.h"
#include "worker/http.h"

#define NEVER AX_TARGET_NEVER
#define PRIVATE AX_TARGET_PRIVATE
#define LOOPBACK AX_TARGET_LOOPBACK
#define PUBLIC AX_TARGET_PUBLIC

static const struct {
	const char *address;
	enum ax_target verdict;
} addresses[] = {
	{ "0.0.0.0", NEVER }, { "0.255.255.255", NEVER }, { "1.0.0.0", PUBLIC }, { "9.255.255.255", PUBLIC },
	{ "10.0.0.0", PRIVATE }, { "10.255.255.255", PRIVATE }, { "11.0.0.0", PUBLIC }, { "100.63.255.255", PUBLIC },
	{ "100.64.0.0", PRIVATE }, { "100.100.100.200", NEVER }, { "100.100.100.201", PRIVATE },
	{ "100.127.255.255", PRIVATE }, { "100.128.0.0", PUBLIC }, { "126.255.255.255", PUBLIC },
	{ "127.0.0.0", LOOPBACK }, { "127.0.0.1", LOOPBACK }, { "127.255.255.255", LOOPBACK }, { "128.0.0.0", PUBLIC },
	{ "168.63.129.15", PUBLIC }, { "168.63.129.16", NEVER }, { "169.253.255.255", PUBLIC },
	{ "169.254.0.0", NEVER }, { "169.254.169.254", NEVER }, { "169.255.0.0", PUBLIC }, { "172.15.255.255", PUBLIC },
	{ "172.16.0.0", PRIVATE }, { "172.31.255.255", PRIVATE }, { "172.32.0.0", PUBLIC }, { "192.0.0.8", NEVER },
	{ "192.0.1.0", PUBLIC }, { "192.0.2.1", NEVER }, { "192.88.99.1", NEVER }, { "192.167.255.255", PUBLIC },
	{ "192.168.0.0", PRIVATE }, { "192.168.255.255", PRIVATE }, { "192.169.0.0", PUBLIC },
	{ "198.17.255.255", PUBLIC }, { "198.18.0.0", NEVER }, { "198.19.255.255", NEVER }, { "198.20.0.0", PUBLIC },
	{ "198.51.100.7", NEVER }, { "203.0.113.7", NEVER }, { "223.255.255.255", PUBLIC }, { "224.0.0.0", NEVER },
	{ "239.255.255.255", NEVER }, { "240.0.0.0", NEVER }, { "255.255.255.255", NEVER }, { "::", NEVER },
	{ "::1", LOOPBACK }, { "::2", NEVER }, { "fe80::1", NEVER }, { "febf::1", NEVER }, { "fec0::1", NEVER },
	{ "ff02::1", NEVER }, { "fc00::1", PRIVATE }, { "fdff::1", PRIVATE }, { "fd00:ec2::254", NEVER },
	{ "fd00:ec2::253", PRIVATE }, { "2001:db8::1", NEVER }, { "3fff::1", NEVER }, { "100::1", NEVER },
	{ "2606:4700::1111", PUBLIC }, { "2a00:1450::1", PUBLIC }, { "4000::1", NEVER },
	/* IPv4 in its IPv6 clothes */
	{ "::ffff:127.0.0.1", LOOPBACK }, { "::ffff:7f00:1", LOOPBACK }, { "::ffff:10.1.2.3", PRIVATE },
	{ "::ffff:169.254.169.254", NEVER }, { "::ffff:0.0.0.0", NEVER }, { "::ffff:8.8.8.8", PUBLIC },
	{ "::ffff:0:127.0.0.1", LOOPBACK }, { "::127.0.0.1", LOOPBACK }, { "::10.0.0.1", PRIVATE },
	{ "::a9fe:a9fe", NEVER }, { "64:ff9b::127.0.0.1", LOOPBACK }, { "64:ff9b::192.168.1.1", PRIVATE },
	{ "64:ff9b::169.254.169.254", NEVER }, { "64:ff9b::8.8.8.8", PUBLIC }, { "64:ff9b:1::7f00:1", NEVER },
	{ "64:ff9b:1:7f00:0:100::", NEVER }, { "2002:7f00:1::1", LOOPBACK }, { "2002:a00:1::", PRIVATE },
	{ "2002:a9fe:a9fe::", NEVER }, { "2002:808:808::", PUBLIC },
	{ "2001:0:5ef5:79fb:0:0:80ff:fffe", LOOPBACK }, /* Teredo of 127.0.0.1 */
	{ "2001:0:5ef5:79fb:0:0:5601:5601", NEVER },    /* Teredo of 169.254.169.254 */
};

static unsigned parse(const char *text, unsigned char out[16])
{
	if (inet_pton(AF_INET, text, out) == 1)
		return 4;
	assert_int_equal(inet_pton(AF_INET6, text, out), 1);
	return 16;
}

static void test_every_range_and_its_borders(void **state)
{
	(void)state;
	for (size_t i = 0; i < AX_COUNT(addresses); i++) {
		unsigned char bytes[16];
		unsigned size = parse(addresses[i].address, bytes);
		if (ax_target_judge(bytes, size) != addresses[i].verdict)
			fail_msg("%s is judged %d", addresses[i].address, (int)ax_target_judge(bytes, size));
	}
	assert_int_equal(ax_target_judge((const uint8_t *)"abcdef", 6), NEVER);
}

static void test_ports(void **state)
{
	(void)state;
	static const int plain[] = { 80, 443, 1024, 8080, 65535 };
	static const int odd[] = { 0, 1, 22, 25, 81, 1023, 2375, 2376, 3306, 5432, 6379, 9200, 10250, 11211, 27017,
		65536 };
	for (size_t i = 0; i < AX_COUNT(plain); i++)
		assert_true(ax_target_port_is_plain(plain[i]));
	for (size_t i = 0; i < AX_COUNT(odd); i++)
		assert_false(ax_target_port_is_plain(odd[i]));
}

static bool may(const struct policy *policy, const char *host, int port, const char *address)
{
	static const int ours[] = { 8080 };
	unsigned char bytes[16];
	unsigned size = parse(address, bytes);
	return http_may_call(policy, ours, 1, host, port, bytes, size);
}

static void test_policy_opens_by_host_and_port(void **state)
{
	(void)state;
	struct policy none = { 0 };
	assert_true(may(&none, "example.com", 443, "93.184.216.34"));
	assert_false(may(&none, "example.com", 6379, "93.184.216.34"));
	assert_false(may(&none, "example.com", 443, "10.0.0.1")); /* a public name that leads inside */
	assert_false(may(&none, "localhost", 9000, "127.0.0.1"));

	struct policy listed = { 0 };
	listed.http_allow = json_pack("[s,s,s,s]", "localhost:9000", "db.internal:6379", "[::1]:9000", "meta:80");
	assert_true(may(&listed, "LocalHost", 9000, "127.0.0.1"));
	assert_false(may(&listed, "localhost", 9001, "127.0.0.1"));
	assert_true(may(&listed, "db.internal", 6379, "10.0.0.1"));
	assert_true(may(&listed, "::1", 9000, "::1"));
	assert_false(may(&listed, "meta", 80, "169.254.169.254")); /* no list opens this */
	json_decref(listed.http_allow);

	struct policy dev = { 0 };
	policy_dev(&dev);
	assert_true(may(&dev, "localhost", 9000, "127.0.0.1"));
	assert_true(may(&dev, "localhost", 9000, "::ffff:127.0.0.1"));
	assert_false(may(&dev, "localhost", 8080, "127.0.0.1")); /* the server's own */
	assert_false(may(&dev, "nas", 80, "192.168.1.2"));
	assert_false(may(&dev, "x", 80, "169.254.169.254"));
}

static void test_urls_are_read_one_way(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		const char *host; /* NULL: refused */
		int port;
	} cases[] = {
		{ "http://example.com", "example.com", 80 },
		{ "https://Example.com:8443/a?b#c", "Example.com", 8443 },
		{ "http://[::1]:81/", "::1", 81 },
		{ "http://2130706433/", "127.0.0.1", 80 },
		{ "http://0x7f.1/", "127.0.0.1", 80 },
		{ "http://017700000001/", "127.0.0.1", 80 },
		{ "http://127.0.0.1:0/", NULL, 0 },
		{ "http://127.0.0.1:65536/", NULL, 0 },
		{ "http://user@example.com/", NULL, 0 },
		{ "http://user:pw@example.com/", NULL, 0 },
		{ "http://a@b@example.com/", NULL, 0 },
		{ "http://example.com\\@127.0.0.1/", NULL, 0 },
		{ "http:\\\\127.0.0.1/", NULL, 0 },
		{ "http://exa mple.com/", NULL, 0 },
		{ "http://example.com/\r\nHost: x", NULL, 0 },
		{ "http://example.com/\t", NULL, 0 },
		{ "http://[fe80::1%25lo]/", NULL, 0 },
		{ "http://[v1.x]/", NULL, 0 },
		{ "http://exa%00mple.com/", NULL, 0 },
		{ "http://exa%20mple.com/", NULL, 0 },
		{ "http:///path", NULL, 0 },
		{ "http://", NULL, 0 },
		{ "//example.com/", NULL, 0 },
		{ "example.com", NULL, 0 },
		{ "ftp://example.com/", NULL, 0 },
		{ "file:///etc/passwd", NULL, 0 },
		{ "", NULL, 0 },
	};
	struct ax_arena arena = { 0 };
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_url_target target;
		struct ax_err err;
		enum ax_status st = ax_url_target_read(cases[i].url, &arena, &target, &err);
		if ((st == AX_OK) != (cases[i].host != NULL))
			fail_msg("'%s' is %s", cases[i].url, st == AX_OK ? target.host : err.msg);
		if (st == AX_OK) {
			assert_string_equal(target.host, cases[i].host);
			assert_int_equal(target.port, cases[i].port);
			assert_null(strchr(target.url, '#'));
		}
	}
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_range_and_its_borders),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_policy_opens_by_host_and_port),
		cmocka_unit_test(test_urls_are_read_one_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
