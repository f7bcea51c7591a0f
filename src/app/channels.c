#include "app/channels.h"

#include <string.h>

#include "core/limits.h"

enum { DAY_MINUTES = 1440, REMIND_LEAST_S = 300, REMIND_MOST_S = 31536000, CHANNELS_MAX = 200 };

struct pass {
	struct ax_ctx *ctx;
	const struct ax_channel *channel;
	struct ax_channel *ret;
	int64_t id;
	struct ax_delivery *ret_delivery;
	int64_t now;
};

/* A channel's name is a word among others in a group's contacts. */
static bool name_ok(const char *name)
{
	size_t len = strlen(name);
	if (len == 0 || len > AX_KEY_MAX || strchr("._-", name[0]) != NULL)
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

static enum ax_status check_rules(const char *rules, struct ax_err *err)
{
	for (const char *p = rules; *p != '\0'; p += strspn(p, " ")) {
		char name[AX_KEY_MAX + 1] = "";
		size_t len = strcspn(p, " ");
		memcpy(name, p, AX_MIN(len, (size_t)AX_KEY_MAX));
		if (ax_alert_rule_find(name) == 0)
			return ax_fail(err, AX_INVALID, "rules", "there is no rule '%s'", name);
		p += len;
	}
	return AX_OK;
}

static enum ax_status check(struct ax_ctx *ctx, const struct ax_channel *channel, struct ax_err *err)
{
	if (!name_ok(channel->name))
		return ax_fail(err, AX_INVALID, "name",
			"a channel's name is 1 to 64 of a-z, 0-9, '.', '_' and '-', and begins with a letter or digit");
	if (ax_zones_find(ctx->zones, channel->time_zone) == NULL)
		return ax_fail(err, AX_INVALID, "time_zone", "the zone data has no zone '%.64s'; write an IANA name",
			channel->time_zone);
	if (channel->quiet_from < 0 || channel->quiet_from >= DAY_MINUTES || channel->quiet_to < 0 ||
		channel->quiet_to >= DAY_MINUTES)
		return ax_fail(err, AX_INVALID, "quiet_hours", "quiet hours are times of the day, 00:00 to 23:59");
	if (channel->quiet_from != 0 && channel->quiet_from == channel->quiet_to)
		return ax_fail(err, AX_INVALID, "quiet_hours",
			"quiet hours that end when they begin are none or all day; leave them out, or disable the "
			"channel");
	if (channel->remind_seconds != 0 &&
		(channel->remind_seconds < REMIND_LEAST_S || channel->remind_seconds > REMIND_MOST_S))
		return ax_fail(err, AX_INVALID, "remind_seconds", "reminders come every %d to %d seconds; 0: never",
			REMIND_LEAST_S, REMIND_MOST_S);
	return check_rules(channel->rules, err);
}

/* A group that is not there would be heard by nobody, and nobody would know. */
static enum ax_status check_groups(struct ax_tx *tx, const char *group_keys, struct ax_err *err)
{
	struct ax_group group;
	for (const char *p = group_keys; *p != '\0'; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");
		const char *key = ax_strndup(tx->arena, p, len);
		enum ax_status status = tx->ops->group_get(tx, key, false, &group, err);
		if (status == AX_NOT_FOUND)
			return ax_fail(err, AX_INVALID, "group_keys", "there is no group '%.64s'", key);
		if (status != AX_OK)
			return status;
		p += len;
	}
	return AX_OK;
}

static enum ax_status name_is_taken(const char *name, struct ax_err *err)
{
	return ax_fail(err, AX_EXISTS, "name", "there is a channel '%s' already", name);
}

static enum ax_status create(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_channel channel = *pass->channel;
	struct ax_channels channels;
	enum ax_status status = tx->ops->channels(tx, &channels, err);
	if (status == AX_OK && channels.n >= CHANNELS_MAX)
		return ax_fail(err, AX_TOO_LARGE, "name", "there are %d channels; more are not allowed", CHANNELS_MAX);
	channel.version = 1;
	channel.create_time = pass->now;
	channel.update_time = pass->now;
	if (status == AX_OK)
		status = check_groups(tx, channel.group_keys, err);
	if (status == AX_OK)
		status = tx->ops->channel_insert(tx, &channel, &channel.id, err);
	if (status == AX_EXISTS)
		return name_is_taken(channel.name, err);
	*pass->ret = channel;
	return status;
}

enum ax_status ax_channel_create(
	struct ax_ctx *ctx, const struct ax_channel *channel, struct ax_channel *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .channel = channel, .ret = ret, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = check(ctx, channel, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, create, &pass, err) : status;
}

static enum ax_status find(struct ax_tx *tx, int64_t id, struct ax_channel *ret, struct ax_err *err)
{
	enum ax_status status = tx->ops->channel_get(tx, id, true, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "id", "there is no channel %lld", (long long)id);
	return status;
}

static enum ax_status update(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_channel old, channel = *pass->channel;
	enum ax_status status = find(tx, channel.id, &old, err);
	if (status != AX_OK)
		return status;
	if (old.version != channel.version)
		return ax_fail(err, AX_CONFLICT, "version", "the channel is at version %lld; read it again",
			(long long)old.version);
	channel.version++;
	channel.create_time = old.create_time;
	channel.update_time = pass->now;
	if (strcmp(channel.group_keys, old.group_keys) != 0) /* one of the others may have gone since */
		status = check_groups(tx, channel.group_keys, err);
	if (status == AX_OK)
		status = tx->ops->channel_update(tx, &channel, old.version, err);
	if (status == AX_EXISTS)
		return name_is_taken(channel.name, err);
	*pass->ret = channel;
	return status;
}

enum ax_status ax_channel_update(
	struct ax_ctx *ctx, const struct ax_channel *channel, struct ax_channel *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .channel = channel, .ret = ret, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = check(ctx, channel, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, update, &pass, err) : status;
}

/* Also what another server is about to send: its row is waited for. */
static enum ax_status give_up(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	struct ax_delivery delivery;
	enum ax_status status = tx->ops->delivery_get(tx, id, true, &delivery, err);
	if (status != AX_OK || delivery.state != AX_DELIVERY_PENDING)
		return status;
	delivery.state = AX_DELIVERY_GIVEN_UP;
	delivery.error = "the channel was deleted";
	delivery.server = -1;
	return tx->ops->delivery_update(tx, &delivery, delivery.rev, err);
}

static enum ax_status remove_channel(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_channel channel;
	struct ax_deliveries page = { .n = 1 };
	enum ax_status status = find(tx, pass->id, &channel, err);
	for (int64_t before = 0; status == AX_OK && page.n > 0;) {
		status = tx->ops->deliveries_of_channel(tx, pass->id, before, AX_BATCH, &page, err);
		for (int i = 0; status == AX_OK && i < page.n; i++) {
			before = page.at[i].id;
			if (page.at[i].state == AX_DELIVERY_PENDING)
				status = give_up(tx, before, err);
		}
	}
	return status == AX_OK ? tx->ops->channel_delete(tx, pass->id, err) : status;
}

enum ax_status ax_channel_delete(struct ax_ctx *ctx, int64_t id, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .id = id };
	return ax_store_run(ctx->store, ctx->arena, remove_channel, &pass, err);
}

static enum ax_status test(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_channel channel;
	struct ax_delivery delivery = {
		.channel_id = pass->id,
		.kind = AX_TELL_TEST,
		.next_time = pass->now,
		.server = -1,
		.create_time = pass->now,
		.error = "",
	};
	enum ax_status status = find(tx, pass->id, &channel, err);
	if (status == AX_OK)
		status = tx->ops->delivery_insert(tx, &delivery, &delivery.id, err);
	*pass->ret_delivery = delivery;
	return status;
}

enum ax_status ax_channel_test(struct ax_ctx *ctx, int64_t id, struct ax_delivery *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .id = id, .ret_delivery = ret, .now = ax_now_ms(ctx->clock) };
	return ax_store_run(ctx->store, ctx->arena, test, &pass, err);
}
