/* The contract of port/store.h, held against any store: store_contract mem | sqlite | mariadb. */

#include <stdio.h>

#include "base/num.h"
#include "fixture.h"
#include "port/wrap_fault.h"

static const char *kind_of_store;

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	if (strcmp(kind_of_store, "mem") == 0) {
		fixture_open_mem(f);
	} else if (strcmp(kind_of_store, "mariadb") == 0) {
		fixture_open_mariadb(f);
	} else {
		fixture_make_folder(f);
		fixture_open_sqlite(f);
	}
	return 0;
}

/* A transaction that must end with `status`. */
static void expect_end(struct fixture *f, enum ax_status status, ax_tx_fn fn, void *arg)
{
	struct ax_err err = { 0 };
	assert_int_equal(ax_store_run(f->store, &f->arena, fn, arg, &err), status);
	if (status != AX_OK)
		assert_int_equal(err.status, status);
}

#define ASSERT_GIDS(list, ...)                                                                                         \
	do {                                                                                                           \
		const int64_t wanted[] = { __VA_ARGS__ };                                                              \
		assert_int_equal((list).n, AX_COUNT(wanted));                                                          \
		for (int i_ = 0; i_ < (list).n; i_++)                                                                  \
			assert_int_equal((list).at[i_].gid, wanted[i_]);                                               \
	} while (0)
#define NAMES(...)                                                                                                     \
	(&(struct ax_names){ (const char *const[]){ __VA_ARGS__ },                                                     \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *) })
#define ASSERT_IDS(list, ...)                                                                                          \
	do {                                                                                                           \
		const int64_t wanted[] = { __VA_ARGS__ };                                                              \
		assert_int_equal((list).n, AX_COUNT(wanted));                                                          \
		for (int i_ = 0; i_ < (list).n; i_++)                                                                  \
			assert_int_equal((list).at[i_].id, wanted[i_]);                                                \
	} while (0)
#define ASSERT_DUE(due, when, which, of, first)                                                                        \
	do {                                                                                                           \
		assert_int_equal((due).time, when);                                                                    \
		assert_int_equal((due).id, which);                                                                     \
		assert_string_equal((due).group_key, of);                                                              \
		assert_int_equal((due).priority, first);                                                               \
	} while (0)
#define ASSERT_SAME(type, a, b) assert_true(ax_row_equal(&(type), &(a), &(b)))

/* every column survives */

TX_TEST(test_task_columns)
{
	struct ax_task in, out;
	fill_row(&ax_task_row, tx->arena, 1, &in);
	in.def.priority = 10;
	OK(task_insert, &in, &in.id);
	OK(task_get, in.id, true, &out);
	ASSERT_SAME(ax_task_row, in, out);
}

TX_TEST(test_version_and_epoch_columns)
{
	struct ax_task_version v, v_out;
	struct ax_epoch epoch;
	struct ax_epochs epochs;
	fill_row(&ax_task_version_row, tx->arena, 2, &v);
	OK(task_version_insert, &v);
	OK(task_version_get, v.task_id, v.version, &v_out);
	ASSERT_SAME(ax_task_version_row, v, v_out);
	fill_row(&ax_epoch_row, tx->arena, 3, &epoch);
	OK(epoch_append, &epoch);
	OK(epochs, epoch.task_id, 0, 10, &epochs);
	ASSERT_IDS(epochs, 1);
	epoch.id = 1;
	ASSERT_SAME(ax_epoch_row, epoch, epochs.at[0]);
	struct ax_canary canary, newer, canary_out;
	fill_row(&ax_canary_row, tx->arena, 4, &canary);
	GIVES(AX_NOT_FOUND, canary_get, canary.task_id, &canary_out);
	OK(canary_put, &canary);
	OK(canary_get, canary.task_id, &canary_out);
	ASSERT_SAME(ax_canary_row, canary, canary_out);
	fill_row(&ax_canary_row, tx->arena, 5, &newer);
	newer.task_id = canary.task_id;
	OK(canary_put, &newer);
	OK(canary_get, canary.task_id, &canary_out);
	ASSERT_SAME(ax_canary_row, newer, canary_out);
}

TX_TEST(test_run_columns)
{
	struct ax_run in, out;
	for (int seed = 4; seed < 6; seed++) {
		fill_row(&ax_run_row, tx->arena, seed, &in);
		OK(run_insert, &in);
		OK(run_get, in.gid, false, &out);
		ASSERT_SAME(ax_run_row, in, out);
		OK(run_find, in.task_id, in.kind, in.fire_key, in.shard, &out);
		ASSERT_SAME(ax_run_row, in, out);
	}
}

TX_TEST(test_attempt_and_output_columns)
{
	struct ax_attempt attempt, attempt_out;
	struct ax_output output;
	struct ax_outputs outputs;
	fill_row(&ax_attempt_row, tx->arena, 6, &attempt);
	OK(attempt_put, &attempt);
	OK(attempt_get, attempt.gid, attempt.fence, &attempt_out);
	ASSERT_SAME(ax_attempt_row, attempt, attempt_out);
	fill_row(&ax_output_row, tx->arena, 7, &output);
	OK(output_append, &output);
	OK(outputs, output.gid, 0, -1, 10, &outputs);
	assert_int_equal(outputs.n, 1);
	ASSERT_SAME(ax_output_row, output, outputs.at[0]);
	assert_memory_equal(outputs.at[0].data, "a\0b\n", 5);
}

TX_TEST(test_group_and_worker_columns)
{
	struct ax_group group, group_out;
	struct ax_worker worker, worker_out;
	fill_row(&ax_group_row, tx->arena, 8, &group);
	OK(group_insert, &group);
	OK(group_get, group.group_key, true, &group_out);
	ASSERT_SAME(ax_group_row, group, group_out);
	for (int seed = 9; seed < 11; seed++) { /* the second replaces the first */
		fill_row(&ax_worker_row, tx->arena, seed, &worker);
		worker.name = "w";
		OK(worker_put, &worker);
		OK(worker_get, "w", true, &worker_out);
		ASSERT_SAME(ax_worker_row, worker, worker_out);
	}
}

/* More than one statement names, and few of them are there. */
static enum ax_status put_every_third(struct ax_tx *tx, const char **names, int n, struct ax_err *err)
{
	struct ax_worker worker;
	fill_row(&ax_worker_row, tx->arena, 10, &worker);
	for (int i = 0; i < n; i++) {
		names[i] = worker.name = ax_sprintf(tx->arena, "w%03d", i);
		if (i % 3 != 0)
			continue;
		OK(worker_put, &worker);
		OK(worker_group_put, worker.name, "g", i);
	}
	return AX_OK;
}

TX_TEST(test_workers_by_name)
{
	enum { N = 230 };
	const char *names[N];
	struct ax_workers workers;
	struct ax_worker_groups rows;
	put_every_third(tx, names, N, err);
	struct ax_worker one;
	OK(worker_free, names[3], &one);
	assert_string_equal(one.name, names[3]);
	assert_int_equal(tx->ops->worker_free(tx, names[4], &one, err), AX_NOT_FOUND);
	for (int n = 0; n <= N; n += n < 12 ? 1 : 109) {
		const struct ax_names some = { names, n };
		for (int lock = 0; lock < 2; lock++) {
			OK(workers_by_name, &some, lock, &workers);
			OK(group_workers_by_name, "g", &some, lock, &rows);
			assert_int_equal(workers.n, (n + 2) / 3);
			assert_int_equal(rows.n, (n + 2) / 3);
			for (int i = 0; i < workers.n; i++) {
				assert_string_equal(workers.at[i].name, names[3 * i]);
				assert_string_equal(rows.at[i].worker, names[3 * i]);
				assert_int_equal(rows.at[i].pool_size, 3 * i);
			}
		}
	}
}

TX_TEST(test_account_columns)
{
	struct ax_user user, user_out;
	struct ax_token token, token_out;
	fill_row(&ax_user_row, tx->arena, 11, &user);
	OK(user_insert, &user, &user.id);
	OK(user_find, user.name, &user_out);
	ASSERT_SAME(ax_user_row, user, user_out);
	fill_row(&ax_token_row, tx->arena, 12, &token);
	OK(token_insert, &token, &token.id);
	OK(token_find, token.hash, &token_out);
	ASSERT_SAME(ax_token_row, token, token_out);
}

TX_TEST(test_server_audit_idem_columns)
{
	struct ax_server_row server, found;
	struct ax_servers servers;
	struct ax_audit_entry entry;
	struct ax_audit_entries entries;
	struct ax_idem idem, idem_out;
	for (int seed = 13; seed < 15; seed++) {
		fill_row(&ax_server_row_row, tx->arena, seed, &server);
		server.number = 5;
		OK(server_put, &server);
		OK(server_get, 5, true, &found);
		ASSERT_SAME(ax_server_row_row, server, found);
		OK(servers, &servers);
		assert_int_equal(servers.n, 1);
		ASSERT_SAME(ax_server_row_row, server, servers.at[0]);
	}
	fill_row(&ax_audit_row, tx->arena, 15, &entry);
	OK(audit_append, &entry);
	OK(audit_page, NULL, NULL, 0, 10, &entries);
	entry.id = 1;
	ASSERT_IDS(entries, 1);
	ASSERT_SAME(ax_audit_row, entry, entries.at[0]);
	fill_row(&ax_idem_row, tx->arena, 16, &idem);
	OK(idem_put, &idem);
	OK(idem_get, idem.key, &idem_out);
	ASSERT_SAME(ax_idem_row, idem, idem_out);
}

/* tasks */

/* What an update must leave behind: the new row, but for the columns named here, which are still those of the old. */
static void mix(const struct ax_row_type *type, const void *old, const void *new, const char *const *kept, void *ret)
{
	memcpy(ret, new, type->size);
	for (int i = 0; i < type->n; i++) {
		const struct ax_field *field = &type->fields[i];
		const char *const *name = kept;
		while (*name != NULL && strcmp(*name, field->name) != 0)
			name++;
		if (*name == NULL)
			continue;
		if (ax_field_has_text(field))
			*ax_field_text(field, ret) = *ax_field_text(field, old);
		else
			ax_field_set_number(field, ret, ax_field_number(field, old));
	}
}

TX_TEST(test_task_update)
{
	static const char *const kept[] = { "id", "create_time", "last_run_gid", "last_run_status", "last_run_end_time",
		"durations", NULL };
	struct ax_task old = plain_task("g", "a"), new, wanted, out;
	old.last_run_gid = 77;
	old.next_trigger_time = 500;
	OK(task_insert, &old, &old.id);
	fill_row(&ax_task_row, tx->arena, 3, &new);
	new.id = old.id;
	new.def.priority = 1;
	GIVES(AX_CONFLICT, task_update, &new, 2, 500);
	GIVES(AX_CONFLICT, task_update, &new, 1, 501);
	OK(task_get, old.id, false, &out);
	ASSERT_SAME(ax_task_row, old, out);
	OK(task_update, &new, 1, 500);
	mix(&ax_task_row, &old, &new, kept, &wanted);
	OK(task_get, old.id, false, &out);
	ASSERT_SAME(ax_task_row, wanted, out);
	assert_int_equal(out.last_run_gid, 77);
	new.id = 999;
	GIVES(AX_NOT_FOUND, task_update, &new, new.version, new.next_trigger_time);
}

TX_TEST(test_task_names_are_unique_in_a_group)
{
	struct ax_task a = plain_task("g", "a"), b = plain_task("g", "b"), out;
	int64_t id;
	OK(task_insert, &a, &a.id);
	OK(task_insert, &b, &b.id);
	GIVES(AX_EXISTS, task_insert, &a, &id);
	assert_string_equal(err->field, "task_name");
	b.def.task_name = "a";
	GIVES(AX_EXISTS, task_update, &b, 1, 0);
	assert_string_equal(err->field, "task_name");
	OK(task_get, b.id, false, &out); /* the transaction goes on */
	assert_string_equal(out.def.task_name, "b");
	b.def.group_key = "h";
	OK(task_update, &b, 1, 0);
	b = plain_task("g", "A"); /* bytes are compared */
	OK(task_insert, &b, &id);
	b = plain_task("g", "b"); /* the old name is free */
	OK(task_insert, &b, &id);
}

TX_TEST(test_task_ids_are_not_used_again)
{
	struct ax_task task = plain_task("g", "a");
	int64_t first, second;
	OK(task_insert, &task, &first);
	OK(task_delete, first);
	GIVES(AX_NOT_FOUND, task_delete, first);
	GIVES(AX_NOT_FOUND, task_get, first, true, &task);
	task = plain_task("g", "a");
	OK(task_insert, &task, &second);
	assert_int_equal(second, first + 1);
}

TX_TEST(test_task_advance_and_last_run)
{
	struct ax_task task = plain_task("g", "a"), wanted, out;
	task.next_trigger_time = 100;
	OK(task_insert, &task, &task.id);
	wanted = task;
	task.version = 9; /* not its business */
	task.def.notes = "not written";
	task.next_trigger_time = 200;
	task.last_trigger_time = 100;
	task.exhausted = true;
	GIVES(AX_CONFLICT, task_advance, &task, 99);
	OK(task_advance, &task, 100);
	wanted.next_trigger_time = 200;
	wanted.last_trigger_time = 100;
	wanted.exhausted = true;
	OK(task_get, task.id, false, &out);
	ASSERT_SAME(ax_task_row, wanted, out);
	task.last_run_gid = wanted.last_run_gid = 5;
	task.last_run_status = wanted.last_run_status = AX_RUN_FAILED;
	task.last_run_end_time = wanted.last_run_end_time = 300;
	task.absence_time = wanted.absence_time = 200;
	task.durations = wanted.durations = "0102";
	OK(task_last_run, &task);
	OK(task_get, task.id, false, &out);
	ASSERT_SAME(ax_task_row, wanted, out);
	task.id = 99;
	GIVES(AX_NOT_FOUND, task_last_run, &task);
	GIVES(AX_NOT_FOUND, task_advance, &task, 200);
}

TX_TEST(test_tasks_page)
{
	static const char *const names[] = { "Report daily", "report_weekly", "clean", "100%", "Bericht \xc3\x84" };
	struct ax_tasks page;
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		struct ax_task task = plain_task(i % 2 == 0 ? "even" : "odd", names[i]);
		task.status = i == 2 ? AX_TASK_PAUSED : AX_TASK_ENABLED;
		task.def.task_type = i == 3 ? AX_TASK_EVENT : AX_TASK_SCHEDULED;
		OK(task_insert, &task, &task.id);
		assert_int_equal(task.id, i + 1);
	}
	struct ax_task_filter all = { .status = -1, .limit = 100 }, f = all;
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 1, 2, 3, 4, 5);
	f.limit = 2;
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 1, 2);
	f.after_id = 2;
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 3, 4);
	f.after_id = 5;
	OK(tasks_page, &f, &page);
	assert_int_equal(page.n, 0);
	f = all;
	f.group_key = "odd";
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 2, 4);
	f.task_name = "100%";
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 4);
	f.after_id = 4;
	OK(tasks_page, &f, &page);
	assert_int_equal(page.n, 0);
	f = all;
	f.task_name = "clean";
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 3);
	f = all;
	f.q = "REPORT";
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 1, 2);
	f.q = "%";
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 4);
	f.q = "_";
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 2);
	f.q = "\xc3\x84";
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 5);
	f.q = "\xc3\xa4"; /* only ASCII folds */
	OK(tasks_page, &f, &page);
	assert_int_equal(page.n, 0);
	f.q = "";
	OK(tasks_page, &f, &page);
	assert_int_equal(page.n, 5);
	f = all;
	f.status = AX_TASK_PAUSED;
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 3);
	f = all;
	f.task_type = AX_TASK_EVENT;
	OK(tasks_page, &f, &page);
	ASSERT_IDS(page, 4);
	f = all;
	f.limit = 0;
	OK(tasks_page, &f, &page);
	assert_int_equal(page.n, 0);
}

TX_TEST(test_tasks_due)
{
	static const struct {
		enum ax_task_status status;
		int64_t next;
	} rows[] = { { AX_TASK_ENABLED, 300 }, { AX_TASK_ENABLED, 100 }, { AX_TASK_ENABLED, 0 }, { AX_TASK_PAUSED, 50 },
		{ AX_TASK_CREATED, 60 }, { AX_TASK_ENABLED, 100 }, { AX_TASK_ENABLED, 301 } };
	struct ax_tasks due;
	int64_t next = -1;
	OK(task_next_due, &next);
	assert_int_equal(next, 0);
	for (size_t i = 0; i < AX_COUNT(rows); i++) {
		struct ax_task task = plain_task("g", (const char *[]){ "1", "2", "3", "4", "5", "6", "7" }[i]);
		task.status = rows[i].status;
		task.next_trigger_time = rows[i].next;
		OK(task_insert, &task, &task.id);
	}
	OK(task_next_due, &next);
	assert_int_equal(next, 100);
	OK(tasks_due, 300, 100, &due);
	ASSERT_IDS(due, 2, 6, 1);
	OK(tasks_due, 300, 2, &due);
	ASSERT_IDS(due, 2, 6);
	OK(tasks_due, 99, 2, &due);
	assert_int_equal(due.n, 0);
	struct ax_dues dues;
	OK(tasks_ahead, 0, 0, 300, 100, &dues);
	assert_int_equal(dues.n, 3);
	ASSERT_DUE(dues.at[0], 100, 2, "g", 5);
	ASSERT_DUE(dues.at[2], 300, 1, "g", 5);
	OK(tasks_ahead, 100, 2, 300, 1, &dues);
	assert_int_equal(dues.n, 1);
	ASSERT_DUE(dues.at[0], 100, 6, "g", 5);
	OK(tasks_ahead, 100, 6, 299, 100, &dues);
	assert_int_equal(dues.n, 0);
	OK(tasks_due, 300, 0, &due);
	assert_int_equal(due.n, 0);
	OK(tasks_due, 300, -1, &due);
	assert_int_equal(due.n, 0);
}

TX_TEST(test_task_counts)
{
	int64_t n[32];
	OK(task_counts, n);
	assert_int_equal(n[AX_TASK_CREATED] + n[AX_TASK_ENABLED] + n[AX_TASK_PAUSED] + n[AX_TASK_DELETING], 0);
	for (int i = 0; i < 10; i++) {
		struct ax_task task =
			plain_task("g", (const char *[]){ "1", "2", "3", "4", "5", "6", "7", "8", "9", "10" }[i]);
		int64_t id;
		task.status = i == 0 ? AX_TASK_CREATED
			: i < 3      ? AX_TASK_ENABLED
			: i < 6      ? AX_TASK_PAUSED
				     : AX_TASK_DELETING;
		OK(task_insert, &task, &id);
	}
	OK(task_counts, n);
	assert_int_equal(n[AX_TASK_CREATED], 1);
	assert_int_equal(n[AX_TASK_ENABLED], 2);
	assert_int_equal(n[AX_TASK_PAUSED], 3);
	assert_int_equal(n[AX_TASK_DELETING], 4);
}

