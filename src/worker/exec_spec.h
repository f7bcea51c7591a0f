#ifndef AX_WORKER_EXEC_SPEC_H
#define AX_WORKER_EXEC_SPEC_H

/* What a process task asks for, checked against the policy. */

#include "axworker.h"
#include "base/arena.h"
#include "policy.h"

struct exec_spec {
	char **argv; /* ends with NULL */
	char **envp; /* ends with NULL */
	const char *cwd;
	const char *stdin_text; /* or NULL */
	struct policy_user user;
};

/* AX_INVALID for a malformed `param`, AX_DENIED for what the policy forbids. Everything lives in the arena. */
enum ax_status exec_spec_read(struct axw_attempt *attempt, const struct policy *policy, struct ax_arena *arena,
	struct exec_spec *ret_spec, struct ax_err *err);

#endif
