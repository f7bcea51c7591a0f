#include "app/queue_feed.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "port/store.h"

enum {
	ASK_MS = 1000,    /* a shard is asked at least so often: other servers put members, too */
	ANSWER_MS = 2500, /* a shard that was not heard of for so long is not relied on */
	FIRING_MAX = 4,   /* batches under way: what is taken beyond would show itself again before its turn */
	LOAD_EVERY_MS = 60000,
	LOAD_OVERLAP_MS = 60000, /* a commit may come to light so much after its time was looked at */
	LOAD_AGAIN_MS = 1000,
	LATE_AGAIN_MS = 30000, /* after a load for late rows there is none for so long */
	LOCK_MS = 15000,       /* of who loads; renewed at a third … */
	LOCK_KEEP_MS = 50000,  /* … and kept after a minute's load, so that others leave this minute out */
	LOCK_REFUSED_MS = 10000,
	PUTS_AHEAD = 8, /* under way while the next page is read */
};

static bool is_mine(const struct ax_feed *feed, int shard)
{
	return (feed->shards >> shard & 1) != 0;
}

/* --- whether it leads --------------------------------------------------------------------------------------------- */

bool ax_feed_leads(const struct ax_feed *feed, int64_t mono_ms)
{
	struct ax_queue_health health;
	feed->queue->ops->health(feed->queue, &health);
	bool leads = health.up && feed->shards != 0;
	for (int i = 0; leads && i < AX_QUEUE_SHARDS; i++) {
		const struct ax_feed_shard *shard = &feed->shard[i];
		leads = !is_mine(feed, i) ||
			(shard->mark == AX_QUEUE_OURS && shard->answered_mono_ms != 0 &&
				mono_ms - shard->answered_mono_ms <= ANSWER_MS);
	}
	return leads;
}

static void tell_changes(struct ax_feed *feed)
{
	bool leads = ax_feed_leads(feed, feed->mono_ms);
	if (leads != feed->led)
		feed->host->ops->event(feed->host, leads ? "queue_leads" : "queue_lags", 0);
	feed->led = leads;
}

/* --- taking ------------------------------------------------------------------------------------------------------- */

static void set_mark(struct ax_feed *feed, struct ax_feed_shard *shard, enum ax_queue_mark mark)
{
	if (mark == AX_QUEUE_FOREIGN && shard->mark != mark)
		feed->host->ops->event(feed->host, "queue_foreign", shard - feed->shard);
	shard->mark = mark;
}

static void taken(void *user, const struct ax_queue_taken *taken)
{
	struct ax_feed_shard *shard = user;
	struct ax_feed *feed = shard->feed;
	shard->asking = false;
	if (taken == NULL || feed->stopped)
		return;
	shard->answered_mono_ms = shard->asked_mono_ms; /* what it said is as old as the question, at least */
	shard->next_ms = taken->next_ms;
	set_mark(feed, shard, taken->mark);
	if (taken->n == 0)
		return;
	feed->n_taken += taken->n;
	feed->firing++;
	feed->host->ops->fire(feed->host, taken->shard, taken->members, taken->n);
}

static void take(struct ax_feed *feed, int number)
{
	struct ax_feed_shard *shard = &feed->shard[number];
	bool due = shard->next_ms != 0 && shard->next_ms <= feed->now_ms && shard->mark == AX_QUEUE_OURS;
	/* whoever else's it may be, nothing of it is hidden from them */
	int limit = shard->mark == AX_QUEUE_OURS ? AX_QUEUE_TAKE_MAX : 0;
	if (shard->asking || feed->firing >= FIRING_MAX || (!due && feed->mono_ms - shard->asked_mono_ms < ASK_MS))
		return;
	shard->asked_mono_ms = feed->mono_ms;
	shard->next_ms = 0;
	shard->asking = true;
	if (!feed->queue->ops->take(feed->queue, number, feed->now_ms, limit, taken, shard))
		shard->asking = false;
}

void ax_feed_fired(struct ax_feed *feed)
{
	feed->firing--;
}

/* Nothing is written to a queue that may be another installation's: all shards of this server said that they are not.
 */
static bool may_write(const struct ax_feed *feed)
{
	bool may = !feed->stopped;
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		const struct ax_feed_shard *shard = &feed->shard[i];
		may = may && (!is_mine(feed, i) || (shard->answered_mono_ms != 0 && shard->mark != AX_QUEUE_FOREIGN));
	}
	return may;
}

/* --- putting ------------------------------------------------------------------------------------------------------ */

