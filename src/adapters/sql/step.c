#include "adapters/sql/step.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "core/run_fsm.h"

/* Where a run is, as indexes see it: a step that does not write that must not change it. */
enum place { PENDING = 1, FREE = 2, GIVEN = 4, ENDED = 8 };

static enum place place_of(enum ax_run_state status)
{
	if (ax_run_is_terminal(status))
		return ENDED;
	if (ax_run_is_given_out(status))
		return GIVEN;
	return status == AX_RUN_PENDING ? PENDING : FREE;
}

/* From narrow to wide. */
static const struct {
	enum ax_sql_id one, alike;
	unsigned from, to;   /* places */
	const char *columns; /* a comma before and behind each */
} steps[] = {
#define NAME(name) "," #name
	{ AX_SQL_RUN_RENEWED, AX_SQL_RUNS_RENEWED, GIVEN, GIVEN, ",rev" AX_SQL_RENEWED_COLUMNS(NAME) "," },
	{ AX_SQL_RUN_BEGUN, AX_SQL_RUNS_BEGUN, GIVEN, GIVEN, ",rev" AX_SQL_BEGUN_COLUMNS(NAME) "," },
	{ AX_SQL_RUN_GIVEN, AX_SQL_RUNS_GIVEN, FREE, GIVEN, ",rev" AX_SQL_GIVEN_COLUMNS(NAME) "," },
	{ AX_SQL_RUN_ENDED, AX_SQL_RUNS_ENDED, PENDING | FREE | GIVEN, ENDED, ",rev" AX_SQL_ENDED_COLUMNS(NAME) "," },
	{ AX_SQL_RUN_LIVED, AX_SQL_RUNS_LIVED, PENDING | FREE | GIVEN, ENDED, ",rev" AX_SQL_LIVED_COLUMNS(NAME) "," },
#undef NAME
};
_Static_assert(AX_COUNT(steps) == AX_SQL_STEPS, "a set of columns for each");

void ax_sql_steps_prepare(struct ax_sql_conn *conn)
{
	AX_ASSERT(ax_run_row.n <= 64);
	for (int i = 0; i < ax_run_row.n; i++) {
		const struct ax_field *field = &ax_run_row.fields[i];
		uint64_t bit = UINT64_C(1) << i;
		char name[64];
		snprintf(name, sizeof(name), ",%s,", field->name);
		for (int step = 0; step < AX_SQL_STEPS; step++)
			conn->step_columns[step] |= strstr(steps[step].columns, name) != NULL ? bit : 0;
		conn->run_columns |= field->fixed ? 0 : bit;
	}
}

static bool same(const struct ax_field *field, const struct ax_run *a, const struct ax_run *b)
{
	if (field->kind != AX_FIELD_TEXT)
		return ax_field_number(field, a) == ax_field_number(field, b);
	const char *x = *ax_field_text(field, a), *y = *ax_field_text(field, b);
	return x == y || strcmp(x, y) == 0;
}

/* Those of the columns in which the two differ. */
static uint64_t differ(uint64_t columns, const struct ax_run *a, const struct ax_run *b)
{
	uint64_t found = 0;
	for (int i = 0; i < ax_run_row.n; i++)
		if ((columns >> i & 1) != 0 && !same(&ax_run_row.fields[i], a, b))
			found |= UINT64_C(1) << i;
	return found;
}

int ax_sql_step_of(const struct ax_sql_conn *conn, const struct ax_run *before, const struct ax_run *row)
{
	uint64_t changed = differ(conn->run_columns, before, row);
	unsigned from = place_of(before->status), to = place_of(row->status);
	int step = 0;
	while (step < AX_SQL_STEPS &&
		((changed & ~conn->step_columns[step]) != 0 || (steps[step].from & from) == 0 ||
			(steps[step].to & to) == 0))
		step++;
	return step;
}

bool ax_sql_steps_alike(const struct ax_sql_conn *conn, int step, const struct ax_run *a, const struct ax_run *b)
{
	return differ(conn->step_columns[step], a, b) == 0;
}

enum ax_sql_id ax_sql_step_id(int step)
{
	return step == AX_SQL_STEPS ? AX_SQL_RUN_UPDATE : steps[step].one;
}

enum ax_sql_id ax_sql_step_alike_id(int step)
{
	AX_ASSERT(step < AX_SQL_STEPS);
	return steps[step].alike;
}
