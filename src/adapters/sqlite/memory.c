#include "adapters/sqlite/memory.h"

#include <sqlite3.h>
#include <stddef.h>

#include "base/err.h"

static sqlite3_mem_methods its_own;

static void *must(void *p)
{
	if (p == NULL)
		ax_die(__FILE__, __LINE__, "out of memory");
	return p;
}

static void *must_allocate(int size)
{
	return must(its_own.xMalloc(size));
}

static void *must_reallocate(void *p, int size)
{
	return must(its_own.xRealloc(p, size));
}

void ax_sqlite_lend_memory(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &its_own);
	sqlite3_mem_methods ours = its_own;
	ours.xMalloc = must_allocate;
	ours.xRealloc = must_reallocate;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
}
