#ifndef AX_APP_CHANNELS_H
#define AX_APP_CHANNELS_H

/* The channels of alerts. What is in their settings is the concern of whoever reads them (server/channel_settings.h).
 */

#include "app/ctx.h"

enum ax_status ax_channel_create(
	struct ax_ctx *ctx, const struct ax_channel *channel, struct ax_channel *ret, struct ax_err *err);

/* Everything but the kind; AX_CONFLICT when `channel->version` is not the stored one. */
enum ax_status ax_channel_update(
	struct ax_ctx *ctx, const struct ax_channel *channel, struct ax_channel *ret, struct ax_err *err);

/* What is queued for it goes with it. */
enum ax_status ax_channel_delete(struct ax_ctx *ctx, int64_t id, struct ax_err *err);

/* Queues a test message, to be sent at once, also in quiet hours and when the channel is off. It is tried once. */
enum ax_status ax_channel_test(struct ax_ctx *ctx, int64_t id, struct ax_delivery *ret, struct ax_err *err);

#endif
