/* The same random transactions on two stores must give the same answers: every operation, every argument, drawn from
 * small worlds so that rows meet. A trace of each store is compared line by line: that in memory with another.
 *
 *   store_differential sqlite|mariadb [FIRST_SEED [SEEDS]] */

#include <stdalign.h>
#include <stdio.h>

#include "adapters/mariadb/conn.h"
#include "base/num.h"
#include "fixture.h"
#include "port/tx_ops.h"
#include "port/wrap_trace.h"

enum { SEEDS = 40, TRANSACTIONS = 120, OPS = 24 };

struct dice {
	uint64_t state;
};

static int roll(struct dice *dice, int sides)
{
	return (int)(ax_mix64(++dice->state) % (uint64_t)sides);
}

/* Small worlds, by the names of columns and arguments. */

static int64_t random_number(struct dice *dice, const char *name)
{
	static const struct {
		const char *name;
		int low, values;
	} worlds[] = {
		{ "gid", 1, 40 },
		{ "before_gid", 0, 40 },
		{ "after_gid", 0, 40 },
		{ "task_id", 1, 6 },
		{ "id", 1, 6 },
		{ "fence", 0, 3 },
		{ "seq", 0, 3 },
		{ "shard", 0, 2 },
		{ "parent", 0, 6 },
		{ "rev", 0, 2 },
		{ "old_rev", 0, 2 },
		{ "version", 1, 2 },
		{ "old_version", 1, 2 },
		{ "priority", 1, 10 },
		{ "delta", -1, 3 },
		{ "limit", 0, 8 },
		{ "number", 0, 4 },
		{ "before_version", 0, 4 },
		{ "after_id", 0, 8 },
		{ "before_id", 0, 8 },
		{ "after_fence", 0, 3 },
		{ "after_seq", -1, 3 },
		{ "given", 0, 2 },
		{ "running", 0, 2 },
		{ "fingerprint", 1, 3 },
		{ "failure_id", 1, 3 },
		{ "hour", 0, 4 },
		{ "nth", 0, 4 },
		{ "made_before", 0, 40 },
		{ "minute", 0, 4 },
		{ "from_minute", 0, 4 },
		{ "before_minute", 0, 4 },
		{ "before_hour", 0, 4 },
		{ "rerun_gid", 0, 3 },
		{ "channel_id", 1, 3 },
		{ "alert_id", 1, 4 },
		{ "server", -1, 3 },
		{ "event", 1, 6 },
		{ "backfill_id", 0, 3 },
		{ "calendar_version", 0, 3 },
		{ "upstream_id", 1, 6 },
	};
	for (size_t i = 0; i < AX_COUNT(worlds); i++) {
		if (strcmp(worlds[i].name, name) == 0)
			return worlds[i].low + roll(dice, worlds[i].values);
	}
	return roll(dice, 5) * 100; /* an instant, an amount */
}

static const char *random_text(struct dice *dice, const char *name)
{
	static const struct {
		const char *name, *values[3];
	} worlds[] = {
		{ "kind", { "api", "worker", "session" } },
		{ "task_name", { "Alpha", "alpha two", "beta" } },
		{ "group_key", { "g", "gg", "h" } },
		{ "worker", { "", "w", "ww" } },
		{ "event_name", { "e", "ee", "f" } },
		{ "calendar", { "", "c", "cc" } },
	};
	static const char *const others[] = { "", "a", "\xe7\xbb\x84 'q'", "b", "c", "ab" };
	for (size_t i = 0; i < AX_COUNT(worlds); i++) {
		if (strcmp(worlds[i].name, name) == 0)
			return worlds[i].values[roll(dice, 3)];
	}
	return others[roll(dice, AX_COUNT(others))];
}

static enum ax_run_state random_STATE(struct dice *dice, const char *name)
{
#define AX_RUN_STATE(name, number, text) number,
	static const int states[] = { AX_RUN_STATES(AX_RUN_STATE) };
#undef AX_RUN_STATE
	(void)name;
	/* Live ones more often: ended rows only pile up. */
	return (enum ax_run_state)states[roll(dice, 3) > 0 ? roll(dice, 5) : roll(dice, AX_COUNT(states))];
}

