#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "app/accounts.h"
#include "app/login_limit.h"
#include "base/attr.h"
#include "port/mem_store.h"

enum { NOW = 1000000 };

static void test_account_backs_off(void **state)
{
	(void)state;
	struct ax_login_limit *limit = ax_login_limit_new();
	int64_t now = 0;
	for (int i = 0; i < 5; i++)
		assert_true(ax_login_limit_try(limit, "a", "addr", now) == 0);
	static const int64_t minutes[] = { 1, 2, 4, 8, 15, 15 };
	for (size_t i = 0; i < AX_COUNT(minutes); i++) {
		now += 11 * 60000; /* the address's window is another matter */
		assert_true(ax_login_limit_try(limit, "b", "other", now) == 0);
		ax_login_limit_passed(limit, "b", "other");
		now += 15 * 60000;
		assert_true(ax_login_limit_try(limit, "a", "addr", now) == 0);
		int64_t wait = ax_login_limit_try(limit, "a", "addr", now + 1);
		/* the try above was one more failure */
		int64_t expected = i + 1 < AX_COUNT(minutes) ? minutes[i + 1] : 15;
		assert_true(wait == expected * 60000 - 1);
	}
	ax_login_limit_passed(limit, "a", "addr");
	assert_true(ax_login_limit_try(limit, "a", "addr", now + 2) == 0);
	ax_login_limit_free(limit);
}

static void test_address_is_limited(void **state)
{
	(void)state;
	struct ax_login_limit *limit = ax_login_limit_new();
	char user[16];
	for (int i = 0; i < 20; i++) {
		snprintf(user, sizeof user, "u%d", i);
		assert_true(ax_login_limit_try(limit, user, "addr", 5) == 0);
	}
	assert_true(ax_login_limit_try(limit, "fresh", "addr", 5) > 0);
	assert_true(ax_login_limit_try(limit, "fresh", "elsewhere", 5) == 0);
	assert_true(ax_login_limit_try(limit, "fresh2", "addr", 5 + 10 * 60000) == 0);
	ax_login_limit_free(limit);
}

static void test_memory_is_bounded(void **state)
{
	(void)state;
	struct ax_login_limit *limit = ax_login_limit_new();
	for (int i = 0; i < 100000; i++) {
		char name[32];
		snprintf(name, sizeof name, "n%d", i);
		assert_true(ax_login_limit_try(limit, name, name, 5) == 0);
	}
	ax_login_limit_free(limit);
}

static void test_new_accounts(void **state)
{
	(void)state;
	static const struct {
		const char *user, *password, *field;
	} bad[] = {
		{ "", "long enough for it", "user" },
		{ "a b", "long enough for it", "user" },
		{ "dev", "long enough for it", "user" },
		{ "\xc3\xbc", "long enough for it", "user" },
		{ "a", "12345678901", "password" },
		{ "a", "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc",
			"password" },
		{ "correct.horse", "correct.horse", "password" },
	};
	struct ax_err err;
	for (size_t i = 0; i < AX_COUNT(bad); i++) {
		assert_int_equal(ax_account_check_new(bad[i].user, bad[i].password, &err), AX_INVALID);
		assert_string_equal(err.field, bad[i].field);
	}
	assert_int_equal(ax_account_check_new("a@example.org", "123456789012", &err), AX_OK);
}

static void add(struct ax_tx *tx, const char *kind, const char *name, const char *role, const char *groups)
{
	struct ax_token token = { .hash = kind,
		.kind = kind,
		.name = name,
		.role = role,
		.worker_groups = groups,
		.csrf = "c",
		.create_time = NOW,
		.expire_time = NOW + 100,
		.last_used_time = NOW };
	struct ax_err err;
	int64_t id;
	assert_int_equal(tx->ops->token_insert(tx, &token, &id, &err), AX_OK);
}

