#include "core/failure.h"

#include <inttypes.h>
#include <string.h>

#include "base/attr.h"

bool ax_run_has_failed(const struct ax_run *run)
{
	bool worked = (run->fence > 0 || ax_run_is_parent(run)) && run->parent == 0; /* a parent tells of its shards */
	return worked && (run->status == AX_RUN_FAILED || run->status == AX_RUN_TIMEOUT);
}

struct ax_failure ax_failure_of(const struct ax_run *run, const struct ax_fingerprint *print)
{
	return (struct ax_failure){
		.gid = run->gid,
		.fingerprint = print->hash,
		.group_key = run->group_key,
		.task_id = run->task_id,
		.version = run->version,
		.executor_key = run->executor_key,
		.reason = run->reason,
		.code = run->result_code,
		.title = print->title,
		.worker = run->worker,
		.time = run->end_time,
	};
}

struct ax_failure_group ax_failure_group_of(const struct ax_failure *failure)
{
	return (struct ax_failure_group){
		.fingerprint = failure->fingerprint,
		.group_key = failure->group_key,
		.executor_key = failure->executor_key,
		.reason = failure->reason,
		.code = failure->code,
		.title = failure->title,
		.first_seen_time = failure->time,
		.state_by = "",
		.state_reason = "",
		.assignee = "",
		.note = "",
	};
}

enum ax_failure_state ax_failure_state_at(const struct ax_failure_group *group, int64_t now)
{
	bool over = group->state == AX_FAILURE_MUTED && group->mute_until_time <= now;
	return over ? AX_FAILURE_OPEN : group->state;
}

const char *ax_failure_state_name(enum ax_failure_state state)
{
	static const char *const names[] = { "open", "muted", "resolved" };
	return names[state];
}

static void open_again(struct ax_failure_group *group, const char *reason, int64_t now)
{
	group->state = AX_FAILURE_OPEN;
	group->state_time = now;
	group->state_by = "";
	group->state_reason = reason;
	group->mute_until_time = 0;
}

enum ax_failure_news ax_failure_count(struct ax_failure_group *group, const struct ax_failure *failure, int64_t now)
{
	bool first = group->count++ == 0;
	group->first_seen_time = AX_MIN(group->first_seen_time, failure->time);
	if (failure->time >= group->last_seen_time) {
		group->last_seen_time = failure->time;
		group->sample_gid = failure->gid;
	}
	if (first)
		return AX_FAILURE_NEW;
	/* what had ended by then is no news, only late in being counted */
	if (group->state == AX_FAILURE_RESOLVED && failure->time > group->state_time) {
		group->reopen_count++;
		open_again(group, "it failed again", now);
		return AX_FAILURE_BACK;
	}
	if (group->state == AX_FAILURE_MUTED && failure->time >= group->mute_until_time) {
		open_again(group, "the mute is over", now);
		return AX_FAILURE_UNMUTED;
	}
	return AX_FAILURE_NOTHING_NEW;
}

bool ax_failure_grows(const struct ax_failure_group *group, const struct ax_failure_hour *hours, int n, int64_t now)
{
	int64_t hour = now / AX_HOUR_MS, recent = 0, before = 0;
	int64_t from = AX_MAX(group->first_seen_time / AX_HOUR_MS, hour - AX_GROWTH_HOURS);
	for (int i = 0; i < n; i++) {
		if (hours[i].hour == hour)
			recent = hours[i].count;
		else if (hours[i].hour >= from && hours[i].hour < hour)
			before += hours[i].count;
	}
	int64_t n_before = hour - from;
	return n_before > 0 && recent >= AX_GROWTH_MIN && recent * n_before >= AX_GROWTH_FACTOR * before;
}

/* --- hints -------------------------------------------------------------------------------------------------------- */

enum { EVIDENCE = 3 }; /* failures, or successes, below which nothing is concluded */

struct hints {
	const struct ax_failure_facts *facts;
	struct ax_arena *arena;
	struct ax_failure_hint *at;
	int n;
};

static void add(struct hints *h, const char *code, const char *text, const char *advice)
{
	h->at[h->n++] = (struct ax_failure_hint){ code, text, advice };
}

static void of_worker(struct hints *h)
{
	const struct ax_failure_facts *f = h->facts;
	if (f->n_workers != 1 || f->count < EVIDENCE)
		return;
	if (f->success_elsewhere < EVIDENCE) {
		add(h, "one_worker",
			ax_sprintf(h->arena,
				"All %" PRId64 " failures were on %s, but other workers hardly ran these tasks in that "
				"time (%" PRId64 " successes seen): this says nothing about %s.",
				f->count, f->worker, f->success_elsewhere, f->worker),
			"");
		return;
	}
	add(h, "only_worker",
		ax_sprintf(h->arena,
			"Only on %s: all %" PRId64 " failures were there, while the same tasks succeeded %" PRId64
			" times on other workers and %" PRId64 " times on %s.",
			f->worker, f->count, f->success_elsewhere, f->success_here, f->worker),
		ax_sprintf(h->arena,
			"Look at what is special about %s: its disk, network, files, policy. `axctl worker drain %s` "
			"keeps new runs away from it.",
			f->worker, f->worker));
}

static void of_version(struct hints *h)
{
	const struct ax_failure_facts *f = h->facts;
	if (f->n_tasks != 1 || f->first_version <= 1 || f->count < EVIDENCE || f->success_before < EVIDENCE)
		return;
	add(h, "since_version",
		ax_sprintf(h->arena,
			"Since version %" PRId64 " of the task: no run of an earlier version failed like this, %" PRId64
			" of them succeeded before; of version %" PRId64 " and later ones %" PRId64 " succeeded.",
			f->first_version, f->success_before, f->first_version, f->success_since),
		ax_sprintf(h->arena, "Compare version %" PRId64 " with the one before it (task %" PRId64 ").",
			f->first_version, f->task_id));
}

static void of_tasks(struct hints *h)
{
	const struct ax_failure_facts *f = h->facts;
	const char *executor = f->executor_key;
	if (f->tasks_of_executor < 2 || f->count < EVIDENCE)
		return;
	if (f->n_tasks >= f->tasks_of_executor)
		add(h, "all_tasks",
			ax_sprintf(h->arena,
				"All %d tasks with the executor %s that ran since fail like this, each at least once.",
				f->n_tasks, executor),
			"Look at what these tasks share: the service that they call, a credential, the executor "
			"itself.");
	else if (f->n_tasks == 1)
		add(h, "one_task",
			ax_sprintf(h->arena,
				"Only one of the %" PRId64 " tasks with the executor %s that ran since: %s.",
				f->tasks_of_executor, executor,
				f->task_name[0] != '\0' ? f->task_name : ax_sprintf(h->arena, "%" PRId64, f->task_id)),
			"");
	else
		add(h, "some_tasks",
			ax_sprintf(h->arena, "%d of the %" PRId64 " tasks with the executor %s that ran since.",
				f->n_tasks, f->tasks_of_executor, executor),
			"");
}

int ax_failure_hints(
	const struct ax_failure_facts *facts, struct ax_arena *arena, struct ax_failure_hint ret[AX_FAILURE_HINTS_MAX])
{
	struct hints h = { facts, arena, ret, 0 };
	of_worker(&h);
	of_version(&h);
	of_tasks(&h);
	return h.n;
}
