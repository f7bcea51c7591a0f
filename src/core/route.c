#include "core/route.h"

#include <string.h>

#include "base/attr.h"
#include "base/json_look.h"
#include "base/num.h"
#include "core/task.h"

enum { USE_HALF_MS = 60000, USE_OF_ONE = 1000, TAGS_MAX = 32, TAG_MAX_BYTES = 512, TAG_NAME_SIZE = 65 };

bool ax_route_waits(enum ax_routing route)
{
	return route == AX_ROUTE_FIRST || route == AX_ROUTE_LAST || route == AX_ROUTE_HASH ||
		route == AX_ROUTE_FAILOVER;
}

uint64_t ax_route_key(const struct ax_task_def *def, const struct ax_run *run)
{
	if (def->route != AX_ROUTE_HASH)
		return ax_mix64((uint64_t)run->gid ^ ax_mix64((uint64_t)run->fence));
	struct ax_look value = ax_look_member(ax_look(run->params), def->route_key);
	if (value.type == AX_LOOK_NOTHING)
		value = ax_look_member(ax_look(def->biz_param), def->route_key);
	if (value.type == AX_LOOK_NOTHING)
		return ax_mix64((uint64_t)run->task_id ^ ax_mix64((uint64_t)run->shard));
	return ax_hash_bytes(value.at, value.len);
}

/* Rendezvous hashing: every worker has a weight of its own for the key, and the greatest wins. When a worker comes or
 * goes, only the keys that it wins or won move. */
static uint64_t weight(const struct ax_candidate *c, uint64_t key)
{
	return ax_mix64(ax_hash_bytes(c->name, strlen(c->name)) ^ key);
}

static int by_name(const struct ax_candidate *a, const struct ax_candidate *b)
{
	return strcmp(a->name, b->name);
}

static int by_busyness(const struct ax_candidate *a, const struct ax_candidate *b)
{
	int64_t x = a->given * b->places, y = b->given * a->places;
	return x != y ? (x < y ? -1 : 1) : 0;
}

static int by_number(int64_t x, int64_t y)
{
	return x != y ? (x < y ? -1 : 1) : 0;
}

static int by_weight(const struct ax_candidate *a, const struct ax_candidate *b, uint64_t key)
{
	uint64_t x = weight(a, key), y = weight(b, key);
	return x != y ? (x > y ? -1 : 1) : 0;
}

/* The one after whom the turn goes on: who had it last; NULL = nobody had it. */
static const char *last_turn(const struct ax_candidate *candidates, int n)
{
	const struct ax_candidate *last = NULL;
	for (int i = 0; i < n; i++)
		if (candidates[i].turn_order > (last == NULL ? 0 : last->turn_order))
			last = &candidates[i];
	return last == NULL ? NULL : last->name;
}

/* In order of the names, beginning behind `after` and going round. */
static int by_turn(const struct ax_candidate *a, const struct ax_candidate *b, const char *after)
{
	bool a_wraps = after != NULL && strcmp(a->name, after) <= 0;
	bool b_wraps = after != NULL && strcmp(b->name, after) <= 0;
	return a_wraps != b_wraps ? (b_wraps ? -1 : 1) : by_name(a, b);
}

/* Less than 0: the policy takes `a` rather than `b`. */
static int compare(enum ax_routing route, const struct ax_candidate *a, const struct ax_candidate *b, uint64_t key,
	const char *after)
{
	if (a->avoid != b->avoid)
		return a->avoid ? 1 : -1;
	switch (route) {
	case AX_ROUTE_LEAST_BUSY:
		return by_busyness(a, b);
	case AX_ROUTE_ROUND_ROBIN:
		return by_turn(a, b, after);
	case AX_ROUTE_RANDOM:
	case AX_ROUTE_HASH:
		return by_weight(a, b, key);
	case AX_ROUTE_FIRST:
	case AX_ROUTE_FAILOVER:
		return by_name(a, b);
	case AX_ROUTE_LAST:
		return by_name(b, a);
	case AX_ROUTE_LRU:
		return by_number(a->given_order, b->given_order);
	case AX_ROUTE_LFU:
		return by_number(a->use, b->use);
	}
	ax_die(__FILE__, __LINE__, "unknown route");
}

