/* Loaded into a program by a test: FAIL_MALLOC=PROGRAM:N lets the N-th allocation of the program of that name fail, and
 * says from where; with N = 0 none fails, and the program says at its end how many there were. What it executes has
 * names of its own. */

#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* glibc's own, by the names that it keeps for those who replace the others. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

enum { FRAMES_MAX = 32 };

static bool counts;
static long fails_at;
static atomic_long n_calls;

__attribute__((constructor)) static void read_plan(void)
{
	const char *plan = getenv("FAIL_MALLOC");
	const char *colon = plan ? strchr(plan, ':') : NULL;
	size_t len = strlen(program_invocation_short_name);
	void *frame;
	if (!colon || (size_t)(colon - plan) != len || strncmp(plan, program_invocation_short_name, len) != 0)
		return;
	fails_at = strtol(colon + 1, NULL, 10);
	backtrace(&frame, 1); /* its first call takes memory */
	counts = true;
}

__attribute__((destructor)) static void tell(void)
{
	if (counts && fails_at == 0)
		dprintf(STDERR_FILENO, "%ld allocations\n", atomic_load(&n_calls));
}

static bool fails(void)
{
	if (!counts || atomic_fetch_add(&n_calls, 1) + 1 != fails_at)
		return false;
	void *frames[FRAMES_MAX];
	dprintf(STDERR_FILENO, "allocation %ld fails\n", fails_at);
	backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), STDERR_FILENO);
	errno = ENOMEM;
	return true;
}

EXPORTED void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

EXPORTED void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

EXPORTED void *memalign(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

EXPORTED void *aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}

EXPORTED int posix_memalign(void **ret, size_t align, size_t size)
{
	void *p = fails() ? NULL : __libc_memalign(align, size);
	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}