TX_TEST(test_tasks_stuck)
{
	struct ax_tasks stuck;
	int64_t ids[6];
	for (int i = 0; i < 6; i++) {
		struct ax_task task = plain_task("g", (const char *[]){ "1", "2", "3", "4", "5", "6" }[i]);
		task.next_trigger_time = i == 1 ? 5 : 0;
		task.exhausted = i == 2;
		task.status = i == 3 ? AX_TASK_PAUSED : AX_TASK_ENABLED;
		task.def.task_type = i == 4 ? AX_TASK_DELAY : AX_TASK_SCHEDULED;
		OK(task_insert, &task, &ids[i]);
	}
	OK(tasks_stuck, 10, &stuck);
	ASSERT_IDS(stuck, ids[0], ids[5]);
	OK(tasks_stuck, 1, &stuck);
	ASSERT_IDS(stuck, ids[0]);
	struct ax_run run = plain_run(10, ids[0]);
	OK(run_insert, &run);
	OK(tasks_stuck, 10, &stuck);
	ASSERT_IDS(stuck, ids[5]);
	run.status = AX_RUN_SUCCESS;
	OK(run_update, &run, 0);
	OK(tasks_stuck, 10, &stuck);
	ASSERT_IDS(stuck, ids[0], ids[5]);
}

TX_TEST(test_tasks_ending)
{
	struct ax_tasks ending;
	struct ax_task task;
	int64_t ids[4];
	for (int i = 0; i < 4; i++) {
		task = plain_task("g", (const char *[]){ "1", "2", "3", "4" }[i]);
		task.ending = i == 1 || i == 3;
		OK(task_insert, &task, &ids[i]);
	}
	OK(tasks_ending, 10, &ending);
	ASSERT_IDS(ending, ids[1], ids[3]);
	OK(tasks_ending, 1, &ending);
	ASSERT_IDS(ending, ids[1]);
	OK(task_get, ids[1], true, &task);
	assert_true(task.ending);
	task.ending = false;
	OK(task_update, &task, task.version, task.next_trigger_time);
	OK(tasks_ending, 10, &ending);
	ASSERT_IDS(ending, ids[3]);
}

TX_TEST(test_versions_and_epochs_are_paged)
{
	struct ax_task_versions versions;
	struct ax_epochs epochs;
	struct ax_task_version v;
	fill_row(&ax_task_version_row, tx->arena, 1, &v);
	for (int i = 1; i <= 4; i++) {
		v.task_id = i == 4 ? 8 : 7;
		v.version = i;
		OK(task_version_insert, &v);
		struct ax_epoch epoch;
		fill_row(&ax_epoch_row, tx->arena, i, &epoch);
		epoch.task_id = i == 2 ? 8 : 7;
		OK(epoch_append, &epoch);
	}
	GIVES(AX_EXISTS, task_version_insert, &v);
	assert_string_equal(err->field, "version");
	GIVES(AX_NOT_FOUND, task_version_get, 7, 4, &v);
	OK(task_versions, 7, 0, 10, &versions);
	assert_int_equal(versions.n, 3);
	assert_int_equal(versions.at[0].version, 3);
	assert_int_equal(versions.at[2].version, 1);
	OK(task_versions, 7, 3, 1, &versions);
	assert_int_equal(versions.n, 1);
	assert_int_equal(versions.at[0].version, 2);
	OK(epochs, 7, 0, 10, &epochs);
	ASSERT_IDS(epochs, 1, 3, 4);
	OK(epochs, 7, 1, 1, &epochs);
	ASSERT_IDS(epochs, 3);
	OK(epochs, 0, 1, 10, &epochs);
	ASSERT_IDS(epochs, 2, 3, 4);
	OK(epochs, 9, 0, 10, &epochs);
	assert_int_equal(epochs.n, 0);
}

/* runs */

TX_TEST(test_one_fire_one_run)
{
	struct ax_run run = plain_run(10, 1), out;
	run.fire_key = "k";
	OK(run_insert, &run);
	run.gid = 11;
	GIVES(AX_EXISTS, run_insert, &run);
	assert_string_equal(err->field, "fire_key");
	run.gid = 10;
	run.fire_key = "other";
	GIVES(AX_EXISTS, run_insert, &run);
	assert_string_equal(err->field, "gid");
	run = plain_run(12, 2); /* the transaction goes on; each part of the key counts */
	run.fire_key = "k";
	OK(run_insert, &run);
	run.gid = 13;
	run.task_id = 1;
	run.kind = AX_KIND_EVENT;
	OK(run_insert, &run);
	run.gid = 14;
	run.kind = AX_KIND_SCHEDULE;
	run.shard = 1;
	OK(run_insert, &run);
	run.gid = 15;
	run.shard = 0;
	run.fire_key = "K";
	OK(run_insert, &run);
	OK(run_find, 1, AX_KIND_SCHEDULE, "k", 1, &out);
	assert_int_equal(out.gid, 14);
	GIVES(AX_NOT_FOUND, run_find, 1, AX_KIND_SCHEDULE, "k", 2, &out);
	GIVES(AX_NOT_FOUND, run_get, 11, false, &out);
}

TX_TEST(test_run_update)
{
	static const char *const kept[] = { "gid", "task_id", "kind", "fire_key", "shard", "spread", "parent",
		"failed_only", "group_key", "batch", "trigger_time", "create_time", "rank", "priority", "params",
		"trace_id", "rerun_of", "made_up", "backfill_id", "must_end_time", "lane", "demand", NULL };
	struct ax_run old = plain_run(10, 1), new, wanted, out;
	old.rev = 6;
	OK(run_insert, &old);
	fill_row(&ax_run_row, tx->arena, 3, &new);
	new.gid = 10;
	GIVES(AX_CONFLICT, run_update, &new, 5);
	GIVES(AX_CONFLICT, run_update, &new, 7);
	OK(run_get, 10, true, &out);
	ASSERT_SAME(ax_run_row, old, out);
	OK(run_update, &new, 6);
	mix(&ax_run_row, &old, &new, kept, &wanted);
	wanted.rev = 7;
	OK(run_get, 10, true, &out);
	ASSERT_SAME(ax_run_row, wanted, out);
	OK(run_find, 1, AX_KIND_SCHEDULE, old.fire_key, 0, &out);
	GIVES(AX_CONFLICT, run_update, &new, 6);
	new.gid = 11;
	GIVES(AX_NOT_FOUND, run_update, &new, 6);
}

struct change {
	struct ax_run run;
	int64_t old_rev;
};

static enum ax_status insert_and_change(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct change *change = arg;
	struct ax_run run = plain_run(10, 1);
	run.status = AX_RUN_SUCCESS;
	run.fence = 2;
	enum ax_status status = tx->ops->run_insert(tx, &run, err);
	return status == AX_OK ? tx->ops->run_update(tx, &change->run, change->old_rev, err) : status;
}

static void test_a_terminal_run_never_changes(void **state)
{
	struct fixture *f = *state;
	struct change change = { .run = plain_run(10, 1) };
	change.run.fence = 2;
	for (int status = AX_RUN_PENDING; status <= AX_RUN_MISSED; status++) {
		if (status == AX_RUN_SUCCESS || (status > AX_RUN_RETRYING && status < AX_RUN_SUCCESS))
			continue;
		change.run.status = (enum ax_run_state)status;
		expect_end(f, AX_BROKEN, insert_and_change, &change);
	}
	change.run.status = AX_RUN_SUCCESS;
	change.run.fence = 3;
	expect_end(f, AX_BROKEN, insert_and_change, &change);
	change.old_rev = 1; /* a stale writer hears that first */
	expect_end(f, AX_CONFLICT, insert_and_change, &change);
	change.old_rev = 0;
	change.run.fence = 2;
	change.run.result_msg = "what does not touch the outcome may be written";
	expect_end(f, AX_OK, insert_and_change, &change);
}

TX_TEST(test_run_renew)
{
	struct ax_run run = plain_run(10, 1), out;
	run.fence = 2;
	run.status = AX_RUN_WAITING;
	OK(run_insert, &run);
	GIVES(AX_NOT_FOUND, run_renew, 11, 2, 100, 200);
	GIVES(AX_CONFLICT, run_renew, 10, 2, 100, 200); /* not given out */
	static const enum ax_run_state given_out[] = { AX_RUN_DISPATCHED, AX_RUN_RUNNING };
	int64_t rev = 0;
	for (size_t i = 0; i < AX_COUNT(given_out); i++) {
		run.status = given_out[i];
		OK(run_update, &run, rev++);
		GIVES(AX_CONFLICT, run_renew, 10, 1, 100, 200); /* an older fence */
		OK(run_renew, 10, 2, 100 + rev, 200 + rev);
		OK(run_get, 10, false, &out);
		assert_int_equal(out.heartbeat_time, 100 + rev);
		assert_int_equal(out.deadline_time, 200 + rev);
		assert_int_equal(out.status, given_out[i]);
		assert_int_equal(out.rev, ++rev);
	}
	run.status = AX_RUN_SUCCESS;
	OK(run_update, &run, rev);
	GIVES(AX_CONFLICT, run_renew, 10, 2, 100, 200);
}

/* One run of task 1 in each state: gid = 10 + state. */
static void insert_all_states(struct ax_tx *tx, struct ax_err *err)
{
#define AX_RUN_STATE(name, number, text) number,
	static const int states[] = { AX_RUN_STATES(AX_RUN_STATE) };
#undef AX_RUN_STATE
	for (size_t i = AX_COUNT(states); i-- > 0;) {
		struct ax_run run = plain_run(10 + states[i], 1);
		run.status = (enum ax_run_state)states[i];
		run.deadline_time = 1000 - run.gid;
		run.end_time = ax_run_is_terminal(run.status) ? 5000 + run.gid : 0;
		run.worker = "w";
		OK(run_insert, &run);
	}
}

TX_TEST(test_lists_of_a_task)
{
	struct ax_runs runs;
	insert_all_states(tx, err);
	struct ax_run run = plain_run(5, 1);
	run.hold = AX_HOLD_OVERLAP;
	OK(run_insert, &run);
	run = plain_run(6, 1);
	run.hold = AX_HOLD_PAUSED;
	OK(run_insert, &run);
	run = plain_run(7, 2);
	run.hold = AX_HOLD_OVERLAP;
	OK(run_insert, &run);
	OK(runs_live, 1, true, 100, &runs);
	ASSERT_GIDS(runs, 6, 11, 12, 13, 14);
	OK(runs_live, 1, false, 2, &runs);
	ASSERT_GIDS(runs, 6, 11);
	OK(runs_live, 3, false, 2, &runs);
	assert_int_equal(runs.n, 0);
	int64_t live;
	OK(runs_live_count, 1, 100, &live);
	assert_int_equal(live, 5);
	OK(runs_live_count, 1, 2, &live);
	assert_int_equal(live, 2);
	OK(runs_live_count, 2, 100, &live);
	assert_int_equal(live, 0);
	OK(runs_live_count, 3, 100, &live);
	assert_int_equal(live, 0);
	OK(runs_held, 1, 100, &runs);
	ASSERT_GIDS(runs, 5);
	/* a page of what is live has all of them */
	const struct ax_run_filter unended = { .task_id = 1, .live = true, .limit = 100, .scan_limit = 100 };
	int64_t rest;
	OK(runs_page, &unended, &runs, &rest);
	ASSERT_GIDS(runs, 14, 13, 12, 11, 10, 6, 5);
	OK(runs_pending, 1, 100, &runs);
	ASSERT_GIDS(runs, 10);
	OK(runs_pending, 1, 0, &runs);
	assert_int_equal(runs.n, 0);
	OK(runs_held, 1, 100, &runs);
	ASSERT_GIDS(runs, 5);
}

TX_TEST(test_runs_are_claimed_by_rank)
{
	static const struct {
		int64_t rank;
		const char *group, *executor;
		enum ax_hold hold;
		enum ax_run_state status;
	} rows[] = {
		{ 300, "g", "x", AX_HOLD_NONE, AX_RUN_WAITING },   /* 1 */
		{ -100, "g", "x", AX_HOLD_NONE, AX_RUN_WAITING },  /* 2 */
		{ 300, "g", "x", AX_HOLD_NONE, AX_RUN_WAITING },   /* 3 */
		{ 1, "g", "x", AX_HOLD_PAUSED, AX_RUN_WAITING },   /* 4 */
		{ 1, "g", "y", AX_HOLD_NONE, AX_RUN_WAITING },     /* 5 */
		{ 1, "h", "x", AX_HOLD_NONE, AX_RUN_WAITING },     /* 6 */
		{ 1, "g", "x", AX_HOLD_NONE, AX_RUN_PENDING },     /* 7 */
		{ 1, "g", "x", AX_HOLD_NONE, AX_RUN_DISPATCHED },  /* 8 */
		{ 200, "g", "x", AX_HOLD_NONE, AX_RUN_WAITING },   /* 9 */
		{ 1, "g", "xx", AX_HOLD_OVERLAP, AX_RUN_WAITING }, /* 10 */
		{ 1, "gg", "x", AX_HOLD_NONE, AX_RUN_WAITING },    /* 11 */
	};
	struct ax_runs runs;
	int64_t n;
	for (size_t i = 0; i < AX_COUNT(rows); i++) {
		struct ax_run run = plain_run((int64_t)i + 1, 1);
		run.rank = rows[i].rank;
		run.group_key = rows[i].group;
		run.executor_key = rows[i].executor;
		run.hold = rows[i].hold;
		run.status = rows[i].status;
		OK(run_insert, &run);
	}
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "", INT64_MIN, 0, 100, &runs);
	ASSERT_GIDS(runs, 2, 9, 1, 3);
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "", INT64_MIN, 0, 3, &runs);
	ASSERT_GIDS(runs, 2, 9, 1);
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "", 200, 9, 3, &runs);
	ASSERT_GIDS(runs, 1, 3);
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "", 300, 1, 3, &runs);
	ASSERT_GIDS(runs, 3);
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "", 300, INT64_MAX, 3, &runs);
	assert_int_equal(runs.n, 0);
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "", INT64_MIN, 0, 0, &runs);
	assert_int_equal(runs.n, 0);
	OK(runs_claimable, "g", "x", AX_RUN_LANE_LONG, "", INT64_MIN, 0, 10, &runs);
	assert_int_equal(runs.n, 0);
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "{}", INT64_MIN, 0, 10, &runs);
	assert_int_equal(runs.n, 0);
	OK(runs_claimable, "g", "z", AX_RUN_LANE_SHORT, "", INT64_MIN, 0, 10, &runs);
	assert_int_equal(runs.n, 0);
	OK(group_waiting, "g", &n);
	assert_int_equal(n, 7);
	OK(group_waiting, "none", &n);
	assert_int_equal(n, 0);
	struct ax_run run;
	OK(run_get, 2, true, &run);
	run.status = AX_RUN_DISPATCHED;
	OK(run_update, &run, 0);
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "", INT64_MIN, 0, 1, &runs);
	ASSERT_GIDS(runs, 9);
}

TX_TEST(test_each_executor_lane_and_demand_has_its_queue)
{
	static const struct {
		int64_t rank;
		const char *group, *executor;
		enum ax_run_lane lane;
		const char *demand;
		enum ax_hold hold;
	} rows[] = {
		{ 10, "g", "x", AX_RUN_LANE_LONG, "", AX_HOLD_NONE },               /* 1 */
		{ 20, "g", "x", AX_RUN_LANE_SHORT, "{\"a\":\"1\"}", AX_HOLD_NONE }, /* 2 */
		{ 30, "g", "x", AX_RUN_LANE_SHORT, "", AX_HOLD_NONE },              /* 3 */
		{ 5, "g", "x", AX_RUN_LANE_SHORT, "", AX_HOLD_NONE },               /* 4 */
		{ 1, "g", "a", AX_RUN_LANE_LONG, "{}", AX_HOLD_NONE },              /* 5 */
		{ 1, "g", "z", AX_RUN_LANE_SHORT, "", AX_HOLD_PAUSED },             /* 6 */
		{ 1, "h", "x", AX_RUN_LANE_SHORT, "", AX_HOLD_NONE },               /* 7 */
	};
	static const int64_t heads[] = { 5, 4, 2, 1 };
	for (size_t i = 0; i < AX_COUNT(rows); i++) {
		struct ax_run run = plain_run((int64_t)i + 1, 1);
		run.rank = rows[i].rank;
		run.group_key = rows[i].group;
		run.executor_key = rows[i].executor;
		run.lane = rows[i].lane;
		run.demand = rows[i].demand;
		run.hold = rows[i].hold;
		OK(run_insert, &run);
	}
	struct ax_run head = { .executor_key = "", .demand = "" };
	for (size_t i = 0; i < AX_COUNT(heads); i++) {
		OK(run_next_queue, "g", head.executor_key, head.lane, head.demand, &head);
		assert_int_equal(head.gid, heads[i]);
	}
	GIVES(AX_NOT_FOUND, run_next_queue, "g", head.executor_key, head.lane, head.demand, &head);
	GIVES(AX_NOT_FOUND, run_next_queue, "none", "", AX_RUN_LANE_AUTO, "", &head);
}

TX_TEST(test_overdue_runs)
{
	struct ax_runs runs;
	struct ax_run run;
	int64_t next = -1;
	OK(run_next_deadline, &next);
	assert_int_equal(next, 0);
	insert_all_states(tx, err); /* live ones have deadlines 990, 989, … 986 */
	run = plain_run(9, 1);
	run.deadline_time = 0;
	OK(run_insert, &run);
	run = plain_run(8, 1);
	run.deadline_time = 988;
	OK(run_insert, &run);
	OK(run_next_deadline, &next);
	assert_int_equal(next, 986);
	OK(runs_overdue, 989, 989, 100, &runs);
	ASSERT_GIDS(runs, 14, 13, 8, 12, 11);
	OK(runs_overdue, 989, 989, 2, &runs);
	ASSERT_GIDS(runs, 14, 13);
	OK(runs_overdue, 985, 985, 2, &runs);
	assert_int_equal(runs.n, 0);
	/* 14 is RETRYING, 10 PENDING */
	OK(runs_overdue, 990, 985, 100, &runs);
	ASSERT_GIDS(runs, 13, 8, 12, 11);
	OK(runs_overdue, 990, 986, 2, &runs);
	ASSERT_GIDS(runs, 14, 13);
}

