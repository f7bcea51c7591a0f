#include "app/run_def.h"

enum ax_status ax_run_def(struct ax_tx *tx, const struct ax_run *run, struct ax_task_def *ret, struct ax_err *err)
{
	struct ax_task_version v;
	enum ax_status status = tx->ops->task_version_get(tx, run->task_id, run->version, &v, err);
	if (status == AX_OK)
		*ret = v.def;
	return status;
}