static enum ax_status admit(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	struct ax_caller who;
	add(tx, "api", "ci", "editor", "");
	add(tx, "worker", "w", "", "[\"g\"]");
	add(tx, "dev", "dev", "admin", "");
	add(tx, "dev_worker", "dev-worker", "", "[\"*\"]");
	add(tx, "session", "dev", "admin", "");
	add(tx, "once", "dev", "admin", "");
	add(tx, "setup", "setup", "", "");

	assert_int_equal(ax_account_admit(tx, "api", NOW, false, &who, err), AX_OK);
	assert_true(who.role == AX_ROLE_EDITOR && !who.session && !who.worker && !who.touch);
	assert_string_equal(who.actor, "token ci");
	assert_int_equal(ax_account_admit(tx, "worker", NOW, false, &who, err), AX_OK);
	assert_true(who.worker && who.role == AX_ROLE_NONE);
	assert_int_equal(ax_account_admit(tx, "api", NOW + 100, false, &who, err), AX_UNAUTHENTICATED);
	assert_int_equal(ax_account_admit(tx, "nothing", NOW, true, &who, err), AX_UNAUTHENTICATED);
	/* what belongs to developer's mode is nothing outside */
	static const char *const dev[] = { "dev", "dev_worker", "session" };
	for (size_t i = 0; i < AX_COUNT(dev); i++) {
		assert_int_equal(ax_account_admit(tx, dev[i], NOW, true, &who, err), AX_OK);
		assert_int_equal(ax_account_admit(tx, dev[i], NOW, false, &who, err), AX_UNAUTHENTICATED);
	}
	/* links are no credentials */
	assert_int_equal(ax_account_admit(tx, "once", NOW, true, &who, err), AX_UNAUTHENTICATED);
	assert_int_equal(ax_account_admit(tx, "setup", NOW, true, &who, err), AX_UNAUTHENTICATED);

	struct ax_token link;
	assert_int_equal(ax_account_use_link(tx, "setup", "once", NOW, &link, err), AX_DENIED);
	assert_int_equal(ax_account_use_link(tx, "once", "once", NOW + 100, &link, err), AX_DENIED);
	assert_int_equal(ax_account_use_link(tx, "once", "once", NOW, &link, err), AX_OK);
	assert_int_equal(ax_account_use_link(tx, "once", "once", NOW, &link, err), AX_DENIED);
	return AX_OK;
}

static enum ax_status live_on(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	struct ax_caller who;
	assert_int_equal(ax_account_open_session(tx, "u", "viewer", "h", "c", NOW, err), AX_OK);
	int64_t now = NOW, step = AX_SESSION_IDLE_MS - 1;
	while (now + step < NOW + AX_SESSION_MAX_MS) {
		now += step;
		assert_int_equal(ax_account_admit(tx, "h", now, false, &who, err), AX_OK);
		assert_true(who.touch);
		assert_int_equal(ax_account_touch(tx, &who, now, err), AX_OK);
	}
	assert_int_equal(ax_account_admit(tx, "h", NOW + AX_SESSION_MAX_MS, false, &who, err), AX_UNAUTHENTICATED);
	return AX_OK;
}

static enum ax_status idle_out(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	struct ax_caller who;
	assert_int_equal(ax_account_open_session(tx, "u", "viewer", "i", "c", NOW, err), AX_OK);
	assert_int_equal(ax_account_admit(tx, "i", NOW + AX_SESSION_IDLE_MS - 1, false, &who, err), AX_OK);
	assert_int_equal(ax_account_admit(tx, "i", NOW + AX_SESSION_IDLE_MS, false, &who, err), AX_UNAUTHENTICATED);
	return AX_OK;
}

static void in_store(ax_tx_fn fn)
{
	struct ax_mem_store *store = ax_mem_store_new();
	struct ax_arena arena = { 0 };
	struct ax_err err;
	assert_int_equal(ax_store_run(ax_mem_store_port(store), &arena, fn, NULL, &err), AX_OK);
	ax_arena_done(&arena);
	ax_mem_store_free(store);
}

static void test_credentials(void **state)
{
	(void)state;
	in_store(admit);
}

static void test_sessions(void **state)
{
	(void)state;
	in_store(live_on);
	in_store(idle_out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_account_backs_off),
		cmocka_unit_test(test_address_is_limited),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_new_accounts),
		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_sessions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
