#ifndef AX_APP_GROUPS_H
#define AX_APP_GROUPS_H

#include "app/ctx.h"

/* A group as it is made when nothing is said. */
struct ax_group ax_group_preset(const char *key);

enum ax_status ax_group_create(
	struct ax_ctx *ctx, const struct ax_group *group, struct ax_group *ret, struct ax_err *err) AX_MUST_USE;
/* Everything but the key, the counters and create_time; AX_CONFLICT when `group->version` is not the stored one. */
enum ax_status ax_group_update(
	struct ax_ctx *ctx, const struct ax_group *group, struct ax_group *ret, struct ax_err *err) AX_MUST_USE;
enum ax_status ax_group_delete(struct ax_ctx *ctx, const char *key, struct ax_err *err) AX_MUST_USE;

#endif
