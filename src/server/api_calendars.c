/* /api/v1/calendars: JSON to the service and back. */

#include <inttypes.h>
#include <string.h>

#include "app/calendars.h"
#include "core/limits.h"
#include "server/handlers.h"
#include "server/json_read.h"

static const char *const weekdays[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL };
static const char *const kinds[] = { "out", "in", NULL };

enum { MONDAY_TO_FRIDAY = 0x3e };

/* --- out ---------------------------------------------------------------------------------------------------------- */

static void render_head(struct ax_json *json, const struct ax_calendar_row *row, const struct ax_calendar *content)
{
	ax_json_str(json, "name", row->name);
	ax_json_str(json, "title", row->title);
	ax_json_int(json, "version", row->version);
	ax_json_arr(json, "week");
	for (int i = 0; i < 7; i++)
		if (content->week >> i & 1)
			ax_json_str(json, NULL, weekdays[i]);
	ax_json_arr_end(json);
	ax_json_int(json, "day_count", content->n);
	ax_json_int(json, "create_time", row->create_time);
	ax_json_int(json, "update_time", row->update_time);
	ax_json_str(json, "updated_by", row->updated_by);
}

static void render_days(struct ax_json *json, const struct ax_calendar *content)
{
	ax_json_arr(json, "days");
	for (int i = 0; i < content->n; i++) {
		char date[AX_CALENDAR_DATE_SIZE];
		ax_date_format(content->days[i].day, date);
		ax_json_obj(json, NULL);
		ax_json_str(json, "date", date);
		ax_json_str(json, "kind", kinds[content->days[i].in]);
		ax_json_str(json, "label", content->days[i].label);
		ax_json_obj_end(json);
	}
	ax_json_arr_end(json);
}

static void render_calendar(struct ax_json *json, const struct ax_calendar_row *row, const struct ax_calendar *content)
{
	ax_json_obj(json, NULL);
	render_head(json, row, content);
	render_days(json, content);
	ax_json_obj_end(json);
}

static enum ax_status find_calendar(
	struct ax_call *c, struct ax_calendar_row *ret, struct ax_calendar *ret_content, struct ax_err *err)
{
	struct ax_calendar_version version;
	enum ax_status status = c->tx->ops->calendar_get(c->tx, c->param[0], false, ret, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no calendar `%.64s`", c->param[0]);
	return status == AX_OK ? ax_calendar_content(c->tx, ret->name, ret->version, ret_content, &version, err)
			       : status;
}

enum ax_status ax_get_calendars(struct ax_call *c, struct ax_err *err)
{
	struct ax_calendars calendars;
	enum ax_status status = c->tx->ops->calendars(c->tx, &calendars, err);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < calendars.n && status == AX_OK; i++) {
		const struct ax_calendar_row *row = &calendars.at[i];
		struct ax_calendar content;
		struct ax_calendar_version version;
		status = ax_calendar_content(c->tx, row->name, row->version, &content, &version, err);
		ax_json_obj(&c->json, NULL);
		if (status == AX_OK)
			render_head(&c->json, row, &content);
		ax_json_obj_end(&c->json);
	}
	ax_call_items_end(c, 0);
	return status;
}

enum ax_status ax_get_calendar(struct ax_call *c, struct ax_err *err)
{
	struct ax_calendar_row row;
	struct ax_calendar content;
	enum ax_status status = find_calendar(c, &row, &content, err);
	if (status == AX_OK)
		render_calendar(&c->json, &row, &content);
	return status;
}

enum ax_status ax_get_calendar_versions(struct ax_call *c, struct ax_err *err)
{
	struct ax_calendar_versions versions;
	int limit = 0;
	int64_t after = 0;
	enum ax_status status = ax_call_page(c, &limit, &after, err);
	if (status == AX_OK)
		status = c->tx->ops->calendar_versions(c->tx, c->param[0], after, limit, &versions, err);
	if (status == AX_OK && versions.n == 0 && after == 0)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no calendar `%.64s`", c->param[0]);
	if (status != AX_OK)
		return status;
	ax_call_items_begin(c);
	for (int i = 0; i < versions.n && status == AX_OK; i++) {
		const struct ax_calendar_version *v = &versions.at[i];
		struct ax_calendar content;
		status = ax_calendar_parse(&c->arena, (unsigned)v->week, v->days, &content, err);
		if (status != AX_OK)
			break;
		ax_json_obj(&c->json, NULL);
		ax_json_int(&c->json, "version", v->version);
		ax_json_int(&c->json, "time", v->time);
		ax_json_str(&c->json, "author", v->author);
		ax_json_str(&c->json, "title", v->title);
		ax_json_int(&c->json, "day_count", content.n);
		ax_json_obj_end(&c->json);
	}
	ax_call_items_end(c, versions.n == limit ? versions.at[versions.n - 1].version : 0);
	return status;
}