bool ax_feed_heard(struct ax_feed *feed, int shard, int64_t due_ms)
{
	struct ax_feed_shard *known = &feed->shard[shard];
	if (!is_mine(feed, shard) || (known->next_ms != 0 && known->next_ms <= due_ms))
		return false;
	known->next_ms = due_ms;
	return true;
}

/* What is due later than the queue reaches is not in it. */
static struct ax_queue_entry cut(struct ax_queue_entry entry, int64_t now_ms)
{
	if (entry.due_ms > now_ms + AX_QUEUE_AHEAD_MS)
		entry.due_ms = 0;
	return entry;
}

/* Whoever takes from that shard looks once a second anyway. */
static void tell_others(struct ax_feed *feed, const int64_t earliest[AX_QUEUE_SHARDS], int64_t now_ms)
{
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		struct ax_hint hint = { .kind = AX_HINT_EARLIER, .group_key = "", .shard = i, .due_ms = earliest[i] };
		if (earliest[i] != 0 && earliest[i] < now_ms + ASK_MS && !is_mine(feed, i))
			(void)feed->queue->ops->publish(feed->queue, &hint); /* a hint */
	}
}

bool ax_feed_changed(struct ax_feed *feed, const struct ax_queue_entry *entries, int n, int64_t now_ms)
{
	struct ax_queue_entry batch[AX_QUEUE_PUT_MAX];
	int64_t earliest[AX_QUEUE_SHARDS] = { 0 };
	bool earlier = false;
	for (int from = 0; from < n && may_write(feed);) {
		int some = 0;
		for (; from < n && some < AX_QUEUE_PUT_MAX; from++) {
			struct ax_queue_entry entry = batch[some++] = cut(entries[from], now_ms);
			int64_t *first = &earliest[entry.shard];
			if (entry.due_ms != 0 && (*first == 0 || entry.due_ms < *first))
				*first = entry.due_ms;
			earlier = (entry.due_ms != 0 && ax_feed_heard(feed, entry.shard, entry.due_ms)) || earlier;
		}
		feed->n_put += some;
		/* refused or lost: the row is late then, and found */
		(void)feed->queue->ops->put(feed->queue, batch, some, NULL, NULL);
	}
	tell_others(feed, earliest, now_ms);
	return earlier;
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

static void lock_name(const struct ax_feed *feed, char ret[24])
{
	snprintf(ret, 24, "load-%04x", (unsigned)feed->shards);
}

static void end_load(struct ax_feed *feed)
{
	char name[24];
	bool good = !feed->load.failed;
	lock_name(feed, name);
	if (good && !feed->load.whole)
		(void)feed->queue->ops->renew(feed->queue, name, feed->token, LOCK_KEEP_MS, NULL, NULL);
	else
		(void)feed->queue->ops->unlock(feed->queue, name, feed->token, NULL, NULL);
	feed->load.state = AX_FEED_IDLE;
	feed->load_again_mono_ms = feed->mono_ms + (good ? LOAD_EVERY_MS : LOAD_AGAIN_MS);
	feed->found_late = feed->found_late && !good;
	if (!good)
		return;
	feed->loaded_until_ms = feed->load.page.until;
	feed->losses = feed->load.losses;
	feed->n_loads++;
	if (feed->load.whole)
		feed->host->ops->event(feed->host, "queue_loaded", feed->load.members);
	/* a shard that was lost meanwhile is still not marked, and shows that at the next look */
	for (int i = 0; i < AX_QUEUE_SHARDS; i++)
		feed->shard[i].asked_mono_ms = feed->load.whole ? feed->mono_ms - ASK_MS : feed->shard[i].asked_mono_ms;
}

/* One of the answers that a step waits for; 0 left = the step is done. */
static bool step_is_done(struct ax_feed *feed, bool done)
{
	feed->load.failed = feed->load.failed || !done;
	return --feed->load.waiting == 0;
}

static void ended(void *user, bool done)
{
	struct ax_feed *feed = user;
	(void)done; /* a shard that was lost meanwhile says so itself */
	if (step_is_done(feed, true))
		end_load(feed);
}

static void end_pages(struct ax_feed *feed)
{
	if (!feed->load.whole || feed->load.failed) {
		end_load(feed);
		return;
	}
	feed->load.state = AX_FEED_ENDING;
	feed->load.waiting = 1;
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		feed->load.waiting += is_mine(feed, i);
		if (is_mine(feed, i) && !feed->queue->ops->load_end(feed->queue, i, feed->token, ended, feed))
			ended(feed, false);
	}
	ended(feed, true);
}

