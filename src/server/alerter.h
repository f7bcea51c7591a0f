#ifndef AX_SERVER_ALERTER_H
#define AX_SERVER_ALERTER_H

/* Carries alerts from the outbox to the thread that sends them, and back what became of them.
 *
 * Once a second, and whenever a message ended, an errand runs ax_deliver in the write lane; what it claimed goes to the
 * sender after the commit. How a message ended is recorded by another errand, which is repeated until it is committed.
 */

#include "adapters/curl/alert_sender.h"
#include "server/config.h"
#include "server/lanes.h"

struct ax_server;

enum { AX_ALERTS_UNDER_WAY = 256 }; /* one message per channel; app/channels.c bounds them */

struct ax_alerter {
	struct ax_alert_sender *sender; /* NULL before the start and at the end */
	char allow_text[4096];
	const char *allow[AX_ALERT_ALLOW_MAX + 1]; /* into the text; NULL-terminated */
	int64_t busy[AX_ALERTS_UNDER_WAY];         /* channels that a message is on its way to */
	int n_busy;
	bool looking;                 /* an errand is on its way */
	bool failing;                 /* the last one did */
	struct ax_errand *unrecorded; /* ends of messages whose record failed */
	bool stopped;
	uv_timer_t last_wait; /* of the stop */
	void (*drained)(struct ax_server *server);
};

void ax_alerter_start(struct ax_server *server);
/* Something may be due. */
void ax_alerter_look(struct ax_server *server);
/* Looks no more; calls back when the messages under way have ended, or after a few seconds. */
void ax_alerter_drain(struct ax_server *server, void (*drained)(struct ax_server *server));
/* Drops what is under way: it is sent again after the next start. */
void ax_alerter_close(struct ax_server *server);

#endif
