#include "core/run_fsm.h"

#include <string.h>

#include "base/err.h"

/* One row per live state, one column per event; what is not written is refused. Terminal states have no row:
 * nothing moves them. */
enum { LIVE_STATES = AX_RUN_RETRYING + 1 };

#define TO(state, fx)                                                                                                  \
	{                                                                                                              \
		.allowed = true, .next = AX_RUN_##state, .effects = (fx)                                               \
	}
#define NO                                                                                                             \
	{                                                                                                              \
		.allowed = false                                                                                       \
	}

/* clang-format off */
static const struct ax_run_step table[LIVE_STATES][AX_EV_MAX] = {
	[AX_RUN_PENDING] = {
		[AX_EV_DUE]              = TO(WAITING, 0),
		[AX_EV_CLAIM]            = NO,
		[AX_EV_BOUNCE]           = NO,
		[AX_EV_START]            = NO,
		[AX_EV_SUCCEED]          = NO,
		[AX_EV_FAIL_RETRY]       = NO,
		[AX_EV_FAIL_LAST]        = NO,
		[AX_EV_TIMEOUT_LAST]     = NO,
		[AX_EV_LOST_RETRY]       = NO,
		[AX_EV_LOST_LAST]        = NO,
		[AX_EV_RETRY_NOW]        = NO,
		[AX_EV_CANCEL]           = TO(CANCELLED, AX_FX_END),
		[AX_EV_CANCEL_CONFIRMED] = NO,
		[AX_EV_PASS_OVER]        = TO(SKIPPED, AX_FX_END),
		[AX_EV_BLOCK]            = TO(BLOCKED, AX_FX_END),
		[AX_EV_WORKER_GONE]      = NO,
		[AX_EV_SPREAD]           = NO,
		[AX_EV_SHARDS_SUCCEEDED] = NO,
		[AX_EV_SHARDS_FAILED]    = NO,
		[AX_EV_SHARDS_TIMED_OUT] = NO,
		[AX_EV_SHARDS_CANCELLED] = NO,
	},
	[AX_RUN_WAITING] = {
		[AX_EV_DUE]              = NO,
		[AX_EV_CLAIM]            = TO(DISPATCHED, AX_FX_TAKE),
		[AX_EV_BOUNCE]           = NO,
		[AX_EV_START]            = NO,
		/* the attempt was taken back, not claimed again since, and did succeed after all */
		[AX_EV_SUCCEED]          = TO(SUCCESS, AX_FX_END),
		[AX_EV_FAIL_RETRY]       = NO,
		[AX_EV_FAIL_LAST]        = NO,
		[AX_EV_TIMEOUT_LAST]     = NO,
		[AX_EV_LOST_RETRY]       = NO,
		[AX_EV_LOST_LAST]        = NO,
		[AX_EV_RETRY_NOW]        = NO,
		[AX_EV_CANCEL]           = TO(CANCELLED, AX_FX_END),
		[AX_EV_CANCEL_CONFIRMED] = NO,
		[AX_EV_PASS_OVER]        = TO(SKIPPED, AX_FX_END),
		[AX_EV_BLOCK]            = NO,
		/* a shard of a broadcast */
		[AX_EV_WORKER_GONE]      = TO(TIMEOUT, AX_FX_END),
		[AX_EV_SPREAD]           = TO(RUNNING, AX_FX_PARENT),
		[AX_EV_SHARDS_SUCCEEDED] = NO,
		[AX_EV_SHARDS_FAILED]    = NO,
		[AX_EV_SHARDS_TIMED_OUT] = NO,
		[AX_EV_SHARDS_CANCELLED] = NO,
	},
	[AX_RUN_DISPATCHED] = {
		[AX_EV_DUE]              = NO,
		[AX_EV_CLAIM]            = NO,
		[AX_EV_BOUNCE]           = TO(WAITING, AX_FX_GIVE | AX_FX_RECORD),
		[AX_EV_START]            = TO(RUNNING, 0),
		/* a result may overtake its own start: it carries the fence, so it is taken */
		[AX_EV_SUCCEED]          = TO(SUCCESS, AX_FX_GIVE | AX_FX_END),
		[AX_EV_FAIL_RETRY]       = TO(RETRYING, AX_FX_GIVE | AX_FX_RECORD),
		[AX_EV_FAIL_LAST]        = TO(FAILED, AX_FX_GIVE | AX_FX_END),
		[AX_EV_TIMEOUT_LAST]     = TO(TIMEOUT, AX_FX_GIVE | AX_FX_END),
		[AX_EV_LOST_RETRY]       = TO(WAITING, AX_FX_GIVE | AX_FX_RECORD),
		[AX_EV_LOST_LAST]        = TO(TIMEOUT, AX_FX_GIVE | AX_FX_END),
		[AX_EV_RETRY_NOW]        = NO,
		[AX_EV_CANCEL]           = TO(DISPATCHED, AX_FX_ASK),
		[AX_EV_CANCEL_CONFIRMED] = TO(CANCELLED, AX_FX_GIVE | AX_FX_END),
		[AX_EV_PASS_OVER]        = NO,
		[AX_EV_BLOCK]            = NO,
		[AX_EV_WORKER_GONE]      = NO,
		[AX_EV_SPREAD]           = NO,
		[AX_EV_SHARDS_SUCCEEDED] = NO,
		[AX_EV_SHARDS_FAILED]    = NO,
		[AX_EV_SHARDS_TIMED_OUT] = NO,
		[AX_EV_SHARDS_CANCELLED] = NO,
	},
	[AX_RUN_RUNNING] = {
		[AX_EV_DUE]              = NO,
		[AX_EV_CLAIM]            = NO,
		[AX_EV_BOUNCE]           = NO,
		[AX_EV_START]            = TO(RUNNING, 0),
		[AX_EV_SUCCEED]          = TO(SUCCESS, AX_FX_GIVE | AX_FX_END),
		[AX_EV_FAIL_RETRY]       = TO(RETRYING, AX_FX_GIVE | AX_FX_RECORD),
		[AX_EV_FAIL_LAST]        = TO(FAILED, AX_FX_GIVE | AX_FX_END),
		[AX_EV_TIMEOUT_LAST]     = TO(TIMEOUT, AX_FX_GIVE | AX_FX_END),
		[AX_EV_LOST_RETRY]       = TO(WAITING, AX_FX_GIVE | AX_FX_RECORD),
		[AX_EV_LOST_LAST]        = TO(TIMEOUT, AX_FX_GIVE | AX_FX_END),
		[AX_EV_RETRY_NOW]        = NO,
		[AX_EV_CANCEL]           = TO(RUNNING, AX_FX_ASK),
		[AX_EV_CANCEL_CONFIRMED] = TO(CANCELLED, AX_FX_GIVE | AX_FX_END),
		[AX_EV_PASS_OVER]        = NO,
		[AX_EV_BLOCK]            = NO,
		[AX_EV_WORKER_GONE]      = NO,
		[AX_EV_SPREAD]           = NO,
		/* a parent, which no worker holds */
		[AX_EV_SHARDS_SUCCEEDED] = TO(SUCCESS, AX_FX_PARENT | AX_FX_END),
		[AX_EV_SHARDS_FAILED]    = TO(FAILED, AX_FX_PARENT | AX_FX_END),
		[AX_EV_SHARDS_TIMED_OUT] = TO(TIMEOUT, AX_FX_PARENT | AX_FX_END),
		[AX_EV_SHARDS_CANCELLED] = TO(CANCELLED, AX_FX_PARENT | AX_FX_END),
	},
	[AX_RUN_RETRYING] = {
		[AX_EV_DUE]              = TO(WAITING, 0),
		[AX_EV_CLAIM]            = NO,
		[AX_EV_BOUNCE]           = NO,
		[AX_EV_START]            = NO,
		/* it was given up as lost or timed out, and the work was done after all */
		[AX_EV_SUCCEED]          = TO(SUCCESS, AX_FX_END),
		[AX_EV_FAIL_RETRY]       = NO,
		[AX_EV_FAIL_LAST]        = NO,
		[AX_EV_TIMEOUT_LAST]     = NO,
		[AX_EV_LOST_RETRY]       = NO,
		[AX_EV_LOST_LAST]        = NO,
		[AX_EV_RETRY_NOW]        = TO(WAITING, 0),
		[AX_EV_CANCEL]           = TO(CANCELLED, AX_FX_END),
		[AX_EV_CANCEL_CONFIRMED] = NO,
		[AX_EV_PASS_OVER]        = NO,
		[AX_EV_BLOCK]            = NO,
		[AX_EV_WORKER_GONE]      = NO,
		[AX_EV_SPREAD]           = NO,
		[AX_EV_SHARDS_SUCCEEDED] = NO,
		[AX_EV_SHARDS_FAILED]    = NO,
		[AX_EV_SHARDS_TIMED_OUT] = NO,
		[AX_EV_SHARDS_CANCELLED] = NO,
	},
};
/* clang-format on */

