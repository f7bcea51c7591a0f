#ifndef AX_CHECK_COPY_H
#define AX_CHECK_COPY_H

/* The tables of a MariaDB or MySQL database as one snapshot shows them, copied into a SQLite database of our own, so
 * that the rules are written once. Servers may be at work meanwhile. */

#include <sqlite3.h>
#include "base/err.h"

/* `url`: mysql://USER:PASS@HOST:PORT/DB, with %XX for what would be misread; `?password_file=F` for a password that the
 * command line does not show. `copy` is empty. */
enum ax_status ax_check_copy(const char *url, sqlite3 *copy, struct ax_err *err);

#endif