static int random_enum(struct dice *dice, const struct ax_row_type *type, const char *name)
{
	if (type == &ax_run_row && strcmp(name, "status") == 0)
		return (int)random_STATE(dice, name);
	if (strcmp(name, "kind") == 0)
		return 1 + roll(dice, 2);
	if (strcmp(name, "task_type") == 0)
		return 1 + roll(dice, roll(dice, 50) == 0 ? 4 : 3); /* seldom one too high */
	return roll(dice, 3);
}

static const void *random_row(struct dice *dice, struct ax_arena *arena, const struct ax_row_type *type)
{
	void *row = ax_alloc(arena, type->size);
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		switch ((enum ax_field_kind)field->kind) {
		case AX_FIELD_I64:
			ax_field_set_number(field, row, random_number(dice, field->name));
			break;
		case AX_FIELD_ENUM:
			ax_field_set_number(field, row, random_enum(dice, type, field->name));
			break;
		case AX_FIELD_BOOL:
			ax_field_set_number(field, row, roll(dice, 2));
			break;
		case AX_FIELD_TEXT:
			*ax_field_text(field, row) = random_text(dice, field->name);
			break;
		case AX_FIELD_DATA:
			*ax_field_text(field, row) = "a\0b";
			*(int64_t *)(void *)(ax_field_text(field, row) + 1) = roll(dice, 4);
			break;
		}
	}
	return row;
}

static const void *random_run(struct dice *dice, struct ax_arena *arena)
{
	struct ax_run *run = ax_alloc(arena, sizeof(*run));
	memcpy(run, random_row(dice, arena, &ax_run_row), sizeof(*run));
	if (run->shard == 0 || run->parent == run->gid) /* only shards have one, and nobody is its own */
		run->parent = 0;
	return run;
}

static const void *random_ids(struct dice *dice, struct ax_arena *arena)
{
	struct ax_ids *ids = ax_alloc(arena, sizeof(*ids));
	int64_t *at = ax_alloc_array(arena, 40, sizeof(*at));
	int64_t id = random_number(dice, "id");
	for (; ids->n < 30 && roll(dice, 6) > 0; ids->n++) {
		at[ids->n] = id;
		id += 1 + roll(dice, 3);
	}
	ids->at = at;
	return ids;
}

static const void *random_names(struct dice *dice, struct ax_arena *arena)
{
	static const char *const names[] = { "", "w", "ww" };
	struct ax_names *some = ax_alloc(arena, sizeof(*some));
	const char **at = ax_alloc_array(arena, AX_COUNT(names), sizeof(*at));
	for (size_t i = 0; i < AX_COUNT(names); i++)
		if (roll(dice, 2) == 0)
			at[some->n++] = names[i];
	some->at = at;
	return some;
}

static const void *random_task_filter(struct dice *dice, struct ax_arena *arena)
{
	struct ax_task_filter *f = ax_alloc(arena, sizeof(*f));
	f->group_key = roll(dice, 2) ? random_text(dice, "group_key") : NULL;
	f->task_name = roll(dice, 3) ? NULL : random_text(dice, "task_name");
	f->calendar = roll(dice, 3) ? NULL : random_text(dice, "calendar");
	f->q = roll(dice, 3) ? NULL : "ALPHA";
	f->status = roll(dice, 4) - 1;
	f->task_type = roll(dice, 4);
	f->after_id = random_number(dice, "after_id");
	f->limit = (int)random_number(dice, "limit");
	return f;
}

static const void *random_run_filter(struct dice *dice, struct ax_arena *arena)
{
	struct ax_run_filter *f = ax_alloc(arena, sizeof(*f));
	f->task_id = roll(dice, 2) * random_number(dice, "task_id");
	f->backfill_id = roll(dice, 3) ? 0 : random_number(dice, "backfill_id");
	f->group_key = roll(dice, 3) ? NULL : random_text(dice, "group_key");
	f->worker = roll(dice, 3) ? NULL : random_text(dice, "worker");
	f->statuses = roll(dice, 3) ? 0 : 1U << random_STATE(dice, "") | 1U << random_STATE(dice, "");
	f->kind = roll(dice, 3) ? 0 : 1 + roll(dice, 2);
	f->from_time = random_number(dice, "from");
	f->to_time = random_number(dice, "to");
	f->live = roll(dice, 3) == 0;
	f->parent = roll(dice, 4) ? 0 : random_number(dice, "parent");
	f->before_gid = roll(dice, 2) * random_number(dice, "before_gid");
	f->limit = (int)random_number(dice, "limit");
	f->scan_limit = roll(dice, 12);
	return f;
}

