#include "adapters/sql/kept.h"

#include <string.h>

#include "adapters/sql/later.h"
#include "adapters/sql/step.h"
#include "base/err.h"
#include "base/num.h"
#include "core/run_fsm.h"

enum {
	SEVERAL = 2, /* are asked about and written together */
	MANY = 4,    /* … and so many make it worth to make runs together, whose keys may turn out to be taken */
};

enum { BY_ADVANCE = 1, BY_LAST_RUN = 2 };

/* Each begins with its key. */
struct kept_run {
	int64_t gid;
	struct ax_run row;
	const struct ax_run *before; /* what the database has, of a row that is changed */
	int64_t stored_rev;
	unsigned stored;    /* facts of its task, as the database has them */
	bool made, changed; /* not written yet */
};

struct kept_task {
	int64_t id;
	struct ax_task row;
	int64_t stored_next;
	unsigned changed;     /* by what, not written yet */
	unsigned asked, none; /* facts */
	unsigned listed;      /* facts whose rows are known: */
	struct ax_rows downstreams, alerts;
	bool counted; /* … and how many of its runs are live */
	int64_t live;
};

/* Open addressing. */
struct table {
	int64_t **at;
	size_t n, cap;
};

struct list {
	void **at;
	size_t n, cap;
};

/* The version that a task is at. */
struct kept_version {
	int64_t task_id;
	struct ax_task_version row; /* of task 0: there is none */
};

struct ax_sql_kept {
	struct table runs, tasks, versions;
	struct list all_runs, all_tasks, made_runs, changed_runs, changed_tasks;
};

static size_t slot_of(const struct table *table, int64_t key)
{
	size_t slot = ax_mix64((uint64_t)key) & (table->cap - 1);
	while (table->at[slot] != NULL && *table->at[slot] != key)
		slot = (slot + 1) & (table->cap - 1);
	return slot;
}

static void *find(const struct table *table, int64_t key)
{
	return table->n == 0 ? NULL : table->at[slot_of(table, key)];
}

static void put(struct table *table, struct ax_arena *arena, int64_t *entry)
{
	if (table->n * 2 >= table->cap) {
		struct table old = *table;
		table->cap = AX_MAX(old.cap * 2, (size_t)64);
		table->at = ax_alloc_array(arena, table->cap, sizeof(*table->at));
		for (size_t i = 0; i < old.cap; i++)
			if (old.at[i] != NULL)
				table->at[slot_of(table, *old.at[i])] = old.at[i];
	}
	table->at[slot_of(table, *entry)] = entry;
	table->n++;
}

static void add(struct list *list, struct ax_arena *arena, void *entry)
{
	list->at = ax_grow_array(arena, list->at, list->n, 1, &list->cap, sizeof(*list->at));
	list->at[list->n++] = entry;
}

static struct ax_sql_kept *kept_of(struct ax_tx *tx)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	if (conn->kept == NULL)
		conn->kept = ax_alloc(tx->arena, sizeof(*conn->kept));
	return conn->kept;
}

static struct kept_run *find_run(struct ax_tx *tx, int64_t gid)
{
	const struct ax_sql_kept *kept = ax_sql_conn_of(tx)->kept;
	return kept == NULL ? NULL : find(&kept->runs, gid);
}

static struct kept_task *find_task(struct ax_tx *tx, int64_t id)
{
	const struct ax_sql_kept *kept = ax_sql_conn_of(tx)->kept;
	return kept == NULL ? NULL : find(&kept->tasks, id);
}

/* The facts of its task that the run makes untrue. */
static unsigned facts_of(const struct ax_run *run)
{
	bool held = run->status == AX_RUN_WAITING && run->hold == AX_HOLD_OVERLAP;
	bool live = run->status >= AX_RUN_WAITING && run->status <= AX_RUN_RETRYING && run->shard == 0 &&
		run->hold != AX_HOLD_OVERLAP;
	return (live ? AX_SQL_HAS_LIVE : 0U) | (held ? AX_SQL_HAS_HELD : 0U);
}

void ax_sql_note_facts(struct ax_tx *tx, const struct ax_run *run)
{
	struct kept_task *task = find_task(tx, run->task_id);
	if (task == NULL)
		return;
	task->none &= ~facts_of(run);
	task->counted = false;
}

/* rows that were read */

void ax_sql_keep_run(struct ax_tx *tx, const struct ax_run *run)
{
	if (ax_sql_conn_of(tx)->direct || find_run(tx, run->gid) != NULL)
		return;
	struct kept_run *entry = ax_alloc(tx->arena, sizeof(*entry));
	*entry = (struct kept_run){ .gid = run->gid, .row = *run, .stored_rev = run->rev, .stored = facts_of(run) };
	put(&kept_of(tx)->runs, tx->arena, &entry->gid);
	add(&kept_of(tx)->all_runs, tx->arena, entry);
}

