#ifndef AX_CORE_ALERT_TEXT_H
#define AX_CORE_ALERT_TEXT_H

/* What people read of an alert, in their language. Plain text: whoever sends it escapes it for where it goes. */

#include "base/buf.h"
#include "core/alert.h"

/* One line: what is wrong, or over. */
void ax_alert_title(
	const struct ax_alert *alert, enum ax_delivery_kind kind, enum ax_language language, struct ax_buf *out);

/* The facts, a line each, without a newline at the end. Times are those of `tz`. */
void ax_alert_body(const struct ax_alert *alert, enum ax_delivery_kind kind, enum ax_language language,
	const struct ax_tz *tz, struct ax_buf *out);

#endif
