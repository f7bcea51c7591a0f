#ifndef AXW_CHOICE_H
#define AXW_CHOICE_H

/* Which of several servers is told, and how soon. Any of them can take any report: they share one database. */

#include <stdbool.h>
#include <stdint.h>

struct axw_standing {
	bool open;         /* it knows this worker and is not left alone after a failure */
	bool busy;         /* a report is on its way to it: what comes meanwhile goes together with the next one */
	bool trusted;      /* its last report was answered, and soon */
	int64_t answer_ms; /* how long its reports take */
};

enum { AXW_NOBODY = -1 }; /* not now */

/* The server that gave the run, if it can be trusted, else the fastest of those that can; when none can, any that
 * takes a report. `giver` may be AXW_NOBODY. */
int axw_choose(const struct axw_standing *servers, int n, int giver);

/* How long what became due waits for more: what ends together is reported together. What comes alone, when nothing was
 * told for `quiet_ms`, waits for nobody. A server that takes its time, `answer_ms`, is busy: it is told less often, and
 * more at once. */
int64_t axw_gather_ms(bool alone, int64_t quiet_ms, int64_t answer_ms);

#endif