void ax_sql_keep_task(struct ax_tx *tx, const struct ax_task *task)
{
	if (ax_sql_conn_of(tx)->direct || find_task(tx, task->id) != NULL)
		return;
	struct kept_task *entry = ax_alloc(tx->arena, sizeof(*entry));
	*entry = (struct kept_task){ .id = task->id, .row = *task, .stored_next = task->next_trigger_time };
	put(&kept_of(tx)->tasks, tx->arena, &entry->id);
	add(&kept_of(tx)->all_tasks, tx->arena, entry);
}

const struct ax_run *ax_sql_kept_run(struct ax_tx *tx, int64_t gid)
{
	const struct kept_run *entry = find_run(tx, gid);
	return entry == NULL ? NULL : &entry->row;
}

const struct ax_task *ax_sql_kept_task(struct ax_tx *tx, int64_t id)
{
	const struct kept_task *entry = find_task(tx, id);
	return entry == NULL ? NULL : &entry->row;
}

const struct ax_run *ax_sql_kept_made(
	struct ax_tx *tx, int64_t task_id, enum ax_run_kind kind, const char *fire_key, int64_t shard)
{
	const struct ax_sql_kept *kept = ax_sql_conn_of(tx)->kept;
	for (size_t i = 0; kept != NULL && i < kept->made_runs.n; i++) {
		const struct ax_run *run = &((struct kept_run *)kept->made_runs.at[i])->row;
		if (run->task_id == task_id && run->kind == kind && run->shard == shard &&
			strcmp(run->fire_key, fire_key) == 0)
			return run;
	}
	return NULL;
}

/* changes */

/* Text of the caller's may not live as long as the transaction. */
static void own_texts(struct ax_tx *tx, const struct ax_row_type *type, const void *before, void *row)
{
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		if (field->kind != AX_FIELD_TEXT)
			continue;
		const char **text = ax_field_text(field, row);
		const char *old = *ax_field_text(field, before);
		if (*text != old)
			*text = strcmp(*text, old) == 0 ? old : ax_strdup(tx->arena, *text);
	}
}

static void mark_run(struct ax_tx *tx, struct kept_run *entry)
{
	ax_sql_note_facts(tx, &entry->row);
	if (!entry->made && !entry->changed)
		add(&kept_of(tx)->changed_runs, tx->arena, entry);
	entry->changed = true;
}

/* … keeps what the database has. */
static void note_before(struct ax_tx *tx, struct kept_run *entry)
{
	if (entry->made || entry->changed)
		return;
	struct ax_run *before = ax_alloc(tx->arena, sizeof(*before));
	*before = entry->row;
	entry->before = before;
}

static void mark_task(struct ax_tx *tx, struct kept_task *entry, unsigned by)
{
	if (entry->changed == 0)
		add(&kept_of(tx)->changed_tasks, tx->arena, entry);
	entry->changed |= by;
}

enum ax_status ax_sql_kept_insert(struct ax_tx *tx, const struct ax_run *run)
{
	const struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	if (!conn->driver->far || conn->direct || conn->kept == NULL || conn->kept->all_tasks.n < MANY ||
		find_task(tx, run->task_id) == NULL || find_run(tx, run->gid) != NULL)
		return AX_NOT_FOUND;
	struct kept_run *entry = ax_alloc(tx->arena, sizeof(*entry));
	*entry = (struct kept_run){ .gid = run->gid, .made = true };
	ax_row_copy(&ax_run_row, tx->arena, run, &entry->row);
	put(&kept_of(tx)->runs, tx->arena, &entry->gid);
	add(&kept_of(tx)->made_runs, tx->arena, entry);
	ax_sql_note_facts(tx, run);
	return AX_OK;
}

static enum ax_status moved_on(struct ax_err *err)
{
	return ax_fail(err, AX_CONFLICT, "", "the row moved on since it was read");
}

enum ax_status ax_sql_kept_update(struct ax_tx *tx, const struct ax_run *run, int64_t old_rev, struct ax_err *err)
{
	struct kept_run *entry = find_run(tx, run->gid);
	if (entry == NULL)
		return AX_NOT_FOUND;
	if (entry->row.rev != old_rev)
		return moved_on(err);
	/* What is refused is for the database to refuse. */
	if (ax_run_is_terminal(entry->row.status) &&
		(run->status != entry->row.status || run->fence != entry->row.fence))
		return AX_NOT_FOUND;
	struct ax_run before = entry->row;
	note_before(tx, entry);
	ax_row_take_changes(&ax_run_row, run, &entry->row);
	own_texts(tx, &ax_run_row, &before, &entry->row);
	entry->row.rev = old_rev + 1;
	mark_run(tx, entry);
	return AX_OK;
}

enum ax_status ax_sql_kept_renew(
	struct ax_tx *tx, int64_t gid, int64_t fence, int64_t heartbeat_time, int64_t deadline_time, struct ax_err *err)
{
	struct kept_run *entry = find_run(tx, gid);
	if (entry == NULL)
		return AX_NOT_FOUND;
	if (entry->row.fence != fence || !ax_run_is_given_out(entry->row.status))
		return moved_on(err);
	note_before(tx, entry);
	entry->row.heartbeat_time = heartbeat_time;
	entry->row.deadline_time = deadline_time;
	entry->row.rev++;
	mark_run(tx, entry);
	return AX_OK;
}

