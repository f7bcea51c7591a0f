#include "port/mem_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

enum { PORTS_MAX = 8, LOCKS_MAX = 64, NOTE_MAX = AX_QUEUE_NAME_MAX + 1 };

struct place {
	struct ax_member member;
	int64_t score;
};

/* By score, then by member, as a sorted set has them. */
struct shard {
	struct place *at;
	int n, cap;
	char mark[NOTE_MAX], note[NOTE_MAX]; /* "" = none */
};

struct lock {
	char name[NOTE_MAX], token[NOTE_MAX];
	int64_t until;
};

struct port {
	struct ax_queue base;
	struct ax_mem_queue *queue;
	struct ax_queue_ears ears;
};

struct ax_mem_queue {
	struct ax_clock *clock;
	char identity[NOTE_MAX];
	struct shard shard[AX_QUEUE_SHARDS], copy[AX_QUEUE_SHARDS];
	struct lock locks[LOCKS_MAX];
	struct port ports[PORTS_MAX];
	int n_ports;
	bool down, mute;
	int64_t losses;
};

static struct ax_mem_queue *queue_of(struct ax_queue *base)
{
	return ((struct port *)base)->queue;
}

static void copy_text(char to[NOTE_MAX], const char *from)
{
	size_t len = strlen(from);
	AX_ASSERT(len < NOTE_MAX);
	memcpy(to, from, len + 1);
}

/* --- places ------------------------------------------------------------------------------------------------------- */

static int find(const struct shard *shard, const struct ax_member *member)
{
	for (int i = 0; i < shard->n; i++)
		if (shard->at[i].member.kind == member->kind && shard->at[i].member.id == member->id)
			return i;
	return -1;
}

static void remove_at(struct shard *shard, int i)
{
	shard->n--;
	memmove(&shard->at[i], &shard->at[i + 1], (size_t)(shard->n - i) * sizeof(shard->at[0]));
}

static bool is_before(const struct place *a, const struct place *b)
{
	char ours[AX_MEMBER_TEXT], theirs[AX_MEMBER_TEXT];
	if (a->score != b->score)
		return a->score < b->score;
	ax_member_write(&a->member, ours);
	ax_member_write(&b->member, theirs);
	return strcmp(ours, theirs) < 0;
}

static void insert(struct shard *shard, struct place place)
{
	int i = shard->n;
	if (shard->n == shard->cap) {
		shard->cap = shard->cap == 0 ? 16 : shard->cap * 2;
		shard->at = ax_realloc(shard->at, (size_t)shard->cap * sizeof(shard->at[0]));
	}
	while (i > 0 && is_before(&place, &shard->at[i - 1]))
		i--;
	memmove(&shard->at[i + 1], &shard->at[i], (size_t)(shard->n - i) * sizeof(shard->at[0]));
	shard->at[i] = place;
	shard->n++;
}

static void set_score(struct shard *shard, int i, int64_t score)
{
	struct place place = { shard->at[i].member, score };
	remove_at(shard, i);
	insert(shard, place);
}

/* --- the port ----------------------------------------------------------------------------------------------------- */

static void answer(struct ax_mem_queue *queue, ax_queue_done *done, void *user, bool good)
{
	if (done != NULL)
		done(user, good && !queue->mute);
}

static bool put(struct ax_queue *base, const struct ax_queue_entry *entries, int n, ax_queue_done *done, void *user)
{
	struct ax_mem_queue *queue = queue_of(base);
	AX_ASSERT(n <= AX_QUEUE_PUT_MAX);
	if (queue->down)
		return false;
	for (int i = 0; i < n; i++) {
		const struct ax_queue_entry *entry = &entries[i];
		struct shard *shard = &queue->shard[entry->shard];
		int old = find(shard, &entry->member);
		if (old >= 0)
			remove_at(shard, old);
		if (entry->due_ms > 0)
			insert(shard, (struct place){ entry->member, ax_queue_score(entry->due_ms, entry->priority) });
	}
	answer(queue, done, user, true);
	return true;
}

