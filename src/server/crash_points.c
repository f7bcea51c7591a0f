#include "server/crash_points.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "adapters/sqlite/sqlite.h"
#include "base/attr.h"
#include "server/call.h"

static const char *const points[] = {
	"recover.before",
	"recover.after",
	"commit.before",
	"commit.after",
	"tick.before",
	"tick.before_commit",
	"tick.after_commit",
	"claim.before_commit",
	"claim.before_reply",
	"claim.after_reply",
	"alert.after_claim",
	"alert.after_send",
	"alert.before_mark_commit",
	"alert.after_mark",
};

/* Statements that change something. */
static void print_statements(void)
{
	const char *name;
	for (int i = 0; (name = ax_sqlite_change_name(&i)) != NULL; i++) {
		fputs("sql.", stdout);
		for (; *name != '\0'; name++)
			putchar(tolower((unsigned char)*name));
		putchar('\n');
	}
}

/* One stands for all methods of a path. */
static bool is_first_to_write(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (ax_routes[k].via == AX_VIA_WRITE && strcmp(ax_routes[k].pattern, ax_routes[i].pattern) == 0)
			return false;
	return ax_routes[i].via == AX_VIA_WRITE;
}

static void print_calls(void)
{
	for (size_t i = 0; i < ax_n_routes; i++) {
		const struct ax_route *route = &ax_routes[i];
		if (!is_first_to_write(i))
			continue;
		printf("%s.before_commit\n%s.before_reply\n", route->pattern, route->pattern);
	}
}

int ax_crash_points_print(void)
{
	for (size_t i = 0; i < AX_COUNT(points); i++)
		puts(points[i]);
	print_statements();
	print_calls();
	return 0;
}
