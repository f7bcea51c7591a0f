#include "core/sentence.h"

#include <inttypes.h>
#include <string.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json_look.h"
#include "base/num.h"

enum { SENTENCE_BYTES = 65536, LANGUAGES = 2 };

static const struct {
	const char *name, *text[LANGUAGES]; /* Chinese is NULL where only the console needs it */
} sentences[AX_SENTENCES] = {
#define AX_SENTENCE(name, english) { #name, { english, NULL } },
#define AX_SENTENCE_SENT(name, english, chinese) { #name, { english, chinese } },
#include "core/sentence.def"
#undef AX_SENTENCE_SENT
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

struct ax_param ax_id_param(struct ax_arena *arena, const char *name, int64_t id)
{
	return ax_text_param(name, id == 0 ? "" : ax_sprintf(arena, "%" PRId64, id));
}

const char *ax_sentence_name(struct ax_arena *arena, enum ax_sentence sentence)
{
	char *name = ax_strdup(arena, sentences[sentence].name);
	for (char *c = name; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return name;
}

const char *ax_span_text(struct ax_arena *arena, int64_t ms, enum ax_language language)
{
	static const struct {
		int64_t ms;
		const char *name[LANGUAGES];
	} units[] = {
		{ 86400000, { "d", "天" } },
		{ 3600000, { "h", "小时" } },
		{ 60000, { "min", "分钟" } },
		{ 1000, { "s", "秒" } },
		{ 1, { "ms", "毫秒" } },
	};
	for (size_t i = 0; i + 1 < AX_COUNT(units); i++) {
		if (ms < units[i].ms)
			continue;
		int64_t whole = ms / units[i].ms, rest = ms % units[i].ms / units[i + 1].ms;
		if (rest == 0 || units[i].ms == 1000)
			return ax_sprintf(arena, "%" PRId64 " %s", whole, units[i].name[language]);
		return ax_sprintf(arena, "%" PRId64 " %s %" PRId64 " %s", whole, units[i].name[language], rest,
			units[i + 1].name[language]);
	}
	return ax_sprintf(arena, "%" PRId64 " %s", ms, units[4].name[language]);
}

struct filling {
	struct ax_arena *arena;
	const struct ax_param *params;
	int n;
	enum ax_language language;
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
		return span ? ax_span_text(f->arena, p->number, f->language)
			    : ax_sprintf(f->arena, "%" PRId64, p->number);
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

static const char *text_in(struct ax_arena *arena, enum ax_sentence sentence, const struct ax_param *params, int n,
	enum ax_language language)
{
	if (sentences[sentence].text[language] == NULL)
		language = AX_ENGLISH;
	const struct filling f = { .arena = arena, .params = params, .n = n, .language = language };
	const char *template = sentences[sentence].text[language];
	struct ax_buf out;
	ax_buf_init(&out, SENTENCE_BYTES);
	(void)fill(&f, template, template + strlen(template), false, &out);
	const char *text = ax_strndup(arena, out.data, out.len);
	ax_buf_done(&out);
	return text;
}

const char *ax_sentence_text(struct ax_arena *arena, enum ax_sentence sentence, const struct ax_param *params, int n)
{
	return text_in(arena, sentence, params, n, AX_ENGLISH);
}

void ax_params_json(struct ax_json *json, const char *key, const struct ax_param *params, int n)
{
	ax_json_obj(json, key);
	for (int i = 0; i < n; i++) {
		if (params[i].text == NULL)
			ax_json_int(json, params[i].name, params[i].number);
		else if (params[i].text[0] != '\0')
			ax_json_str(json, params[i].name, params[i].text);
	}
	ax_json_obj_end(json);
}

/* --- kept sentences ----------------------------------------------------------------------------------------------- */

int ax_said_count(const struct ax_said *said)
{
	int n = 0;
	while (n < AX_SAID_PARAMS && said->params[n].name != NULL)
		n++;
	return n;
}

const char *ax_said_text(struct ax_arena *arena, const struct ax_said *said, enum ax_language language)
{
	return text_in(arena, said->sentence, said->params, ax_said_count(said), language);
}

const char *ax_said_keep(struct ax_arena *arena, const struct ax_said *said)
{
	struct ax_buf out;
	struct ax_json json;
	ax_buf_init(&out, SENTENCE_BYTES);
	ax_json_init(&json, &out);
	ax_json_obj(&json, NULL);
	ax_json_str(&json, "sentence", ax_sentence_name(arena, said->sentence));
	ax_params_json(&json, "params", said->params, ax_said_count(said));
	ax_json_obj_end(&json);
	const char *kept = ax_strndup(arena, out.data, out.len);
	ax_buf_done(&out);
	return kept;
}

static bool find_sentence(struct ax_arena *arena, struct ax_look name, enum ax_sentence *ret)
{
	for (int i = 0; i < AX_SENTENCES; i++) {
		*ret = (enum ax_sentence)i;
		if (ax_look_is(name, ax_sentence_name(arena, *ret)))
			return true;
	}
	return false;
}

static const char *look_text(struct ax_arena *arena, struct ax_look string)
{
	char *text = ax_alloc(arena, string.len + 1);
	return ax_look_text(string, text, string.len + 1) ? text : "";
}

bool ax_said_read(struct ax_arena *arena, const char *kept, struct ax_said *ret)
{
	struct ax_look whole = ax_look(kept), key, value;
	*ret = (struct ax_said){ .sentence = AX_SENTENCES };
	if (whole.type != AX_LOOK_OBJECT || !find_sentence(arena, ax_look_member(whole, "sentence"), &ret->sentence))
		return false;
	struct ax_look_walk walk = ax_look_into(ax_look_member(whole, "params"));
	for (int n = 0; n < AX_SAID_PARAMS && ax_look_next(&walk, &key, &value); n++) {
		struct ax_param *p = &ret->params[n];
		p->name = look_text(arena, key);
		if (value.type == AX_LOOK_STRING)
			p->text = look_text(arena, value);
		else if (!ax_parse_i64(value.at, value.len, INT64_MIN, INT64_MAX, &p->number))
			p->number = 0;
	}
	return true;
}

const char *ax_kept_text(struct ax_arena *arena, const char *kept, enum ax_language language)
{
	struct ax_said said;
	return ax_said_read(arena, kept, &said) ? ax_said_text(arena, &said, language) : kept;
}

void ax_kept_json(
	struct ax_json *json, struct ax_arena *arena, const char *key, const char *kept, enum ax_language language)
{
	struct ax_said said;
	bool is_said = ax_said_read(arena, kept, &said);
	ax_json_str(json, key, is_said ? ax_said_text(arena, &said, language) : kept);
	ax_json_str(
		json, ax_sprintf(arena, "%s_sentence", key), is_said ? ax_sentence_name(arena, said.sentence) : NULL);
	ax_params_json(json, ax_sprintf(arena, "%s_params", key), said.params, ax_said_count(&said));
}
