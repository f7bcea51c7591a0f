#include "choice.h"

#include "base/attr.h"

static const int64_t SOON_MS = 2;
static const int64_t SOON_BUSY_MS = 20;
enum { SOON_SHARE = 4 };            /* of the time that an answer takes */
static const int64_t QUIET_MS = 20; /* reports that are further apart have nothing to gather */

/* The fastest of the trusted ones, or of all that are free; AXW_NOBODY when there is none. */
static int fastest(const struct axw_standing *servers, int n, bool trusted)
{
	int best = AXW_NOBODY;
	for (int i = 0; i < n; i++) {
		const struct axw_standing *s = &servers[i];
		if (!s->open || (trusted ? !s->trusted : s->busy))
			continue;
		if (best == AXW_NOBODY || s->answer_ms < servers[best].answer_ms)
			best = i;
	}
	return best;
}

int axw_choose(const struct axw_standing *servers, int n, int giver)
{
	int best = fastest(servers, n, true);
	if (giver != AXW_NOBODY && servers[giver].open && (servers[giver].trusted || best == AXW_NOBODY))
		best = giver;
	/* One that is trusted and busy is worth waiting for: it answers soon, or it is trusted no longer. */
	if (best != AXW_NOBODY && servers[best].trusted)
		return servers[best].busy ? AXW_NOBODY : best;
	if (best != AXW_NOBODY && !servers[best].busy)
		return best;
	return fastest(servers, n, false);
}

int64_t axw_gather_ms(bool alone, int64_t quiet_ms, int64_t answer_ms)
{
	if (alone && quiet_ms >= QUIET_MS)
		return 0;
	return AX_MAX(SOON_MS, AX_MIN(answer_ms / SOON_SHARE, SOON_BUSY_MS));
}
