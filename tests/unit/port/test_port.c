#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "port/mem_store.h"
#include "port/row.h"
#include "port/wrap_fault.h"
#include "port/wrap_trace.h"

/* Every member of every row struct is a field: what lies between two fields looks like padding. (A number of 64 bits or
 * a text that was forgotten shows; a forgotten flag in the padding of another does not.) */
static void test_rows_have_all_fields(void **state)
{
	(void)state;
	static const struct ax_row_type *const types[] = { &ax_task_row, &ax_task_version_row, &ax_epoch_row,
		&ax_run_row, &ax_attempt_row, &ax_output_row, &ax_group_row, &ax_worker_row, &ax_worker_group_row,
		&ax_server_row_row, &ax_lease_row, &ax_user_row, &ax_token_row, &ax_audit_row, &ax_idem_row,
		&ax_notice_row };
	static const size_t sizes[] = {
		[AX_FIELD_I64] = 8, [AX_FIELD_ENUM] = 4, [AX_FIELD_BOOL] = 1, [AX_FIELD_TEXT] = 8, [AX_FIELD_DATA] = 16
	};
	for (size_t t = 0; t < AX_COUNT(types); t++) {
		bool used[1024] = { false };
		assert_true(types[t]->size <= sizeof(used));
		for (int i = 0; i < types[t]->n; i++) {
			const struct ax_field *field = &types[t]->fields[i];
			for (size_t b = 0; b < sizes[field->kind]; b++) {
				assert_false(used[field->offset + b]);
				used[field->offset + b] = true;
			}
		}
		size_t gap = 0;
		for (size_t b = 0; b <= types[t]->size; b++) {
			bool padding = b < types[t]->size && !used[b];
			if (!padding)
				assert_true(gap == 0 || (gap < 8 && b % 8 == 0) || (gap < 4 && b % 4 == 0));
			gap = padding ? gap + 1 : 0;
		}
	}
}

static const struct ax_group billing = { .group_key = "billing", .title = "Bills", .contacts = "", .defaults = "{}" };

struct script {
	int calls;
	bool keep_going; /* answers AX_OK although an operation failed */
};

/* Inserts a group and counts its runs twice. */
static enum ax_status use_group(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct script *script = arg;
	script->calls++;
	int64_t n = 0;
	enum ax_status status = tx->ops->group_insert(tx, &billing, err);
	if (status == AX_OK)
		status = tx->ops->group_add_running(tx, "billing", 1, 0, err);
	if (status == AX_OK)
		status = tx->ops->group_waiting(tx, "billing", &n, err);
	return script->keep_going ? AX_OK : status;
}

static enum ax_status take_below_zero(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct script *script = arg;
	script->calls++;
	enum ax_status status = tx->ops->group_insert(tx, &billing, err);
	if (status == AX_OK)
		status = tx->ops->group_add_running(tx, "billing", -1, 0, err);
	return script->keep_going ? AX_OK : status;
}

static void test_a_lost_transaction_ends_with_its_failure(void **state)
{
	(void)state;
	struct ax_mem_store *mem = ax_mem_store_new();
	struct ax_arena arena = { 0 };
	struct ax_err err;
	for (int keep_going = 0; keep_going <= 1; keep_going++) {
		struct script script = { .keep_going = keep_going };
		enum ax_status status = ax_store_run(ax_mem_store_port(mem), &arena, take_below_zero, &script, &err);
		assert_int_equal(status, AX_BROKEN);
		assert_int_equal(ax_mem_store_count(mem, &ax_group_row), 0);
	}
	assert_int_equal(ax_mem_store_changes(mem, NULL), 0);
	ax_arena_done(&arena);
	ax_mem_store_free(mem);
}

static struct ax_fault planned(void *arg)
{
	return *(struct ax_fault *)arg;
}

static void test_faults_do_what_the_plan_says(void **state)
{
	(void)state;
	static const struct {
		struct ax_fault fault;
		enum ax_status status;
		int calls;
		size_t groups;
	} cases[] = {
		{ { AX_FAULT_NONE, AX_OK, 0 }, AX_OK, 1, 1 },
		{ { AX_FAULT_BEFORE, AX_BUSY, 0 }, AX_BUSY, 0, 0 },
		{ { AX_FAULT_TWICE, AX_OK, 0 }, AX_OK, 2, 1 },
		{ { AX_FAULT_AFTER, AX_UNCERTAIN, 0 }, AX_UNCERTAIN, 1, 1 },
		{ { AX_FAULT_OP, AX_FULL, 1 }, AX_FULL, 1, 0 },
		{ { AX_FAULT_OP, AX_BROKEN, 3 }, AX_BROKEN, 1, 0 },
		{ { AX_FAULT_OP, AX_FULL, 4 }, AX_OK, 1, 1 },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_mem_store *mem = ax_mem_store_new();
		struct ax_arena arena = { 0 };
		struct ax_err err;
		struct ax_fault fault = cases[i].fault;
		struct ax_fault_store wrapper;
		ax_fault_store_init(&wrapper, ax_mem_store_port(mem), planned, &fault);
		struct script script = { 0 };
		assert_int_equal(ax_store_run(&wrapper.store, &arena, use_group, &script, &err), cases[i].status);
		assert_int_equal(script.calls, cases[i].calls);
		assert_int_equal(ax_mem_store_count(mem, &ax_group_row), cases[i].groups);
		assert_int_equal(wrapper.injected[fault.kind], 1);
		ax_arena_done(&arena);
		ax_mem_store_free(mem);
	}
}

