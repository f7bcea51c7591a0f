#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "sys/attempt_dir.h"
#include "sys/output_file.h"

static const struct ax_attempt_status sample = {
	.end = AX_END_STOP, .code = 0, .signal = 15, .start_ms = 1764451200000, .end_ms = 1764451201234
};

static void test_status_round_trip(void **state)
{
	(void)state;
	char text[AX_ATTEMPT_STATUS_MAX];
	int n = ax_attempt_status_format(&sample, text);
	struct ax_attempt_status back;
	assert_true(ax_attempt_status_parse(text, (size_t)n, &back));
	assert_memory_equal(&back, &sample, sizeof(back));
}

static void test_a_damaged_status_is_no_status(void **state)
{
	(void)state;
	char text[AX_ATTEMPT_STATUS_MAX];
	int n = ax_attempt_status_format(&sample, text);
	struct ax_attempt_status back;
	for (int len = 0; len < n; len++)
		assert_false(ax_attempt_status_parse(text, (size_t)len, &back));
	for (int bit = 0; bit < n * 8; bit++) {
		text[bit / 8] = (char)(text[bit / 8] ^ (1 << bit % 8));
		assert_false(ax_attempt_status_parse(text, (size_t)n, &back));
		text[bit / 8] = (char)(text[bit / 8] ^ (1 << bit % 8));
	}
}

/* Byte `at` of the test's output; a period that no power of two shares. */
static char byte_at(uint64_t at)
{
	return (char)('!' + at % 91);
}

static void check_output(uint64_t length, size_t piece)
{
	FILE *file = tmpfile();
	assert_non_null(file);
	int fd = fileno(file);
	char *buf = ax_malloc(piece);
	uint64_t total = 0;
	while (total < length) {
		size_t n = (size_t)AX_MIN((uint64_t)piece, length - total);
		for (size_t i = 0; i < n; i++)
			buf[i] = byte_at(total + i);
		assert_int_equal(ax_output_append(fd, &total, buf, n), 0);
	}
	free(buf);
	assert_true(ax_output_total(fd) == length);
	assert_true(lseek(fd, 0, SEEK_END) <= 16 + AX_OUTPUT_KEPT);

	uint64_t at = 0;
	uint64_t kept = 0;
	char got[5000];
	for (;;) {
		uint64_t from;
		size_t n = ax_output_read(fd, at, got, sizeof(got), &from);
		if (n == 0)
			break;
		if (from != at)
			assert_true(at == AX_OUTPUT_HEAD && from == length - AX_OUTPUT_TAIL);
		for (size_t i = 0; i < n; i++)
			assert_true(got[i] == byte_at(from + i));
		at = from + n;
		kept += n;
	}
	assert_true(at == length);
	assert_true(kept == AX_MIN(length, (uint64_t)AX_OUTPUT_KEPT));
	fclose(file);
}

static void test_output_keeps_head_and_tail(void **state)
{
	(void)state;
	static const uint64_t lengths[] = { 0, 1, AX_OUTPUT_HEAD, AX_OUTPUT_HEAD + 1, AX_OUTPUT_KEPT - 1,
		AX_OUTPUT_KEPT, AX_OUTPUT_KEPT + 1, 2 * AX_OUTPUT_KEPT + 77, 9999999 };
	for (size_t i = 0; i < AX_COUNT(lengths); i++) {
		check_output(lengths[i], 65536);
		check_output(lengths[i], 10007);
	}
}

static void test_a_foreign_file_holds_no_output(void **state)
{
	(void)state;
	FILE *file = tmpfile();
	assert_non_null(file);
	assert_true(ax_output_total(fileno(file)) == 0);
	assert_int_equal(write(fileno(file), "something else, and long enough", 31), 31);
	assert_true(ax_output_total(fileno(file)) == 0);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_round_trip),
		cmocka_unit_test(test_a_damaged_status_is_no_status),
		cmocka_unit_test(test_output_keeps_head_and_tail),
		cmocka_unit_test(test_a_foreign_file_holds_no_output),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
