#include "plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

static enum ax_status load_one(struct axw *worker, const char *path, struct ax_err *err)
{
	char error[300] = "it gave no reason";
	struct axw_plugin_host host = {
		.size = sizeof(host),
		.abi = AXW_PLUGIN_ABI,
		.worker = worker,
		.error = error,
		.error_size = sizeof(error),
		.add = axw_register,
		.gid = axw_gid,
		.fence = axw_fence,
		.attempt_number = axw_attempt_number,
		.param = axw_param,
		.params = axw_params,
		.stop_asked = axw_stop_asked,
		.stop_wait = axw_stop_wait,
		.progress = axw_progress,
		.output = axw_output,
		.message = axw_message,
		.result = axw_result,
		.shard_index = axw_shard_index,
		.shard_total = axw_shard_total,
		.parent_gid = axw_parent_gid,
		.upstream = axw_upstream,
	};
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return ax_fail(err, AX_INVALID, "plugin", "cannot load the plug-in: %s", dlerror());
	axw_plugin_entry_type *entry;
	*(void **)&entry = dlsym(object, "axw_plugin_entry");
	if (!entry)
		return ax_fail(
			err, AX_INVALID, "plugin", "%s is no plug-in: it does not export axw_plugin_entry", path);
	if (entry(&host) != 0)
		return ax_fail(err, AX_INVALID, "plugin", "the plug-in %s refuses: %s", path, error);
	return AX_OK;
}

enum ax_status plugin_load(struct axw *worker, const char *list, struct ax_err *err)
{
	char *copy = ax_strdup_heap(list);
	enum ax_status st = AX_OK;
	for (char *save, *path = strtok_r(copy, ",", &save); path && st == AX_OK; path = strtok_r(NULL, ",", &save))
		st = load_one(worker, path, err);
	free(copy);
	return st;
}