enum ax_status ax_sql_kept_advance(struct ax_tx *tx, const struct ax_task *task, int64_t old_next, struct ax_err *err)
{
	struct kept_task *entry = find_task(tx, task->id);
	if (entry == NULL)
		return AX_NOT_FOUND;
	if (entry->row.next_trigger_time != old_next)
		return moved_on(err);
	entry->row.next_trigger_time = task->next_trigger_time;
	entry->row.last_trigger_time = task->last_trigger_time;
	entry->row.calendar_version = task->calendar_version;
	entry->row.epoch_time = task->epoch_time;
	entry->row.exhausted = task->exhausted;
	mark_task(tx, entry, BY_ADVANCE);
	return AX_OK;
}

enum ax_status ax_sql_kept_last_run(struct ax_tx *tx, const struct ax_task *task)
{
	struct kept_task *entry = find_task(tx, task->id);
	if (entry == NULL)
		return AX_NOT_FOUND;
	entry->row.last_run_gid = task->last_run_gid;
	entry->row.last_run_status = task->last_run_status;
	entry->row.last_run_end_time = task->last_run_end_time;
	entry->row.absence_time = task->absence_time;
	if (task->durations != entry->row.durations)
		entry->row.durations = ax_strdup(tx->arena, task->durations);
	mark_task(tx, entry, BY_LAST_RUN);
	return AX_OK;
}

/* writing */

/* The rows were locked: whoever did not find one found a broken store. */
static enum ax_status write_rows(struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_input *inputs, size_t n,
	int64_t rows, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	int64_t changed = 0;
	if (n == 0)
		return AX_OK;
	enum ax_status status = ax_sql_exec_many(tx, id, inputs, (int)n, &changed, err);
	if (status != AX_OK || changed == rows)
		return status;
	conn->doomed = AX_BROKEN;
	return ax_fail(err, AX_BROKEN, "", "a locked row is not what it was");
}

static enum ax_status write_all(
	struct ax_tx *tx, enum ax_sql_id id, const struct ax_sql_input *inputs, size_t n, struct ax_err *err)
{
	return write_rows(tx, id, inputs, n, (int64_t)n, err);
}

static void is_written(struct kept_run *run)
{
	run->made = run->changed = false;
	run->stored_rev = run->row.rev;
	run->stored = facts_of(&run->row);
}

static enum ax_status write_made(struct ax_tx *tx, struct list *made, struct ax_err *err)
{
	static const struct ax_sql_arg none = { .kind = AX_SQL_END };
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_input *inputs = ax_alloc_array(tx->arena, made->n, sizeof(*inputs));
	for (size_t i = 0; i < made->n; i++) {
		struct kept_run *entry = made->at[i];
		inputs[i] = (struct ax_sql_input){ .row = &entry->row, .args = &none };
		is_written(entry);
	}
	enum ax_status status = write_all(tx, AX_SQL_RUN_INSERT, inputs, made->n, err);
	made->n = 0;
	if (status != AX_EXISTS)
		return status;
	conn->collided = true;
	conn->doomed = AX_BUSY;
	return ax_fail(err, AX_BUSY, "", "a key is taken: the transaction is called again");
}

/* Runs that took the same step alike. */
struct alike {
	int step;
	struct list runs;
};

enum {
	ALIKE_MAX = 16,  /* kinds; others are written each by itself */
	ALIKE_LEAST = 10 /* so are fewer: a statement of many takes room for AX_SQL_IDS_STEP */
};

/* NULL: there is none for it, and no room for another. */
static struct alike *find_alike(
	const struct ax_sql_conn *conn, struct alike *alikes, int *n_alikes, const struct kept_run *run, int step)
{
	for (int i = 0; i < *n_alikes; i++) {
		const struct kept_run *first = alikes[i].runs.at[0];
		if (alikes[i].step == step && first->stored_rev == run->stored_rev &&
			ax_sql_steps_alike(conn, step, &first->row, &run->row))
			return &alikes[i];
	}
	if (step == AX_SQL_STEPS || *n_alikes == ALIKE_MAX)
		return NULL;
	alikes[*n_alikes] = (struct alike){ .step = step };
	return &alikes[(*n_alikes)++];
}

static enum ax_status write_alike(struct ax_tx *tx, const struct alike *alike, struct ax_err *err)
{
	const struct kept_run *first = alike->runs.at[0];
	int n = (int)alike->runs.n;
	int64_t *gids = ax_alloc_array(tx->arena, alike->runs.n, sizeof(*gids));
	enum ax_status status = AX_OK;
	for (int i = 0; i < n; i++)
		gids[i] = ((const struct kept_run *)alike->runs.at[i])->gid;
	for (int from = 0; status == AX_OK && from < n; from += AX_SQL_IDS_STEP) {
		struct ax_sql_arg args[AX_SQL_IDS_STEP + 2];
		args[0] = (struct ax_sql_arg)NUM(first->stored_rev);
		ax_sql_ids_args(tx, gids + from, n - from, args + 1);
		const struct ax_sql_input input = { .row = &first->row, .args = args };
		status = write_rows(
			tx, ax_sql_step_alike_id(alike->step), &input, 1, AX_MIN(n - from, AX_SQL_IDS_STEP), err);
	}
	return status;
}

