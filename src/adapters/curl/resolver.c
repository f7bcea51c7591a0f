#include "adapters/curl/resolver.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/num.h"
#include "sys/pool.h"
#include "base/table.h"

static const uint64_t KEEP_MS = 30000;
static const uint64_t KEEP_FAILURE_MS = 5000;
enum { NAMES_MAX = 1024, HOST_MAX = 255 };

struct ax_resolve {
	struct name *name;
	ax_resolved *done;
	void *user;
	struct ax_resolve *prev, *next;
};

/* A host name that is known or being looked up. */
struct name {
	char host[HOST_MAX + 1];
	bool known;
	uint64_t until_ms;
	int n;
	struct ax_address addresses[AX_ADDRESSES_MAX];
	struct ax_resolve *asks;
	UT_hash_handle hh;
};

/* One look-up on its way through a thread. */
struct lookup {
	struct ax_resolver *resolver;
	char host[HOST_MAX + 1];
	int n;
	struct ax_address addresses[AX_ADDRESSES_MAX];
	struct lookup *next;
};

struct ax_resolver {
	uv_loop_t *loop;
	uv_async_t wake;
	struct ax_pool *pool;
	struct name *names;
	uv_mutex_t lock;
	struct lookup *done; /* under lock */
	int refs;            /* under lock: the loop's, and one per look-up under way */
	bool closing;        /* under lock */
};

static void unref(struct ax_resolver *r)
{
	uv_mutex_lock(&r->lock);
	bool last = --r->refs == 0;
	uv_mutex_unlock(&r->lock);
	if (!last)
		return;
	for (struct lookup *l = r->done, *next; l; l = next) {
		next = l->next;
		free(l);
	}
	uv_mutex_destroy(&r->lock);
	free(r);
}

/* ---- on a thread */

static void add_address(struct lookup *l, const struct sockaddr *sa)
{
	struct ax_address a = { 0 };
	if (sa->sa_family == AF_INET) {
		a.size = 4;
		memcpy(a.bytes, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		a.size = 16;
		memcpy(a.bytes, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, 16);
	}
	if (a.size && l->n < AX_ADDRESSES_MAX)
		l->addresses[l->n++] = a;
}

static void look_up(void *arg)
{
	struct lookup *l = arg;
	struct ax_resolver *r = l->resolver;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	if (getaddrinfo(l->host, NULL, &hints, &list) == 0) {
		for (struct addrinfo *ai = list; ai; ai = ai->ai_next)
			add_address(l, ai->ai_addr);
		freeaddrinfo(list);
	}
	uv_mutex_lock(&r->lock);
	l->next = r->done;
	r->done = l;
	if (!r->closing)
		uv_async_send(&r->wake);
	uv_mutex_unlock(&r->lock);
	unref(r);
}

/* ---- on the loop */

static void answer_asks(struct name *name)
{
	while (name->asks) {
		struct ax_resolve *ask = name->asks;
		DL_DELETE(name->asks, ask);
		ax_resolved *done = ask->done;
		void *user = ask->user;
		free(ask);
		done(name->addresses, name->n, user);
	}
}

static void take_answer(struct ax_resolver *r, const struct lookup *l)
{
	struct name *name;
	HASH_FIND_STR(r->names, l->host, name);
	AX_ASSERT(name && !name->known);
	name->known = true;
	name->n = l->n;
	memcpy(name->addresses, l->addresses, sizeof(name->addresses));
	name->until_ms = uv_now(r->loop) + (l->n ? KEEP_MS : KEEP_FAILURE_MS);
}

/* Never while a caller is called back, which may ask anew. */
static void drop_old_names(struct ax_resolver *r)
{
	struct name *name;
	struct name *next;
	uint64_t now = uv_now(r->loop);
	HASH_ITER(hh, r->names, name, next)
	{
		bool old = name->known && !name->asks && (name->until_ms <= now || HASH_COUNT(r->names) >= NAMES_MAX);
		if (!old)
			continue;
		HASH_DELETE(hh, r->names, name);
		free(name);
	}
}

static void woken(uv_async_t *async)
{
	struct ax_resolver *r = async->data;
	uv_mutex_lock(&r->lock);
	struct lookup *list = r->done;
	r->done = NULL;
	uv_mutex_unlock(&r->lock);
	for (struct lookup *l = list, *next; l; l = next) {
		next = l->next;
		take_answer(r, l);
		free(l);
	}
	/* Also names that were known when they were asked for: the caller expects no call from within its own. */
	struct name *name;
	struct name *next;
	HASH_ITER(hh, r->names, name, next)
	{
		if (name->known && name->asks)
			answer_asks(name);
	}
	drop_old_names(r);
}

static void start_lookup(struct ax_resolver *r, struct name *name)
{
	struct lookup *l = ax_malloc(sizeof(*l));
	l->resolver = r;
	memcpy(l->host, name->host, sizeof(l->host));
	name->known = false;
	uv_mutex_lock(&r->lock);
	r->refs++;
	uv_mutex_unlock(&r->lock);
	if (ax_pool_run(r->pool, look_up, l) == 0)
		return;
	uv_mutex_lock(&r->lock); /* no thread: as if it had not been found */
	l->next = r->done;
	r->done = l;
	uv_mutex_unlock(&r->lock);
	uv_async_send(&r->wake);
	unref(r);
}

struct ax_resolve *ax_resolver_ask(struct ax_resolver *r, const char *host, ax_resolved *done, void *user)
{
	AX_ASSERT(strlen(host) <= HOST_MAX);
	struct name *name;
	HASH_FIND_STR(r->names, host, name);
	if (!name) {
		name = ax_malloc(sizeof(*name));
		memcpy(name->host, host, strlen(host) + 1);
		HASH_ADD_STR(r->names, host, name);
		start_lookup(r, name);
	} else if (name->known && !name->asks && name->until_ms <= uv_now(r->loop)) {
		start_lookup(r, name);
	}
	struct ax_resolve *ask = ax_malloc(sizeof(*ask));
	*ask = (struct ax_resolve){ .name = name, .done = done, .user = user };
	DL_APPEND(name->asks, ask);
	if (name->known)
		uv_async_send(&r->wake);
	return ask;
}

void ax_resolver_forget(struct ax_resolve *ask)
{
	DL_DELETE(ask->name->asks, ask);
	free(ask);
}

struct ax_resolver *ax_resolver_new(uv_loop_t *loop, int threads)
{
	struct ax_resolver *r = ax_malloc(sizeof(*r));
	r->loop = loop;
	r->pool = ax_pool_new(threads);
	r->refs = 1;
	AX_ASSERT(uv_mutex_init(&r->lock) == 0 && uv_async_init(loop, &r->wake, woken) == 0);
	r->wake.data = r;
	return r;
}

static void closed(uv_handle_t *handle)
{
	unref(handle->data);
}

void ax_resolver_close(struct ax_resolver *r)
{
	struct name *name;
	struct name *next;
	HASH_ITER(hh, r->names, name, next)
	{
		while (name->asks)
			ax_resolver_forget(name->asks);
		HASH_DELETE(hh, r->names, name);
		free(name);
	}
	uv_mutex_lock(&r->lock);
	r->closing = true;
	uv_mutex_unlock(&r->lock);
	ax_pool_close(r->pool);
	uv_close((uv_handle_t *)&r->wake, closed);
}
