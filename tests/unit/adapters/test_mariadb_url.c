#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "adapters/mariadb/url.h"
#include "base/err.h"

static struct ax_mariadb_config read_fine(struct ax_arena *arena, const char *url)
{
	struct ax_mariadb_config config = { 0 };
	struct ax_err err = { 0 };
	if (ax_mariadb_read_url(url, arena, &config, &err) != AX_OK)
		fail_msg("%s: %s", url, err.msg);
	return config;
}

static void test_parts(void **state)
{
	struct ax_arena arena = { 0 };
	(void)state;
	struct ax_mariadb_config c = read_fine(&arena, "mysql://ax:secret@db.example:3307/axdb");
	assert_string_equal(c.user, "ax");
	assert_string_equal(c.password, "secret");
	assert_string_equal(c.host, "db.example");
	assert_int_equal(c.port, 3307);
	assert_string_equal(c.database, "axdb");
	assert_string_equal(c.socket, "");
	assert_string_equal(c.ca_file, "");
	assert_int_equal(c.tls, AX_MARIADB_TLS_AUTO);
	c = read_fine(&arena, "mysql://ax@localhost/axdb");
	assert_string_equal(c.password, "");
	assert_int_equal(c.port, 3306);
	c = read_fine(&arena, "mysql://ax:p@[::1]:3307/axdb");
	assert_string_equal(c.host, "::1");
	assert_int_equal(c.port, 3307);
	c = read_fine(&arena, "mysql://ax@[fe80::1]/axdb");
	assert_string_equal(c.host, "fe80::1");
	assert_int_equal(c.port, 3306);
	ax_arena_done(&arena);
}

static void test_escapes(void **state)
{
	struct ax_arena arena = { 0 };
	(void)state;
	struct ax_mariadb_config c = read_fine(&arena, "mysql://a%40x:p%2f%3F%25%c3%a9@h/d%20b");
	assert_string_equal(c.user, "a@x");
	assert_string_equal(c.password, "p/?%\xc3\xa9");
	assert_string_equal(c.database, "d b");
	c = read_fine(&arena, "mysql://ax:p@ss:w@h/d"); /* all that can be read in one way only */
	assert_string_equal(c.password, "p@ss:w");
	ax_arena_done(&arena);
}

static void test_options(void **state)
{
	struct ax_arena arena = { 0 };
	(void)state;
	struct ax_mariadb_config c = read_fine(&arena, "mysql://ax:p@h/d?ca=/etc/ssl/my%20ca.pem&tls=on");
	assert_string_equal(c.ca_file, "/etc/ssl/my ca.pem");
	assert_int_equal(c.tls, AX_MARIADB_TLS_ON);
	c = read_fine(&arena, "mysql://ax@/d?socket=/run/mysqld/mysqld.sock&tls=off");
	assert_string_equal(c.socket, "/run/mysqld/mysqld.sock");
	assert_string_equal(c.host, "");
	assert_int_equal(c.tls, AX_MARIADB_TLS_OFF);
	c = read_fine(&arena, "mysql://ax@h/d?password_file=/run/secret");
	assert_string_equal(c.password_file, "/run/secret");
	assert_true(ax_mariadb_wants_tls(&c));
	c = read_fine(&arena, "mysql://ax@h/d?cert=/c.pem&key=/k.pem");
	assert_string_equal(c.cert_file, "/c.pem");
	assert_string_equal(c.key_file, "/k.pem");
	c = read_fine(&arena, "mysql://ax@h/d?");
	assert_string_equal(c.database, "d");
	ax_arena_done(&arena);
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *url, *rule;
	} cases[] = {
		{ "", "does not begin with mysql://" },
		{ "mysql:", "does not begin with mysql://" },
		{ "postgres://ax:hunter2@h/d", "does not begin with mysql://" },
		{ "mysql://", "names no user" },
		{ "mysql://h/d", "names no user" },
		{ "mysql://:hunter2@h/d", "names no user" },
		{ "mysql://ax:hunter2/@h/d", "names no user" },
		{ "mysql://ax:hunter2@h", "names no database" },
		{ "mysql://ax:hunter2@h/", "names no database" },
		{ "mysql://ax:hunter2@h/?tls=on", "names no database" },
		{ "mysql://ax:hunter2@/d", "names no host" },
		{ "mysql://ax:hunter2@h:/d", "port" },
		{ "mysql://ax:hunter2@h:0/d", "port" },
		{ "mysql://ax:hunter2@h:65536/d", "port" },
		{ "mysql://ax:hunter2@h:3306x/d", "port" },
		{ "mysql://ax:hunter2@[::1/d", "[ without ]" },
		{ "mysql://ax:hunter2@[::1]3306/d", "port" },
		{ "mysql://ax:hunter2%@h/d", "two hexadecimal digits" },
		{ "mysql://ax:hunter2%4@h/d", "two hexadecimal digits" },
		{ "mysql://ax:hunter2%zz@h/d", "two hexadecimal digits" },
		{ "mysql://ax:hunter2%00@h/d", "control character" },
		{ "mysql://ax:hunter2\n@h/d", "control character" },
		{ "mysql://ax:hunter2%ff@h/d", "UTF-8" },
		{ "mysql://ax:hunter2@h/d?tls=maybe", "option" },
		{ "mysql://ax:hunter2@h/d?tls", "option" },
		{ "mysql://ax:hunter2@h/d?charset=latin1", "option" },
		{ "mysql://ax:hunter2@h/d?&tls=on", "option" },
	};
	(void)state;
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_arena arena = { 0 };
		struct ax_mariadb_config config;
		struct ax_err err = { 0 };
		assert_int_equal(ax_mariadb_read_url(cases[i].url, &arena, &config, &err), AX_INVALID);
		if (strstr(err.msg, cases[i].rule) == NULL)
			fail_msg("%s: %s", cases[i].url, err.msg);
		assert_null(strstr(err.msg, "hunter2"));
		ax_arena_done(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_what_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
