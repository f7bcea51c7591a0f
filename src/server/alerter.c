#include "server/alerter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/deliver.h"
#include "server/server.h"
#include "sys/crash_point.h"

enum { LAST_WAIT_MS = 5000 };

/* --- the end of a message ----------------------------------------------------------------------------------------- */

/* A message under way, then what became of it. */
struct end_errand {
	struct ax_errand errand;
	struct ax_server *server;
	int64_t channel_id;
	struct ax_delivery_claim *claims;
	int n;
	bool arrived;
	char error[400];
	enum ax_status status;
	struct ax_err err;
};

static void free_end(void *user)
{
	struct end_errand *end = user;
	free(end->claims);
	free(end);
}

static void channel_is_free(struct ax_alerter *alerter, int64_t channel_id)
{
	for (int i = 0; i < alerter->n_busy; i++) {
		if (alerter->busy[i] != channel_id)
			continue;
		alerter->busy[i] = alerter->busy[--alerter->n_busy];
		return;
	}
}

static void run_end(struct ax_errand *errand, struct ax_side *side)
{
	struct end_errand *end = (struct end_errand *)errand;
	struct ax_arena arena = { 0 }, *own = side->ctx->arena;
	struct ax_delivery_end what = {
		.claims = end->claims, .n = end->n, .arrived = end->arrived, .error = end->error
	};
	side->ctx->arena = &arena;
	end->status = ax_deliver_end(side->ctx, &what, &end->err);
	AX_CRASHPOINT("alert", "before_mark_commit");
	side->ctx->arena = own;
	ax_arena_done(&arena);
}

static void finish_drain(struct ax_server *server)
{
	struct ax_alerter *alerter = &server->alerter;
	void (*drained)(struct ax_server * server) = alerter->drained;
	alerter->drained = NULL;
	if (drained != NULL)
		drained(server);
}

/* The next look records it; at the end of the server nobody does, and the message goes out again. */
static void keep(struct end_errand *end)
{
	struct ax_alerter *alerter = &end->server->alerter;
	if (alerter->sender == NULL) {
		free_end(end);
		return;
	}
	end->errand.next = alerter->unrecorded;
	alerter->unrecorded = &end->errand;
}

static void end_recorded(struct ax_errand *errand)
{
	struct end_errand *end = (struct end_errand *)errand;
	struct ax_server *server = end->server;
	struct ax_alerter *alerter = &server->alerter;
	AX_CRASHPOINT("alert", "after_mark");
	if (end->status != AX_OK || errand->commit != AX_OK) {
		ax_log_text(&server->log, AX_LOG_ERROR, "alert_not_recorded", "message",
			end->status != AX_OK ? end->err.msg : errand->commit_err.msg);
		keep(end);
		return;
	}
	channel_is_free(alerter, end->channel_id);
	free_end(end);
	if (alerter->stopped && alerter->n_busy == 0)
		finish_drain(server);
	ax_alerter_look(server);
}

static void record_end(struct ax_errand *errand)
{
	struct end_errand *end = (struct end_errand *)errand;
	errand->run = run_end;
	errand->done = end_recorded;
	if (!ax_lane_post(&end->server->lanes, AX_LANE_WRITE, errand))
		keep(end);
}

