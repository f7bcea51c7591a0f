#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/attr.h"
#include "core/gid.h"
#include "core/limits.h"
#include "core/run_fsm.h"

/* The table a second time, as words: what a person would expect of each cell. "-" = refused. Effects: T take, G give, R
 * record, A ask, E end, P parents only. */
static const struct {
	enum ax_run_state state;
	const char *cells[AX_EV_MAX];
} expected[] = {
	/* DUE, CLAIM, BOUNCE, START, SUCCEED, FAIL_RETRY, FAIL_LAST, TIMEOUT_LAST, LOST_RETRY, LOST_LAST, RETRY_NOW,
	 * CANCEL, CANCEL_CONFIRMED, PASS_OVER, BLOCK, WORKER_GONE, SPREAD, SHARDS_SUCCEEDED, _FAILED, _TIMED_OUT,
	 * _CANCELLED
	 */
	{ AX_RUN_PENDING,
		{ "WAITING", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "CANCELLED E", "-", "SKIPPED E",
			"BLOCKED E", "-", "-", "-", "-", "-", "-" } },
	{ AX_RUN_WAITING,
		{ "-", "DISPATCHED T", "-", "-", "SUCCESS E", "-", "-", "-", "-", "-", "-", "CANCELLED E", "-",
			"SKIPPED E", "-", "TIMEOUT E", "RUNNING P", "-", "-", "-", "-" } },
	{ AX_RUN_DISPATCHED,
		{ "-", "-", "WAITING GR", "RUNNING", "SUCCESS GE", "RETRYING GR", "FAILED GE", "TIMEOUT GE",
			"WAITING GR", "TIMEOUT GE", "-", "DISPATCHED A", "CANCELLED GE", "-", "-", "-", "-", "-", "-",
			"-", "-" } },
	{ AX_RUN_RUNNING,
		{ "-", "-", "-", "RUNNING", "SUCCESS GE", "RETRYING GR", "FAILED GE", "TIMEOUT GE", "WAITING GR",
			"TIMEOUT GE", "-", "RUNNING A", "CANCELLED GE", "-", "-", "-", "-", "SUCCESS EP", "FAILED EP",
			"TIMEOUT EP", "CANCELLED EP" } },
	{ AX_RUN_RETRYING,
		{ "WAITING", "-", "-", "-", "SUCCESS E", "-", "-", "-", "-", "-", "WAITING", "CANCELLED E", "-", "-",
			"-", "-", "-", "-", "-", "-", "-" } },
};

static void describe(struct ax_run_step step, char out[32])
{
	size_t n = 0;
	if (!step.allowed) {
		strcpy(out, "-");
		return;
	}
	for (const char *name = ax_run_state_name(step.next); *name != '\0'; name++)
		out[n++] = *name;
	if (step.effects != 0)
		out[n++] = ' ';
	static const struct {
		unsigned fx;
		char letter;
	} letters[] = { { AX_FX_TAKE, 'T' }, { AX_FX_GIVE, 'G' }, { AX_FX_RECORD, 'R' }, { AX_FX_ASK, 'A' },
		{ AX_FX_END, 'E' }, { AX_FX_PARENT, 'P' } };
	for (size_t i = 0; i < AX_COUNT(letters); i++)
		if (step.effects & letters[i].fx)
			out[n++] = letters[i].letter;
	out[n] = '\0';
}

static void test_every_cell(void **state)
{
	(void)state;
	for (size_t s = 0; s < AX_COUNT(expected); s++) {
		for (int e = 0; e < AX_EV_MAX; e++) {
			char got[32];
			describe(ax_run_step(expected[s].state, (enum ax_run_event)e), got);
			assert_string_equal(got, expected[s].cells[e]);
		}
	}
}

static void test_terminal_states_never_move(void **state)
{
	(void)state;
	for (int s = AX_RUN_SUCCESS; s <= AX_RUN_MISSED; s++) {
		assert_true(ax_run_is_terminal((enum ax_run_state)s));
		for (int e = 0; e < AX_EV_MAX; e++)
			assert_false(ax_run_step((enum ax_run_state)s, (enum ax_run_event)e).allowed);
	}
}

/* What must hold for any table of this kind, whatever its cells: quotas are taken on the way into a worker's hands and
 * given back on the way out, every live state can be left, and an end is an end. */
