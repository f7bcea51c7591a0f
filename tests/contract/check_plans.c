/* ax-check goes over stores of millions of runs: no rule may read all of them anew for each row of another table. */

#include <stdio.h>

#include "adapters/sqlite/handle.h"
#include "check/rules.h"
#include "fixture.h"

enum { STEPS_MAX = 64 };

struct step {
	int id, parent;
	bool correlated;
	bool before; /* done once, before the join that uses it */
};

/* Done again for each row of another step: below a correlated subquery, or behind another one of the same join. */
static bool is_repeated(const struct step *steps, int n, const struct step *step)
{
	for (int i = 0; i < n; i++)
		if (steps[i].parent == step->parent && !steps[i].before)
			return true;
	for (int parent = step->parent; parent != 0;) {
		int i = 0;
		while (i < n && steps[i].id != parent)
			i++;
		if (i == n || steps[i].correlated)
			return i < n;
		parent = steps[i].parent;
	}
	return false;
}

static void check_rule(struct fixture *f, const struct ax_check_rule *rule)
{
	struct step steps[STEPS_MAX];
	int n = 0;
	sqlite3_stmt *stmt;
	char *question = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", rule->sql);
	assert_int_equal(sqlite3_prepare_v2(f->sqlite->conn.db, question, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *detail = (const char *)sqlite3_column_text(stmt, 3);
		struct step step = {
			.id = sqlite3_column_int(stmt, 0),
			.parent = sqlite3_column_int(stmt, 1),
			.correlated = strstr(detail, "CORRELATED") != NULL,
			.before = strncmp(detail, "MATERIALIZE", 11) == 0,
		};
		/* what a subquery reads is a step of its own, a row's own list is short, and few runs are given out at
		 * any time */
		bool reads_all = strncmp(detail, "SCAN", 4) == 0 && strstr(detail, "(subquery-") == NULL &&
			strstr(detail, "VIRTUAL TABLE") == NULL && strstr(detail, "ax_task_log_given") == NULL;
		if (reads_all && is_repeated(steps, n, &step))
			fail_msg("%s: %s, for each row of another step", rule->id, detail);
		assert_true(n < STEPS_MAX);
		steps[n++] = step;
	}
	sqlite3_finalize(stmt);
	sqlite3_free(question);
}

static void test_no_rule_reads_all_runs_again_and_again(void **state)
{
	for (int i = 0; i < ax_check_n_rules; i++)
		check_rule(*state, &ax_check_rules[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_no_rule_reads_all_runs_again_and_again, fixture_sqlite_up, fixture_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
