/* mysql://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS. Nothing of it is shown in an error: a part that was cut wrongly may
 * hold the password. */

#include <stdbool.h>
#include <string.h>

#include "adapters/mariadb/url.h"
#include "base/num.h"
#include "base/utf8.h"
#include "sys/first_line.h"
#include "sys/key_pair.h"

enum { PORT = 3306 };

static enum ax_status broken(struct ax_err *err, const char *rule)
{
	return ax_fail(err, AX_INVALID, "store",
		"the address of the database %s: mysql://USER:PASSWORD@HOST:PORT/DATABASE", rule);
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c);
	return at == NULL ? -1 : (int)(at - digits);
}

/* The text that `raw` stands for. */
static enum ax_status decode(const char *raw, size_t len, struct ax_arena *arena, const char **ret, struct ax_err *err)
{
	char *text = ax_alloc(arena, len + 1);
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		char c = raw[i];
		if (c == '%') {
			int high = i + 2 < len ? hex_digit(raw[i + 1]) : -1,
			    low = high < 0 ? -1 : hex_digit(raw[i + 2]);
			if (low < 0)
				return broken(err, "has a % without two hexadecimal digits (% itself is %25)");
			c = (char)(high * 16 + low);
			i += 2;
		}
		if ((unsigned char)c < 0x20 || c == 0x7f)
			return broken(err, "holds a control character");
		text[n++] = c;
	}
	if (!ax_utf8_valid(text, n))
		return broken(err, "is not valid UTF-8");
	*ret = text;
	return AX_OK;
}

static enum ax_status read_account(
	const char *raw, size_t len, struct ax_arena *arena, struct ax_mariadb_config *config, struct ax_err *err)
{
	const char *colon = memchr(raw, ':', len);
	size_t user = colon == NULL ? len : (size_t)(colon - raw);
	if (user == 0)
		return broken(err, "names no user");
	enum ax_status status = decode(raw, user, arena, &config->user, err);
	if (status == AX_OK && colon != NULL)
		status = decode(colon + 1, len - user - 1, arena, &config->password, err);
	return status;
}

/* HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT. */
static enum ax_status read_place(
	const char *raw, size_t len, struct ax_arena *arena, struct ax_mariadb_config *config, struct ax_err *err)
{
	enum ax_status status;
	size_t host = 0;
	if (len > 0 && raw[0] == '[') {
		const char *close = memchr(raw, ']', len);
		if (close == NULL)
			return broken(err, "has a [ without ]");
		host = (size_t)(close - raw) + 1;
		status = decode(raw + 1, host - 2, arena, &config->host, err);
	} else {
		while (host < len && raw[host] != ':')
			host++;
		status = decode(raw, host, arena, &config->host, err);
	}
	if (status != AX_OK)
		return status;
	if (host == len)
		return AX_OK;
	int64_t port;
	if (raw[host] != ':' || !ax_parse_i64(raw + host + 1, len - host - 1, 1, 65535, &port))
		return broken(err, "has a port that is no number from 1 to 65535");
	config->port = (int)port;
	return AX_OK;
}

static enum ax_status read_option(
	const char *raw, size_t len, struct ax_arena *arena, struct ax_mariadb_config *config, struct ax_err *err)
{
	const char *equals = memchr(raw, '=', len), *value = "";
	size_t name = equals == NULL ? len : (size_t)(equals - raw);
	if (equals != NULL) {
		enum ax_status status = decode(equals + 1, len - name - 1, arena, &value, err);
		if (status != AX_OK)
			return status;
	}
#define IS(text) (name == strlen(text) && memcmp(raw, text, name) == 0)
	if (IS("ca"))
		config->ca_file = value;
	else if (IS("cert"))
		config->cert_file = value;
	else if (IS("key"))
		config->key_file = value;
	else if (IS("socket"))
		config->socket = value;
	else if (IS("password_file"))
		config->password_file = value;
	else if (IS("tls") && strcmp(value, "on") == 0)
		config->tls = AX_MARIADB_TLS_ON;
	else if (IS("tls") && strcmp(value, "off") == 0)
		config->tls = AX_MARIADB_TLS_OFF;
	else
		return broken(err,
			"has an option other than ca=FILE, cert=FILE, key=FILE, socket=FILE, password_file=FILE, "
			"tls=on and tls=off");
#undef IS
	return AX_OK;
}

