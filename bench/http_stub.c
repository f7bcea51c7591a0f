/* The server that the http scenarios call: http_stub DELAY_MS.
 *
 * Answers every request with 200 and no body after DELAY_MS, over any number of connections that stay open. It knows
 * just enough of HTTP for a worker's calls: a request ends with an empty line (the calls have no body), one at a time
 * on each connection. Prints the port it listens on (127.0.0.1) as its first line; ends with its standard input. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/arena.h"
#include "base/err.h"

enum { REQUEST_MAX = 16384, BACKLOG = 1024 };

struct conn {
	uv_tcp_t tcp;
	uv_timer_t delay;
	uv_write_t write;
	int open; /* handles */
	size_t len;
	char in[REQUEST_MAX + 1];
};

static uint64_t delay_ms;

static void closed(uv_handle_t *handle)
{
	struct conn *c = handle->data;
	if (--c->open == 0)
		free(c);
}

static void drop(struct conn *c)
{
	if (uv_is_closing((uv_handle_t *)&c->tcp))
		return;
	uv_close((uv_handle_t *)&c->tcp, closed);
	uv_close((uv_handle_t *)&c->delay, closed);
}

static void written(uv_write_t *write, int status)
{
	if (status < 0)
		drop(write->data);
}

static void answer(uv_timer_t *timer)
{
	static char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	struct conn *c = timer->data;
	uv_buf_t buf = uv_buf_init(text, sizeof text - 1);
	if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &buf, 1, written) != 0)
		drop(c);
}

static void give_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
	(void)wanted;
	struct conn *c = handle->data;
	*ret = uv_buf_init(c->in + c->len, (unsigned)(REQUEST_MAX - c->len));
}

static void take(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	(void)buf;
	struct conn *c = stream->data;
	if (n < 0) {
		drop(c);
		return;
	}
	c->len += (size_t)n;
	c->in[c->len] = '\0';
	if (strstr(c->in, "\r\n\r\n") != NULL) {
		c->len = 0;
		uv_timer_start(&c->delay, answer, delay_ms, 0);
	} else if (c->len == REQUEST_MAX) {
		drop(c);
	}
}

static void greet(uv_stream_t *listener, int status)
{
	if (status < 0)
		return;
	struct conn *c = ax_malloc(sizeof *c);
	c->open = 2;
	uv_tcp_init(listener->loop, &c->tcp);
	uv_timer_init(listener->loop, &c->delay);
	c->tcp.data = c->delay.data = c->write.data = c;
	if (uv_accept(listener, (uv_stream_t *)&c->tcp) != 0 ||
		uv_read_start((uv_stream_t *)&c->tcp, give_room, take) != 0) {
		drop(c);
		return;
	}
	uv_tcp_nodelay(&c->tcp, 1);
}

static void stdin_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
	static char unread[64];
	(void)handle;
	(void)wanted;
	*ret = uv_buf_init(unread, sizeof unread);
}

static void stdin_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	(void)stream;
	(void)buf;
	if (n < 0)
		exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: http_stub DELAY_MS [PORT]\n");
		return 2;
	}
	delay_ms = strtoull(argv[1], NULL, 10);
	uv_loop_t *loop = uv_default_loop();
	uv_tcp_t listener;
	uv_pipe_t in;
	struct sockaddr_in address;
	int len = sizeof address;
	int port = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	AX_ASSERT(uv_ip4_addr("127.0.0.1", port, &address) == 0 && uv_tcp_init(loop, &listener) == 0);
	AX_ASSERT(uv_tcp_bind(&listener, (struct sockaddr *)&address, 0) == 0);
	AX_ASSERT(uv_listen((uv_stream_t *)&listener, BACKLOG, greet) == 0);
	AX_ASSERT(uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &len) == 0);
	AX_ASSERT(uv_pipe_init(loop, &in, 0) == 0 && uv_pipe_open(&in, 0) == 0);
	AX_ASSERT(uv_read_start((uv_stream_t *)&in, stdin_room, stdin_read) == 0);
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	return uv_run(loop, UV_RUN_DEFAULT);
}
