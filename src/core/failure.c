#include "core/failure.h"

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

static void add(struct hints *h, const char *code, const struct ax_said *said, enum ax_sentence advice)
{
	h->at[h->n++] = (struct ax_failure_hint){ code, *said, advice };
}

static void of_worker(struct hints *h)
{
	const struct ax_failure_facts *f = h->facts;
	const struct ax_said seldom = { AX_SAY_HINT_ONE_WORKER,
		{ ax_number_param("n", f->count), ax_text_param("worker", f->worker),
			ax_number_param("elsewhere", f->success_elsewhere) } };
	const struct ax_said only = { AX_SAY_HINT_ONLY_WORKER,
		{ ax_number_param("n", f->count), ax_text_param("worker", f->worker),
			ax_number_param("elsewhere", f->success_elsewhere),
			ax_number_param("here", f->success_here) } };
	if (f->n_workers != 1 || f->count < EVIDENCE)
		return;
	if (f->success_elsewhere < EVIDENCE)
		add(h, "one_worker", &seldom, AX_SENTENCES);
	else
		add(h, "only_worker", &only, AX_SAY_ADVICE_ONLY_WORKER);
}

static void of_version(struct hints *h)
{
	const struct ax_failure_facts *f = h->facts;
	const struct ax_said said = { AX_SAY_HINT_SINCE_VERSION,
		{ ax_number_param("version", f->first_version), ax_number_param("before", f->success_before),
			ax_number_param("since", f->success_since), ax_id_param(h->arena, "id", f->task_id) } };
	if (f->n_tasks != 1 || f->first_version <= 1 || f->count < EVIDENCE || f->success_before < EVIDENCE)
		return;
	add(h, "since_version", &said, AX_SAY_ADVICE_SINCE_VERSION);
}

static void of_tasks(struct hints *h)
{
	const struct ax_failure_facts *f = h->facts;
	struct ax_said said = { AX_SAY_HINT_SOME_TASKS,
		{ ax_number_param("failing", f->n_tasks), ax_number_param("tasks", f->tasks_of_executor),
			ax_text_param("executor", f->executor_key) } };
	if (f->tasks_of_executor < 2 || f->count < EVIDENCE)
		return;
	if (f->n_tasks >= f->tasks_of_executor) {
		said.sentence = AX_SAY_HINT_ALL_TASKS;
		add(h, "all_tasks", &said, AX_SAY_ADVICE_ALL_TASKS);
	} else if (f->n_tasks == 1) {
		said.sentence = AX_SAY_HINT_ONE_TASK;
		said.params[3] = f->task_name[0] != '\0' ? ax_text_param("task", f->task_name)
							 : ax_id_param(h->arena, "task", f->task_id);
		add(h, "one_task", &said, AX_SENTENCES);
	} else {
		add(h, "some_tasks", &said, AX_SENTENCES);
	}
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
