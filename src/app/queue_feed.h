#ifndef AX_APP_QUEUE_FEED_H
#define AX_APP_QUEUE_FEED_H

/* A server's side of the due queue (port/queue.h): takes what is due in its shards, keeps the queue filled with what
 * becomes due in the next minutes, fills it anew when it was lost, and knows whether it can be relied on.
 *
 * While it leads, the store is only searched for what is late; while it is away, slow, empty, somebody else's or being
 * filled, the store alone decides, as if there were no queue. So whatever the queue does costs lateness, nothing else.
 *
 * All calls belong to one thread, and the queue's callbacks must come in it. */

#include "base/arena.h"
#include "base/err.h"
#include "port/lists.h"
#include "port/queue.h"

enum {
	AX_QUEUE_AHEAD_MS = 600000, /* what is due later is not in the queue */
	AX_QUEUE_LATE_MS = 1500,    /* what is so late is taken from the store, whoever's shard it is */
	AX_FEED_PAGE = 2000,        /* rows that one read of a load takes */
};

/* The next rows of a load: those of one kind, by (time, id), after the one given. */
struct ax_feed_page {
	enum ax_member_kind kind;
	int64_t after_time, after_id, until;
};

struct ax_feed_host;
struct ax_feed_host_ops {
	/* Members of a shard are due: ax_tick_taken in a transaction, then ax_feed_fired, and ax_feed_changed with what
	 * it said. The members are borrowed. */
	void (*fire)(struct ax_feed_host *host, int shard, const struct ax_member *members, int n);
	/* Reads a page (ax_feed_read), then calls ax_feed_read_done, maybe from within. */
	void (*read)(struct ax_feed_host *host, const struct ax_feed_page *page);
	/* Something of note: "queue_leads", "queue_lags", "queue_foreign", "queue_loaded". */
	void (*event)(struct ax_feed_host *host, const char *name, int64_t members);
};
struct ax_feed_host {
	const struct ax_feed_host_ops *ops;
};

enum ax_feed_load_state {
	AX_FEED_IDLE,
	AX_FEED_LOCKING,
	AX_FEED_BEGINNING,
	AX_FEED_FILLING, /* reads pages and puts what is in them */
	AX_FEED_ENDING,
};

struct ax_feed;
struct ax_feed_shard {
	struct ax_feed *feed;
	bool asking;
	enum ax_queue_mark mark;
	int64_t next_ms; /* when its first member is due; 0 = not known */
	int64_t asked_mono_ms, answered_mono_ms;
};

struct ax_feed {
	struct ax_queue *queue;
	struct ax_feed_host *host;
	uint32_t shards; /* that are taken from here: bits */
	char token[AX_QUEUE_NAME_MAX + 1];
	struct ax_feed_shard shard[AX_QUEUE_SHARDS];
	int firing; /* batches under way */
	bool led;   /* as it was told last */
	bool stopped;
	int64_t now_ms, mono_ms; /* of the last look */
	int64_t losses;          /* that were dealt with */

	struct {
		enum ax_feed_load_state state;
		bool whole;   /* everything, with a mark at its end; else what a minute adds */
		bool failed;  /* a part of it was not done */
		bool reading; /* a page is on its way */
		bool all_read;
		int waiting; /* answers */
		struct ax_feed_page page;
		int64_t losses, members;
		int64_t renew_mono_ms;
	} load;
	bool found_late; /* rows that the queue should have had: the next load is one of everything */
	int64_t load_again_mono_ms, whole_again_mono_ms; /* not before */
	int64_t late_again_mono_ms;
	int64_t loaded_until_ms; /* 0 = nothing is known to be there */

	int64_t n_taken, n_put, n_loads; /* for metrics */
};

/* `token` tells this server from others. */
void ax_feed_init(
	struct ax_feed *feed, struct ax_queue *queue, struct ax_feed_host *host, uint32_t shards, const char *token);

/* Does what is to be done now; returns in how many milliseconds it wants to look again, 1 to 1000. */
int64_t ax_feed_look(struct ax_feed *feed, int64_t now_ms, int64_t mono_ms);

/* The queue decides what is due; else the store alone does. */
bool ax_feed_leads(const struct ax_feed *feed, int64_t mono_ms);

/* Rows were written: their members belong here now. Returns true when one is due earlier than was known: look. */
bool ax_feed_changed(struct ax_feed *feed, const struct ax_queue_entry *entries, int n, int64_t now_ms);
/* A batch that `fire` was given is done, or failed. */
void ax_feed_fired(struct ax_feed *feed);
/* The store had rows that were late, although the queue leads: it has lost some. */
void ax_feed_found_late(struct ax_feed *feed, int64_t mono_ms);
/* Another server said so. Returns true when it is news: look. */
bool ax_feed_heard(struct ax_feed *feed, int shard, int64_t due_ms);

/* Reads a page in a transaction; for `read`. */
struct ax_store;
AX_MUST_USE enum ax_status ax_feed_read(struct ax_store *store, struct ax_arena *arena, const struct ax_feed_page *page,
	struct ax_dues *ret, struct ax_err *err);
/* `dues` NULL = it failed. Fewer than AX_FEED_PAGE = there are no more. */
void ax_feed_read_done(struct ax_feed *feed, const struct ax_dues *dues);

/* No more calls to the host; callbacks may still come. */
void ax_feed_stop(struct ax_feed *feed);

#endif
