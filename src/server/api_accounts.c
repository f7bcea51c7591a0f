/* Setup, sessions and tokens.
 *
 * Signing in takes three steps in three lanes: look the user up (read), compare the password (hash: a tenth of a
 * second, 64 MiB), make the session (write). */

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "core/limits.h"
#include "server/handlers.h"
#include "server/render.h"
#include "server/secrets.h"
#include "server/server.h"
#include "version.h"

#define DAY_MS INT64_C(86400000)

struct sign_in {
	const char *user, *password, *stored; /* stored: hash, "" for an unknown user */
	const char *role;
	const char *link_hash; /* of a one-time link instead, or NULL */
	bool setup;            /* makes the user */
	char session[AX_SECRET_SIZE], session_hash[AX_SECRET_HASH_SIZE];
	char csrf[AX_SECRET_SIZE];
};

/* --- the session -------------------------------------------------------------------------------------------------- */

static void answer_session(struct ax_call *c, const char *user, const char *role, const char *csrf)
{
	ax_json_obj(&c->json, NULL);
	ax_json_str(&c->json, "user", user);
	ax_json_str(&c->json, "role", role);
	ax_json_word(&c->json, "csrf", csrf);
	ax_json_bool(&c->json, "dev", c->server->config.dev);
	ax_json_str(&c->json, "version", AX_VERSION);
	ax_json_str(&c->json, "tzdata", ax_zones_version(c->server->zones));
	ax_json_int(&c->json, "server_time", c->now);
	ax_json_obj_end(&c->json);
}

static const char *cookie(struct ax_call *c, const char *value, int max_age_s)
{
	bool tls = c->server->config.tls_cert[0] != '\0';
	return ax_sprintf(&c->arena, "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s", tls ? "__Host-ax" : "ax",
		value, max_age_s, tls ? "; Secure" : "");
}

enum ax_status ax_get_session(struct ax_call *c, struct ax_err *err)
{
	(void)err;
	answer_session(c, c->who.name, ax_role_name(c->who.role), c->who.csrf);
	return AX_OK;
}

enum ax_status ax_delete_session(struct ax_call *c, struct ax_err *err)
{
	if (!c->who.session)
		return ax_fail(err, AX_INVALID, "", "a token is no session: delete it under /tokens");
	enum ax_status status = c->tx->ops->token_delete(c->tx, c->who.token_id, err);
	if (status == AX_OK)
		status =
			ax_call_audit(c, "session.end", ax_sprintf(&c->arena, "user:%s", c->who.name), "", "", "", err);
	c->cookie = cookie(c, "", 0);
	c->revoked_token = c->who.token_id;
	c->status = 204;
	return status;
}

/* The last step: everything has been checked but what only the store can tell. */
static enum ax_status open_session(struct ax_call *c, struct ax_err *err)
{
	struct sign_in *s = c->memo;
	c->who.actor = s->user;
	const char *action = "session.begin";
	enum ax_status status = AX_OK;
	if (s->link_hash != NULL) {
		struct ax_token link;
		status = ax_account_use_link(c->tx, s->setup ? "setup" : "once", s->link_hash, c->now, &link, err);
		if (status == AX_OK && !s->setup) {
			c->who.actor = s->user = link.name;
			s->role = link.role;
		}
	}
	if (status == AX_OK && s->setup) {
		struct ax_user user = {
			.name = s->user, .password_hash = s->stored, .role = "admin", .create_time = c->now
		};
		int64_t id;
		action = "setup";
		/* links of other servers end with the one that was used */
		status = c->tx->ops->tokens_expire(c->tx, INT64_MAX, "setup", err);
		if (status == AX_OK)
			status = c->tx->ops->user_insert(c->tx, &user, &id, err);
	}
	ax_secret_make("", s->session);
	ax_secret_hash(s->session, s->session_hash);
	ax_secret_make("", s->csrf);
	if (status == AX_OK)
		status = ax_account_open_session(c->tx, s->user, s->role, s->session_hash, s->csrf, c->now, err);
	if (status == AX_OK)
		status = ax_call_audit(c, action, ax_sprintf(&c->arena, "user:%s", s->user), "", "", "", err);
	if (status != AX_OK)
		return status;
	if (s->setup)
		atomic_store(&c->server->setup_needed, false);
	c->cookie = cookie(c, s->session, AX_SESSION_MAX_MS / 1000);
	c->status = s->setup ? 201 : 200;
	answer_session(c, s->user, s->role, s->csrf);
	return AX_OK;
}

static void then(struct ax_call *c, enum ax_lane lane, ax_handler handler)
{
	c->then = handler;
	c->then_lane = lane;
}

/* A sign-in that fails is remembered, too. */
static enum ax_status refuse_sign_in(struct ax_call *c, struct ax_err *err)
{
	struct sign_in *s = c->memo;
	enum ax_status status =
		ax_call_audit(c, "session.refused", ax_sprintf(&c->arena, "user:%.64s", s->user), "", "", "", err);
	if (status != AX_OK)
		return status;
	c->told = ax_fail(err, AX_UNAUTHENTICATED, "", "the user's name or the password is wrong");
	return AX_OK;
}

