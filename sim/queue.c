/* The due queue of the servers, in a Redis that loses, forgets, goes away, falls silent and comes back as it was. */

#include <stdio.h>
#include <string.h>

#include "app/taken.h"
#include "sim.h"

enum { LOSE_MAX = 20 };

struct sim_fire {
	struct sim_server *server;
	int64_t life;
	int shard, n;
	struct ax_member members[AX_QUEUE_TAKE_MAX];
};

struct sim_read {
	struct sim_server *server;
	int64_t life;
	struct ax_feed_page page;
};

static struct sim_server *server_of(struct ax_feed_host *host)
{
	return (struct sim_server *)(void *)((char *)host - offsetof(struct sim_server, feed_host));
}

static int64_t now_of(const struct sim_server *server)
{
	return server->sim->now + server->sim->wall_step + server->offset;
}

/* --- a server's side ---------------------------------------------------------------------------------------------- */

static void look(struct sim *sim, void *arg);

static void plan_look(struct sim *sim, struct sim_server *server, int64_t at)
{
	at = AX_MAX(at, sim->now + 1);
	if (server->look_at != 0 && server->look_at <= at)
		return;
	server->look_at = at;
	sim_after(sim, at - sim->now, look, server);
}

static void look(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	if (!server->up || server->crash || server->look_at != sim->now)
		return;
	server->look_at = 0;
	int64_t wait = 100;
	if (server->paused_until <= sim->now)
		wait = ax_feed_look(&server->feed, now_of(server), sim->now);
	plan_look(sim, server, sim->now + wait);
}

void sim_queue_told(void *arg, const struct ax_queue_entry *entries, int n)
{
	struct sim_server *server = arg;
	if (server->up && !server->crash && ax_feed_changed(&server->feed, entries, n, now_of(server)))
		plan_look(server->sim, server, server->sim->now + 1);
}

static void do_fire(struct sim *sim, void *arg)
{
	struct sim_fire *fire = arg;
	struct sim_server *server = fire->server;
	struct ax_queue_entry entries[AX_TAKEN_ENTRIES_MAX];
	struct ax_err err = { 0 };
	int n = 0;
	enum ax_status status = ax_taken_do(&sim->at->ctx, fire->shard, fire->members, fire->n, entries, &n, &err);
	if (server->crash || server->life != fire->life)
		return;
	server->dispatch_due = true;
	ax_feed_fired(&server->feed);
	if (status == AX_OK)
		ax_feed_changed(&server->feed, entries, n, now_of(server));
	plan_look(sim, server, sim->now + 1);
}

/* A moment later, and when the server goes on: not from within the feed. */
static void begin_fire(struct sim *sim, void *arg)
{
	struct sim_fire *fire = arg;
	if (!fire->server->up || fire->server->crash || fire->server->life != fire->life)
		return;
	if (sim_server_ready(fire->server))
		sim_call(sim, fire->server, do_fire, fire);
	else
		sim_after(sim, 100, begin_fire, fire);
}

static void fire(struct ax_feed_host *host, int shard, const struct ax_member *members, int n)
{
	struct sim_server *server = server_of(host);
	struct sim_fire *fire = sim_keep(server->sim, sizeof(*fire));
	*fire = (struct sim_fire){ .server = server, .life = server->life, .shard = shard, .n = n };
	memcpy(fire->members, members, (size_t)n * sizeof(*members));
	sim_trace(server->sim, "server %s takes %d members of shard %d", server->name, n, shard);
	sim_after(server->sim, sim_between(server->sim, 1, 5), begin_fire, fire);
}

static void do_read(struct sim *sim, void *arg)
{
	struct sim_read *read = arg;
	struct sim_server *server = read->server;
	struct ax_ctx *ctx = &sim->at->ctx;
	struct ax_dues dues;
	struct ax_err err = { 0 };
	enum ax_status status = ax_feed_read(ctx->store, ctx->arena, &read->page, &dues, &err);
	if (!server->crash && server->life == read->life)
		ax_feed_read_done(&server->feed, status == AX_OK ? &dues : NULL);
}