static enum ax_status write_each(struct ax_tx *tx, int step, const struct list *runs, struct ax_err *err)
{
	struct ax_sql_input *inputs = ax_alloc_array(tx->arena, runs->n, sizeof(*inputs));
	struct ax_sql_arg(*args)[2] = ax_alloc_array(tx->arena, runs->n, sizeof(*args));
	for (size_t i = 0; i < runs->n; i++) {
		const struct kept_run *run = runs->at[i];
		args[i][0] = (struct ax_sql_arg)NUM(run->stored_rev);
		inputs[i] = (struct ax_sql_input){ .row = &run->row, .args = args[i] };
	}
	return write_all(tx, ax_sql_step_id(step), inputs, runs->n, err);
}

static enum ax_status write_changed(struct ax_tx *tx, struct list *changed, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct list each[AX_SQL_STEPS + 1] = { 0 }; /* by step */
	struct alike alikes[ALIKE_MAX];
	int n_alikes = 0;
	for (size_t i = 0; i < changed->n; i++) {
		struct kept_run *run = changed->at[i];
		if (!run->changed)
			continue; /* it was let go */
		int step = ax_sql_step_of(conn, run->before, &run->row);
		struct alike *alike = changed->n < ALIKE_LEAST ? NULL : find_alike(conn, alikes, &n_alikes, run, step);
		add(alike != NULL ? &alike->runs : &each[step], tx->arena, run);
	}
	enum ax_status status = AX_OK;
	for (int i = 0; status == AX_OK && i < n_alikes; i++) {
		const struct alike *alike = &alikes[i];
		if (alike->runs.n >= ALIKE_LEAST)
			status = write_alike(tx, alike, err);
		else
			for (size_t k = 0; k < alike->runs.n; k++)
				add(&each[alike->step], tx->arena, alike->runs.at[k]);
	}
	for (int step = 0; status == AX_OK && step <= AX_SQL_STEPS; step++)
		status = write_each(tx, step, &each[step], err);
	for (size_t i = 0; i < changed->n; i++)
		is_written(changed->at[i]);
	changed->n = 0;
	return status;
}

static enum ax_status write_tasks(
	struct ax_tx *tx, const struct list *changed, enum ax_sql_id id, unsigned by, struct ax_err *err)
{
	struct ax_sql_input *inputs = ax_alloc_array(tx->arena, changed->n, sizeof(*inputs));
	struct ax_sql_arg(*args)[2] = ax_alloc_array(tx->arena, changed->n, sizeof(*args));
	size_t n = 0;
	for (size_t i = 0; i < changed->n; i++) {
		struct kept_task *entry = changed->at[i];
		if ((entry->changed & by) == 0)
			continue;
		if (by == BY_ADVANCE) {
			args[n][0] = (struct ax_sql_arg)NUM(entry->stored_next);
			entry->stored_next = entry->row.next_trigger_time;
		}
		inputs[n] = (struct ax_sql_input){ .row = &entry->row, .args = args[n] };
		n++;
		entry->changed &= ~by;
	}
	return write_all(tx, id, inputs, n, err);
}

static enum ax_status write_both(struct ax_tx *tx, struct list *made, struct list *changed, struct ax_err *err)
{
	enum ax_status status = AX_OK;
	if (made->n > 0)
		status = write_made(tx, made, err);
	if (status == AX_OK && changed->n > 0)
		status = write_changed(tx, changed, err);
	return status;
}

static enum ax_status write_runs(struct ax_tx *tx, struct ax_err *err)
{
	struct ax_sql_kept *kept = ax_sql_conn_of(tx)->kept;
	return kept == NULL ? AX_OK : write_both(tx, &kept->made_runs, &kept->changed_runs, err);
}

static enum ax_status write_kept_tasks(struct ax_tx *tx, struct ax_err *err)
{
	struct ax_sql_kept *kept = ax_sql_conn_of(tx)->kept;
	if (kept == NULL || kept->changed_tasks.n == 0)
		return AX_OK;
	enum ax_status status = write_tasks(tx, &kept->changed_tasks, AX_SQL_TASK_LAST_RUN, BY_LAST_RUN, err);
	if (status == AX_OK)
		status = write_tasks(tx, &kept->changed_tasks, AX_SQL_TASK_ADVANCE, BY_ADVANCE, err);
	kept->changed_tasks.n = 0;
	return status;
}

enum ax_status ax_sql_kept_write(struct ax_tx *tx, struct ax_err *err)
{
	enum ax_status status = write_runs(tx, err);
	return status == AX_OK ? write_kept_tasks(tx, err) : status;
}

/* what a statement meets */

