#include "server/queue_relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/arena.h"
#include "base/err.h"

enum { HINTS_MAX = 10000 }; /* that wait for the loop thread: more are not worth more */

enum kind { DONE, TAKEN, COUNT, HINT };

/* A call under way, then its answer. */
struct ax_relayed {
	struct ax_queue_relay *relay;
	enum kind kind;
	union {
		ax_queue_done *done;
		ax_queue_taker *taker;
		ax_queue_count *count;
	} call;
	void *user;
	bool good; /* there is an answer */
	int64_t n;
	struct ax_queue_taken taken;
	struct ax_member *members;
	struct ax_hint hint;
	char group[AX_QUEUE_NAME_MAX + 1];
	struct ax_relayed *prev, *next;
};

static struct ax_queue_relay *relay_of(struct ax_queue *port)
{
	return (struct ax_queue_relay *)port;
}

static void hand_over(struct ax_relayed *answer)
{
	struct ax_queue_relay *relay = answer->relay;
	uv_mutex_lock(&relay->lock);
	DL_APPEND(relay->list, answer);
	uv_mutex_unlock(&relay->lock);
	uv_async_send(&relay->wake);
}

/* --- in the other thread ------------------------------------------------------------------------------------------ */

static void on_done(void *user, bool done)
{
	struct ax_relayed *answer = user;
	answer->good = done;
	hand_over(answer);
}

static void on_count(void *user, int64_t n)
{
	struct ax_relayed *answer = user;
	answer->n = n;
	hand_over(answer);
}

static void on_taken(void *user, const struct ax_queue_taken *taken)
{
	struct ax_relayed *answer = user;
	answer->good = taken != NULL;
	if (taken != NULL) {
		answer->taken = *taken;
		answer->members = ax_malloc(((size_t)taken->n + 1) * sizeof *taken->members);
		if (taken->n > 0)
			memcpy(answer->members, taken->members, (size_t)taken->n * sizeof *taken->members);
		answer->taken.members = answer->members;
	}
	hand_over(answer);
}

void ax_queue_relay_hear(void *user, const struct ax_hint *hint)
{
	struct ax_queue_relay *relay = user;
	uv_mutex_lock(&relay->lock);
	bool taken = relay->n_hints < HINTS_MAX;
	relay->n_hints += taken;
	uv_mutex_unlock(&relay->lock);
	if (!taken)
		return;
	struct ax_relayed *answer = ax_malloc(sizeof *answer);
	answer->relay = relay;
	answer->kind = HINT;
	answer->hint = *hint;
	snprintf(answer->group, sizeof answer->group, "%s", hint->group_key);
	answer->hint.group_key = answer->group;
	hand_over(answer);
}

/* --- in the loop thread ------------------------------------------------------------------------------------------- */

static void call_back(struct ax_relayed *answer)
{
	switch (answer->kind) {
	case DONE:
		answer->call.done(answer->user, answer->good);
		break;
	case TAKEN:
		answer->call.taker(answer->user, answer->good ? &answer->taken : NULL);
		break;
	case COUNT:
		answer->call.count(answer->user, answer->n);
		break;
	case HINT:
		answer->relay->ears.heard(answer->relay->ears.user, &answer->hint);
		break;
	}
	free(answer->members);
	free(answer);
}

static void call_all(struct ax_queue_relay *relay)
{
	uv_mutex_lock(&relay->lock);
	struct ax_relayed *list = relay->list, *answer, *next;
	relay->list = NULL;
	relay->n_hints = 0;
	uv_mutex_unlock(&relay->lock);
	DL_FOREACH_SAFE(list, answer, next)
	{
		DL_DELETE(list, answer);
		call_back(answer);
	}
}

static void on_wake(uv_async_t *wake)
{
	struct ax_queue_relay *relay = wake->data;
	call_all(relay);
	relay->after(relay->user);
}

/* --- the port ----------------------------------------------------------------------------------------------------- */

static struct ax_relayed *new_call(struct ax_queue_relay *relay, enum kind kind, void *user)
{
	struct ax_relayed *call = ax_malloc(sizeof *call);
	call->relay = relay;
	call->kind = kind;
	call->user = user;
	return call;
}

static bool keep(struct ax_relayed *call, bool taken)
{
	if (!taken)
		free(call);
	return taken;
}

static struct ax_relayed *new_done(struct ax_queue_relay *relay, ax_queue_done *done, void *user)
{
	if (done == NULL)
		return NULL;
	struct ax_relayed *call = new_call(relay, DONE, user);
	call->call.done = done;
	return call;
}

