#include "server/ports.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/json_write.h"
#include "sys/log_sink.h"

static int64_t read_clock(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t ax_sys_wall_ms(void)
{
	return read_clock(CLOCK_REALTIME);
}

static int64_t mono_ms(struct ax_clock *clock)
{
	(void)clock;
	return read_clock(CLOCK_BOOTTIME);
}

static int64_t now_ms(struct ax_clock *clock)
{
	int64_t base_ms = ((struct ax_sys_clock *)clock)->base_ms;
	return base_ms == 0 ? ax_sys_wall_ms() : base_ms + mono_ms(clock);
}

void ax_sys_clock_init(struct ax_sys_clock *clock)
{
	static const struct ax_clock_ops ops = { now_ms, mono_ms };
	clock->port.ops = &ops;
}

static uint64_t next_random(struct ax_rand *rand)
{
	(void)rand;
	uint64_t bits;
	randombytes_buf(&bits, sizeof bits);
	return bits;
}

void ax_sys_rand_init(struct ax_sys_rand *rand)
{
	static const struct ax_rand_ops ops = { next_random };
	rand->port.ops = &ops;
}

static void log_event(struct ax_log *log, enum ax_log_level level, const char *name, const char *fields)
{
	(void)log;
	ax_log_sink_event("ax-server", (int)level, name, fields);
}

void ax_sys_log_init(struct ax_sys_log *log, enum ax_log_level level)
{
	static const struct ax_log_ops ops = { log_event };
	log->port.ops = &ops;
	ax_log_sink_level((int)level);
}

void ax_log_event(struct ax_sys_log *log, enum ax_log_level level, const char *name, const char *fmt, ...)
{
	char fields[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(fields, sizeof fields, fmt, args);
	va_end(args);
	log->port.ops->event(&log->port, level, name, fields);
}

void ax_log_text(struct ax_sys_log *log, enum ax_log_level level, const char *name, const char *key, const char *text)
{
	struct ax_buf fields;
	ax_buf_init(&fields, 8192);
	struct ax_json json;
	ax_json_init(&json, &fields);
	ax_json_str(&json, key, text);
	if (!fields.overflow)
		log->port.ops->event(&log->port, level, name, fields.data);
	ax_buf_done(&fields);
}
