#include "port/ids.h"

#include <stdlib.h>

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
