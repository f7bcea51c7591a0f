#ifndef AX_BASE_JSON_LOOK_H
#define AX_BASE_JSON_LOOK_H

/* Looks into JSON text where it lies: no tree, no memory, no library. For floors that keep JSON as text and need a
 * value out of it now and then.
 *
 * The text is one that a parser has let in. Looking into any other gives values that are not there, and never reads
 * beyond its end. */

#include <stdbool.h>
#include <stddef.h>

enum ax_look_type {
	AX_LOOK_NOTHING, /* there is no such value */
	AX_LOOK_NULL,
	AX_LOOK_BOOL,
	AX_LOOK_NUMBER,
	AX_LOOK_STRING,
	AX_LOOK_ARRAY,
	AX_LOOK_OBJECT,
};

/* One value: where its text begins and ends. */
struct ax_look {
	enum ax_look_type type;
	const char *at;
	size_t len;
};

/* The value that the whole text is. */
struct ax_look ax_look(const char *text);

/* The members of an object or the items of an array, in order: until false. `ret_key` is NOTHING in an array; of
 * anything else there are none. */
struct ax_look_walk {
	const char *at, *end;
	bool object;
};
struct ax_look_walk ax_look_into(struct ax_look whole);
bool ax_look_next(struct ax_look_walk *walk, struct ax_look *ret_key, struct ax_look *ret_value);

struct ax_look ax_look_member(struct ax_look object, const char *name);
/* By a JSON pointer (RFC 6901): "" is the whole, "/order/lines/0". */
struct ax_look ax_look_pointer(struct ax_look whole, const char *pointer);
bool ax_look_is_pointer(const char *pointer);

/* Is the string this text? */
bool ax_look_is(struct ax_look string, const char *text);
/* The string's text with its escapes resolved, NUL-terminated; false when it does not fit or is no string. */
bool ax_look_text(struct ax_look string, char *ret, size_t size);
/* -1, 0 or 1. Strings by their bytes, numbers by their exact decimal value: 1, 1.0 and 10e-1 are equal. */
int ax_look_compare_strings(struct ax_look a, struct ax_look b);
int ax_look_compare_numbers(struct ax_look a, struct ax_look b);
/* The same scalar: same type, same value. Arrays and objects are the same as nothing. */
bool ax_look_same(struct ax_look a, struct ax_look b);

#endif
