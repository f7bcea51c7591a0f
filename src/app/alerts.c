#include "app/alerts.h"

#include <string.h>

#include "base/utf8.h"
#include "core/limits.h"

enum { SUBJECT_KEPT = 512, PARAM_KEPT = 500, NOTE_KEPT = 500 };

/* As much of a text as an alert keeps, in one line and without cutting a character. */
static const char *keep(struct ax_ctx *ctx, const char *text, size_t most)
{
	char *kept = ax_strndup(ctx->arena, text, ax_utf8_cut(text, strlen(text), most));
	for (char *c = kept; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	return kept;
}

/* The same for what a sentence was told. */
static const char *keep_said(struct ax_ctx *ctx, struct ax_said said)
{
	for (int i = 0; i < ax_said_count(&said); i++)
		if (said.params[i].text != NULL)
			said.params[i].text = keep(ctx, said.params[i].text, PARAM_KEPT);
	return ax_said_keep(ctx->arena, &said);
}

static enum ax_status queue(struct ax_tx *tx, const struct ax_alert *alert, int64_t channel_id,
	enum ax_delivery_kind kind, int64_t now, struct ax_err *err)
{
	struct ax_channel channel; /* locked: who deletes it finds what is queued, or is first */
	enum ax_status status = tx->ops->channel_get(tx, channel_id, true, &channel, err);
	if (status != AX_OK)
		return status == AX_NOT_FOUND ? AX_OK : status;
	struct ax_delivery delivery = {
		.alert_id = alert->id,
		.channel_id = channel_id,
		.kind = kind,
		.next_time = now,
		.server = -1,
		.create_time = now,
		.error = "",
	};
	return tx->ops->delivery_insert(tx, &delivery, &delivery.id, err);
}

static enum ax_status read_contacts(struct ax_tx *tx, const char *group_key, const char **ret, struct ax_err *err)
{
	struct ax_group group;
	*ret = "";
	if (group_key[0] == '\0')
		return AX_OK;
	enum ax_status status = tx->ops->group_get(tx, group_key, false, &group, err);
	if (status == AX_OK)
		*ret = group.contacts;
	return status == AX_NOT_FOUND ? AX_OK : status;
}

/* A group whose contacts name channels is heard by those alone. */
static bool is_left_out(const struct ax_channels *channels, const char *contacts, const struct ax_channel *channel)
{
	bool names_any = false;
	for (int i = 0; i < channels->n; i++)
		names_any = names_any || ax_has_word(contacts, channels->at[i].name);
	return names_any && !ax_has_word(contacts, channel->name);
}

/* Queues it to every channel that hears the rule and the group. */
static enum ax_status tell_hearers(
	struct ax_tx *tx, struct ax_alert *alert, enum ax_delivery_kind kind, int64_t now, struct ax_err *err)
{
	struct ax_channels channels;
	const char *contacts;
	alert->told_time = now;
	enum ax_status status = read_contacts(tx, alert->group_key, &contacts, err);
	if (status == AX_OK)
		status = tx->ops->channels(tx, &channels, err);
	for (int i = 0; status == AX_OK && i < channels.n; i++) {
		const struct ax_channel *channel = &channels.at[i];
		if (ax_channel_hears(channel, alert->rule, alert->group_key) &&
			!is_left_out(&channels, contacts, channel))
			status = queue(tx, alert, channel->id, kind, now, err);
	}
	return status;
}

/* Queues the end to those who were told of the beginning, and are still there. */
static enum ax_status tell_the_told(struct ax_tx *tx, const struct ax_alert *alert, int64_t now, struct ax_err *err)
{
	struct ax_deliveries told;
	enum ax_status status = tx->ops->deliveries_of_alert(tx, alert->id, INT32_MAX, &told, err);
	for (int i = 0; status == AX_OK && i < told.n; i++)
		if (told.at[i].kind == AX_TELL_OPEN)
			status = queue(tx, alert, told.at[i].channel_id, AX_TELL_RESOLVED, now, err);
	return status;
}

static enum ax_status open_alert(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_alert_event *event, int64_t now, struct ax_err *err)
{
	struct ax_alert alert = {
		.rule = event->rule,
		.group_key = event->group_key,
		.episode = event->episode,
		.task_id = event->task_id,
		.gid = event->gid,
		.subject = keep(ctx, event->subject, SUBJECT_KEPT),
		.detail = keep_said(ctx, event->detail),
		.value = event->value,
		.bound = event->bound,
		.count = AX_MAX(event->count, 1),
		.open_time = now,
		.seen_time = now,
		.told_time = now,
		.resolve_note = "",
		.note = "",
		.note_by = "",
	};
	enum ax_status status = tx->ops->alert_insert(tx, &alert, &alert.id, err);
	return status == AX_OK ? tell_hearers(tx, &alert, AX_TELL_OPEN, now, err) : status;
}

static enum ax_status add_to(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_alert *alert,
	const struct ax_alert_event *event, int64_t now, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	alert->task_id = event->task_id;
	alert->gid = event->gid;
	alert->subject = keep(ctx, event->subject, SUBJECT_KEPT);
	alert->detail = keep_said(ctx, event->detail);
	alert->value = event->value;
	alert->bound = event->bound;
	alert->count += event->count;
	alert->seen_time = AX_MAX(alert->seen_time, now);
	if (event->tell_again && !alert->muted)
		status = tell_hearers(tx, alert, AX_TELL_REMINDER, now, err);
	return status == AX_OK ? tx->ops->alert_update(tx, alert, alert->rev, err) : status;
}

enum ax_status ax_alert_raise_on(struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_alert_event *event,
	struct ax_alert *open, int64_t now, struct ax_err *err)
{
	struct ax_alert anothers;
	enum ax_status status = AX_OK;
	if (open == NULL) {
		status = open_alert(ctx, tx, event, now, err);
		if (status != AX_EXISTS)
			return status;
		/* another server opened it meanwhile */
		open = &anothers;
		status = tx->ops->alert_find(tx, event->rule, event->group_key, event->episode, true, open, err);
	}
	if (status != AX_OK || (event->count == 0 && !event->tell_again))
		return status;
	return add_to(ctx, tx, open, event, now, err);
}

enum ax_status ax_alert_raise(
	struct ax_ctx *ctx, struct ax_tx *tx, const struct ax_alert_event *event, int64_t now, struct ax_err *err)
{
	struct ax_alert alert;
	enum ax_status status =
		tx->ops->alert_find(tx, event->rule, event->group_key, event->episode, true, &alert, err);
	if (status != AX_OK && status != AX_NOT_FOUND)
		return status;
	return ax_alert_raise_on(ctx, tx, event, status == AX_OK ? &alert : NULL, now, err);
}

/* The row is locked. */
static enum ax_status end_locked(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_alert *alert,
	const struct ax_said *how, int64_t now, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	alert->state = AX_ALERT_RESOLVED;
	alert->resolve_time = AX_MAX(now, alert->open_time);
	alert->resolve_note = keep_said(ctx, *how);
	if (!alert->muted)
		status = tell_the_told(tx, alert, now, err);
	return status == AX_OK ? tx->ops->alert_update(tx, alert, alert->rev, err) : status;
}

enum ax_status ax_alert_end(struct ax_ctx *ctx, struct ax_tx *tx, struct ax_alert *alert, const struct ax_said *how,
	int64_t now, struct ax_err *err)
{
	enum ax_status status = tx->ops->alert_get(tx, alert->id, true, alert, err);
	if (status == AX_NOT_FOUND || (status == AX_OK && alert->state != AX_ALERT_OPEN))
		return AX_OK; /* another server ended it meanwhile */
	return status == AX_OK ? end_locked(ctx, tx, alert, how, now, err) : status;
}

enum ax_status ax_alert_resolve(struct ax_ctx *ctx, struct ax_tx *tx, enum ax_alert_rule rule, const char *group_key,
	const char *episode, const struct ax_said *how, int64_t now, struct ax_err *err)
{
	struct ax_alert alert;
	enum ax_status status = tx->ops->alert_find(tx, rule, group_key, episode, true, &alert, err);
	if (status == AX_NOT_FOUND)
		return AX_OK;
	return status == AX_OK ? end_locked(ctx, tx, &alert, how, now, err) : status;
}

/* --- reminders ---------------------------------------------------------------------------------------------------- */

struct remind {
	struct ax_ctx *ctx;
	int64_t now;
	int n;
};

/* When the channel was told of the alert last; 0 = never. */
static int64_t told_time(const struct ax_deliveries *told, int64_t channel_id)
{
	int64_t time = 0;
	for (int i = 0; i < told->n; i++)
		if (told->at[i].channel_id == channel_id)
			time = told->at[i].create_time;
	return time;
}

static enum ax_status remind_of(struct remind *remind, struct ax_tx *tx, const struct ax_channels *channels,
	struct ax_alert *alert, struct ax_err *err)
{
	struct ax_deliveries told;
	enum ax_status status = tx->ops->deliveries_of_alert(tx, alert->id, INT32_MAX, &told, err);
	for (int i = 0; status == AX_OK && i < channels->n; i++) {
		const struct ax_channel *channel = &channels->at[i];
		int64_t last = told_time(&told, channel->id);
		if (last != 0 && channel->remind_seconds > 0 && remind->now >= last + channel->remind_seconds * 1000 &&
			ax_channel_hears(channel, alert->rule, alert->group_key))
			status = queue(tx, alert, channel->id, AX_TELL_REMINDER, remind->now, err);
	}
	alert->told_time = remind->now;
	return status == AX_OK ? tx->ops->alert_update(tx, alert, alert->rev, err) : status;
}

static enum ax_status remind_some(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct remind *remind = arg;
	struct ax_channels channels;
	struct ax_alerts untold;
	int64_t shortest = INT64_MAX;
	remind->n = 0;
	enum ax_status status = tx->ops->channels(tx, &channels, err);
	for (int i = 0; status == AX_OK && i < channels.n; i++)
		if (channels.at[i].enabled && channels.at[i].remind_seconds > 0)
			shortest = AX_MIN(shortest, channels.at[i].remind_seconds);
	if (status != AX_OK || shortest == INT64_MAX)
		return status;
	status = tx->ops->alerts_untold(tx, remind->now - shortest * 1000, AX_BATCH, &untold, err);
	for (int i = 0; status == AX_OK && i < untold.n; i++)
		status = remind_of(remind, tx, &channels, &untold.at[i], err);
	remind->n = status == AX_OK ? untold.n : 0;
	return status;
}

enum ax_status ax_alert_remind(struct ax_ctx *ctx, int64_t now, struct ax_err *err)
{
	struct remind remind = { .ctx = ctx, .now = now };
	enum ax_status status;
	do
		status = ax_store_run(ctx->store, ctx->arena, remind_some, &remind, err);
	while (status == AX_OK && remind.n == AX_BATCH);
	return status;
}

/* --- by hand ------------------------------------------------------------------------------------------------------ */

struct by_hand {
	struct ax_ctx *ctx;
	int64_t id;
	bool muted;
	const char *note, *by;
	struct ax_alert *ret;
	int64_t now;
};

static enum ax_status find_open(struct by_hand *hand, struct ax_tx *tx, struct ax_err *err)
{
	enum ax_status status = tx->ops->alert_get(tx, hand->id, true, hand->ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "id", "there is no alert %lld", (long long)hand->id);
	if (status == AX_OK && hand->ret->state != AX_ALERT_OPEN)
		return ax_fail(err, AX_CONFLICT, "state", "the alert is resolved already");
	if (status == AX_OK) {
		hand->ret->note = keep(hand->ctx, hand->note, NOTE_KEPT);
		hand->ret->note_by = hand->by;
	}
	return status;
}

static enum ax_status mute(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct by_hand *hand = arg;
	enum ax_status status = find_open(hand, tx, err);
	if (status != AX_OK)
		return status;
	hand->ret->muted = hand->muted;
	status = tx->ops->alert_update(tx, hand->ret, hand->ret->rev, err);
	hand->ret->rev++;
	return status;
}

enum ax_status ax_alert_mute(struct ax_ctx *ctx, int64_t id, bool muted, const char *note, const char *by,
	struct ax_alert *ret, struct ax_err *err)
{
	struct by_hand hand = { .ctx = ctx, .id = id, .muted = muted, .note = note, .by = by, .ret = ret };
	return ax_store_run(ctx->store, ctx->arena, mute, &hand, err);
}

static enum ax_status close_alert(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct by_hand *hand = arg;
	const struct ax_said how = { AX_SAY_OVER_BY_HAND, { ax_text_param("who", hand->by) } };
	enum ax_status status = find_open(hand, tx, err);
	return status == AX_OK ? end_locked(hand->ctx, tx, hand->ret, &how, hand->now, err) : status;
}

enum ax_status ax_alert_close(
	struct ax_ctx *ctx, int64_t id, const char *note, const char *by, struct ax_alert *ret, struct ax_err *err)
{
	struct by_hand hand = {
		.ctx = ctx, .id = id, .note = note, .by = by, .ret = ret, .now = ax_now_ms(ctx->clock)
	};
	return ax_store_run(ctx->store, ctx->arena, close_alert, &hand, err);
}