static bool mentions(const char *text, const char *table)
{
	size_t len = strlen(table);
	for (const char *p = text; (p = strstr(p, table)) != NULL; p += len)
		if (strspn(p + len, "abcdefghijklmnopqrstuvwxyz_") == 0)
			return true;
	return false;
}

/* Statements about one row, of which the operation knows that it is not kept, and those that look at nothing that is
 * changed here. */
static const enum ax_sql_id apart[] = { AX_SQL_RUN_GET, AX_SQL_RUN_GET_LOCK, AX_SQL_RUN_EXISTS, AX_SQL_RUN_UPDATE,
	AX_SQL_RUN_RENEWED, AX_SQL_RUN_BEGUN, AX_SQL_RUN_GIVEN, AX_SQL_RUN_ENDED, AX_SQL_RUN_LIVED, AX_SQL_RUNS_RENEWED,
	AX_SQL_RUNS_BEGUN, AX_SQL_RUNS_GIVEN, AX_SQL_RUNS_ENDED, AX_SQL_RUNS_LIVED, AX_SQL_RUN_SET_DUE,
	AX_SQL_RUN_RENEW, AX_SQL_RUN_INSERT, AX_SQL_RUN_FIND, AX_SQL_RUNS_LIVE_COUNT, AX_SQL_RUNS_HELD,
	AX_SQL_RUNS_EXPECTED, AX_SQL_TASKS_OF_RUNS, AX_SQL_TASK_GET, AX_SQL_TASK_GET_LOCK, AX_SQL_TASK_EXISTS,
	AX_SQL_TASK_ADVANCE, AX_SQL_TASK_LAST_RUN, AX_SQL_TASKS_EXPECTED, AX_SQL_TASKS_LIVE, AX_SQL_TASKS_BESIDE,
	AX_SQL_VERSIONS_NOW, AX_SQL_ALERT_INSERT, AX_SQL_ALERT_UPDATE };

void ax_sql_kept_prepare(struct ax_sql_conn *conn)
{
	static const struct {
		const char *table;
		unsigned short bit;
	} tables[] = {
		{ "ax_task_log", AX_SQL_TOUCH_RUNS },
		{ "ax_task", AX_SQL_TOUCH_TASKS },
		{ "ax_upstream", AX_SQL_TOUCH_UPSTREAMS },
		{ "ax_alert", AX_SQL_TOUCH_ALERTS },
		{ "ax_task_version", AX_SQL_TOUCH_VERSIONS },
		{ "ax_attempt", AX_SQL_TOUCH_ATTEMPTS },
		{ "ax_run_upstream", AX_SQL_TOUCH_RUN_UPSTREAMS },
		{ "ax_failure_spread", AX_SQL_TOUCH_FAILURE_SPREAD },
		{ "ax_failure_hour", AX_SQL_TOUCH_FAILURE_HOURS },
	};
	for (size_t id = 0; id < AX_SQL_COUNT; id++) {
		const struct ax_sql_text *sql = &conn->texts[id];
		conn->touches[id] = 0;
		for (size_t i = 0; i < AX_COUNT(tables); i++) {
			bool own = sql->row != NULL && strcmp(sql->row->table, tables[i].table) == 0;
			if (own || mentions(sql->text, tables[i].table))
				conn->touches[id] |= tables[i].bit;
		}
	}
	for (size_t i = 0; i < AX_COUNT(apart); i++)
		conn->touches[apart[i]] = 0;
	ax_sql_steps_prepare(conn);
	conn->touches[AX_SQL_RUN_TOLD] = AX_SQL_TOUCH_RUN_UPSTREAMS;
}

static void forget_facts(struct ax_sql_kept *kept, unsigned facts)
{
	for (size_t i = 0; i < kept->all_tasks.n; i++) {
		struct kept_task *task = kept->all_tasks.at[i];
		task->none &= ~facts;
		task->listed &= ~facts;
		task->counted = task->counted && (facts & AX_SQL_HAS_LIVE) == 0;
	}
}

/* What a statement of its own changed is read anew. */
static void forget(struct ax_sql_kept *kept, unsigned touch)
{
	if (touch & AX_SQL_TOUCH_RUNS) {
		kept->runs = (struct table){ 0 };
		kept->all_runs.n = 0;
	}
	if (touch & AX_SQL_TOUCH_TASKS) {
		kept->tasks = (struct table){ 0 };
		kept->all_tasks.n = 0;
	}
	if (touch & AX_SQL_TOUCH_VERSIONS)
		kept->versions = (struct table){ 0 };
	forget_facts(kept,
		(touch & AX_SQL_TOUCH_RUNS ? AX_SQL_HAS_LIVE | AX_SQL_HAS_HELD : 0U) |
			(touch & AX_SQL_TOUCH_UPSTREAMS ? AX_SQL_HAS_DOWN : 0U) |
			(touch & AX_SQL_TOUCH_ALERTS ? AX_SQL_HAS_ALERT : 0U));
}

