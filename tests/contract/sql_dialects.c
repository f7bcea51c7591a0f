/* The dialects of the operations in SQL. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "adapters/mariadb/conn.h"
#include "adapters/sqlite/conn.h"
#include "base/err.h"

static const struct {
	const char *name;
	const struct ax_sql_text *(*texts)(void);
} dialects[] = { { "sqlite", ax_sqlite_texts }, { "mariadb", ax_mariadb_texts } };

static void test_every_dialect_has_every_statement(void **state)
{
	(void)state;
	for (size_t i = 0; i < AX_COUNT(dialects); i++) {
		for (int id = 0; id < AX_SQL_COUNT; id++) {
			if (dialects[i].texts()[id].text == NULL)
				fail_msg("%s lacks %s", dialects[i].name, ax_sql_name((enum ax_sql_id)id));
		}
	}
}

static void test_a_statement_is_about_the_same_rows_in_every_dialect(void **state)
{
	(void)state;
	for (size_t i = 0; i < AX_COUNT(dialects); i++) {
		for (int id = 0; id < AX_SQL_COUNT; id++) {
			if (dialects[i].texts()[id].row != ax_sqlite_texts()[id].row)
				fail_msg("%s: %s is about other rows", dialects[i].name,
					ax_sql_name((enum ax_sql_id)id));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_dialect_has_every_statement),
		cmocka_unit_test(test_a_statement_is_about_the_same_rows_in_every_dialect),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
