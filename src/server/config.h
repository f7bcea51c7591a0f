#ifndef AX_SERVER_CONFIG_H
#define AX_SERVER_CONFIG_H

/* Options of ax-server: command line, then environment, then defaults. See config.def. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "adapters/redis/url.h"
#include "base/arena.h"
#include "base/err.h"
#include "port/log.h"

enum ax_config_action { AX_CONFIG_SERVE, AX_CONFIG_HELP, AX_CONFIG_VERSION, AX_CONFIG_PRINT_STATE_MACHINE };

enum { AX_ALERT_ALLOW_MAX = 64 };

struct ax_config {
	enum ax_config_action action;
	char address[64]; /* numeric */
	int port;         /* 0 = any free one */
	char state_dir[3500];
	char store_path[3600]; /* of the SQLite file */
	char store_url[4096];  /* mysql://…, with a password perhaps; "" = SQLite */
	char store_password_file[1024];
	bool redis; /* there is a due queue … */
	struct ax_redis_url redis_url;
	char queue_ca[1024], queue_cert[1024], queue_key[1024];
	uint32_t shards; /* … of which these are taken from: bits */
	char tls_cert[1024], tls_key[1024], client_ca[1024], zoneinfo[1024];
	char secret_key_file[1024];
	char alert_allow[4096]; /* "host:port,…" */
	char alert_ca[1024];
	bool dev;
	bool insecure_http;
	bool loopback; /* the address is one */
	int64_t retention_ms;
	enum ax_log_level log_level;
};

/* AX_INVALID with the option as field. `env` finds a variable (getenv, or a test's own). */
AX_MUST_USE enum ax_status ax_config_read(
	int argc, char **argv, char *(*env)(const char *name), struct ax_config *ret, struct ax_err *err);

/* The text of --help, one line per option; the caller frees it. */
char *ax_config_help(void);

#endif
