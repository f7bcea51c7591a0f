#include "app/output.h"

#include "core/limits.h"

enum ax_status ax_output_keep(struct ax_tx *tx, const struct ax_output *output, bool *ret_new, struct ax_err *err)
{
	int64_t bytes, chunks, last_seq;
	enum ax_status status = tx->ops->output_size(tx, output->gid, output->fence, &bytes, &chunks, &last_seq, err);
	if (status != AX_OK)
		return status;
	*ret_new = output->seq > last_seq;
	if (output->seq <= last_seq || output->len == 0)
		return AX_OK;
	int64_t over = bytes + output->len - AX_OUTPUT_KEEP;
	if (over > 0)
		status = tx->ops->output_cut(tx, output->gid, output->fence, AX_OUTPUT_KEEP_HEAD, over, err);
	return status == AX_OK ? tx->ops->output_append(tx, output, err) : status;
}