static enum ax_status read_options(
	const char *raw, struct ax_arena *arena, struct ax_mariadb_config *config, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	while (status == AX_OK && *raw != '\0') {
		size_t len = strcspn(raw, "&");
		status = read_option(raw, len, arena, config, err);
		raw += len + (raw[len] == '&' ? 1 : 0);
	}
	return status;
}

enum ax_status ax_mariadb_read_url(
	const char *url, struct ax_arena *arena, struct ax_mariadb_config *ret, struct ax_err *err)
{
	static const char scheme[] = "mysql://";
	struct ax_mariadb_config config = { .host = "",
		.socket = "",
		.port = PORT,
		.user = "",
		.password = "",
		.database = "",
		.ca_file = "",
		.cert_file = "",
		.key_file = "",
		.password_file = "" };
	if (strncmp(url, scheme, strlen(scheme)) != 0)
		return broken(err, "does not begin with mysql://");
	const char *authority = url + strlen(scheme);
	size_t len = strcspn(authority, "/?");
	size_t account = len; /* up to the last @: the password may hold one */
	while (account > 0 && authority[account - 1] != '@')
		account--;
	if (account == 0)
		return broken(err, "names no user (in the password / is %2F, ? is %3F)");
	if (authority[len] != '/')
		return broken(err, "names no database");
	const char *database = authority + len + 1;
	size_t database_len = strcspn(database, "?");
	enum ax_status status = read_account(authority, account - 1, arena, &config, err);
	if (status == AX_OK)
		status = read_place(authority + account, len - account, arena, &config, err);
	if (status == AX_OK)
		status = decode(database, database_len, arena, &config.database, err);
	if (status == AX_OK && database[database_len] == '?')
		status = read_options(database + database_len + 1, arena, &config, err);
	if (status != AX_OK)
		return status;
	if (config.database[0] == '\0')
		return broken(err, "names no database");
	if (config.host[0] == '\0' && config.socket[0] == '\0')
		return broken(err, "names no host");
	*ret = config;
	return AX_OK;
}

enum ax_status ax_mariadb_read_password(struct ax_mariadb_config *config, struct ax_arena *arena, struct ax_err *err)
{
	struct ax_err why;
	if (config->password_file[0] == '\0')
		return AX_OK;
	if (ax_first_line_read(config->password_file, arena, &config->password, &why) != AX_OK)
		return ax_fail(err, AX_INVALID, "store", "the password of the database: %s", why.msg);
	return AX_OK;
}

static bool is_on_this_machine(const struct ax_mariadb_config *config)
{
	return config->socket[0] != '\0' || strcmp(config->host, "localhost") == 0 ||
		strcmp(config->host, "::1") == 0 || strncmp(config->host, "127.", 4) == 0;
}

bool ax_mariadb_wants_tls(const struct ax_mariadb_config *config)
{
	return config->tls == AX_MARIADB_TLS_ON || (config->tls == AX_MARIADB_TLS_AUTO && !is_on_this_machine(config));
}

enum ax_status ax_mariadb_check_certificate(const struct ax_mariadb_config *config, struct ax_err *err)
{
	struct ax_err why;
	if (ax_key_pair_check(config->cert_file, config->key_file, &why) != AX_OK)
		return ax_fail(err, AX_INVALID, "store", "%s=FILE %s", why.field, why.msg);
	if (config->cert_file[0] != '\0' && !ax_mariadb_wants_tls(config))
		return ax_fail(err, AX_INVALID, "store",
			"cert=FILE goes with TLS: without it nobody would see it; say tls=on");
	return AX_OK;
}
