#include "port/ids.h"

#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

struct ax_ids ax_ids_sort(int64_t *at, int n)
{
	struct ax_ids ids = { .at = at };
	if (n > 1)
		qsort(at, (size_t)n, sizeof(*at), by_id);
	for (int i = 0; i < n; i++)
		if (ids.n == 0 || at[i] != at[ids.n - 1])
			at[ids.n++] = at[i];
	return ids;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct ax_names ax_names_sort(const char **at, int n)
{
	int unique = 0;
	if (n > 1)
		qsort(at, (size_t)n, sizeof(*at), by_name);
	for (int i = 0; i < n; i++)
		if (unique == 0 || strcmp(at[unique - 1], at[i]) != 0)
			at[unique++] = at[i];
	return (struct ax_names){ at, unique };
}
