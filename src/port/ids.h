#ifndef AX_PORT_IDS_H
#define AX_PORT_IDS_H

#include "port/lists.h"

/* The n ids ascending, each once; `at` is sorted in place, and may be NULL when n is 0. */
struct ax_ids ax_ids_sort(int64_t *at, int n);
/* Likewise n names. */
struct ax_names ax_names_sort(const char **at, int n);

#endif
