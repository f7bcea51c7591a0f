#ifndef AX_PORT_ROW_H
#define AX_PORT_ROW_H

/* Rows as tables of fields: the columns of every table are written once, in row.c, and whoever stores, copies, prints
 * or compares rows walks over them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum ax_field_kind {
	AX_FIELD_I64,
	AX_FIELD_ENUM, /* any enum, or int */
	AX_FIELD_BOOL,
	AX_FIELD_TEXT, /* const char *, NUL-terminated, never NULL */
	AX_FIELD_DATA, /* const char * with its length in the int64_t behind it; may hold NUL bytes */
};

struct ax_field {
	const char *name; /* of the column */
	unsigned short offset;
	unsigned char kind;
	bool fixed;  /* written at the row's birth and by special operations, never by the general update */
	bool secret; /* never printed */
};

struct ax_row_type {
	const char *table;
	size_t size; /* of the struct */
	const struct ax_field *fields;
	int n;
};

extern const struct ax_row_type ax_task_row, ax_task_version_row, ax_epoch_row, ax_canary_row;
extern const struct ax_row_type ax_run_row, ax_attempt_row, ax_output_row;
extern const struct ax_row_type ax_group_row, ax_worker_row, ax_worker_group_row;
extern const struct ax_row_type ax_calendar_row_row, ax_calendar_version_row, ax_backfill_row;
extern const struct ax_row_type ax_server_row_row, ax_lease_row, ax_user_row, ax_token_row, ax_audit_row, ax_idem_row;
extern const struct ax_row_type ax_due_row;      /* of no table: what lists of what becomes due tell */
extern const struct ax_row_type ax_run_told_row; /* likewise, what a run is told */
extern const struct ax_row_type ax_event_row, ax_event_task_row, ax_upstream_row, ax_run_upstream_row;
extern const struct ax_row_type ax_notice_row, ax_ended_minute_row;
extern const struct ax_row_type ax_channel_row, ax_alert_row, ax_delivery_row;
extern const struct ax_row_type ax_failure_row, ax_failure_group_row, ax_failure_spread_row, ax_failure_hour_row;

/* The members of a row. A field's kind must be the one that the function names. */
static inline void *ax_field_at(const struct ax_field *field, const void *row)
{
	return (char *)(uintptr_t)row + field->offset;
}
static inline const char **ax_field_text(const struct ax_field *field, const void *row)
{
	return ax_field_at(field, row);
}
static inline bool ax_field_has_text(const struct ax_field *field)
{
	return field->kind == AX_FIELD_TEXT || field->kind == AX_FIELD_DATA;
}
/* Bytes of a text or data field, without the closing NUL. */
size_t ax_field_len(const struct ax_field *field, const void *row);
/* Numbers of any kind as one type. */
long long ax_field_number(const struct ax_field *field, const void *row);
void ax_field_set_number(const struct ax_field *field, void *row, long long value);

/* Copies a row with its text. `ret` may be `row`. */
void ax_row_copy(const struct ax_row_type *type, struct ax_arena *arena, const void *row, void *ret);
/* Copies the fields that are not fixed, text as it is. */
void ax_row_take_changes(const struct ax_row_type *type, const void *row, void *ret);
bool ax_row_equal(const struct ax_row_type *type, const void *a, const void *b);
/* As a JSON object; integers of 64 bits as strings, text cut after 200 bytes. */
void ax_row_print(const struct ax_row_type *type, const void *row, struct ax_buf *out);
/* A JSON string. */
void ax_text_print(const char *s, size_t len, struct ax_buf *out);

/* A growing array of rows in an arena. Zeroed it is empty. */
struct ax_rows {
	void *at;
	int n, cap;
};
/* A new zeroed row at the end. Pointers to earlier ones are no longer valid. */
void *ax_rows_add(struct ax_rows *rows, struct ax_arena *arena, const struct ax_row_type *type);

#endif
