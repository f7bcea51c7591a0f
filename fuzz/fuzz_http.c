/* Any bytes to the request parser, whole and cut in pieces: the events must be the same, and what is accepted must
 * keep the promises of server.h. */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/http/parse.h"
#include "base/utf8.h"

static const struct ax_http_limits limits = { 200, 100, 400, 10 };
enum { BODY_MAX_BYTES = 300 };

static void check_text(const char *s)
{
	AX_ASSERT(ax_utf8_valid(s, strlen(s)));
}

static void check_head(const struct ax_http_message *msg)
{
	AX_ASSERT(msg->path[0] == '/' || (strcmp(msg->path, "*") == 0 && msg->method == AX_HTTP_OPTIONS));
	check_text(msg->path);
	AX_ASSERT(strstr(msg->path, "/../") == NULL && strstr(msg->path, "/./") == NULL);
	for (const char *s = msg->path; *s != '\0'; s++)
		AX_ASSERT((unsigned char)*s >= 0x20 && *s != 0x7f);
	int n_hosts = 0;
	AX_ASSERT(msg->n_headers <= limits.headers_max);
	for (size_t i = 0; i < msg->n_headers; i++) {
		n_hosts += strcmp(msg->headers[i].name, "host") == 0;
		check_text(msg->headers[i].value);
		AX_ASSERT(strpbrk(msg->headers[i].name, " \t\r\n:ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL);
		AX_ASSERT(strpbrk(msg->headers[i].value, "\r\n") == NULL);
	}
	AX_ASSERT(n_hosts == 1 || (n_hosts == 0 && msg->http_1_0));
	for (size_t i = 0; i < msg->n_params; i++) {
		check_text(msg->params[i].name);
		check_text(msg->params[i].value);
	}
}

static void note_head(struct ax_buf *out, const struct ax_http_message *msg)
{
	check_head(msg);
	ax_buf_printf(out, "%s %s ? %s 1.0:%d keep:%d continue:%d body:%d length:%zu\n",
		ax_http_method_name(msg->method), msg->path, msg->raw_query, msg->http_1_0, msg->keep_alive,
		msg->expects_continue, msg->has_body, msg->content_length);
	for (size_t i = 0; i < msg->n_headers; i++)
		ax_buf_printf(out, "%s: %s\n", msg->headers[i].name, msg->headers[i].value);
	for (size_t i = 0; i < msg->n_params; i++)
		ax_buf_printf(out, "%s = %s\n", msg->params[i].name, msg->params[i].value);
}

/* Feeds the bytes in pieces of `step` and writes down what the parser says. */
static void run(const char *data, size_t size, size_t step, struct ax_buf *out)
{
	struct ax_http_message msg = { 0 };
	struct ax_http_parser parser = { 0 };
	enum ax_http_event event = AX_HTTP_EVENT_MORE;
	size_t used = 0;
	ax_http_parser_begin(&parser, &limits, &msg);
	while (event != AX_HTTP_EVENT_REFUSED && (used < size || event == AX_HTTP_EVENT_HEAD)) {
		size_t n;
		size_t piece = AX_MIN(step, size - used);
		char *copy = malloc(AX_MAX(
			piece, (size_t)1)); /* exactly as large as it is: the sanitizer sees a byte read beyond */
		AX_ASSERT(copy != NULL);
		memcpy(copy, data + used, piece);
		event = ax_http_parser_feed(&parser, copy, piece, &n);
		free(copy);
		AX_ASSERT(n <= piece && (event != AX_HTTP_EVENT_MORE || n == piece));
		used += n;
		if (event == AX_HTTP_EVENT_HEAD) {
			note_head(out, &msg);
			parser.body_max_bytes = BODY_MAX_BYTES;
		} else if (event == AX_HTTP_EVENT_DONE) {
			AX_ASSERT(msg.body.len <= BODY_MAX_BYTES && (msg.has_body || msg.body.len == 0));
			AX_ASSERT(msg.content_length == 0 || msg.content_length == msg.body.len);
			ax_buf_printf(out, "done at %zu: ", used);
			ax_buf_add(out, msg.body.data, msg.body.len);
			ax_http_message_done(&msg);
			ax_http_parser_begin(&parser, &limits, &msg);
		}
	}
	if (event == AX_HTTP_EVENT_REFUSED)
		ax_buf_printf(out, "refused %d %s\n", parser.status, parser.reason);
	ax_http_message_done(&msg);
	ax_http_parser_done(&parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = { 1, 2, 7 };
	struct ax_buf whole, pieces;
	ax_buf_init(&whole, SIZE_MAX / 2);
	ax_buf_init(&pieces, SIZE_MAX / 2);
	run((const char *)data, size, SIZE_MAX, &whole);
	for (size_t i = 0; i < AX_COUNT(steps); i++) {
		ax_buf_clear(&pieces);
		run((const char *)data, size, steps[i], &pieces);
		AX_ASSERT(
			whole.len == pieces.len && (whole.len == 0 || memcmp(whole.data, pieces.data, whole.len) == 0));
	}
	ax_buf_done(&whole);
	ax_buf_done(&pieces);
	return 0;
}
