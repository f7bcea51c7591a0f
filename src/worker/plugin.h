#ifndef AX_WORKER_PLUGIN_H
#define AX_WORKER_PLUGIN_H

#include "axworker.h"
#include "base/err.h"

/* Loads each shared object of the list (separated by commas) and lets it register its functions. They stay loaded
 * until the program ends. Before axw_start. */
enum ax_status plugin_load(struct axw *worker, const char *list, struct ax_err *err);

#endif