static bool take(struct ax_queue *base, int number, int64_t now_ms, int limit, ax_queue_taker *taker, void *user)
{
	struct ax_mem_queue *queue = queue_of(base);
	struct shard *shard = &queue->shard[number];
	struct ax_member members[AX_QUEUE_TAKE_MAX];
	int n = 0;
	AX_ASSERT(limit <= AX_QUEUE_TAKE_MAX);
	if (queue->down)
		return false;
	while (n < limit && n < shard->n && shard->at[n].score <= ax_queue_score(now_ms, 0)) {
		members[n] = shard->at[n].member;
		n++;
	}
	for (int i = 0; i < n; i++)
		set_score(shard, find(shard, &members[i]), ax_queue_score(now_ms + AX_QUEUE_HIDE_MS, 0));
	struct ax_queue_taken taken = { .shard = number, .members = members, .n = n };
	if (strcmp(shard->mark, queue->identity) == 0)
		taken.mark = AX_QUEUE_OURS;
	else if (shard->mark[0] != '\0')
		taken.mark = AX_QUEUE_FOREIGN;
	if (shard->n > 0)
		taken.next_ms = shard->at[0].score / 16;
	taker(user, queue->mute ? NULL : &taken);
	return true;
}

static bool size(struct ax_queue *base, int shard, ax_queue_count *count, void *user)
{
	struct ax_mem_queue *queue = queue_of(base);
	if (queue->down)
		return false;
	count(user, queue->mute ? -1 : queue->shard[shard].n);
	return true;
}

static bool load_begin(struct ax_queue *base, int shard, const char *token, ax_queue_done *done, void *user)
{
	struct ax_mem_queue *queue = queue_of(base);
	if (queue->down)
		return false;
	copy_text(queue->shard[shard].note, token);
	answer(queue, done, user, true);
	return true;
}

static bool load_end(struct ax_queue *base, int number, const char *token, ax_queue_done *done, void *user)
{
	struct ax_mem_queue *queue = queue_of(base);
	struct shard *shard = &queue->shard[number];
	if (queue->down)
		return false;
	bool noted = strcmp(shard->note, token) == 0;
	if (noted) {
		shard->note[0] = '\0';
		copy_text(shard->mark, queue->identity);
	}
	answer(queue, done, user, noted);
	return true;
}

/* The lock of a name that still lives, or a free place; NULL when there is none. */
static struct lock *find_lock(struct ax_mem_queue *queue, const char *name, bool held)
{
	int64_t now = ax_mono_ms(queue->clock);
	struct lock *empty = NULL;
	for (int i = 0; i < LOCKS_MAX; i++) {
		struct lock *lock = &queue->locks[i];
		bool lives = lock->until > now;
		if (lives && strcmp(lock->name, name) == 0)
			return lock;
		if (!lives)
			empty = lock;
	}
	return held ? NULL : empty;
}

static bool take_lock(
	struct ax_queue *base, const char *name, const char *token, int64_t life_ms, ax_queue_done *done, void *user)
{
	struct ax_mem_queue *queue = queue_of(base);
	if (queue->down)
		return false;
	struct lock *lock = find_lock(queue, name, true);
	bool mine = lock == NULL;
	if (mine)
		lock = find_lock(queue, name, false);
	mine = mine && lock != NULL;
	if (mine) {
		copy_text(lock->name, name);
		copy_text(lock->token, token);
		lock->until = ax_mono_ms(queue->clock) + life_ms;
	}
	answer(queue, done, user, mine);
	return true;
}

/* A life of 0 ends it. */
static bool set_life(
	struct ax_queue *base, const char *name, const char *token, int64_t life_ms, ax_queue_done *done, void *user)
{
	struct ax_mem_queue *queue = queue_of(base);
	if (queue->down)
		return false;
	struct lock *lock = find_lock(queue, name, true);
	bool mine = lock != NULL && strcmp(lock->token, token) == 0;
	if (mine)
		lock->until = ax_mono_ms(queue->clock) + life_ms;
	answer(queue, done, user, mine);
	return true;
}

