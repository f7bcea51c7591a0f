#ifndef AX_BASE_ARENA_H
#define AX_BASE_ARENA_H

/* Memory by lifetime: everything that one request, tick or message needs is taken from an arena and
 * given back at once. Nothing allocated from an arena is freed alone, and nothing outlives its reset.
 *
 * Allocation never returns NULL: when the system has no memory left the process ends, which every
 * protocol of AX survives (docs/decisions/0002-out-of-memory.md). Input is bounded before it gets here. */

#include <stdarg.h>
#include <stddef.h>
#include "base/attr.h"

struct ax_arena_block;

struct ax_arena {
	struct ax_arena_block *head; /* newest block */
};

/* A zeroed struct ax_arena is an empty arena. */
void *ax_alloc(struct ax_arena *arena, size_t size); /* zeroed, aligned for any type */
void *ax_alloc_array(struct ax_arena *arena, size_t n, size_t size);
/* An array of n elements with room for `more` further ones: itself, or a copy with twice the room (the old one is left
 * to the arena). */
void *ax_grow_array(struct ax_arena *arena, void *array, size_t n, size_t more, size_t *cap, size_t size);
char *ax_strdup(struct ax_arena *arena, const char *s); /* NULL stays NULL */
char *ax_strndup(struct ax_arena *arena, const char *s, size_t n);
char *ax_sprintf(struct ax_arena *arena, const char *fmt, ...) AX_PRINTF(2, 3);

/* Gives everything back but keeps one block for reuse. */
void ax_arena_reset(struct ax_arena *arena);
/* Gives everything back. The arena is empty and may be used again. */
void ax_arena_done(struct ax_arena *arena);

/* malloc family for memory that no arena owns; ends the process instead of returning NULL. */
void *ax_malloc(size_t size); /* zeroed */
void *ax_calloc(size_t n, size_t size);
void *ax_realloc(void *p, size_t size);
char *ax_strdup_heap(const char *s);

#endif