/* Reads on while the pages before are still being put, up to a few puts; ends when all is read and put. */
static void go_on(struct ax_feed *feed)
{
	bool over = feed->load.failed || feed->stopped;
	if (feed->load.reading)
		return;
	if (!over && !feed->load.all_read && feed->load.waiting <= PUTS_AHEAD) {
		feed->load.reading = true;
		feed->host->ops->read(feed->host, &feed->load.page);
		return;
	}
	if (feed->load.waiting > 0)
		return;
	if (over)
		end_load(feed);
	else
		end_pages(feed);
}

static void page_put(void *user, bool done)
{
	struct ax_feed *feed = user;
	(void)step_is_done(feed, done);
	go_on(feed);
}

static struct ax_queue_entry entry_of(enum ax_member_kind kind, const struct ax_due *due)
{
	return (struct ax_queue_entry){ { kind, due->id }, ax_queue_shard(due->group_key), due->time, due->priority };
}

static void put_page(struct ax_feed *feed, const struct ax_dues *dues)
{
	struct ax_queue_entry batch[AX_QUEUE_PUT_MAX];
	for (int from = 0; from < dues->n;) {
		int n = 0;
		for (; from < dues->n && n < AX_QUEUE_PUT_MAX; from++) {
			struct ax_queue_entry entry = entry_of(feed->load.page.kind, &dues->at[from]);
			if (is_mine(feed, entry.shard))
				batch[n++] = entry;
		}
		feed->load.members += n;
		feed->load.waiting += n > 0;
		if (n > 0 && !feed->queue->ops->put(feed->queue, batch, n, page_put, feed))
			page_put(feed, false);
	}
}

/* Where the next page begins: tasks first, then runs. */
static void turn_page(struct ax_feed *feed, const struct ax_dues *dues)
{
	struct ax_feed_page *page = &feed->load.page;
	if (dues->n == AX_FEED_PAGE) {
		page->after_time = dues->at[dues->n - 1].time;
		page->after_id = dues->at[dues->n - 1].id;
		return;
	}
	feed->load.all_read = page->kind == AX_MEMBER_RUN;
	page->kind = AX_MEMBER_RUN;
	page->after_time = feed->load.whole ? 0 : feed->loaded_until_ms - LOAD_OVERLAP_MS;
	page->after_id = 0;
}

void ax_feed_read_done(struct ax_feed *feed, const struct ax_dues *dues)
{
	if (dues == NULL) {
		feed->load.failed = true;
	} else if (!feed->stopped) {
		put_page(feed, dues);
		turn_page(feed, dues);
	}
	feed->load.reading = false;
	go_on(feed);
}

static void begun(void *user, bool done)
{
	struct ax_feed *feed = user;
	if (!step_is_done(feed, done))
		return;
	feed->load.state = AX_FEED_FILLING;
	go_on(feed);
}

static void begin_load(struct ax_feed *feed)
{
	feed->load.state = AX_FEED_BEGINNING;
	feed->load.waiting = 1;
	for (int i = 0; feed->load.whole && i < AX_QUEUE_SHARDS; i++) {
		feed->load.waiting += is_mine(feed, i);
		if (is_mine(feed, i) && !feed->queue->ops->load_begin(feed->queue, i, feed->token, begun, feed))
			begun(feed, false);
	}
	begun(feed, true);
}

static void locked(void *user, bool done)
{
	struct ax_feed *feed = user;
	if (done && !feed->stopped) {
		begin_load(feed);
		return;
	}
	/* another one loads, or nothing was heard */
	feed->load.state = AX_FEED_IDLE;
	feed->load_again_mono_ms = feed->mono_ms + (feed->load.whole ? LOAD_AGAIN_MS : LOCK_REFUSED_MS);
}

/* It lacks what it should have, or may lack it. */
static bool lacks_some(const struct ax_feed *feed, int64_t losses)
{
	bool lacks = feed->found_late || feed->loaded_until_ms == 0 || losses != feed->losses;
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		const struct ax_feed_shard *shard = &feed->shard[i];
		lacks = lacks || (is_mine(feed, i) && shard->mark == AX_QUEUE_UNMARKED);
	}
	return lacks;
}

