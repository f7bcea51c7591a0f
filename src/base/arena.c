#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct ax_arena_block {
	struct ax_arena_block *next;
	size_t size; /* usable bytes */
	size_t used;
	alignas(max_align_t) unsigned char bytes[];
};

enum { BLOCK_BYTES = 8192 - (int)sizeof(struct ax_arena_block) };

static void *require(void *p)
{
	if (p == NULL)
		ax_die(__FILE__, __LINE__, "out of memory");
	return p;
}

static size_t align_up(size_t n)
{
	const size_t a = alignof(max_align_t);
	AX_ASSERT(n <= SIZE_MAX - a);
	return (n + a - 1) & ~(a - 1);
}

static void push_block(struct ax_arena *arena, size_t size)
{
	struct ax_arena_block *block = require(malloc(sizeof(*block) + size));
	block->next = arena->head;
	block->size = size;
	block->used = 0;
	arena->head = block;
}

void *ax_alloc(struct ax_arena *arena, size_t size)
{
	size_t need = align_up(size);
	if (arena->head == NULL || arena->head->size - arena->head->used < need)
		push_block(arena, AX_MAX(need, (size_t)BLOCK_BYTES));
	void *p = arena->head->bytes + arena->head->used;
	arena->head->used += need;
	return memset(p, 0, size);
}

void *ax_alloc_array(struct ax_arena *arena, size_t n, size_t size)
{
	AX_ASSERT(size == 0 || n <= SIZE_MAX / size);
	return ax_alloc(arena, n * size);
}

void *ax_grow_array(struct ax_arena *arena, void *array, size_t n, size_t more, size_t *cap, size_t size)
{
	if (n + more <= *cap)
		return array;
	*cap = AX_MAX(2 * (n + more), (size_t)16);
	void *bigger = ax_alloc_array(arena, *cap, size);
	if (n > 0)
		memcpy(bigger, array, n * size);
	return bigger;
}

char *ax_strndup(struct ax_arena *arena, const char *s, size_t n)
{
	char *copy = ax_alloc(arena, n + 1);
	memcpy(copy, s, n);
	return copy;
}

char *ax_strdup(struct ax_arena *arena, const char *s)
{
	return s == NULL ? NULL : ax_strndup(arena, s, strlen(s));
}

char *ax_sprintf(struct ax_arena *arena, const char *fmt, ...)
{
	va_list args, again;
	va_start(args, fmt);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	AX_ASSERT(n >= 0);
	char *s = ax_alloc(arena, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

static void free_blocks(struct ax_arena_block *block)
{
	while (block != NULL) {
		struct ax_arena_block *next = block->next;
		free(block);
		block = next;
	}
}

void ax_arena_reset(struct ax_arena *arena)
{
	struct ax_arena_block *keep = arena->head;
	if (keep == NULL)
		return;
	if (keep->size > (size_t)BLOCK_BYTES) { /* do not hold on to one huge request */
		ax_arena_done(arena);
		return;
	}
	free_blocks(keep->next);
	keep->next = NULL;
	keep->used = 0;
}

void ax_arena_done(struct ax_arena *arena)
{
	free_blocks(arena->head);
	arena->head = NULL;
}

void *ax_malloc(size_t size)
{
	return require(calloc(1, size == 0 ? 1 : size));
}

void *ax_calloc(size_t n, size_t size)
{
	return require(calloc(n == 0 ? 1 : n, size == 0 ? 1 : size));
}

void *ax_realloc(void *p, size_t size)
{
	return require(realloc(p, size == 0 ? 1 : size));
}

char *ax_strdup_heap(const char *s)
{
	return require(strdup(s));
}