static enum ax_status compare_password(struct ax_call *c, struct ax_err *err)
{
	(void)err;
	struct sign_in *s = c->memo;
	bool matches = ax_password_matches(s->stored, s->password);
	c->passed = matches;
	then(c, AX_LANE_WRITE, matches ? open_session : refuse_sign_in);
	return AX_OK;
}

static const char *hash_of(struct ax_call *c, const char *secret)
{
	char *hash = ax_alloc(&c->arena, AX_SECRET_HASH_SIZE);
	ax_secret_hash(secret, hash);
	return hash;
}

enum ax_status ax_post_session(struct ax_call *c, struct ax_err *err)
{
	struct sign_in *s = ax_alloc(&c->arena, sizeof *s);
	const char *once = NULL;
	struct ax_read r;
	s->user = s->password = "";
	ax_call_body(c, &r, err);
	ax_read_str(&r, "user", 64, &s->user);
	ax_read_str(&r, "password", 256, &s->password);
	ax_read_str(&r, "once", 128, &once);
	if (once == NULL) {
		ax_read_require(&r, "user");
		ax_read_require(&r, "password");
	} else if (s->user[0] != '\0' || s->password[0] != '\0') {
		ax_read_fail(&r, "once", "give either once or user and password");
	}
	enum ax_status status = ax_read_end(&r);
	if (status != AX_OK)
		return status;
	c->memo = s;
	if (once != NULL) {
		s->link_hash = hash_of(c, once);
		then(c, AX_LANE_WRITE, open_session);
		return AX_OK;
	}
	struct ax_user user = { .password_hash = "", .role = "" };
	status = c->tx->ops->user_find(c->tx, s->user, &user, err);
	if (status != AX_OK && status != AX_NOT_FOUND)
		return status;
	s->stored = user.password_hash;
	s->role = user.role;
	c->login = s->user;
	then(c, AX_LANE_HASH, compare_password);
	return AX_OK;
}

/* --- setup -------------------------------------------------------------------------------------------------------- */

/* It may have been done at another server. */
static enum ax_status see_setup(struct ax_call *c, struct ax_err *err)
{
	int64_t users = 0;
	if (!atomic_load(&c->server->setup_needed))
		return AX_OK;
	enum ax_status status = c->tx->ops->user_count(c->tx, &users, err);
	if (status == AX_OK && users > 0)
		atomic_store(&c->server->setup_needed, false);
	return status;
}

enum ax_status ax_get_setup(struct ax_call *c, struct ax_err *err)
{
	enum ax_status status = see_setup(c, err);
	ax_json_obj(&c->json, NULL);
	ax_json_bool(&c->json, "needed", atomic_load(&c->server->setup_needed));
	ax_json_obj_end(&c->json);
	return status;
}

static enum ax_status hash_password(struct ax_call *c, struct ax_err *err)
{
	(void)err;
	struct sign_in *s = c->memo;
	s->stored = ax_password_hash(&c->arena, s->password);
	then(c, AX_LANE_WRITE, open_session);
	return AX_OK;
}

