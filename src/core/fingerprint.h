#ifndef AX_CORE_FINGERPRINT_H
#define AX_CORE_FINGERPRINT_H

/* What makes two failures the same one: the message without what differs from run to run (core/message.h), the
 * executor, the reason and the exit code or HTTP status. A change of these rules begins new groups: make it seldom. */

#include "core/task.h"

enum { AX_FAILURE_TITLE_MAX = 200 };

struct ax_fingerprint {
	int64_t hash;
	char title[AX_FAILURE_TITLE_MAX + 1]; /* never "" */
};

/* Of a run that ended as FAILED or TIMEOUT. When the message says nothing of its own (a bare exit status, a time
 * limit), the task counts too: such failures of two tasks have no cause in common that anybody could see. */
struct ax_fingerprint ax_fingerprint_of(const struct ax_run *run);

#endif