enum ax_status ax_sql_kept_before(struct ax_tx *tx, enum ax_sql_id id, bool changes, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	unsigned touch = conn->touches[id];
	if (touch == 0)
		return AX_OK;
	enum ax_status status = ax_sql_later_write(tx, touch, err);
	if (conn->kept == NULL)
		return status;
	if (status == AX_OK && (touch & AX_SQL_TOUCH_RUNS))
		status = write_runs(tx, err);
	if (status == AX_OK && (touch & AX_SQL_TOUCH_TASKS))
		status = write_kept_tasks(tx, err);
	if (status == AX_OK && changes)
		forget(conn->kept, touch);
	return status;
}

/* A removed entry would break the chains of open addressing: its key becomes one that nobody has. */
enum ax_status ax_sql_let_go_run(struct ax_tx *tx, int64_t gid, struct ax_err *err)
{
	struct kept_run *entry = find_run(tx, gid);
	enum ax_status status = AX_OK;
	if (entry == NULL)
		return AX_OK;
	if (entry->made || entry->changed)
		status = write_runs(tx, err);
	entry->gid = INT64_MIN;
	return status;
}

enum ax_status ax_sql_let_go_task(struct ax_tx *tx, int64_t id, struct ax_err *err)
{
	struct kept_task *entry = find_task(tx, id);
	enum ax_status status = AX_OK;
	if (entry == NULL)
		return AX_OK;
	if (entry->changed != 0)
		status = write_kept_tasks(tx, err);
	entry->id = INT64_MIN;
	return status;
}

/* Takes those that the fact of the task rests on out of the list. */
static struct list take_concerned(struct ax_tx *tx, struct list *runs, int64_t task_id, unsigned fact)
{
	struct list taken = { 0 };
	size_t kept = 0;
	for (size_t i = 0; i < runs->n; i++) {
		const struct kept_run *entry = runs->at[i];
		if (entry->row.task_id == task_id && ((entry->stored | facts_of(&entry->row)) & fact) != 0)
			add(&taken, tx->arena, runs->at[i]);
		else
			runs->at[kept++] = runs->at[i];
	}
	runs->n = kept;
	return taken;
}

enum ax_status ax_sql_kept_tell(struct ax_tx *tx, int64_t task_id, enum ax_sql_fact fact, struct ax_err *err)
{
	struct ax_sql_kept *kept = ax_sql_conn_of(tx)->kept;
	if (kept == NULL)
		return AX_OK;
	struct list made = take_concerned(tx, &kept->made_runs, task_id, fact);
	struct list changed = take_concerned(tx, &kept->changed_runs, task_id, fact);
	return write_both(tx, &made, &changed, err);
}

/* facts */

/* What TASKS_BESIDE tells of a task, behind its id. */
static const enum ax_sql_fact beside[] = { AX_SQL_HAS_HELD, AX_SQL_HAS_DOWN, AX_SQL_HAS_ALERT };

static void note_beside(struct ax_tx *tx, struct ax_sql_cursor *cursor)
{
	const struct ax_sql_driver *driver = ax_sql_conn_of(tx)->driver;
	struct kept_task *task = find_task(tx, driver->number(cursor, 0));
	for (int i = 0; task != NULL && i < (int)AX_COUNT(beside); i++)
		task->none |= driver->number(cursor, 1 + i) == 0 ? beside[i] : 0U;
}

static void note_live(struct ax_tx *tx, struct ax_sql_cursor *cursor)
{
	const struct ax_sql_driver *driver = ax_sql_conn_of(tx)->driver;
	struct kept_task *task = find_task(tx, driver->number(cursor, 0));
	AX_ASSERT(task != NULL);
	task->live++;
}

/* The runs of these tasks have been counted, if that was not broken off. */
static void note_counted(struct ax_tx *tx, const int64_t *ids, int n)
{
	for (int i = 0; i < n; i++) {
		struct kept_task *task = find_task(tx, ids[i]);
		task->counted = true;
		task->none |= task->live == 0 ? AX_SQL_HAS_LIVE : 0U;
	}
}

static enum ax_status ask(struct ax_tx *tx, enum ax_sql_id id, const int64_t *ids, int n,
	void (*note)(struct ax_tx *tx, struct ax_sql_cursor *cursor), int *ret_rows, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	struct ax_sql_arg args[AX_SQL_IDS_STEP + 1];
	struct ax_sql_cursor *cursor;
	bool found = false;
	*ret_rows = 0;
	ax_sql_ids_args(tx, ids, n, args);
	enum ax_status status = ax_sql_begin(conn, id, args, &cursor, err);
	while (status == AX_OK && (status = ax_sql_next(conn, cursor, &found, err)) == AX_OK && found) {
		note(tx, cursor);
		++*ret_rows;
	}
	return status;
}

static enum ax_status ask_beside(struct ax_tx *tx, const int64_t *ids, int n, struct ax_err *err)
{
	int rows;
	return ask(tx, AX_SQL_TASKS_BESIDE, ids, n, note_beside, &rows, err);
}

