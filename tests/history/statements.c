/* Prints every statement of a dialect as its database gets it, for tests that ask the database itself:
 *
 *   statements sqlite|mariadb      NAME, TAB, text, NUL for each */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sql/sql.h"
#include "core/run_fsm.h"

static void print(const char *name, const struct ax_row_type *row, const char *text)
{
	char *expanded = row == NULL ? NULL : ax_sql_expand(row, "`", text);
	printf("%s\t%s%c", name, expanded == NULL ? text : expanded, '\0');
	free(expanded);
}

int main(int argc, char **argv)
{
#define AX_SQL(name, row, text) print(#name, row, text);
	if (argc == 2 && strcmp(argv[1], "sqlite") == 0) {
#include "adapters/sqlite/statements.def"
	} else if (argc == 2 && strcmp(argv[1], "mariadb") == 0) {
#include "adapters/mariadb/statements.def"
	} else {
		fputs("usage: statements sqlite|mariadb\n", stderr);
		return 2;
	}
#undef AX_SQL
	return 0;
}
