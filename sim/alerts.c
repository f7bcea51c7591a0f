#include "app/alerts.h"

#include <stdio.h>
#include <string.h>

#include "app/channels.h"
#include "app/deliver.h"
#include "base/err.h"
#include "port/row.h"
#include "sim.h"

/* The sender and the receivers of alerts: messages take their time, get lost, or arrive and nobody hears that they did.
 */

enum { LOOK_MS = 1000, CHANNELS = 4, EVENTS = 20 };

struct letter {
	struct sim_server *server; /* that sent it, and its life then */
	int64_t life;
	int64_t channel_id;
	bool arrives, arrived_told; /* what the sender says of it */
	int n;
	struct ax_delivery_claim claims[EVENTS];
	int64_t alert_ids[EVENTS];
	enum ax_delivery_kind kinds[EVENTS];
};

#define SERVER_OF(port) ((struct sim_server *)(void *)((char *)(port)-offsetof(struct sim_server, sender)))

static bool is_free(struct ax_sender *port, int64_t channel_id)
{
	const struct sim_server *server = SERVER_OF(port);
	for (int i = 0; i < server->n_busy; i++)
		if (server->busy[i] == channel_id)
			return false;
	return server->n_busy < SIM_BUSY_MAX;
}

static void hand_in(struct ax_sender *port, const struct ax_message *message)
{
	struct sim_server *server = SERVER_OF(port);
	struct sim *sim = server->sim;
	struct letter *letter = sim_keep(sim, sizeof(*letter));
	letter->server = server;
	letter->life = server->life;
	letter->channel_id = message->channel.id;
	for (; letter->n < message->n && letter->n < EVENTS; letter->n++) {
		letter->claims[letter->n] = message->events[letter->n].claim;
		letter->alert_ids[letter->n] = message->events[letter->n].alert.id;
		letter->kinds[letter->n] = message->events[letter->n].kind;
	}
	if (letter->n != message->n)
		sim_fail(sim, "A1 a message holds %d events", message->n);
	server->busy[server->n_busy++] = letter->channel_id;
	server->outgoing[server->n_outgoing++] = letter;
}

static void set_free(struct sim_server *server, int64_t channel_id)
{
	for (int i = 0; i < server->n_busy; i++)
		if (server->busy[i] == channel_id) {
			server->busy[i] = server->busy[--server->n_busy];
			return;
		}
}

/* The receiver has it. */
static void arrive(struct sim *sim, void *arg)
{
	struct letter *letter = arg;
	for (int i = 0; i < letter->n; i++)
		sim_check_told(sim, letter->claims[i].id, letter->alert_ids[i], letter->channel_id, letter->kinds[i]);
}

/* The sender knows how it went. */
static void end(struct sim *sim, void *arg);

static void record_end(struct sim *sim, void *arg)
{
	struct letter *letter = arg;
	struct ax_delivery_end what = {
		.claims = letter->claims, .n = letter->n, .arrived = letter->arrived_told, .error = "it did not arrive"
	};
	enum ax_status status = ax_deliver_end(&sim->at->ctx, &what, NULL);
	sim_trace(sim, "a message to channel %lld ended: %d (%d)", (long long)letter->channel_id, letter->arrived_told,
		(int)status);
	if (letter->server->crash)
		return;
	if (status == AX_OK)
		set_free(letter->server, letter->channel_id);
	else /* until it is recorded */
		sim_after(sim, LOOK_MS, end, arg);
}

static void end(struct sim *sim, void *arg)
{
	struct letter *letter = arg;
	struct sim_server *server = letter->server;
	if (letter->life != server->life || !server->up || server->crash) /* nobody waits for it any more */
		return;
	if (sim_server_ready(server))
		sim_call(sim, server, record_end, letter);
	else /* it stands still */
		sim_after(sim, LOOK_MS, end, arg);
}

static void send_out(struct sim *sim, struct letter *letter)
{
	int64_t way = sim_chance(sim, sim->profile.slow) ? sim_between(sim, 1000, 15000) : sim_between(sim, 5, 200);
	bool answer_lost = sim_chance(sim, sim->profile.lose);
	letter->arrives = !sim_chance(sim, sim->profile.sink_down);
	letter->arrived_told = letter->arrives && !answer_lost;
	sim->messages++;
	sim_trace(sim, "a message of %d to channel %lld, the first is delivery %lld", letter->n,
		(long long)letter->channel_id, (long long)letter->claims[0].id);
	if (letter->arrives)
		sim_after(sim, way, arrive, letter);
	sim_after(sim, letter->arrived_told ? way * 2 : AX_SEND_LIMIT_MS, end, letter);
}

static void deliver(struct sim *sim, void *arg)
{
	struct sim_server *server = arg;
	server->n_outgoing = 0;
	enum ax_status status = ax_deliver(&sim->at->ctx, &server->sender, NULL);
	for (int i = 0; !server->crash && status == AX_OK && i < server->n_outgoing; i++)
		send_out(sim, server->outgoing[i]);
	server->n_outgoing = -1;
}

