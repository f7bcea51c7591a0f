/* A plug-in of ax-worker with the functions of a load (tests/lib/load.py):
 *   load.work    takes param.ms; param.fail_percent of its attempts fail, the same ones whenever they are repeated
 *   load.poison  kills the worker that executes it */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axworker.h"

static struct axw_plugin_host host;

static int64_t read_number(struct axw_attempt *attempt, const char *member)
{
	const char *found = strstr(host.param(attempt), member);
	return found ? strtoll(found + strlen(member), NULL, 10) : 0;
}

/* 0 … 99 by gid and attempt: neighbouring gids fall apart. */
static int64_t draw(const struct axw_attempt *attempt)
{
	uint64_t x = strtoull(host.gid(attempt), NULL, 10) + (uint64_t)host.attempt_number(attempt);
	x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
	return (int64_t)((x >> 33) % 100);
}

static int work(struct axw_attempt *attempt, void *user)
{
	(void)user;
	int64_t ms = read_number(attempt, "\"ms\":");
	if (ms > 0 && host.stop_wait(attempt, ms) != AXW_STOP_NONE) {
		host.message(attempt, "asked to stop");
		return 2;
	}
	if (draw(attempt) < read_number(attempt, "\"fail_percent\":")) {
		host.message(attempt, "fails by its number");
		return 1;
	}
	return 0;
}

static int poison(struct axw_attempt *attempt, void *user)
{
	(void)attempt;
	(void)user;
	return kill(getpid(), SIGKILL);
}

AXW_API int axw_plugin_entry(const struct axw_plugin_host *given);

int axw_plugin_entry(const struct axw_plugin_host *given)
{
	if (given->abi != AXW_PLUGIN_ABI || given->size < sizeof(host)) {
		snprintf(given->error, given->error_size, "it was built for ABI %d", AXW_PLUGIN_ABI);
		return -1;
	}
	memcpy(&host, given, sizeof(host));
	if (host.add(host.worker, "load.work", work, NULL) < 0 ||
		host.add(host.worker, "load.poison", poison, NULL) < 0) {
		snprintf(given->error, given->error_size, "an executor of this name exists");
		return -1;
	}
	return 0;
}
