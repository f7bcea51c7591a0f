#ifndef AX_CORE_ALERT_TEXT_H
#define AX_CORE_ALERT_TEXT_H

/* What people read of an alert, in their language. Plain text: whoever sends it escapes it for where it goes. */

#include "base/arena.h"
#include "base/buf.h"
#include "core/alert.h"

/* Whom it is for. */
struct ax_alert_reader {
	struct ax_arena *arena;
	enum ax_language language;
	const struct ax_tz *tz; /* of the times */
};

/* One line: what is wrong, or over. */
void ax_alert_title(const struct ax_alert_reader *reader, const struct ax_alert *alert, enum ax_delivery_kind kind,
	struct ax_buf *out);

/* What was seen, and the facts, a line each, without a newline at the end. */
void ax_alert_body(const struct ax_alert_reader *reader, const struct ax_alert *alert, enum ax_delivery_kind kind,
	struct ax_buf *out);

#endif
