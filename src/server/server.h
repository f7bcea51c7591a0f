#ifndef AX_SERVER_SERVER_H
#define AX_SERVER_SERVER_H

/* Everything that one ax-server is made of. wire.c builds it; each part is explained where it is declared. Fields are
 * the loop thread's unless they say otherwise. */

#include <stdatomic.h>
#include <uv.h>

#include "adapters/http/router.h"
#include "adapters/http/server.h"
#include "adapters/http/static.h"
#include "app/login_limit.h"
#include "port/clock.h"
#include "port/log.h"
#include "port/rand.h"
#include "port/zones.h"
#include "server/alerter.h"
#include "server/board.h"
#include "server/config.h"
#include "server/dev.h"
#include "server/due_queue.h"
#include "server/hints.h"
#include "server/lanes.h"
#include "server/live.h"
#include "server/metrics.h"
#include "server/polls.h"
#include "server/ports.h"
#include "server/pulse.h"
#include "server/scheduler.h"
#include "server/seal.h"
#include "server/threads.h"

enum { AX_STORE_ID_SIZE = 17 }; /* hex digits */

enum ax_server_phase { AX_SERVER_STARTING, AX_SERVER_SERVING, AX_SERVER_STOPPING };

struct ax_server {
	struct ax_config config; /* never changes after the start; any thread */
	struct ax_seal seal;     /* likewise */
	uv_loop_t loop;
	enum ax_server_phase phase;

	struct ax_sys_clock clock; /* any thread */
	struct ax_sys_rand rand;   /* any thread */
	struct ax_sys_log log;     /* any thread */
	struct ax_zones *zones;    /* any thread */

	struct ax_lanes lanes;
	struct ax_threads threads;
	struct ax_metrics metrics; /* any thread */
	struct ax_scheduler scheduler;
	struct ax_due_queue due_queue;
	struct ax_alerter alerter;
	struct ax_polls polls;
	struct ax_live live;
	struct ax_board board;
	struct ax_pulse pulse;
	struct ax_login_limit *logins;
	struct ax_dev dev;

	struct ax_http_server *http;
	struct ax_http_route *routes; /* for the router */
	struct ax_http_router *router;
	int port;
	char host[80];                   /* "127.0.0.1:8750", as people type it */
	char origin[96];                 /* "http://127.0.0.1:8750" */
	char store_id[AX_STORE_ID_SIZE]; /* never changes after the start; any thread */
	int64_t start_time;
	atomic_bool setup_needed; /* no administrator yet */

	uv_signal_t on_term, on_int, on_hup;
	uv_timer_t worker_wait; /* of the stop, for the developer's worker */
	bool draining;
};

/* Builds and starts everything; afterwards the loop runs it. On failure what was built is taken down again. */
AX_MUST_USE enum ax_status ax_server_start(
	struct ax_server *server, const struct ax_config *config, struct ax_err *err);
/* Stops: no new connections, parked polls answered, errands finished, the log of the store folded in. Then the loop
 * ends. Calling it again changes nothing. */
void ax_server_stop(struct ax_server *server);
/* After the loop ended. */
void ax_server_close(struct ax_server *server);

/* front.c */
struct ax_http_callbacks ax_front_callbacks(struct ax_server *server);
const struct ax_http_header *ax_front_headers(bool tls);
struct ax_call;
/* Answers with the call's result, or with a problem document, and frees it. */
void ax_front_answer(struct ax_call *c);
void ax_front_fail(struct ax_call *c, enum ax_status status, const char *field, const char *msg);
void ax_front_problem(struct ax_http_request *req, int http_status, const char *code, const char *field,
	const char *detail, int64_t retry_after_s, const char *allow);

/* The console's files and the API description, built into the program. */
extern const struct ax_http_files ax_console_files;
extern const struct ax_http_files ax_spec_files;

#endif
