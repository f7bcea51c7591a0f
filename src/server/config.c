#include "server/config.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/mariadb/url.h"
#include "adapters/zoneinfo/zoneinfo.h"
#include "base/buf.h"
#include "base/num.h"
#include "port/queue.h"
#include "sys/ca_file.h"
#include "sys/first_line.h"
#include "sys/key_pair.h"

enum option {
#define AX_OPTION(name, arg, preset, text) OPT_##name,
#include "server/config.def"
#undef AX_OPTION
	OPT_MAX
};

static const struct {
	const char *name, *arg, *preset, *text;
} options[OPT_MAX] = {
#define AX_OPTION(name, arg, preset, text) { #name, arg, preset, text },
#include "server/config.def"
#undef AX_OPTION
};

/* "--tls-cert" for tls_cert, "AX_TLS_CERT" in the environment. */
static void spell(int option, char flag[40], char variable[40])
{
	snprintf(flag, 40, "--%s", options[option].name);
	snprintf(variable, 40, "AX_%s", options[option].name);
	for (char *c = flag; *c != '\0'; c++)
		if (*c == '_')
			*c = '-';
	for (char *c = variable; *c != '\0'; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
}

static enum ax_status refuse(struct ax_err *err, int option, const char *rule)
{
	char flag[40], variable[40];
	spell(option, flag, variable);
	return ax_fail(err, AX_INVALID, flag, "%s (or %s) %s", flag, variable, rule);
}

static int find_option(const char *word, size_t len)
{
	for (int i = 0; i < OPT_MAX; i++) {
		char flag[40], variable[40];
		spell(i, flag, variable);
		if (strlen(flag) == len && memcmp(flag, word, len) == 0)
			return i;
	}
	return -1;
}

static enum ax_status read_arguments(
	int argc, char **argv, const char *values[OPT_MAX], struct ax_config *ret, struct ax_err *err)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
			ret->action = AX_CONFIG_HELP;
			continue;
		}
		if (strcmp(word, "--version") == 0) {
			ret->action = AX_CONFIG_VERSION;
			continue;
		}
		if (strcmp(word, "--print-state-machine") == 0) {
			ret->action = AX_CONFIG_PRINT_STATE_MACHINE;
			continue;
		}
		const char *equals = strchr(word, '=');
		int option = find_option(word, equals != NULL ? (size_t)(equals - word) : strlen(word));
		if (option < 0)
			return ax_fail(
				err, AX_INVALID, word, "unknown option `%.80s`; ax-server --help lists them", word);
		if (options[option].arg == NULL) {
			if (equals != NULL)
				return refuse(err, option, "takes no value");
			values[option] = "1";
		} else if (equals != NULL) {
			values[option] = equals + 1;
		} else if (i + 1 < argc) {
			values[option] = argv[++i];
		} else {
			return refuse(err, option, "needs a value");
		}
	}
	return AX_OK;
}

static bool copy(char *to, size_t size, const char *from)
{
	return (size_t)snprintf(to, size, "%s", from) < size;
}

static enum ax_status read_listen(const char *text, struct ax_config *ret, struct ax_err *err)
{
	const char *colon = strrchr(text, ':');
	int64_t port;
	if (colon == NULL || !ax_parse_i64(colon + 1, strlen(colon + 1), 0, 65535, &port))
		return refuse(err, OPT_listen, "must be ADDRESS:PORT, such as 127.0.0.1:8750 or [::1]:8750");
	const char *from = text;
	size_t len = (size_t)(colon - text);
	if (len >= 2 && from[0] == '[' && from[len - 1] == ']') {
		from++;
		len -= 2;
	}
	if (len == 0 || len >= sizeof ret->address)
		return refuse(err, OPT_listen, "must name a numeric address before the port");
	memcpy(ret->address, from, len);
	ret->address[len] = '\0';
	if (strcmp(ret->address, "localhost") == 0)
		copy(ret->address, sizeof ret->address, "127.0.0.1");
	ret->port = (int)port;

	struct in_addr v4;
	struct in6_addr v6;
	if (inet_pton(AF_INET, ret->address, &v4) == 1)
		ret->loopback = ntohl(v4.s_addr) >> 24 == 127;
	else if (inet_pton(AF_INET6, ret->address, &v6) == 1)
		ret->loopback = IN6_IS_ADDR_LOOPBACK(&v6);
	else
		return refuse(err, OPT_listen, "must name a numeric address, such as 0.0.0.0 or [::]");
	return AX_OK;
}

