/* The first line of a file that holds a password. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/attr.h"
#include "sys/first_line.h"

enum { LONGEST = 512 };

/* What is read of a file that holds `text`: the line, or the sentence that says why not. */
static const char *read_of(struct ax_arena *arena, const char *text, enum ax_status want)
{
	char path[] = "/tmp/ax-first-line-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	const char *line = NULL;
	struct ax_err err = { 0 };
	assert_int_equal(ax_first_line_read(path, arena, &line, &err), want);
	unlink(path);
	return want == AX_OK ? line : ax_strdup(arena, err.msg);
}

static void test_the_line_without_its_end(void **state)
{
	(void)state;
	static const char *const texts[] = { "secret", "secret\n", "secret\r\n", "secret\nmore\n" };
	struct ax_arena arena = { 0 };
	for (size_t i = 0; i < AX_COUNT(texts); i++)
		assert_string_equal(read_of(&arena, texts[i], AX_OK), "secret");
	assert_non_null(strstr(read_of(&arena, "", AX_INVALID), "no first line"));
	assert_non_null(strstr(read_of(&arena, "\nsecret\n", AX_INVALID), "no first line"));
	ax_arena_done(&arena);
}

static void test_a_line_that_is_too_long_is_refused_and_not_cut(void **state)
{
	(void)state;
	static const char *const ends[] = { "", "\n", "\r\n", "\nmore" };
	struct ax_arena arena = { 0 };
	char line[LONGEST + 2] = "";
	memset(line, 'p', LONGEST);
	for (size_t i = 0; i < AX_COUNT(ends); i++)
		assert_string_equal(read_of(&arena, ax_sprintf(&arena, "%s%s", line, ends[i]), AX_OK), line);
	line[LONGEST] = 'p';
	for (size_t i = 0; i < AX_COUNT(ends); i++)
		assert_non_null(strstr(read_of(&arena, ax_sprintf(&arena, "%s%s", line, ends[i]), AX_INVALID),
			"longer than 512 bytes"));
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_line_without_its_end),
		cmocka_unit_test(test_a_line_that_is_too_long_is_refused_and_not_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