static const void *random_alert_filter(struct dice *dice, struct ax_arena *arena)
{
	struct ax_alert_filter *f = ax_alloc(arena, sizeof(*f));
	f->task_id = roll(dice, 2) * random_number(dice, "task_id");
	f->group_key = roll(dice, 3) ? NULL : random_text(dice, "group_key");
	f->rule = roll(dice, 3);
	f->state = roll(dice, 3) - 1;
	f->before_id = random_number(dice, "before_id");
	f->limit = (int)random_number(dice, "limit");
	f->scan_limit = roll(dice, 12);
	return f;
}

static const void *random_failure_filter(struct dice *dice, struct ax_arena *arena)
{
	struct ax_failure_filter *f = ax_alloc(arena, sizeof(*f));
	f->group_key = roll(dice, 3) ? NULL : random_text(dice, "group_key");
	f->state = roll(dice, 4) - 1;
	f->now = random_number(dice, "now");
	f->task_id = roll(dice, 3) ? 0 : random_number(dice, "task_id");
	f->worker = roll(dice, 3) ? NULL : random_text(dice, "worker");
	f->q = roll(dice, 3) ? NULL : "A";
	f->before_time = random_number(dice, "before_time");
	f->before_id = random_number(dice, "before_id");
	f->limit = (int)random_number(dice, "limit");
	f->scan_limit = roll(dice, 12);
	return f;
}

#define random_I64(dice, name) random_number(dice, name)
#define random_INT(dice, name) (int)random_number(dice, name)
#define random_BOOL(dice, name) (roll(dice, 2) == 1)
#define random_TEXT(dice, name) or_null(dice, this_op, name, random_text(dice, name))
#define random_IDS(dice, name) random_ids(dice, tx->arena)
#define random_NAMES(dice, name) random_names(dice, tx->arena)
#define random_SECRET(dice, name) random_text(dice, name)
#define random_LANE(dice, name) (enum ax_run_lane)(1 + roll(dice, 2))
#define random_KIND(dice, name) (enum ax_run_kind)(1 + roll(dice, 2))
#define random_TASK_FILTER(dice, name) random_task_filter(dice, tx->arena)
#define random_RUN_FILTER(dice, name) random_run_filter(dice, tx->arena)
#define random_TASK(dice, name) random_row(dice, tx->arena, &ax_task_row)
#define random_TASK_VERSION(dice, name) random_row(dice, tx->arena, &ax_task_version_row)
#define random_EPOCH(dice, name) random_row(dice, tx->arena, &ax_epoch_row)
#define random_RUN(dice, name) random_run(dice, tx->arena)
#define random_ATTEMPT(dice, name) random_row(dice, tx->arena, &ax_attempt_row)
#define random_OUTPUT(dice, name) random_row(dice, tx->arena, &ax_output_row)
#define random_GROUP(dice, name) random_row(dice, tx->arena, &ax_group_row)
#define random_WORKER(dice, name) random_row(dice, tx->arena, &ax_worker_row)
#define random_WORKER_GROUP(dice, name) random_row(dice, tx->arena, &ax_worker_group_row)
#define random_SERVER(dice, name) random_row(dice, tx->arena, &ax_server_row_row)
#define random_LEASE(dice, name) random_row(dice, tx->arena, &ax_lease_row)
#define random_USER(dice, name) random_row(dice, tx->arena, &ax_user_row)
#define random_TOKEN(dice, name) random_row(dice, tx->arena, &ax_token_row)
#define random_AUDIT(dice, name) random_row(dice, tx->arena, &ax_audit_row)
#define random_ENDED_MINUTE(dice, name) random_row(dice, tx->arena, &ax_ended_minute_row)
#define random_NOTICE(dice, name) random_row(dice, tx->arena, &ax_notice_row)
#define random_IDEM(dice, name) random_row(dice, tx->arena, &ax_idem_row)
#define random_EVENT(dice, name) random_row(dice, tx->arena, &ax_event_row)
#define random_EVENT_TASK(dice, name) random_row(dice, tx->arena, &ax_event_task_row)
#define random_UPSTREAM(dice, name) random_row(dice, tx->arena, &ax_upstream_row)
#define random_RUN_UPSTREAM(dice, name) random_row(dice, tx->arena, &ax_run_upstream_row)
#define random_RULE(dice, name) (enum ax_alert_rule) roll(dice, 3)
#define random_ALERT_FILTER(dice, name) random_alert_filter(dice, tx->arena)
#define random_CANARY(dice, name) random_row(dice, tx->arena, &ax_canary_row)
#define random_CHANNEL(dice, name) random_row(dice, tx->arena, &ax_channel_row)
#define random_ALERT(dice, name) random_row(dice, tx->arena, &ax_alert_row)
#define random_DELIVERY(dice, name) random_row(dice, tx->arena, &ax_delivery_row)
#define random_FAILURE(dice, name) random_row(dice, tx->arena, &ax_failure_row)
#define random_FAILURE_FILTER(dice, name) random_failure_filter(dice, tx->arena)
#define random_FAILURE_GROUP(dice, name) random_row(dice, tx->arena, &ax_failure_group_row)
#define random_FAILURE_SPREAD(dice, name) random_row(dice, tx->arena, &ax_failure_spread_row)
#define random_FAILURE_HOUR(dice, name) random_row(dice, tx->arena, &ax_failure_hour_row)
#define random_CALENDAR(dice, name) random_row(dice, tx->arena, &ax_calendar_row_row)
#define random_CALENDAR_VERSION(dice, name) random_row(dice, tx->arena, &ax_calendar_version_row)
#define random_BACKFILL(dice, name) random_row(dice, tx->arena, &ax_backfill_row)