int ax_route_choose(enum ax_routing route, const struct ax_candidate *candidates, int n, uint64_t key, bool patient)
{
	const char *after = route == AX_ROUTE_ROUND_ROBIN ? last_turn(candidates, n) : NULL;
	int wanted = AX_ROUTE_NOBODY, best = AX_ROUTE_NOBODY;
	for (int i = 0; i < n; i++) {
		const struct ax_candidate *c = &candidates[i];
		if (wanted == AX_ROUTE_NOBODY || compare(route, c, &candidates[wanted], key, after) < 0)
			wanted = i;
		if (!c->room)
			continue;
		int order = best == AX_ROUTE_NOBODY ? -1 : compare(route, c, &candidates[best], key, after);
		/* of equals the one that had its last run the longest ago */
		if (order < 0 || (order == 0 && c->given_order < candidates[best].given_order))
			best = i;
	}
	if (best != wanted && wanted != AX_ROUTE_NOBODY && ax_route_waits(route) && patient)
		return AX_ROUTE_WAIT;
	return best;
}

bool ax_route_avoids(enum ax_routing route, const struct ax_run *run, const char *worker)
{
	bool came_back = run->bounce_times > 0 || (route == AX_ROUTE_FAILOVER && run->fence > 0);
	return came_back && strcmp(run->worker, worker) == 0;
}

int64_t ax_route_use(int64_t use, int64_t use_time, int64_t now)
{
	int64_t halvings = (now - use_time) / USE_HALF_MS;
	return halvings <= 0 ? use : halvings > 62 ? 0 : use >> halvings;
}

void ax_route_count_use(int64_t *use, int64_t *use_time, int64_t now)
{
	int64_t faded = ax_route_use(*use, *use_time, now);
	/* what is left of a minute counts towards the next halving */
	*use_time = faded == 0 ? now : *use_time + AX_MAX(INT64_C(0), (now - *use_time) / USE_HALF_MS * USE_HALF_MS);
	*use = faded + USE_OF_ONE;
}

bool ax_route_tags_match(const char *demand, const char *worker, const char *tags)
{
	struct ax_look key, wanted, all = ax_look(tags);
	struct ax_look_walk walk = ax_look_into(ax_look(demand));
	char name[TAG_NAME_SIZE];
	while (ax_look_next(&walk, &key, &wanted)) {
		bool match = ax_look_is(key, "worker")
			? ax_look_is(wanted, worker)
			: ax_look_text(key, name, sizeof(name)) && ax_look_same(ax_look_member(all, name), wanted);
		if (!match)
			return false;
	}
	return true;
}

enum ax_status ax_route_tags_check(const char *tags, struct ax_err *err)
{
	struct ax_look key, value, all = ax_look(tags);
	struct ax_look_walk walk = ax_look_into(all);
	char name[TAG_NAME_SIZE];
	int n = 0;
	bool ok = all.type == AX_LOOK_OBJECT || all.type == AX_LOOK_NULL;
	while (ok && ax_look_next(&walk, &key, &value))
		ok = ++n <= TAGS_MAX && value.type == AX_LOOK_STRING && value.len <= TAG_MAX_BYTES &&
			ax_look_text(key, name, sizeof(name));
	return ok ? AX_OK
		  : ax_fail(err, AX_INVALID, "route_tags",
			    "write an object of at most %d texts, as in {\"zone\":\"a\"}", TAGS_MAX);
}

const char *ax_route_demand(const struct ax_task_def *def)
{
	struct ax_look key, value;
	struct ax_look_walk walk = ax_look_into(ax_look(def->route_tags));
	return ax_look_next(&walk, &key, &value) ? def->route_tags : "";
}
