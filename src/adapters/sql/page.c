/* Pages: rows that are looked at until enough of them are wanted. */

#include "adapters/sql/sql.h"
#include "base/err.h"

enum { MOST_IN_STEP = 512 };

struct ax_sql_page ax_sql_page(struct ax_tx *tx, const struct ax_row_type *type, int limit, int scan_limit, int64_t at)
{
	return (struct ax_sql_page){
		.tx = tx,
		.type = type,
		.limit = AX_MAX(limit, 0),
		.scan_limit = scan_limit,
		.at = at,
		.step = (int64_t)AX_MAX(limit, 0) + 1, /* one more tells whether there are more */
	};
}

bool ax_sql_page_goes_on(const struct ax_sql_page *page)
{
	return !page->full && !page->ended;
}

enum ax_status ax_sql_page_next(struct ax_sql_page *page, void *ret_row, struct ax_err *err)
{
	struct ax_sql_conn *conn = ax_sql_conn_of(page->tx);
	enum ax_status status = ax_sql_next(conn, page->cursor, &page->found, err);
	if (status != AX_OK)
		return status;
	if (!page->found) {
		page->ended = page->step_looked < page->step;
		page->step = AX_MAX(page->step, AX_MIN(page->step * 2, MOST_IN_STEP));
		page->step_looked = 0;
	} else if (page->rows.n >= page->limit || page->looked >= page->scan_limit) {
		page->full = true;
		page->found = false;
		conn->driver->end(page->cursor);
	} else {
		page->looked++;
		page->step_looked++;
		conn->driver->read(page->cursor, page->type, NULL, ret_row);
	}
	return AX_OK;
}

void ax_sql_page_take(struct ax_sql_page *page, const void *row)
{
	ax_row_copy(page->type, page->tx->arena, row, ax_rows_add(&page->rows, page->tx->arena, page->type));
}
