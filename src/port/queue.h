#ifndef AX_PORT_QUEUE_H
#define AX_PORT_QUEUE_H

/* The due queue of several servers: which tasks and runs come due in the next minutes, for whoever takes them first.
 *
 * It is an index that may be lost, old or wrong at any moment: the rows of the store are the truth, a member says "look
 * at this row then". Taking hides a member for a few seconds and does not remove it: whoever took it puts or drops it
 * by the row's truth after the commit, and when the taker dies it shows itself again.
 *
 * No call waits. False: refused, now, and the callback will not be called; the caller goes on with the store alone.
 * Otherwise the callback is called exactly once, maybe from within the call, maybe from another thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

enum {
	AX_QUEUE_SHARDS = 16,
	AX_QUEUE_TAKE_MAX = 200, /* members of one take */
	AX_QUEUE_PUT_MAX = 500,  /* entries of one put */
	AX_QUEUE_HIDE_MS = 5000, /* what was taken shows itself again after that */
	AX_QUEUE_NAME_MAX = 200, /* bytes of a group, a lock's name, a token */
};

enum ax_member_kind { AX_MEMBER_TASK = 't', AX_MEMBER_RUN = 'r' };

/* A task that fires by itself, or a run that waits for its time (delay, retry). */
struct ax_member {
	enum ax_member_kind kind;
	int64_t id;
};

/* Where a member belongs: put at `due_ms`, or dropped when that is 0. */
struct ax_queue_entry {
	struct ax_member member;
	int shard;
	int64_t due_ms, priority; /* 1-10, 10 first */
};

enum ax_queue_mark {
	AX_QUEUE_UNMARKED, /* nobody has loaded it since it was lost */
	AX_QUEUE_OURS,
	AX_QUEUE_FOREIGN, /* another installation keeps its members there */
};

struct ax_queue_taken {
	int shard;
	enum ax_queue_mark mark;
	const struct ax_member *members; /* in order of their scores */
	int n;
	int64_t next_ms; /* when the first of those that stay is due, or shows itself again; 0 = none */
};

/* What servers tell each other. Hints: they may be lost, and come from whomever. */
enum ax_hint_kind {
	AX_HINT_READY = 'g',   /* runs of a group may be claimable */
	AX_HINT_EARLIER = 'e', /* something in a shard is due earlier than was known */
	AX_HINT_CHANGED = 'c', /* the change sequence of the store went on */
};

struct ax_hint {
	enum ax_hint_kind kind;
	const char *group_key; /* READY; else "" */
	int shard;             /* EARLIER */
	int64_t due_ms;        /* EARLIER */
};

struct ax_queue_health {
	bool up;        /* it takes requests */
	int64_t losses; /* grows when it may have lost what it said it had: it is to be loaded anew */
};

typedef void ax_queue_done(void *user, bool done); /* false: it may have happened or not */
/* NULL = no answer: what it would have been is hidden, or not. The answer is borrowed. */
typedef void ax_queue_taker(void *user, const struct ax_queue_taken *taken);
typedef void ax_queue_count(void *user, int64_t n); /* -1 = no answer */

struct ax_queue;
struct ax_queue_ops {
	/* Puts and drops up to AX_QUEUE_PUT_MAX members, of any shards. */
	bool (*put)(
		struct ax_queue *queue, const struct ax_queue_entry *entries, int n, ax_queue_done *done, void *user);
	/* Up to `limit` members of a shard that are due at `now_ms`, and hides them. */
	bool (*take)(struct ax_queue *queue, int shard, int64_t now_ms, int limit, ax_queue_taker *taker, void *user);
	/* Members of a shard, the mark not counted. */
	bool (*size)(struct ax_queue *queue, int shard, ax_queue_count *count, void *user);
	/* A load begins: leaves a note of `token` in the shard. */
	bool (*load_begin)(struct ax_queue *queue, int shard, const char *token, ax_queue_done *done, void *user);
	/* The load has put everything: marks the shard as ours. Not done when the note is not there any more: the shard
	 * was lost meanwhile. */
	bool (*load_end)(struct ax_queue *queue, int shard, const char *token, ax_queue_done *done, void *user);

	/* Locks, to spare work twice and for nothing else. One of a name at a time, for `life_ms`; done = it is ours.
	 */
	bool (*lock)(struct ax_queue *queue, const char *name, const char *token, int64_t life_ms, ax_queue_done *done,
		void *user);
	/* Another life from now on, while it still is the token's. */
	bool (*renew)(struct ax_queue *queue, const char *name, const char *token, int64_t life_ms, ax_queue_done *done,
		void *user);
	/* Only what is the token's is released. */
	bool (*unlock)(struct ax_queue *queue, const char *name, const char *token, ax_queue_done *done, void *user);

	/* Tells all servers, this one too. */
	bool (*publish)(struct ax_queue *queue, const struct ax_hint *hint);
	void (*health)(struct ax_queue *queue, struct ax_queue_health *ret);
};

struct ax_queue {
	const struct ax_queue_ops *ops;
};

/* Who hears hints: set when a queue is made. Maybe called from another thread; the hint is borrowed. */
struct ax_queue_ears {
	void (*heard)(void *user, const struct ax_hint *hint);
	void *user;
};

/* The shard of a group's members. */
int ax_queue_shard(const char *group_key);
/* Orders members by their due instant, those of one millisecond by priority. */
int64_t ax_queue_score(int64_t due_ms, int64_t priority);

/* "t17", "r9007199254740993" */
enum { AX_MEMBER_TEXT = 24 };
void ax_member_write(const struct ax_member *member, char ret[AX_MEMBER_TEXT]);
bool ax_member_read(const char *text, size_t len, struct ax_member *ret);

/* "g:payments", "e:7:1767225600000", "c:" */
enum { AX_HINT_TEXT = AX_QUEUE_NAME_MAX + 32 };
void ax_hint_write(const struct ax_hint *hint, char ret[AX_HINT_TEXT]);
/* `group` holds what the hint refers to. */
bool ax_hint_read(const char *text, size_t len, char group[AX_QUEUE_NAME_MAX + 1], struct ax_hint *ret);

#endif
