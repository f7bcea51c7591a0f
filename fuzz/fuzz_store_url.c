/* Any text as the address of a database: refused by a rule, or of clean parts, which mean the same when written again.
 */
#include "fuzz.h"

#include <string.h>

#include "adapters/mariadb/url.h"
#include "base/buf.h"
#include "base/utf8.h"

static void check_part(const char *part)
{
	AX_ASSERT(ax_utf8_valid(part, strlen(part)));
	for (; *part != '\0'; part++)
		AX_ASSERT((unsigned char)*part >= 0x20 && *part != 0x7f);
}

static void add_escaped(struct ax_buf *url, const char *before, const char *part)
{
	ax_buf_adds(url, before);
	for (; *part != '\0'; part++)
		ax_buf_printf(url, "%%%02X", (unsigned)(unsigned char)*part);
}

static void check_again(const struct ax_mariadb_config *config, struct ax_arena *arena)
{
	static const char *const tls[] = { "", "&tls=on", "&tls=off" };
	struct ax_buf url;
	struct ax_mariadb_config again;
	struct ax_err err;
	ax_buf_init(&url, 1 << 20);
	add_escaped(&url, "mysql://", config->user);
	add_escaped(&url, ":", config->password);
	add_escaped(&url, "@", config->host);
	ax_buf_printf(&url, ":%d", config->port);
	add_escaped(&url, "/", config->database);
	add_escaped(&url, "?ca=", config->ca_file);
	add_escaped(&url, "&socket=", config->socket);
	add_escaped(&url, "&password_file=", config->password_file);
	ax_buf_adds(&url, tls[config->tls]);
	AX_ASSERT(ax_mariadb_read_url(url.data, arena, &again, &err) == AX_OK);
	AX_ASSERT(strcmp(again.user, config->user) == 0 && strcmp(again.password, config->password) == 0);
	AX_ASSERT(strcmp(again.host, config->host) == 0 && strcmp(again.socket, config->socket) == 0);
	AX_ASSERT(strcmp(again.password_file, config->password_file) == 0);
	AX_ASSERT(strcmp(again.database, config->database) == 0 && strcmp(again.ca_file, config->ca_file) == 0);
	AX_ASSERT(again.port == config->port && again.tls == config->tls);
	ax_buf_done(&url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ax_arena arena = { 0 };
	struct ax_mariadb_config config;
	struct ax_err err = { 0 };
	if (size > 4000 || memchr(data, 0, size) != NULL)
		return 0;
	const char *text = ax_strndup(&arena, (const char *)data, size);
	if (ax_mariadb_read_url(text, &arena, &config, &err) == AX_OK) {
		const char *parts[] = { config.user, config.password, config.host, config.socket, config.database,
			config.ca_file, config.password_file };
		for (size_t i = 0; i < AX_COUNT(parts); i++)
			check_part(parts[i]);
		AX_ASSERT(config.port >= 1 && config.port <= 65535);
		AX_ASSERT(config.user[0] != '\0' && config.database[0] != '\0');
		AX_ASSERT(config.host[0] != '\0' || config.socket[0] != '\0');
		check_again(&config, &arena);
	} else {
		AX_ASSERT(err.status == AX_INVALID && err.msg[0] != '\0');
	}
	ax_arena_done(&arena);
	return 0;
}
