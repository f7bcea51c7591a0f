#include "adapters/http/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "adapters/http/target.h"
#include "base/utf8.h"

enum { REQUEST_LINE, HEADER_LINES, HEAD_COMPLETE, BODY, TRAILERS, COMPLETE };
enum { EXTENSION_MAX_BYTES = 64, EMPTY_LINES_MAX = 2 };

static const char *const methods[] = {
	[AX_HTTP_GET] = "GET",
	[AX_HTTP_HEAD] = "HEAD",
	[AX_HTTP_POST] = "POST",
	[AX_HTTP_PUT] = "PUT",
	[AX_HTTP_PATCH] = "PATCH",
	[AX_HTTP_DELETE] = "DELETE",
	[AX_HTTP_OPTIONS] = "OPTIONS",
};

const char *ax_http_method_name(enum ax_http_method method)
{
	return methods[method];
}

/* Every function below that finds fault leaves status and reason and returns false. */
static bool refuse(struct ax_http_parser *parser, int status, const char *reason)
{
	parser->status = status;
	parser->reason = reason;
	return false;
}

/* --- llhttp ------------------------------------------------------------------------------------------------------ */

static int on_headers_complete(llhttp_t *ll)
{
	ll->upgrade = 0; /* the message is an ordinary one for us, so its body is read as such */
	return 0;
}

static int on_body(llhttp_t *ll, const char *at, size_t len)
{
	struct ax_http_parser *parser = ll->data;
	struct ax_buf *body = &parser->msg->body;
	if (len > parser->body_max_bytes - body->len) {
		refuse(parser, 413, "The body is larger than this address takes.");
		return -1;
	}
	ax_buf_add(body, at, len);
	return 0;
}

static int on_extension(llhttp_t *ll, const char *at, size_t len)
{
	(void)at;
	struct ax_http_parser *parser = ll->data;
	parser->extension_bytes += len;
	if (parser->extension_bytes <= EXTENSION_MAX_BYTES)
		return 0;
	refuse(parser, 400, "A chunk extension is longer than 64 bytes.");
	return -1;
}

static int on_chunk_header(llhttp_t *ll)
{
	struct ax_http_parser *parser = ll->data;
	parser->extension_bytes = 0;
	if (ll->content_length > parser->body_max_bytes - parser->msg->body.len) {
		refuse(parser, 413, "The body is larger than this address takes.");
		return -1;
	}
	return ll->content_length == 0 ? HPE_PAUSED : 0; /* trailers are ours */
}

static int on_message_complete(llhttp_t *ll)
{
	struct ax_http_parser *parser = ll->data;
	parser->ll_done = true;
	return HPE_PAUSED; /* what follows is another message */
}

static const llhttp_settings_t settings = {
	.on_headers_complete = on_headers_complete,
	.on_body = on_body,
	.on_chunk_extension_name = on_extension,
	.on_chunk_extension_value = on_extension,
	.on_chunk_header = on_chunk_header,
	.on_message_complete = on_message_complete,
};

