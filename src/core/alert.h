#ifndef AX_CORE_ALERT_H
#define AX_CORE_ALERT_H

/* Alerts as plain structs: what is wrong (an alert, one per episode), who is told (a channel), and what is told to whom
 * (a delivery, a row of the outbox). Text and instants as in core/task.h. */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/sentence.h"
#include "core/tz.h"

enum ax_alert_rule {
	AX_ALERT_FAILED = 1,         /* a run ended FAILED or TIMEOUT; episode: the task's id */
	AX_ALERT_MISSED = 2,         /* fires were missed and wait for a person; episode: the task's id */
	AX_ALERT_LATE = 3,           /* given to a worker, or still waiting, too long after its time; the task's id */
	AX_ALERT_LATE_FINISH = 4,    /* not done by when it should be; the run's gid */
	AX_ALERT_STALLED = 5,        /* alive, and makes no progress; the run's gid */
	AX_ALERT_ABSENCE = 6,        /* no success for too long; the task's id */
	AX_ALERT_BACKLOG = 7,        /* too many runs of a group wait for too long; "" */
	AX_ALERT_WORKER_LOST = 8,    /* a worker fell silent without leaving; its name */
	AX_ALERT_FAILURE_GROUP = 9,  /* failures of one kind, new or growing; its fingerprint */
	AX_ALERT_UNSCHEDULABLE = 10, /* its schedule or zone cannot be read any more; the task's id */
	AX_ALERT_RULES               /* one more than the last */
};
const char *ax_alert_rule_name(enum ax_alert_rule rule); /* "failed", "late_finish", …; "" for what is none */
enum ax_alert_rule ax_alert_rule_find(const char *name); /* 0 when there is none of that name */

enum ax_alert_state { AX_ALERT_OPEN = 0, AX_ALERT_RESOLVED = 1 };

/* One episode of something wrong. (rule, group_key, episode) is unique among the open ones. */
struct ax_alert {
	int64_t id;
	enum ax_alert_rule rule;
	const char *group_key; /* "" = of no one group */
	const char *episode;   /* what makes the next occurrence the same alert */
	enum ax_alert_state state;
	/* the newest occurrence */
	int64_t task_id, gid; /* 0 = none */
	const char *subject;  /* the task's or worker's name, … */
	const char *detail;   /* what happened: a kept sentence (core/sentence.h), or "" */
	int64_t value, bound; /* numbers of the rule: seconds late and allowed, runs waiting and allowed, …; or 0 */
	int64_t count;        /* occurrences */
	int64_t open_time, seen_time, resolve_time;
	int64_t told_time;          /* when the channels were told last */
	const char *resolve_note;   /* how it ended: a kept sentence, or "" */
	bool muted;                 /* a person knows: nothing more is told of it */
	const char *note, *note_by; /* why it was muted, or resolved by hand, and by whom */
	int64_t rev;                /* grows with every change of the row: compare-and-swap */
};

enum ax_channel_kind {
	AX_CHANNEL_SMTP = 1,
	AX_CHANNEL_WEBHOOK = 2,
	AX_CHANNEL_DINGTALK = 3,
	AX_CHANNEL_FEISHU = 4,
	AX_CHANNEL_WECOM = 5,
	AX_CHANNEL_SLACK = 6,
};

struct ax_channel {
	int64_t id;
	const char *name;
	enum ax_channel_kind kind;
	const char *settings; /* JSON object; holds secrets and is never shown as it is */
	bool enabled;
	enum ax_language language;
	const char *rules;      /* names it hears, one space between them; "" = all */
	const char *group_keys; /* groups it hears, one space between them; "" = all */
	const char *time_zone;  /* of its quiet hours, and of the times in what it is told */
	/* Quiet hours: [quiet_from, quiet_to) in minutes of the day, over midnight when from > to; none when they are
	 * equal. What is to be told then waits for their end. */
	int64_t quiet_from, quiet_to;
	int64_t remind_seconds; /* says again that an alert is still open; 0 = never */
	int64_t version, create_time, update_time;
	const char *updated_by;
};

enum ax_delivery_kind { AX_TELL_OPEN = 1, AX_TELL_RESOLVED = 2, AX_TELL_REMINDER = 3, AX_TELL_TEST = 4 };
enum ax_delivery_state { AX_DELIVERY_PENDING = 0, AX_DELIVERY_SENT = 1, AX_DELIVERY_GIVEN_UP = 2 };

/* One thing to tell one channel. Those of one (alert, channel) are told one after another, in the order of their
 * ids. */
struct ax_delivery {
	int64_t id;
	int64_t alert_id; /* 0 = a test */
	int64_t channel_id;
	enum ax_delivery_kind kind;
	enum ax_delivery_state state;
	int64_t attempts;
	int64_t next_time; /* of the next try; while one is under way: when it counts as lost */
	int64_t server;    /* number of the server whose try is under way; -1 = none is */
	int64_t create_time, sent_time;
	const char *error; /* of the last try, or why it was given up */
	int64_t rev;
};

/* True when the channel is to be told of alerts of this rule and group. Alerts of no one group ("") are heard by every
 * channel that hears the rule. */
bool ax_channel_hears(const struct ax_channel *channel, enum ax_alert_rule rule, const char *group_key);

/* True when `name` is one of the words of `text`, which stand between blanks and commas. */
bool ax_has_word(const char *text, const char *name);

/* When the channel's quiet hours that `now` lies in end; `now` when it lies in none. */
int64_t ax_channel_quiet_until(const struct ax_channel *channel, const struct ax_tz *tz, int64_t now);

/* The most bytes of text that one message to a channel of this kind may have. */
size_t ax_channel_text_max(enum ax_channel_kind kind);

/* The wait after so many failed tries (1, 2, …): 5 s doubled each time up to 30 min, ± 10 %. AX_DELIVERY_TRIES of them
 * take about a day. */
int64_t ax_delivery_delay_ms(int64_t attempts, uint64_t random);
enum { AX_DELIVERY_TRIES = 57 };

#endif