enum ax_status ax_post_setup(struct ax_call *c, struct ax_err *err)
{
	struct sign_in *s = ax_alloc(&c->arena, sizeof *s);
	const char *token = "";
	struct ax_read r;
	s->user = s->password = "";
	ax_call_body(c, &r, err);
	ax_read_require(&r, "token");
	ax_read_str(&r, "token", 128, &token);
	ax_read_require(&r, "user");
	ax_read_str(&r, "user", 256, &s->user);
	ax_read_require(&r, "password");
	ax_read_str(&r, "password", 4096, &s->password);
	enum ax_status status = ax_read_end(&r);
	if (status != AX_OK)
		return status;
	status = see_setup(c, err);
	if (status != AX_OK)
		return status;
	if (!atomic_load(&c->server->setup_needed))
		return ax_fail(err, AX_CONFLICT, "", "there is an administrator already: sign in");
	status = ax_account_check_new(s->user, s->password, err);
	if (status != AX_OK)
		return status;
	/* looked at here, so that nobody without the link makes us hash passwords; used up by open_session */
	struct ax_token link;
	s->link_hash = hash_of(c, token);
	status = c->tx->ops->token_find(c->tx, s->link_hash, &link, err);
	if (status == AX_NOT_FOUND || (status == AX_OK && strcmp(link.kind, "setup") != 0))
		return ax_fail(err, AX_DENIED, "token",
			"this is not the token of the setup link that the server printed when it started");
	if (status != AX_OK)
		return status;
	s->setup = true;
	s->role = "admin";
	c->memo = s;
	then(c, AX_LANE_HASH, hash_password);
	return AX_OK;
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

enum ax_status ax_get_tokens(struct ax_call *c, struct ax_err *err)
{
	struct ax_tokens tokens;
	enum ax_status status = c->tx->ops->tokens(c->tx, &tokens, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < tokens.n; i++)
		ax_render_token(&c->json, &tokens.at[i], NULL);
	ax_call_items_end(c, 0);
	return AX_OK;
}

/* Each must be an existing group. */
static enum ax_status check_groups(struct ax_call *c, json_t *groups, struct ax_err *err)
{
	size_t i;
	json_t *value;
	if (json_array_size(groups) == 0)
		return ax_fail(err, AX_INVALID, "worker_groups", "worker_groups must name at least one group");
	json_array_foreach(groups, i, value)
	{
		struct ax_group group;
		if (!json_is_string(value))
			return ax_fail(err, AX_INVALID, "worker_groups", "worker_groups must be an array of texts");
		enum ax_status status = c->tx->ops->group_get(c->tx, json_string_value(value), false, &group, err);
		if (status == AX_NOT_FOUND)
			return ax_fail(err, AX_INVALID, "worker_groups", "there is no group `%.64s`",
				json_string_value(value));
		if (status != AX_OK)
			return status;
	}
	return AX_OK;
}

static enum ax_status read_token(struct ax_call *c, struct ax_token *token, struct ax_err *err)
{
	struct ax_read r;
	int64_t days = 90;
	enum ax_role role;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "name");
	ax_read_str(&r, "name", AX_NAME_MAX, &token->name);
	ax_read_str_or_null(&r, "role", 16, &token->role);
	json_t *groups = ax_read_any(&r, "worker_groups");
	if (json_is_null(groups))
		groups = NULL;
	ax_read_int(&r, "expire_days", 1, 365, &days);
	if (r.status == AX_OK && token->name[0] == '\0')
		ax_read_fail(&r, "name", "name must not be empty");
	if (groups != NULL && (!json_is_array(groups) || json_array_size(groups) > AX_POLL_GROUPS_MAX))
		ax_read_fail(
			&r, "worker_groups", "worker_groups must be an array of at most %d texts", AX_POLL_GROUPS_MAX);
	if ((groups != NULL) == (token->role[0] != '\0'))
		ax_read_fail(&r, "role", "a token has either a role or worker_groups");
	else if (groups == NULL && !ax_role_parse(token->role, &role))
		ax_read_fail(&r, "role", "role must be viewer, operator, editor or admin");
	enum ax_status status = ax_read_end(&r);
	token->expire_time = c->now + days * DAY_MS;
	if (status != AX_OK || groups == NULL)
		return status;
	token->kind = "worker";
	struct ax_read again = { .obj = r.obj, .path = "", .arena = &c->arena, .err = err };
	ax_read_json(&again, "worker_groups", AX_PARAM_MAX, &token->worker_groups);
	return check_groups(c, groups, err);
}

enum ax_status ax_post_tokens(struct ax_call *c, struct ax_err *err)
{
	if (c->idem_key != NULL)
		return ax_fail(err, AX_INVALID, "Idempotency-Key",
			"a token is shown once and kept nowhere: it cannot be answered again");
	struct ax_token token = {
		.kind = "api", .name = "", .role = "", .worker_groups = "", .csrf = "", .create_time = c->now
	};
	enum ax_status status = read_token(c, &token, err);
	if (status != AX_OK)
		return status;
	char secret[AX_SECRET_SIZE];
	ax_secret_make(token.worker_groups[0] != '\0' ? "axw_" : "axp_", secret);
	token.hash = hash_of(c, secret);
	status = c->tx->ops->token_insert(c->tx, &token, &token.id, err);
	if (status != AX_OK)
		return status;
	ax_render_token(&c->json, &token, NULL);
	status = ax_call_audit(
		c, "token.create", ax_sprintf(&c->arena, "token:%" PRId64, token.id), "", ax_call_text(c), "", err);
	ax_buf_clear(&c->out);
	ax_json_init(&c->json, &c->out);
	ax_render_token(&c->json, &token, secret);
	c->status = 201;
	return status;
}

enum ax_status ax_delete_token(struct ax_call *c, struct ax_err *err)
{
	struct ax_tokens tokens;
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "token", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->tokens(c->tx, &tokens, err);
	if (status != AX_OK)
		return status;
	/* sessions and links are rows of the same table: only what the list shows may be deleted here */
	const struct ax_token *found = NULL;
	for (int i = 0; i < tokens.n; i++)
		if (tokens.at[i].id == id)
			found = &tokens.at[i];
	if (found == NULL)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no token `%.64s`", c->param[0]);
	status = c->tx->ops->token_delete(c->tx, id, err);
	if (status == AX_OK)
		status = ax_call_audit(c, "token.delete", ax_sprintf(&c->arena, "token:%" PRId64, id),
			ax_sprintf(&c->arena, "{\"id\":\"%" PRId64 "\"}", id), "", "", err);
	c->revoked_token = id;
	c->status = 204;
	return status;
}
