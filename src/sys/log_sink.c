#include "sys/log_sink.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/rfc3339.h"

enum { LINES_PER_SECOND = 200, LINE_MAX_BYTES = 16384 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int lowest = 1;
static int64_t window_s; /* the second that is being counted */
static unsigned written, dropped;

void ax_log_sink_level(int level)
{
	lowest = level;
}

static void put(const char *program, int64_t now_ms, int level, const char *event, const char *fields)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };
	char time[AX_RFC3339_SIZE];
	ax_rfc3339_format(now_ms, time);
	struct ax_buf line;
	ax_buf_init(&line, LINE_MAX_BYTES);
	ax_buf_printf(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"program\":\"%s\",\"event\":\"%s\"", time,
		names[level & 3], program, event);
	if (fields[0] != '\0')
		ax_buf_printf(&line, ",%s", fields);
	ax_buf_adds(&line, "}\n");
	if (!line.overflow && write(STDERR_FILENO, line.data, line.len) < 0) {
		/* nobody can be told */
	}
	ax_buf_done(&line);
}

void ax_log_sink_event(const char *program, int level, const char *event, const char *fields)
{
	if (level < lowest)
		return;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	pthread_mutex_lock(&lock);
	if (window_s != (int64_t)now.tv_sec) {
		window_s = (int64_t)now.tv_sec;
		written = 0;
		if (dropped > 0) {
			char count[48];
			snprintf(count, sizeof count, "\"lines\":%u", dropped);
			dropped = 0;
			put(program, now_ms, 2, "log_lines_dropped", count);
		}
	}
	if (written < LINES_PER_SECOND) {
		written++;
		put(program, now_ms, level, event, fields);
	} else {
		dropped++;
	}
	pthread_mutex_unlock(&lock);
}
