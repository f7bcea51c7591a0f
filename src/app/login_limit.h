#ifndef AX_APP_LOGIN_LIMIT_H
#define AX_APP_LOGIN_LIMIT_H

/* How often sign-in may be tried: after 5 failures an account waits 1, 2, 4 … 15 min between tries (it is never locked
 * for good, which others could bring about), and an address has 20 failures in 10 min. Kept in memory; times in ms of
 * any clock that does not go back. */

#include <stdint.h>

struct ax_login_limit;

struct ax_login_limit *ax_login_limit_new(void);
void ax_login_limit_free(struct ax_login_limit *limit);

/* 0: try, and the try counts as failed until ax_login_limit_passed says otherwise (so that many at once are no way
 * around). Else the ms after which it may be tried. */
int64_t ax_login_limit_try(struct ax_login_limit *limit, const char *account, const char *address, int64_t mono_ms);
void ax_login_limit_passed(struct ax_login_limit *limit, const char *account, const char *address);

#endif
