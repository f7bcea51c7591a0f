#ifndef AX_PORT_SENDER_H
#define AX_PORT_SENDER_H

/* What carries messages of alerts into the world. When, to whom and what is decided by app/deliver.h. */

#include "core/alert.h"

/* A delivery and its rev while its try is under way: what the try's end refers to. */
struct ax_delivery_claim {
	int64_t id, rev;
};

struct ax_message_event {
	struct ax_delivery_claim claim;
	enum ax_delivery_kind kind;
	struct ax_alert alert; /* of a test: nothing but empty texts */
	const char *title, *body;
};

/* One message: what is to be told to a channel at once. */
struct ax_message {
	struct ax_channel channel;
	const struct ax_message_event *events;
	int n;
	int64_t time;
};

struct ax_sender;
struct ax_sender_ops {
	/* False while a message to the channel is on its way, or so many to others that it must wait. */
	bool (*is_free)(struct ax_sender *sender, int64_t channel_id);
	/* Called after the transaction; what it carries must not leave before that is durable. The message is borrowed.
	 * Its end comes as ax_deliver_end, or never, when this program ends before. */
	void (*send)(struct ax_sender *sender, const struct ax_message *message);
};
struct ax_sender {
	const struct ax_sender_ops *ops;
};

#endif
