#include "app/why_case.h"

#include <inttypes.h>
#include <string.h>

#include "app/schedule_next.h"
#include "base/rfc3339.h"
#include "core/gid.h"

enum {
	LOOK = 200,       /* runs after a fire, and before it, among which those that stand for it are sought */
	LOOK_SCAN = 2000, /* rows looked at for that */
	QUOTE_BYTES = 200,
};

void ax_why_open(struct ax_why_case *c, int64_t task_id)
{
	c->view = (struct ax_claim_view){ .tx = c->tx, .now = c->now };
	c->status = c->tx->ops->task_get(c->tx, task_id, false, &c->task, c->err);
	c->has_task = c->status == AX_OK;
	if (c->has_task)
		c->tz = ax_zones_find(c->zones, c->task.def.time_zone);
	if (c->status == AX_NOT_FOUND)
		c->status = AX_OK;
	if (c->status == AX_OK)
		c->status = c->tx->ops->epochs(c->tx, task_id, 0, INT32_MAX, &c->epochs, c->err);
}

void ax_why_say(struct ax_why_case *c, int64_t time, enum ax_why_mark mark, const char *code, enum ax_sentence sentence)
{
	struct ax_why *why = c->why;
	if ((why->n & (why->n - 1)) == 0) { /* 0, 1, 2, 4, 8 …: full */
		struct ax_why_step *grown =
			ax_alloc_array(c->tx->arena, why->n == 0 ? 1 : (size_t)why->n * 2, sizeof(*grown));
		for (int i = 0; i < why->n; i++)
			grown[i] = why->steps[i];
		why->steps = grown;
	}
	why->steps[why->n++] =
		(struct ax_why_step){ .time = time, .mark = mark, .code = code, .text = "", .sentence = sentence };
}

static void add_param(struct ax_why_case *c, struct ax_param param)
{
	struct ax_why_step *step = &c->why->steps[c->why->n - 1];
	AX_ASSERT(step->n_params < AX_PARAMS_MAX);
	step->params[step->n_params++] = param;
}

void ax_why_with(struct ax_why_case *c, const char *name, const char *text)
{
	add_param(c, ax_text_param(name, text));
}

void ax_why_with_number(struct ax_why_case *c, const char *name, int64_t number)
{
	add_param(c, ax_number_param(name, number));
}

void ax_why_finish(struct ax_why_case *c)
{
	for (int i = 0; i < c->why->n; i++) {
		struct ax_why_step *step = &c->why->steps[i];
		step->text = ax_sentence_text(c->tx->arena, step->sentence, step->params, step->n_params);
	}
}

void ax_why_answer(struct ax_why_case *c)
{
	c->why->answer = c->why->n - 1;
}

void ax_why_with_time(struct ax_why_case *c, const char *name, int64_t ms)
{
	char text[AX_RFC3339_SIZE];
	int offset_s = c->tz != NULL ? ax_tz_offset_s(c->tz, ms) : 0;
	if (offset_s == 0)
		ax_rfc3339_format(ms, text);
	else
		ax_rfc3339_format_offset(ms, offset_s, text);
	ax_why_with(c, name, ax_strdup(c->tx->arena, text));
}

const char *ax_why_quote(const struct ax_why_case *c, const char *text)
{
	size_t len = strlen(text);
	bool cut = len > QUOTE_BYTES;
	for (len = AX_MIN(len, (size_t)QUOTE_BYTES); cut && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--; /* not within a character */
	return AX_SAY(c, "%.*s%s", (int)len, text, cut ? "…" : "");
}

const struct ax_epoch *ax_why_epoch(const struct ax_why_case *c, int64_t fire)
{
	const struct ax_epoch *found = NULL;
	for (int i = 0; i < c->epochs.n && c->epochs.at[i].from_time < fire; i++)
		found = &c->epochs.at[i];
	return found;
}

int64_t ax_why_disabled_since(const struct ax_why_case *c)
{
	if (!ax_def_has_schedule(&c->task.def)) /* no epoch tells of it */
		return c->task.update_time;
	int i = c->epochs.n - 1;
	while (i > 0 && !c->epochs.at[i - 1].enabled)
		i--;
	return i >= 0 ? c->epochs.at[i].from_time : c->task.update_time;
}

bool ax_why_rule(struct ax_why_case *c, const struct ax_epoch *epoch, struct ax_rule *ret)
{
	struct ax_err err;
	enum ax_status status = ax_rule_read(c->tx, c->zones, epoch, ret, &err);
	if (status != AX_OK && status != AX_INVALID && status != AX_NEVER) {
		c->status = status;
		if (c->err != NULL)
			*c->err = err;
	}
	return status == AX_OK;
}

static bool stands_for(const struct ax_run *run, int64_t fire)
{
	if (run->kind != AX_KIND_SCHEDULE && run->kind != AX_KIND_MISS)
		return false;
	return (run->kind == AX_KIND_SCHEDULE && ax_run_fire(run) == fire) ||
		(run->covers_count > 0 && run->covers_from <= fire && fire <= run->covers_to);
}

static void keep_standing(struct ax_runs *kept, const struct ax_runs *from, int64_t fire)
{
	for (int i = 0; i < from->n; i++) {
		int known = 0;
		while (known < kept->n && kept->at[known].gid != from->at[i].gid)
			known++;
		if (known == kept->n && stands_for(&from->at[i], fire))
			kept->at[kept->n++] = from->at[i];
	}
}

void ax_why_standing_for(struct ax_why_case *c, int64_t fire, struct ax_runs *ret)
{
	const struct ax_tx_ops *ops = c->tx->ops;
	struct ax_run own;
	struct ax_runs one = { .at = &own, .n = 1 }, before, after;
	int64_t task_id = c->run != NULL ? c->run->task_id : c->task.id, least = ax_gid_least(fire), rest;
	*ret = (struct ax_runs){ .at = ax_alloc_array(c->tx->arena, 2 * LOOK + 1, sizeof(struct ax_run)) };
	if (c->status != AX_OK)
		return;
	/* its own run has its key; */
	enum ax_status status =
		ops->run_find(c->tx, task_id, AX_KIND_SCHEDULE, AX_SAY(c, "%" PRId64, fire), 0, &own, c->err);
	if (status == AX_OK)
		keep_standing(ret, &one, fire);
	/* a late fire is counted on one of the first runs made after it; */
	if (status == AX_OK || status == AX_NOT_FOUND)
		status = ops->runs_fired(c->tx, task_id, fire, INT64_MAX, AX_MAX(least - 1, 0), LOOK, &after, c->err);
	if (status == AX_OK)
		keep_standing(ret, &after, fire);
	/* one that joined a waiting run, on one of the last made before it */
	const struct ax_run_filter filter = {
		.task_id = task_id,
		.kind = AX_KIND_SCHEDULE,
		.before_gid = least,
		.limit = LOOK,
		.scan_limit = LOOK_SCAN,
	};
	if (status == AX_OK && least > 0)
		status = ops->runs_page(c->tx, &filter, &before, &rest, c->err);
	if (status == AX_OK && least > 0)
		keep_standing(ret, &before, fire);
	c->status = status;
}
