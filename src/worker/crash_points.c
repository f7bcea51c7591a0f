#include "crash_points.h"

#include <stdio.h>

#include "base/attr.h"

static const char *const points[] = {
	"register.answered",
	"start.taken",
	"start.before_journal",
	"start.before_exec",
	"exec.files_made",
	"start.after_spawn",
	"stop.asked",
	"spool.before_write",
	"spool.before_fsync",
	"spool.after_fsync",
	"end.after_journal",
	"report.before",
	"report.answered",
	"end.delivered",
	"spool_delete.before_write",
	"spool_delete.before_fsync",
	"spool_delete.after_fsync",
	"end.before_gone",
};

int crash_points_print(void)
{
	for (size_t i = 0; i < AX_COUNT(points); i++)
		puts(points[i]);
	return 0;
}
