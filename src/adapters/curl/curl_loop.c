#include "adapters/curl/curl_loop.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/err.h"

struct ax_curl_loop {
	CURLM *multi;
	uv_loop_t *loop;
	uv_timer_t timer;
	int open_handles; /* uv handles that are not closed yet */
};

struct transfer {
	ax_curl_done *done;
	void *user;
};

struct watch {
	uv_poll_t poll;
	curl_socket_t fd;
	struct ax_curl_loop *cl;
};

static void handle_closed(struct ax_curl_loop *cl)
{
	if (--cl->open_handles == 0)
		free(cl);
}

static void watch_closed(uv_handle_t *handle)
{
	struct watch *watch = handle->data;
	struct ax_curl_loop *cl = watch->cl;
	free(watch);
	handle_closed(cl);
}

static void timer_closed(uv_handle_t *handle)
{
	handle_closed(handle->data);
}

static struct transfer *forget(struct ax_curl_loop *cl, CURL *easy)
{
	char *private;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
	curl_multi_remove_handle(cl->multi, easy);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, NULL);
	return (struct transfer *)(void *)private;
}

static void report_ends(struct ax_curl_loop *cl)
{
	int left;
	/* what ends may close the loop: a worker that has said goodbye does */
	for (CURLMsg *msg; cl->multi && (msg = curl_multi_info_read(cl->multi, &left));) {
		if (msg->msg != CURLMSG_DONE)
			continue;
		CURL *easy = msg->easy_handle;
		CURLcode result = msg->data.result;
		struct transfer *t = forget(cl, easy);
		t->done(easy, result, t->user);
		free(t);
	}
}

static void socket_ready(uv_poll_t *poll, int status, int events)
{
	struct watch *watch = poll->data;
	struct ax_curl_loop *cl = watch->cl;
	int flags = 0;
	if (status < 0)
		flags = CURL_CSELECT_ERR;
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	int running;
	curl_multi_socket_action(cl->multi, watch->fd, flags, &running);
	report_ends(cl);
}

static void time_is_up(uv_timer_t *timer)
{
	struct ax_curl_loop *cl = timer->data;
	int running;
	curl_multi_socket_action(cl->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	report_ends(cl);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_user)
{
	(void)easy;
	struct ax_curl_loop *cl = user;
	struct watch *watch = socket_user;
	if (what == CURL_POLL_REMOVE) {
		if (!watch)
			return 0;
		uv_poll_stop(&watch->poll);
		curl_multi_assign(cl->multi, fd, NULL);
		uv_close((uv_handle_t *)&watch->poll, watch_closed);
		return 0;
	}
	if (!watch) {
		watch = ax_malloc(sizeof(*watch));
		watch->fd = fd;
		watch->cl = cl;
		watch->poll.data = watch;
		if (uv_poll_init_socket(cl->loop, &watch->poll, fd) < 0) {
			free(watch);
			return -1;
		}
		cl->open_handles++;
		curl_multi_assign(cl->multi, fd, watch);
	}
	int events = 0;
	if (what & CURL_POLL_IN)
		events |= UV_READABLE;
	if (what & CURL_POLL_OUT)
		events |= UV_WRITABLE;
	return uv_poll_start(&watch->poll, events, socket_ready) < 0 ? -1 : 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *user)
{
	(void)multi;
	struct ax_curl_loop *cl = user;
	if (timeout_ms < 0)
		uv_timer_stop(&cl->timer);
	else /* 0 too: libcurl must not be called from within its own callback */
		uv_timer_start(&cl->timer, time_is_up, (uint64_t)timeout_ms, 0);
	return 0;
}

struct ax_curl_loop *ax_curl_loop_new(uv_loop_t *loop, long idle_max, long total_max)
{
	struct ax_curl_loop *cl = ax_malloc(sizeof(*cl));
	cl->loop = loop;
	cl->multi = curl_multi_init();
	AX_ASSERT(cl->multi);
	AX_ASSERT(uv_timer_init(loop, &cl->timer) == 0);
	cl->timer.data = cl;
	cl->open_handles = 1;
	curl_multi_setopt(cl->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(cl->multi, CURLMOPT_SOCKETDATA, cl);
	curl_multi_setopt(cl->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(cl->multi, CURLMOPT_TIMERDATA, cl);
	curl_multi_setopt(cl->multi, CURLMOPT_MAXCONNECTS, idle_max);
	curl_multi_setopt(cl->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, total_max);
	return cl;
}

void ax_curl_loop_add(struct ax_curl_loop *cl, CURL *easy, ax_curl_done *done, void *user)
{
	struct transfer *t = ax_malloc(sizeof(*t));
	t->done = done;
	t->user = user;
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	AX_ASSERT(curl_multi_add_handle(cl->multi, easy) == CURLM_OK);
}

void ax_curl_loop_remove(struct ax_curl_loop *cl, CURL *easy)
{
	free(forget(cl, easy));
}

void ax_curl_loop_close(struct ax_curl_loop *cl)
{
	curl_multi_cleanup(cl->multi); /* closes idle connections, which ends their watches */
	cl->multi = NULL;
	uv_close((uv_handle_t *)&cl->timer, timer_closed);
}
