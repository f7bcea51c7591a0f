#include "http.h"

bool http_may_call(const struct policy *policy, const int *ours, size_t n_ours, const char *host, int port,
	const unsigned char *address, unsigned size)
{
	bool own = false;
	for (size_t i = 0; i < n_ours; i++)
		own = own || ours[i] == port;
	return ax_target_allowed(address, size, policy_allows_http(policy, host, port), policy->dev && !own,
		ax_target_port_is_plain(port));
}
