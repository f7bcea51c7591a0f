#include "server/due_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/taken.h"
#include "server/server.h"

enum { READY_MAX = 32 }; /* groups told after one commit: beyond, the notice board must do */

static struct ax_due_queue *queue_of(struct ax_feed_host *host)
{
	return (struct ax_due_queue *)(void *)((char *)host - offsetof(struct ax_due_queue, host));
}

static void look(struct ax_due_queue *q)
{
	struct ax_server *server = q->server;
	if (q->stopped)
		return;
	int64_t wait = ax_feed_look(&q->feed, ax_now_ms(&server->clock.port), ax_mono_ms(&server->clock.port));
	ax_alarm_set(&q->alarm, wait);
}

static void look_again(void *user)
{
	look(user);
}

static void on_alarm(void *user, bool clock_was_set)
{
	(void)clock_was_set; /* the scheduler says so */
	look(user);
}

/* --- firing ------------------------------------------------------------------------------------------------------- */

struct fire_errand {
	struct ax_errand errand;
	struct ax_due_queue *q;
	struct ax_arena arena;
	int shard, n, n_entries;
	struct ax_member members[AX_QUEUE_TAKE_MAX];
	struct ax_queue_entry entries[AX_TAKEN_ENTRIES_MAX];
	enum ax_status status;
	struct ax_err err;
};

static void run_fire(struct ax_errand *errand, struct ax_side *side)
{
	struct fire_errand *f = (struct fire_errand *)errand;
	struct ax_arena *own = side->ctx->arena;
	side->ctx->arena = &f->arena;
	f->status = ax_taken_do(side->ctx, f->shard, f->members, f->n, f->entries, &f->n_entries, &f->err);
	side->ctx->arena = own;
}

static void fire_done(struct ax_errand *errand)
{
	struct fire_errand *f = (struct fire_errand *)errand;
	struct ax_due_queue *q = f->q;
	ax_feed_fired(&q->feed);
	/* what failed shows itself again, and is late until then; said once: many may fail each second */
	if (f->status != AX_OK && !q->failing)
		ax_log_text(&q->server->log, AX_LOG_WARN, "fire_failed", "message", f->err.msg);
	q->failing = f->status != AX_OK;
	if (f->status == AX_OK && errand->commit == AX_OK)
		ax_feed_changed(&q->feed, f->entries, f->n_entries, ax_now_ms(&q->server->clock.port));
	ax_arena_done(&f->arena);
	free(f);
	look(q);
}