static bool unlock(struct ax_queue *base, const char *name, const char *token, ax_queue_done *done, void *user)
{
	return set_life(base, name, token, 0, done, user);
}

static bool publish(struct ax_queue *base, const struct ax_hint *hint)
{
	struct ax_mem_queue *queue = queue_of(base);
	if (queue->down)
		return false;
	for (int i = 0; i < queue->n_ports; i++)
		if (queue->ports[i].ears.heard != NULL && !queue->mute)
			queue->ports[i].ears.heard(queue->ports[i].ears.user, hint);
	return true;
}

static void health(struct ax_queue *base, struct ax_queue_health *ret)
{
	struct ax_mem_queue *queue = queue_of(base);
	*ret = (struct ax_queue_health){ .up = !queue->down, .losses = queue->losses };
}

struct ax_mem_queue *ax_mem_queue_new(struct ax_clock *clock, const char *identity)
{
	struct ax_mem_queue *queue = ax_malloc(sizeof(*queue));
	queue->clock = clock;
	copy_text(queue->identity, identity);
	return queue;
}

void ax_mem_queue_free(struct ax_mem_queue *queue)
{
	if (queue == NULL)
		return;
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		free(queue->shard[i].at);
		free(queue->copy[i].at);
	}
	free(queue);
}

struct ax_queue *ax_mem_queue_port(struct ax_mem_queue *queue, const struct ax_queue_ears *ears)
{
	static const struct ax_queue_ops ops = { put, take, size, load_begin, load_end, take_lock, set_life, unlock,
		publish, health };
	AX_ASSERT(queue->n_ports < PORTS_MAX);
	struct port *port = &queue->ports[queue->n_ports++];
	*port = (struct port){ .base = { &ops }, .queue = queue };
	if (ears != NULL)
		port->ears = *ears;
	return &port->base;
}

/* --- bad times ---------------------------------------------------------------------------------------------------- */

void ax_mem_queue_set_up(struct ax_mem_queue *queue, bool up)
{
	if (!up && !queue->down)
		queue->losses++;
	queue->down = !up;
}

void ax_mem_queue_set_mute(struct ax_mem_queue *queue, bool mute)
{
	queue->mute = mute;
}

void ax_mem_queue_flush(struct ax_mem_queue *queue)
{
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		queue->shard[i].n = 0;
		queue->shard[i].mark[0] = '\0';
		queue->shard[i].note[0] = '\0';
	}
	memset(queue->locks, 0, sizeof(queue->locks));
}

static void copy_shards(struct shard *to, const struct shard *from)
{
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		struct place *at = ax_realloc(to[i].at, (size_t)AX_MAX(from[i].n, 1) * sizeof(*at));
		if (from[i].n > 0)
			memcpy(at, from[i].at, (size_t)from[i].n * sizeof(*at));
		to[i] = from[i];
		to[i].at = at;
		to[i].cap = AX_MAX(from[i].n, 1);
	}
}

void ax_mem_queue_keep_copy(struct ax_mem_queue *queue)
{
	copy_shards(queue->copy, queue->shard);
}

void ax_mem_queue_use_copy(struct ax_mem_queue *queue)
{
	copy_shards(queue->shard, queue->copy);
}

/* The n-th of all, or NULL. */
static struct shard *find_nth(struct ax_mem_queue *queue, int n, int *ret_i)
{
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		*ret_i = n;
		if (n < queue->shard[i].n)
			return &queue->shard[i];
		n -= queue->shard[i].n;
	}
	return NULL;
}

bool ax_mem_queue_lose(struct ax_mem_queue *queue, int n)
{
	int i;
	struct shard *shard = find_nth(queue, n, &i);
	if (shard != NULL)
		remove_at(shard, i);
	return shard != NULL;
}

bool ax_mem_queue_shift(struct ax_mem_queue *queue, int n, int64_t shift_ms)
{
	int i;
	struct shard *shard = find_nth(queue, n, &i);
	if (shard != NULL)
		set_score(shard, i, AX_MAX(shard->at[i].score + shift_ms * 16, 16));
	return shard != NULL;
}
