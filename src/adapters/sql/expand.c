/* The $words of a statement. */

#include <string.h>

#include "adapters/sql/sql.h"
#include "base/err.h"

enum list_of { COLUMNS, VALUES, CHANGES };

static void add_list(const struct ax_row_type *type, const char *quote, enum list_of what, struct ax_buf *out)
{
	const char *comma = "";
	for (int i = 0; i < type->n; i++) {
		const char *name = type->fields[i].name;
		if (what == CHANGES && type->fields[i].fixed)
			continue;
		ax_buf_adds(out, comma);
		comma = ", ";
		if (what == COLUMNS)
			ax_buf_printf(out, "%s%s%s", quote, name, quote);
		else if (what == VALUES)
			ax_buf_printf(out, "?%d", i + 1);
		else
			ax_buf_printf(out, "%s%s%s = ?%d", quote, name, quote, i + 1);
	}
}

static void add_ids(int first, struct ax_buf *out)
{
	for (int i = 0; i < AX_SQL_IDS_STEP; i++)
		ax_buf_printf(out, "%s?%d", i == 0 ? "" : ", ", first + i);
}

static void add_word(
	const struct ax_row_type *type, const char *quote, const char *word, size_t len, struct ax_buf *out)
{
#define IS(text) (len == strlen(text) && memcmp(word, text, len) == 0)
	if (IS("table")) {
		ax_buf_adds(out, type->table);
	} else if (IS("columns")) {
		add_list(type, quote, COLUMNS, out);
	} else if (IS("values")) {
		add_list(type, quote, VALUES, out);
	} else if (IS("changes")) {
		add_list(type, quote, CHANGES, out);
	} else if (IS("ids")) {
		add_ids(type->n + 2, out);
	} else if (IS("names")) {
		add_ids(2, out);
	} else if (len == 1 && word[0] >= '1' && word[0] <= '9') {
		ax_buf_printf(out, "?%d", type->n + word[0] - '0');
	} else {
		int i = 0;
		while (i < type->n && !IS(type->fields[i].name))
			i++;
		AX_ASSERT(i < type->n);
		ax_buf_printf(out, "?%d", i + 1);
	}
#undef IS
}

char *ax_sql_expand(const struct ax_row_type *type, const char *quote, const char *text)
{
	struct ax_buf out;
	ax_buf_init(&out, 65536);
	while (*text != '\0') {
		size_t plain = strcspn(text, "$");
		ax_buf_add(&out, text, plain);
		text += plain;
		if (*text == '\0')
			break;
		size_t len = strspn(++text, "abcdefghijklmnopqrstuvwxyz_0123456789");
		add_word(type, quote, text, len, &out);
		text += len;
	}
	AX_ASSERT(!out.overflow);
	return ax_buf_take(&out, NULL);
}