TX_TEST(test_runs_ahead)
{
	struct ax_dues dues;
	insert_all_states(tx, err);
	struct ax_run run = plain_run(9, 1);
	run.status = AX_RUN_PENDING;
	run.deadline_time = 0;
	OK(run_insert, &run);
	run = plain_run(8, 1);
	run.status = AX_RUN_PENDING;
	run.group_key = "h";
	run.priority = 9;
	run.deadline_time = 986;
	OK(run_insert, &run);
	OK(runs_ahead, 0, 0, 990, 100, &dues);
	assert_int_equal(dues.n, 3);
	ASSERT_DUE(dues.at[0], 986, 8, "h", 9);
	ASSERT_DUE(dues.at[1], 986, 14, "g", 0);
	ASSERT_DUE(dues.at[2], 990, 10, "g", 0);
	OK(runs_ahead, 986, 8, 989, 100, &dues);
	assert_int_equal(dues.n, 1);
	ASSERT_DUE(dues.at[0], 986, 14, "g", 0);
	OK(runs_ahead, 986, 14, 989, 100, &dues);
	assert_int_equal(dues.n, 0);
	OK(runs_ahead, 0, 0, 990, 1, &dues);
	assert_int_equal(dues.n, 1);
	OK(runs_ahead, 0, 0, 990, 0, &dues);
	assert_int_equal(dues.n, 0);
}

TX_TEST(test_rows_by_id)
{
	struct ax_runs runs;
	struct ax_tasks tasks;
	int64_t many[45];
	insert_all_states(tx, err);
	for (int i = 0; i < 45; i++) {
		struct ax_task task = plain_task("g", ax_sprintf(tx->arena, "t%d", i));
		task.status = (enum ax_task_status)(i % 3);
		OK(task_insert, &task, &many[i]);
	}
	OK(tasks_by_id, &(struct ax_ids){ many, 45 }, &tasks);
	assert_int_equal(tasks.n, 45);
	for (int i = 0; i < 45; i++)
		assert_int_equal(tasks.at[i].id, many[i]);
	OK(tasks_by_id, &(struct ax_ids){ many + 40, 1 }, &tasks);
	ASSERT_IDS(tasks, many[40]);
	OK(tasks_by_id, &(struct ax_ids){ many, 0 }, &tasks);
	assert_int_equal(tasks.n, 0);
	OK(task_delete, many[1]);
	OK(tasks_by_id, &(struct ax_ids){ many, 3 }, &tasks);
	ASSERT_IDS(tasks, many[0], many[2]);
	OK(runs_by_gid, &(struct ax_ids){ (const int64_t[]){ 10, 11, 17, 20 }, 4 }, &runs);
	ASSERT_GIDS(runs, 10, 11, 20);
	assert_int_equal(runs.at[0].status, AX_RUN_PENDING);
}

TX_TEST(test_store_id)
{
	int64_t id = 0, again = 0;
	OK(store_id, &id);
	OK(store_id, &again);
	assert_true(id > 0 && id == again);
}

TX_TEST(test_run_set_due)
{
	struct ax_run run = plain_run(1, 1), out, wanted;
	run.status = AX_RUN_PENDING;
	run.params = "1";
	run.rev = 4;
	OK(run_insert, &run);
	wanted = run;
	run.trigger_time = run.deadline_time = 500;
	run.rank = 499;
	run.params = "2";
	run.must_end_time = 600;
	run.watch_time = 600;
	run.reason = "not written";
	GIVES(AX_CONFLICT, run_set_due, &run, 3);
	OK(run_set_due, &run, 4);
	wanted.trigger_time = wanted.deadline_time = 500;
	wanted.rank = 499;
	wanted.params = "2";
	wanted.must_end_time = wanted.watch_time = 600;
	wanted.rev = 5;
	OK(run_get, 1, false, &out);
	ASSERT_SAME(ax_run_row, wanted, out);
	out.status = AX_RUN_WAITING;
	OK(run_update, &out, 5);
	GIVES(AX_CONFLICT, run_set_due, &run, 6); /* due already */
	run.gid = 2;
	GIVES(AX_NOT_FOUND, run_set_due, &run, 0);
}

TX_TEST(test_runs_watched)
{
	static const enum ax_run_state states[] = { AX_RUN_WAITING, AX_RUN_RUNNING, AX_RUN_SUCCESS, AX_RUN_PENDING };
	struct ax_runs runs;
	for (int i = 0; i < 4; i++) {
		struct ax_run run = plain_run(1 + i, 1);
		run.status = states[i];
		run.watch_time = i == 0 ? 0 : 500 - i;
		OK(run_insert, &run);
	}
	OK(runs_watched, 499, 10, &runs);
	ASSERT_GIDS(runs, 4, 2);
	OK(runs_watched, 497, 10, &runs);
	ASSERT_GIDS(runs, 4);
	OK(runs_watched, 499, 1, &runs);
	ASSERT_GIDS(runs, 4);
	OK(runs_watched, 496, 10, &runs);
	assert_int_equal(runs.n, 0);
}

TX_TEST(test_runs_of_a_worker)
{
	struct ax_runs runs;
	insert_all_states(tx, err);
	for (int i = 1; i <= 4; i++) {
		struct ax_run run = plain_run(i, 2);
		run.status = AX_RUN_RUNNING;
		run.worker = i == 4 ? "ww" : "w";
		run.cancel = i == 2 || i == 4 ? AX_CANCEL_ASKED : i == 3 ? AX_CANCEL_STOPPING : AX_CANCEL_NONE;
		run.group_key = i == 1 ? "h" : "g";
		OK(run_insert, &run);
	}
	OK(runs_of_worker, "w", 100, &runs);
	ASSERT_GIDS(runs, 1, 2, 3, 12, 13);
	OK(runs_of_worker, "w", 2, &runs);
	ASSERT_GIDS(runs, 1, 2);
	OK(runs_to_stop, NAMES("w"), 100, &runs);
	ASSERT_GIDS(runs, 2);
	OK(runs_to_stop, NAMES("none", "w", "ww"), 100, &runs); /* by worker */
	ASSERT_GIDS(runs, 2, 4);
	OK(runs_to_stop, NAMES("w", "ww"), 1, &runs);
	ASSERT_GIDS(runs, 2);
	OK(runs_to_stop, NAMES("none"), 100, &runs);
	assert_int_equal(runs.n, 0);
	OK(runs_to_stop, &(struct ax_names){ NULL, 0 }, 100, &runs);
	assert_int_equal(runs.n, 0);
}

static void assert_given(const struct ax_worker_group *row, const char *worker, int64_t given, int64_t given_long)
{
	struct ax_worker_group wanted = {
		.worker = worker, .group_key = "g", .given = given, .given_long = given_long
	};
	ASSERT_SAME(ax_worker_group_row, wanted, *row);
}

TX_TEST(test_what_is_given_in_a_group)
{
	static const char *const workers[] = { "w", "w", "W", "w", "ww", "", "w" };
	struct ax_worker_groups given;
	insert_all_states(tx, err); /* two of them with w */
	for (int i = 0; i < 7; i++) {
		struct ax_run run = plain_run(i + 1, 2);
		run.status = i == 3 ? AX_RUN_DISPATCHED : i == 6 ? AX_RUN_RETRYING : AX_RUN_RUNNING;
		run.worker = workers[i];
		run.lane = i % 2 == 1 ? AX_RUN_LANE_LONG : AX_RUN_LANE_SHORT;
		run.group_key = i == 0 ? "h" : "g";
		OK(run_insert, &run);
	}
	OK(group_given, "g", &given);
	assert_int_equal(given.n, 3);
	assert_given(&given.at[0], "W", 1, 0);
	assert_given(&given.at[1], "w", 4, 2);
	assert_given(&given.at[2], "ww", 1, 0);
	OK(group_given, "h", &given);
	assert_int_equal(given.n, 1);
	OK(group_given, "none", &given);
	assert_int_equal(given.n, 0);
}

TX_TEST(test_run_counts)
{
	int64_t live[32], ended[32];
	insert_all_states(tx, err); /* ended ones at 5000 + gid */
	OK(live_counts, live);
	OK(ended_counts, 5000 + 10 + AX_RUN_TIMEOUT, 5000 + 10 + AX_RUN_MISSED, ended);
	for (int state = 0; state < 32; state++) {
		assert_int_equal(live[state], state <= AX_RUN_RETRYING ? 1 : 0);
		assert_int_equal(ended[state], state >= AX_RUN_TIMEOUT && state < AX_RUN_MISSED ? 1 : 0);
	}
	OK(ended_counts, INT64_MIN, INT64_MAX, ended);
	for (int state = 0; state < 32; state++)
		assert_int_equal(ended[state], state >= AX_RUN_SUCCESS && state <= AX_RUN_MISSED ? 1 : 0);
}

TX_TEST(test_ended_minutes)
{
	struct ax_ended_minutes rows;
	struct ax_ended_minute row = { .success = 1, .failed = 2, .timeout = 3, .cancelled = 4, .blocked = 5 };
	for (row.minute = 10; row.minute < 15; row.minute++)
		OK(ended_minute_put, &row);
	row = (struct ax_ended_minute){ .minute = 12, .skipped = 6, .missed = 7 };
	OK(ended_minute_put, &row);
	OK(ended_minutes, 12, 2, &rows);
	assert_int_equal(rows.n, 2);
	ASSERT_SAME(ax_ended_minute_row, row, rows.at[0]);
	assert_int_equal(rows.at[1].minute, 13);
	assert_int_equal(rows.at[1].failed, 2);
	OK(ended_minutes_cut, 13);
	OK(ended_minutes, 0, 100, &rows);
	assert_int_equal(rows.n, 2);
	OK(ended_minutes, 15, 100, &rows);
	assert_int_equal(rows.n, 0);
}

/* Run 10 of task 1 with shards 11 … 14: SUCCESS, WAITING, RUNNING, FAILED; a parent 20 that waits. All with deadline
 * 1000 - gid. */
static void insert_shards(struct ax_tx *tx, struct ax_err *err)
{
	static const enum ax_run_state states[] = { AX_RUN_RUNNING, AX_RUN_SUCCESS, AX_RUN_WAITING, AX_RUN_RUNNING,
		AX_RUN_FAILED };
	for (int i = 0; i < (int)AX_COUNT(states); i++) {
		struct ax_run run = plain_run(10 + i, 1);
		run.fire_key = "k";
		run.spread = AX_SPREAD_SHARDS;
		run.shard = i;
		run.parent = i == 0 ? 0 : 10;
		run.status = states[i];
		run.worker = i == 3 ? "w" : "";
		run.deadline_time = 1000 - run.gid;
		run.end_time = ax_run_is_terminal(run.status) ? 5000 + run.gid : 0;
		OK(run_insert, &run);
	}
	struct ax_run parent = plain_run(20, 1);
	parent.spread = AX_SPREAD_SHARDS;
	parent.deadline_time = 1000 - parent.gid;
	OK(run_insert, &parent);
}

TX_TEST(test_shards)
{
	struct ax_runs runs;
	int64_t n[32];
	insert_shards(tx, err);
	OK(shards, 10, false, true, 0, 100, &runs);
	ASSERT_GIDS(runs, 11, 12, 13, 14);
	OK(shards, 10, false, true, 11, 2, &runs);
	ASSERT_GIDS(runs, 12, 13);
	OK(shards, 10, true, true, 0, 100, &runs);
	ASSERT_GIDS(runs, 12, 13);
	OK(shards, 10, true, true, 12, 100, &runs);
	ASSERT_GIDS(runs, 13);
	OK(shards, 20, false, true, 0, 100, &runs);
	assert_int_equal(runs.n, 0);
	OK(shard_counts, 10, n);
	for (int state = 0; state < 32; state++)
		assert_int_equal(n[state],
			state == AX_RUN_SUCCESS || state == AX_RUN_FAILED || state == AX_RUN_WAITING ||
				state == AX_RUN_RUNNING);
	OK(shard_counts, 11, n);
	for (int state = 0; state < 32; state++)
		assert_int_equal(n[state], 0);
	OK(runs_looked, 980, 100, &runs);
	ASSERT_GIDS(runs, 12, 20);
	OK(runs_looked, 981, 100, &runs);
	ASSERT_GIDS(runs, 12);
	OK(runs_looked, 989, 100, &runs);
	assert_int_equal(runs.n, 0);
}

TX_TEST(test_what_sees_no_shards)
{
	struct ax_runs runs;
	struct ax_worker_groups given;
	struct ax_run run;
	int64_t n[32], live;
	int deleted;
	insert_shards(tx, err);
	OK(runs_live, 1, true, 100, &runs);
	ASSERT_GIDS(runs, 10, 20);
	OK(runs_live_count, 1, 100, &live);
	assert_int_equal(live, 2);
	OK(runs_fired, 1, 0, 1, 0, 100, &runs);
	ASSERT_GIDS(runs, 10, 20);
	OK(live_counts, n);
	assert_int_equal(n[AX_RUN_WAITING], 1);
	assert_int_equal(n[AX_RUN_RUNNING], 1);
	OK(ended_counts, 0, INT64_MAX, n);
	assert_int_equal(n[AX_RUN_SUCCESS] + n[AX_RUN_FAILED], 0);
	OK(runs_purge, 9000, 100, &deleted); /* shards wait for their parent */
	assert_int_equal(deleted, 0);
	/* what does see them: claims, deadlines, workers, and the counters of the group, which have no parents */
	OK(runs_overdue, 990, 990, 100, &runs);
	ASSERT_GIDS(runs, 20, 13, 12, 10);
	OK(runs_of_worker, "w", 100, &runs);
	ASSERT_GIDS(runs, 13);
	OK(group_given, "g", &given);
	assert_int_equal(given.n, 1);
	assert_int_equal(given.at[0].given, 1);
	OK(group_waiting, "g", &live);
	assert_int_equal(live, 2);
	OK(run_find, 1, AX_KIND_SCHEDULE, "k", 3, &run);
	assert_int_equal(run.gid, 13);
}

TX_TEST(test_shards_are_purged_with_their_parent)
{
	struct ax_attempt attempt = { .gid = 12, .fence = 1, .worker = "w", .message = "", .late_message = "" };
	struct ax_attempts attempts;
	struct ax_run run;
	int deleted;
	insert_shards(tx, err);
	OK(attempt_put, &attempt);
	OK(run_get, 10, true, &run);
	run.status = AX_RUN_FAILED;
	run.end_time = 6000;
	OK(run_update, &run, run.rev);
	OK(runs_purge, 6000, 100, &deleted);
	assert_int_equal(deleted, 0);
	OK(runs_purge, 6001, 1, &deleted); /* whole, whatever the limit */
	assert_int_equal(deleted, 5);
	for (int64_t gid = 10; gid <= 14; gid++)
		GIVES(AX_NOT_FOUND, run_get, gid, false, &run);
	OK(attempts, 12, &attempts);
	assert_int_equal(attempts.n, 0);
	OK(run_get, 20, false, &run);
}

static const struct ax_run_filter any_run = { .limit = 1000, .scan_limit = 1000 };

TX_TEST(test_run_filters)
{
	struct ax_runs runs;
	int64_t before;
	for (int i = 1; i <= 8; i++) {
		struct ax_run run = plain_run(i, 1 + i % 2);
		run.group_key = i <= 4 ? "g" : "h";
		run.worker = i % 3 == 0 ? "w" : "";
		run.status = i <= 2 ? AX_RUN_RUNNING
			: i <= 5    ? AX_RUN_SUCCESS
			: i <= 7    ? AX_RUN_FAILED
				    : AX_RUN_PENDING;
		run.kind = i == 7 ? AX_KIND_EVENT : AX_KIND_SCHEDULE;
		run.trigger_time = i * 100;
		OK(run_insert, &run);
	}
#define PAGE(...)                                                                                                      \
	do {                                                                                                           \
		OK(runs_page, &f, &runs, &before);                                                                     \
		ASSERT_GIDS(runs, __VA_ARGS__);                                                                        \
		assert_int_equal(before, 0);                                                                           \
		f = any_run;                                                                                           \
	} while (0)
	struct ax_run_filter f = any_run;
	PAGE(8, 7, 6, 5, 4, 3, 2, 1);
	f.task_id = 2;
	PAGE(7, 5, 3, 1);
	f.group_key = "h";
	PAGE(8, 7, 6, 5);
	f.worker = "w";
	PAGE(6, 3);
	f.statuses = 1U << AX_RUN_FAILED | 1U << AX_RUN_RUNNING;
	PAGE(7, 6, 2, 1);
	f.statuses = 1U << AX_RUN_PENDING;
	PAGE(8);
	f.kind = AX_KIND_EVENT;
	PAGE(7);
	f.from_time = 300;
	f.to_time = 500;
	PAGE(4, 3);
	f.live = true;
	PAGE(8, 2, 1);
	f.live = true;
	f.task_id = 1;
	PAGE(8, 2);
	f.live = true;
	f.statuses = 1U << AX_RUN_RUNNING | 1U << AX_RUN_FAILED;
	PAGE(2, 1);
	f.task_id = 2;
	f.statuses = 1U << AX_RUN_FAILED;
	f.group_key = "h";
	PAGE(7);
	f.before_gid = 3;
	PAGE(2, 1);
	struct ax_run shard = plain_run(9, 1);
	shard.spread = AX_SPREAD_SHARDS;
	shard.shard = 1;
	shard.parent = 4;
	shard.worker = "w";
	shard.status = AX_RUN_RUNNING;
	OK(run_insert, &shard);
	PAGE(8, 7, 6, 5, 4, 3, 2, 1);
	f.task_id = 1;
	PAGE(8, 6, 4, 2);
	f.live = true;
	PAGE(8, 2, 1);
	f.live = true;
	f.task_id = 1;
	PAGE(8, 2);
	f.parent = 4;
	PAGE(9);
	f.worker = "w";
	PAGE(9, 6, 3);
	f.worker = "w";
	f.live = true;
	f.task_id = 1;
	PAGE(9);
	f.parent = 4;
	f.statuses = 1U << AX_RUN_FAILED;
	OK(runs_page, &f, &runs, &before);
	assert_int_equal(runs.n, 0);
	f = any_run;
	f.worker = "nobody";
	OK(runs_page, &f, &runs, &before);
	assert_int_equal(runs.n, 0);
	assert_int_equal(before, 0);
#undef PAGE
}

