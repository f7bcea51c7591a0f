/* A plug-in of ax-worker:  ax-worker --plugin ./libax_example_plugin.so …
 *
 * It offers four functions that tasks name as their executor:
 *   example.echo   gives its parameter back as the result
 *   example.count  counts to param.n, one step in 100 ms, and stops when it is asked to
 *   example.shard  says which shard of its run it is
 *   example.deaf   sleeps for param.n seconds, whatever anybody asks (so that tests see what becomes of it) */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "axworker.h"

static const struct axw_plugin_host *host;
static struct axw_plugin_host host_copy;

static int read_n(struct axw_attempt *attempt)
{
	const char *n = strstr(host->param(attempt), "\"n\":");
	return n ? (int)strtol(n + 4, NULL, 10) : 0;
}

static int echo(struct axw_attempt *attempt, void *user)
{
	(void)user;
	return host->result(attempt, host->param(attempt));
}

static int count(struct axw_attempt *attempt, void *user)
{
	(void)user;
	int n = read_n(attempt);
	for (int i = 1; i <= n; i++) {
		char line[40];
		if (host->stop_wait(attempt, 100) != AXW_STOP_NONE) {
			host->message(attempt, "asked to stop");
			return 1;
		}
		snprintf(line, sizeof(line), "%d of %d\n", i, n);
		host->output(attempt, line, strlen(line));
		host->progress(attempt, 100 * i / n, line);
	}
	return 0;
}

static int shard(struct axw_attempt *attempt, void *user)
{
	char said[120];
	(void)user;
	snprintf(said, sizeof(said), "{\"index\":%lld,\"total\":%lld,\"parent\":\"%s\"}",
		(long long)host->shard_index(attempt), (long long)host->shard_total(attempt),
		host->parent_gid(attempt));
	return host->result(attempt, said);
}

static int deaf(struct axw_attempt *attempt, void *user)
{
	(void)user;
	sleep((unsigned)read_n(attempt));
	return 0;
}

AXW_API int axw_plugin_entry(const struct axw_plugin_host *given);

int axw_plugin_entry(const struct axw_plugin_host *given)
{
	if (given->abi != AXW_PLUGIN_ABI || given->size < sizeof(host_copy)) {
		snprintf(given->error, given->error_size, "it was built for ABI %d", AXW_PLUGIN_ABI);
		return -1;
	}
	memcpy(&host_copy, given, sizeof(host_copy));
	host = &host_copy;
	if (host->add(host->worker, "example.echo", echo, NULL) < 0 ||
		host->add(host->worker, "example.count", count, NULL) < 0 ||
		host->add(host->worker, "example.shard", shard, NULL) < 0 ||
		host->add(host->worker, "example.deaf", deaf, NULL) < 0) {
		snprintf(given->error, given->error_size, "an executor of this name exists");
		return -1;
	}
	return 0;
}
