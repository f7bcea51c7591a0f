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
	int64_t life; /* of the server that sent it */
	int64_t channel_id;
	bool arrives, arrived_told; /* what the sender says of it */
	int n;
	struct ax_delivery_claim claims[EVENTS];
	int64_t alert_ids[EVENTS];
	enum ax_delivery_kind kinds[EVENTS];
};

#define SIM_OF(port) ((struct sim *)(void *)((char *)(port)-offsetof(struct sim, sender)))

static bool is_free(struct ax_sender *port, int64_t channel_id)
{
	const struct sim *sim = SIM_OF(port);
	for (int i = 0; i < sim->n_busy; i++)
		if (sim->busy[i] == channel_id)
			return false;
	return sim->n_busy < SIM_BUSY_MAX;
}

static void hand_in(struct ax_sender *port, const struct ax_message *message)
{
	struct sim *sim = SIM_OF(port);
	struct letter *letter = sim_keep(sim, sizeof(*letter));
	letter->life = sim->server.life;
	letter->channel_id = message->channel.id;
	for (; letter->n < message->n && letter->n < EVENTS; letter->n++) {
		letter->claims[letter->n] = message->events[letter->n].claim;
		letter->alert_ids[letter->n] = message->events[letter->n].alert.id;
		letter->kinds[letter->n] = message->events[letter->n].kind;
	}
	if (letter->n != message->n)
		sim_fail(sim, "A1 a message holds %d events", message->n);
	sim->busy[sim->n_busy++] = letter->channel_id;
	sim->outgoing[sim->n_outgoing++] = letter;
}

static void set_free(struct sim *sim, int64_t channel_id)
{
	for (int i = 0; i < sim->n_busy; i++)
		if (sim->busy[i] == channel_id) {
			sim->busy[i] = sim->busy[--sim->n_busy];
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
static void end(struct sim *sim, void *arg)
{
	struct letter *letter = arg;
	if (letter->life != sim->server.life) /* nobody waits for it any more */
		return;
	if (!sim_server_ready(sim)) {
		if (sim->server.up) /* it stands still */
			sim_after(sim, LOOK_MS, end, arg);
		return;
	}
	struct ax_delivery_end what = {
		.claims = letter->claims, .n = letter->n, .arrived = letter->arrived_told, .error = "it did not arrive"
	};
	enum ax_status status = ax_deliver_end(&sim->server.ctx, &what, NULL);
	sim_trace(sim, "a message to channel %lld ended: %d (%d)", (long long)letter->channel_id, letter->arrived_told,
		(int)status);
	if (!sim_server_done(sim))
		return;
	if (status == AX_OK)
		set_free(sim, letter->channel_id);
	else /* until it is recorded */
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

static void look(struct sim *sim, void *arg)
{
	int64_t life = *(int64_t *)arg;
	if (life != sim->server.life || !sim->server.up)
		return;
	sim_after(sim, LOOK_MS, look, arg);
	if (!sim_server_ready(sim))
		return;
	sim->n_outgoing = 0;
	enum ax_status status = ax_deliver(&sim->server.ctx, &sim->sender, NULL);
	bool alive = sim_server_done(sim);
	for (int i = 0; alive && status == AX_OK && i < sim->n_outgoing; i++)
		send_out(sim, sim->outgoing[i]);
}

void sim_alerts_start(struct sim *sim)
{
	static const struct ax_sender_ops ops = { is_free, hand_in };
	int64_t *life = sim_keep(sim, sizeof(*life));
	*life = sim->server.life;
	sim->sender.ops = &ops;
	sim->n_busy = 0;
	sim_after(sim, sim_between(sim, 1, LOOK_MS), look, life);
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
	struct ax_ctx *ctx = &sim->server.ctx;
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

void sim_act_on_alerts(struct sim *sim)
{
	struct ax_ctx *ctx = &sim->server.ctx;
	struct ax_alert alert;
	struct ax_delivery test;
	int64_t n = (int64_t)ax_mem_store_count(sim->mem, &ax_alert_row);
	int64_t id = n == 0 ? 0 : sim_between(sim, 1, n);
	const struct ax_alert *row = n == 0 ? NULL : ax_mem_store_at(sim->mem, &ax_alert_row, (size_t)id - 1);
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
