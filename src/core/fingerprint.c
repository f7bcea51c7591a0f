#include "core/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "core/message.h"

enum { TEXT_MAX = 1000 }; /* bytes of the normalised message that count */

/* A bare status, or no message at all. */
static bool says_nothing(const char *text)
{
	static const char *const openings[] = { "exit status ", "HTTP status ", "ended by signal " };
	for (size_t i = 0; i < AX_COUNT(openings); i++) {
		size_t len = strlen(openings[i]);
		if (strncmp(text, openings[i], len) == 0 && strchr(text + len, ' ') == NULL)
			return true;
	}
	return text[0] == '\0';
}

static uint64_t mix_text(uint64_t hash, const char *text, size_t len)
{
	return ax_mix64(hash ^ ax_hash_bytes(text, len));
}

struct ax_fingerprint ax_fingerprint_of(const struct ax_run *run)
{
	struct ax_fingerprint ret;
	char text[TEXT_MAX + 1];
	size_t len = ax_message_normalise(run->result_msg, text, sizeof(text));
	bool of_task =
		says_nothing(text) || strcmp(run->reason, "timeout") == 0 || strcmp(run->reason, "hard_limit") == 0;
	uint64_t hash = mix_text(0, text, len);
	hash = mix_text(hash, run->executor_key, strlen(run->executor_key));
	hash = mix_text(hash, run->reason, strlen(run->reason));
	hash = ax_mix64(hash ^ (uint64_t)run->result_code);
	if (of_task)
		hash = ax_mix64(hash ^ (uint64_t)run->task_id);
	ret.hash = (int64_t)hash;
	ax_message_title(run->result_msg, ret.title, sizeof(ret.title));
	if (ret.title[0] == '\0')
		snprintf(ret.title, sizeof(ret.title), "%s, code %" PRId64,
			run->reason[0] != '\0' ? run->reason : "failed", run->result_code);
	return ret;
}