static enum ax_status read_store(const char *const values[OPT_MAX], struct ax_config *ret, struct ax_err *err)
{
	const char *store = values[OPT_store], *password_file = values[OPT_store_password_file];
	if (strncmp(store, "mysql://", 8) == 0) {
		struct ax_arena scratch = { 0 };
		struct ax_mariadb_config mariadb;
		struct ax_err why;
		enum ax_status status = ax_mariadb_read_url(store, &scratch, &mariadb, &why);
		if (status == AX_OK)
			status = ax_mariadb_check_certificate(&mariadb, &why);
		ax_arena_done(&scratch);
		if (status != AX_OK)
			return refuse(err, OPT_store, why.msg);
		return copy(ret->store_url, sizeof ret->store_url, store) &&
				copy(ret->store_password_file, sizeof ret->store_password_file, password_file)
			? AX_OK
			: refuse(err, OPT_store, "is too long");
	}
	if (password_file[0] != '\0')
		return refuse(err, OPT_store_password_file, "goes with --store mysql://…");
	if (store[0] == '\0' && store != options[OPT_store].preset) /* a variable that nobody filled in */
		return refuse(err, OPT_store, "is empty");
	if (store[0] == '\0')
		snprintf(ret->store_path, sizeof ret->store_path, "%s/ax.db", ret->state_dir);
	else if (strncmp(store, "sqlite:", 7) != 0 || store[7] == '\0')
		return refuse(err, OPT_store, "must be sqlite:PATH or mysql://USER:PASSWORD@HOST:PORT/DATABASE");
	else if (!copy(ret->store_path, sizeof ret->store_path, store + 7))
		return refuse(err, OPT_store, "is too long");
	return AX_OK;
}

static enum ax_status read_password(int option, const char *file, char ret[AX_REDIS_SECRET_MAX + 1], struct ax_err *err)
{
	struct ax_arena scratch = { 0 };
	struct ax_err why = { 0 };
	const char *password;
	enum ax_status status = ax_first_line_read(file, &scratch, &password, &why);
	if (status != AX_OK)
		status = refuse(err, option, why.msg);
	else if (!copy(ret, AX_REDIS_SECRET_MAX + 1, password))
		status = refuse(err, option, "holds a password that is too long");
	ax_arena_done(&scratch);
	return status;
}

static enum ax_status read_sentinel_account(
	const char *const values[OPT_MAX], struct ax_config *ret, struct ax_err *err)
{
	const char *user = values[OPT_queue_sentinel_user], *file = values[OPT_queue_sentinel_password_file];
	struct ax_redis_url *url = &ret->redis_url;
	if (user[0] == '\0' && file[0] == '\0')
		return AX_OK;
	if (!ret->redis || url->kind != AX_REDIS_SENTINEL)
		return refuse(err, user[0] != '\0' ? OPT_queue_sentinel_user : OPT_queue_sentinel_password_file,
			"goes with --queue redis-sentinel://…");
	if (file[0] == '\0')
		return refuse(err, OPT_queue_sentinel_user,
			"names a user without a password: give --queue-sentinel-password-file");
	if (!copy(url->sentinel_user, sizeof url->sentinel_user, user))
		return refuse(err, OPT_queue_sentinel_user, "is too long");
	return read_password(OPT_queue_sentinel_password_file, file, url->sentinel_password, err);
}

static enum ax_status read_queue(const char *const values[OPT_MAX], struct ax_config *ret, struct ax_err *err)
{
	const char *queue = values[OPT_queue], *password_file = values[OPT_queue_password_file];
	struct ax_err why = { 0 };
	ret->redis = strcmp(queue, "embedded") != 0;
	if (!ret->redis && password_file[0] != '\0')
		return refuse(err, OPT_queue_password_file, "goes with --queue redis://…");
	if (!ret->redis)
		return AX_OK;
	if (ax_redis_url_read(queue, &ret->redis_url, &why) != AX_OK)
		return refuse(err, OPT_queue, why.msg);
	bool lacks_password = ret->redis_url.user[0] != '\0' && ret->redis_url.password[0] == '\0';
	if (lacks_password && password_file[0] == '\0')
		return refuse(err, OPT_queue, "names a user without a password: give --queue-password-file");
	if (password_file[0] == '\0')
		return AX_OK;
	if (ret->redis_url.password[0] != '\0')
		return refuse(err, OPT_queue_password_file,
			"names one password and --queue (or AX_QUEUE) holds another: leave out one of the two");
	return read_password(OPT_queue_password_file, password_file, ret->redis_url.password, err);
}

