#include "server/alarm.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "server/ports.h"

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct ax_alarm *alarm = poll->data;
	uint64_t expirations;
	bool clock_was_set = read(alarm->fd, &expirations, sizeof expirations) < 0 && errno == ECANCELED;
	alarm->ring(alarm->user, clock_was_set);
}

enum ax_status ax_alarm_open(
	struct ax_alarm *alarm, uv_loop_t *loop, ax_alarm_ring *ring, void *user, struct ax_err *err)
{
	alarm->ring = ring;
	alarm->user = user;
	alarm->fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (alarm->fd < 0)
		return ax_fail(err, AX_UNAVAILABLE, "", "cannot make a timer: %s", strerror(errno));
	AX_ASSERT(uv_poll_init(loop, &alarm->poll, alarm->fd) == 0);
	alarm->poll.data = alarm;
	AX_ASSERT(uv_poll_start(&alarm->poll, UV_READABLE, on_readable) == 0);
	return AX_OK;
}

void ax_alarm_set(struct ax_alarm *alarm, int64_t in_ms)
{
	int64_t at = ax_sys_wall_ms() + in_ms;
	struct itimerspec spec = { .it_value = { .tv_sec = at / 1000, .tv_nsec = at % 1000 * 1000000 } };
	AX_ASSERT(timerfd_settime(alarm->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &spec, NULL) == 0);
}

void ax_alarm_close(struct ax_alarm *alarm)
{
	if (alarm->fd < 0)
		return;
	uv_poll_stop(&alarm->poll);
	uv_close((uv_handle_t *)&alarm->poll, NULL);
	close(alarm->fd);
	alarm->fd = -1;
}
