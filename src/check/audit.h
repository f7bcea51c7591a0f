#ifndef AX_CHECK_AUDIT_H
#define AX_CHECK_AUDIT_H

/* What account.c finds and report.c prints. */

#include <jansson.h>
#include "base/arena.h"
#include "check/check.h"
#include "check/fires.h"

enum { AX_CHECK_SAMPLES = 20 };

/* The first few of something. */
struct ax_check_sample {
	int64_t *at;
	size_t n;
};

struct ax_check_result {
	int64_t task_id;
	const char *task_name;
	struct ax_check_counts counts;
	struct ax_check_sample missing, unexpected, duplicates; /* fires */
	struct ax_check_sample miscounted;                      /* gids */
	const char *error;                                      /* why something was unreadable, or NULL */
	struct ax_check_result *next;
};

struct ax_check_known_zone {
	const char *name;
	struct ax_check_zone zone;
	struct ax_check_known_zone *next;
};

struct ax_check_audit {
	struct ax_arena arena;
	struct ax_arena scratch; /* of the task that is being judged */
	const char *zone_dir;
	int64_t from_ms, to_ms;
	struct ax_check_counts total;
	struct ax_check_result *results, **results_end; /* tasks with demand or faults, as fed */
	size_t n_tasks;                                 /* all that were fed */
	struct ax_check_known_zone *zones;
};

/* The rule of an epoch, ready to be walked. Memory is the audit's scratch and arena. */
struct ax_check_rule {
	struct ax_check_schedule schedule;
	const struct ax_check_zone *zone;
	int64_t anchor_ms;
	struct ax_check_limits limits;
	struct ax_check_in_days in_days; /* what the limits point to */
};
enum ax_status ax_check_read_epoch(struct ax_check_audit *audit, const struct ax_check_epoch *epoch,
	struct ax_check_rule *ret, struct ax_err *err);

/* The object that ax_check_audit_json prints. */
json_t *ax_check_audit_object(const struct ax_check_audit *audit);
/* A string that may have been cut inside of a character. */
json_t *ax_check_utf8(const char *text);

#endif
