#include "quiet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int64_t quiet_now = INT64_C(1780272000000);

static int64_t now_ms(struct ax_clock *clock)
{
	(void)clock;
	return quiet_now;
}

static uint64_t draw(struct ax_rand *rand)
{
	static uint64_t state = 2;
	(void)rand;
	return state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
}

static void ignore_id(struct ax_notify *notify, int64_t id)
{
	(void)notify, (void)id;
}

static void ignore_run(struct ax_notify *notify, const struct ax_run *run)
{
	(void)notify, (void)run;
}

static void ignore_name(struct ax_notify *notify, const char *name)
{
	(void)notify, (void)name;
}

static const struct ax_tz *find_zone(struct ax_zones *zones, const char *name)
{
	(void)zones, (void)name;
	return ax_tz_utc();
}

static const char *zone_version(struct ax_zones *zones)
{
	(void)zones;
	return "";
}

static void print_event(struct ax_log *log, enum ax_log_level level, const char *event, const char *fields)
{
	(void)log;
	if (level >= AX_LOG_WARN)
		fprintf(stderr, "%s: %s %s\n", program_invocation_short_name, event, fields);
}

struct ax_ctx quiet_ctx(struct ax_store *store, struct ax_arena *arena)
{
	static const struct ax_clock_ops clock_ops = { now_ms, now_ms };
	static const struct ax_rand_ops rand_ops = { draw };
	static const struct ax_notify_ops notify_ops = { ignore_id, ignore_run, ignore_run, ignore_name, ignore_name };
	static const struct ax_log_ops log_ops = { print_event };
	static const struct ax_zones_ops zones_ops = { find_zone, zone_version };
	static struct ax_clock clock = { &clock_ops };
	static struct ax_rand rand = { &rand_ops };
	static struct ax_notify notify = { &notify_ops };
	static struct ax_log log = { .ops = &log_ops };
	static struct ax_zones zones = { .ops = &zones_ops };
	static struct ax_seat seat;
	return (struct ax_ctx){
		.store = store,
		.clock = &clock,
		.rand = &rand,
		.notify = &notify,
		.log = &log,
		.zones = &zones,
		.arena = arena,
		.server_name = "bench",
		.seat = &seat,
	};
}

void must(enum ax_status status, const struct ax_err *err)
{
	if (status == AX_OK)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, err->field, err->msg);
	exit(1);
}

double read_s(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