static void begin_read(struct sim *sim, void *arg)
{
	struct sim_read *read = arg;
	if (!read->server->up || read->server->crash || read->server->life != read->life)
		return;
	if (sim_server_ready(read->server))
		sim_call(sim, read->server, do_read, read);
	else
		sim_after(sim, 100, begin_read, read);
}

static void read_page(struct ax_feed_host *host, const struct ax_feed_page *page)
{
	struct sim_server *server = server_of(host);
	struct sim_read *read = sim_keep(server->sim, sizeof(*read));
	*read = (struct sim_read){ .server = server, .life = server->life, .page = *page };
	sim_after(server->sim, sim_between(server->sim, 1, 20), begin_read, read);
}

static void event(struct ax_feed_host *host, const char *name, int64_t members)
{
	struct sim_server *server = server_of(host);
	sim_trace(server->sim, "server %s %s %lld", server->name, name, (long long)members);
}

void sim_queue_join(struct sim *sim, struct sim_server *server)
{
	static const struct ax_feed_host_ops ops = { fire, read_page, event };
	char token[32];
	if (sim->queue == NULL)
		return;
	snprintf(token, sizeof(token), "%s-%lld", server->name, (long long)server->life);
	server->feed_host.ops = &ops;
	ax_feed_init(&server->feed, server->queue, &server->feed_host, server->shards, token);
	server->look_at = 0;
	plan_look(sim, server, sim->now + 1);
}

int64_t sim_queue_leads_ms(const struct sim_server *server)
{
	bool leads = server->sim->queue != NULL && ax_feed_leads(&server->feed, server->sim->now);
	return leads ? AX_QUEUE_LATE_MS : 0;
}

/* --- what befalls it ---------------------------------------------------------------------------------------------- */

static void comes_back(struct sim *sim, void *arg)
{
	(void)arg;
	ax_mem_queue_set_up(sim->queue, true);
	ax_mem_queue_set_mute(sim->queue, false);
}

static void lose_some(struct sim *sim)
{
	for (int i = 0; i < LOSE_MAX; i++)
		(void)ax_mem_queue_lose(sim->queue, (int)sim_between(sim, 0, LOSE_MAX));
}

static void befall(struct sim *sim, void *arg)
{
	(void)arg;
	if (sim->calm) { /* what is lost now, only a look for what is late can find */
		comes_back(sim, NULL);
		lose_some(sim);
		return;
	}
	int kind = (int)sim_between(sim, 0, 6);
	sim_trace(sim, "the queue suffers %d", kind);
	if (kind == 0)
		ax_mem_queue_flush(sim->queue);
	else if (kind == 1)
		ax_mem_queue_set_up(sim->queue, false);
	else if (kind == 2)
		ax_mem_queue_set_mute(sim->queue, true);
	else if (kind == 3)
		ax_mem_queue_keep_copy(sim->queue);
	else if (kind == 4)
		ax_mem_queue_use_copy(sim->queue);
	else if (kind == 5)
		lose_some(sim);
	else
		for (int i = 0; i < LOSE_MAX; i++)
			(void)ax_mem_queue_shift(
				sim->queue, (int)sim_between(sim, 0, LOSE_MAX), sim_between(sim, -600000, 600000));
	if (kind == 1 || kind == 2)
		sim_after(sim, sim_between(sim, 100, 30000), comes_back, NULL);
	sim_after(sim, sim_between(sim, 100, 60000), befall, NULL);
}

static int64_t mono_ms(struct ax_clock *clock)
{
	return ((struct sim *)(void *)((char *)clock - offsetof(struct sim, queue_clock)))->now;
}

/* Two of three seeds have a queue; half of those with several servers divide the shards. */
void sim_queue_start(struct sim *sim)
{
	static const struct ax_clock_ops clock = { NULL, mono_ms };
	if (sim_between(sim, 0, 2) == 0)
		return;
	bool divided = sim_between(sim, 0, 1) == 0;
	sim->queue_clock.ops = &clock;
	sim->queue = ax_mem_queue_new(&sim->queue_clock, "sim");
	for (int i = 0; i < sim->n_servers; i++) {
		sim->servers[i].queue = ax_mem_queue_port(sim->queue, NULL);
		sim->servers[i].shards = divided ? 0x5555U << i % 2 : 0xffffU;
	}
	sim_after(sim, sim_between(sim, 100, 60000), befall, NULL);
}
