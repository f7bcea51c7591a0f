#include "core/alert_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/attr.h"
#include "base/rfc3339.h"

enum { LANGUAGES = 2, TEST = 0 };

/* {subject} {group} {value} {time}: {value} as a number, and as a duration of so many seconds. By rule, TEST for a
 * test. Whatever the sentence says, the other facts are in the body. */
static const char *const titles[AX_ALERT_RULES][LANGUAGES] = {
	[TEST] = { "test message: this channel works", "测试消息：此通道工作正常" },
	[AX_ALERT_FAILED] = { "{subject} failed", "{subject} 失败" },
	[AX_ALERT_MISSED] = { "{subject} missed {value} fires", "{subject} 错过 {value} 次触发" },
	[AX_ALERT_LATE] = { "{subject} began {time} late, or still waits",
		"{subject} 迟到 {time}（已派发或仍在等待）" },
	[AX_ALERT_LATE_FINISH] = { "{subject} is not done in time", "{subject} 未按时完成" },
	[AX_ALERT_STALLED] = { "{subject} makes no progress", "{subject} 长时间没有进展" },
	[AX_ALERT_ABSENCE] = { "{subject} did not succeed for {time}", "{subject} 已有 {time} 没有成功" },
	[AX_ALERT_BACKLOG] = { "group {group}: {value} runs wait", "分组 {group}：有 {value} 次运行在等待" },
	[AX_ALERT_WORKER_LOST] = { "worker {subject} fell silent", "节点 {subject} 失去联系" },
	[AX_ALERT_FAILURE_GROUP] = { "failures of one kind: {subject}", "同类失败：{subject}" },
	[AX_ALERT_UNSCHEDULABLE] = { "{subject} cannot be scheduled any more", "{subject} 已无法调度" },
};

static const char *const prefixes[][LANGUAGES] = {
	[AX_TELL_OPEN] = { "", "" },
	[AX_TELL_RESOLVED] = { "resolved: ", "已恢复：" },
	[AX_TELL_REMINDER] = { "still open: ", "仍未恢复：" },
	[AX_TELL_TEST] = { "", "" },
};

enum label { GROUP, SINCE, COUNT, LAST_SEEN, TASK, RUN, ENDED, LASTED, NOTE, LABELS };
static const char *const labels[LABELS][LANGUAGES] = {
	[GROUP] = { "group", "分组" },
	[SINCE] = { "since", "开始" },
	[COUNT] = { "count", "次数" },
	[LAST_SEEN] = { "last seen", "最近一次" },
	[TASK] = { "task", "任务" },
	[RUN] = { "run", "运行" },
	[ENDED] = { "ended", "结束" },
	[LASTED] = { "lasted", "持续" },
	[NOTE] = { "how", "说明" },
};

static const char *duration(const struct ax_alert_reader *reader, int64_t seconds)
{
	return ax_span_text(reader->arena, AX_MAX(seconds, 1) * 1000, reader->language);
}

static void add_word(const struct ax_alert_reader *reader, const struct ax_alert *alert, const char *word, size_t len,
	struct ax_buf *out)
{
	if (strncmp(word, "subject", len) == 0)
		ax_buf_adds(out, alert->subject);
	else if (strncmp(word, "group", len) == 0)
		ax_buf_adds(out, alert->group_key);
	else if (strncmp(word, "value", len) == 0)
		ax_buf_printf(out, "%" PRId64, alert->value);
	else
		ax_buf_adds(out, duration(reader, alert->value));
}

void ax_alert_title(const struct ax_alert_reader *reader, const struct ax_alert *alert, enum ax_delivery_kind kind,
	struct ax_buf *out)
{
	enum ax_language language = reader->language;
	ax_buf_adds(out, prefixes[kind][language]);
	for (const char *p = titles[kind == AX_TELL_TEST ? TEST : alert->rule][language]; *p != '\0';) {
		size_t plain = strcspn(p, "{");
		ax_buf_add(out, p, plain);
		p += plain;
		if (*p == '\0')
			break;
		size_t len = strcspn(++p, "}");
		add_word(reader, alert, p, len, out);
		p += len + 1;
	}
}

static void begin_line(struct ax_buf *out, enum label label, enum ax_language language)
{
	ax_buf_printf(
		out, "%s%s%s", out->len > 0 ? "\n" : "", labels[label][language], language == AX_CHINESE ? "：" : ": ");
}

static void add_text(struct ax_buf *out, enum label label, const char *text, enum ax_language language)
{
	if (text[0] == '\0')
		return;
	begin_line(out, label, language);
	ax_buf_adds(out, text);
}

static void add_number(struct ax_buf *out, enum label label, int64_t number, enum ax_language language)
{
	if (number == 0)
		return;
	begin_line(out, label, language);
	ax_buf_printf(out, "%" PRId64, number);
}

static void add_time(
	struct ax_buf *out, enum label label, int64_t ms, const struct ax_tz *tz, enum ax_language language)
{
	char text[AX_RFC3339_SIZE];
	ax_rfc3339_format_offset(ms - ms % 1000, ax_tz_offset_s(tz, ms), text);
	add_text(out, label, text, language);
}

void ax_alert_body(const struct ax_alert_reader *reader, const struct ax_alert *alert, enum ax_delivery_kind kind,
	struct ax_buf *out)
{
	enum ax_language language = reader->language;
	struct ax_buf lines;
	if (kind == AX_TELL_TEST)
		return;
	ax_buf_init(&lines, 4096);
	if (kind != AX_TELL_RESOLVED)
		ax_buf_adds(&lines, ax_kept_text(reader->arena, alert->detail, language));
	add_text(&lines, GROUP, alert->group_key, language);
	add_time(&lines, SINCE, alert->open_time, reader->tz, language);
	if (alert->count > 1)
		add_number(&lines, COUNT, alert->count, language);
	if (kind == AX_TELL_RESOLVED) {
		add_time(&lines, ENDED, alert->resolve_time, reader->tz, language);
		add_text(&lines, LASTED, duration(reader, (alert->resolve_time - alert->open_time) / 1000), language);
		add_text(&lines, NOTE, ax_kept_text(reader->arena, alert->resolve_note, language), language);
	} else if (alert->seen_time / 1000 != alert->open_time / 1000) {
		add_time(&lines, LAST_SEEN, alert->seen_time, reader->tz, language);
	}
	add_number(&lines, TASK, alert->task_id, language);
	add_number(&lines, RUN, alert->gid, language);
	ax_buf_add(out, lines.data, lines.len);
	ax_buf_done(&lines);
}