struct watch {
	struct sim_server *server;
	int64_t life;
};

static void look(struct sim *sim, void *arg)
{
	const struct watch *watch = arg;
	struct sim_server *server = watch->server;
	if (watch->life != server->life || !server->up)
		return;
	sim_after(sim, LOOK_MS, look, arg);
	if (!sim_server_ready(server) || server->n_outgoing >= 0) /* one look at a time */
		return;
	server->n_outgoing = 0;
	sim_call(sim, server, deliver, server);
}

void sim_alerts_start(struct sim *sim, struct sim_server *server)
{
	static const struct ax_sender_ops ops = { is_free, hand_in };
	struct watch *watch = sim_keep(sim, sizeof(*watch));
	*watch = (struct watch){ server, server->life };
	server->sender.ops = &ops;
	server->n_busy = 0;
	server->n_outgoing = -1;
	sim_after(sim, sim_between(sim, 1, LOOK_MS), look, watch);
}

/* --- people ------------------------------------------------------------------------------------------------------- */

static struct ax_channel draw_channel(struct sim *sim)
{
	static const char *const rules[] = { "", "", "failed missed", "late absence backlog worker_lost failed" };
	struct ax_channel channel = {
		.kind = (enum ax_channel_kind)sim_between(sim, AX_CHANNEL_SMTP, AX_CHANNEL_SLACK),
		.settings = "{}",
		.enabled = sim_between(sim, 0, 4) > 0,
		.rules = rules[sim_between(sim, 0, 3)],
		.group_keys = sim_between(sim, 0, 3) == 0 ? "other" : "",
		.time_zone = "UTC",
		.remind_seconds = sim_between(sim, 0, 2) == 0 ? 300 : 0,
		.updated_by = "sim",
	};
	if (sim_between(sim, 0, 3) == 0) {
		channel.quiet_from = sim_between(sim, 0, 1439);
		channel.quiet_to = (channel.quiet_from + sim_between(sim, 1, 5)) % 1440;
	}
	return channel;
}

static void put_channel(struct sim *sim)
{
	struct ax_ctx *ctx = &sim->at->ctx;
	struct ax_channel channel = draw_channel(sim), made;
	size_t n = ax_mem_store_count(sim->mem, &ax_channel_row);
	const struct ax_channel *old =
		n == 0 ? NULL : ax_mem_store_at(sim->mem, &ax_channel_row, (size_t)sim_between(sim, 0, (int64_t)n - 1));
	char name[32];
	snprintf(name, sizeof(name), "c%lld", (long long)sim_between(sim, 0, 1000000));
	channel.name = name;
	if (old == NULL || n < CHANNELS) {
		(void)!ax_channel_create(ctx, &channel, &made, NULL);
	} else if (sim_between(sim, 0, 9) == 0) {
		(void)!ax_channel_delete(ctx, old->id, NULL);
	} else {
		channel.id = old->id;
		channel.version = old->version;
		(void)!ax_channel_update(ctx, &channel, &made, NULL);
	}
}

const char *sim_draw_contacts(struct sim *sim)
{
	int64_t n = (int64_t)ax_mem_store_count(sim->mem, &ax_channel_row);
	if (n == 0 || sim_between(sim, 0, 2) > 0)
		return "";
	const struct ax_channel *channel =
		ax_mem_store_at(sim->mem, &ax_channel_row, (size_t)sim_between(sim, 0, n - 1));
	char *text = sim_keep(sim, 64);
	snprintf(text, 64, "ops@example.org %s", channel->name);
	return text;
}

void sim_act_on_alerts(struct sim *sim)
{
	struct ax_ctx *ctx = &sim->at->ctx;
	struct ax_alert alert;
	struct ax_delivery test;
	int64_t n = (int64_t)ax_mem_store_count(sim->mem, &ax_alert_row);
	const struct ax_alert *row =
		n == 0 ? NULL : ax_mem_store_at(sim->mem, &ax_alert_row, (size_t)sim_between(sim, 0, n - 1));
	int64_t id = row != NULL ? row->id : 0;
	bool watched = row != NULL && (row->rule == AX_ALERT_LATE_FINISH || row->rule == AX_ALERT_STALLED);
	switch (sim_between(sim, 0, 5)) {
	case 0:
		(void)!ax_alert_mute(ctx, id, sim_between(sim, 0, 3) > 0, "", "sim", &alert, NULL);
		break;
	case 1:
		if (!watched) /* their runs say how many are open */
			(void)!ax_alert_close(ctx, id, "", "sim", &alert, NULL);
		break;
	case 2:
		(void)!ax_channel_test(ctx, sim_between(sim, 1, 8), &test, NULL);
		break;
	default:
		put_channel(sim);
	}
}