/* Arguments that may be NULL by contract. */
static bool may_be_null(const char *op, const char *name)
{
	return (strcmp(op, "worker_groups") == 0 && strcmp(name, "worker") == 0) ||
		(strcmp(op, "tokens_expire") == 0 && strcmp(name, "kind") == 0) || strcmp(op, "audit_page") == 0 ||
		strcmp(op, "events_page") == 0;
}

static const char *or_null(struct dice *dice, const char *op, const char *name, const char *text)
{
	return may_be_null(op, name) && roll(dice, 2) == 0 ? NULL : text;
}

/* One function per operation: draws the arguments and calls. */
_Static_assert(sizeof(struct ax_run) <= 1024 && sizeof(struct ax_task) <= 1024, "results fit");
#define IN(type, name) AX_IN_##type name = random_##type(dice, #name);
#define OUT(type, name)                                                                                                \
	alignas(max_align_t) char room_##name[1024];                                                                   \
	AX_OUT_##type ret_##name = (void *)room_##name;
#define OP(op)                                                                                                         \
	static enum ax_status random_##op(struct ax_tx *tx, struct dice *dice, struct ax_err *err)                     \
	{                                                                                                              \
		const char *this_op = #op;                                                                             \
		(void)dice, (void)this_op;                                                                             \
		AX_ARGS_##op(IN, OUT) return tx->ops->op(tx AX_TX_PASS(op), err);                                      \
	}
AX_TX_OPS(OP)
#undef OP
#undef IN
#undef OUT

/* Counters fail at once or at the transaction's end, as it suits the store: only what succeeds can be compared. */
static enum ax_status count_in_group(struct ax_tx *tx, struct dice *dice, struct ax_err *err)
{
	struct ax_group group;
	const char *key = random_text(dice, "group_key");
	enum ax_status status = tx->ops->group_get(tx, key, false, &group, err);
	if (status != AX_OK)
		return status;
	int64_t delta = roll(dice, 5) - AX_MIN(group.running, 2);
	return tx->ops->group_add_running(tx, key, delta, roll(dice, 5) - AX_MIN(group.running_long, 2), err);
}

static enum ax_status count_on_worker(struct ax_tx *tx, struct dice *dice, struct ax_err *err)
{
	struct ax_worker_group row;
	const char *worker = random_text(dice, "worker"), *key = random_text(dice, "group_key");
	enum ax_status status = tx->ops->worker_group_get(tx, worker, key, false, &row, err);
	if (status != AX_OK)
		return status;
	int64_t delta = roll(dice, 5) - AX_MIN(row.given, 2);
	return tx->ops->worker_group_add_given(tx, worker, key, delta, roll(dice, 5) - AX_MIN(row.given_long, 2), err);
}