static ax_queue_done *done_of(const struct ax_relayed *call)
{
	return call == NULL ? NULL : on_done;
}

static bool put(struct ax_queue *port, const struct ax_queue_entry *entries, int n, ax_queue_done *done, void *user)
{
	struct ax_queue_relay *relay = relay_of(port);
	struct ax_relayed *call = new_done(relay, done, user);
	return keep(call, relay->inner->ops->put(relay->inner, entries, n, done_of(call), call));
}

static bool take(struct ax_queue *port, int shard, int64_t now_ms, int limit, ax_queue_taker *taker, void *user)
{
	struct ax_queue_relay *relay = relay_of(port);
	struct ax_relayed *call = new_call(relay, TAKEN, user);
	call->call.taker = taker;
	return keep(call, relay->inner->ops->take(relay->inner, shard, now_ms, limit, on_taken, call));
}

static bool size(struct ax_queue *port, int shard, ax_queue_count *count, void *user)
{
	struct ax_queue_relay *relay = relay_of(port);
	struct ax_relayed *call = new_call(relay, COUNT, user);
	call->call.count = count;
	return keep(call, relay->inner->ops->size(relay->inner, shard, on_count, call));
}

static bool load_begin(struct ax_queue *port, int shard, const char *token, ax_queue_done *done, void *user)
{
	struct ax_queue_relay *relay = relay_of(port);
	struct ax_relayed *call = new_done(relay, done, user);
	return keep(call, relay->inner->ops->load_begin(relay->inner, shard, token, done_of(call), call));
}

static bool load_end(struct ax_queue *port, int shard, const char *token, ax_queue_done *done, void *user)
{
	struct ax_queue_relay *relay = relay_of(port);
	struct ax_relayed *call = new_done(relay, done, user);
	return keep(call, relay->inner->ops->load_end(relay->inner, shard, token, done_of(call), call));
}

static bool lock(
	struct ax_queue *port, const char *name, const char *token, int64_t life_ms, ax_queue_done *done, void *user)
{
	struct ax_queue_relay *relay = relay_of(port);
	struct ax_relayed *call = new_done(relay, done, user);
	return keep(call, relay->inner->ops->lock(relay->inner, name, token, life_ms, done_of(call), call));
}

static bool renew(
	struct ax_queue *port, const char *name, const char *token, int64_t life_ms, ax_queue_done *done, void *user)
{
	struct ax_queue_relay *relay = relay_of(port);
	struct ax_relayed *call = new_done(relay, done, user);
	return keep(call, relay->inner->ops->renew(relay->inner, name, token, life_ms, done_of(call), call));
}

static bool unlock(struct ax_queue *port, const char *name, const char *token, ax_queue_done *done, void *user)
{
	struct ax_queue_relay *relay = relay_of(port);
	struct ax_relayed *call = new_done(relay, done, user);
	return keep(call, relay->inner->ops->unlock(relay->inner, name, token, done_of(call), call));
}

static bool publish(struct ax_queue *port, const struct ax_hint *hint)
{
	struct ax_queue *inner = relay_of(port)->inner;
	return inner->ops->publish(inner, hint);
}

static void health(struct ax_queue *port, struct ax_queue_health *ret)
{
	struct ax_queue *inner = relay_of(port)->inner;
	inner->ops->health(inner, ret);
}

void ax_queue_relay_init(
	struct ax_queue_relay *relay, uv_loop_t *loop, struct ax_queue_ears ears, void (*after)(void *user), void *user)
{
	static const struct ax_queue_ops ops = { put, take, size, load_begin, load_end, lock, renew, unlock, publish,
		health };
	*relay = (struct ax_queue_relay){ .port = { &ops }, .ears = ears, .after = after, .user = user };
	AX_ASSERT(uv_mutex_init(&relay->lock) == 0);
	AX_ASSERT(uv_async_init(loop, &relay->wake, on_wake) == 0);
	relay->wake.data = relay;
	uv_unref((uv_handle_t *)&relay->wake);
}

void ax_queue_relay_join(struct ax_queue_relay *relay, struct ax_queue *inner)
{
	relay->inner = inner;
}

void ax_queue_relay_done(struct ax_queue_relay *relay)
{
	call_all(relay);
	uv_close((uv_handle_t *)&relay->wake, NULL);
	uv_mutex_destroy(&relay->lock);
}
