#ifndef AX_ADAPTERS_MARIADB_URL_H
#define AX_ADAPTERS_MARIADB_URL_H

/* Where a database is and who we are there, as --store says it. Leans on base and sys alone: the second opinion
 * (src/check) reads it, too. */

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct ax_log;

enum ax_mariadb_tls {
	AX_MARIADB_TLS_AUTO, /* on, unless the server is on this machine */
	AX_MARIADB_TLS_ON,   /* the server's certificate is verified */
	AX_MARIADB_TLS_OFF,
};

struct ax_mariadb_config {
	const char *host;   /* a name or address; "" with a socket */
	const char *socket; /* path of a Unix socket, or "" */
	int port;
	const char *user, *password, *database;
	enum ax_mariadb_tls tls;
	const char *ca_file;              /* who may sign the server's certificate; "" = whom the system trusts */
	const char *cert_file, *key_file; /* show who we are, to an account that asks for it; "" = none */
	const char *password_file;        /* holds the password; "" = `password` is it */
	struct ax_log *log;               /* NULL = silent */
};

/* mysql://USER:PASSWORD@HOST:PORT/DATABASE?ca=FILE&cert=FILE&key=FILE&tls=on|off&socket=FILE&password_file=FILE; %XX
 * in any part; the port (3306), the password and what stands behind "?" may be left out, with a socket HOST too.
 * AX_INVALID names the rule that it breaks, and never shows the password. The texts of `ret` are in the arena. */
enum ax_status ax_mariadb_read_url(
	const char *url, struct ax_arena *arena, struct ax_mariadb_config *ret, struct ax_err *err);

/* Reads config->password from the password file, if there is one. */
enum ax_status ax_mariadb_read_password(struct ax_mariadb_config *config, struct ax_arena *arena, struct ax_err *err);

/* Whether our certificate and its key, if there are any, can be used: AX_INVALID names the option and the rule. */
enum ax_status ax_mariadb_check_certificate(const struct ax_mariadb_config *config, struct ax_err *err);

bool ax_mariadb_wants_tls(const struct ax_mariadb_config *config);

#endif
