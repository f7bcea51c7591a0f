#ifndef AX_CORE_SENTENCE_H
#define AX_CORE_SENTENCE_H

/* Sentences for people, with parameters: English here, and other languages wherever they are shown (sentence.def).
 * Those that leave the server in the language of whoever they go to have their Chinese here, too. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json_write.h"

enum ax_sentence {
#define AX_SENTENCE(name, english) AX_SAY_##name,
#define AX_SENTENCE_SENT(name, english, chinese) AX_SAY_##name,
#include "core/sentence.def"
#undef AX_SENTENCE_SENT
#undef AX_SENTENCE
	AX_SENTENCES
};

enum ax_language { AX_ENGLISH = 0, AX_CHINESE = 1 };

enum { AX_PARAMS_MAX = 16 }; /* of one sentence */

struct ax_param {
	const char *name;
	const char *text; /* NULL: a number */
	int64_t number;
};

/* A text that is not there is as good as an empty one. */
struct ax_param ax_text_param(const char *name, const char *text);
struct ax_param ax_number_param(const char *name, int64_t number);
/* An id goes as text, as it does everywhere in JSON; 0 is none. */
struct ax_param ax_id_param(struct ax_arena *arena, const char *name, int64_t id);

/* "overlap_held": the name that goes over the wire, in the arena. */
const char *ax_sentence_name(struct ax_arena *arena, enum ax_sentence sentence);
/* The English sentence with its parameters filled in. */
const char *ax_sentence_text(struct ax_arena *arena, enum ax_sentence sentence, const struct ax_param *params, int n);
/* The parameters that are there, as an object. */
void ax_params_json(struct ax_json *json, const char *key, const struct ax_param *params, int n);
/* "3 min 20 s" */
const char *ax_span_text(struct ax_arena *arena, int64_t ms, enum ax_language language);

enum { AX_SAID_PARAMS = 8 };

/* A sentence with its parameters, which are those before the first without a name: what is said now and shown later,
 * in the language of whoever reads it. */
struct ax_said {
	enum ax_sentence sentence;
	struct ax_param params[AX_SAID_PARAMS];
};
int ax_said_count(const struct ax_said *said); /* of its parameters */
const char *ax_said_text(struct ax_arena *arena, const struct ax_said *said, enum ax_language language);

/* As a row keeps it: {"sentence":"alert_late","params":{…}}. */
const char *ax_said_keep(struct ax_arena *arena, const struct ax_said *said);
/* False when the text is no kept sentence. Names and texts are in the arena. */
bool ax_said_read(struct ax_arena *arena, const char *kept, struct ax_said *ret);
/* What is kept, for people; what is no kept sentence is taken as it is. */
const char *ax_kept_text(struct ax_arena *arena, const char *kept, enum ax_language language);
/* Three members: `key` with the text, and what it says as KEY_sentence and KEY_params: null and {} when it is no kept
 * sentence. */
void ax_kept_json(
	struct ax_json *json, struct ax_arena *arena, const char *key, const char *kept, enum ax_language language);

#endif