static enum ax_status read_shards(const char *text, struct ax_config *ret, struct ax_err *err)
{
	for (const char *p = text;; p++) {
		size_t len = strcspn(p, ",");
		const char *dash = memchr(p, '-', len);
		int64_t first, last;
		size_t first_len = dash != NULL ? (size_t)(dash - p) : len;
		bool good = ax_parse_i64(p, first_len, 0, AX_QUEUE_SHARDS - 1, &first);
		last = first;
		if (good && dash != NULL)
			good = ax_parse_i64(dash + 1, len - first_len - 1, first, AX_QUEUE_SHARDS - 1, &last);
		if (!good)
			return refuse(err, OPT_shards, "must be numbers from 0 to 15, such as 0-7 or 0,3,8-11");
		for (int64_t shard = first; shard <= last; shard++)
			ret->shards |= UINT32_C(1) << shard;
		p += len;
		if (*p == '\0')
			return AX_OK;
	}
}

static enum ax_status check_queue_files(const struct ax_config *config, struct ax_err *err)
{
	struct ax_err why;
	if (config->queue_ca[0] != '\0' && !config->redis)
		return refuse(err, OPT_queue_ca, "goes with --queue rediss://…");
	if (config->queue_ca[0] != '\0' && ax_ca_file_check(config->queue_ca, &why) != AX_OK)
		return refuse(err, OPT_queue_ca, why.msg);
	if (ax_key_pair_check(config->queue_cert, config->queue_key, &why) != AX_OK)
		return refuse(err, strcmp(why.field, "cert") == 0 ? OPT_queue_cert : OPT_queue_key, why.msg);
	if (config->queue_cert[0] != '\0' && !(config->redis && config->redis_url.tls))
		return refuse(err, OPT_queue_cert, "goes with --queue rediss://…: without TLS nobody would see it");
	return AX_OK;
}

/* Who would miss them misses them much later: at the first alert, at the first task with a time zone. */
static enum ax_status check_files(const struct ax_config *config, struct ax_err *err)
{
	struct ax_err why;
	if (config->alert_ca[0] != '\0' && ax_ca_file_check(config->alert_ca, &why) != AX_OK)
		return refuse(err, OPT_alert_ca, why.msg);
	if (config->zoneinfo[0] != '\0' && !ax_zoneinfo_is_folder(config->zoneinfo))
		return refuse(err, OPT_zoneinfo, "names no folder of time zone files: there is no UTC in it");
	return check_queue_files(config, err);
}

static enum ax_status read_paths(const char *const values[OPT_MAX], struct ax_config *ret, struct ax_err *err)
{
	const char *state = values[OPT_state][0] != '\0' ? values[OPT_state] : ret->dev ? ".ax" : "/var/lib/ax";
	if (!copy(ret->state_dir, sizeof ret->state_dir, state))
		return refuse(err, OPT_state, "is too long");
	enum ax_status status = read_store(values, ret, err);
	if (status != AX_OK)
		return status;
	status = read_queue(values, ret, err);
	if (status == AX_OK)
		status = read_sentinel_account(values, ret, err);
	if (status == AX_OK)
		status = read_shards(values[OPT_shards], ret, err);
	if (status == AX_OK && !ret->redis && values[OPT_shards] != options[OPT_shards].preset)
		status = refuse(err, OPT_shards, "goes with --queue redis://…: without a queue there are no shards");
	if (status != AX_OK)
		return status;

	static const int files[] = { OPT_tls_cert, OPT_tls_key, OPT_client_ca, OPT_zoneinfo, OPT_alert_ca,
		OPT_secret_key_file, OPT_queue_ca, OPT_queue_cert, OPT_queue_key };
	char *const to[] = { ret->tls_cert, ret->tls_key, ret->client_ca, ret->zoneinfo, ret->alert_ca,
		ret->secret_key_file, ret->queue_ca, ret->queue_cert, ret->queue_key };
	for (size_t i = 0; i < AX_COUNT(files); i++)
		if (!copy(to[i], sizeof ret->tls_cert, values[files[i]]))
			return refuse(err, files[i], "is too long");
	if ((ret->tls_cert[0] == '\0') != (ret->tls_key[0] == '\0'))
		return refuse(err, ret->tls_cert[0] == '\0' ? OPT_tls_cert : OPT_tls_key,
			"is missing: certificate and key go together");
	if (ret->client_ca[0] != '\0' && ret->tls_cert[0] == '\0')
		return refuse(err, OPT_client_ca, "needs --tls-cert and --tls-key");
	return check_files(ret, err);
}