struct counter {
	struct ax_rand rand;
	uint64_t value;
};

static uint64_t count_on(struct ax_rand *rand)
{
	return ((struct counter *)(void *)rand)->value++;
}

static void test_chance_follows_its_rates(void **state)
{
	(void)state;
	static const struct ax_rand_ops ops = { count_on };
	struct counter counter = { .rand = { &ops } };
	struct ax_fault_chance never = { &counter.rand, 0, 0, 0, 0 };
	struct ax_fault_chance always = { &counter.rand, 0, 10000, 0, 0 };
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(ax_fault_by_chance(&never).kind, AX_FAULT_NONE);
		assert_int_equal(ax_fault_by_chance(&always).kind, AX_FAULT_TWICE);
	}
	struct ax_fault_chance mixed = { &counter.rand, 2500, 2500, 2500, 2500 };
	int seen[AX_FAULT_OP + 1] = { 0 };
	for (int i = 0; i < 1000; i++) {
		counter.value = (uint64_t)i * 10;
		struct ax_fault fault = ax_fault_by_chance(&mixed);
		seen[fault.kind]++;
		assert_true(fault.kind != AX_FAULT_OP || fault.op >= 1);
	}
	assert_int_equal(seen[AX_FAULT_NONE], 0);
	for (int kind = AX_FAULT_BEFORE; kind <= AX_FAULT_OP; kind++)
		assert_int_equal(seen[kind], 250);
}

struct kept_log {
	struct ax_log log;
	struct ax_buf text;
};

static void keep_event(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	struct ax_buf *text = &((struct kept_log *)(void *)log)->text;
	assert_int_equal(level, AX_LOG_DEBUG);
	ax_buf_printf(text, "%s {%s}\n", name, fields);
}

static enum ax_status use_accounts(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	(void)arg;
	int64_t id;
	struct ax_user user = { .name = "\"eve\"", .password_hash = "argon", .role = "admin" };
	tx->ops->user_insert(tx, &user, &id, err);
	tx->ops->user_count(tx, &id, err);
	return tx->ops->user_find(tx, "bob", &user, err);
}

static void test_trace_tells_everything_but_secrets(void **state)
{
	(void)state;
	static const struct ax_log_ops ops = { keep_event };
	struct kept_log log = { .log = { &ops } };
	ax_buf_init(&log.text, 100000);
	struct ax_mem_store *mem = ax_mem_store_new();
	struct ax_trace_store trace;
	ax_trace_store_init(&trace, ax_mem_store_port(mem), &log.log);
	struct ax_arena arena = { 0 };
	struct ax_err err;
	assert_int_equal(ax_store_run(&trace.store, &arena, use_accounts, NULL, &err), AX_NOT_FOUND);
	assert_string_equal(log.text.data,
		"store.begin {\"tx\":1}\n"
		"store.op {\"tx\":1,\"op\":\"user_insert\",\"in\":{\"user\":{\"id\":\"0\",\"name\":\"\\\"eve\\\"\","
		"\"password_hash\":\"***\",\"role\":\"admin\",\"create_time\":\"0\"}},\"status\":\"ok\","
		"\"out\":{\"id\":\"1\"}}\n"
		"store.op {\"tx\":1,\"op\":\"user_count\",\"in\":{},\"status\":\"ok\",\"out\":{\"n\":\"1\"}}\n"
		"store.op "
		"{\"tx\":1,\"op\":\"user_find\",\"in\":{\"name\":\"bob\"},\"status\":\"not_found\",\"out\":{}}\n"
		"store.end {\"tx\":1,\"status\":\"not_found\"}\n");
	ax_arena_done(&arena);
	ax_trace_store_done(&trace);
	ax_mem_store_free(mem);
	ax_buf_done(&log.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_have_all_fields),
		cmocka_unit_test(test_a_lost_transaction_ends_with_its_failure),
		cmocka_unit_test(test_faults_do_what_the_plan_says),
		cmocka_unit_test(test_chance_follows_its_rates),
		cmocka_unit_test(test_trace_tells_everything_but_secrets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
