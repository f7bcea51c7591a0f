#ifndef AX_PORT_FILTER_H
#define AX_PORT_FILTER_H

/* What the filters of the list calls mean, once for all stores. Paging and limits are the stores' part. */

#include "port/store.h"

bool ax_task_matches(const struct ax_task_filter *f, const struct ax_task *task);
bool ax_run_matches(const struct ax_run_filter *f, const struct ax_run *run);
bool ax_alert_matches(const struct ax_alert_filter *f, const struct ax_alert *alert);
/* Of the group's own columns; task_id and worker are looked up in its spread. */
bool ax_failure_matches(const struct ax_failure_filter *f, const struct ax_failure_group *group);

/* True when the filter can only match live runs: a store then looks at live runs alone. */
bool ax_run_filter_is_live(const struct ax_run_filter *f);

#endif