TX_TEST(test_run_pages)
{
	struct ax_runs runs;
	int64_t before;
	for (int i = 1; i <= 9; i++) {
		struct ax_run run = plain_run(i * 10, i <= 6 ? 1 : 2);
		run.status = i % 3 == 0 ? AX_RUN_WAITING : AX_RUN_SUCCESS;
		OK(run_insert, &run);
	}
#define PAGE(next, ...)                                                                                                \
	do {                                                                                                           \
		OK(runs_page, &f, &runs, &before);                                                                     \
		ASSERT_GIDS(runs, __VA_ARGS__);                                                                        \
		assert_int_equal(before, next);                                                                        \
		f.before_gid = before;                                                                                 \
	} while (0)
	struct ax_run_filter f = any_run;
	f.limit = 4; /* by limit */
	PAGE(60, 90, 80, 70, 60);
	PAGE(20, 50, 40, 30, 20);
	PAGE(0, 10);
	f = any_run;
	f.limit = 3; /* the last page is full */
	PAGE(70, 90, 80, 70);
	PAGE(40, 60, 50, 40);
	PAGE(0, 30, 20, 10);
	f = any_run; /* by rows looked at */
	f.kind = AX_KIND_SCHEDULE;
	f.statuses = 1U << AX_RUN_WAITING | 1U << AX_RUN_FAILED;
	f.scan_limit = 4;
	PAGE(60, 90, 60);
	PAGE(20, 30);
	OK(runs_page, &f, &runs, &before);
	assert_int_equal(runs.n, 0);
	assert_int_equal(before, 0);
	f = any_run; /* of a task: others are not looked at */
	f.task_id = 1;
	f.scan_limit = 2;
	PAGE(50, 60, 50);
	PAGE(30, 40, 30);
	PAGE(0, 20, 10);
	f = any_run; /* live: ended ones are not looked at */
	f.live = true;
	f.scan_limit = 2;
	PAGE(60, 90, 60);
	PAGE(0, 30);
	f = any_run;
	f.statuses = 1U << AX_RUN_WAITING;
	f.task_id = 1;
	f.scan_limit = 1;
	PAGE(60, 60);
	PAGE(0, 30);
	f = any_run; /* nothing wanted, something left */
	f.limit = 0;
	OK(runs_page, &f, &runs, &before);
	assert_int_equal(runs.n, 0);
	assert_int_not_equal(before, 0);
#undef PAGE
}

TX_TEST(test_a_page_looks_past_what_it_does_not_want)
{
	struct ax_run_filter f = { .kind = AX_KIND_SCHEDULE, .limit = 2, .scan_limit = 10000 };
	struct ax_runs runs;
	int64_t before;
	for (int i = 1; i <= 1500; i++) {
		struct ax_run run = plain_run(i, 1);
		run.status = i % 500 == 1 ? AX_RUN_FAILED : AX_RUN_SUCCESS;
		OK(run_insert, &run);
	}
	f.statuses = 1U << AX_RUN_FAILED;
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 1001, 501);
	assert_int_equal(before, 501);
	f.before_gid = before;
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 1);
	assert_int_equal(before, 0);
	f.before_gid = 0;
	f.scan_limit = 700;
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 1001);
	assert_int_equal(before, 801);
}

TX_TEST(test_runs_fired)
{
	static const struct {
		enum ax_run_kind kind;
		int64_t time, from, to, count;
	} rows[] = {
		{ AX_KIND_SCHEDULE, 100, 0, 0, 0 },     /* 1: before */
		{ AX_KIND_SCHEDULE, 200, 0, 0, 0 },     /* 2: first instant */
		{ AX_KIND_SCHEDULE, 299, 0, 0, 0 },     /* 3: last instant */
		{ AX_KIND_SCHEDULE, 300, 0, 0, 0 },     /* 4: after */
		{ AX_KIND_EVENT, 250, 0, 0, 0 },        /* 5: no schedule */
		{ AX_KIND_MISS, 250, 0, 0, 0 },         /* 6 */
		{ AX_KIND_SCHEDULE, 900, 100, 200, 2 }, /* 7: covers reach the first instant */
		{ AX_KIND_SCHEDULE, 900, 299, 400, 2 }, /* 8: covers begin at the last */
		{ AX_KIND_SCHEDULE, 900, 100, 199, 2 }, /* 9: covers end before */
		{ AX_KIND_SCHEDULE, 900, 300, 400, 2 }, /* 10: covers begin after */
		{ AX_KIND_SCHEDULE, 900, 100, 400, 0 }, /* 11: covers nothing */
		{ AX_KIND_MISS, 100, 100, 400, 9 },     /* 12: covers all of it */
	};
	struct ax_runs runs;
	for (size_t i = 0; i < AX_COUNT(rows); i++) {
		struct ax_run run = plain_run((int64_t)i + 1, 1);
		run.kind = rows[i].kind;
		run.trigger_time = rows[i].time;
		run.covers_from = rows[i].from;
		run.covers_to = rows[i].to;
		run.covers_count = rows[i].count;
		OK(run_insert, &run);
	}
	struct ax_run other = plain_run(50, 2);
	other.trigger_time = 250;
	OK(run_insert, &other);
	OK(runs_fired, 1, 200, 300, 0, 100, &runs);
	ASSERT_GIDS(runs, 2, 3, 6, 7, 8, 12);
	OK(runs_fired, 1, 200, 300, 3, 2, &runs);
	ASSERT_GIDS(runs, 6, 7);
	OK(runs_fired, 3, 200, 300, 0, 100, &runs);
	assert_int_equal(runs.n, 0);
}

TX_TEST(test_attempts)
{
	struct ax_attempt attempt, out;
	struct ax_attempts list;
	fill_row(&ax_attempt_row, tx->arena, 1, &attempt);
	for (int fence = 3; fence >= 1; fence--) {
		attempt.gid = fence == 2 ? 8 : 7;
		attempt.fence = fence;
		OK(attempt_put, &attempt);
	}
	OK(attempts, 7, &list);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.at[0].fence, 1);
	assert_int_equal(list.at[1].fence, 3);
	attempt = list.at[0];
	attempt.late_message = "late";
	OK(attempt_put, &attempt);
	OK(attempt_get, 7, 1, &out);
	ASSERT_SAME(ax_attempt_row, attempt, out);
	GIVES(AX_NOT_FOUND, attempt_get, 7, 2, &out);
	OK(attempts, 9, &list);
	assert_int_equal(list.n, 0);
}

TX_TEST(test_output)
{
	struct ax_outputs list;
	int64_t bytes = -1, chunks = -1, last_seq = -2;
	OK(output_size, 7, 1, &bytes, &chunks, &last_seq);
	assert_int_equal(bytes, 0);
	assert_int_equal(chunks, 0);
	assert_int_equal(last_seq, -1);
	for (int i = 0; i < 6; i++) {
		struct ax_output output = {
			.gid = 7, .fence = 1 + i / 3, .seq = i % 3, .data = "123456789\0", .len = i
		};
		OK(output_append, &output);
	}
	struct ax_output again = { .gid = 7, .fence = 1, .seq = 2, .data = "x", .len = 1 };
	GIVES(AX_EXISTS, output_append, &again);
	assert_string_equal(err->field, "seq");
	OK(output_size, 7, 2, &bytes, &chunks, &last_seq);
	assert_int_equal(bytes, 3 + 4 + 5);
	assert_int_equal(chunks, 3);
	assert_int_equal(last_seq, 2);
	OK(outputs, 7, 0, -1, 100, &list);
	assert_int_equal(list.n, 6);
	assert_int_equal(list.at[0].len, 0);
	assert_string_equal(list.at[0].data, "");
	OK(outputs, 7, 1, 1, 2, &list);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.at[0].seq, 2);
	assert_int_equal(list.at[1].fence, 2);
	assert_int_equal(list.at[1].seq, 0);
	assert_string_equal(list.at[1].data, "123");
	OK(outputs, 8, 0, -1, 100, &list);
	assert_int_equal(list.n, 0);
}

/* Five chunks of four bytes; those that hold one of the bytes named go. */
TX_TEST(test_output_cut)
{
	static const struct {
		int64_t head, bytes;
		int left;
		int64_t seqs[5];
	} cases[] = {
		{ 8, 4, 4, { 0, 1, 3, 4 } },
		{ 8, 5, 3, { 0, 1, 4 } },
		{ 7, 1, 4, { 0, 2, 3, 4 } },
		{ 8, 0, 5, { 0, 1, 2, 3, 4 } },
		{ 0, 1, 4, { 1, 2, 3, 4 } },
		{ 8, 100, 2, { 0, 1 } },
		{ 20, 4, 5, { 0, 1, 2, 3, 4 } },
	};
	for (int i = 0; i < (int)AX_COUNT(cases); i++) {
		struct ax_outputs list;
		for (int seq = 0; seq < 5; seq++) {
			struct ax_output output = { .gid = i + 1, .fence = 1, .seq = seq, .data = "1234", .len = 4 };
			OK(output_append, &output);
		}
		struct ax_output other = { .gid = i + 1, .fence = 2, .seq = 2, .data = "1234567890", .len = 10 };
		OK(output_append, &other);
		OK(output_cut, i + 1, 1, cases[i].head, cases[i].bytes);
		OK(outputs, i + 1, 0, -1, 100, &list);
		assert_int_equal(list.n, cases[i].left + 1);
		for (int k = 0; k < cases[i].left; k++)
			assert_int_equal(list.at[k].seq, cases[i].seqs[k]);
		assert_int_equal(list.at[cases[i].left].fence, 2);
	}
}

static struct ax_failure plain_failure(int64_t gid, int64_t fingerprint)
{
	return (struct ax_failure){
		.gid = gid,
		.fingerprint = fingerprint,
		.group_key = "g",
		.task_id = 1,
		.version = 1,
		.executor_key = "x",
		.reason = "exit",
		.title = "t",
		.worker = "w",
		.time = gid,
	};
}

TX_TEST(test_purge)
{
	struct ax_attempt attempt;
	struct ax_attempts attempts;
	struct ax_outputs outputs;
	struct ax_failure failure_out;
	struct ax_run run;
	int deleted = -1;
	insert_all_states(tx, err); /* ended ones: gids 20-26 at 5000 + gid */
	fill_row(&ax_attempt_row, tx->arena, 1, &attempt);
	for (int64_t gid = 19; gid <= 26; gid++) {
		for (int64_t i = 1; i <= 2; i++) {
			attempt.gid = gid;
			attempt.fence = i;
			OK(attempt_put, &attempt);
			struct ax_output output = { .gid = gid, .fence = i, .data = "x", .len = 1 };
			OK(output_append, &output);
		}
		struct ax_failure failure = plain_failure(gid, 7);
		OK(failure_insert, &failure);
	}
	OK(runs_purge, 5023, 2, &deleted);
	assert_int_equal(deleted, 2);
	GIVES(AX_NOT_FOUND, run_get, 20, false, &run);
	GIVES(AX_NOT_FOUND, run_get, 21, false, &run);
	OK(run_get, 22, false, &run);
	OK(runs_purge, 5023, 2, &deleted);
	assert_int_equal(deleted, 1);
	OK(runs_purge, 5023, 2, &deleted);
	assert_int_equal(deleted, 0);
	OK(run_get, 23, false, &run);
	OK(run_get, 14, false, &run); /* live ones have end_time 0 and stay */
	for (int64_t gid = 19; gid <= 26; gid++) {
		bool gone = gid >= 20 && gid <= 22;
		OK(attempts, gid, &attempts);
		assert_int_equal(attempts.n, gone ? 0 : 2);
		OK(outputs, gid, 0, -1, 10, &outputs);
		assert_int_equal(outputs.n, gone ? 0 : 2);
		GIVES(gone ? AX_NOT_FOUND : AX_OK, failure_get, gid, &failure_out);
	}
	run = plain_run(20, 1); /* the keys are free again */
	OK(run_insert, &run);
}

/* failures */

TX_TEST(test_failure_columns)
{
	struct ax_failure failure, failure_out;
	struct ax_failure_group group, group_out;
	struct ax_failure_spread spread;
	struct ax_failure_spreads spreads;
	struct ax_failure_hour hour;
	struct ax_failure_hours hours;
	fill_row(&ax_failure_row, tx->arena, 1, &failure);
	OK(failure_insert, &failure);
	GIVES(AX_EXISTS, failure_insert, &failure);
	OK(failure_get, failure.gid, &failure_out);
	ASSERT_SAME(ax_failure_row, failure, failure_out);
	fill_row(&ax_failure_group_row, tx->arena, 2, &group);
	OK(failure_group_insert, &group, &group.id);
	OK(failure_group_get, group.id, true, &group_out);
	ASSERT_SAME(ax_failure_group_row, group, group_out);
	OK(failure_group_find, group.group_key, group.fingerprint, true, &group_out);
	ASSERT_SAME(ax_failure_group_row, group, group_out);
	fill_row(&ax_failure_spread_row, tx->arena, 3, &spread);
	OK(failure_spread_add, &spread);
	OK(failure_spreads, spread.failure_id, 10, &spreads);
	assert_int_equal(spreads.n, 1);
	ASSERT_SAME(ax_failure_spread_row, spread, spreads.at[0]);
	fill_row(&ax_failure_hour_row, tx->arena, 4, &hour);
	OK(failure_hour_add, &hour);
	OK(failure_hours, hour.failure_id, &hours);
	assert_int_equal(hours.n, 1);
	ASSERT_SAME(ax_failure_hour_row, hour, hours.at[0]);
}

TX_TEST(test_failures_are_folded_once)
{
	struct ax_failures list;
	for (int64_t gid = 5; gid >= 1; gid--) {
		struct ax_failure failure = plain_failure(gid, 7);
		OK(failure_insert, &failure);
	}
	OK(failures_unfolded, 2, &list);
	ASSERT_GIDS(list, 1, 2);
	OK(failures_set_folded, &(struct ax_ids){ (const int64_t[]){ 1, 3 }, 2 });
	OK(failures_set_folded, &(struct ax_ids){ (const int64_t[]){ 3, 9 }, 2 });
	OK(failures_unfolded, 10, &list);
	ASSERT_GIDS(list, 2, 4, 5);
	OK(failures_unfolded, 0, &list);
	assert_int_equal(list.n, 0);
}

TX_TEST(test_failures_of_a_group)
{
	struct ax_failures list;
	struct ax_task task = plain_task("g", "a"), going = plain_task("g", "b");
	int64_t n;
	going.status = AX_TASK_DELETING;
	OK(task_insert, &task, &task.id);
	OK(task_insert, &going, &going.id);
	for (int64_t gid = 1; gid <= 7; gid++) {
		struct ax_failure failure = plain_failure(gid, gid == 3 ? 8 : 7);
		failure.group_key = gid == 4 ? "h" : "g";
		/* the task of 5 is gone, that of 7 is being deleted */
		failure.task_id = gid == 5 ? 99 : gid == 7 ? going.id : task.id;
		OK(failure_insert, &failure);
	}
	OK(failures_of_group, "g", 7, 0, 10, &list);
	ASSERT_GIDS(list, 7, 6, 5, 2, 1);
	OK(failures_of_group, "g", 7, 5, 1, &list);
	ASSERT_GIDS(list, 2);
	OK(failures_of_group, "h", 8, 0, 10, &list);
	assert_int_equal(list.n, 0);
	OK(failures_to_rerun, "g", 7, 10, &list);
	ASSERT_GIDS(list, 1, 2, 6);
	OK(failure_set_rerun, 1, 77);
	GIVES(AX_NOT_FOUND, failure_set_rerun, 9, 77);
	OK(failures_to_rerun, "g", 7, 1, &list);
	ASSERT_GIDS(list, 2);
	OK(failures_to_rerun_count, "g", 7, 10, &n);
	assert_int_equal(n, 2);
	OK(failures_to_rerun_count, "g", 7, 1, &n);
	assert_int_equal(n, 1);
	OK(failures_of_group, "g", 7, 2, 10, &list);
	assert_int_equal(list.at[0].rerun_gid, 77);
}

static struct ax_failure_group plain_failure_group(const char *group_key, int64_t fingerprint, int64_t seen)
{
	struct ax_failure failure = plain_failure(1, fingerprint);
	struct ax_failure_group group = ax_failure_group_of(&failure);
	group.group_key = group_key;
	group.last_seen_time = seen;
	return group;
}

TX_TEST(test_failure_group_update)
{
	static const char *const kept[] = { "id", "group_key", "fingerprint", "executor_key", "reason", "code", "title",
		NULL };
	struct ax_failure_group old = plain_failure_group("g", 7, 5), new, wanted, out;
	int64_t id;
	OK(failure_group_insert, &old, &old.id);
	GIVES(AX_EXISTS, failure_group_insert, &old, &id);
	assert_string_equal(err->field, "fingerprint");
	fill_row(&ax_failure_group_row, tx->arena, 3, &new);
	new.id = old.id;
	GIVES(AX_CONFLICT, failure_group_update, &new, 1);
	OK(failure_group_update, &new, 0);
	new.rev = 1;
	mix(&ax_failure_group_row, &old, &new, kept, &wanted);
	OK(failure_group_get, old.id, false, &out);
	ASSERT_SAME(ax_failure_group_row, wanted, out);
	new.id = 99;
	GIVES(AX_NOT_FOUND, failure_group_update, &new, 0);
	GIVES(AX_NOT_FOUND, failure_group_get, 99, false, &out);
	GIVES(AX_NOT_FOUND, failure_group_find, "h", 7, false, &out);
}

TX_TEST(test_failure_group_pages)
{
	struct ax_failure_group rows[] = { plain_failure_group("g", 1, 300), plain_failure_group("g", 2, 100),
		plain_failure_group("h", 1, 300), plain_failure_group("g", 3, 200) };
	struct ax_failure_filter all = { .state = -1, .limit = 10, .scan_limit = 100 }, f = all;
	struct ax_failure_groups list;
	int64_t time, id;
	rows[1].state = AX_FAILURE_MUTED;
	rows[1].mute_until_time = 1000;
	rows[3].state = AX_FAILURE_RESOLVED;
	rows[3].title = "no Such account";
	for (size_t i = 0; i < AX_COUNT(rows); i++)
		OK(failure_group_insert, &rows[i], &rows[i].id);
	struct ax_failure_spread spreads[] = {
		{ .failure_id = 1, .task_id = 5, .version = 2, .worker = "", .count = 1 },
		{ .failure_id = 1, .worker = "w1", .count = 1 }, { .failure_id = 2, .worker = "w2", .count = 1 },
		{ .failure_id = 3, .task_id = 5, .version = 1, .worker = "", .count = 1 }
	};
	for (size_t i = 0; i < AX_COUNT(spreads); i++)
		OK(failure_spread_add, &spreads[i]);
	OK(failure_groups_page, &all, &list, &time, &id);
	ASSERT_IDS(list, 3, 1, 4, 2);
	assert_int_equal(time, 0);
	assert_int_equal(id, 0);
	f.limit = 1;
	OK(failure_groups_page, &f, &list, &f.before_time, &f.before_id);
	ASSERT_IDS(list, 3);
	OK(failure_groups_page, &f, &list, &f.before_time, &f.before_id);
	ASSERT_IDS(list, 1);
	f.limit = 10;
	f.scan_limit = 1;
	OK(failure_groups_page, &f, &list, &f.before_time, &f.before_id);
	ASSERT_IDS(list, 4);
	OK(failure_groups_page, &f, &list, &f.before_time, &f.before_id);
	ASSERT_IDS(list, 2);
	assert_int_equal(f.before_id, 0);
	f = all;
	f.group_key = "h";
	OK(failure_groups_page, &f, &list, &time, &id);
	ASSERT_IDS(list, 3);
	f = all;
	f.q = "SUCH";
	OK(failure_groups_page, &f, &list, &time, &id);
	ASSERT_IDS(list, 4);
	f = all;
	f.state = AX_FAILURE_OPEN;
	f.now = 999;
	OK(failure_groups_page, &f, &list, &time, &id);
	ASSERT_IDS(list, 3, 1);
	f.now = 1000; /* the mute is over */
	OK(failure_groups_page, &f, &list, &time, &id);
	ASSERT_IDS(list, 3, 1, 2);
	f = all;
	f.task_id = 5;
	OK(failure_groups_page, &f, &list, &time, &id);
	ASSERT_IDS(list, 3, 1);
	f.worker = "w1";
	OK(failure_groups_page, &f, &list, &time, &id);
	ASSERT_IDS(list, 1);
	f.worker = "w2";
	OK(failure_groups_page, &f, &list, &time, &id);
	assert_int_equal(list.n, 0);
	OK(failure_groups_alike, 1, 10, &list);
	ASSERT_IDS(list, 1, 3);
	OK(failure_groups_alike, 1, 1, &list);
	ASSERT_IDS(list, 1);
	OK(failure_groups_old, false, 300, 10, &list);
	ASSERT_IDS(list, 2, 4);
	OK(failure_groups_old, false, 300, 1, &list);
	ASSERT_IDS(list, 2);
	OK(failure_groups_old, true, 300, 10, &list);
	ASSERT_IDS(list, 4);
}

