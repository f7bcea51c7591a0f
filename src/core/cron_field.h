#ifndef AX_CORE_CRON_FIELD_H
#define AX_CORE_CRON_FIELD_H

/* One field of a cron expression to bits (R2-R5, R7). Private to the cron parser. */

#include "core/cron.h"

enum ax_cron_field {
	AX_CRON_SECOND,
	AX_CRON_MINUTE,
	AX_CRON_HOUR,
	AX_CRON_DAY,
	AX_CRON_MONTH,
	AX_CRON_WEEKDAY,
	AX_CRON_YEAR,
};

/* Parses the field's text (printable ASCII, not empty) into the cron's bits for it; flags such as interval,
 * days_free and days_star are set too. `dialect` is not AX_DIALECT_NONE. */
enum ax_status ax_cron_field_parse(struct ax_cron *cron, enum ax_cron_field field, enum ax_dialect dialect,
	const char *text, size_t len, struct ax_err *err);

#endif
