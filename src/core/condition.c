#include "core/condition.h"

#include <stdio.h>
#include <string.h>

#include "base/json_look.h"

enum op { OP_EQ, OP_NE, OP_IN, OP_EXISTS, OP_LT, OP_LE, OP_GT, OP_GE, OPS };
static const char *const op_words[OPS] = { "eq", "ne", "in", "exists", "lt", "le", "gt", "ge" };

struct test {
	struct ax_look field, value;
	enum op op; /* OPS: none that is known */
};

static struct test test_of(struct ax_look item)
{
	struct test test = {
		.field = ax_look_member(item, "field"),
		.value = ax_look_member(item, "value"),
		.op = OPS,
	};
	struct ax_look word = ax_look_member(item, "op");
	for (int i = 0; i < OPS; i++)
		if (ax_look_is(word, op_words[i]))
			test.op = (enum op)i;
	return test;
}

/* ---- holding */

static bool is_among(struct ax_look found, struct ax_look values)
{
	struct ax_look_walk walk = ax_look_into(values);
	struct ax_look key, value;
	while (ax_look_next(&walk, &key, &value))
		if (ax_look_same(found, value))
			return true;
	return false;
}

/* An order is there only between two numbers and between two strings. */
static bool is_ordered(struct ax_look found, enum op op, struct ax_look value)
{
	int order;
	if (found.type != value.type)
		return false;
	if (found.type == AX_LOOK_NUMBER)
		order = ax_look_compare_numbers(found, value);
	else if (found.type == AX_LOOK_STRING)
		order = ax_look_compare_strings(found, value);
	else
		return false;
	return op == OP_LT ? order < 0 : op == OP_LE ? order <= 0 : op == OP_GT ? order > 0 : order >= 0;
}

static bool test_holds(struct ax_look item, struct ax_look payload)
{
	char pointer[AX_POINTER_MAX + 1];
	struct test test = test_of(item);
	if (!ax_look_text(test.field, pointer, sizeof(pointer)))
		return false;
	struct ax_look found = ax_look_pointer(payload, pointer);
	switch (test.op) {
	case OP_EQ:
		return ax_look_same(found, test.value);
	case OP_NE:
		return !ax_look_same(found, test.value);
	case OP_IN:
		return is_among(found, test.value);
	case OP_EXISTS:
		return (found.type != AX_LOOK_NOTHING) == (test.value.type != AX_LOOK_BOOL || *test.value.at == 't');
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE:
		return is_ordered(found, test.op, test.value);
	case OPS:
		return false;
	}
	return false;
}

static bool item_holds(struct ax_look item, struct ax_look payload)
{
	struct ax_look any = ax_look_member(item, "any"), key, test;
	if (any.type == AX_LOOK_NOTHING)
		return test_holds(item, payload);
	struct ax_look_walk walk = ax_look_into(any);
	while (ax_look_next(&walk, &key, &test))
		if (test_holds(test, payload))
			return true;
	return false;
}

bool ax_condition_holds(const char *condition, const char *payload)
{
	struct ax_look all = ax_look(condition), event = ax_look(payload), key, item;
	struct ax_look_walk walk = ax_look_into(all);
	while (ax_look_next(&walk, &key, &item))
		if (!item_holds(item, event))
			return false;
	return all.type == AX_LOOK_ARRAY || all.type == AX_LOOK_NULL;
}

/* ---- checking */

struct check {
	int tests;
	char place[40];
	struct ax_err *err;
};

static enum ax_status bad(struct check *c, const char *member, const char *text)
{
	char field[64];
	snprintf(field, sizeof(field), "event_condition%s%s", c->place, member);
	return ax_fail(c->err, AX_INVALID, field, "%s", text);
}

static bool is_scalar(struct ax_look value)
{
	return value.type >= AX_LOOK_NULL && value.type <= AX_LOOK_STRING;
}