struct ax_run_step ax_run_step(enum ax_run_state state, enum ax_run_event event)
{
	AX_ASSERT((unsigned)event < AX_EV_MAX);
	if (ax_run_is_terminal(state))
		return (struct ax_run_step){ .allowed = false, .next = state };
	return table[state][event];
}

const char *ax_run_state_name(enum ax_run_state state)
{
	switch (state) {
#define AX_RUN_STATE(name, number, text)                                                                               \
	case AX_RUN_##name:                                                                                            \
		return #name;
		AX_RUN_STATES(AX_RUN_STATE)
#undef AX_RUN_STATE
	}
	ax_die(__FILE__, __LINE__, "unknown run state");
}

const char *ax_run_event_name(enum ax_run_event event)
{
	static const char *const names[] = {
#define AX_RUN_EVENT(name, text) #name,
		AX_RUN_EVENTS(AX_RUN_EVENT)
#undef AX_RUN_EVENT
	};
	AX_ASSERT((unsigned)event < AX_EV_MAX);
	return names[event];
}

bool ax_run_state_parse(const char *name, enum ax_run_state *ret)
{
#define AX_RUN_STATE(word, number, text)                                                                               \
	if (strcmp(name, #word) == 0) {                                                                                \
		*ret = AX_RUN_##word;                                                                                  \
		return true;                                                                                           \
	}
	AX_RUN_STATES(AX_RUN_STATE)
#undef AX_RUN_STATE
	return false;
}
