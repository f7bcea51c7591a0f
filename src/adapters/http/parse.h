#ifndef AX_ADAPTERS_HTTP_PARSE_H
#define AX_ADAPTERS_HTTP_PARSE_H

/* Request bytes in, events out; no socket, no clock. It may be cut anywhere: the events are the same.
 *
 * Two readers agree or the request is refused. This one takes the head and the trailers line by line and is strict
 * about their form; llhttp, without any lenient mode, reads every line again, decides about Connection and takes the
 * body's framing. Refused (RFC 9112 unless said otherwise):
 *
 *   400  line ends other than CR LF, control characters, folded lines, blanks before a colon, more than one blank or
 *        none where the request line needs one, values that are not UTF-8 (ours), no Host or two, a Host that is no
 *        host, an absolute target for another host, Content-Length repeated, signed or with Transfer-Encoding,
 *        Transfer-Encoding in HTTP/1.0, bad chunks, chunk extensions beyond 64 bytes (ours), bad targets (target.h)
 *   413  body beyond the limit, as soon as it is announced or arrives
 *   414  request line or query too long          417  Expect other than 100-continue
 *   431  too many or too large headers           501  methods that are not in ax_http_method, other transfer codings
 *   505  versions other than 1.0 and 1.1
 *
 * Trailers are checked like headers and dropped. Upgrade is ignored. Empty lines before a request are skipped, two at
 * most. */

#include <llhttp.h>
#include <stdbool.h>
#include <stddef.h>

#include "adapters/http/server.h"
#include "base/buf.h"

struct ax_http_limits {
	size_t line_max_bytes;
	size_t query_max_bytes;
	size_t headers_max_bytes;
	size_t headers_max;
};

/* One request. A zeroed struct is an empty one; ax_http_message_done frees what it holds. */
struct ax_http_message {
	enum ax_http_method method;
	bool http_1_0;
	bool keep_alive;
	bool expects_continue;
	bool has_body;         /* a body follows the head */
	size_t content_length; /* announced; 0 when chunked */
	const char *path;
	const char *raw_query;
	const struct ax_http_param *params;
	size_t n_params;
	const struct ax_http_header *headers;
	size_t n_headers;
	struct ax_buf body;

	struct ax_buf head; /* lines as received, then cut up into names and values */
	void *decoded;      /* path, query, params and headers */
};

void ax_http_message_done(struct ax_http_message *msg);

enum ax_http_event {
	AX_HTTP_EVENT_MORE,    /* all bytes are used up */
	AX_HTTP_EVENT_HEAD,    /* the head is complete: body_max_bytes may be set now; feed on */
	AX_HTTP_EVENT_DONE,    /* the message is complete; the bytes behind it are not used */
	AX_HTTP_EVENT_REFUSED, /* see status and reason; feed no more */
};

struct ax_http_parser {
	const struct ax_http_limits *limits;
	struct ax_http_message *msg;
	llhttp_t ll;
	int state;
	size_t line_start;    /* of the unfinished line in msg->head */
	size_t headers_start; /* behind the request line */
	size_t target_start;
	size_t target_len;
	size_t n_headers;
	size_t n_empty; /* empty lines before the request */
	bool ll_done;   /* llhttp has seen the end of the message */
	size_t extension_bytes;
	struct ax_buf trailer;
	size_t trailer_bytes;

	size_t body_max_bytes;
	int status;         /* after AX_HTTP_EVENT_REFUSED */
	const char *reason; /* a constant sentence */
};

/* Makes ready for the next message, which is put into msg (an empty one). The first call needs a zeroed parser. */
void ax_http_parser_begin(
	struct ax_http_parser *parser, const struct ax_http_limits *limits, struct ax_http_message *msg);
void ax_http_parser_done(struct ax_http_parser *parser);

/* Takes bytes up to the next event. *ret_used says how many were used. */
enum ax_http_event ax_http_parser_feed(struct ax_http_parser *parser, const char *data, size_t len, size_t *ret_used);

/* True between the end of the head and the end of the message. */
bool ax_http_parser_in_body(const struct ax_http_parser *parser);

#endif