enum ax_status ax_get_calendar_export(struct ax_call *c, struct ax_err *err)
{
	struct ax_calendar_row row;
	struct ax_calendar content;
	enum ax_status status = find_calendar(c, &row, &content, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(&c->json, NULL);
	ax_json_str(&c->json, "format", "csv");
	ax_json_str(&c->json, "text", ax_calendar_csv(&c->arena, &content));
	ax_json_obj_end(&c->json);
	return AX_OK;
}

/* --- in ----------------------------------------------------------------------------------------------------------- */

static void read_week(struct ax_read *r, unsigned *ret)
{
	json_t *array = ax_read_array(r, "week", 7), *item;
	size_t i;
	unsigned week = 0;
	json_array_foreach(array, i, item)
	{
		int day = 0;
		while (weekdays[day] != NULL &&
			(!json_is_string(item) || strcmp(weekdays[day], json_string_value(item)) != 0))
			day++;
		if (weekdays[day] == NULL) {
			ax_read_fail(r, "week", "week lists weekdays: sun, mon, tue, wed, thu, fri, sat");
			return;
		}
		week |= 1U << day;
	}
	if (array != NULL)
		*ret = week;
}

static enum ax_status read_day(
	struct ax_call *c, json_t *value, int i, struct ax_calendar_draft *draft, struct ax_err *err)
{
	struct ax_read r;
	const char *date = "", *label = "";
	int kind = 0;
	int64_t day = 0;
	ax_read_begin(&r, value, ax_sprintf(&c->arena, "days[%d].", i), &c->arena, err);
	ax_read_require(&r, "date");
	ax_read_require(&r, "kind");
	ax_read_str(&r, "date", AX_CALENDAR_DATE_SIZE, &date);
	ax_read_word(&r, "kind", kinds, &kind);
	ax_read_str(&r, "label", AX_CALENDAR_LABEL_MAX, &label);
	if (r.status == AX_OK && !ax_date_parse(date, strlen(date), &day))
		ax_read_fail(&r, "date", "`%s` is no date such as 2025-10-01", date);
	enum ax_status status = ax_read_end(&r);
	return status == AX_OK ? ax_calendar_draft_add(draft, day, kind == 1, label, i + 1, err) : status;
}

static enum ax_status read_days(struct ax_call *c, json_t *array, struct ax_calendar *content, struct ax_err *err)
{
	struct ax_calendar_draft draft = { .arena = &c->arena, .field = "days" };
	struct ax_calendar days;
	json_t *item;
	size_t i;
	enum ax_status status = AX_OK;
	if (array == NULL)
		return AX_OK;
	json_array_foreach(array, i, item) if (status == AX_OK) status = read_day(c, item, (int)i, &draft, err);
	if (status == AX_OK)
		status = ax_calendar_draft_end(&draft, &days, err);
	if (status == AX_OK) {
		content->days = days.days;
		content->n = days.n;
	}
	return status;
}

static enum ax_status put(struct ax_call *c, const char *action, const struct ax_calendar_def *def, int64_t old_version,
	struct ax_err *err)
{
	struct ax_calendar_row row;
	enum ax_status status = ax_calendar_put(c->ctx, def, old_version, c->who.actor, &row, err);
	if (status != AX_OK)
		return status;
	render_calendar(&c->json, &row, &def->content);
	return ax_call_audit(c, action, ax_sprintf(&c->arena, "calendar:%s", row.name),
		old_version == 0 ? "" : ax_sprintf(&c->arena, "{\"version\":%" PRId64 "}", old_version),
		ax_sprintf(&c->arena, "{\"version\":%" PRId64 "}", row.version), "", err);
}

enum ax_status ax_post_calendars(struct ax_call *c, struct ax_err *err)
{
	struct ax_calendar_def def = { .name = "", .title = "", .content.week = MONDAY_TO_FRIDAY };
	struct ax_read r;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "name");
	ax_read_str(&r, "name", AX_KEY_MAX, &def.name);
	ax_read_str(&r, "title", 4 * AX_NAME_MAX, &def.title);
	read_week(&r, &def.content.week);
	json_t *days = ax_read_array(&r, "days", AX_CALENDAR_DAYS_MAX);
	enum ax_status status = ax_read_end(&r);
	if (status == AX_OK)
		status = read_days(c, days, &def.content, err);
	c->status = 201;
	return status == AX_OK ? put(c, "calendar.create", &def, 0, err) : status;
}

