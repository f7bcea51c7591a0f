#include "app/login_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/table.h"

enum {
	FREE_TRIES = 5,
	FIRST_WAIT_MS = 60000,
	LAST_WAIT_MS = 15 * 60000,
	FORGET_MS = 24 * 60 * 60000,
	ADDRESS_TRIES = 20,
	ADDRESS_WINDOW_MS = 10 * 60000,
	ENTRIES_MAX = 20000, /* beyond, the oldest are forgotten */
};

struct entry {
	char key[136]; /* "u:name" or "a:address" */
	int64_t failures;
	int64_t since_ms; /* address: when the window began; account: the last failure */
	UT_hash_handle hh;
};

struct ax_login_limit {
	struct entry *entries; /* in the order in which they were made */
};

struct ax_login_limit *ax_login_limit_new(void)
{
	return ax_malloc(sizeof(struct ax_login_limit));
}

void ax_login_limit_free(struct ax_login_limit *limit)
{
	if (limit == NULL)
		return;
	struct entry *e, *next;
	HASH_ITER(hh, limit->entries, e, next)
	{
		HASH_DEL(limit->entries, e);
		free(e);
	}
	free(limit);
}

static struct entry *find(struct ax_login_limit *limit, char kind, const char *name)
{
	char key[sizeof((struct entry *)0)->key];
	snprintf(key, sizeof key, "%c:%.128s", kind, name);
	struct entry *e;
	HASH_FIND_STR(limit->entries, key, e);
	if (e != NULL)
		return e;
	if (HASH_COUNT(limit->entries) >= ENTRIES_MAX) {
		struct entry *oldest = limit->entries;
		HASH_DEL(limit->entries, oldest);
		free(oldest);
	}
	e = ax_malloc(sizeof *e);
	memcpy(e->key, key, sizeof key);
	HASH_ADD_STR(limit->entries, key, e);
	return e;
}

static int64_t account_wait(const struct entry *e, int64_t now)
{
	if (e->failures < FREE_TRIES)
		return 0;
	int64_t wait = FIRST_WAIT_MS;
	for (int64_t n = FREE_TRIES; n < e->failures && wait < LAST_WAIT_MS; n++)
		wait *= 2;
	return AX_MAX(e->since_ms + AX_MIN(wait, (int64_t)LAST_WAIT_MS) - now, 0);
}

int64_t ax_login_limit_try(struct ax_login_limit *limit, const char *account, const char *address, int64_t mono_ms)
{
	struct entry *a = find(limit, 'a', address);
	if (mono_ms - a->since_ms >= ADDRESS_WINDOW_MS) {
		a->since_ms = mono_ms;
		a->failures = 0;
	}
	int64_t wait = a->failures < ADDRESS_TRIES ? 0 : a->since_ms + ADDRESS_WINDOW_MS - mono_ms;
	if (wait > 0)
		return wait;
	struct entry *u = find(limit, 'u', account);
	if (mono_ms - u->since_ms >= FORGET_MS)
		u->failures = 0;
	wait = account_wait(u, mono_ms);
	if (wait > 0)
		return wait;
	u->since_ms = mono_ms;
	u->failures++;
	find(limit, 'a', address)->failures++;
	return 0;
}

void ax_login_limit_passed(struct ax_login_limit *limit, const char *account, const char *address)
{
	find(limit, 'u', account)->failures = 0;
	struct entry *a = find(limit, 'a', address);
	a->failures = AX_MAX(a->failures - 1, 0);
}
