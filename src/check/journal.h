#ifndef AX_CHECK_JOURNAL_H
#define AX_CHECK_JOURNAL_H

/* Execution journals of workers: one JSON object a line, written when work really begins and ends, and when a server
 * has confirmed its result,
 *
 *	{"event":"start"|"end"|"told","gid":"…","fence":1,"worker":"w1","incarnation":"…","mono_ms":1,"time_ms":1}
 *
 * an end with its "outcome", what was told with the "verdict": "taken", or "late" when it changed nothing.
 *
 * They tell what the store cannot: what was executed, not what was recorded. */

#include "base/arena.h"
#include "check/invariants.h"

struct ax_check_journal;

struct ax_check_journal *ax_check_journal_new(void);
void ax_check_journal_free(struct ax_check_journal *journal);

/* Adds a file's lines. A last line without its line feed is a write that was cut off, and passed over; other lines must
 * read. Further members of the objects are passed over. */
enum ax_status ax_check_journal_read(struct ax_check_journal *journal, const char *path, struct ax_err *err);

/* Judges all that was read; with a store (or NULL) also against its rows. Memory is the arena's. */
enum ax_status ax_check_journal_judge(struct ax_check_journal *journal, const struct ax_check_store *store,
	struct ax_arena *arena, struct ax_check_findings *ret, struct ax_err *err);

#endif
