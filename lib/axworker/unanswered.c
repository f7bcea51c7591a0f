/* Polls whose answers did not come and will not be taken any more. A server may have committed what such an answer
 * held: once any server is told, it comes back at once. Else it would stand still until the time to accept it is over.
 */

#include "worker.h"

/* When there are too many, the newest is left to that. */
void axw_unanswered_add(struct axw *w, int64_t number)
{
	if (w->unanswered.n < AXW_UNANSWERED_MAX)
		w->unanswered.at[w->unanswered.n++] = number;
}

void axw_unanswered_write(struct server *to, struct ax_json *json)
{
	to->naming = to->w->unanswered;
	if (to->naming.n == 0)
		return;
	ax_json_arr(json, "unanswered");
	for (int i = 0; i < to->naming.n; i++)
		ax_json_int(json, NULL, to->naming.at[i]);
	ax_json_arr_end(json);
}

static bool holds(const struct unanswered *polls, int64_t number)
{
	for (int i = 0; i < polls->n; i++)
		if (polls->at[i] == number)
			return true;
	return false;
}

void axw_unanswered_told(struct server *by)
{
	struct unanswered *polls = &by->w->unanswered;
	int kept = 0;
	for (int i = 0; i < polls->n; i++)
		if (!holds(&by->naming, polls->at[i]))
			polls->at[kept++] = polls->at[i];
	polls->n = kept;
}
