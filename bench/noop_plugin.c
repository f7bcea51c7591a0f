/* A plug-in of ax-worker whose one function, bench.noop, does nothing: what remains is the scheduler. */
#include <stdio.h>

#include "axworker.h"

static int noop(struct axw_attempt *attempt, void *user)
{
	(void)attempt;
	(void)user;
	return 0;
}

AXW_API int axw_plugin_entry(const struct axw_plugin_host *host);

int axw_plugin_entry(const struct axw_plugin_host *host)
{
	if (host->abi != AXW_PLUGIN_ABI) {
		snprintf(host->error, host->error_size, "it was built for ABI %d", AXW_PLUGIN_ABI);
		return -1;
	}
	return host->add(host->worker, "bench.noop", noop, NULL);
}
