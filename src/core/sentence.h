#ifndef AX_CORE_SENTENCE_H
#define AX_CORE_SENTENCE_H

/* Sentences for people, with parameters: English here, and other languages wherever they are shown (sentence.def). */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum ax_sentence {
#define AX_SENTENCE(name, english) AX_SAY_##name,
#include "core/sentence.def"
#undef AX_SENTENCE
	AX_SENTENCES
};

enum { AX_PARAMS_MAX = 16 }; /* of one sentence */

struct ax_param {
	const char *name;
	const char *text; /* NULL: a number */
	int64_t number;
};

/* A text that is not there is as good as an empty one. */
struct ax_param ax_text_param(const char *name, const char *text);
struct ax_param ax_number_param(const char *name, int64_t number);

/* "overlap_held": the name that goes over the wire, in the arena. */
const char *ax_sentence_name(struct ax_arena *arena, enum ax_sentence sentence);
/* The English sentence with its parameters filled in. */
const char *ax_sentence_text(struct ax_arena *arena, enum ax_sentence sentence, const struct ax_param *params, int n);
/* "3 min 20 s" */
const char *ax_span_text(struct ax_arena *arena, int64_t ms);

#endif
