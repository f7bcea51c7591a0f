#ifndef AX_SERVER_DEV_H
#define AX_SERVER_DEV_H

/* Developer's mode and first steps: the links that are printed, dev.json, and the worker in the background. */

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>
#include "base/err.h"

struct ax_server;

struct ax_dev {
	uv_process_t worker;
	uv_timer_t worker_again; /* another one is started then */
	bool worker_running;
	int worker_fault;        /* why the last one could not be started, or 0 */
	int64_t worker_start_ms; /* monotonic */
	int64_t worker_wait_ms;  /* the last such wait; 0 = the last one lived, or it is the first */
	void (*worker_ended)(struct ax_server *server);
	char token[80], worker_token[80];
};

/* After the port is known and before calls are served. Makes the credentials of this start, counts the users, writes
 * STATE/dev.json, prints the address with a sign-in or setup link, starts the worker. */
AX_MUST_USE enum ax_status ax_dev_start(struct ax_server *server, struct ax_err *err);
/* Asks the worker to end and calls `ended` once it has. False: there is none. */
bool ax_dev_stop_worker(struct ax_server *server, void (*ended)(struct ax_server *server));

#endif
