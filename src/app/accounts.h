#ifndef AX_APP_ACCOUNTS_H
#define AX_APP_ACCOUNTS_H

/* Who may call: users, and the credentials by which they and programs are known. Only hashes are stored, so a
 * credential is found by the hash of its secret. Every kind of it is a row of struct ax_token:
 *
 *   session     a signed-in browser: `name` is the user, idle 30 min, at most 12 h
 *   once, setup a link that is good for one use within 15 min
 *   api         for programs, with a role
 *   worker      for workers, bound to groups
 *   dev, dev_worker  made anew at each start in developer's mode and good in that mode only, like the user "dev" */

#include "port/store.h"

enum ax_role { AX_ROLE_NONE, AX_ROLE_VIEWER, AX_ROLE_OPERATOR, AX_ROLE_EDITOR, AX_ROLE_ADMIN };

enum {
	AX_SESSION_IDLE_MS = 30 * 60 * 1000,
	AX_SESSION_MAX_MS = 12 * 60 * 60 * 1000,
	AX_LINK_MS = 15 * 60 * 1000,
	AX_TOUCH_EVERY_MS = 60 * 1000, /* how exact last_used_time is */
};
#define AX_ACCOUNT_DEV_USER "dev"

bool ax_role_parse(const char *name, enum ax_role *ret);
const char *ax_role_name(enum ax_role role); /* "" for none */

/* The holder of a valid credential. */
struct ax_caller {
	int64_t token_id;
	enum ax_role role; /* NONE for workers */
	bool session;
	bool worker;
	const char *actor;         /* for the audit log: "admin", "token ci" */
	const char *name;          /* the user or token */
	const char *csrf;          /* sessions */
	const char *worker_groups; /* JSON array; ["*"] is all groups (dev_worker only) */
	int64_t valid_until;       /* not after this, however busy */
	bool touch;                /* its use is worth being written: ax_account_touch */
};

/* Finds the caller by the hash of a secret. AX_UNAUTHENTICATED when there is none, or it is over. */
AX_MUST_USE enum ax_status ax_account_admit(
	struct ax_tx *tx, const char *hash, int64_t now, bool dev, struct ax_caller *ret, struct ax_err *err);

/* Notes a use: sessions live on from here. */
AX_MUST_USE enum ax_status ax_account_touch(
	struct ax_tx *tx, const struct ax_caller *caller, int64_t now, struct ax_err *err);

/* Takes a one-time credential ("once", "setup") out of the store. AX_DENIED when it is not there or over. */
AX_MUST_USE enum ax_status ax_account_use_link(
	struct ax_tx *tx, const char *kind, const char *hash, int64_t now, struct ax_token *ret, struct ax_err *err);

AX_MUST_USE enum ax_status ax_account_open_session(struct ax_tx *tx, const char *user, const char *role,
	const char *hash, const char *csrf, int64_t now, struct ax_err *err);

/* AX_INVALID with the field: 1-64 of [A-Za-z0-9._@-], not "dev"; 12 characters to 256 bytes, not the user's name. */
AX_MUST_USE enum ax_status ax_account_check_new(const char *user, const char *password, struct ax_err *err);

#endif