static bool feed_line_to_llhttp(struct ax_http_parser *parser, const char *line, size_t len)
{
	llhttp_errno_t e = llhttp_execute(&parser->ll, line, len);
	if (e == HPE_OK || (e == HPE_PAUSED && parser->ll_done))
		return true;
	if (e == HPE_UNEXPECTED_CONTENT_LENGTH)
		return refuse(parser, 400, "Content-Length is given twice or together with Transfer-Encoding.");
	if (e == HPE_INVALID_CONTENT_LENGTH)
		return refuse(parser, 400, "Content-Length is not a plain decimal number.");
	return refuse(parser, 400, "The request is malformed.");
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

/* Moves bytes into buf up to the end of a line; true when the line is complete. */
static bool take_line(struct ax_buf *buf, const char *data, size_t len, size_t *used)
{
	const char *start = data + *used;
	const char *lf = memchr(start, '\n', len - *used);
	size_t n = lf != NULL ? (size_t)(lf - start) + 1 : len - *used;
	ax_buf_add(buf, start, n);
	*used += n;
	return lf != NULL && !buf->overflow;
}

/* A whole line, LF included. */
static bool check_line(struct ax_http_parser *parser, const char *line, size_t len)
{
	if (len < 2 || line[len - 2] != '\r')
		return refuse(parser, 400, "A line does not end with CR LF.");
	for (size_t i = 0; i < len - 2; i++) {
		unsigned char c = (unsigned char)line[i];
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return refuse(parser, 400, "A line holds a control character.");
	}
	return true;
}

/* A header or trailer line that is not empty: "name: value". */
static bool check_header_line(struct ax_http_parser *parser, const char *line, size_t len)
{
	if (line[0] == ' ' || line[0] == '\t')
		return refuse(parser, 400, "A header is folded over two lines.");
	const char *colon = memchr(line, ':', len);
	if (colon == NULL || colon == line)
		return refuse(parser, 400, "A header has no name.");
	for (const char *c = line; c < colon; c++) {
		if (!isalnum((unsigned char)*c) && strchr("!#$%&'*+-.^_`|~", *c) == NULL)
			return refuse(parser, 400, "A header name holds a character that is not allowed.");
	}
	if (!ax_utf8_valid(line, len))
		return refuse(parser, 400, "A header is not valid UTF-8.");
	return true;
}

static bool parse_method(struct ax_http_parser *parser, const char *s, size_t len)
{
	for (size_t i = 0; i < AX_COUNT(methods); i++) {
		if (strlen(methods[i]) == len && memcmp(methods[i], s, len) == 0) {
			parser->msg->method = (enum ax_http_method)i;
			return true;
		}
	}
	for (size_t i = 0; i < len; i++) {
		if (!isalpha((unsigned char)s[i]) && s[i] != '-')
			return refuse(parser, 400, "The request line is malformed.");
	}
	return refuse(parser, 501, "The method is not supported.");
}

static bool parse_version(struct ax_http_parser *parser, const char *s, size_t len)
{
	if (len != 8 || memcmp(s, "HTTP/", 5) != 0 || !isdigit((unsigned char)s[5]) || s[6] != '.' ||
		!isdigit((unsigned char)s[7]))
		return refuse(parser, 400, "The request line is malformed.");
	if (s[5] != '1' || s[7] > '1')
		return refuse(parser, 505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.");
	parser->msg->http_1_0 = s[7] == '0';
	return true;
}

static bool parse_request_line(struct ax_http_parser *parser, const char *line, size_t len)
{
	const char *end = line + len - 2;
	const char *space = memchr(line, ' ', (size_t)(end - line));
	const char *space2 = space != NULL ? memchr(space + 1, ' ', (size_t)(end - space - 1)) : NULL;
	if (space2 == NULL || space == line || space2 == space + 1)
		return refuse(parser, 400, "The request line is malformed.");
	for (const char *c = space + 1; c < space2; c++) {
		if (*c <= 0x20 || *c >= 0x7f)
			return refuse(parser, 400, "The target holds a character that must be percent-encoded.");
	}
	parser->target_start = (size_t)(space + 1 - line) + parser->line_start;
	parser->target_len = (size_t)(space2 - space - 1);
	return parse_version(parser, space2 + 1, (size_t)(end - space2 - 1)) &&
		parse_method(parser, line, (size_t)(space - line));
}

/* --- the head ---------------------------------------------------------------------------------------------------- */

/* Cuts the header lines up where they are: names in lower case, values without blanks around them, both with a NUL. */
static void cut_headers(struct ax_http_parser *parser, struct ax_http_header *headers)
{
	char *s = parser->msg->head.data + parser->headers_start;
	for (size_t i = 0; i < parser->n_headers; i++) {
		char *end = strchr(s, '\r');
		char *next = end + 2;
		char *colon = strchr(s, ':');
		headers[i].name = s;
		for (; s < colon; s++)
			*s = (char)tolower((unsigned char)*s);
		*s++ = '\0';
		while (*s == ' ' || *s == '\t')
			s++;
		while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*end = '\0';
		headers[i].value = s;
		s = next;
	}
	parser->msg->headers = headers;
	parser->msg->n_headers = parser->n_headers;
}

/* The only header of that name: 0 none, 1 with *ret, 2 more than one. */
static int find_single(const struct ax_http_message *msg, const char *name, const char **ret)
{
	int n = 0;
	for (size_t i = 0; i < msg->n_headers && n < 2; i++) {
		if (strcmp(msg->headers[i].name, name) == 0) {
			*ret = msg->headers[i].value;
			n++;
		}
	}
	return n;
}

static bool check_host(struct ax_http_parser *parser, const char **ret_host)
{
	int n = find_single(parser->msg, "host", ret_host);
	if (n == 0 && parser->msg->http_1_0)
		return true;
	if (n != 1)
		return refuse(parser, 400, n == 0 ? "Host is missing." : "Host is given twice.");
	const char *host = *ret_host;
	size_t good = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:[]");
	if (good == 0 || host[good] != '\0')
		return refuse(parser, 400, "Host is not a host.");
	return true;
}

static bool check_framing(struct ax_http_parser *parser)
{
	struct ax_http_message *msg = parser->msg;
	const char *coding = NULL;
	const char *length = NULL;
	const char *expect = NULL;
	int n_codings = find_single(msg, "transfer-encoding", &coding);
	int n_lengths = find_single(msg, "content-length", &length);
	if (n_codings > 0 && (n_lengths > 0 || msg->http_1_0))
		return refuse(parser, 400, "Transfer-Encoding does not go with this request.");
	if (n_codings > 1 || (n_codings == 1 && strcasecmp(coding, "chunked") != 0))
		return refuse(parser, 501, "The only transfer coding that is supported is chunked.");
	if (n_lengths > 1)
		return refuse(parser, 400, "Content-Length is given twice.");
	msg->has_body = n_codings == 1 || (n_lengths == 1 && parser->ll.content_length > 0);
	msg->content_length = n_codings == 1 ? 0 : (size_t)parser->ll.content_length;
	int n_expects = find_single(msg, "expect", &expect);
	if (n_expects > 1 || (n_expects == 1 && strcasecmp(expect, "100-continue") != 0))
		return refuse(parser, 417, "The only expectation that is supported is 100-continue.");
	msg->expects_continue = n_expects == 1 && msg->has_body && !msg->http_1_0;
	return true;
}

/* Turns an absolute target into its path and query; its host must be the one in Host. */
static bool strip_authority(struct ax_http_parser *parser, const char *host, const char **target, size_t *len)
{
	size_t skip = strncasecmp(*target, "http://", 7) == 0 ? 7 : strncasecmp(*target, "https://", 8) == 0 ? 8 : 0;
	if (skip == 0 || skip > *len)
		return true;
	const char *authority = *target + skip;
	size_t n = strcspn(authority, "/?# ");
	if (host == NULL || strlen(host) != n || strncasecmp(authority, host, n) != 0)
		return refuse(parser, 400, "The target names another host than Host does.");
	*target = authority + n;
	*len -= skip + n;
	return true;
}

static bool decode_target(
	struct ax_http_parser *parser, const char *target, size_t len, char *dst, struct ax_http_param *params)
{
	struct ax_http_message *msg = parser->msg;
	if (len == 1 && target[0] == '*' && msg->method == AX_HTTP_OPTIONS) {
		msg->path = "*";
		msg->raw_query = "";
		return true;
	}
	const char *mark = memchr(target, '?', len);
	size_t path_len = mark != NULL ? (size_t)(mark - target) : len;
	size_t query_len = mark != NULL ? len - path_len - 1 : 0;
	if (query_len > parser->limits->query_max_bytes)
		return refuse(parser, 414, "The query is too long.");
	const char *reason = ax_http_path_decode(target, path_len, dst);
	if (reason != NULL)
		return refuse(parser, 400, reason);
	msg->path = dst;
	dst += path_len + 1;
	memcpy(dst, target + len - query_len, query_len);
	dst[query_len] = '\0';
	msg->raw_query = dst;
	reason = ax_http_query_decode(msg->raw_query, query_len, dst + query_len + 1, params, &msg->n_params);
	msg->params = params;
	return reason == NULL || refuse(parser, 400, reason);
}

/* The empty line has come: judges the head as a whole, and lets llhttp do the same. */
static bool finish_head(struct ax_http_parser *parser)
{
	struct ax_http_message *msg = parser->msg;
	const char *target = msg->head.data + parser->target_start;
	const char *mark = memchr(target, '?', parser->target_len);
	size_t params_max = mark != NULL ? ax_http_query_count(mark, parser->target_len - (size_t)(mark - target)) : 0;
	size_t headers_bytes = parser->n_headers * sizeof(struct ax_http_header);
	size_t params_bytes = params_max * sizeof(struct ax_http_param);
	/* behind the two arrays: path, query, decoded query and their NULs */
	msg->decoded = ax_malloc(headers_bytes + params_bytes + 2 * parser->target_len + 4);
	char *params = (char *)msg->decoded + headers_bytes;

	cut_headers(parser, msg->decoded);
	const char *host = NULL;
	size_t target_len = parser->target_len;
	if (!check_host(parser, &host) || !check_framing(parser) ||
		!strip_authority(parser, host, &target, &target_len) ||
		!decode_target(parser, target, target_len, params + params_bytes, (void *)params) ||
		!feed_line_to_llhttp(parser, "\r\n", 2))
		return false;
	if (parser->ll_done == msg->has_body)
		return refuse(parser, 400, "The length of the body is not clear.");
	msg->keep_alive = llhttp_should_keep_alive(&parser->ll) != 0;
	parser->state = HEAD_COMPLETE;
	return true;
}

/* One complete line of the head. */
static bool take_head_line(struct ax_http_parser *parser)
{
	struct ax_buf *head = &parser->msg->head;
	const char *line = head->data + parser->line_start;
	size_t len = head->len - parser->line_start;
	if (!check_line(parser, line, len))
		return false;
	if (parser->state == REQUEST_LINE) {
		if (len == 2) {
			ax_buf_clear(head);
			return ++parser->n_empty <= EMPTY_LINES_MAX ||
				refuse(parser, 400, "There are empty lines before the request.");
		}
		if (!parse_request_line(parser, line, len) || !feed_line_to_llhttp(parser, line, len))
			return false;
		parser->headers_start = head->len;
		parser->state = HEADER_LINES;
	} else if (len == 2) {
		return finish_head(parser);
	} else {
		if (++parser->n_headers > parser->limits->headers_max)
			return refuse(parser, 431, "There are too many headers.");
		if (!check_header_line(parser, line, len) || !feed_line_to_llhttp(parser, line, len))
			return false;
	}
	parser->line_start = head->len;
	return true;
}

static bool take_head(struct ax_http_parser *parser, const char *data, size_t len, size_t *used)
{
	struct ax_buf *head = &parser->msg->head;
	char first = data[*used];
	if (parser->state == REQUEST_LINE && head->len == 0 && first != '\r' && !isalpha((unsigned char)first))
		return refuse(parser, 400, "This is not an HTTP request."); /* but TLS, perhaps */
	bool complete = take_line(head, data, len, used);
	size_t line_end = complete ? 2 : 1; /* CR LF; a CR may be there without the LF */
	if (parser->state == REQUEST_LINE) {
		if (head->overflow || head->len > parser->limits->line_max_bytes + line_end)
			return refuse(parser, 414, "The request line is too long.");
	} else if (head->overflow || head->len - parser->headers_start > parser->limits->headers_max_bytes + line_end) {
		return refuse(parser, 431, "The headers are too large.");
	}
	return !complete || take_head_line(parser);
}

/* --- body and trailers -------------------------------------------------------------------------------------------- */

static bool take_body(struct ax_http_parser *parser, const char *data, size_t len, size_t *used)
{
	const char *start = data + *used;
	llhttp_errno_t e = llhttp_execute(&parser->ll, start, len - *used);
	if (e == HPE_OK) {
		*used = len;
		return true;
	}
	if (e != HPE_PAUSED) {
		if (parser->status == 0) /* else a callback has said more */
			refuse(parser, 400, "The chunks of the body are malformed.");
		return false;
	}
	*used += (size_t)(llhttp_get_error_pos(&parser->ll) - start);
	parser->state = parser->ll_done ? COMPLETE : TRAILERS;
	return true;
}

static bool take_trailer(struct ax_http_parser *parser, const char *data, size_t len, size_t *used)
{
	struct ax_buf *buf = &parser->trailer;
	size_t before = *used;
	bool complete = take_line(buf, data, len, used);
	parser->trailer_bytes += *used - before;
	if (buf->overflow || parser->trailer_bytes > parser->limits->headers_max_bytes)
		return refuse(parser, 431, "The trailers are too large.");
	if (!complete)
		return true;
	if (!check_line(parser, buf->data, buf->len))
		return false;
	if (buf->len == 2)
		parser->state = COMPLETE;
	else if (!check_header_line(parser, buf->data, buf->len))
		return false;
	else if (strncasecmp(buf->data, "content-length:", 15) == 0 ||
		strncasecmp(buf->data, "transfer-encoding:", 18) == 0)
		return refuse(parser, 400, "A trailer speaks of the length of the body.");
	ax_buf_clear(buf);
	return true;
}

static bool begin_body(struct ax_http_parser *parser)
{
	if (parser->msg->content_length > parser->body_max_bytes)
		return refuse(parser, 413, "The body is larger than this address takes.");
	ax_buf_init(&parser->msg->body, parser->body_max_bytes);
	parser->state = parser->msg->has_body ? BODY : COMPLETE;
	return true;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

void ax_http_message_done(struct ax_http_message *msg)
{
	ax_buf_done(&msg->head);
	ax_buf_done(&msg->body);
	free(msg->decoded);
	*msg = (struct ax_http_message){ 0 };
}

void ax_http_parser_begin(
	struct ax_http_parser *parser, const struct ax_http_limits *limits, struct ax_http_message *msg)
{
	ax_buf_done(&parser->trailer);
	*parser = (struct ax_http_parser){ .limits = limits, .msg = msg, .state = REQUEST_LINE };
	ax_buf_init(&msg->head, limits->line_max_bytes + limits->headers_max_bytes + 4);
	ax_buf_init(&parser->trailer, limits->headers_max_bytes);
	llhttp_init(&parser->ll, HTTP_REQUEST, &settings);
	parser->ll.data = parser;
}

void ax_http_parser_done(struct ax_http_parser *parser)
{
	ax_buf_done(&parser->trailer);
}

bool ax_http_parser_in_body(const struct ax_http_parser *parser)
{
	return parser->state == HEAD_COMPLETE || parser->state == BODY || parser->state == TRAILERS;
}

enum ax_http_event ax_http_parser_feed(struct ax_http_parser *parser, const char *data, size_t len, size_t *ret_used)
{
	size_t used = 0;
	bool good = true;
	int before = parser->state;
	if (parser->state == HEAD_COMPLETE)
		good = begin_body(parser);
	while (good && used < len && parser->state != HEAD_COMPLETE && parser->state != COMPLETE) {
		if (parser->state == BODY)
			good = take_body(parser, data, len, &used);
		else if (parser->state == TRAILERS)
			good = take_trailer(parser, data, len, &used);
		else
			good = take_head(parser, data, len, &used);
	}
	*ret_used = used;
	if (!good)
		return AX_HTTP_EVENT_REFUSED;
	if (parser->state == HEAD_COMPLETE && before != HEAD_COMPLETE)
		return AX_HTTP_EVENT_HEAD;
	return parser->state == COMPLETE ? AX_HTTP_EVENT_DONE : AX_HTTP_EVENT_MORE;
}
