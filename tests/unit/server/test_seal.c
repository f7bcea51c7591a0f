/* Secrets at rest: the key and where it comes from, what is sealed with it. */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "server/seal.h"

struct place {
	struct ax_config config;
	struct ax_arena arena;
	char key[4000];
};

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof *p);
	assert_non_null(p);
	strcpy(p->config.state_dir, "/tmp/ax-seal-XXXXXX");
	assert_non_null(mkdtemp(p->config.state_dir));
	snprintf(p->key, sizeof p->key, "%s/secret.key", p->config.state_dir);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;
	unlink(p->key);
	rmdir(p->config.state_dir);
	ax_arena_done(&p->arena);
	free(p);
	return 0;
}

static void test_the_key_is_made_once_and_for_its_owner(void **state)
{
	struct place *p = *state;
	struct ax_seal first, second;
	struct stat file;
	const char *text;
	assert_int_equal(ax_seal_load(&first, &p->config, NULL), AX_OK);
	assert_int_equal(stat(p->key, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0600);
	const char *sealed = ax_seal_text(&first, "{\"secret\":\"S3CRET\"}", &p->arena);
	assert_null(strstr(sealed, "S3CRET"));
	assert_int_equal(ax_seal_load(&second, &p->config, NULL), AX_OK);
	assert_int_equal(ax_seal_read(&second, sealed, &p->arena, &text, NULL), AX_OK);
	assert_string_equal(text, "{\"secret\":\"S3CRET\"}");
	assert_string_not_equal(ax_seal_text(&second, "{}", &p->arena), ax_seal_text(&second, "{}", &p->arena));
}

static void test_what_another_key_sealed_or_somebody_changed_is_refused(void **state)
{
	struct place *p = *state;
	struct ax_seal seal, other, off = { 0 };
	struct ax_err err;
	const char *text;
	assert_int_equal(ax_seal_load(&seal, &p->config, NULL), AX_OK);
	char *sealed = ax_strdup(&p->arena, ax_seal_text(&seal, "{\"url\":\"https://a\"}", &p->arena));
	assert_int_equal(unlink(p->key), 0);
	assert_int_equal(ax_seal_load(&other, &p->config, NULL), AX_OK);
	assert_int_equal(ax_seal_read(&other, sealed, &p->arena, &text, &err), AX_BROKEN);
	assert_non_null(strstr(err.msg, "another key"));
	assert_int_equal(ax_seal_read(&off, sealed, &p->arena, &text, &err), AX_BROKEN);
	sealed[strlen(sealed) - 6] ^= 1;
	assert_int_equal(ax_seal_read(&seal, sealed, &p->arena, &text, &err), AX_BROKEN);
	/* what was never sealed is itself */
	assert_int_equal(ax_seal_read(&seal, "{\"url\":\"x\"}", &p->arena, &text, &err), AX_OK);
	assert_string_equal(text, "{\"url\":\"x\"}");
}

static void test_a_key_file_that_is_no_secret_or_no_key_is_refused(void **state)
{
	struct place *p = *state;
	struct ax_seal seal;
	struct ax_err err;
	strcpy(p->config.secret_key_file, p->key);
	assert_int_equal(ax_seal_load(&seal, &p->config, &err), AX_UNAVAILABLE); /* a given one is not made */
	FILE *file = fopen(p->key, "we");
	assert_non_null(file);
	fputs("0123456789abcdef\n", file);
	fclose(file);
	assert_int_equal(chmod(p->key, 0600), 0);
	assert_int_equal(ax_seal_load(&seal, &p->config, &err), AX_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "64 hexadecimal"));
	file = fopen(p->key, "we");
	assert_non_null(file);
	fputs("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n", file);
	fclose(file);
	assert_int_equal(ax_seal_load(&seal, &p->config, &err), AX_OK);
	assert_true(seal.on);
	assert_int_equal(chmod(p->key, 0640), 0);
	if (geteuid() == 0) { /* root's, for the server's group */
		assert_int_equal(ax_seal_load(&seal, &p->config, &err), AX_OK);
		assert_int_equal(chown(p->key, 65534, 65534), 0);
	}
	assert_int_equal(ax_seal_load(&seal, &p->config, &err), AX_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "owner alone"));
}

static void test_servers_that_share_a_database_need_a_key_of_theirs(void **state)
{
	struct place *p = *state;
	struct ax_seal seal;
	strcpy(p->config.store_url, "mysql://db/ax");
	assert_int_equal(ax_seal_load(&seal, &p->config, NULL), AX_OK);
	assert_false(seal.on);
	assert_string_equal(ax_seal_text(&seal, "{}", &p->arena), "{}");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_the_key_is_made_once_and_for_its_owner),
		T(test_what_another_key_sealed_or_somebody_changed_is_refused),
		T(test_a_key_file_that_is_no_secret_or_no_key_is_refused),
		T(test_servers_that_share_a_database_need_a_key_of_theirs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