TX_TEST(test_failure_spread_and_hours)
{
	struct ax_failure_group group = plain_failure_group("g", 7, 5);
	struct ax_failure_spread spread = { .failure_id = 1,
		.task_id = 2,
		.version = 3,
		.worker = "",
		.count = 2,
		.first_seen_time = 50,
		.last_seen_time = 60 };
	struct ax_failure_spreads spreads;
	struct ax_failure_hours hours;
	OK(failure_group_insert, &group, &group.id);
	OK(failure_spread_add, &spread);
	spread.count = 3;
	spread.first_seen_time = 40;
	spread.last_seen_time = 55;
	OK(failure_spread_add, &spread);
	spread = (struct ax_failure_spread){ .failure_id = 1, .worker = "w", .count = 1 };
	OK(failure_spread_add, &spread);
	spread.failure_id = 2;
	OK(failure_spread_add, &spread);
	OK(failure_spreads, 1, 10, &spreads);
	assert_int_equal(spreads.n, 2);
	assert_string_equal(spreads.at[0].worker, "w"); /* workers first */
	assert_int_equal(spreads.at[1].count, 5);
	assert_int_equal(spreads.at[1].first_seen_time, 40);
	assert_int_equal(spreads.at[1].last_seen_time, 60);
	for (int64_t hour = 10; hour <= 12; hour++) {
		struct ax_failure_hour row = { 1, hour, 2 };
		OK(failure_hour_add, &row);
		OK(failure_hour_add, &row);
	}
	OK(failure_hours_cut, 1, 11);
	OK(failure_hours, 1, &hours);
	assert_int_equal(hours.n, 2);
	assert_int_equal(hours.at[0].hour, 11);
	assert_int_equal(hours.at[0].count, 4);
	OK(failure_group_delete, 1);
	GIVES(AX_NOT_FOUND, failure_group_delete, 1);
	OK(failure_hours, 1, &hours);
	assert_int_equal(hours.n, 0);
	OK(failure_spreads, 1, 10, &spreads);
	assert_int_equal(spreads.n, 0);
	OK(failure_spreads, 2, 10, &spreads);
	assert_int_equal(spreads.n, 1);
}

/* groups and workers */

TX_TEST(test_groups)
{
	static const char *const kept[] = { "group_key", "running", "running_long", "create_time", NULL };
	struct ax_group old = plain_group("g"), new, wanted, out;
	struct ax_groups list;
	old.running = 3;
	old.create_time = 4;
	OK(group_insert, &old);
	GIVES(AX_EXISTS, group_insert, &old);
	assert_string_equal(err->field, "group_key");
	struct ax_group other = plain_group("a");
	OK(group_insert, &other);
	fill_row(&ax_group_row, tx->arena, 5, &new);
	new.group_key = "g";
	GIVES(AX_CONFLICT, group_update, &new, 2);
	OK(group_update, &new, 1);
	mix(&ax_group_row, &old, &new, kept, &wanted);
	OK(group_get, "g", true, &out);
	ASSERT_SAME(ax_group_row, wanted, out);
	assert_int_equal(out.running, 3);
	assert_int_equal(out.running_long, 0);
	OK(group_add_running, "g", 2, 1);
	OK(group_add_running, "g", -5, 0);
	OK(group_get, "g", false, &out);
	assert_int_equal(out.running, 0);
	OK(groups, &list);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.at[0].group_key, "a");
	new.group_key = "none";
	GIVES(AX_NOT_FOUND, group_update, &new, 1);
	GIVES(AX_NOT_FOUND, group_get, "none", true, &out);
	GIVES(AX_NOT_FOUND, group_delete, "none");
}

TX_TEST(test_a_used_group_stays)
{
	struct ax_group group = plain_group("g");
	struct ax_task task = plain_task("g", "a");
	struct ax_run run = plain_run(10, 1);
	OK(group_insert, &group);
	OK(task_insert, &task, &task.id);
	GIVES(AX_CONFLICT, group_delete, "g");
	OK(task_delete, task.id);
	OK(run_insert, &run);
	GIVES(AX_CONFLICT, group_delete, "g");
	run.status = AX_RUN_CANCELLED;
	OK(run_update, &run, 0);
	OK(group_delete, "g"); /* history does not hold it */
	GIVES(AX_NOT_FOUND, group_get, "g", false, &group);
}

static enum ax_status take_too_much_of_a_group(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	struct ax_group group = plain_group("g");
	group.running = 1;
	enum ax_status status = tx->ops->group_insert(tx, &group, err);
	return status == AX_OK ? tx->ops->group_add_running(tx, "g", -2, 0, err) : status;
}

static enum ax_status take_too_much_of_a_worker(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	enum ax_status status = tx->ops->worker_group_put(tx, "w", "g", 1, err);
	return status == AX_OK ? tx->ops->worker_group_add_given(tx, "w", "g", -1, 0, err) : status;
}

static enum ax_status take_too_many_long(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	struct ax_group group = plain_group("g");
	group.running = 1;
	enum ax_status status = tx->ops->group_insert(tx, &group, err);
	return status == AX_OK ? tx->ops->group_add_running(tx, "g", 0, -1, err) : status;
}

static enum ax_status count_in_no_group(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	return tx->ops->group_add_running(tx, "none", 1, 0, err);
}

static enum ax_status count_on_no_worker(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	return tx->ops->worker_group_add_given(tx, "none", "g", 1, 0, err);
}

static enum ax_status insert_broken_task(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	int64_t id;
	return tx->ops->task_insert(tx, arg, &id, err);
}

static void test_counters_and_checks(void **state)
{
	struct fixture *f = *state;
	expect_end(f, AX_BROKEN, take_too_much_of_a_group, NULL);
	expect_end(f, AX_BROKEN, take_too_much_of_a_worker, NULL);
	expect_end(f, AX_BROKEN, take_too_many_long, NULL);
	expect_end(f, AX_NOT_FOUND, count_in_no_group, NULL);
	expect_end(f, AX_NOT_FOUND, count_on_no_worker, NULL);
	struct ax_task task = plain_task("g", "a");
	task.def.priority = 11;
	expect_end(f, AX_BROKEN, insert_broken_task, &task);
	task.def.priority = 10;
	task.status = (enum ax_task_status)4;
	expect_end(f, AX_BROKEN, insert_broken_task, &task);
	task.status = AX_TASK_CREATED;
	task.def.task_type = (enum ax_task_type)0;
	expect_end(f, AX_BROKEN, insert_broken_task, &task);
	task.def.task_type = AX_TASK_DELAY;
	expect_end(f, AX_OK, insert_broken_task, &task);
}

TX_TEST(test_workers)
{
	struct ax_worker worker;
	struct ax_workers list;
	struct ax_worker_group row;
	struct ax_worker_groups rows;
	fill_row(&ax_worker_row, tx->arena, 1, &worker);
	static const char *const names[] = { "b", "a", "c" };
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		worker.name = names[i];
		OK(worker_put, &worker);
		OK(worker_group_put, names[i], "h", 5);
		OK(worker_group_put, names[i], "g", 5);
	}
	OK(workers, &list);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.at[0].name, "a");
	OK(worker_group_add_given, "a", "g", 3, 2);
	row = (struct ax_worker_group){ "a", "g", .given = 99, .given_order = 4, .turn_order = 3, .use_count = 2,
		.use_time = 1 };
	OK(worker_group_routed, &row);
	OK(worker_group_put, "a", "g", 9);
	OK(worker_group_get, "a", "g", true, &row);
	assert_string_equal(row.worker, "a");
	assert_int_equal(row.pool_size, 9);
	assert_int_equal(row.given, 3);
	assert_int_equal(row.given_long, 2);
	assert_int_equal(row.given_order, 4);
	assert_int_equal(row.turn_order, 3);
	assert_int_equal(row.use_count, 2);
	assert_int_equal(row.use_time, 1);
	OK(group_workers, "g", &rows);
	assert_int_equal(rows.n, 3);
	assert_string_equal(rows.at[0].worker, "a");
	assert_int_equal(rows.at[0].given, 3);
	assert_string_equal(rows.at[2].worker, "c");
	OK(group_workers, "none", &rows);
	assert_int_equal(rows.n, 0);
	OK(group_workers_by_name, "g", NAMES("a", "b", "none"), true, &rows);
	assert_int_equal(rows.n, 2);
	assert_string_equal(rows.at[0].worker, "a");
	assert_int_equal(rows.at[0].given, 3);
	assert_int_equal(rows.at[0].given_order, 4);
	assert_string_equal(rows.at[1].worker, "b");
	OK(group_workers_by_name, "g", NAMES("c"), false, &rows);
	assert_int_equal(rows.n, 1);
	assert_string_equal(rows.at[0].worker, "c");
	OK(group_workers_by_name, "none", NAMES("a", "b"), true, &rows);
	assert_int_equal(rows.n, 0);
	OK(worker_group_add_given, "a", "g", -3, -2);
	OK(worker_groups, "a", &rows);
	assert_int_equal(rows.n, 2);
	assert_string_equal(rows.at[0].group_key, "g");
	OK(worker_group_drop, "a", "g");
	GIVES(AX_NOT_FOUND, worker_group_drop, "a", "g");
	GIVES(AX_NOT_FOUND, worker_group_get, "a", "g", true, &row);
	OK(worker_groups, NULL, &rows);
	assert_int_equal(rows.n, 5);
	assert_string_equal(rows.at[0].worker, "a");
	assert_string_equal(rows.at[4].worker, "c");
	OK(worker_delete, "b"); /* with its groups */
	GIVES(AX_NOT_FOUND, worker_delete, "b");
	GIVES(AX_NOT_FOUND, worker_get, "b", false, &worker);
	OK(worker_groups, NULL, &rows);
	assert_int_equal(rows.n, 3);
}

/* accounts, audit log, kept answers */

TX_TEST(test_accounts)
{
	struct ax_user user = { .name = "eve", .password_hash = "", .role = "admin" };
	int64_t n = -1, id;
	OK(user_count, &n);
	assert_int_equal(n, 0);
	OK(user_insert, &user, &id);
	GIVES(AX_EXISTS, user_insert, &user, &id);
	assert_string_equal(err->field, "name");
	GIVES(AX_NOT_FOUND, user_find, "Eve", &user);
	OK(user_count, &n);
	assert_int_equal(n, 1);
}

/* calendars and backfills */

TX_TEST(test_calendars)
{
	static const char *const kept[] = { "name", "create_time", NULL };
	struct ax_calendar_row old, new, mixed, out;
	struct ax_calendars all;
	struct ax_calendar_version v, v_out;
	struct ax_calendar_versions versions;
	fill_row(&ax_calendar_row_row, tx->arena, 41, &old);
	fill_row(&ax_calendar_row_row, tx->arena, 42, &new);
	old.name = new.name = "b";
	OK(calendar_insert, &old);
	GIVES(AX_EXISTS, calendar_insert, &new);
	assert_string_equal(err->field, "name");
	OK(calendar_get, "b", true, &out);
	ASSERT_SAME(ax_calendar_row_row, old, out);
	GIVES(AX_CONFLICT, calendar_update, &new, old.version + 1);
	OK(calendar_update, &new, old.version);
	mix(&ax_calendar_row_row, &old, &new, kept, &mixed);
	OK(calendar_get, "b", true, &out);
	ASSERT_SAME(ax_calendar_row_row, mixed, out);
	new.name = "a";
	GIVES(AX_NOT_FOUND, calendar_update, &new, new.version);
	OK(calendar_insert, &new);
	OK(calendars, &all);
	assert_int_equal(all.n, 2);
	assert_string_equal(all.at[0].name, "a");
	OK(calendar_delete, "a");
	GIVES(AX_NOT_FOUND, calendar_delete, "a");
	GIVES(AX_NOT_FOUND, calendar_get, "a", true, &out);

	fill_row(&ax_calendar_version_row, tx->arena, 43, &v);
	v.name = "b";
	for (v.version = 1; v.version <= 3; v.version++)
		OK(calendar_version_insert, &v);
	v.version = 2;
	GIVES(AX_EXISTS, calendar_version_insert, &v);
	OK(calendar_version_get, "b", 2, &v_out);
	ASSERT_SAME(ax_calendar_version_row, v, v_out);
	GIVES(AX_NOT_FOUND, calendar_version_get, "b", 4, &v_out);
	OK(calendar_versions, "b", 0, 2, &versions);
	assert_int_equal(versions.n, 2);
	assert_int_equal(versions.at[0].version, 3);
	OK(calendar_versions, "b", 2, 9, &versions);
	assert_int_equal(versions.n, 1);
	assert_int_equal(versions.at[0].version, 1);
	OK(calendar_versions, "a", 0, 9, &versions);
	assert_int_equal(versions.n, 0);
}

TX_TEST(test_tasks_of_a_calendar)
{
	static const char *const calendars[] = { "b", "", "b", "a", "b", "b" };
	static const char *const names[] = { "1", "2", "3", "4", "5", "6" };
	struct ax_tasks tasks;
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		struct ax_task task = plain_task("g", names[i]);
		task.def.calendar = calendars[i];
		task.calendar_version = i == 5 ? 1 : 2;
		task.status = i == 2 ? AX_TASK_PAUSED : AX_TASK_ENABLED;
		OK(task_insert, &task, &task.id);
	}
	struct ax_task_filter f = { .calendar = "b", .status = -1, .limit = 10 };
	OK(tasks_page, &f, &tasks);
	ASSERT_IDS(tasks, 1, 3, 5, 6);
	f.after_id = 3;
	f.limit = 1;
	OK(tasks_page, &f, &tasks);
	ASSERT_IDS(tasks, 5);
	OK(tasks_behind, "b", 3, 10, &tasks);
	ASSERT_IDS(tasks, 6, 1, 5);
	OK(tasks_behind, "b", 3, 2, &tasks);
	ASSERT_IDS(tasks, 6, 1);
	OK(tasks_behind, "b", 2, 10, &tasks);
	ASSERT_IDS(tasks, 6);
	tasks.at[0].calendar_version = 2;
	OK(task_advance, &tasks.at[0], tasks.at[0].next_trigger_time);
	OK(tasks_behind, "b", 2, 10, &tasks);
	assert_int_equal(tasks.n, 0);
	OK(tasks_behind, "", 9, 10, &tasks);
	assert_int_equal(tasks.n, 0);
}

TX_TEST(test_backfills)
{
	static const char *const kept[] = { "id", "task_id", "from_time", "to_time", "max_live", "newest_first",
		"total", "create_time", "created_by", NULL };
	struct ax_backfill old, new, mixed, out;
	struct ax_backfills list;
	int64_t id;
	fill_row(&ax_backfill_row, tx->arena, 51, &old);
	fill_row(&ax_backfill_row, tx->arena, 52, &new);
	old.status = AX_BACKFILL_RUNNING;
	new.status = AX_BACKFILL_DONE;
	OK(backfill_insert, &old, &old.id);
	OK(backfill_get, old.id, true, &out);
	ASSERT_SAME(ax_backfill_row, old, out);
	OK(backfill_insert, &old, &id);
	OK(backfills_open, 10, &list);
	ASSERT_IDS(list, old.id, id);
	new.id = old.id;
	GIVES(AX_CONFLICT, backfill_update, &new, old.rev + 1);
	OK(backfill_update, &new, old.rev);
	mix(&ax_backfill_row, &old, &new, kept, &mixed);
	mixed.rev = old.rev + 1;
	OK(backfill_get, old.id, true, &out);
	ASSERT_SAME(ax_backfill_row, mixed, out);
	OK(backfills_open, 10, &list);
	ASSERT_IDS(list, id);
	new.id = 99;
	GIVES(AX_NOT_FOUND, backfill_update, &new, new.rev);
	GIVES(AX_NOT_FOUND, backfill_get, 99, true, &out);
	OK(backfills, 0, 0, 10, &list);
	ASSERT_IDS(list, id, old.id);
	OK(backfills, old.task_id, id, 10, &list);
	ASSERT_IDS(list, old.id);
	OK(backfills, old.task_id + 1, 0, 10, &list);
	assert_int_equal(list.n, 0);
}

TX_TEST(test_runs_of_a_backfill)
{
	struct ax_runs runs;
	int64_t before;
	for (int64_t gid = 1; gid <= 6; gid++) {
		struct ax_run run = plain_run(gid, 1 + gid % 2);
		run.backfill_id = gid % 3;
		run.status = gid > 3 ? AX_RUN_WAITING : AX_RUN_SUCCESS;
		OK(run_insert, &run);
	}
	struct ax_run_filter f = { .backfill_id = 1, .limit = 10, .scan_limit = 10 };
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 4, 1);
	f.limit = 1;
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 4);
	assert_int_equal(before, 4);
	f = (struct ax_run_filter){ .backfill_id = 2, .task_id = 2, .live = true, .limit = 10, .scan_limit = 10 };
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 5);
	f.live = false;
	f.task_id = 1;
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 2);
}

