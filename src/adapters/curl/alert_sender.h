#ifndef AX_ADAPTERS_CURL_ALERT_SENDER_H
#define AX_ADAPTERS_CURL_ALERT_SENDER_H

/* Sends messages of alerts on a thread of its own: HTTP and mail through libcurl, any number at once.
 *
 * Every target goes through the guard, as those of HTTP tasks do: the URL is taken apart strictly, its name is resolved
 * by us, every address is judged (core/target_guard.h), the transfer is pinned to those addresses, and the socket's
 * address is judged once more when it is opened. */

#include "port/sender.h"

struct ax_alert_sender;

struct ax_alert_sender_config {
	const char *const *allow; /* "host:port" of loopback and private targets that may be called, NULL-terminated */
	bool loopback_open;       /* loopback may be called, but not at our own port */
	int own_port;
	const char *ca_file; /* PEM of the authorities that are trusted; "" = the system's */
};

/* What is in the configuration is borrowed and outlives the sender. */
struct ax_alert_sender *ax_alert_sender_new(const struct ax_alert_sender_config *config);

/* Any thread. The message is copied. `ended` is called once, in the sender's thread, unless the sender is freed
 * before; `error` is NULL when the message arrived. */
typedef void ax_alert_ended(void *user, const char *error);
void ax_alert_sender_send(
	struct ax_alert_sender *sender, const struct ax_message *message, ax_alert_ended *ended, void *user);

/* Ends the thread; what is under way is dropped: `dropped` is called for each. NULL is fine. */
void ax_alert_sender_free(struct ax_alert_sender *sender, void (*dropped)(void *user));

#endif
