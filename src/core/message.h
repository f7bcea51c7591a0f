#ifndef AX_CORE_MESSAGE_H
#define AX_CORE_MESSAGE_H

/* What workers say of failures, without what differs from run to run: numbers, ids, times, addresses, temporary paths
 * and quoted values become marks like <n>. docs/failures.md lists them.
 *
 * Both write a NUL-terminated text of less than `size` bytes, cut between characters. */

#include <stddef.h>

/* At most the first four lines and the last one, each normalised. Returns the length. */
size_t ax_message_normalise(const char *message, char *ret, size_t size);

/* The line that tells most, normalised; "" when the message is empty. */
void ax_message_title(const char *message, char *ret, size_t size);

#endif
