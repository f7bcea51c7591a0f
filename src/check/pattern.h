#ifndef AX_CHECK_PATTERN_H
#define AX_CHECK_PATTERN_H

/* The checker's own reading of cron expressions.
 *
 * A field is kept as the list of items that was written ("1-5/2", "15W", "MON#2") and a value is tried against each
 * of them. Nothing is expanded or packed, so that each rule of docs/cron.md can be seen in the function that applies
 * it. */

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"
#include "check/calendar.h"

/* The numbers are those of ax_schedule_epoch.dialect. */
enum ax_check_dialect {
	AX_CHECK_DIALECT_NONE = 0, /* 5 fields: unix; 6 or 7: quartz */
	AX_CHECK_DIALECT_UNIX = 1,
	AX_CHECK_DIALECT_QUARTZ = 2,
	AX_CHECK_DIALECT_SPRING = 3,
};

enum ax_check_item_kind {
	AX_CHECK_ITEM_SPAN,         /* first-last/step; every value of the field is such a span, too */
	AX_CHECK_ITEM_LAST,         /* L, L-n: n days before the last one of the month */
	AX_CHECK_ITEM_LAST_NEAREST, /* LW, L-nW: the weekday nearest to that */
	AX_CHECK_ITEM_NEAREST,      /* nW: the weekday nearest to day n */
	AX_CHECK_ITEM_WDAY_LAST,    /* nL: the last such weekday of the month */
	AX_CHECK_ITEM_WDAY_NTH,     /* n#k: the k-th such weekday of the month */
};

struct ax_check_item {
	enum ax_check_item_kind kind;
	int first, last, step; /* first is the n, step the k of the other kinds */
};

struct ax_check_field {
	struct ax_check_item *items;
	size_t n;
	bool is_free;      /* it is "*" or "?" */
	bool begins_star;  /* an item begins with '*', or the field is "?" */
	bool is_question;  /* it is "?" */
	bool is_interval;  /* an item begins with '*' or has the form v/n */
	bool has_numerals; /* a value is written in digits */
};

struct ax_check_pattern {
	enum ax_check_dialect dialect; /* never NONE */
	struct ax_check_field second, minute, hour, mday, month, wday, year;
	bool interval; /* rule R10: follows real time instead of the wall clock */
};

/* Five to seven fields. AX_INVALID, or AX_NEVER when no date matches. Memory is the arena's. */
enum ax_status ax_check_pattern_parse(struct ax_arena *arena, const char *expr, enum ax_check_dialect dialect,
	struct ax_check_pattern *ret, struct ax_err *err);

bool ax_check_second_matches(const struct ax_check_pattern *pattern, int second);
bool ax_check_minute_matches(const struct ax_check_pattern *pattern, int minute);
bool ax_check_hour_matches(const struct ax_check_pattern *pattern, int hour);
bool ax_check_day_matches(const struct ax_check_pattern *pattern, const struct ax_check_day *day);

#endif