static enum ax_status ask_live(struct ax_tx *tx, const int64_t *ids, int n, struct ax_err *err)
{
	int rows;
	for (int i = 0; i < n; i++) {
		struct kept_task *task = find_task(tx, ids[i]);
		task->live = 0;
	}
	enum ax_status status = ask(tx, AX_SQL_TASKS_LIVE, ids, n, note_live, &rows, err);
	if (status == AX_OK && rows < AX_SQL_LIVE_MAX)
		note_counted(tx, ids, n);
	return status;
}

/* The kept tasks that the fact is not known of. */
static int list_unasked(struct ax_tx *tx, unsigned fact, int64_t **ret)
{
	const struct list *all = &ax_sql_conn_of(tx)->kept->all_tasks;
	int64_t *ids = ax_alloc_array(tx->arena, all->n + 1, sizeof(*ids));
	int n = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct kept_task *task = all->at[i];
		if ((task->asked & fact) == 0 && task->id != INT64_MIN)
			ids[n++] = task->id;
	}
	*ret = ids;
	return n;
}

/* Runs that are not written yet count as well. */
static void mind_unwritten(struct ax_tx *tx)
{
	const struct ax_sql_kept *kept = ax_sql_conn_of(tx)->kept;
	for (size_t i = 0; i < kept->made_runs.n; i++)
		ax_sql_note_facts(tx, &((struct kept_run *)kept->made_runs.at[i])->row);
	for (size_t i = 0; i < kept->changed_runs.n; i++)
		ax_sql_note_facts(tx, &((struct kept_run *)kept->changed_runs.at[i])->row);
}

/* One task has as many questions of the other kind. */
static enum ax_status ask_all(struct ax_tx *tx, enum ax_sql_fact fact, struct ax_err *err)
{
	const struct list *all = &ax_sql_conn_of(tx)->kept->all_tasks;
	bool live = fact == AX_SQL_HAS_LIVE;
	enum ax_status status = AX_OK;
	int64_t *ids;
	int n = list_unasked(tx, fact, &ids);
	if (live && n < SEVERAL)
		return AX_OK;
	for (int from = 0; status == AX_OK && from < n; from += AX_SQL_IDS_STEP) {
		int some = AX_MIN(n - from, AX_SQL_IDS_STEP);
		status = live ? ask_live(tx, ids + from, some, err) : ask_beside(tx, ids + from, some, err);
	}
	for (size_t i = 0; i < all->n; i++)
		((struct kept_task *)all->at[i])->asked |=
			live ? (unsigned)AX_SQL_HAS_LIVE : AX_SQL_HAS_HELD | AX_SQL_HAS_DOWN | AX_SQL_HAS_ALERT;
	mind_unwritten(tx);
	return status;
}

enum ax_status ax_sql_has_none(struct ax_tx *tx, int64_t task_id, enum ax_sql_fact fact, bool *ret, struct ax_err *err)
{
	const struct kept_task *task = find_task(tx, task_id);
	enum ax_status status = AX_OK;
	if (task != NULL && (task->asked & fact) == 0 && ax_sql_conn_of(tx)->driver->far)
		status = ask_all(tx, fact, err);
	*ret = task != NULL && (task->none & fact) != 0;
	return status;
}

bool ax_sql_kept_live(struct ax_tx *tx, int64_t task_id, int64_t *ret_live)
{
	const struct kept_task *task = find_task(tx, task_id);
	if (task == NULL || !task->counted)
		return false;
	*ret_live = task->live;
	return true;
}

/* What there is where the answer is not "none". */

static struct ax_rows *rows_of(struct kept_task *task, enum ax_sql_fact fact)
{
	return fact == AX_SQL_HAS_DOWN ? &task->downstreams : &task->alerts;
}

/* The kept tasks that have some, and of which is not known what. */
static int list_unlisted(struct ax_tx *tx, enum ax_sql_fact fact, int64_t **ret)
{
	const struct list *all = &ax_sql_conn_of(tx)->kept->all_tasks;
	int64_t *ids = ax_alloc_array(tx->arena, all->n, sizeof(*ids));
	int n = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct kept_task *task = all->at[i];
		bool some = (task->asked & fact) != 0 && (task->none & fact) == 0 && task->id != INT64_MIN;
		if (some && (task->listed & fact) == 0)
			ids[n++] = task->id;
	}
	*ret = ids;
	return n;
}

typedef void (*note_row)(struct ax_tx *tx, const void *row);

/* All rows that the statement has for the ids. */
static enum ax_status read_rows(
	struct ax_tx *tx, enum ax_sql_id id, const int64_t *ids, int n, note_row note, struct ax_err *err)
{
	size_t size = ax_sql_conn_of(tx)->texts[id].row->size;
	enum ax_status status = AX_OK;
	for (int from = 0; status == AX_OK && from < n; from += AX_SQL_IDS_STEP) {
		struct ax_sql_arg args[AX_SQL_IDS_STEP + 1];
		struct ax_rows rows = { 0 };
		ax_sql_ids_args(tx, ids + from, n - from, args);
		status = ax_sql_list(tx, id, args, &rows, err);
		for (int i = 0; status == AX_OK && i < rows.n; i++)
			note(tx, (const char *)rows.at + (size_t)i * size);
	}
	return status;
}