TX_TEST(test_pages_of_a_batch)
{
	struct ax_runs runs;
	int64_t before;
	for (int64_t gid = 1; gid <= 6; gid++) {
		struct ax_run run = plain_run(gid, 1 + gid % 2);
		run.batch = 100 + gid % 3;
		run.status = gid > 3 ? AX_RUN_WAITING : AX_RUN_SUCCESS;
		OK(run_insert, &run);
	}
	struct ax_run_filter f = { .batch = 101, .limit = 10, .scan_limit = 10 };
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 4, 1);
	f.limit = 1;
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 4);
	f.before_gid = before;
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 1);
	f = (struct ax_run_filter){ .batch = 102, .task_id = 2, .live = true, .limit = 10, .scan_limit = 10 };
	OK(runs_page, &f, &runs, &before);
	ASSERT_GIDS(runs, 5);
}

TX_TEST(test_tokens)
{
	static const char *const kinds[] = { "api", "session", "worker", "once", "api", "setup" };
	static const int64_t expire[] = { 0, 100, 100, 50, 101, 0 };
	struct ax_token token;
	struct ax_tokens list;
	for (size_t i = 0; i < AX_COUNT(kinds); i++) {
		fill_row(&ax_token_row, tx->arena, (int)i, &token);
		token.kind = kinds[i];
		token.expire_time = expire[i];
		OK(token_insert, &token, &token.id);
		assert_int_equal(token.id, i + 1);
	}
	int64_t id;
	GIVES(AX_EXISTS, token_insert, &token, &id);
	assert_string_equal(err->field, "hash");
	OK(tokens, &list);
	ASSERT_IDS(list, 1, 3, 5);
	OK(token_touch, 5, 77, 99);
	OK(tokens, &list);
	assert_int_equal(list.at[2].last_used_time, 77);
	assert_int_equal(list.at[2].expire_time, 99);
	OK(tokens_expire, 100, "session");
	GIVES(AX_NOT_FOUND, token_delete, 2);
	OK(tokens_expire, 99, NULL);
	OK(tokens, &list);
	ASSERT_IDS(list, 1, 3);
	GIVES(AX_NOT_FOUND, token_delete, 4);
	GIVES(AX_NOT_FOUND, token_touch, 4, 1, 1);
	OK(token_find, token.hash, &token); /* without an end */
	OK(token_delete, 6);
	GIVES(AX_NOT_FOUND, token_find, token.hash, &token);
}

TX_TEST(test_audit_log)
{
	struct ax_audit_entry entry;
	struct ax_audit_entries page;
	fill_row(&ax_audit_row, tx->arena, 1, &entry);
	for (int i = 1; i <= 6; i++) {
		entry.object = i % 2 == 0 ? "task:1" : "task:2";
		entry.actor = i <= 3 ? "eve" : "bob";
		OK(audit_append, &entry);
	}
	OK(audit_page, NULL, NULL, 0, 4, &page);
	ASSERT_IDS(page, 6, 5, 4, 3);
	OK(audit_page, NULL, NULL, 3, 4, &page);
	ASSERT_IDS(page, 2, 1);
	OK(audit_page, "task:1", NULL, 6, 4, &page);
	ASSERT_IDS(page, 4, 2);
	OK(audit_page, NULL, "bob", 0, 2, &page);
	ASSERT_IDS(page, 6, 5);
	OK(audit_page, "task:2", "eve", 0, 9, &page);
	ASSERT_IDS(page, 3, 1);
	OK(audit_page, "task:3", NULL, 0, 9, &page);
	assert_int_equal(page.n, 0);
}

TX_TEST(test_kept_answers)
{
	struct ax_idem idem = { .key = "a", .hash = "h", .status = 201, .body = "{}", .expire_time = 100 }, out;
	OK(idem_put, &idem);
	GIVES(AX_EXISTS, idem_put, &idem);
	assert_string_equal(err->field, "key");
	idem.key = "b";
	idem.expire_time = 101;
	OK(idem_put, &idem);
	OK(idem_purge, 100);
	GIVES(AX_NOT_FOUND, idem_get, "a", &out);
	OK(idem_get, "b", &out);
	ASSERT_SAME(ax_idem_row, idem, out);
}

/* events */

static void put_event(struct ax_tx *tx, int64_t id, const char *name, const char *key, int64_t time, struct ax_err *err)
{
	struct ax_event event;
	fill_row(&ax_event_row, tx->arena, (int)id, &event);
	event.id = id;
	event.event_name = name;
	event.event_key = key;
	event.time = time;
	OK(event_insert, &event);
}

TX_TEST(test_event_columns)
{
	struct ax_event event, found;
	struct ax_event_task row;
	struct ax_event_tasks rows;
	fill_row(&ax_event_row, tx->arena, 30, &event);
	OK(event_insert, &event);
	OK(event_get, event.id, &found);
	ASSERT_SAME(ax_event_row, event, found);
	OK(event_find, event.event_name, event.event_key, &found);
	ASSERT_SAME(ax_event_row, event, found);
	fill_row(&ax_event_task_row, tx->arena, 31, &row);
	OK(event_task_insert, &row);
	OK(event_tasks, row.event, &rows);
	assert_int_equal(rows.n, 1);
	ASSERT_SAME(ax_event_task_row, row, rows.at[0]);
}

TX_TEST(test_events)
{
	struct ax_event event;
	struct ax_events events;
	struct ax_event_tasks rows;
	int deleted;
	put_event(tx, 5, "a", "k", 100, err);
	put_event(tx, 6, "b", "k", 90, err);
	put_event(tx, 7, "a", "K", 110, err);
	put_event(tx, 8, "a", "", 95, err);
	event = (struct ax_event){
		.id = 9, .event_name = "a", .event_key = "k", .event_id = "", .payload = "", .sent_by = ""
	};
	GIVES(AX_EXISTS, event_insert, &event);
	assert_string_equal(err->field, "event_key");
	event.id = 8;
	event.event_key = "new";
	GIVES(AX_EXISTS, event_insert, &event);
	GIVES(AX_NOT_FOUND, event_get, 9, &event);
	GIVES(AX_NOT_FOUND, event_find, "b", "K", &event);
	OK(events_page, NULL, 0, 3, &events);
	ASSERT_IDS(events, 8, 7, 6);
	OK(events_page, NULL, 6, 3, &events);
	ASSERT_IDS(events, 5);
	OK(events_page, "a", 8, 5, &events);
	ASSERT_IDS(events, 7, 5);
	OK(events_page, "c", 0, 5, &events);
	assert_int_equal(events.n, 0);
	for (int64_t task = 3; task > 0; task--)
		for (int64_t of = 5; of < 8; of++)
			OK(event_task_insert,
				&(struct ax_event_task){ .event = of, .task_id = task, .fate = AX_EVENT_RUN });
	GIVES(AX_EXISTS, event_task_insert, &(struct ax_event_task){ .event = 5, .task_id = 3 });
	OK(event_tasks, 6, &rows);
	assert_int_equal(rows.n, 3);
	assert_int_equal(rows.at[0].task_id, 1);
	/* the first sent go first, with what became of them */
	OK(events_purge, 110, 2, &deleted);
	assert_int_equal(deleted, 2);
	OK(events_page, NULL, 0, 5, &events);
	ASSERT_IDS(events, 7, 5);
	OK(event_tasks, 6, &rows);
	assert_int_equal(rows.n, 0);
	OK(events_purge, 110, 2, &deleted);
	assert_int_equal(deleted, 1);
	OK(event_tasks, 7, &rows);
	assert_int_equal(rows.n, 3);
}

TX_TEST(test_tasks_listening)
{
	struct ax_tasks tasks;
	static const char *const names[] = { "a", "b", "a", "a", "A" };
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		char name[8];
		snprintf(name, sizeof(name), "t%zu", i);
		struct ax_task task = plain_task("g", name);
		task.def.task_type = i == 3 ? AX_TASK_DELAY : AX_TASK_EVENT;
		task.def.event_name = names[i];
		task.status = i == 2 ? AX_TASK_PAUSED : AX_TASK_ENABLED;
		OK(task_insert, &task, &task.id);
	}
	OK(tasks_listening, "a", 10, &tasks);
	ASSERT_IDS(tasks, 1, 3);
	OK(tasks_listening, "a", 1, &tasks);
	ASSERT_IDS(tasks, 1);
	OK(tasks_listening, "c", 10, &tasks);
	assert_int_equal(tasks.n, 0);
}

/* chains */

TX_TEST(test_chains)
{
	struct ax_upstreams rows;
	struct ax_run_upstream put = {
		.gid = 10, .upstream_id = 3, .upstream_gid = 8, .upstream_status = AX_RUN_FAILED
	};
	struct ax_run_upstreams of_run;
	struct ax_run_tolds told;
	struct ax_task first = plain_task("g", "first");
	struct ax_run run = plain_run(10, 1);
	int deleted;
	for (int64_t task = 3; task > 0; task--)
		for (int64_t upstream = 6; upstream > 3; upstream--)
			OK(upstream_insert, &(struct ax_upstream){ .task_id = task, .upstream_id = upstream });
	GIVES(AX_EXISTS, upstream_insert, &(struct ax_upstream){ .task_id = 2, .upstream_id = 5 });
	OK(upstreams_of, 2, &rows);
	assert_int_equal(rows.n, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rows.at[i].task_id, 2);
		assert_int_equal(rows.at[i].upstream_id, 4 + i);
	}
	OK(downstreams_of, 5, &rows);
	assert_int_equal(rows.n, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rows.at[i].task_id, 1 + i);
		assert_int_equal(rows.at[i].upstream_id, 5);
	}
	OK(upstreams_delete, 2);
	OK(upstreams_delete, 2);
	OK(upstreams_of, 2, &rows);
	assert_int_equal(rows.n, 0);
	OK(downstreams_of, 5, &rows);
	assert_int_equal(rows.n, 2);
	/* what a run follows: one row for each upstream, which goes with the run */
	OK(run_upstream_put, &put);
	put.upstream_id = 2;
	OK(run_upstream_put, &put);
	put.upstream_gid = 9;
	put.upstream_status = AX_RUN_SUCCESS;
	OK(run_upstream_put, &put);
	OK(run_upstreams, 10, &of_run);
	assert_int_equal(of_run.n, 2);
	ASSERT_SAME(ax_run_upstream_row, put, of_run.at[0]);
	assert_int_equal(of_run.at[1].upstream_id, 3);
	OK(run_upstreams, 11, &of_run);
	assert_int_equal(of_run.n, 0);
	run.status = AX_RUN_SUCCESS;
	run.result = "{}";
	OK(run_insert, &run);
	OK(task_insert, &first, &first.id);
	put.gid = 11;
	OK(run_upstream_put, &put);
	put.upstream_id = first.id;
	put.upstream_gid = 10;
	OK(run_upstream_put, &put);
	OK(run_told, 11, &told);
	assert_int_equal(told.n, 2);
	assert_int_equal(told.at[0].upstream_id, first.id);
	assert_string_equal(told.at[0].task_name, "first");
	assert_int_equal(told.at[0].upstream_gid, 10);
	assert_int_equal(told.at[0].upstream_status, AX_RUN_SUCCESS);
	assert_string_equal(told.at[0].result, "{}");
	assert_int_equal(told.at[1].upstream_gid, 9); /* they are gone */
	assert_string_equal(told.at[1].task_name, "");
	assert_string_equal(told.at[1].result, "");
	OK(runs_purge, 100, 10, &deleted);
	OK(run_upstreams, 10, &of_run);
	assert_int_equal(of_run.n, 0);
	OK(run_upstreams, 11, &of_run);
	assert_int_equal(of_run.n, 2);
}

TX_TEST(test_runs_of_a_task_go)
{
	struct ax_attempts attempts;
	struct ax_runs runs;
	int64_t gid;
	int deleted;
	insert_shards(tx, err);
	for (int64_t i = 0; i < 8; i++) { /* 100 … 107; 102 lives, 105 ended late, 107 is another task's */
		struct ax_run run = plain_run(100 + i, i == 7 ? 3 : 2);
		run.status = i == 2 ? AX_RUN_RUNNING : AX_RUN_SUCCESS;
		run.end_time = i == 2 ? 0 : i == 5 ? 9000 : 1000;
		OK(run_insert, &run);
		struct ax_attempt attempt = {
			.gid = 100 + i, .fence = 1, .worker = "", .message = "", .late_message = ""
		};
		OK(attempt_put, &attempt);
	}
	OK(run_nth, 2, 0, &gid);
	assert_int_equal(gid, 106);
	OK(run_nth, 2, 6, &gid);
	assert_int_equal(gid, 100);
	OK(run_nth, 2, 7, &gid);
	assert_int_equal(gid, 0);
	OK(run_nth, 1, 1, &gid); /* shards are no runs of their own */
	assert_int_equal(gid, 10);
	OK(runs_purge_task, 2, 5000, 106, 2, &deleted);
	assert_int_equal(deleted, 2);
	GIVES(AX_NOT_FOUND, run_get, 101, false, &(struct ax_run){ 0 });
	OK(attempts, 101, &attempts);
	assert_int_equal(attempts.n, 0);
	OK(runs_purge_task, 2, 5000, 106, 100, &deleted);
	assert_int_equal(deleted, 2);
	OK(runs_purge_task, 2, 5000, 106, 100, &deleted);
	assert_int_equal(deleted, 0);
	OK(runs_fired, 2, 0, INT64_MAX, 0, 100, &runs);
	ASSERT_GIDS(runs, 102, 105, 106);
	OK(runs_purge_task, 2, 5000, 107, 0, &deleted);
	assert_int_equal(deleted, 0);
	OK(run_nth, 3, 0, &gid);
	assert_int_equal(gid, 107);
}

/* leases */

TX_TEST(test_leases)
{
	struct ax_leases rows;
	struct ax_lease lease = { .name = "b", .holder = 7, .fence = 1, .until_time = 100 }, out;
	OK(leases, &rows);
	assert_int_equal(rows.n, 0);
	OK(lease_insert, &lease);
	GIVES(AX_EXISTS, lease_insert, &lease);
	lease.fence = 2;
	GIVES(AX_CONFLICT, lease_update, &lease, 5);
	OK(lease_update, &lease, 1);
	OK(lease_get, "b", true, &out);
	ASSERT_SAME(ax_lease_row, lease, out);
	lease.name = "a";
	GIVES(AX_NOT_FOUND, lease_update, &lease, 1);
	OK(lease_insert, &lease);
	OK(leases, &rows);
	assert_int_equal(rows.n, 2);
	ASSERT_SAME(ax_lease_row, lease, rows.at[0]);
	assert_string_equal(rows.at[1].name, "b");
}

/* notices */

TX_TEST(test_notices)
{
	struct ax_notices rows;
	struct ax_notice notice = { .body = "{}" };
	for (notice.server = 5; notice.server < 7; notice.server++)
		for (notice.seq = 1; notice.seq <= 4; notice.seq++) {
			notice.time = 100 * notice.seq;
			OK(notice_insert, &notice);
		}
	notice = (struct ax_notice){ .server = 5, .seq = 4, .time = 400, .body = "{}" };
	GIVES(AX_EXISTS, notice_insert, &notice);
	OK(notices, 5, 1, 2, &rows);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.at[0].seq, 2);
	OK(notices, 5, 3, 100, &rows);
	assert_int_equal(rows.n, 1);
	ASSERT_SAME(ax_notice_row, notice, rows.at[0]);
	OK(notices_purge, 300);
	OK(notices, 6, 0, 100, &rows);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.at[0].seq, 3);
	OK(notices, 7, 0, 100, &rows);
	assert_int_equal(rows.n, 0);
}

/* transactions */

/* alerts */

TX_TEST(test_alert_columns)
{
	struct ax_channel channel, channel_out;
	struct ax_alert alert, alert_out;
	struct ax_delivery delivery, delivery_out;
	fill_row(&ax_channel_row, tx->arena, 1, &channel);
	OK(channel_insert, &channel, &channel.id);
	OK(channel_get, channel.id, true, &channel_out);
	ASSERT_SAME(ax_channel_row, channel, channel_out);
	fill_row(&ax_alert_row, tx->arena, 2, &alert);
	OK(alert_insert, &alert, &alert.id);
	OK(alert_get, alert.id, true, &alert_out);
	ASSERT_SAME(ax_alert_row, alert, alert_out);
	fill_row(&ax_delivery_row, tx->arena, 3, &delivery);
	OK(delivery_insert, &delivery, &delivery.id);
	OK(delivery_get, delivery.id, true, &delivery_out);
	ASSERT_SAME(ax_delivery_row, delivery, delivery_out);
}

static struct ax_channel plain_channel(const char *name)
{
	return (struct ax_channel){
		.name = name,
		.kind = AX_CHANNEL_WEBHOOK,
		.settings = "{}",
		.rules = "",
		.group_keys = "",
		.time_zone = "UTC",
		.version = 1,
		.updated_by = "",
	};
}

TX_TEST(test_channels)
{
	struct ax_channel a = plain_channel("a"), b = plain_channel("b"), again = plain_channel("a");
	struct ax_channels all;
	OK(channel_insert, &b, &b.id);
	OK(channel_insert, &a, &a.id);
	GIVES(AX_EXISTS, channel_insert, &again, &again.id);
	assert_string_equal(err->field, "name");
	OK(channels, &all);
	ASSERT_IDS(all, b.id, a.id);
	b.settings = "{\"x\":1}";
	b.version = 2;
	OK(channel_update, &b, 1);
	GIVES(AX_CONFLICT, channel_update, &b, 1);
	b.name = "a";
	GIVES(AX_EXISTS, channel_update, &b, 2);
	OK(channel_get, b.id, true, &again);
	assert_string_equal(again.settings, "{\"x\":1}");
	OK(channel_delete, b.id);
	GIVES(AX_NOT_FOUND, channel_delete, b.id);
	GIVES(AX_NOT_FOUND, channel_get, b.id, true, &again);
	GIVES(AX_NOT_FOUND, channel_update, &b, 2);
}

static struct ax_alert plain_alert(enum ax_alert_rule rule, const char *episode)
{
	return (struct ax_alert){
		.rule = rule,
		.group_key = "g",
		.episode = episode,
		.subject = "",
		.detail = "",
		.count = 1,
		.resolve_note = "",
		.note = "",
		.note_by = "",
	};
}

