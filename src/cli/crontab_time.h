#ifndef AX_CLI_CRONTAB_TIME_H
#define AX_CLI_CRONTAB_TIME_H

/* The five time fields as Debian's crond reads them, faults included: it stops at the first character that does not
 * belong to a list and skips to the next blank, it accepts ranges that run backwards (and never runs them) and steps of
 * any size. Knowing its reading is what lets the import promise that a line goes on meaning what it meant. */

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "core/cron.h"

enum ax_crontab_field {
	AX_CRONTAB_MINUTE,
	AX_CRONTAB_HOUR,
	AX_CRONTAB_DAY,
	AX_CRONTAB_MONTH,
	AX_CRONTAB_WEEKDAY,
	AX_CRONTAB_FIELDS,
};

struct ax_crontab_time {
	uint64_t bits[AX_CRONTAB_FIELDS];  /* bit n = value n; Sunday is bit 0 alone */
	bool star[AX_CRONTAB_FIELDS];      /* the field begins with '*' */
	const char *at[AX_CRONTAB_FIELDS]; /* where the field's text begins … */
	size_t len[AX_CRONTAB_FIELDS];     /* … and its length up to the next blank */
};

/* Reads five fields from *text and moves it to what follows the blanks behind them. -1, or the field that crond
 * refuses. */
int ax_crontab_time_read(const char **text, struct ax_crontab_time *ret);

/* The first field of which AX's reading is another, -1 when there is none. A difference in how the two day fields are
 * joined counts as the weekday's. */
int ax_crontab_time_differs(const struct ax_crontab_time *time, const struct ax_cron *cron);

const char *ax_crontab_field_name(int field); /* "minute" … "weekday", as in err->field of ax_cron_parse */

/* The field's values as a plain list that every cron reads alike: "1-5,10". Nothing when the field has none. */
void ax_crontab_time_plain(const struct ax_crontab_time *time, int field, struct ax_buf *out);

#endif
