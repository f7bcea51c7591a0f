#include "port/filter.h"

#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *text, const char *part)
{
	for (; *text != '\0'; text++) {
		size_t i = 0;
		while (part[i] != '\0' && lower(text[i]) == lower(part[i]))
			i++;
		if (part[i] == '\0')
			return true;
	}
	return part[0] == '\0';
}

static bool wants(const char *wanted, const char *value)
{
	return wanted == NULL || strcmp(wanted, value) == 0;
}

bool ax_task_matches(const struct ax_task_filter *f, const struct ax_task *task)
{
	return wants(f->group_key, task->def.group_key) && wants(f->task_name, task->def.task_name) &&
		wants(f->calendar, task->def.calendar) && (f->status < 0 || f->status == (int)task->status) &&
		(f->task_type == 0 || f->task_type == (int)task->def.task_type) &&
		(f->q == NULL || contains(task->def.task_name, f->q));
}

/* Lists show parents; their shards when asked for, and where a worker's runs are. */
static bool shard_matches(const struct ax_run_filter *f, const struct ax_run *run)
{
	if (f->parent != 0)
		return f->parent == run->parent;
	return run->shard == 0 || f->worker != NULL;
}

bool ax_run_matches(const struct ax_run_filter *f, const struct ax_run *run)
{
	return shard_matches(f, run) && (f->task_id == 0 || f->task_id == run->task_id) &&
		(f->backfill_id == 0 || f->backfill_id == run->backfill_id) &&
		(f->batch == 0 || f->batch == run->batch) && wants(f->group_key, run->group_key) &&
		wants(f->worker, run->worker) && (f->statuses == 0 || (f->statuses >> run->status & 1) != 0) &&
		(f->kind == 0 || f->kind == (int)run->kind) &&
		(f->from_time == 0 || run->trigger_time >= f->from_time) &&
		(f->to_time == 0 || run->trigger_time < f->to_time) && (!f->live || !ax_run_is_terminal(run->status));
}

bool ax_alert_matches(const struct ax_alert_filter *f, const struct ax_alert *alert)
{
	return (f->task_id == 0 || f->task_id == alert->task_id) && wants(f->group_key, alert->group_key) &&
		(f->rule == 0 || f->rule == (int)alert->rule) && (f->state < 0 || f->state == (int)alert->state);
}

bool ax_run_filter_is_live(const struct ax_run_filter *f)
{
	return f->live || (f->statuses != 0 && f->statuses >> AX_RUN_SUCCESS == 0);
}

bool ax_failure_matches(const struct ax_failure_filter *f, const struct ax_failure_group *group)
{
	return wants(f->group_key, group->group_key) &&
		(f->state < 0 || f->state == (int)ax_failure_state_at(group, f->now)) &&
		(f->q == NULL || contains(group->title, f->q));
}