/* In the sender's thread. */
static void message_ended(void *user, const char *error)
{
	struct end_errand *end = user;
	struct ax_server *server = end->server;
	AX_CRASHPOINT("alert", "after_send");
	end->arrived = error == NULL;
	snprintf(end->error, sizeof end->error, "%s", error == NULL ? "" : error);
	if (end->arrived)
		server->metrics.alerts_sent += (uint64_t)end->n;
	else
		server->metrics.alerts_failed += (uint64_t)end->n;
	end->errand = (struct ax_errand){ .done = record_end };
	ax_lanes_deliver(&server->lanes, &end->errand);
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

struct look_errand {
	struct ax_errand errand;
	struct ax_server *server;
	struct ax_arena arena;
	struct ax_sender port;             /* what ax_deliver sends through: collects */
	int64_t busy[AX_ALERTS_UNDER_WAY]; /* as they are in the loop thread */
	int n_busy;
	struct ax_message messages[AX_ALERTS_UNDER_WAY];
	int n;
	enum ax_status status;
	struct ax_err err;
};

static struct look_errand *look_of(struct ax_sender *port)
{
	return (struct look_errand *)(void *)((char *)port - offsetof(struct look_errand, port));
}

static bool is_free(struct ax_sender *port, int64_t channel_id)
{
	const struct look_errand *look = look_of(port);
	for (int i = 0; i < look->n_busy; i++)
		if (look->busy[i] == channel_id)
			return false;
	return true;
}

static void collect(struct ax_sender *port, const struct ax_message *message)
{
	struct look_errand *look = look_of(port);
	AX_ASSERT(look->n < AX_ALERTS_UNDER_WAY);
	look->messages[look->n++] = *message; /* its text lives in the errand's arena */
}

static void run_look(struct ax_errand *errand, struct ax_side *side)
{
	struct look_errand *look = (struct look_errand *)errand;
	struct ax_arena *own = side->ctx->arena;
	side->ctx->arena = &look->arena;
	look->status = ax_deliver(side->ctx, &look->port, &look->err);
	side->ctx->arena = own;
}

static void send_message(struct ax_server *server, struct ax_arena *arena, const struct ax_message *message)
{
	struct ax_alerter *alerter = &server->alerter;
	struct ax_message opened = *message;
	struct ax_err why;
	if (ax_seal_read(&server->seal, message->channel.settings, arena, &opened.channel.settings, &why) != AX_OK) {
		ax_log_text(&server->log, AX_LOG_ERROR, "channel_sealed", "message", why.msg);
		opened.channel.settings = "{}"; /* the sender says what is missing, and tries again */
	}
	struct end_errand *end = ax_malloc(sizeof *end);
	end->server = server;
	end->channel_id = message->channel.id;
	end->n = message->n;
	end->claims = ax_malloc((size_t)message->n * sizeof *end->claims);
	for (int i = 0; i < message->n; i++)
		end->claims[i] = message->events[i].claim;
	AX_CRASHPOINT("alert", "after_claim");
	alerter->busy[alerter->n_busy++] = message->channel.id;
	ax_alert_sender_send(alerter->sender, &opened, message_ended, end);
}

static void look_done(struct ax_errand *errand)
{
	struct look_errand *look = (struct look_errand *)errand;
	struct ax_server *server = look->server;
	server->alerter.looking = false;
	if (look->status != AX_OK && !server->alerter.failing) /* said once: it is tried again every second */
		ax_log_text(&server->log, AX_LOG_ERROR, "alerts_not_read", "message", look->err.msg);
	server->alerter.failing = look->status != AX_OK;
	if (look->status == AX_OK && errand->commit == AX_OK && !server->alerter.stopped)
		for (int i = 0; i < look->n; i++)
			send_message(server, &look->arena, &look->messages[i]);
	ax_arena_done(&look->arena);
	free(look);
	if (server->alerter.stopped && server->alerter.n_busy == 0)
		finish_drain(server);
}

static void record_again(struct ax_alerter *alerter)
{
	struct ax_errand *errand = alerter->unrecorded, *next;
	alerter->unrecorded = NULL;
	for (; errand != NULL; errand = next) {
		next = errand->next;
		record_end(errand);
	}
}

void ax_alerter_look(struct ax_server *server)
{
	static const struct ax_sender_ops ops = { is_free, collect };
	struct ax_alerter *alerter = &server->alerter;
	record_again(alerter);
	if (alerter->looking || alerter->stopped)
		return;
	struct look_errand *look = ax_malloc(sizeof *look);
	look->errand = (struct ax_errand){ .run = run_look, .done = look_done };
	look->server = server;
	look->port.ops = &ops;
	memcpy(look->busy, alerter->busy, sizeof look->busy);
	look->n_busy = alerter->n_busy;
	alerter->looking = true;
	ax_lane_post_own(&server->lanes, AX_LANE_WRITE, &look->errand);
}

/* --- start and stop ----------------------------------------------------------------------------------------------- */

static void read_allow(struct ax_alerter *alerter, const char *text)
{
	int n = 0;
	snprintf(alerter->allow_text, sizeof alerter->allow_text, "%s", text);
	for (char *save, *entry = strtok_r(alerter->allow_text, ", ", &save); entry != NULL && n < AX_ALERT_ALLOW_MAX;
		entry = strtok_r(NULL, ", ", &save))
		alerter->allow[n++] = entry;
	alerter->allow[n] = NULL;
}

void ax_alerter_start(struct ax_server *server)
{
	const struct ax_config *config = &server->config;
	read_allow(&server->alerter, config->alert_allow);
	struct ax_alert_sender_config sender = {
		.allow = server->alerter.allow,
		.loopback_open = config->dev,
		.own_port = server->port,
		.ca_file = config->alert_ca,
	};
	server->alerter.sender = ax_alert_sender_new(&sender);
}

static void last_wait_is_over(uv_timer_t *timer)
{
	finish_drain(timer->data);
}

void ax_alerter_drain(struct ax_server *server, void (*drained)(struct ax_server *server))
{
	struct ax_alerter *alerter = &server->alerter;
	alerter->stopped = true;
	if (alerter->n_busy == 0 && !alerter->looking) {
		drained(server);
		return;
	}
	alerter->drained = drained;
	AX_ASSERT(uv_timer_init(&server->loop, &alerter->last_wait) == 0);
	alerter->last_wait.data = server;
	uv_timer_start(&alerter->last_wait, last_wait_is_over, LAST_WAIT_MS, 0);
}

void ax_alerter_close(struct ax_server *server)
{
	struct ax_alerter *alerter = &server->alerter;
	struct ax_errand *errand = alerter->unrecorded, *next;
	ax_alert_sender_free(alerter->sender, free_end);
	alerter->sender = NULL;
	alerter->stopped = true;
	for (; errand != NULL; errand = next) {
		next = errand->next;
		free_end(errand);
	}
	alerter->unrecorded = NULL;
}
