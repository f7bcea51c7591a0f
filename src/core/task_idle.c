#include "core/task_idle.h"

#include <string.h>

#include "base/attr.h"
#include "core/task_def.h"

static bool joins(const struct ax_task_def *def)
{
	return def->join_all;
}

static bool fires(const struct ax_task_def *def)
{
	return ax_def_has_schedule(def);
}

static bool has_calendar(const struct ax_task_def *def)
{
	return def->calendar[0] != '\0';
}

static bool retries(const struct ax_task_def *def)
{
	return def->retry_count > 0;
}

static bool waits_by_delay(const struct ax_task_def *def)
{
	return retries(def) && def->retry_backoff != AX_BACKOFF_LIST;
}

static bool waits_grow(const struct ax_task_def *def)
{
	return retries(def) && def->retry_backoff == AX_BACKOFF_EXPONENTIAL;
}

static bool waits_by_list(const struct ax_task_def *def)
{
	return retries(def) && def->retry_backoff == AX_BACKOFF_LIST;
}

static bool chooses(const struct ax_task_def *def)
{
	return !def->broadcast;
}

static bool hashes(const struct ax_task_def *def)
{
	return chooses(def) && def->route == AX_ROUTE_HASH;
}

static bool allows(const struct ax_task_def *def)
{
	return def->overlap == AX_OVERLAP_ALLOW;
}

static bool is_given_again(const struct ax_task_def *def)
{
	return !def->lost_fails;
}

static const struct {
	const char *field;
	bool (*counts)(const struct ax_task_def *def);
	const char *needs;
} rules[] = {
	{ "join_deadline_seconds", joins, "join all" },
	{ "dialect", fires, "cron_expr" },
	{ "misfire", fires, "cron_expr" },
	{ "window_seconds", fires, "cron_expr" },
	{ "calendar_mode", has_calendar, "calendar" },
	{ "retry_backoff", retries, "retry_count > 0" },
	{ "retry_delay_seconds", waits_by_delay, "retry_count > 0 and retry_backoff exponential or fixed" },
	{ "retry_cap_seconds", waits_grow, "retry_count > 0 and retry_backoff exponential" },
	{ "retry_delays", waits_by_list, "retry_count > 0 and retry_backoff list" },
	{ "retry_jitter_percent", retries, "retry_count > 0" },
	{ "retry_on", retries, "retry_count > 0" },
	{ "route", chooses, "spread one" },
	{ "route_key", hashes, "route hash" },
	{ "overlap_max", allows, "overlap allow" },
	{ "lost_limit", is_given_again, "on_lost retry" },
};
_Static_assert(AX_COUNT(rules) <= AX_IDLE_MAX, "room for all");

static bool is_preset(const struct ax_task_def *def, const struct ax_def_field *field)
{
	if (field->preset_text != NULL)
		return strcmp(ax_def_text(field, def), field->preset_text) == 0;
	return ax_def_number(field, def) == field->preset;
}

static const struct ax_def_field *find_field(const char *name)
{
	int i = 0;
	while (strcmp(ax_def_fields[i].name, name) != 0)
		i++;
	return &ax_def_fields[i];
}

int ax_def_idle(const struct ax_task_def *def, struct ax_idle ret[AX_IDLE_MAX])
{
	int n = 0;
	for (size_t i = 0; i < AX_COUNT(rules); i++)
		if (!rules[i].counts(def) && !is_preset(def, find_field(rules[i].field)))
			ret[n++] = (struct ax_idle){ rules[i].field, rules[i].needs };
	return n;
}
