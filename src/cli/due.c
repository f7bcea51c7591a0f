#include "cli/due.h"

int ax_due_body(struct ax_ctl *ctl, json_t **ret)
{
	const char *params = ax_args_get(&ctl->args, "params");
	int64_t delay_ms = -1, at_ms = -1;
	json_t *value = NULL, *body;
	int code = ax_ctl_opt_duration(ctl, "delay", &delay_ms);
	if (code == AX_EXIT_OK)
		code = ax_ctl_opt_time(ctl, "at", &at_ms);
	if (code == AX_EXIT_OK && delay_ms >= 0 && at_ms >= 0)
		code = ax_ctl_fail(AX_EXIT_USAGE, "--at", "give --delay or --at, not both");
	if (code == AX_EXIT_OK && params != NULL)
		code = ax_ctl_json(ctl, "--params", params, &value);
	if (code != AX_EXIT_OK)
		return code;
	body = json_object();
	if (value != NULL)
		json_object_set_new(body, "params", value);
	if (delay_ms >= 0)
		json_object_set_new(body, "delay_ms", json_integer(delay_ms));
	if (at_ms >= 0)
		json_object_set_new(body, "run_at", json_integer(at_ms));
	*ret = body;
	return AX_EXIT_OK;
}
