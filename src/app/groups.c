#include "app/groups.h"

#include <string.h>

#include "app/task_check.h"
#include "core/limits.h"

struct pass {
	struct ax_ctx *ctx;
	const struct ax_group *group;
	const char *key;
	struct ax_group *ret;
	int64_t now;
};

static bool key_ok(const char *key)
{
	size_t len = strlen(key);
	if (len == 0 || len > AX_KEY_MAX || strchr("._-", key[0]) != NULL)
		return false;
	return strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

struct ax_group ax_group_preset(const char *key)
{
	return (struct ax_group){
		.group_key = key,
		.title = "",
		.dispatch_quota = 200,
		.pool_size = 50,
		.contacts = "",
		.long_share_percent = 50,
		.late_seconds = AX_LATE_SECONDS,
		.backlog_limit = AX_BACKLOG_LIMIT,
		.backlog_seconds = AX_BACKLOG_SECONDS,
		.defaults = "{}",
		.version = 1,
	};
}

/* A mail address as one writes it, or the name of a channel. */
static bool contact_ok(const char *word, size_t len)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	static const char local[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+!#$%&'*/=?^`{|}~";
	size_t before = strspn(word, local);
	bool mail = before >= 1 && before < len && word[before] == '@';
	size_t from = mail ? before + 1 : 0, max = mail ? 254 : AX_KEY_MAX;
	return len - from >= 1 && len <= max && strspn(word + from, plain) >= len - from;
}

static enum ax_status check_contacts(const char *contacts, struct ax_err *err)
{
	if (strlen(contacts) > AX_MESSAGE_MAX)
		return ax_fail(err, AX_INVALID, "contacts", "the contacts have at most %d bytes", AX_MESSAGE_MAX);
	for (const char *at = contacts; *at != '\0';) {
		size_t len = strcspn(at, " ");
		if (!contact_ok(at, len))
			return ax_fail(err, AX_INVALID, "contacts",
				"'%.*s' is neither the name of a channel nor a mail address",
				(int)AX_MIN(len, (size_t)64), at);
		at += len + (at[len] == ' ');
	}
	return AX_OK;
}

static enum ax_status check(const struct ax_group *group, struct ax_err *err)
{
	if (!key_ok(group->group_key))
		return ax_fail(err, AX_INVALID, "group_key",
			"a group key is 1 to 64 of a-z, 0-9, '.', '_' and '-', and begins with a letter or digit");
	if (group->dispatch_quota < 1 || group->dispatch_quota > 100000)
		return ax_fail(err, AX_INVALID, "dispatch_quota", "the quota is 1 to 100,000 runs");
	if (group->pool_size < 1 || group->pool_size > 10000)
		return ax_fail(err, AX_INVALID, "pool_size", "the pool size is 1 to 10,000 runs");
	if (ax_line_check("title", group->title, 0, AX_NAME_MAX, err) != AX_OK)
		return AX_INVALID;
	if (group->long_share_percent < 1 || group->long_share_percent > 100)
		return ax_fail(err, AX_INVALID, "long_share_percent", "the share of long runs is 1 to 100 percent");
	if (group->worker_backlog < 0 || group->worker_backlog > 30000)
		return ax_fail(err, AX_INVALID, "worker_backlog",
			"the backlog of a worker is 1 to 30,000 runs, or 0 for three times its pool");
	if (group->keep_days < 0 || group->keep_days > 3650)
		return ax_fail(err, AX_INVALID, "keep_days",
			"runs are kept for 1 to 3,650 days, or 0 for as long as the server keeps them");
	if (group->keep_runs < 0 || group->keep_runs > AX_KEEP_RUNS_MAX)
		return ax_fail(err, AX_INVALID, "keep_runs", "of each task 1 to 10,000 runs are kept, or 0 for all");
	if (strlen(group->defaults) > AX_PARAM_MAX)
		return ax_fail(err, AX_TOO_LARGE, "defaults", "the defaults have at most %d bytes", AX_PARAM_MAX);
	return check_contacts(group->contacts, err);
}

static enum ax_status create(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_group group = *pass->group;
	group.running = group.running_long = 0;
	group.version = 1;
	group.create_time = pass->now;
	group.update_time = pass->now;
	enum ax_status status = tx->ops->group_insert(tx, &group, err);
	if (status == AX_EXISTS)
		return ax_fail(err, AX_EXISTS, "group_key", "there is a group '%s' already", group.group_key);
	*pass->ret = group;
	return status;
}

enum ax_status ax_group_create(
	struct ax_ctx *ctx, const struct ax_group *group, struct ax_group *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .group = group, .ret = ret, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = check(group, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, create, &pass, err) : status;
}

static enum ax_status update(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct pass *pass = arg;
	struct ax_group old;
	enum ax_status status = tx->ops->group_get(tx, pass->group->group_key, true, &old, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "group_key", "there is no group '%.64s'", pass->group->group_key);
	if (status != AX_OK)
		return status;
	if (old.version != pass->group->version)
		return ax_fail(err, AX_CONFLICT, "version", "the group is at version %lld; read it again",
			(long long)old.version);
	struct ax_group group = *pass->group;
	group.running = old.running;
	group.running_long = old.running_long;
	group.version = old.version + 1;
	group.create_time = old.create_time;
	group.update_time = pass->now;
	status = tx->ops->group_update(tx, &group, old.version, err);
	pass->ctx->notify->ops->group_ready(pass->ctx->notify, group.group_key); /* it may have more room now */
	*pass->ret = group;
	return status;
}

enum ax_status ax_group_update(
	struct ax_ctx *ctx, const struct ax_group *group, struct ax_group *ret, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .group = group, .ret = ret, .now = ax_now_ms(ctx->clock) };
	enum ax_status status = check(group, err);
	return status == AX_OK ? ax_store_run(ctx->store, ctx->arena, update, &pass, err) : status;
}

static enum ax_status remove_group(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const char *key = ((struct pass *)arg)->key;
	if (strcmp(key, "default") == 0)
		return ax_fail(err, AX_CONFLICT, "group_key", "the group 'default' stays");
	struct ax_group group; /* locked first: whoever makes a task of it has done so, or finds it gone */
	enum ax_status status = tx->ops->group_get(tx, key, true, &group, err);
	if (status == AX_OK)
		status = tx->ops->group_delete(tx, key, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "group_key", "there is no group '%.64s'", key);
	if (status == AX_CONFLICT)
		return ax_fail(
			err, AX_CONFLICT, "group_key", "group '%.64s' has tasks or runs; delete its tasks first", key);
	return status;
}

enum ax_status ax_group_delete(struct ax_ctx *ctx, const char *key, struct ax_err *err)
{
	struct pass pass = { .ctx = ctx, .key = key };
	return ax_store_run(ctx->store, ctx->arena, remove_group, &pass, err);
}
