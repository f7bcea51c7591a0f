#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "server/config.h"

static const char *env_name, *env_value;

static char *fake_env(const char *name)
{
	static char value[256];
	if (env_name == NULL || strcmp(name, env_name) != 0)
		return NULL;
	strcpy(value, env_value);
	return value;
}

static enum ax_status read_words(struct ax_config *config, struct ax_err *err, const char *words)
{
	static char text[512];
	char *argv[32];
	int argc = 0;
	strcpy(text, words);
	for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return ax_config_read(argc, argv, fake_env, config, err);
}

static void test_presets(void **state)
{
	(void)state;
	struct ax_config config;
	struct ax_err err;
	env_name = NULL;
	assert_int_equal(read_words(&config, &err, "ax-server"), AX_OK);
	assert_string_equal(config.address, "127.0.0.1");
	assert_int_equal(config.port, 8750);
	assert_true(config.loopback && !config.dev);
	assert_string_equal(config.store_path, "/var/lib/ax/ax.db");
	assert_true(config.retention_ms == INT64_C(30) * 86400000);

	assert_int_equal(read_words(&config, &err, "ax-server --dev"), AX_OK);
	assert_int_equal(config.port, 0);
	assert_string_equal(config.store_path, ".ax/ax.db");
}

static void test_command_line_wins(void **state)
{
	(void)state;
	struct ax_config config;
	struct ax_err err;
	env_name = "AX_LISTEN";
	env_value = "[::1]:9000";
	assert_int_equal(read_words(&config, &err, "ax-server"), AX_OK);
	assert_string_equal(config.address, "::1");
	assert_int_equal(config.port, 9000);
	assert_int_equal(read_words(&config, &err, "ax-server --listen=localhost:9001 --store sqlite:/x/y"), AX_OK);
	assert_string_equal(config.address, "127.0.0.1");
	assert_int_equal(config.port, 9001);
	assert_string_equal(config.store_path, "/x/y");
	env_name = "AX_DEV";
	env_value = "1";
	assert_int_equal(read_words(&config, &err, "ax-server"), AX_OK);
	assert_true(config.dev);
}

static void test_shared_store(void **state)
{
	(void)state;
	struct ax_config config;
	struct ax_err err;
	env_name = "AX_STORE_PASSWORD_FILE";
	env_value = "/run/secret";
	assert_int_equal(read_words(&config, &err, "ax-server --store mysql://ax@db.internal:3307/ax"), AX_OK);
	assert_string_equal(config.store_url, "mysql://ax@db.internal:3307/ax");
	assert_string_equal(config.store_password_file, "/run/secret");
	/* what was wrong is said without the password */
	env_name = NULL;
	assert_int_equal(read_words(&config, &err, "ax-server --store mysql://ax:geheim@db:99999/ax"), AX_INVALID);
	assert_null(strstr(err.msg, "geheim"));
}

static void test_refusals_name_the_option(void **state)
{
	(void)state;
	static const struct {
		const char *words, *field;
	} cases[] = {
		{ "ax-server --listen 1.2.3:4", "--listen" },
		{ "ax-server --listen :80", "--listen" },
		{ "ax-server --listen 0.0.0.0:80", "--listen" },
		{ "ax-server --listen 0.0.0.0:80 --dev --insecure-http", "--listen" },
		{ "ax-server --tls-key k", "--tls-cert" },
		{ "ax-server --retention-days 3651", "--retention-days" },
		{ "ax-server --retention-days 1.5", "--retention-days" },
		{ "ax-server --store sqlite:", "--store" },
		{ "ax-server --store mysql://", "--store" },
		{ "ax-server --store postgres://u:p@h/d", "--store" },
		{ "ax-server --dev --store mysql://u:p@h/d", "--store" },
		{ "ax-server --store-password-file f", "--store-password-file" },
		{ "ax-server --queue redis://ax:p@h --queue-password-file f", "--queue-password-file" },
		{ "ax-server --queue redis://:p@h --queue-password-file f", "--queue-password-file" },
		{ "ax-server --queue rediss://h --queue-cert /none", "--queue-key" },
		{ "ax-server --queue rediss://h --queue-key /none", "--queue-cert" },
		{ "ax-server --queue rediss://h --queue-cert /none --queue-key /none", "--queue-cert" },
		{ "ax-server --queue-sentinel-user u", "--queue-sentinel-user" },
		{ "ax-server --queue redis://h --queue-sentinel-password-file f", "--queue-sentinel-password-file" },
		{ "ax-server --queue redis-sentinel://h/m --queue-sentinel-user u", "--queue-sentinel-user" },
		{ "ax-server --queue redis-sentinel://h/m --queue-sentinel-password-file /none",
			"--queue-sentinel-password-file" },
		{ "ax-server --state", "--state" },
		{ "ax-server --alert-allow localhost", "--alert-allow" },
		{ "ax-server --alert-allow localhost:25,:25", "--alert-allow" },
		{ "ax-server --alert-allow localhost:0", "--alert-allow" },
	};
	env_name = NULL;
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_config config;
		struct ax_err err = { 0 };
		assert_int_equal(read_words(&config, &err, cases[i].words), AX_INVALID);
		assert_string_equal(err.field, cases[i].field);
	}
	struct ax_config config;
	struct ax_err err;
	assert_int_equal(read_words(&config, &err, "ax-server --listen 0.0.0.0:80 --insecure-http"), AX_OK);
	assert_int_equal(read_words(&config, &err, "ax-server --alert-allow mail.internal:25,[::1]:9000"), AX_OK);
	assert_string_equal(config.alert_allow, "mail.internal:25,[::1]:9000");
}

static void test_help_names_every_option(void **state)
{
	(void)state;
	char *help = ax_config_help();
#define AX_OPTION(name, arg, preset, text) assert_non_null(strstr(help, text));
#include "server/config.def"
#undef AX_OPTION
	free(help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_command_line_wins),
		cmocka_unit_test(test_shared_store),
		cmocka_unit_test(test_refusals_name_the_option),
		cmocka_unit_test(test_help_names_every_option),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