static enum ax_status check_values(struct check *c, struct ax_look values)
{
	struct ax_look_walk walk = ax_look_into(values);
	struct ax_look key, value;
	int n = 0;
	while (ax_look_next(&walk, &key, &value)) {
		if (!is_scalar(value) || ++n > AX_CONDITION_VALUES_MAX)
			n = AX_CONDITION_VALUES_MAX + 1;
	}
	if (values.type != AX_LOOK_ARRAY || n == 0 || n > AX_CONDITION_VALUES_MAX)
		return bad(c, ".value", "`in` takes an array of 1 to 64 texts, numbers, true, false or null");
	return AX_OK;
}

static enum ax_status check_value(struct check *c, const struct test *test)
{
	enum ax_look_type type = test->value.type;
	switch (test->op) {
	case OP_EQ:
	case OP_NE:
		if (!is_scalar(test->value))
			return bad(c, ".value", "write a text, a number, true, false or null to compare with");
		return AX_OK;
	case OP_IN:
		return check_values(c, test->value);
	case OP_EXISTS:
		if (type != AX_LOOK_NOTHING && type != AX_LOOK_BOOL)
			return bad(c, ".value", "`exists` takes true, false or no value");
		return AX_OK;
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE:
		if (type != AX_LOOK_NUMBER && type != AX_LOOK_STRING)
			return bad(c, ".value", "an order is there only among numbers and among texts");
		return AX_OK;
	case OPS:
		break;
	}
	return bad(c, ".op", "op is one of eq, ne, in, exists, lt, le, gt, ge");
}

static enum ax_status check_members(struct check *c, struct ax_look item)
{
	static const char *const names[] = { "field", "op", "value" };
	struct ax_look_walk walk = ax_look_into(item);
	struct ax_look key, value;
	while (ax_look_next(&walk, &key, &value)) {
		size_t i = 0;
		while (i < AX_COUNT(names) && !ax_look_is(key, names[i]))
			i++;
		if (i == AX_COUNT(names))
			return bad(c, "", "a test has field, op and value, and nothing else");
	}
	return AX_OK;
}

static enum ax_status check_test(struct check *c, struct ax_look item)
{
	char pointer[AX_POINTER_MAX + 1];
	struct test test = test_of(item);
	if (item.type != AX_LOOK_OBJECT)
		return bad(c, "", "an item is an object: a test, or {\"any\": [tests]}");
	if (++c->tests > AX_CONDITION_TESTS_MAX)
		return bad(c, "", "a condition has at most 32 tests");
	enum ax_status status = check_members(c, item);
	if (status != AX_OK)
		return status;
	if (!ax_look_text(test.field, pointer, sizeof(pointer)) || !ax_look_is_pointer(pointer))
		return bad(c, ".field", "a field is a JSON pointer of at most 256 bytes, such as /order/total");
	return check_value(c, &test);
}

static enum ax_status check_any(struct check *c, struct ax_look item, int index)
{
	struct ax_look tests = ax_look_member(item, "any"), key, test;
	struct ax_look_walk members = ax_look_into(item), walk = ax_look_into(tests);
	enum ax_status status = AX_OK;
	int n = 0;
	while (ax_look_next(&members, &key, &test))
		if (!ax_look_is(key, "any"))
			return bad(c, "", "an item with `any` has nothing else");
	for (; status == AX_OK && ax_look_next(&walk, &key, &test); n++) {
		snprintf(c->place, sizeof(c->place), "[%d].any[%d]", index, n);
		status = check_test(c, test);
	}
	if (status == AX_OK && (tests.type != AX_LOOK_ARRAY || n == 0))
		return bad(c, "", "`any` is an array of at least one test");
	return status;
}

enum ax_status ax_condition_check(const char *condition, struct ax_err *err)
{
	struct check c = { .err = err };
	struct ax_look all = ax_look(condition), key, item;
	struct ax_look_walk walk = ax_look_into(all);
	enum ax_status status = AX_OK;
	if (all.type != AX_LOOK_ARRAY && all.type != AX_LOOK_NULL)
		return bad(&c, "", "a condition is an array of tests that must all hold, or null");
	for (int i = 0; status == AX_OK && ax_look_next(&walk, &key, &item); i++) {
		snprintf(c.place, sizeof(c.place), "[%d]", i);
		status = ax_look_member(item, "any").type == AX_LOOK_NOTHING ? check_test(&c, item)
									     : check_any(&c, item, i);
	}
	return status;
}
