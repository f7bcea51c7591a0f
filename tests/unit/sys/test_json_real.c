#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/attr.h"
#include "sys/json_real.h"

static void test_numbers_in_json_have_no_digits_that_nobody_wrote(void **state)
{
	(void)state;
	static const struct {
		const char *written, *shorter; /* by jansson, and what it was made of */
	} table[] = {
		{ "19.989999999999998", "19.99" },
		{ "[0.10000000000000001,-1.1000000000000001]", "[0.1,-1.1]" },
		{ "{\"a\":9.9999999999999995e-8,\"b\":0.29999999999999999}", "{\"a\":1e-7,\"b\":0.3}" },
		{ "4.9406564584124654e-324", "4.94065645841247e-324" },
		{ "0.30000000000000004", "0.30000000000000004" },
		{ "1.7976931348623157e308", "1.7976931348623157e308" },
		{ "12345678901234568.0", "12345678901234568.0" },
		{ "[1,1.0,-0.0,1e22,9223372036854775807]", "[1,1.0,-0.0,1e22,9223372036854775807]" },
		{ "[\"0.10000000000000001\",\"\\\"0.10000000000000001\",true,null]",
			"[\"0.10000000000000001\",\"\\\"0.10000000000000001\",true,null]" },
		{ "", "" },
	};
	for (size_t i = 0; i < AX_COUNT(table); i++) {
		char text[200];
		snprintf(text, sizeof(text), "%s", table[i].written);
		text[ax_json_shorten(text, strlen(text))] = '\0';
		assert_string_equal(text, table[i].shorter);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_in_json_have_no_digits_that_nobody_wrote),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