static enum ax_status route_to_worker(struct ax_tx *tx, struct dice *dice, struct ax_err *err)
{
	struct ax_worker_group row = *(const struct ax_worker_group *)random_row(dice, tx->arena, &ax_worker_group_row);
	struct ax_worker_group stored;
	enum ax_status status = tx->ops->worker_group_get(tx, row.worker, row.group_key, false, &stored, err);
	return status == AX_OK ? tx->ops->worker_group_routed(tx, &row, err) : status;
}

static const struct random_op {
	const char *name;
	enum ax_status (*call)(struct ax_tx *tx, struct dice *dice, struct ax_err *err);
} all_ops[] = {
#define OP(op) { #op, random_##op },
	AX_TX_OPS(OP)
#undef OP
};

/* Operations whose row gets its id from the database. */
static const char *const with_id[] = { "task_insert", "epoch_append", "user_insert", "token_insert", "audit_append",
	"channel_insert", "alert_insert", "delivery_insert", "failure_group_insert", "backfill_insert" };

struct kept_log {
	struct ax_log log;
	struct ax_buf text;
};

static void keep_event(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	(void)level;
	ax_buf_printf(&((struct kept_log *)(void *)log)->text, "%s %s\n", name, fields);
}

struct side {
	struct fixture f;
	struct kept_log log;
	struct ax_trace_store trace;
	struct dice dice;
	int64_t last_ids[AX_COUNT(with_id)];
	/* of the transaction that runs: how often it was called, and how it was before it */
	int calls;
	struct dice begun_dice;
	size_t begun_len;
	int64_t begun_tx;
	int64_t begun_ids[AX_COUNT(with_id)];
};

/* MariaDB does not give an id again that an insert took which failed, or was undone; the others do. Here it is told
 * which one comes next. */
static enum ax_status call(struct side *side, const struct random_op *op, struct ax_tx *tx, struct ax_err *err)
{
	size_t i = 0;
	if (op->call == random_group_add_running)
		return count_in_group(tx, &side->dice, err);
	if (op->call == random_worker_group_add_given)
		return count_on_worker(tx, &side->dice, err);
	if (op->call == random_worker_group_routed)
		return route_to_worker(tx, &side->dice, err);
	while (i < AX_COUNT(with_id) && strcmp(with_id[i], op->name) != 0)
		i++;
	if (side->f.conn == NULL || i == AX_COUNT(with_id))
		return op->call(tx, &side->dice, err);
	char text[64];
	snprintf(text, sizeof(text), "SET insert_id = %lld", (long long)side->last_ids[i] + 1);
	assert_true(ax_mariadb_do(side->f.conn->mysql, text));
	enum ax_status status = op->call(tx, &side->dice, err);
	side->last_ids[i] += status == AX_OK;
	return status;
}

static bool may_go_on(enum ax_status status)
{
	return status == AX_OK || status == AX_NOT_FOUND || status == AX_EXISTS || status == AX_CONFLICT;
}

static enum ax_status random_transaction(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct side *side = arg;
	if (side->calls++ == 0) {
		side->begun_dice = side->dice;
		side->begun_len = side->log.text.len;
		side->begun_tx = side->trace.transactions;
	}
	side->dice = side->begun_dice; /* called again, it begins as it did */
	side->log.text.len = side->begun_len;
	side->trace.transactions = side->begun_tx;
	memcpy(side->last_ids, side->begun_ids, sizeof(side->begun_ids));
	int n = 1 + roll(&side->dice, OPS);
	for (int i = 0; i < n; i++) {
		/* Runs are what most operations look at. */
		static const struct random_op run_insert = { "run_insert", random_run_insert };
		const struct random_op *op =
			roll(&side->dice, 6) == 0 ? &run_insert : &all_ops[roll(&side->dice, AX_COUNT(all_ops))];
		if (strcmp(op->name, "store_id") == 0) /* each has its own */
			continue;
		enum ax_status status = call(side, op, tx, err);
		if (status == AX_EXISTS)
			ax_buf_printf(&side->log.text, "key %s\n", err->field);
		if (!may_go_on(status))
			return status;
	}
	if (roll(&side->dice, 5) != 0)
		return AX_OK;
	int64_t counts[32]; /* what a store kept back is written for this: it says now that a key is taken, or never */
	enum ax_status status = tx->ops->live_counts(tx, counts, err);
	return status == AX_OK ? AX_INVALID : status;
}

