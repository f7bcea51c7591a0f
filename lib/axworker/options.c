#include "worker.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "sys/ca_file.h"

/* What the program asked for, checked and copied. */

static const uint64_t SPOOL_MAX_BYTES = 256 << 20;
static const uint64_t DISK_LOW_BYTES = 200 * 1000 * 1000;

bool axw_is_name(const char *s)
{
	size_t len = strlen(s);
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)s[i]) && !strchr("._-", s[i]))
			return false;
	}
	return len >= 1 && len <= AXW_NAME_MAX;
}

static char *copy_or_null(const char *s)
{
	return s ? ax_strdup_heap(s) : NULL;
}

bool axw_fail(char *error, size_t size, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(error, size, fmt, ap);
	va_end(ap);
	return false;
}

static bool read_servers(struct axw *w, const char *list, char *error, size_t size)
{
	char *copy = ax_strdup_heap(list ? list : "");
	bool good = true;
	for (char *save, *url = strtok_r(copy, ", ", &save); url && good; url = strtok_r(NULL, ", ", &save)) {
		size_t len = strlen(url);
		while (len && url[len - 1] == '/')
			url[--len] = 0;
		if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
			good = axw_fail(
				error, size, "server '%s': write it as http://HOST:PORT or https://HOST:PORT", url);
		else if (w->n_servers == AXW_SERVERS_MAX)
			good = axw_fail(error, size, "more than %d servers", AXW_SERVERS_MAX);
		else
			w->servers[w->n_servers++] =
				(struct server){ .w = w, .url = ax_strdup_heap(url), .items_max = AXW_ITEMS_MAX };
	}
	free(copy);
	if (good && w->n_servers == 0)
		good = axw_fail(error, size, "no server: give its URL");
	return good;
}

static bool read_group(struct axw *w, char *word, char *error, size_t size)
{
	char *colon = strchr(word, ':');
	int64_t pool = 0; /* as the group says */
	if (colon) {
		*colon++ = 0;
		if (!ax_parse_i64(colon, strlen(colon), 1, AXW_POOL_MAX, &pool))
			return axw_fail(
				error, size, "group '%s': the pool size is a number from 1 to %d", word, AXW_POOL_MAX);
	}
	if (!axw_is_name(word))
		return axw_fail(error, size, "group '%s': use 1-64 of letters, digits, '.', '_' and '-'", word);
	for (int i = 0; i < w->n_groups; i++) {
		if (strcmp(w->groups[i].name, word) == 0)
			return axw_fail(error, size, "group '%s' is named twice", word);
	}
	if (w->n_groups == AXW_GROUPS_MAX)
		return axw_fail(error, size, "more than %d groups", AXW_GROUPS_MAX);
	struct group *group = &w->groups[w->n_groups++];
	snprintf(group->name, sizeof(group->name), "%s", word);
	group->pool_size = (int)pool;
	group->long_share_percent = 100;
	return true;
}

static bool read_groups(struct axw *w, const char *list, char *error, size_t size)
{
	char *copy = ax_strdup_heap(list && *list ? list : "default");
	bool good = true;
	for (char *save, *word = strtok_r(copy, ", ", &save); word && good; word = strtok_r(NULL, ", ", &save))
		good = read_group(w, word, error, size);
	free(copy);
	return good;
}

static bool read_tags(struct axw *w, const char *list, char *error, size_t size)
{
	w->tags = json_object();
	char *copy = ax_strdup_heap(list ? list : "");
	bool good = true;
	for (char *save, *word = strtok_r(copy, ",", &save); word && good; word = strtok_r(NULL, ",", &save)) {
		char *value = strchr(word, '=');
		if (!value || value == word)
			good = axw_fail(error, size, "tag '%s': write it as key=value", word);
		else if (json_object_size(w->tags) == 32)
			good = axw_fail(error, size, "more than 32 tags");
		else {
			*value++ = 0;
			if (json_object_set_new(w->tags, word, json_string(value)) < 0)
				good = axw_fail(error, size, "tag '%s' is not UTF-8", word);
		}
	}
	free(copy);
	return good;
}

static bool read_token_option(struct axw *w, const struct axw_options *o, char *error, size_t size)
{
	if (o->token_file && access(o->token_file, R_OK) < 0)
		return axw_fail(error, size, "cannot read the token file %s: %s", o->token_file, strerror(errno));
	if (!o->token_file && (!o->token || !*o->token))
		return axw_fail(error, size, "no token: make one with 'axctl worker token' and name its file");
	w->token = ax_strdup_heap(o->token ? o->token : "");
	w->token_file = copy_or_null(o->token_file);
	return true;
}

static bool read_ca(struct axw *w, const char *path, char *error, size_t size)
{
	struct ax_err err;
	if (path && ax_ca_file_check(path, &err) != AX_OK)
		return axw_fail(error, size, "ca: %s", err.msg);
	w->ca_file = copy_or_null(path);
	return true;
}

static bool read_name(struct axw *w, const char *name, char *error, size_t size)
{
	char host[AXW_NAME_MAX + 1] = "";
	if (!name || !*name) {
		gethostname(host, sizeof(host) - 1);
		name = host;
	}
	if (!axw_is_name(name))
		return axw_fail(error, size, "worker name '%s': use 1-64 of letters, digits, '.', '_' and '-'", name);
	w->name = ax_strdup_heap(name);
	return true;
}

bool axw_options_read(struct axw *w, const struct axw_options *given, char *error, size_t size)
{
	struct axw_options o = { 0 };
	if (given->size < offsetof(struct axw_options, name) || given->size > 65536)
		return axw_fail(error, size, "options.size is not sizeof(struct axw_options)");
	memcpy(&o, given, AX_MIN(given->size, sizeof(o)));
	w->log = o.log;
	w->log_user = o.user;
	w->version = ax_strdup_heap(o.version ? o.version : "");
	w->state_dir = copy_or_null(o.state_dir);
	w->spool_max_bytes = o.spool_max_bytes ? o.spool_max_bytes : SPOOL_MAX_BYTES;
	w->disk_low_bytes = o.disk_low_bytes ? o.disk_low_bytes : DISK_LOW_BYTES;
	if (!o.state_dir || !*o.state_dir)
		return axw_fail(error, size, "no state folder: results need a place on disk");
	if (!axw_journal_open(w, o.journal))
		return axw_fail(error, size, "cannot write the journal %s: %s", o.journal, strerror(errno));
	return read_name(w, o.name, error, size) && read_servers(w, o.server, error, size) &&
		read_groups(w, o.groups, error, size) && read_tags(w, o.tags, error, size) &&
		read_token_option(w, &o, error, size) && read_ca(w, o.ca_file, error, size);
}

void axw_options_free(struct axw *w)
{
	for (int i = 0; i < w->n_servers; i++)
		free(w->servers[i].url);
	for (int i = 0; i < w->n_groups; i++)
		axw_queue_done(&w->groups[i].queue);
	struct executor *e;
	struct executor *next;
	HASH_ITER(hh, w->executors, e, next)
	{
		HASH_DELETE(hh, w->executors, e);
		free(e);
	}
	json_decref(w->tags);
	if (w->lock_fd >= 0)
		close(w->lock_fd);
	axw_journal_close(w);
	free(w->name);
	free(w->token);
	free(w->token_file);
	free(w->state_dir);
	free(w->ca_file);
	free(w->version);
	free(w);
}