/* Everything after a loss, and what a minute adds each minute. */
static void load(struct ax_feed *feed)
{
	struct ax_queue_health health;
	char name[24];
	feed->queue->ops->health(feed->queue, &health);
	bool whole = lacks_some(feed, health.losses);
	int64_t earliest = whole ? feed->whole_again_mono_ms : feed->load_again_mono_ms;
	if (feed->load.state != AX_FEED_IDLE || !health.up || !may_write(feed) || feed->mono_ms < earliest)
		return;
	feed->whole_again_mono_ms = feed->mono_ms + LOAD_AGAIN_MS;
	memset(&feed->load, 0, sizeof(feed->load));
	feed->load.state = AX_FEED_LOCKING;
	feed->load.whole = whole;
	feed->load.losses = health.losses;
	feed->load.renew_mono_ms = feed->mono_ms + LOCK_MS / 3;
	feed->load.page = (struct ax_feed_page){
		.kind = AX_MEMBER_TASK,
		.after_time = whole ? 0 : feed->loaded_until_ms - LOAD_OVERLAP_MS,
		.until = feed->now_ms + AX_QUEUE_AHEAD_MS,
	};
	lock_name(feed, name);
	if (!feed->queue->ops->lock(feed->queue, name, feed->token, LOCK_MS, locked, feed))
		locked(feed, false);
}

static void renew_lock(struct ax_feed *feed)
{
	char name[24];
	if (feed->load.state <= AX_FEED_LOCKING || feed->mono_ms < feed->load.renew_mono_ms)
		return;
	feed->load.renew_mono_ms = feed->mono_ms + LOCK_MS / 3;
	lock_name(feed, name);
	/* should it be another's by now, two load: twice the work, and the same queue */
	(void)feed->queue->ops->renew(feed->queue, name, feed->token, LOCK_MS, NULL, NULL);
}

void ax_feed_found_late(struct ax_feed *feed, int64_t mono_ms)
{
	if (!ax_feed_leads(feed, mono_ms) || mono_ms < feed->late_again_mono_ms)
		return;
	feed->late_again_mono_ms = mono_ms + LATE_AGAIN_MS;
	feed->found_late = true;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

void ax_feed_init(
	struct ax_feed *feed, struct ax_queue *queue, struct ax_feed_host *host, uint32_t shards, const char *token)
{
	memset(feed, 0, sizeof(*feed));
	feed->queue = queue;
	feed->host = host;
	feed->shards = shards;
	snprintf(feed->token, sizeof(feed->token), "%s", token);
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		feed->shard[i].feed = feed;
		feed->shard[i].asked_mono_ms = INT64_MIN / 2;
	}
	feed->load_again_mono_ms = feed->whole_again_mono_ms = INT64_MIN;
	feed->late_again_mono_ms = INT64_MIN;
}

int64_t ax_feed_look(struct ax_feed *feed, int64_t now_ms, int64_t mono_ms)
{
	int64_t wait = ASK_MS;
	if (feed->stopped)
		return wait;
	feed->now_ms = now_ms;
	feed->mono_ms = mono_ms;
	for (int i = 0; i < AX_QUEUE_SHARDS; i++) {
		struct ax_feed_shard *shard = &feed->shard[i];
		if (!is_mine(feed, i))
			continue;
		take(feed, i);
		if (shard->next_ms != 0 && !shard->asking && feed->firing < FIRING_MAX)
			wait = AX_MIN(wait, shard->next_ms - now_ms);
		wait = AX_MIN(wait, ASK_MS - (mono_ms - shard->asked_mono_ms));
	}
	load(feed);
	renew_lock(feed);
	tell_changes(feed);
	return AX_MAX(wait, 1);
}

void ax_feed_stop(struct ax_feed *feed)
{
	feed->stopped = true;
}

struct read {
	const struct ax_feed_page *page;
	struct ax_dues dues;
};

static enum ax_status read_page(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct read *read = arg;
	const struct ax_feed_page *page = read->page;
	if (page->kind == AX_MEMBER_TASK)
		return tx->ops->tasks_ahead(
			tx, page->after_time, page->after_id, page->until, AX_FEED_PAGE, &read->dues, err);
	return tx->ops->runs_ahead(tx, page->after_time, page->after_id, page->until, AX_FEED_PAGE, &read->dues, err);
}

enum ax_status ax_feed_read(struct ax_store *store, struct ax_arena *arena, const struct ax_feed_page *page,
	struct ax_dues *ret, struct ax_err *err)
{
	struct read read = { .page = page };
	enum ax_status status = ax_store_run(store, arena, read_page, &read, err);
	if (status == AX_OK)
		*ret = read.dues;
	return status;
}
