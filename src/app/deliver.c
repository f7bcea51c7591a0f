#include "app/deliver.h"

#include <string.h>

#include "app/seat.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "core/alert_text.h"

enum { EVENTS_MAX = 20, ERROR_KEPT = 300, TEXT_MAX = 8192 };

struct messages {
	struct ax_message *at;
	int n;
};

struct pass {
	struct ax_ctx *ctx;
	struct ax_sender *sender;
	int64_t now;
	struct messages messages;
};

static enum ax_status give_up(struct ax_tx *tx, struct ax_delivery *delivery, const char *why, struct ax_err *err)
{
	delivery->state = AX_DELIVERY_GIVEN_UP;
	delivery->error = why;
	delivery->server = -1;
	return tx->ops->delivery_update(tx, delivery, delivery->rev, err);
}

static const char *text_of(struct ax_ctx *ctx, struct ax_buf *buf)
{
	const char *text = ax_strndup(ctx->arena, buf->data == NULL ? "" : buf->data, buf->len);
	ax_buf_done(buf);
	return text;
}

static struct ax_message_event event_of(struct ax_ctx *ctx, const struct ax_channel *channel, const struct ax_tz *tz,
	const struct ax_delivery *delivery, const struct ax_alert *alert)
{
	struct ax_message_event event = {
		.claim = { delivery->id, delivery->rev + 1 }, .kind = delivery->kind, .alert = *alert
	};
	const struct ax_alert_reader reader = { .arena = ctx->arena, .language = channel->language, .tz = tz };
	struct ax_buf buf;
	ax_buf_init(&buf, TEXT_MAX);
	ax_alert_title(&reader, alert, delivery->kind, &buf);
	event.title = text_of(ctx, &buf);
	ax_buf_init(&buf, TEXT_MAX);
	ax_alert_body(&reader, alert, delivery->kind, &buf);
	event.body = text_of(ctx, &buf);
	return event;
}

/* What the delivery is about; or why it is not told any more. */
static enum ax_status read_alert(struct ax_tx *tx, const struct ax_channel *channel, const struct ax_delivery *delivery,
	struct ax_alert *ret, const char **ret_why, struct ax_err *err)
{
	*ret_why = channel->enabled || delivery->kind == AX_TELL_TEST ? NULL : "the channel is off";
	*ret = (struct ax_alert){ .group_key = "",
		.episode = "",
		.subject = "",
		.detail = "",
		.resolve_note = "",
		.note = "",
		.note_by = "" };
	if (delivery->kind == AX_TELL_TEST || *ret_why != NULL)
		return AX_OK;
	enum ax_status status = tx->ops->alert_get(tx, delivery->alert_id, false, ret, err);
	if (status == AX_NOT_FOUND)
		*ret_why = "the alert is gone";
	else if (status == AX_OK && ret->muted)
		*ret_why = "the alert was muted";
	return status == AX_NOT_FOUND ? AX_OK : status;
}

static enum ax_status claim(struct pass *pass, struct ax_tx *tx, struct ax_delivery *delivery, struct ax_err *err)
{
	delivery->attempts++;
	delivery->server = ax_seat_number(pass->ctx->seat);
	delivery->next_time = pass->now + AX_SEND_LEASE_MS;
	return tx->ops->delivery_update(tx, delivery, delivery->rev, err);
}

/* Claims what fits into one message, oldest first. */
static enum ax_status fill_message(struct pass *pass, struct ax_tx *tx, const struct ax_tz *tz,
	struct ax_deliveries *due, struct ax_message *message, struct ax_err *err)
{
	struct ax_message_event *events = ax_alloc_array(pass->ctx->arena, EVENTS_MAX, sizeof(*events));
	size_t room = ax_channel_text_max(message->channel.kind);
	enum ax_status status = AX_OK;
	message->events = events;
	for (int i = 0; status == AX_OK && i < due->n; i++) {
		struct ax_delivery *delivery = &due->at[i];
		struct ax_alert alert;
		const char *why;
		status = read_alert(tx, &message->channel, delivery, &alert, &why, err);
		if (status == AX_OK && why != NULL) {
			status = give_up(tx, delivery, why, err);
			continue;
		}
		if (status != AX_OK)
			break;
		struct ax_message_event event = event_of(pass->ctx, &message->channel, tz, delivery, &alert);
		size_t size = strlen(event.title) + strlen(event.body) + 4; /* and what stands between events */
		if (message->n > 0 && size > room)
			break;
		room -= size < room ? size : room;
		events[message->n++] = event;
		status = claim(pass, tx, delivery, err);
	}
	return status;
}