TX_TEST(test_one_open_alert_per_episode)
{
	struct ax_alert alert = plain_alert(AX_ALERT_FAILED, "1"), other = plain_alert(AX_ALERT_FAILED, "2"), found;
	OK(alert_insert, &alert, &alert.id);
	OK(alert_insert, &other, &other.id);
	GIVES(AX_EXISTS, alert_insert, &alert, &found.id);
	assert_string_equal(err->field, "episode");
	OK(alert_find, AX_ALERT_FAILED, "g", "1", true, &found);
	assert_int_equal(found.id, alert.id);
	GIVES(AX_NOT_FOUND, alert_find, AX_ALERT_LATE, "g", "1", true, &found);
	GIVES(AX_NOT_FOUND, alert_find, AX_ALERT_FAILED, "h", "1", true, &found);
	alert.state = AX_ALERT_RESOLVED;
	OK(alert_update, &alert, 0);
	GIVES(AX_CONFLICT, alert_update, &alert, 0);
	GIVES(AX_NOT_FOUND, alert_find, AX_ALERT_FAILED, "g", "1", true, &found);
	struct ax_alert next = plain_alert(AX_ALERT_FAILED, "1");
	OK(alert_insert, &next, &next.id);
	alert.state = AX_ALERT_OPEN; /* nobody does this; the key would be taken */
	GIVES(AX_EXISTS, alert_update, &alert, 1);
	alert.id = 99;
	GIVES(AX_NOT_FOUND, alert_update, &alert, 1);
}

TX_TEST(test_alert_lists)
{
	struct ax_alerts list;
	int64_t before, by_rule[32];
	struct ax_alert_filter f = { .state = -1, .limit = 2, .scan_limit = 100 };
	static const char *const episodes[] = { "1", "2", "3", "4", "5", "6" };
	for (int i = 0; i < 6; i++) {
		struct ax_alert alert = plain_alert(i % 2 == 0 ? AX_ALERT_FAILED : AX_ALERT_LATE, episodes[i]);
		alert.state = i < 2 ? AX_ALERT_RESOLVED : AX_ALERT_OPEN;
		alert.task_id = i / 2;
		alert.told_time = 100 - i;
		alert.muted = i == 3;
		OK(alert_insert, &alert, &alert.id);
	}
	OK(alerts_open, AX_ALERT_FAILED, 0, 10, &list);
	ASSERT_IDS(list, 3, 5);
	OK(alerts_open, AX_ALERT_FAILED, 3, 10, &list);
	ASSERT_IDS(list, 5);
	OK(alerts_of_task, 1, 10, &list);
	ASSERT_IDS(list, 3, 4);
	OK(alerts_of_task, 0, 10, &list);
	assert_int_equal(list.n, 0); /* of no task: not of this one */
	OK(alerts_untold, 98, 10, &list);
	ASSERT_IDS(list, 6, 5, 3);
	OK(alerts_untold, 96, 10, &list);
	ASSERT_IDS(list, 6, 5);
	OK(alert_counts, by_rule);
	assert_int_equal(by_rule[AX_ALERT_FAILED], 2);
	assert_int_equal(by_rule[AX_ALERT_LATE], 2);
	OK(alerts_page, &f, &list, &before);
	ASSERT_IDS(list, 6, 5);
	f.before_id = before;
	f.state = AX_ALERT_OPEN;
	OK(alerts_page, &f, &list, &before);
	ASSERT_IDS(list, 4, 3);
	f = (struct ax_alert_filter){
		.state = -1, .rule = AX_ALERT_FAILED, .group_key = "g", .limit = 10, .scan_limit = 3
	};
	OK(alerts_page, &f, &list, &before);
	ASSERT_IDS(list, 5);
	assert_int_equal(before, 4);
	f.before_id = before;
	OK(alerts_page, &f, &list, &before);
	ASSERT_IDS(list, 3, 1);
	assert_int_equal(before, 0);
}

static struct ax_delivery plain_delivery(int64_t alert_id, int64_t channel_id, int64_t next_time)
{
	return (struct ax_delivery){
		.alert_id = alert_id,
		.channel_id = channel_id,
		.kind = AX_TELL_OPEN,
		.next_time = next_time,
		.server = -1,
		.create_time = next_time,
		.error = "",
	};
}

TX_TEST(test_deliveries_are_due_in_the_order_of_their_alert)
{
	struct ax_delivery rows[5] = {
		plain_delivery(1, 7, 300),
		plain_delivery(1, 7, 100), /* behind the first */
		plain_delivery(2, 7, 200),
		plain_delivery(1, 8, 50),
		plain_delivery(3, 7, 900),
	};
	struct ax_deliveries due;
	int64_t n;
	for (int i = 0; i < 5; i++)
		OK(delivery_insert, &rows[i], &rows[i].id);
	OK(deliveries_due, 7, 500, 10, &due);
	ASSERT_IDS(due, 3, 1);
	OK(deliveries_due, 7, 250, 10, &due);
	ASSERT_IDS(due, 3);
	OK(deliveries_due, 7, 500, 1, &due);
	ASSERT_IDS(due, 3);
	rows[0].state = AX_DELIVERY_SENT;
	OK(delivery_update, &rows[0], 0);
	GIVES(AX_CONFLICT, delivery_update, &rows[0], 0);
	OK(deliveries_due, 7, 500, 10, &due);
	ASSERT_IDS(due, 2, 3);
	OK(deliveries_pending, &n);
	assert_int_equal(n, 4);
	rows[4].server = 5;
	OK(delivery_update, &rows[4], 0);
	OK(deliveries_release, 4);
	OK(delivery_get, 5, true, &rows[4]);
	assert_int_equal(rows[4].server, 5);
	OK(deliveries_release, 5);
	OK(delivery_get, 5, true, &rows[4]);
	assert_int_equal(rows[4].server, -1);
	assert_int_equal(rows[4].rev, 2);
	OK(deliveries_due, 7, 0, 10, &due);
	ASSERT_IDS(due, 5);
	OK(deliveries_of_alert, 1, 2, &due);
	ASSERT_IDS(due, 1, 2);
	OK(deliveries_of_channel, 7, 0, 2, &due);
	ASSERT_IDS(due, 5, 3);
	OK(deliveries_of_channel, 7, 3, 10, &due);
	ASSERT_IDS(due, 2, 1);
	GIVES(AX_NOT_FOUND, delivery_get, 99, true, &rows[0]);
}

TX_TEST(test_alerts_are_purged_with_their_deliveries)
{
	struct ax_alert rows[3] = { plain_alert(AX_ALERT_FAILED, "1"), plain_alert(AX_ALERT_FAILED, "2"),
		plain_alert(AX_ALERT_FAILED, "3") };
	struct ax_delivery delivery;
	struct ax_deliveries left;
	int deleted;
	rows[0].state = rows[1].state = AX_ALERT_RESOLVED;
	rows[0].resolve_time = 200;
	rows[1].resolve_time = 100;
	for (int i = 0; i < 3; i++) {
		OK(alert_insert, &rows[i], &rows[i].id);
		delivery = plain_delivery(rows[i].id, 7, 10);
		OK(delivery_insert, &delivery, &delivery.id);
	}
	for (int i = 0; i < 2; i++) { /* tests */
		delivery = plain_delivery(0, 7, i == 0 ? 10 : 500);
		OK(delivery_insert, &delivery, &delivery.id);
	}
	OK(alerts_purge, 300, 1, &deleted);
	assert_int_equal(deleted, 1);
	GIVES(AX_NOT_FOUND, alert_get, 2, true, &rows[1]);
	OK(alert_get, 1, true, &rows[0]);
	OK(alerts_purge, 200, 10, &deleted);
	assert_int_equal(deleted, 0);
	OK(alerts_purge, 201, 10, &deleted);
	assert_int_equal(deleted, 1);
	OK(deliveries_of_channel, 7, 0, 10, &left);
	ASSERT_IDS(left, 5, 3);
}

TX_TEST(test_what_waits_or_is_missing)
{
	struct ax_tasks tasks;
	struct ax_runs runs;
	static const char *const names[] = { "a", "b", "c", "d" };
	for (int i = 0; i < 4; i++) {
		struct ax_task task = plain_task("g", names[i]);
		task.status = i == 3 ? AX_TASK_PAUSED : AX_TASK_ENABLED;
		task.def.absence_seconds = i == 0 ? 0 : 10;
		task.absence_time = i == 2 ? 5001 : 1000;
		OK(task_insert, &task, &task.id);
	}
	OK(tasks_absent, 15000, 0, 10, &tasks);
	ASSERT_IDS(tasks, 2);
	OK(tasks_absent, 15001, 0, 10, &tasks);
	ASSERT_IDS(tasks, 2, 3);
	OK(tasks_absent, 15001, 2, 10, &tasks);
	ASSERT_IDS(tasks, 3);
	for (int64_t gid = 1; gid <= 6; gid++) {
		struct ax_run run = plain_run(gid, 1);
		run.trigger_time = 100 - gid;
		run.fence = gid == 2;
		run.status = gid == 3 ? AX_RUN_PENDING : gid >= 5 ? AX_RUN_MISSED : AX_RUN_WAITING;
		run.reason = gid == 6 ? "dismissed" : gid == 5 ? "missed" : "";
		OK(run_insert, &run);
	}
	OK(runs_undispatched, 99, 0, 0, 10, &runs);
	ASSERT_GIDS(runs, 4, 1);
	OK(runs_undispatched, 98, 0, 0, 10, &runs);
	ASSERT_GIDS(runs, 4);
	OK(runs_undispatched, 99, 96, 4, 10, &runs);
	ASSERT_GIDS(runs, 1);
	OK(runs_undecided, 1, 10, &runs);
	ASSERT_GIDS(runs, 5);
	OK(runs_undecided, 2, 10, &runs);
	assert_int_equal(runs.n, 0);
}

TX_TEST(test_rows_handed_out_stay)
{
	struct ax_group group = plain_group("g"), before, after;
	group.title = "first";
	OK(group_insert, &group);
	OK(group_get, "g", true, &before);
	group.title = "second";
	OK(group_update, &group, 1);
	OK(group_get, "g", true, &after);
	OK(group_delete, "g");
	assert_string_equal(before.title, "first");
	assert_string_equal(after.title, "second");
}

/* One row of everything. */
static void insert_everything(struct ax_tx *tx, struct ax_err *err)
{
	struct ax_task task = plain_task("g", "a");
	struct ax_run run = plain_run(10, 1);
	struct ax_group group = plain_group("g");
	struct ax_token token;
	struct ax_idem idem = { .key = "k", .hash = "", .body = "", .expire_time = 1 };
	struct ax_output output = { .gid = 10, .fence = 1, .data = "x", .len = 1 };
	task.next_trigger_time = 100;
	fill_row(&ax_token_row, tx->arena, 1, &token);
	token.kind = "api";
	OK(task_insert, &task, &task.id);
	OK(run_insert, &run);
	OK(group_insert, &group);
	OK(token_insert, &token, &token.id);
	OK(idem_put, &idem);
	OK(output_append, &output);
	OK(worker_group_put, "w", "g", 5);
}

static void check_everything(struct ax_tx *tx, struct ax_err *err)
{
	struct ax_tasks tasks;
	struct ax_runs runs;
	struct ax_run run;
	struct ax_group group;
	struct ax_tokens tokens;
	struct ax_idem idem;
	struct ax_worker_group row;
	int64_t bytes, chunks, last_seq;
	OK(tasks_due, 100, 10, &tasks);
	ASSERT_IDS(tasks, 1);
	assert_string_equal(tasks.at[0].def.task_name, "a");
	OK(runs_claimable, "g", "x", AX_RUN_LANE_SHORT, "", INT64_MIN, 0, 10, &runs);
	ASSERT_GIDS(runs, 10);
	assert_int_equal(runs.at[0].rev, 0);
	GIVES(AX_NOT_FOUND, run_get, 11, false, &run);
	OK(group_get, "g", false, &group);
	assert_int_equal(group.running, 0);
	OK(tokens, &tokens);
	ASSERT_IDS(tokens, 1);
	OK(idem_get, "k", &idem);
	OK(output_size, 10, 1, &bytes, &chunks, &last_seq);
	assert_int_equal(bytes, 1);
	OK(worker_group_get, "w", "g", false, &row);
	assert_int_equal(row.given, 0);
}

/* Changes every kind of row in every way, and then fails. */
static enum ax_status change_everything(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_task task, other = plain_task("g", "b");
	struct ax_run run = plain_run(11, 1);
	struct ax_output output = { .gid = 10, .fence = 1, .seq = 1, .data = "yy", .len = 2 };
	OK(run_insert, &run);
	OK(run_get, 10, true, &run);
	for (int i = 0; i < 3; i++) {
		run.status = i < 2 ? AX_RUN_RUNNING : AX_RUN_SUCCESS;
		run.end_time = i < 2 ? 0 : 5;
		OK(run_update, &run, i);
		OK(group_add_running, "g", 1, 1);
		OK(worker_group_add_given, "w", "g", 1, 1);
	}
	OK(task_get, 1, true, &task);
	task.def.task_name = "renamed";
	task.next_trigger_time = 0;
	OK(task_update, &task, 1, 100);
	OK(task_insert, &other, &other.id);
	assert_true(other.id > 1);
	OK(task_delete, 1);
	OK(output_append, &output);
	int deleted;
	OK(runs_purge, 6, 10, &deleted);
	assert_int_equal(deleted, 1);
	OK(tokens_expire, INT64_MAX, NULL);
	OK(idem_purge, INT64_MAX);
	OK(worker_group_drop, "w", "g");
	GIVES(AX_EXISTS, run_insert,
		&(struct ax_run){ .gid = 11,
			.group_key = "",
			.executor_key = "",
			.fire_key = "",
			.reason = "",
			.worker = "",
			.incarnation = "",
			.result_msg = "",
			.result = "",
			.params = "",
			.trace_id = "",
			.progress_msg = "",
			.demand = "" });
	return *(enum ax_status *)arg == AX_OK ? AX_OK : ax_fail(err, *(enum ax_status *)arg, "", "wanted");
}

TX_TEST(insert_second_task)
{
	struct ax_task task = plain_task("g", "b");
	OK(task_insert, &task, &task.id);
	assert_true(task.id > 1); /* ids of a rolled back transaction may be used, or not */
}

static void test_a_failed_function_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	in_transaction(f, insert_everything);
	static const enum ax_status failures[] = { AX_INVALID, AX_CONFLICT, AX_EXISTS, AX_NOT_FOUND, AX_BROKEN };
	for (size_t i = 0; i < AX_COUNT(failures); i++) {
		enum ax_status failure = failures[i];
		expect_end(f, failure, change_everything, &failure);
		in_transaction(f, check_everything);
	}
	insert_second_task(state);
}

static struct ax_fault planned(void *arg)
{
	return *(struct ax_fault *)arg;
}

static void test_a_function_may_run_twice(void **state)
{
	struct fixture *f = *state;
	in_transaction(f, insert_everything);
	struct ax_fault fault = { AX_FAULT_TWICE, AX_OK, 0 };
	struct ax_fault_store wrapper;
	ax_fault_store_init(&wrapper, f->store, planned, &fault);
	struct ax_err err;
	enum ax_status nothing = AX_OK;
	assert_int_equal(ax_store_run(&wrapper.store, &f->arena, change_everything, &nothing, &err), AX_OK);
}

/* A little of everything, giving up at the first failure. */
static enum ax_status write_a_little(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	struct ax_group group = plain_group("g");
	struct ax_task task = plain_task("g", "a");
	struct ax_run run = plain_run(10, 1);
	struct ax_output output = { .gid = 10, .fence = 1, .data = "x", .len = 1 };
	enum ax_status status = tx->ops->group_insert(tx, &group, err);
	if (status == AX_OK)
		status = tx->ops->task_insert(tx, &task, &task.id, err);
	if (status == AX_OK)
		status = tx->ops->run_insert(tx, &run, err);
	if (status == AX_OK)
		status = tx->ops->group_add_running(tx, "g", 1, 0, err);
	run.status = AX_RUN_DISPATCHED;
	if (status == AX_OK)
		status = tx->ops->run_update(tx, &run, 0, err);
	return status == AX_OK ? tx->ops->output_append(tx, &output, err) : status;
}

TX_TEST(check_nothing)
{
	struct ax_groups groups;
	struct ax_tasks tasks;
	struct ax_runs runs;
	struct ax_outputs outputs;
	int64_t before;
	OK(groups, &groups);
	OK(tasks_page, &((struct ax_task_filter){ .status = -1, .limit = 9 }), &tasks);
	OK(runs_page, &any_run, &runs, &before);
	OK(outputs, 10, 0, -1, 9, &outputs);
	assert_int_equal(groups.n + tasks.n + runs.n + outputs.n, 0);
}

/* B145 */
static void test_a_fault_at_any_operation_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct ax_fault fault = { AX_FAULT_OP, AX_FULL, 1 };
	struct ax_fault_store wrapper;
	struct ax_err err;
	ax_fault_store_init(&wrapper, f->store, planned, &fault);
	while (ax_store_run(&wrapper.store, &f->arena, write_a_little, NULL, &err) != AX_OK) {
		assert_int_equal(err.status, AX_FULL);
		check_nothing(state);
		fault.op++;
	}
	assert_int_equal(fault.op, 7); /* six operations failed, each once */
}

static enum ax_status swallow(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct ax_group other = plain_group("other");
	take_too_much_of_a_group(tx, arg, err);
	tx->ops->group_insert(tx, &other, err);
	return AX_OK;
}

static void test_a_swallowed_failure_ends_the_transaction(void **state)
{
	expect_end(*state, AX_BROKEN, swallow, NULL);
	check_nothing(state);
}

/* many rows at once: what a store keeps and writes together is as if it had been written at once */

enum { MANY = 7 };

static void insert_many(struct ax_tx *tx, struct ax_err *err)
{
	static const char *const names[MANY] = { "a", "b", "c", "d", "e", "f", "g" };
	struct ax_group group = plain_group("g");
	OK(group_insert, &group);
	for (int i = 0; i < MANY; i++) {
		struct ax_task task = plain_task("g", names[i]);
		task.next_trigger_time = 100;
		OK(task_insert, &task, &task.id);
		struct ax_task_version v = { .task_id = task.id, .version = 1, .author = "", .def = task.def };
		OK(task_version_insert, &v);
	}
	struct ax_run run = plain_run(50, 3);
	run.fire_key = "100";
	run.status = AX_RUN_SUCCESS;
	OK(run_insert, &run);
}

struct firing {
	int calls, existed;
};

/* A fire of each task; one was made before. */
static enum ax_status fire_many(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct firing *firing = arg;
	struct ax_tasks tasks;
	firing->calls++;
	firing->existed = 0;
	OK(tasks_due, 100, 20, &tasks);
	assert_int_equal(tasks.n, MANY);
	for (int i = 0; i < tasks.n; i++) {
		struct ax_task *task = &tasks.at[i];
		struct ax_run run = plain_run(100 + i, task->id), out;
		char key[] = "100", worker[] = "w"; /* gone when the transaction ends */
		int64_t live;
		OK(runs_live_count, task->id, 10, &live);
		assert_int_equal(live, 0);
		run.fire_key = key;
		run.status = AX_RUN_WAITING;
		enum ax_status status = tx->ops->run_insert(tx, &run, err);
		firing->existed += status == AX_EXISTS;
		assert_true(status == AX_OK || status == AX_EXISTS);
		if (status == AX_OK) {
			OK(run_get, run.gid, true, &out);
			out.worker = worker;
			OK(run_update, &out, 0);
			OK(run_find, task->id, run.kind, "100", 0, &out);
			assert_true(out.gid == run.gid && out.rev == 1 && strcmp(out.worker, "w") == 0);
			out.rev = 0;
			GIVES(AX_CONFLICT, run_update, &out, 0);
		}
		task->next_trigger_time = 200 + i;
		GIVES(AX_CONFLICT, task_advance, task, 99);
		OK(task_advance, task, 100);
		task->last_run_gid = run.gid;
		OK(task_last_run, task);
		key[0] = worker[0] = '-';
	}
	return AX_OK;
}

