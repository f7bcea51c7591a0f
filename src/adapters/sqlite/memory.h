#ifndef AX_ADAPTERS_SQLITE_MEMORY_H
#define AX_ADAPTERS_SQLITE_MEMORY_H

/* Before anything else of SQLite is used in the process, if it is to count: SQLite ends it where there is no memory
 * (and does not count what it has, which costs a lock at each allocation). SQLite's own errors are not to be had: a
 * check of the file calls it damaged. */
void ax_sqlite_lend_memory(void);

#endif
