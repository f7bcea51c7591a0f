/* When and in what order the counters of runs given out are written, by a driver that only notes what it is asked. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "adapters/sql/sql.h"
#include "base/buf.h"

static struct ax_buf written;

static enum ax_status begin(struct ax_sql_conn *conn, enum ax_sql_id id, const struct ax_sql_input *input,
	struct ax_sql_cursor **ret, struct ax_err *err)
{
	(void)conn, (void)err;
	const struct ax_sql_arg *args = input->args;
	if (id == AX_SQL_GROUP_ADD_RUNNING)
		ax_buf_printf(&written, "%s%+d ", args[0].text, (int)args[1].number);
	else if (id == AX_SQL_WORKER_GROUP_ADD_GIVEN)
		ax_buf_printf(&written, "%s/%s%+d ", args[1].text, args[0].text, (int)args[2].number);
	else
		ax_buf_adds(&written, ". ");
	*ret = NULL;
	return AX_OK;
}

static enum ax_status next(struct ax_sql_conn *conn, struct ax_sql_cursor *cursor, bool *ret_row, struct ax_err *err)
{
	(void)conn, (void)cursor, (void)err;
	*ret_row = false;
	return AX_OK;
}

static int64_t changes(struct ax_sql_conn *conn)
{
	(void)conn;
	return 1;
}

static enum ax_status end_runs(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	static const char *const ended[][2] = { { "b", "w1" }, { "a", "w2" }, { "b", "w2" }, { "b", "w1" } };
	const struct ax_run run = { .gid = 1 };
	(void)arg;
	for (size_t i = 0; i < AX_COUNT(ended); i++) {
		assert_int_equal(tx->ops->worker_group_add_given(tx, ended[i][1], ended[i][0], -1, 0, err), AX_OK);
		assert_int_equal(tx->ops->group_add_running(tx, ended[i][0], -1, 0, err), AX_OK);
		assert_int_equal(tx->ops->run_update(tx, &run, 0, err), AX_OK);
	}
	return AX_OK;
}

static enum ax_status end_in_vain(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	assert_int_equal(end_runs(tx, arg, err), AX_OK);
	return AX_CONFLICT;
}

/* Whoever ends runs of several groups waits for whoever claims, and nobody waits for it longer than its commit takes.
 */
static void test_counters_are_written_last_once_and_in_order(void **state)
{
	static const struct ax_sql_driver driver = { .begin = begin, .next = next, .changes = changes };
	struct ax_sql_conn conn = { .driver = &driver };
	struct ax_arena arena = { 0 };
	struct ax_err err;
	(void)state;
	ax_buf_init(&written, 4096);
	assert_int_equal(ax_sql_call(&conn, &arena, end_runs, NULL, &err), AX_OK);
	ax_buf_addc(&written, '\0');
	assert_string_equal(written.data, ". . . . a-1 a/w2-1 b-3 b/w1-2 b/w2-1 ");
	ax_buf_clear(&written);
	assert_int_equal(ax_sql_call(&conn, &arena, end_in_vain, NULL, &err), AX_CONFLICT);
	ax_buf_addc(&written, '\0');
	assert_string_equal(written.data, ". . . . ");
	ax_buf_done(&written);
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_counters_are_written_last_once_and_in_order) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
