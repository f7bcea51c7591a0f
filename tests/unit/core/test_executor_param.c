/* What the built-in executors take on every machine. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/attr.h"
#include "core/executor_param.h"

static void test_variables(void **state)
{
	(void)state;
	static const char *const denied[] = { "LD_PRELOAD", "LD_", "PYTHONPATH", "IFS", "AX_GID", "TRACEPARENT",
		"ENV" };
	static const char *const fine[] = { "HOME", "LD", "ENVIRONMENT", "MY_LD_PRELOAD", "ld_preload", "A" };
	for (size_t i = 0; i < AX_COUNT(denied); i++)
		assert_true(ax_env_is_denied(denied[i], true) && ax_env_is_denied(denied[i], false));
	for (size_t i = 0; i < AX_COUNT(fine); i++)
		assert_false(ax_env_is_denied(fine[i], false));
	assert_true(ax_env_is_denied("PATH", false));
	assert_false(ax_env_is_denied("PATH", true));
	assert_true(ax_env_is_name("_a1") && ax_env_is_name("A"));
	assert_false(ax_env_is_name("") || ax_env_is_name("1a") || ax_env_is_name("a-b") || ax_env_is_name("a=b"));
	assert_true(ax_env_matches("SECRET*", "SECRET_KEY") && ax_env_matches("*", "A") && ax_env_matches("A", "A"));
	assert_false(ax_env_matches("SECRET*", "SECRE") || ax_env_matches("A", "AB") || ax_env_matches("", "A"));
}

static void test_headers_and_methods(void **state)
{
	(void)state;
	static const char *const reserved[] = { "host", "Host", "AX-Gid", "ax-", "TRACEPARENT", "idempotency-key",
		"te" };
	for (size_t i = 0; i < AX_COUNT(reserved); i++)
		assert_true(ax_header_is_reserved(reserved[i]));
	assert_false(ax_header_is_reserved("Hosts") || ax_header_is_reserved("X-Team") || ax_header_is_reserved("AX"));
	assert_true(ax_header_is_name("X-Team") && ax_header_is_value("a\tb \xc3\xa9") && ax_header_is_value(""));
	assert_false(ax_header_is_name("") || ax_header_is_name("a b") || ax_header_is_name("a:"));
	assert_false(ax_header_is_value("a\r\nb: c") || ax_header_is_value("a\x7f"));
	assert_true(ax_method_is_known("GET") && ax_method_is_known("OPTIONS"));
	assert_false(ax_method_is_known("get") || ax_method_is_known("TRACE") || ax_method_is_known(""));
}

static void test_urls(void **state)
{
	(void)state;
	static const char *const fine[] = { "http://example.com", "HTTPS://Example.com:8443/a?b=c:d@e#f",
		"http://[::1]:81/", "http://[::1]", "http://a:/", "http://a:00080/", "http://a?x", "http://2130706433/",
		"http://m\xc3\xbcsli.example/" };
	static const struct {
		const char *url, *said;
	} bad[] = {
		{ "ftp://example.com/", "neither http nor https" },
		{ "javascript:alert(1)", "neither http nor https" },
		{ "file:///etc/passwd", "neither http nor https" },
		{ "", "neither http" },
		{ "//example.com/", "neither http nor https" },
		{ "http:/example.com", "http://HOST" },
		{ "http://", "http://HOST" },
		{ "http:///path", "http://HOST" },
		{ "http://user@example.com/", "user or password" },
		{ "http://user:pw@example.com", "user or password" },
		{ "http://@example.com?", "user or password" },
		{ "http://example.com\\@127.0.0.1/", "backslash" },
		{ "http://exa mple.com/", "blank" },
		{ "http://example.com/\r\nHost: x", "blank" },
		{ "http://[fe80::1%25lo]/", "zone" },
		{ "http://[::1/", "host" },
		{ "http://[]/", "host" },
		{ "http://[::1]x/", "host" },
		{ "http://:80/", "host" },
		{ "http://{host}:80/", "host" },
		{ "http://$HOST/", "host" },
		{ "http://a,b/", "host" },
		{ "http://[localhost]/", "host" },
		{ "http://a:0/", "port" },
		{ "http://a:65536/", "port" },
		{ "http://a:b/", "port" },
	};
	for (size_t i = 0; i < AX_COUNT(fine); i++)
		if (ax_url_fault(fine[i]) != NULL)
			fail_msg("%s: %s", fine[i], ax_url_fault(fine[i]));
	for (size_t i = 0; i < AX_COUNT(bad); i++) {
		const char *said = ax_url_fault(bad[i].url);
		if (said == NULL || strstr(said, bad[i].said) == NULL)
			fail_msg("%s: %s", bad[i].url, said != NULL ? said : "taken");
	}
	static char longest[AX_URL_MAX + 2];
	memset(longest, 'a', AX_URL_MAX + 1);
	memcpy(longest, "http://", 7);
	assert_non_null(ax_url_fault(longest));
	longest[AX_URL_MAX] = '\0';
	assert_null(ax_url_fault(longest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_headers_and_methods),
		cmocka_unit_test(test_urls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