static void run_transaction(struct side *side)
{
	struct ax_err err;
	memcpy(side->begun_ids, side->last_ids, sizeof(side->begun_ids));
	side->calls = 0;
	if (ax_store_run(&side->trace.store, &side->f.arena, random_transaction, side, &err) != AX_OK)
		memcpy(side->last_ids, side->begun_ids, sizeof(side->begun_ids));
	ax_arena_reset(&side->f.arena);
}

static const char *kind_of_store;

static void compare_lines(uint64_t seed, const char *a, const char *b)
{
	if (strcmp(a, b) == 0)
		return;
	const char *line_a = a, *line_b = b;
	while (*a == *b) {
		if (*a == '\n') {
			line_a = a + 1;
			line_b = b + 1;
		}
		a++;
		b++;
	}
	fail_msg("seed %llu: the stores differ\nmem: %.*s\n%s: %.*s", (unsigned long long)seed,
		(int)strcspn(line_a, "\n"), line_a, kind_of_store, (int)strcspn(line_b, "\n"), line_b);
}

static void begin_side(struct side *side, uint64_t seed)
{
	static const struct ax_log_ops log_ops = { keep_event };
	side->log.log.ops = &log_ops;
	ax_buf_init(&side->log.text, 64U << 20);
	ax_trace_store_init(&side->trace, side->f.store, &side->log.log);
	side->dice.state = seed << 32;
	memset(side->last_ids, 0, sizeof(side->last_ids));
}

static void end_side(struct side *side)
{
	ax_trace_store_done(&side->trace);
	ax_buf_done(&side->log.text);
	fixture_close(&side->f);
}

static void open_other(struct fixture *f)
{
	if (strcmp(kind_of_store, "mariadb") == 0) {
		fixture_open_mariadb(f);
	} else {
		fixture_make_folder(f);
		fixture_open_sqlite(f);
	}
}

/* Returns how many operations were done. */
static int64_t run_seed(uint64_t seed)
{
	static struct side mem, other;
	struct ax_err err;
	int64_t lines = 0;
	fixture_open_mem(&mem.f);
	open_other(&other.f);
	begin_side(&mem, seed);
	begin_side(&other, seed);
	for (int i = 0; i < TRANSACTIONS; i++) {
		if (other.f.sqlite != NULL && i % 20 == 0)
			assert_int_equal(ax_sqlite_batch_begin(other.f.sqlite, &err), AX_OK);
		run_transaction(&mem);
		run_transaction(&other);
		compare_lines(seed, mem.log.text.data, other.log.text.data);
		for (const char *c = mem.log.text.data; (c = strchr(c, '\n')) != NULL; c++)
			lines++;
		ax_buf_clear(&mem.log.text);
		ax_buf_clear(&other.log.text);
		if (other.f.sqlite != NULL && i % 20 == 19)
			assert_int_equal(ax_sqlite_batch_commit(other.f.sqlite, &err), AX_OK);
	}
	end_side(&mem);
	end_side(&other);
	if (other.f.folder[0] != '\0')
		fixture_drop_folder(&other.f);
	return lines;
}

static uint64_t first_seed = 1;
static int seeds = SEEDS;

static void test_both_stores_answer_alike(void **state)
{
	(void)state;
	int64_t lines = 0;
	for (int i = 0; i < seeds; i++)
		lines += run_seed(first_seed + (uint64_t)i);
	printf("%d seeds, %lld lines of trace\n", seeds, (long long)lines);
	assert_true(lines > (int64_t)seeds * TRANSACTIONS * 3); /* they did something */
}

int main(int argc, char **argv)
{
	kind_of_store = argc > 1 ? argv[1] : "";
	if (strcmp(kind_of_store, "sqlite") != 0 && strcmp(kind_of_store, "mariadb") != 0) {
		fprintf(stderr, "usage: store_differential sqlite|mariadb [FIRST_SEED [SEEDS]]\n");
		return 2;
	}
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		seeds = atoi(argv[3]);
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_both_stores_answer_alike) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