enum ax_status ax_patch_calendar(struct ax_call *c, struct ax_err *err)
{
	struct ax_calendar_row row;
	struct ax_calendar_def def;
	struct ax_read r;
	int64_t version = 0;
	enum ax_status status = find_calendar(c, &row, &def.content, err);
	if (status != AX_OK)
		return status;
	def.name = row.name;
	def.title = row.title;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "version");
	ax_read_int(&r, "version", 1, INT64_MAX, &version);
	ax_read_str(&r, "title", 4 * AX_NAME_MAX, &def.title);
	read_week(&r, &def.content.week);
	json_t *days = ax_read_array(&r, "days", AX_CALENDAR_DAYS_MAX);
	status = ax_read_end(&r);
	if (status == AX_OK)
		status = read_days(c, days, &def.content, err);
	return status == AX_OK ? put(c, "calendar.update", &def, version, err) : status;
}

/* The calendar that a file is taken into: a new one when there is none. */
static enum ax_status open_for_import(
	struct ax_call *c, struct ax_calendar_def *def, int64_t *ret_version, struct ax_err *err)
{
	struct ax_calendar_row row;
	*def = (struct ax_calendar_def){ .name = c->param[0], .title = "", .content.week = MONDAY_TO_FRIDAY };
	*ret_version = 0;
	enum ax_status status = find_calendar(c, &row, &def->content, err);
	if (status == AX_NOT_FOUND)
		return AX_OK;
	if (status == AX_OK) {
		def->title = row.title;
		*ret_version = row.version;
	}
	return status;
}

enum ax_status ax_post_calendar_import(struct ax_call *c, struct ax_err *err)
{
	static const char *const formats[] = { "csv", "ics", NULL };
	struct ax_calendar_def def;
	struct ax_calendar read = { 0 };
	struct ax_read r;
	const char *text = "";
	int format = 0, kind = 0;
	bool replace = false;
	int64_t version;
	enum ax_status status = open_for_import(c, &def, &version, err);
	if (status != AX_OK)
		return status;
	ax_call_body(c, &r, err);
	ax_read_require(&r, "format");
	ax_read_require(&r, "text");
	ax_read_word(&r, "format", formats, &format);
	ax_read_str(&r, "text", AX_CALENDAR_FILE_MAX, &text);
	ax_read_word(&r, "kind", kinds, &kind);
	ax_read_bool(&r, "replace", &replace);
	ax_read_str(&r, "title", 4 * AX_NAME_MAX, &def.title);
	read_week(&r, &def.content.week);
	if (format == 0 && ax_read_has(&r, "kind"))
		ax_read_fail(&r, "kind", "a CSV file says itself what its dates are; leave kind out");
	status = ax_read_end(&r);
	if (status == AX_OK)
		status = format == 0 ? ax_calendar_read_csv(&c->arena, text, strlen(text), &read, err)
				     : ax_calendar_read_ics(&c->arena, text, strlen(text), kind == 1, &read, err);
	if (status != AX_OK)
		return status;
	if (replace)
		def.content.n = 0;
	def.content = ax_calendar_merge(&c->arena, &def.content, &read);
	if (def.content.n > AX_CALENDAR_DAYS_MAX)
		return ax_fail(err, AX_TOO_LARGE, "text", "a calendar has at most %d exceptions; replace the old ones",
			AX_CALENDAR_DAYS_MAX);
	return put(c, "calendar.import", &def, version, err);
}

enum ax_status ax_delete_calendar(struct ax_call *c, struct ax_err *err)
{
	enum ax_status status = ax_calendar_delete(c->ctx, c->param[0], err);
	if (status == AX_OK)
		status = ax_call_audit(
			c, "calendar.delete", ax_sprintf(&c->arena, "calendar:%s", c->param[0]), "", "", "", err);
	c->status = 204;
	return status;
}
