#include "port/queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "core/limits.h"

enum { SCORE_STEPS = 16, PRIORITY_MAX = 10 };

int ax_queue_shard(const char *group_key)
{
	return (int)(ax_mix64(ax_hash_bytes(group_key, strlen(group_key))) % AX_QUEUE_SHARDS);
}

int64_t ax_queue_score(int64_t due_ms, int64_t priority)
{
	return due_ms * SCORE_STEPS + (PRIORITY_MAX - priority);
}

void ax_member_write(const struct ax_member *member, char ret[AX_MEMBER_TEXT])
{
	snprintf(ret, AX_MEMBER_TEXT, "%c%" PRId64, member->kind, member->id);
}

bool ax_member_read(const char *text, size_t len, struct ax_member *ret)
{
	int64_t id;
	if (len < 2 || (text[0] != AX_MEMBER_TASK && text[0] != AX_MEMBER_RUN) ||
		!ax_parse_i64(text + 1, len - 1, 1, INT64_MAX, &id))
		return false;
	*ret = (struct ax_member){ .kind = (enum ax_member_kind)text[0], .id = id };
	return true;
}

void ax_hint_write(const struct ax_hint *hint, char ret[AX_HINT_TEXT])
{
	if (hint->kind == AX_HINT_EARLIER)
		snprintf(ret, AX_HINT_TEXT, "e:%d:%" PRId64, hint->shard, hint->due_ms);
	else
		snprintf(ret, AX_HINT_TEXT, "%c:%.*s", hint->kind, AX_QUEUE_NAME_MAX, hint->group_key);
}

bool ax_hint_read(const char *text, size_t len, char group[AX_QUEUE_NAME_MAX + 1], struct ax_hint *ret)
{
	struct ax_hint hint = { .group_key = group };
	if (len < 2 || text[1] != ':' || len - 2 > AX_QUEUE_NAME_MAX)
		return false;
	const char *rest = text + 2;
	size_t left = len - 2;
	group[0] = '\0';
	switch (text[0]) {
	case AX_HINT_EARLIER: {
		const char *colon = memchr(rest, ':', left);
		int64_t shard;
		if (colon == NULL || !ax_parse_i64(rest, (size_t)(colon - rest), 0, AX_QUEUE_SHARDS - 1, &shard) ||
			!ax_parse_i64(colon + 1, left - (size_t)(colon + 1 - rest), 1, AX_TIME_MAX_MS, &hint.due_ms))
			return false;
		hint.shard = (int)shard;
		break;
	}
	case AX_HINT_READY:
		if (left == 0 || memchr(rest, '\0', left) != NULL)
			return false;
		memcpy(group, rest, left);
		group[left] = '\0';
		break;
	case AX_HINT_CHANGED:
		if (left != 0)
			return false;
		break;
	default:
		return false;
	}
	hint.kind = (enum ax_hint_kind)text[0];
	*ret = hint;
	return true;
}
