#ifndef AX_CHECK_COPY_H
#define AX_CHECK_COPY_H

/* The tables of a MariaDB or MySQL database as one snapshot shows them, copied into a SQLite database of our own, so
 * that the rules are written once. Servers may be at work meanwhile. */

#include <sqlite3.h>
#include "base/err.h"

/* `url` is a server's --store mysql://…, `password_file` its --store-password-file or NULL. `copy` is empty. */
enum ax_status ax_check_copy(const char *url, const char *password_file, sqlite3 *copy, struct ax_err *err);

#endif