/* In its quiet hours a channel is told nothing but tests, which somebody waits for: the others are due at their end. */
static enum ax_status put_off(struct ax_tx *tx, struct ax_deliveries *due, int64_t until, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	int tests = 0;
	for (int i = 0; status == AX_OK && i < due->n; i++) {
		if (due->at[i].kind == AX_TELL_TEST) {
			due->at[tests++] = due->at[i];
			continue;
		}
		due->at[i].next_time = until;
		status = tx->ops->delivery_update(tx, &due->at[i], due->at[i].rev, err);
	}
	due->n = tests;
	return status;
}

static enum ax_status serve_channel(
	struct pass *pass, struct ax_tx *tx, const struct ax_channel *channel, struct ax_err *err)
{
	struct ax_deliveries due;
	if (!pass->sender->ops->is_free(pass->sender, channel->id))
		return AX_OK;
	enum ax_status status = tx->ops->deliveries_due(tx, channel->id, pass->now, EVENTS_MAX, &due, err);
	if (status != AX_OK || due.n == 0)
		return status;
	const struct ax_tz *tz = ax_zones_find(pass->ctx->zones, channel->time_zone);
	if (tz == NULL) /* the zone data does not know it any more */
		tz = ax_tz_utc();
	int64_t until = ax_channel_quiet_until(channel, tz, pass->now);
	if (channel->enabled && until > pass->now)
		status = put_off(tx, &due, until, err);
	if (status != AX_OK || due.n == 0)
		return status;
	struct ax_message *message = &pass->messages.at[pass->messages.n];
	*message = (struct ax_message){ .channel = *channel, .time = pass->now };
	status = fill_message(pass, tx, tz, &due, message, err);
	pass->messages.n += message->n > 0;
	return status;
}

static enum ax_status serve_channels(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_channels channels;
	enum ax_status status = tx->ops->channels(tx, &channels, err);
	if (status != AX_OK)
		return status;
	pass->messages.n = 0;
	pass->messages.at = ax_alloc_array(pass->ctx->arena, (size_t)channels.n + 1, sizeof(*pass->messages.at));
	for (int i = 0; status == AX_OK && i < channels.n; i++)
		status = serve_channel(pass, tx, &channels.at[i], err);
	return status;
}

enum ax_status ax_deliver(struct ax_ctx *ctx, struct ax_sender *sender, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .sender = sender, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = ax_store_run(ctx->store, ctx->arena, serve_channels, &pass, err);
	for (int i = 0; status == AX_OK && i < pass.messages.n; i++)
		sender->ops->send(sender, &pass.messages.at[i]);
	return status;
}

struct end_pass {
	struct ax_ctx *ctx;
	const struct ax_delivery_end *end;
	int64_t now;
};

static enum ax_status end_one(
	struct end_pass *pass, struct ax_tx *tx, const struct ax_delivery_claim *claim, struct ax_err *err)
{
	const struct ax_delivery_end *end = pass->end;
	struct ax_delivery delivery;
	enum ax_status status = tx->ops->delivery_get(tx, claim->id, true, &delivery, err);
	if (status == AX_NOT_FOUND || (status == AX_OK && delivery.rev != claim->rev))
		return AX_OK;
	if (status != AX_OK)
		return status;
	delivery.server = -1;
	delivery.error = end->arrived
		? ""
		: ax_strndup(pass->ctx->arena, end->error, ax_utf8_cut(end->error, strlen(end->error), ERROR_KEPT));
	if (end->arrived) {
		delivery.state = AX_DELIVERY_SENT;
		delivery.sent_time = pass->now;
	} else if (delivery.attempts >= AX_DELIVERY_TRIES || delivery.kind == AX_TELL_TEST) {
		delivery.state = AX_DELIVERY_GIVEN_UP;
	} else {
		delivery.next_time = pass->now + ax_delivery_delay_ms(delivery.attempts, ax_rand_u64(pass->ctx->rand));
	}
	return tx->ops->delivery_update(tx, &delivery, delivery.rev, err);
}

static enum ax_status end_all(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct end_pass *pass = arg;
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < pass->end->n; i++)
		status = end_one(pass, tx, &pass->end->claims[i], err);
	return status;
}

enum ax_status ax_deliver_end(struct ax_ctx *ctx, const struct ax_delivery_end *end, struct ax_err *err)
{
	struct end_pass pass = { .ctx = ctx, .end = end, .now = ax_now_ms(ctx->clock) };
	return ax_store_run(ctx->store, ctx->arena, end_all, &pass, err);
}
