#ifndef AX_PORT_LISTS_H
#define AX_PORT_LISTS_H

/* Lists of rows, as the calls of port/store.h hand them out: borrowed like the rows in them. */

#include <stdint.h>

struct ax_tasks {
	struct ax_task *at;
	int n;
};
struct ax_runs {
	struct ax_run *at;
	int n;
};
struct ax_attempts {
	struct ax_attempt *at;
	int n;
};
struct ax_outputs {
	struct ax_output *at;
	int n;
};
struct ax_groups {
	struct ax_group *at;
	int n;
};
struct ax_workers {
	struct ax_worker *at;
	int n;
};
struct ax_worker_groups {
	struct ax_worker_group *at;
	int n;
};
struct ax_task_versions {
	struct ax_task_version *at;
	int n;
};
struct ax_epochs {
	struct ax_epoch *at;
	int n;
};
struct ax_calendars {
	struct ax_calendar_row *at;
	int n;
};
struct ax_calendar_versions {
	struct ax_calendar_version *at;
	int n;
};
struct ax_backfills {
	struct ax_backfill *at;
	int n;
};
struct ax_servers {
	struct ax_server_row *at;
	int n;
};

/* What becomes due: a task that fires, or a run that waits for its time. */
struct ax_due {
	int64_t time, id;
	const char *group_key;
	int64_t priority;
};
struct ax_dues {
	struct ax_due *at;
	int n;
};
struct ax_ids {
	const int64_t *at;
	int n;
};
struct ax_names {
	const char *const *at;
	int n;
};
struct ax_tokens {
	struct ax_token *at;
	int n;
};
struct ax_audit_entries {
	struct ax_audit_entry *at;
	int n;
};

struct ax_events {
	struct ax_event *at;
	int n;
};
struct ax_event_tasks {
	struct ax_event_task *at;
	int n;
};
struct ax_upstreams {
	struct ax_upstream *at;
	int n;
};
struct ax_run_upstreams {
	struct ax_run_upstream *at;
	int n;
};
struct ax_run_tolds {
	struct ax_run_told *at;
	int n;
};
struct ax_ended_minutes {
	struct ax_ended_minute *at;
	int n;
};
struct ax_leases {
	struct ax_lease *at;
	int n;
};
struct ax_notices {
	struct ax_notice *at;
	int n;
};
struct ax_channels {
	struct ax_channel *at;
	int n;
};
struct ax_alerts {
	struct ax_alert *at;
	int n;
};
struct ax_deliveries {
	struct ax_delivery *at;
	int n;
};

struct ax_failures {
	struct ax_failure *at;
	int n;
};
struct ax_failure_groups {
	struct ax_failure_group *at;
	int n;
};
struct ax_failure_spreads {
	struct ax_failure_spread *at;
	int n;
};
struct ax_failure_hours {
	struct ax_failure_hour *at;
	int n;
};

#endif