static enum ax_status read_alert_allow(const char *text, struct ax_config *ret, struct ax_err *err)
{
	if (!copy(ret->alert_allow, sizeof ret->alert_allow, text))
		return refuse(err, OPT_alert_allow, "is too long");
	int n = 0;
	for (const char *p = text + strspn(text, ", "); *p != '\0'; p += strspn(p, ", "), n++) {
		size_t len = strcspn(p, ", ");
		const char *colon = memrchr(p, ':', len);
		int64_t port;
		if (colon == NULL || colon == p ||
			!ax_parse_i64(colon + 1, (size_t)(p + len - colon - 1), 1, 65535, &port))
			return refuse(err, OPT_alert_allow, "must be HOST:PORT, such as mail.internal:25 or [::1]:25");
		p += len;
	}
	return n > AX_ALERT_ALLOW_MAX ? refuse(err, OPT_alert_allow, "names too many targets") : AX_OK;
}

/* What may not go together. */
static enum ax_status check(const struct ax_config *config, struct ax_err *err)
{
	if (config->dev && config->store_url[0] != '\0')
		return refuse(
			err, OPT_store, "must be sqlite:PATH with --dev, which keeps everything in its own folder");
	if (config->dev && !config->loopback)
		return refuse(err, OPT_listen, "must be a loopback address with --dev");
	if (!config->loopback && config->tls_cert[0] == '\0' && !config->insecure_http)
		return refuse(err, OPT_listen,
			"is not a loopback address: give --tls-cert and --tls-key, or --insecure-http behind a TLS "
			"proxy");
	return AX_OK;
}

enum ax_status ax_config_read(
	int argc, char **argv, char *(*env)(const char *name), struct ax_config *ret, struct ax_err *err)
{
	const char *values[OPT_MAX] = { NULL };
	*ret = (struct ax_config){ .action = AX_CONFIG_SERVE };
	enum ax_status status = read_arguments(argc, argv, values, ret, err);
	if (status != AX_OK || ret->action != AX_CONFIG_SERVE)
		return status;
	for (int i = 0; i < OPT_MAX; i++) {
		char flag[40], variable[40];
		spell(i, flag, variable);
		const char *value = env(variable);
		if (values[i] == NULL)
			values[i] = value != NULL ? value : options[i].preset;
		if (options[i].arg == NULL && strcmp(values[i], "1") != 0 && values[i][0] != '\0')
			return refuse(err, i, "is a switch: 1 or nothing");
	}
	ret->dev = values[OPT_dev][0] != '\0';
	ret->insecure_http = values[OPT_insecure_http][0] != '\0';
	const char *listen = values[OPT_listen];
	if (ret->dev && listen == options[OPT_listen].preset)
		listen = "127.0.0.1:0";
	status = read_listen(listen, ret, err);
	if (status == AX_OK)
		status = read_paths(values, ret, err);
	if (status == AX_OK)
		status = read_alert_allow(values[OPT_alert_allow], ret, err);
	if (status != AX_OK)
		return status;

	int64_t days;
	if (!ax_parse_i64(values[OPT_retention_days], strlen(values[OPT_retention_days]), 1, 3650, &days))
		return refuse(err, OPT_retention_days, "must be a number of days from 1 to 3650");
	ret->retention_ms = days * 86400000;

	static const char *const levels[] = { "debug", "info", "warn", "error" };
	size_t level = 0;
	while (level < AX_COUNT(levels) && strcmp(values[OPT_log_level], levels[level]) != 0)
		level++;
	if (level == AX_COUNT(levels))
		return refuse(err, OPT_log_level, "must be debug, info, warn or error");
	ret->log_level = (enum ax_log_level)level;
	return check(ret, err);
}

char *ax_config_help(void)
{
	struct ax_buf out;
	ax_buf_init(&out, 65536);
	ax_buf_adds(&out,
		"usage: ax-server [options]\n\nThe scheduling centre of AX: REST API, worker API, scheduler, "
		"console.\n\n");
	for (int i = 0; i < OPT_MAX; i++) {
		char flag[40], variable[40], left[64];
		spell(i, flag, variable);
		snprintf(left, sizeof left, "%s %s", flag, options[i].arg != NULL ? options[i].arg : "");
		ax_buf_printf(&out, "  %-26s %s", left, options[i].text);
		if (options[i].preset[0] != '\0')
			ax_buf_printf(&out, " (%s)", options[i].preset);
		ax_buf_printf(&out, "\n  %-26s %s\n", "", variable);
	}
	ax_buf_adds(&out,
		"  --print-state-machine      the life of a run as a page of documentation\n"
		"  --help, --version\n");
	return ax_buf_take(&out, NULL);
}
