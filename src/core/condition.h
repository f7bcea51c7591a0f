#ifndef AX_CORE_CONDITION_H
#define AX_CORE_CONDITION_H

/* Whether an event concerns a task: what its definition says of the payload. Not a language, a list:
 *
 *   [ { "field": "/order/total", "op": "ge", "value": 100 },
 *     { "any": [ { "field": "/country", "op": "in", "value": ["DE", "AT"] }, … ] } ]
 *
 * All items must hold; an item with "any" holds when one of its tests does. "null" and [] hold always. A field is a
 * JSON pointer (RFC 6901). docs/events.md has the rules of comparing. */

#include <stdbool.h>

#include "base/err.h"

enum { AX_CONDITION_TESTS_MAX = 32, AX_CONDITION_VALUES_MAX = 64, AX_POINTER_MAX = 256 };

/* AX_INVALID with the place, such as "event_condition[2].op". */
enum ax_status ax_condition_check(const char *condition, struct ax_err *err);

/* Both are JSON texts; "" is a payload that holds nothing. A condition that cannot be read does not hold. */
bool ax_condition_holds(const char *condition, const char *payload);

#endif
