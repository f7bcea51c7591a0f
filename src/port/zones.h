#ifndef AX_PORT_ZONES_H
#define AX_PORT_ZONES_H

/* Where zone data comes from. */

#include "core/tz.h"

struct ax_zones;

struct ax_zones_ops {
	/* The zone of that name, or NULL when there is none. Borrowed: stays valid as long as `zones` does, even after
	 * newer data for the name was taken in. Safe to call from any thread. */
	const struct ax_tz *(*find)(struct ax_zones *zones, const char *name);
	/* The data's version, such as "2026f", or "unknown". Valid until the next recheck. */
	const char *(*version)(struct ax_zones *zones);
};

struct ax_zones {
	const struct ax_zones_ops *ops;
	void *self;
};

static inline const struct ax_tz *ax_zones_find(struct ax_zones *zones, const char *name)
{
	return zones->ops->find(zones, name);
}

static inline const char *ax_zones_version(struct ax_zones *zones)
{
	return zones->ops->version(zones);
}

#endif
