#include "core/sentence.h"

#include <inttypes.h>
#include <string.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum { SENTENCE_BYTES = 65536 };

static const struct {
	const char *name, *english;
} sentences[AX_SENTENCES] = {
#define AX_SENTENCE(name, english) { #name, english },
#include "core/sentence.def"
#undef AX_SENTENCE
};

struct ax_param ax_text_param(const char *name, const char *text)
{
	return (struct ax_param){ .name = name, .text = text != NULL ? text : "" };
}

struct ax_param ax_number_param(const char *name, int64_t number)
{
	return (struct ax_param){ .name = name, .number = number };
}

const char *ax_sentence_name(struct ax_arena *arena, enum ax_sentence sentence)
{
	char *name = ax_strdup(arena, sentences[sentence].name);
	for (char *c = name; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return name;
}

const char *ax_span_text(struct ax_arena *arena, int64_t ms)
{
	static const struct {
		int64_t ms;
		const char *name;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" }, { 1, "ms" } };
	for (size_t i = 0; i + 1 < AX_COUNT(units); i++) {
		if (ms < units[i].ms)
			continue;
		int64_t whole = ms / units[i].ms, rest = ms % units[i].ms / units[i + 1].ms;
		if (rest == 0 || units[i].ms == 1000)
			return ax_sprintf(arena, "%" PRId64 " %s", whole, units[i].name);
		return ax_sprintf(
			arena, "%" PRId64 " %s %" PRId64 " %s", whole, units[i].name, rest, units[i + 1].name);
	}
	return ax_sprintf(arena, "%" PRId64 " ms", ms);
}

struct filling {
	struct ax_arena *arena;
	const struct ax_param *params;
	int n;
};

/* What stands for {name}; NULL when it is not given. */
static const char *value_of(const struct filling *f, const char *name, size_t len)
{
	for (int i = 0; i < f->n; i++) {
		const struct ax_param *p = &f->params[i];
		if (strlen(p->name) != len || memcmp(p->name, name, len) != 0)
			continue;
		if (p->text != NULL)
			return p->text;
		bool span = len > 3 && memcmp(name + len - 3, "_ms", 3) == 0;
		return span ? ax_span_text(f->arena, p->number) : ax_sprintf(f->arena, "%" PRId64, p->number);
	}
	return NULL;
}

/* Up to `end`. False when it is an optional part of which a parameter is not there or empty; elsewhere that is shown.
 */
static bool fill(const struct filling *f, const char *from, const char *end, bool optional, struct ax_buf *out)
{
	for (const char *p = from; p < end;) {
		size_t plain = AX_MIN(strcspn(p, "{["), (size_t)(end - p));
		ax_buf_add(out, p, plain);
		p += plain;
		if (p == end)
			break;
		const char *close = strchr(p, *p == '{' ? '}' : ']');
		AX_ASSERT(close != NULL && close < end);
		if (*p == '{') {
			const char *value = value_of(f, p + 1, (size_t)(close - p - 1));
			bool there = value != NULL && value[0] != '\0';
			if (!there && optional)
				return false;
			ax_buf_adds(out, there ? value : "–");
		} else {
			struct ax_buf part;
			ax_buf_init(&part, SENTENCE_BYTES);
			if (fill(f, p + 1, close, true, &part))
				ax_buf_add(out, part.data, part.len);
			ax_buf_done(&part);
		}
		p = close + 1;
	}
	return true;
}

const char *ax_sentence_text(struct ax_arena *arena, enum ax_sentence sentence, const struct ax_param *params, int n)
{
	const struct filling f = { .arena = arena, .params = params, .n = n };
	const char *english = sentences[sentence].english;
	struct ax_buf out;
	ax_buf_init(&out, SENTENCE_BYTES);
	(void)fill(&f, english, english + strlen(english), false, &out);
	const char *text = ax_strndup(arena, out.data, out.len);
	ax_buf_done(&out);
	return text;
}