static void note_downstream(struct ax_tx *tx, const void *row)
{
	struct kept_task *task = find_task(tx, ((const struct ax_upstream *)row)->upstream_id);
	AX_ASSERT(task != NULL);
	memcpy(ax_rows_add(&task->downstreams, tx->arena, &ax_upstream_row), row, sizeof(struct ax_upstream));
}

static void note_alert(struct ax_tx *tx, const void *row)
{
	struct kept_task *task = find_task(tx, ((const struct ax_alert *)row)->task_id);
	AX_ASSERT(task != NULL);
	memcpy(ax_rows_add(&task->alerts, tx->arena, &ax_alert_row), row, sizeof(struct ax_alert));
}

static enum ax_status read_listed(
	struct ax_tx *tx, enum ax_sql_fact fact, const int64_t *ids, int n, struct ax_err *err)
{
	return fact == AX_SQL_HAS_DOWN ? read_rows(tx, AX_SQL_DOWNSTREAMS_OF_TASKS, ids, n, note_downstream, err)
				       : read_rows(tx, AX_SQL_ALERTS_OF_TASKS, ids, n, note_alert, err);
}

enum ax_status ax_sql_kept_rows(
	struct ax_tx *tx, int64_t task_id, enum ax_sql_fact fact, const struct ax_rows **ret, struct ax_err *err)
{
	struct kept_task *task = find_task(tx, task_id);
	enum ax_status status = AX_OK;
	int64_t *ids;
	*ret = NULL;
	if (task == NULL || (task->asked & fact) == 0)
		return AX_OK;
	int n = (task->listed & fact) != 0 ? 0 : list_unlisted(tx, fact, &ids);
	for (int i = 0; n > 1 && i < n; i++) {
		struct kept_task *unlisted = find_task(tx, ids[i]);
		*rows_of(unlisted, fact) = (struct ax_rows){ 0 };
		unlisted->listed |= fact;
	}
	if (n > 1)
		status = read_listed(tx, fact, ids, n, err);
	if (status == AX_OK && (task->listed & fact) != 0)
		*ret = rows_of(task, fact);
	return status;
}

static bool lists_alert(const struct kept_task *task, int64_t id)
{
	const struct ax_alert *alerts = task->alerts.at;
	for (int i = 0; (task->listed & AX_SQL_HAS_ALERT) != 0 && i < task->alerts.n; i++)
		if (alerts[i].id == id)
			return true;
	return false;
}

/* It may have been another task's until now. */
void ax_sql_note_alert(struct ax_tx *tx, const struct ax_alert *alert)
{
	struct ax_sql_kept *kept = ax_sql_conn_of(tx)->kept;
	for (size_t i = 0; kept != NULL && i < kept->all_tasks.n; i++) {
		struct kept_task *task = kept->all_tasks.at[i];
		if (task->id != alert->task_id && !lists_alert(task, alert->id))
			continue;
		task->none &= ~(unsigned)AX_SQL_HAS_ALERT;
		task->listed &= ~(unsigned)AX_SQL_HAS_ALERT;
	}
}

/* versions */

static void note_version(struct ax_tx *tx, const void *row)
{
	const struct ax_task_version *version = row;
	struct kept_version *entry = find(&kept_of(tx)->versions, version->task_id);
	AX_ASSERT(entry != NULL);
	entry->row = *version;
}

static enum ax_status read_all_versions(struct ax_tx *tx, struct ax_err *err)
{
	struct ax_sql_kept *kept = kept_of(tx);
	int64_t *ids = ax_alloc_array(tx->arena, kept->all_runs.n, sizeof(*ids));
	int n = 0;
	for (size_t i = 0; i < kept->all_runs.n; i++) {
		const struct kept_run *run = kept->all_runs.at[i];
		if (find(&kept->versions, run->row.task_id) != NULL)
			continue;
		struct kept_version *entry = ax_alloc(tx->arena, sizeof(*entry));
		entry->task_id = ids[n++] = run->row.task_id;
		put(&kept->versions, tx->arena, &entry->task_id);
	}
	return read_rows(tx, AX_SQL_VERSIONS_NOW, ids, n, note_version, err);
}

enum ax_status ax_sql_kept_version(
	struct ax_tx *tx, int64_t task_id, int64_t version, const struct ax_task_version **ret, struct ax_err *err)
{
	const struct ax_sql_conn *conn = ax_sql_conn_of(tx);
	const struct kept_version *entry;
	enum ax_status status = AX_OK;
	*ret = NULL;
	if (conn->kept == NULL || !conn->driver->far)
		return AX_OK;
	if (find(&conn->kept->versions, task_id) == NULL && conn->kept->all_runs.n >= SEVERAL)
		status = read_all_versions(tx, err);
	entry = find(&conn->kept->versions, task_id);
	if (status == AX_OK && entry != NULL && entry->row.task_id == task_id && entry->row.version == version)
		*ret = &entry->row;
	return status;
}
