#include "http.h"

bool http_may_call(const struct policy *policy, const int *ours, size_t n_ours, const char *host, int port,
	const unsigned char *address, unsigned size)
{
	enum ax_target target = ax_target_judge(address, size);
	if (target == AX_TARGET_NEVER)
		return false;
	if (policy_allows_http(policy, host, port))
		return true;
	if (target == AX_TARGET_LOOPBACK && policy->dev) {
		for (size_t i = 0; i < n_ours; i++) {
			if (ours[i] == port)
				return false;
		}
		return true;
	}
	return target == AX_TARGET_PUBLIC && ax_target_port_is_plain(port);
}