static enum ax_status look_at_many(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	for (int i = 0; i < MANY; i++) {
		struct ax_task task;
		struct ax_run run;
		int64_t live;
		OK(task_get, i + 1, false, &task);
		assert_int_equal(task.next_trigger_time, 200 + i);
		OK(runs_live_count, task.id, 10, &live);
		assert_int_equal(live, i != 2);
		GIVES(i == 2 ? AX_NOT_FOUND : AX_OK, run_get, 100 + i, false, &run);
		if (i == 2)
			continue;
		assert_string_equal(run.fire_key, "100");
		assert_string_equal(run.worker, "w");
		assert_int_equal(run.rev, 1);
	}
	return AX_OK;
}

/* All of them end, each in its way. */
static enum ax_status end_many(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct ax_ids gids = { (const int64_t[]){ 50, 100, 101, 103, 104, 105, 106 }, MANY };
	const struct ax_ids ending = { (const int64_t[]){ 100, 101, 103, 104, 105, 106 }, MANY - 1 };
	struct ax_runs runs;
	struct ax_run run, next = plain_run(200, 6);
	struct ax_alerts alerts;
	struct ax_upstreams downstreams;
	(void)arg;
	OK(runs_expect, &gids, &ending);
	for (int i = 0; i < ending.n; i++) {
		struct ax_task task;
		struct ax_task_version v;
		int64_t rev = i == 4 ? 4 : 1;
		OK(run_get, ending.at[i], true, &run);
		OK(task_version_get, run.task_id, 1, &v);
		assert_int_equal(v.task_id, run.task_id);
		GIVES(AX_NOT_FOUND, task_version_get, run.task_id, 2, &v);
		if (i == 4) { /* a heartbeat that gives it back, and one too late */
			run.status = AX_RUN_RUNNING;
			OK(run_update, &run, 1);
			run.rev++;
			OK(run_renew, run.gid, run.fence, 7, 8);
			GIVES(AX_CONFLICT, run_renew, run.gid, run.fence + 1, 7, 8);
			OK(run_get, run.gid, true, &run);
			assert_int_equal(run.deadline_time, 8);
			run.status = AX_RUN_RETRYING;
			OK(run_update, &run, 3);
		}
		run.status = i % 2 == 0 ? AX_RUN_SUCCESS : AX_RUN_FAILED;
		run.end_time = 300;
		OK(run_update, &run, rev);
		OK(task_get, run.task_id, true, &task);
		task.last_run_gid = run.gid;
		task.last_run_end_time = 300;
		OK(task_last_run, &task);
		OK(runs_held, run.task_id, 10, &runs);
		assert_int_equal(runs.n, 0);
		OK(alerts_of_task, run.task_id, 10, &alerts);
		assert_int_equal(alerts.n, 0);
		OK(downstreams_of, run.task_id, &downstreams);
		assert_int_equal(downstreams.n, 0);
	}
	/* what was not there is there when it has been made */
	next.status = AX_RUN_WAITING;
	next.hold = AX_HOLD_OVERLAP;
	next.fire_key = "held";
	OK(run_insert, &next);
	OK(runs_held, 6, 10, &runs);
	ASSERT_GIDS(runs, 200);
	OK(upstream_insert, &(struct ax_upstream){ .task_id = 1, .upstream_id = 6 });
	OK(downstreams_of, 6, &downstreams);
	assert_int_equal(downstreams.n, 1);
	struct ax_run_filter failed = { .statuses = UINT32_C(1) << AX_RUN_FAILED, .limit = 10, .scan_limit = 100 };
	int64_t before;
	OK(runs_page, &failed, &runs, &before);
	ASSERT_GIDS(runs, 106, 104, 101);
	OK(run_get, 106, true, &run);
	run.status = AX_RUN_RUNNING;
	enum ax_status status = tx->ops->run_update(tx, &run, run.rev, err);
	assert_int_equal(status, AX_BROKEN); /* it has ended */
	return AX_OK;
}

static enum ax_status end_many_well(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	const struct ax_ids gids = { (const int64_t[]){ 100, 101, 103, 104, 105, 106 }, MANY - 1 };
	struct ax_run run;
	(void)arg;
	OK(runs_expect, &gids, &gids);
	for (int i = 0; i < gids.n; i++) {
		OK(run_get, gids.at[i], true, &run);
		run.status = AX_RUN_SUCCESS;
		run.result_msg = i == 0 ? "first" : "";
		OK(run_update, &run, 1);
	}
	return AX_OK;
}

TX_TEST(look_at_ended)
{
	struct ax_run run;
	int64_t counts[32];
	OK(ended_counts, 0, INT64_MAX, counts);
	assert_int_equal(counts[AX_RUN_SUCCESS], MANY);
	OK(run_get, 100, false, &run);
	assert_string_equal(run.result_msg, "first");
	assert_int_equal(run.rev, 2);
}

static void open_alert(struct ax_tx *tx, enum ax_alert_rule rule, int64_t task_id, struct ax_err *err)
{
	struct ax_alert alert = plain_alert(rule, task_id == 1 ? "1" : "4");
	alert.task_id = task_id;
	OK(alert_insert, &alert, &alert.id);
}

static void insert_what_few_have(struct ax_tx *tx, struct ax_err *err)
{
	insert_many(tx, err);
	OK(upstream_insert, &(struct ax_upstream){ .task_id = 3, .upstream_id = 1 });
	OK(upstream_insert, &(struct ax_upstream){ .task_id = 2, .upstream_id = 1 });
	OK(upstream_insert, &(struct ax_upstream){ .task_id = 5, .upstream_id = 4 });
	open_alert(tx, AX_ALERT_FAILED, 4, err);
	open_alert(tx, AX_ALERT_FAILED, 1, err);
	open_alert(tx, AX_ALERT_LATE, 4, err);
	for (int i = 0; i < 3; i++) {
		struct ax_run run = plain_run(70 + i, i == 2 ? 6 : 2);
		run.status = i == 2 ? AX_RUN_PENDING : AX_RUN_WAITING;
		run.hold = i == 1 ? AX_HOLD_OVERLAP : AX_HOLD_NONE;
		run.fire_key = i == 0 ? "x" : "y";
		OK(run_insert, &run);
	}
}

static void check_few(struct ax_tx *tx, struct ax_err *err)
{
	struct ax_upstreams behind;
	struct ax_alerts alerts;
	int64_t live;
	OK(downstreams_of, 1, &behind);
	assert_int_equal(behind.n, 2);
	assert_int_equal(behind.at[0].task_id, 2);
	assert_int_equal(behind.at[1].task_id, 3);
	OK(downstreams_of, 4, &behind);
	assert_int_equal(behind.n, 1);
	OK(downstreams_of, 2, &behind);
	assert_int_equal(behind.n, 0);
	OK(alerts_of_task, 4, 9, &alerts);
	ASSERT_IDS(alerts, 1, 3);
	OK(alerts_of_task, 4, 1, &alerts);
	ASSERT_IDS(alerts, 1);
	OK(alerts_of_task, 1, 9, &alerts);
	ASSERT_IDS(alerts, 2);
	OK(alerts_of_task, 7, 9, &alerts);
	assert_int_equal(alerts.n, 0);
	OK(runs_live_count, 2, 10, &live);
	assert_int_equal(live, 1);
	OK(runs_live_count, 2, 1, &live);
	assert_int_equal(live, 1);
	OK(runs_live_count, 6, 10, &live);
	assert_int_equal(live, 0);
}

/* What is asked of many tasks at once is true again after every change. */
TX_TEST(test_what_few_tasks_have)
{
	struct ax_tasks tasks;
	struct ax_upstreams behind;
	struct ax_alerts alerts;
	struct ax_alert alert;
	struct ax_run run;
	int64_t live;
	insert_what_few_have(tx, err);
	OK(tasks_due, 100, 20, &tasks);
	assert_int_equal(tasks.n, MANY);
	check_few(tx, err);
	check_few(tx, err);
	OK(alert_get, 3, true, &alert);
	alert.state = AX_ALERT_RESOLVED;
	OK(alert_update, &alert, alert.rev);
	OK(alerts_of_task, 4, 9, &alerts);
	ASSERT_IDS(alerts, 1);
	OK(alert_get, 1, true, &alert);
	alert.task_id = 7; /* as that of a group of failures may be */
	OK(alert_update, &alert, alert.rev);
	OK(alerts_of_task, 4, 9, &alerts);
	assert_int_equal(alerts.n, 0);
	OK(alerts_of_task, 7, 9, &alerts);
	ASSERT_IDS(alerts, 1);
	OK(upstreams_delete, 3);
	OK(downstreams_of, 1, &behind);
	assert_int_equal(behind.n, 1);
	OK(run_get, 70, true, &run);
	run.status = AX_RUN_SUCCESS;
	OK(run_update, &run, run.rev);
	OK(runs_live_count, 2, 10, &live);
	assert_int_equal(live, 0);
	run = plain_run(80, 6);
	run.status = AX_RUN_WAITING;
	run.fire_key = "z";
	OK(run_insert, &run);
	OK(runs_live_count, 6, 10, &live);
	assert_int_equal(live, 1);
}

/* Rows that are written together later are there for whoever asks. */
TX_TEST(test_what_is_put_is_there)
{
	struct ax_attempt attempt = {
		.gid = 1, .outcome = AX_OUTCOME_LOST, .worker = "", .message = "", .late_message = ""
	};
	struct ax_run_upstream seen = {
		.gid = 1, .upstream_id = 5, .upstream_gid = 6, .upstream_status = AX_RUN_FAILED
	};
	struct ax_attempts attempts;
	struct ax_run_upstreams all;
	for (int i = 1; i <= 3; i++) {
		char text[] = "a"; /* gone before it is asked for */
		attempt.fence = i;
		attempt.message = text;
		OK(attempt_put, &attempt);
		text[0] = '-';
	}
	attempt.message = "b";
	OK(attempt_put, &attempt);
	OK(attempts, 1, &attempts);
	assert_int_equal(attempts.n, 3);
	assert_string_equal(attempts.at[0].message, "a");
	assert_string_equal(attempts.at[2].message, "b");
	OK(run_upstream_put, &seen);
	seen.upstream_status = AX_RUN_SUCCESS;
	OK(run_upstream_put, &seen);
	OK(run_upstreams, 1, &all);
	assert_int_equal(all.n, 1);
	assert_int_equal(all.at[0].upstream_status, AX_RUN_SUCCESS);
	for (int i = 0; i < 4; i++) {
		struct ax_failure_hour hour = { .failure_id = 9, .hour = i / 3, .count = 2 };
		OK(failure_hour_add, &hour);
	}
	struct ax_failure_hours hours;
	OK(failure_hours, 9, &hours);
	assert_int_equal(hours.n, 2);
	assert_int_equal(hours.at[0].count, 6);
	assert_int_equal(hours.at[1].count, 2);
}

static void test_many_at_once(void **state)
{
	struct fixture *f = *state;
	struct firing firing = { 0 };
	in_transaction(f, insert_many);
	expect_end(f, AX_OK, fire_many, &firing);
	assert_int_equal(firing.existed, 1);
	assert_true(firing.calls <= 2);
	expect_end(f, AX_OK, look_at_many, NULL);
	expect_end(f, AX_BROKEN, end_many, NULL);
	expect_end(f, AX_OK, look_at_many, NULL);
	expect_end(f, AX_OK, end_many_well, NULL);
	look_at_ended(state);
}

/* So many that their steps are written together, one of them not like the others. */
enum { CROWD = 24, ODD = 7 };

TX_TEST(make_crowd)
{
	struct ax_group group = plain_group("g");
	struct ax_task task = plain_task("g", "crowd");
	OK(group_insert, &group);
	OK(task_insert, &task, &task.id);
	for (int i = 0; i < CROWD; i++) {
		char key[] = { (char)('a' + i), '\0' };
		struct ax_run run = plain_run(300 + i, task.id);
		run.fire_key = key;
		run.status = AX_RUN_WAITING;
		OK(run_insert, &run);
	}
}

static void step_crowd(struct ax_tx *tx, enum ax_run_state status, int64_t rev, struct ax_err *err)
{
	int64_t gids[CROWD];
	for (int i = 0; i < CROWD; i++)
		gids[i] = 300 + i;
	const struct ax_ids all = { gids, CROWD }, none = { gids, 0 };
	OK(runs_expect, &all, &none);
	for (int i = 0; i < CROWD; i++) {
		struct ax_run run;
		OK(run_get, gids[i], true, &run);
		assert_int_equal(run.rev, rev);
		run.status = status;
		run.worker = i == ODD ? "odd" : "w";
		run.fence = 1;
		run.dispatch_time = 5;
		run.start_time = status == AX_RUN_DISPATCHED ? 0 : 6 + i % 2;
		run.end_time = status == AX_RUN_SUCCESS ? 9 : 0;
		OK(run_update, &run, rev);
	}
}

TX_TEST(give_crowd)
{
	step_crowd(tx, AX_RUN_DISPATCHED, 0, err);
}

TX_TEST(begin_crowd)
{
	step_crowd(tx, AX_RUN_RUNNING, 1, err);
}

TX_TEST(end_crowd)
{
	step_crowd(tx, AX_RUN_SUCCESS, 2, err);
}

TX_TEST(look_at_crowd)
{
	int64_t counts[32];
	OK(ended_counts, 0, INT64_MAX, counts);
	assert_int_equal(counts[AX_RUN_SUCCESS], CROWD);
	for (int i = 0; i < CROWD; i++) {
		struct ax_run run;
		OK(run_get, 300 + i, false, &run);
		assert_true(run.rev == 3 && run.status == AX_RUN_SUCCESS && run.fence == 1);
		assert_string_equal(run.worker, i == ODD ? "odd" : "w");
		assert_true(run.dispatch_time == 5 && run.start_time == 6 + i % 2 && run.end_time == 9);
	}
}

static void test_steps_of_a_crowd(void **state)
{
	make_crowd(state);
	give_crowd(state);
	begin_crowd(state);
	end_crowd(state);
	look_at_crowd(state);
}

int main(int argc, char **argv)
{
	kind_of_store = argc == 2 ? argv[1] : "";
	if (strcmp(kind_of_store, "mem") != 0 && strcmp(kind_of_store, "sqlite") != 0 &&
		strcmp(kind_of_store, "mariadb") != 0) {
		fprintf(stderr, "usage: store_contract mem|sqlite|mariadb\n");
		return 2;
	}
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fixture_down)
	const struct CMUnitTest tests[] = {
		TEST(test_task_columns),
		TEST(test_version_and_epoch_columns),
		TEST(test_run_columns),
		TEST(test_attempt_and_output_columns),
		TEST(test_group_and_worker_columns),
		TEST(test_workers_by_name),
		TEST(test_account_columns),
		TEST(test_server_audit_idem_columns),
		TEST(test_event_columns),
		TEST(test_events),
		TEST(test_tasks_listening),
		TEST(test_chains),
		TEST(test_notices),
		TEST(test_leases),
		TEST(test_task_update),
		TEST(test_task_names_are_unique_in_a_group),
		TEST(test_task_ids_are_not_used_again),
		TEST(test_task_advance_and_last_run),
		TEST(test_tasks_page),
		TEST(test_tasks_due),
		TEST(test_task_counts),
		TEST(test_tasks_stuck),
		TEST(test_tasks_ending),
		TEST(test_versions_and_epochs_are_paged),
		TEST(test_one_fire_one_run),
		TEST(test_run_update),
		TEST(test_a_terminal_run_never_changes),
		TEST(test_run_renew),
		TEST(test_lists_of_a_task),
		TEST(test_runs_are_claimed_by_rank),
		TEST(test_each_executor_lane_and_demand_has_its_queue),
		TEST(test_overdue_runs),
		TEST(test_runs_ahead),
		TEST(test_rows_by_id),
		TEST(test_store_id),
		TEST(test_run_set_due),
		TEST(test_runs_watched),
		TEST(test_runs_of_a_worker),
		TEST(test_what_is_given_in_a_group),
		TEST(test_run_counts),
		TEST(test_ended_minutes),
		TEST(test_runs_of_a_task_go),
		TEST(test_shards),
		TEST(test_what_sees_no_shards),
		TEST(test_shards_are_purged_with_their_parent),
		TEST(test_run_filters),
		TEST(test_run_pages),
		TEST(test_a_page_looks_past_what_it_does_not_want),
		TEST(test_runs_fired),
		TEST(test_attempts),
		TEST(test_output),
		TEST(test_output_cut),
		TEST(test_purge),
		TEST(test_failure_columns),
		TEST(test_failures_are_folded_once),
		TEST(test_failures_of_a_group),
		TEST(test_failure_group_update),
		TEST(test_failure_group_pages),
		TEST(test_failure_spread_and_hours),
		TEST(test_groups),
		TEST(test_a_used_group_stays),
		TEST(test_counters_and_checks),
		TEST(test_workers),
		TEST(test_accounts),
		TEST(test_calendars),
		TEST(test_tasks_of_a_calendar),
		TEST(test_backfills),
		TEST(test_runs_of_a_backfill),
		TEST(test_pages_of_a_batch),
		TEST(test_tokens),
		TEST(test_audit_log),
		TEST(test_kept_answers),
		TEST(test_alert_columns),
		TEST(test_channels),
		TEST(test_one_open_alert_per_episode),
		TEST(test_alert_lists),
		TEST(test_deliveries_are_due_in_the_order_of_their_alert),
		TEST(test_alerts_are_purged_with_their_deliveries),
		TEST(test_what_waits_or_is_missing),
		TEST(test_rows_handed_out_stay),
		TEST(test_a_failed_function_leaves_nothing),
		TEST(test_a_function_may_run_twice),
		TEST(test_what_few_tasks_have),
		TEST(test_steps_of_a_crowd),
		TEST(test_what_is_put_is_there),
		TEST(test_many_at_once),
		TEST(test_a_fault_at_any_operation_leaves_nothing),
		TEST(test_a_swallowed_failure_ends_the_transaction),
	};
	return cmocka_run_group_tests_name(kind_of_store, tests, NULL, NULL);
}
