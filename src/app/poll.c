#include "app/poll.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **ax_polls_groups(const struct ax_poll *polls, int n, struct ax_arena *arena, int *ret_n)
{
	int found = 0, max = 0, unique = 0;
	for (int i = 0; i < n; i++)
		max += polls[i].n_free;
	const char **keys = ax_alloc_array(arena, (size_t)max + 1, sizeof(*keys));
	for (int i = 0; i < n; i++)
		for (int g = 0; polls[i].status == AX_OK && !polls[i].drain && g < polls[i].n_free; g++)
			keys[found++] = polls[i].free[g].group_key;
	if (found > 0)
		qsort(keys, (size_t)found, sizeof(*keys), compare_keys);
	for (int i = 0; i < found; i++)
		if (unique == 0 || strcmp(keys[unique - 1], keys[i]) != 0)
			keys[unique++] = keys[i];
	*ret_n = unique;
	return keys;
}

struct ax_order *ax_poll_add_order(struct ax_poll *poll, struct ax_arena *arena)
{
	poll->orders =
		ax_grow_array(arena, poll->orders, (size_t)poll->n_orders, 1, &poll->cap_orders, sizeof(*poll->orders));
	return &poll->orders[poll->n_orders++];
}
