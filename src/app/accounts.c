#include "app/accounts.h"

#include <string.h>

#include "base/num.h"

static const char *const role_names[] = { "", "viewer", "operator", "editor", "admin" };

bool ax_role_parse(const char *name, enum ax_role *ret)
{
	for (int i = AX_ROLE_VIEWER; i <= AX_ROLE_ADMIN; i++) {
		if (strcmp(name, role_names[i]) == 0) {
			*ret = (enum ax_role)i;
			return true;
		}
	}
	return false;
}

const char *ax_role_name(enum ax_role role)
{
	return role_names[role];
}

/* What a credential of this kind lets its holder be; false: nobody. */
static bool identify(struct ax_tx *tx, const struct ax_token *token, bool dev, struct ax_caller *who)
{
	bool dev_only = strncmp(token->kind, "dev", 3) == 0;
	if (dev_only && !dev)
		return false;
	who->name = token->name;
	if (strcmp(token->kind, "session") == 0) {
		who->session = true;
		who->actor = token->name;
		if (strcmp(token->name, AX_ACCOUNT_DEV_USER) == 0 && !dev)
			return false;
		return ax_role_parse(token->role, &who->role);
	}
	who->actor = ax_sprintf(tx->arena, "token %s", token->name);
	if (strcmp(token->kind, "api") == 0 || strcmp(token->kind, "dev") == 0)
		return ax_role_parse(token->role, &who->role);
	who->worker = strcmp(token->kind, "worker") == 0 || strcmp(token->kind, "dev_worker") == 0;
	return who->worker;
}

enum ax_status ax_account_admit(
	struct ax_tx *tx, const char *hash, int64_t now, bool dev, struct ax_caller *ret, struct ax_err *err)
{
	struct ax_token token;
	enum ax_status status = tx->ops->token_find(tx, hash, &token, err);
	if (status != AX_OK && status != AX_NOT_FOUND)
		return status;
	struct ax_caller who = { 0 };
	if (status == AX_NOT_FOUND || token.expire_time <= now || !identify(tx, &token, dev, &who))
		return ax_fail(
			err, AX_UNAUTHENTICATED, "", "the credential is unknown, over or revoked; sign in again");
	who.token_id = token.id;
	who.csrf = token.csrf;
	who.worker_groups = token.worker_groups;
	who.valid_until = who.session ? token.create_time + AX_SESSION_MAX_MS : token.expire_time;
	who.touch = now - token.last_used_time >= AX_TOUCH_EVERY_MS;
	*ret = who;
	return AX_OK;
}

enum ax_status ax_account_touch(struct ax_tx *tx, const struct ax_caller *caller, int64_t now, struct ax_err *err)
{
	int64_t until = caller->valid_until;
	if (caller->session)
		until = AX_MIN(until, now + AX_SESSION_IDLE_MS);
	return tx->ops->token_touch(tx, caller->token_id, now, until, err);
}

enum ax_status ax_account_use_link(
	struct ax_tx *tx, const char *kind, const char *hash, int64_t now, struct ax_token *ret, struct ax_err *err)
{
	struct ax_token token;
	enum ax_status status = tx->ops->token_find(tx, hash, &token, err);
	if (status == AX_OK && (strcmp(token.kind, kind) != 0 || token.expire_time <= now))
		status = AX_NOT_FOUND;
	if (status == AX_OK) /* of those who come at once, one finds it still there */
		status = tx->ops->token_delete(tx, token.id, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_DENIED, "",
			"the link was used or is over; the server prints a new one each time it starts");
	if (status == AX_OK)
		*ret = token;
	return status;
}

enum ax_status ax_account_open_session(struct ax_tx *tx, const char *user, const char *role, const char *hash,
	const char *csrf, int64_t now, struct ax_err *err)
{
	struct ax_token session = {
		.hash = hash,
		.kind = "session",
		.name = user,
		.role = role,
		.worker_groups = "",
		.csrf = csrf,
		.create_time = now,
		.expire_time = now + AX_SESSION_IDLE_MS,
		.last_used_time = now,
	};
	int64_t id;
	return tx->ops->token_insert(tx, &session, &id, err);
}

enum ax_status ax_account_check_new(const char *user, const char *password, struct ax_err *err)
{
	size_t len = strlen(user);
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-";
	if (len < 1 || len > 64 || strspn(user, allowed) != len)
		return ax_fail(err, AX_INVALID, "user", "user must be 1-64 of A-Z a-z 0-9 . _ @ -");
	if (strcmp(user, AX_ACCOUNT_DEV_USER) == 0)
		return ax_fail(err, AX_INVALID, "user", "the name `dev` is kept for developer's mode");
	size_t characters = 0;
	for (const char *c = password; *c != '\0'; c++)
		characters += (*c & 0xc0) != 0x80;
	if (characters < 12)
		return ax_fail(err, AX_INVALID, "password", "password must have at least 12 characters");
	if (strlen(password) > 256)
		return ax_fail(err, AX_INVALID, "password", "password must not be longer than 256 bytes");
	if (strcmp(user, password) == 0)
		return ax_fail(err, AX_INVALID, "password", "password must differ from the user's name");
	return AX_OK;
}
