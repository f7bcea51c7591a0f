/* Any text as the message of a failure: what is left of it is valid, fits, and is the same each time. */
#include "fuzz.h"

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/utf8.h"
#include "core/fingerprint.h"
#include "core/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[1001], again[1001];
	struct ax_arena arena = { 0 };
	if (size > 4000 || memchr(data, 0, size) != NULL)
		return 0;
	const char *message = ax_strndup(&arena, (const char *)data, size);
	bool valid = ax_utf8_valid(message, size);
	struct ax_run run = { .executor_key = "exec", .reason = "exit", .result_msg = message };
	struct ax_fingerprint print = ax_fingerprint_of(&run);
	AX_ASSERT(print.title[0] != '\0');
	AX_ASSERT(!valid || ax_utf8_valid(print.title, strlen(print.title)));
	for (size_t room = 1; room <= sizeof(text); room += room / 2 + 1) {
		size_t len = ax_message_normalise(message, text, room);
		AX_ASSERT(len < room && len == strlen(text));
		AX_ASSERT(!valid || ax_utf8_valid(text, len));
		ax_message_normalise(message, again, room);
		AX_ASSERT(strcmp(text, again) == 0);
	}
	AX_ASSERT(ax_fingerprint_of(&run).hash == print.hash);
	ax_arena_done(&arena);
	return 0;
}
