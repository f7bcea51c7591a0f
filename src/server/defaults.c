#include "server/defaults.h"

#include <string.h>

#include "app/task_check.h"
#include "core/task_def.h"
#include "server/server.h"
#include "server/task_read.h"

/* What makes a task this one is not inherited. */
static const char *const own[] = { "group_key", "task_name", "task_type", "cron_expr", NULL };

static enum ax_status read_into(struct ax_call *c, const char *text, struct ax_task_def *def, struct ax_err *err)
{
	struct ax_read r;
	json_t *value;
	enum ax_status status = ax_json_parse(text, strlen(text), &value, err);
	if (status != AX_OK)
		return status;
	ax_read_begin(&r, value, "defaults.", &c->arena, err);
	for (int i = 0; own[i] != NULL; i++)
		if (ax_read_has(&r, own[i]))
			ax_read_fail(&r, own[i], "%s is each task's own and has no default", own[i]);
	ax_read_def(&r, def);
	status = ax_read_end(&r);
	for (int i = 0; status == AX_OK && i < ax_def_fields_n; i++) /* texts may lie in the value */
		if (ax_def_fields[i].preset_text != NULL)
			ax_def_set_text(
				&ax_def_fields[i], def, ax_strdup(&c->arena, ax_def_text(&ax_def_fields[i], def)));
	json_decref(value);
	return status;
}

enum ax_status ax_defaults_check(struct ax_call *c, const char *text, struct ax_err *err)
{
	/* the rest of a task that the checks of a definition have no quarrel with */
	struct ax_task_def def = ax_def_preset();
	struct ax_err inner;
	def.task_name = "defaults";
	def.executor_key = "exec";
	def.task_type = AX_TASK_DELAY;
	enum ax_status status = read_into(c, text, &def, err);
	if (status != AX_OK)
		return status;
	status = ax_task_check(c->ctx, &def, &inner);
	if (status == AX_OK)
		return AX_OK;
	return ax_fail(err, status, ax_sprintf(&c->arena, "defaults.%s", inner.field), "%s", inner.msg);
}

enum ax_status ax_defaults_take(struct ax_call *c, const char *group_key, struct ax_task_def *def, struct ax_err *err)
{
	struct ax_group group;
	enum ax_status status = c->tx->ops->group_get(c->tx, group_key, false, &group, err);
	if (status == AX_NOT_FOUND)
		return AX_OK;
	return status == AX_OK ? read_into(c, group.defaults, def, err) : status;
}
