#include "core/alert.h"

#include <string.h>

#include "base/attr.h"

enum { MINUTE_MS = 60000, DAY_MS = 86400000, TRY_BASE_MS = 5000, TRY_CAP_MS = 1800000 };

static const char *const rule_names[AX_ALERT_RULES] = {
	[AX_ALERT_FAILED] = "failed",
	[AX_ALERT_MISSED] = "missed",
	[AX_ALERT_LATE] = "late",
	[AX_ALERT_LATE_FINISH] = "late_finish",
	[AX_ALERT_STALLED] = "stalled",
	[AX_ALERT_ABSENCE] = "absence",
	[AX_ALERT_BACKLOG] = "backlog",
	[AX_ALERT_WORKER_LOST] = "worker_lost",
	[AX_ALERT_FAILURE_GROUP] = "failure_group",
	[AX_ALERT_UNSCHEDULABLE] = "unschedulable",
};

const char *ax_alert_rule_name(enum ax_alert_rule rule)
{
	return rule > 0 && rule < AX_ALERT_RULES ? rule_names[rule] : "";
}

enum ax_alert_rule ax_alert_rule_find(const char *name)
{
	for (int rule = 1; rule < AX_ALERT_RULES; rule++)
		if (strcmp(rule_names[rule], name) == 0)
			return (enum ax_alert_rule)rule;
	return (enum ax_alert_rule)0;
}

bool ax_has_word(const char *text, const char *name)
{
	static const char between[] = " ,;\t\r\n";
	size_t len = strlen(name);
	for (const char *p = text + strspn(text, between); *p != '\0'; p += strspn(p, between)) {
		size_t n = strcspn(p, between);
		if (n == len && memcmp(p, name, n) == 0)
			return true;
		p += n;
	}
	return false;
}

bool ax_channel_hears(const struct ax_channel *channel, enum ax_alert_rule rule, const char *group_key)
{
	bool hears_rule = channel->rules[0] == '\0' || ax_has_word(channel->rules, ax_alert_rule_name(rule));
	bool hears_group =
		channel->group_keys[0] == '\0' || group_key[0] == '\0' || ax_has_word(channel->group_keys, group_key);
	return channel->enabled && hears_rule && hears_group;
}

int64_t ax_channel_quiet_until(const struct ax_channel *channel, const struct ax_tz *tz, int64_t now)
{
	if (channel->quiet_from == channel->quiet_to)
		return now;
	int64_t local = now + (int64_t)ax_tz_offset_s(tz, now) * 1000;
	int64_t day = local - ((local % DAY_MS) + DAY_MS) % DAY_MS;
	int64_t minute = (local - day) / MINUTE_MS;
	bool over_midnight = channel->quiet_from > channel->quiet_to;
	bool quiet = over_midnight ? minute >= channel->quiet_from || minute < channel->quiet_to
				   : minute >= channel->quiet_from && minute < channel->quiet_to;
	if (!quiet)
		return now;
	if (over_midnight && minute >= channel->quiet_from)
		day += DAY_MS;
	struct ax_tz_local end;
	ax_tz_from_local(tz, day + channel->quiet_to * MINUTE_MS, &end);
	/* where the clock shows that time twice, the first may be over already */
	return end.first_ms > now ? end.first_ms : AX_MAX(end.second_ms, now + 1);
}

int64_t ax_delivery_delay_ms(int64_t attempts, uint64_t random)
{
	int64_t delay = TRY_CAP_MS;
	if (attempts <= 9) /* 5 s × 2^9 is past the cap */
		delay = AX_MIN((int64_t)TRY_BASE_MS << (attempts - 1), (int64_t)TRY_CAP_MS);
	int64_t tenth = delay / 10;
	return delay - tenth + (int64_t)(random % (uint64_t)(2 * tenth + 1));
}

size_t ax_channel_text_max(enum ax_channel_kind kind)
{
	switch (kind) {
	case AX_CHANNEL_WECOM:
		return 2000; /* it refuses 2,048 bytes and more */
	case AX_CHANNEL_DINGTALK:
	case AX_CHANNEL_FEISHU:
	case AX_CHANNEL_SLACK:
		return 8000;
	case AX_CHANNEL_SMTP:
	case AX_CHANNEL_WEBHOOK:
		return 32000;
	}
	ax_die(__FILE__, __LINE__, "unknown kind of channel");
}
