#ifndef AX_SYS_CA_FILE_H
#define AX_SYS_CA_FILE_H

#include "base/err.h"

/* A file of certificates to trust (PEM), as an option names one: AX_INVALID, with a sentence that names file and
 * reason, when it cannot be read or holds no certificate. Whoever uses it later would only see calls that fail. */
AX_MUST_USE enum ax_status ax_ca_file_check(const char *path, struct ax_err *err);

#endif
