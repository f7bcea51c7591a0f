#include <string.h>

#include "check/audit.h"

static const struct {
	const char *name;
	size_t offset;
} columns[] = {
#define COLUMN(field)                                                                                                  \
	{                                                                                                              \
#field, offsetof(struct ax_check_counts, field)                                                        \
	}
	COLUMN(expected),
	COLUMN(runs),
	COLUMN(skipped),
	COLUMN(missed),
	COLUMN(coalesced),
	COLUMN(unexplained),
	COLUMN(duplicates),
	COLUMN(missing),
	COLUMN(unexpected),
	COLUMN(miscounted),
	COLUMN(unreadable),
#undef COLUMN
};

static int64_t value_of(const struct ax_check_counts *counts, size_t offset)
{
	int64_t value;
	memcpy(&value, (const char *)counts + offset, sizeof(value));
	return value;
}

/* ---- JSON ---- */

static void put_counts(json_t *object, const struct ax_check_counts *counts)
{
	for (size_t i = 0; i < AX_COUNT(columns); i++)
		json_object_set_new(object, columns[i].name, json_integer(value_of(counts, columns[i].offset)));
}

static void add_instants(json_t *array, const struct ax_check_sample *sample)
{
	for (size_t i = 0; i < sample->n && json_array_size(array) < AX_CHECK_SAMPLES; i++)
		json_array_append_new(array, json_integer(sample->at[i]));
}

/* Ids travel as text: they are longer than what a double holds. */
static json_t *id_text(int64_t id)
{
	return json_sprintf("%lld", (long long)id);
}

json_t *ax_check_utf8(const char *text)
{
	json_t *string = json_string(text);
	return string ? string : json_string("(not UTF-8)");
}

static json_t *task_object(const struct ax_check_result *result)
{
	json_t *task = json_object();
	json_object_set_new(task, "task_id", id_text(result->task_id));
	json_object_set_new(task, "task_name", ax_check_utf8(result->task_name));
	put_counts(task, &result->counts);

	json_t *unexplained = json_array(), *unexpected = json_array(), *duplicates = json_array();
	add_instants(unexplained, &result->missing);
	add_instants(unexplained, &result->unexpected);
	add_instants(unexpected, &result->unexpected);
	add_instants(duplicates, &result->duplicates);
	json_object_set_new(task, "unexplained_fires", unexplained);
	json_object_set_new(task, "unexpected_fires", unexpected);
	json_object_set_new(task, "duplicate_fires", duplicates);

	json_t *gids = json_array();
	for (size_t i = 0; i < result->miscounted.n; i++)
		json_array_append_new(gids, id_text(result->miscounted.at[i]));
	json_object_set_new(task, "miscounted_gids", gids);
	json_object_set_new(task, "error", result->error ? ax_check_utf8(result->error) : json_null());
	return task;
}

json_t *ax_check_audit_object(const struct ax_check_audit *audit)
{
	json_t *body = json_object(), *tasks = json_array();
	json_object_set_new(body, "from", json_integer(audit->from_ms));
	json_object_set_new(body, "to", json_integer(audit->to_ms));
	put_counts(body, &audit->total);
	for (const struct ax_check_result *result = audit->results; result; result = result->next)
		json_array_append_new(tasks, task_object(result));
	json_object_set_new(body, "tasks", tasks);
	return body;
}

char *ax_check_audit_json(const struct ax_check_audit *audit)
{
	json_t *body = ax_check_audit_object(audit);
	char *text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	AX_ASSERT(text); /* out of memory */
	return text;
}

/* ---- a table for people ---- */

enum { TABLE_COLUMNS = 7 };

static void put_row(struct ax_buf *out, const struct ax_check_counts *counts, const char *name)
{
	for (size_t i = 0; i < TABLE_COLUMNS; i++)
		ax_buf_printf(
			out, "%*lld  ", (int)strlen(columns[i].name), (long long)value_of(counts, columns[i].offset));
	ax_buf_printf(out, "%s\n", name);
}

static void put_instants(struct ax_buf *out, const char *what, const struct ax_check_sample *sample, int64_t count)
{
	if (count == 0)
		return;
	ax_buf_printf(out, "    %s:", what);
	for (size_t i = 0; i < sample->n && i < 5; i++) {
		char text[AX_CHECK_INSTANT_SIZE];
		ax_check_instant_format(sample->at[i], text);
		ax_buf_printf(out, " %s", text);
	}
	ax_buf_printf(out, "%s\n", count > 5 ? " …" : "");
}

static void put_faults(struct ax_buf *out, const struct ax_check_result *result)
{
	const struct ax_check_counts *counts = &result->counts;
	put_instants(out, "nothing accounts for", &result->missing, counts->missing);
	put_instants(out, "no schedule demanded", &result->unexpected, counts->unexpected);
	put_instants(out, "accounted for more than once", &result->duplicates, counts->duplicates);
	if (counts->miscounted > 0) {
		ax_buf_adds(out, "    covers another number of fires than it says: gid");
		for (size_t i = 0; i < result->miscounted.n && i < 5; i++)
			ax_buf_printf(out, " %lld", (long long)result->miscounted.at[i]);
		ax_buf_printf(out, "%s\n", counts->miscounted > 5 ? " …" : "");
	}
	if (result->error)
		ax_buf_printf(out, "    cannot be judged: %s\n", result->error);
}

void ax_check_audit_table(const struct ax_check_audit *audit, size_t max_rows, struct ax_buf *out)
{
	char from[AX_CHECK_INSTANT_SIZE], to[AX_CHECK_INSTANT_SIZE];
	ax_check_instant_format(audit->from_ms, from);
	ax_check_instant_format(audit->to_ms, to);
	ax_buf_printf(out, "fires from %s until %s, %zu tasks\n\n", from, to, audit->n_tasks);
	for (size_t i = 0; i < TABLE_COLUMNS; i++)
		ax_buf_printf(out, "%s  ", columns[i].name);
	ax_buf_adds(out, "task\n");

	size_t rows = 0, left_out = 0;
	for (int faulty = 1; faulty >= 0; faulty--)
		for (const struct ax_check_result *result = audit->results; result; result = result->next) {
			if (ax_check_is_clean(&result->counts) == (faulty == 1))
				continue;
			if (rows++ >= max_rows) {
				left_out++;
				continue;
			}
			put_row(out, &result->counts, result->task_name);
			put_faults(out, result);
		}
	if (left_out > 0)
		ax_buf_printf(out, "(%zu more tasks)\n", left_out);
	put_row(out, &audit->total, "all");
}
