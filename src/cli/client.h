#ifndef AX_CLI_CLIENT_H
#define AX_CLI_CLIENT_H

/* Calls to the REST API (docs/api.md). Every function that talks to the server has already told the user, on standard
 * error, what went wrong when it returns another code than AX_EXIT_OK (cli/ctl.h). */

#include <curl/curl.h>
#include <jansson.h>
#include "base/arena.h"
#include "cli/args.h"

enum { AX_CLIENT_SERVERS_MAX = 16, AX_CLIENT_PAGE_MAX = 200 /* items that a server gives at once */ };

struct ax_client {
	CURL *curl;
	const char *servers[AX_CLIENT_SERVERS_MAX]; /* "http://host:port", without a slash at the end */
	int n_servers;
	const char *server;          /* the one that is called */
	const char *ca_file;         /* who is trusted over TLS; NULL: whom the system trusts */
	const char *token;           /* NULL: none */
	const char *idempotency_key; /* for the next call, or NULL */
	int64_t limit_ms;            /* of the next call, when that is less than a minute; 0: a minute */
	const char *csrf;            /* of a session that a cookie carries, or NULL */
	char field[64];              /* the field that the last problem document named, or "" */
};

/* Where the server is and who we are: --server, --token, --token-file; else AX_SERVER, AX_TOKEN; else, when neither
 * server nor token is given, dev.json in the folder AX_STATE. `with_token` false: a call that needs none. Of several
 * servers the first that is ready is called, and another one when it is gone. */
int ax_client_open(struct ax_client *client, struct ax_arena *arena, const struct ax_args *args, bool with_token);
void ax_client_close(struct ax_client *client);

/* One call below /api/v1. `body` (may be NULL) is taken over. *ret (may be NULL) is the answer's JSON, JSON null when
 * it has none; the caller owns it. */
int ax_client_call(struct ax_client *client, const char *method, const char *path, json_t *body, json_t **ret);

/* One page of a list: { "items": [...], "next": cursor or null }, of at most `limit` items (0: as many as the server
 * likes; lists that come whole take no other), from the cursor `after` on (NULL: from the start). */
int ax_client_page(struct ax_client *client, const char *path, size_t limit, const char *after, json_t **ret);

/* Follows a list over its pages until `max` items (0: all). *ret is as of one page. */
int ax_client_list(struct ax_client *client, const char *path, size_t max, json_t **ret);

/* Reads an event stream until it ends or `on_event` returns false. AX_EXIT_OK when it was one; says nothing otherwise,
 * since the caller has another way to learn the same. */
struct ax_client_events {
	bool (*on_event)(struct ax_client_events *events, const char *name, const char *data);
};
int ax_client_stream(struct ax_client *client, const char *path, struct ax_client_events *events);

/* The exit code for an HTTP status, and what to do about a problem document's code ("" when there is nothing to say).
 */
int ax_client_exit(long http_status);
const char *ax_client_hint(const char *code);

#endif
