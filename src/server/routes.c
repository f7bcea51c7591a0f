#include "server/handlers.h"

const struct ax_route ax_routes[] = {
#define AX_ROUTE(method, pattern, may, via, handler, body, summary)                                                    \
	{ AX_HTTP_##method, pattern, AX_MAY_##may, AX_VIA_##via, handler, body, summary },
#include "server/routes.def"
#undef AX_ROUTE
};
const size_t ax_n_routes = AX_COUNT(ax_routes);