/* B098 */
static void test_the_table_is_sound(void **state)
{
	(void)state;
	for (int s = AX_RUN_PENDING; s <= AX_RUN_RETRYING; s++) {
		enum ax_run_state from = (enum ax_run_state)s;
		bool leaves = false;
		for (int e = 0; e < AX_EV_MAX; e++) {
			struct ax_run_step step = ax_run_step(from, (enum ax_run_event)e);
			if (!step.allowed)
				continue;
			bool took = !ax_run_is_given_out(from) && ax_run_is_given_out(step.next);
			bool gave = ax_run_is_given_out(from) && !ax_run_is_given_out(step.next);
			bool parents = (step.effects & AX_FX_PARENT) != 0; /* in no worker's hands */
			assert_int_equal(took && !parents, (step.effects & AX_FX_TAKE) != 0);
			assert_int_equal(gave && !parents, (step.effects & AX_FX_GIVE) != 0);
			assert_int_equal(ax_run_is_terminal(step.next), (step.effects & AX_FX_END) != 0);
			if (step.effects & AX_FX_RECORD)
				assert_false(ax_run_is_terminal(step.next));
			leaves = leaves || step.next != from;
		}
		assert_true(leaves);
		assert_true(ax_run_step(from, AX_EV_CANCEL).allowed);
	}
}

static void test_names_round_trip(void **state)
{
	(void)state;
	for (int s = 0; s <= AX_RUN_MISSED; s++) {
		enum ax_run_state back;
		if (s > AX_RUN_RETRYING && s < AX_RUN_SUCCESS)
			continue;
		assert_true(ax_run_state_parse(ax_run_state_name((enum ax_run_state)s), &back));
		assert_int_equal(back, s);
	}
	enum ax_run_state none;
	assert_false(ax_run_state_parse("success", &none));
}

static void test_gids_only_grow(void **state)
{
	(void)state;
	struct ax_gid_gen gen;
	int64_t now = AX_GID_EPOCH_MS + 1000000, last = 0;
	ax_gid_init(&gen, 7, 0, 0, 1);
	for (int i = 0; i < 50000; i++) {
		if (i % 1000 == 0)
			now += i % 3000 == 0 ? -500 : 1; /* the clock steps back now and then */
		int64_t need = ax_gid_need(&gen, now, 1);
		if (need != 0)
			ax_gid_raise(&gen, need);
		int64_t gid = ax_gid_next(&gen, now);
		assert_true(gid > last);
		assert_int_equal((gid >> 12) & 1023, 7);
		last = gid;
	}
	/* a restart begins above everything that was promised, even with a clock an hour behind */
	int64_t high = gen.high_ms;
	ax_gid_init(&gen, 7, high, 0, 1);
	ax_gid_raise(&gen, ax_gid_need(&gen, now - 3600000, 1));
	assert_true(ax_gid_next(&gen, now - 3600000) > last);
	assert_true(ax_gid_time(last) <= high);

	/* it stood still in the middle of a transaction: its ids stay below the mark that is stored */
	int64_t need = ax_gid_need(&gen, now, 100000);
	if (need != 0)
		ax_gid_raise(&gen, need);
	last = ax_gid_next(&gen, now);
	for (int i = 1; i < 100000; i++) {
		int64_t gid = ax_gid_next(&gen, now + 3600000);
		assert_true(gid > last && ax_gid_time(gid) <= gen.high_ms);
		last = gid;
	}
}

/* Threads of one server: each grows for itself, and none makes what another made. */
static void test_stripes_never_meet(void **state)
{
	(void)state;
	enum { STRIPES = 3, EACH = 5000 };
	int64_t now = AX_GID_EPOCH_MS + 1000000, all[STRIPES * EACH];
	for (int stripe = 0; stripe < STRIPES; stripe++) {
		struct ax_gid_gen gen;
		ax_gid_init(&gen, 9, 0, stripe, STRIPES);
		ax_gid_raise(&gen, ax_gid_need(&gen, now, EACH));
		assert_int_equal(ax_gid_need(&gen, now, EACH), 0);
		for (int i = 0; i < EACH; i++) {
			int64_t gid = ax_gid_next(&gen, now);
			assert_true(i == 0 || gid > all[stripe * EACH + i - 1]);
			assert_int_equal((gid >> 12) & 1023, 9);
			assert_int_equal(((gid & 4095) * STRIPES + STRIPES - 1) / 4096, stripe);
			all[stripe * EACH + i] = gid;
		}
		assert_true(gen.last_ms <= gen.high_ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cell),
		cmocka_unit_test(test_terminal_states_never_move),
		cmocka_unit_test(test_the_table_is_sound),
		cmocka_unit_test(test_names_round_trip),
		cmocka_unit_test(test_gids_only_grow),
		cmocka_unit_test(test_stripes_never_meet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