static void fire(struct ax_feed_host *host, int shard, const struct ax_member *members, int n)
{
	struct ax_due_queue *q = queue_of(host);
	struct ax_server *server = q->server;
	if (!ax_pulse_may_fire(server)) { /* they show themselves again */
		ax_feed_fired(&q->feed);
		return;
	}
	struct fire_errand *f = ax_malloc(sizeof *f);
	f->errand = (struct ax_errand){ .run = run_fire, .done = fire_done };
	f->q = q;
	f->shard = shard;
	f->n = n;
	memcpy(f->members, members, (size_t)n * sizeof *members);
	ax_lane_post_own(&server->lanes, server->threads.tick_lane, &f->errand);
	ax_polls_follow(server);
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

struct read_errand {
	struct ax_errand errand;
	struct ax_due_queue *q;
	struct ax_arena arena;
	struct ax_feed_page page;
	struct ax_dues dues;
	enum ax_status status;
	struct ax_err err;
};

static void run_read(struct ax_errand *errand, struct ax_side *side)
{
	struct read_errand *r = (struct read_errand *)errand;
	r->status = ax_feed_read(side->store, &r->arena, &r->page, &r->dues, &r->err);
}

static void read_done(struct ax_errand *errand)
{
	struct read_errand *r = (struct read_errand *)errand;
	struct ax_due_queue *q = r->q;
	ax_feed_read_done(&q->feed, r->status == AX_OK ? &r->dues : NULL);
	ax_arena_done(&r->arena);
	free(r);
	look(q);
}

static void read_page(struct ax_feed_host *host, const struct ax_feed_page *page)
{
	struct ax_due_queue *q = queue_of(host);
	struct read_errand *r = ax_malloc(sizeof *r);
	r->errand = (struct ax_errand){ .run = run_read, .done = read_done };
	r->q = q;
	r->page = *page;
	ax_lane_post_own(&q->server->lanes, AX_LANE_READ, &r->errand);
}

/* --- what is told ------------------------------------------------------------------------------------------------- */

static void event(struct ax_feed_host *host, const char *name, int64_t number)
{
	struct ax_server *server = queue_of(host)->server;
	if (strcmp(name, "queue_foreign") == 0) {
		ax_log_event(&server->log, AX_LOG_ERROR, name, "\"shard\":%" PRId64 ",\"message\":\"%s\"", number,
			"another installation keeps its queue there: it is left alone, and the database decides; give "
			"each its own Redis or database number, or delete the keys ax:*");
		return;
	}
	if (strcmp(name, "queue_loaded") == 0) {
		ax_log_event(&server->log, AX_LOG_INFO, name, "\"members\":%" PRId64, number);
		return;
	}
	ax_log_event(&server->log, AX_LOG_INFO, name, "%s", "");
	ax_scheduler_look(server); /* whoever decides now may know of more */
}

static void heard(void *user, const struct ax_hint *hint)
{
	struct ax_due_queue *q = user;
	if (q->stopped)
		return;
	switch (hint->kind) {
	case AX_HINT_EARLIER:
		ax_feed_heard(&q->feed, hint->shard, hint->due_ms); /* a look follows */
		break;
	case AX_HINT_READY: {
		const char *group = hint->group_key;
		const struct ax_hints ready = { .groups = &group, .n_groups = 1 };
		ax_polls_hints(q->server, &ready);
		break;
	}
	case AX_HINT_CHANGED:
		ax_pulse_hurry(q->server);
		break;
	}
}

int64_t ax_due_queue_leads_ms(struct ax_server *server)
{
	struct ax_due_queue *q = &server->due_queue;
	bool leads = q->redis != NULL && !q->stopped && ax_feed_leads(&q->feed, ax_mono_ms(&server->clock.port));
	return leads ? AX_QUEUE_LATE_MS : 0;
}

void ax_due_queue_found_late(struct ax_server *server)
{
	struct ax_due_queue *q = &server->due_queue;
	if (q->redis != NULL)
		ax_feed_found_late(&q->feed, ax_mono_ms(&server->clock.port));
}

void ax_due_queue_hints(struct ax_server *server, const struct ax_hints *hints)
{
	struct ax_due_queue *q = &server->due_queue;
	if (q->redis == NULL || q->stopped)
		return;
	if (ax_feed_changed(&q->feed, hints->dues, (int)hints->n_dues, ax_now_ms(&server->clock.port)))
		look(q);
	for (size_t i = 0; i < hints->n_groups && i < READY_MAX && server->board.heard; i++) {
		struct ax_hint ready = { .kind = AX_HINT_READY, .group_key = hints->groups[i] };
		(void)q->relay.port.ops->publish(&q->relay.port, &ready); /* the notice board tells it, too */
	}
}

void ax_due_queue_say_changed(struct ax_server *server)
{
	struct ax_due_queue *q = &server->due_queue;
	struct ax_hint changed = { .kind = AX_HINT_CHANGED, .group_key = "" };
	if (q->redis != NULL)
		(void)q->relay.port.ops->publish(&q->relay.port, &changed); /* the others look soon anyway */
}

/* --- life --------------------------------------------------------------------------------------------------------- */

enum ax_status ax_due_queue_start(struct ax_server *server, struct ax_err *err)
{
	static const struct ax_feed_host_ops ops = { fire, read_page, event };
	struct ax_due_queue *q = &server->due_queue;
	const struct ax_config *config = &server->config;
	q->server = server;
	if (!config->redis)
		return AX_OK;
	if (!server->threads.backend->ops->shared)
		ax_log_text(&server->log, AX_LOG_INFO, "queue_of_one", "message",
			"a server over a file is the only one: a queue spares its database nothing");
	ax_queue_relay_init(&q->relay, &server->loop, (struct ax_queue_ears){ heard, q }, look_again, q);
	struct ax_redis_queue_config redis = {
		.url = config->redis_url,
		.ca_file = config->queue_ca,
		.cert_file = config->queue_cert[0] != '\0' ? config->queue_cert : NULL,
		.key_file = config->queue_cert[0] != '\0' ? config->queue_key : NULL,
		.identity = server->store_id,
		.ears = { ax_queue_relay_hear, &q->relay },
		.log = &server->log.port,
	};
	enum ax_status status = ax_redis_queue_new(&redis, &q->redis, err);
	if (status != AX_OK) {
		ax_queue_relay_done(&q->relay);
		return status;
	}
	ax_queue_relay_join(&q->relay, ax_redis_queue_port(q->redis));
	snprintf(q->token, sizeof q->token, "%016" PRIx64 "%016" PRIx64, ax_rand_u64(&server->rand.port),
		ax_rand_u64(&server->rand.port));
	q->host.ops = &ops;
	ax_feed_init(&q->feed, &q->relay.port, &q->host, config->shards, q->token);
	status = ax_alarm_open(&q->alarm, &server->loop, on_alarm, q, err);
	if (status != AX_OK)
		return status;
	uv_unref((uv_handle_t *)&q->alarm.poll);
	ax_alarm_set(&q->alarm, 0);
	return AX_OK;
}

void ax_due_queue_stop(struct ax_server *server)
{
	struct ax_due_queue *q = &server->due_queue;
	if (q->redis == NULL || q->stopped)
		return;
	q->stopped = true;
	ax_feed_stop(&q->feed);
	ax_alarm_close(&q->alarm);
}

void ax_due_queue_close(struct ax_server *server)
{
	struct ax_due_queue *q = &server->due_queue;
	if (q->redis == NULL)
		return;
	ax_due_queue_stop(server);
	ax_redis_queue_free(q->redis);
	ax_queue_relay_done(&q->relay);
	q->redis = NULL;
}

/* --- metrics ------------------------------------------------------------------------------------------------------ */

static void metric(struct ax_buf *out, const char *name, const char *type, const char *help, int64_t value)
{
	ax_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRId64 "\n", name, help, name, type, name, value);
}

void ax_due_queue_metrics(struct ax_server *server, struct ax_buf *out)
{
	struct ax_due_queue *q = &server->due_queue;
	struct ax_redis_queue_stats stats;
	if (q->redis == NULL)
		return;
	ax_redis_queue_stats(q->redis, &stats);
	metric(out, "ax_redis_up", "gauge", "1 while Redis takes commands.", stats.up);
	metric(out, "ax_due_queue_leads", "gauge", "1 while the due queue decides, 0 while the database alone does.",
		ax_due_queue_leads_ms(server) > 0);
	metric(out, "ax_due_queue_taken_total", "counter", "Members taken from the due queue.", q->feed.n_taken);
	metric(out, "ax_due_queue_put_total", "counter", "Members put or dropped after commits.", q->feed.n_put);
	metric(out, "ax_due_queue_loads_total", "counter", "Loads of the due queue from the database.",
		q->feed.n_loads);
	metric(out, "ax_redis_losses_total", "counter", "Connections to Redis that were lost.", stats.losses);
	metric(out, "ax_redis_refused_total", "counter", "Commands that Redis answered with an error.", stats.refused);
}
