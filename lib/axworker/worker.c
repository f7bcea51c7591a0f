#include "worker.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/num.h"
#include "sys/attempt_dir.h"

/* The worker as a whole: how it is made, its thread, and how it ends. */

static const int64_t STOPPING_MS = 7000; /* processes have their KILL long before */
static const int64_t REPORTING_MS = 3000;
static const uint64_t ENDING_PERIOD_MS = 20;

enum { SLOTS_PER_PLACE = 3, BURST = 200 };

/* ---- posts from other threads */

void axw_post(struct axw *w, void (*fn)(struct axw *w, void *arg), void *arg)
{
	struct post *post = ax_malloc(sizeof(*post));
	*post = (struct post){ .fn = fn, .arg = arg };
	uv_mutex_lock(&w->lock);
	bool taken = !w->closed;
	if (taken) {
		if (w->posts_last)
			w->posts_last->next = post;
		else
			w->posts = post;
		w->posts_last = post;
		uv_async_send(&w->wake);
	}
	uv_mutex_unlock(&w->lock);
	if (!taken)
		free(post);
}

void axw_run_posts(struct axw *w)
{
	uv_mutex_lock(&w->lock);
	struct post *posts = w->posts;
	w->posts = w->posts_last = NULL;
	uv_mutex_unlock(&w->lock);
	for (struct post *post = posts, *next; post; post = next) {
		next = post->next;
		post->fn(w, post->arg);
		free(post);
	}
}

static void on_wake(uv_async_t *async)
{
	axw_run_posts(async->data);
}

/* ---- making */

/* One process at a time: two would report each other's results and kill each other's attempts. */
static bool lock_state(struct axw *w, char *error, size_t size)
{
	char path[4096];
	if (mkdir(w->state_dir, 0700) < 0 && errno != EEXIST)
		return axw_fail(error, size, "cannot make the state folder %s: %s", w->state_dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/lock", w->state_dir);
	w->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (w->lock_fd < 0)
		return axw_fail(error, size, "cannot use the state folder %s: %s", w->state_dir, strerror(errno));
	if (flock(w->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return axw_fail(error, size, "another worker uses the state folder %s", w->state_dir);
	return true;
}

static void on_found(void *user, int64_t gid, int64_t fence, const char *text)
{
	axw_attempt_recover(user, gid, fence, text);
}

static void on_stored(void *user, void *cookie)
{
	axw_post(user, axw_attempt_stored, cookie);
}

static void on_trouble(void *user, const char *event, const char *sentence)
{
	axw_log_json(user, AXW_ERROR, event, json_pack("{s:s}", "error", sentence));
}

static void init_libraries(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	json_object_seed(0);
}

static void init_loop(struct axw *w)
{
	AX_ASSERT(uv_loop_init(&w->loop) == 0);
	AX_ASSERT(uv_mutex_init(&w->lock) == 0 && uv_cond_init(&w->stop_asked) == 0);
	AX_ASSERT(uv_async_init(&w->loop, &w->wake, on_wake) == 0);
	AX_ASSERT(uv_timer_init(&w->loop, &w->second) == 0 && uv_timer_init(&w->loop, &w->heartbeat) == 0 &&
		uv_timer_init(&w->loop, &w->report_timer) == 0);
	w->wake.data = w->second.data = w->heartbeat.data = w->report_timer.data = w;
	for (int i = 0; i < w->n_servers; i++) {
		struct server *server = &w->servers[i];
		AX_ASSERT(uv_timer_init(&w->loop, &server->retry) == 0 && uv_timer_init(&w->loop, &server->look) == 0);
		server->retry.data = server->look.data = server;
		for (int k = 0; k < AXW_POLLS_MAX; k++)
			server->polls[k].server = server;
	}
	w->curl = ax_curl_loop_new(&w->loop, (AXW_POLLS_MAX + 2L) * w->n_servers + 2, 0);
	w->pool = ax_pool_new(0);
}

static void init_defaults(struct axw *w)
{
	uint64_t random[2];
	AX_ASSERT(getrandom(random, sizeof(random), 0) == (ssize_t)sizeof(random));
	snprintf(w->incarnation, sizeof(w->incarnation), "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	w->heartbeat_ms = 15000;
	w->start_within_ms = 12000;
	w->unreachable_ms = 35000;
	w->poll_wait_ms = 5000;
	w->random = random[0] ^ random[1];
	w->lock_fd = -1;
	w->journal_fd = -1;
}

struct axw *axw_new(const struct axw_options *options, char *error, size_t error_size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, init_libraries);
	struct axw *w = ax_malloc(sizeof(*w));
	init_defaults(w);
	bool good = axw_options_read(w, options, error, error_size);
	if (!good || !lock_state(w, error, error_size)) {
		axw_options_free(w);
		errno = good ? EBUSY : EINVAL;
		return NULL;
	}
	init_loop(w);
	struct axw_spool_ops ops = { .found = on_found, .stored = on_stored, .trouble = on_trouble, .user = w };
	w->spool = axw_spool_open(w->state_dir, &ops, error, error_size);
	if (!w->spool) {
		axw_free(w);
		errno = EIO;
		return NULL;
	}
	return w;
}

static int add_executor(struct axw *w, const char *key, const struct executor *what)
{
	struct executor *e;
	HASH_FIND_STR(w->executors, key, e);
	if (e || w->started || !axw_is_name(key))
		return -1;
	e = ax_malloc(sizeof(*e));
	*e = *what;
	snprintf(e->key, sizeof(e->key), "%s", key);
	HASH_ADD_STR(w->executors, key, e);
	return 0;
}

int axw_register(struct axw *w, const char *key, axw_function *function, void *user)
{
	return add_executor(w, key, &(struct executor){ .function = function, .user = user });
}

int axw_register_executor(struct axw *w, const char *key, const struct axw_executor *ops, void *user)
{
	struct executor e = { .user = user };
	memcpy(&e.ops, ops, AX_MIN(ops->size, sizeof(e.ops)));
	return e.ops.start ? add_executor(w, key, &e) : -1;
}

struct uv_loop_s *axw_loop(struct axw *w)
{
	return &w->loop;
}

void axw_on_close(struct axw *w, void (*closing)(void *user), void *user)
{
	w->closing_cb = closing;
	w->closing_user = user;
}

int64_t axw_jitter(struct axw *w, int64_t ms)
{
	w->random = ax_mix64(w->random + 1);
	return ms - (int64_t)(w->random % (uint64_t)(ms / 2 + 1));
}

/* ---- back-pressure */

int64_t axw_slots(const struct axw *w, const struct group *group)
{
	if (w->disk_low || w->stored_bytes > w->spool_max_bytes)
		return 0;
	return AX_MAX(0, SLOTS_PER_PLACE * group->pool_size - group->held);
}

static void look_at_disk(struct axw *w)
{
	struct statvfs fs;
	bool low = fstatvfs(w->lock_fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < w->disk_low_bytes;
	if (low != w->disk_low)
		axw_log_json(w, low ? AXW_ERROR : AXW_INFO, low ? "disk_low" : "disk_ok",
			json_pack("{s:s}", "effect", low ? "no more runs are taken" : "runs are taken again"));
	w->disk_low = low;
}

/* ---- the end */

static void enter(struct axw *w, enum phase phase, int64_t within_ms)
{
	w->phase = phase;
	w->phase_end_ms = ax_add_sat(ax_boottime_ms(), within_ms);
}

static void close_all(struct axw *w);

static void stop_all(struct axw *w)
{
	struct axw_attempt *a;
	struct axw_attempt *next;
	HASH_ITER(hh, w->attempts, a, next)
	axw_attempt_stop(a, AXW_STOP_DRAIN);
}

static void end_step(struct axw *w, int64_t now)
{
	bool open = axw_attempts_open(w);
	if (w->phase == FINISHING && (!open || now >= w->drain_end_ms)) {
		stop_all(w);
		enter(w, STOPPING, STOPPING_MS);
	}
	if (w->phase == STOPPING && (!axw_attempts_open(w) || now >= w->phase_end_ms)) {
		if (w->end != AXW_END_DRAINED) {
			close_all(w);
			return;
		}
		axw_tell_soon(w);
		enter(w, REPORTING, REPORTING_MS);
	}
	if (w->phase == REPORTING && (axw_tell_is_over(w) || now >= w->phase_end_ms)) {
		enter(w, LEAVING, INT64_MAX);
		axw_session_leave(w, close_all);
	}
}

/* A burst of runs leaves the heap full of holes; an idle worker shall be small. */
static void give_memory_back(struct axw *w)
{
	unsigned held = HASH_COUNT(w->attempts);
	w->attempts_peak = AX_MAX(w->attempts_peak, held);
	if (held > 0 || w->attempts_peak < BURST)
		return;
	w->attempts_peak = 0;
	malloc_trim(0);
}

/* Once a second; a machine that was suspended sees on waking that its leases are gone. */
static void every_second(uv_timer_t *timer)
{
	struct axw *w = timer->data;
	int64_t now = ax_boottime_ms();
	axw_attempts_tick(w, now);
	if (w->draining) {
		end_step(w, now);
		return;
	}
	look_at_disk(w);
	give_memory_back(w);
	axw_session_poll(w);
}

static void drop_queued(struct axw *w)
{
	struct axw_attempt *a;
	struct axw_attempt *next;
	HASH_ITER(hh, w->attempts, a, next)
	{
		if (a->state == QUEUED || a->state == CONFIRMING)
			axw_attempt_stop(a, AXW_STOP_DRAIN);
	}
}

static void begin_end(struct axw *w, int64_t grace_ms)
{
	int64_t end = ax_add_sat(ax_boottime_ms(), grace_ms);
	w->drain_end_ms = w->draining ? AX_MIN(end, w->drain_end_ms) : end;
	if (w->draining)
		return;
	w->draining = true;
	axw_log_json(w, AXW_INFO, "draining", json_pack("{s:i}", "executing", w->executing));
	axw_session_stop_polls(w); /* what a parked one would bring is given out again */
	drop_queued(w);
	enter(w, FINISHING, INT64_MAX);
	uv_timer_start(&w->second, every_second, 0, ENDING_PERIOD_MS);
}

static void drain(struct axw *w, void *arg)
{
	(void)arg;
	uv_mutex_lock(&w->lock);
	int64_t grace_ms = w->drain_wish_ms;
	uv_mutex_unlock(&w->lock);
	begin_end(w, grace_ms);
}

void axw_drain(struct axw *w, int64_t grace_ms)
{
	uv_mutex_lock(&w->lock);
	w->drain_wish_ms = AX_MAX(0, grace_ms);
	uv_mutex_unlock(&w->lock);
	axw_post(w, drain, NULL);
}

void axw_end_now(struct axw *w, int end)
{
	if (w->end == AXW_END_DRAINED)
		w->end = end;
	begin_end(w, 0);
}

static void close_all(struct axw *w)
{
	if (w->closing)
		return;
	w->closing = true;
	w->phase = CLOSED;
	axw_tell_abort(w);
	axw_session_abort(w);
	axw_attempts_close(w);
	if (w->closing_cb)
		w->closing_cb(w->closing_user);
	uv_mutex_lock(&w->lock);
	w->closed = true;
	uv_mutex_unlock(&w->lock);
	ax_curl_loop_close(w->curl);
	uv_close((uv_handle_t *)&w->wake, NULL);
	uv_close((uv_handle_t *)&w->second, NULL);
	uv_close((uv_handle_t *)&w->heartbeat, NULL);
	uv_close((uv_handle_t *)&w->report_timer, NULL);
	for (int i = 0; i < w->n_servers; i++) {
		uv_close((uv_handle_t *)&w->servers[i].retry, NULL);
		uv_close((uv_handle_t *)&w->servers[i].look, NULL);
	}
}

/* ---- the thread */

static void loop_main(void *arg)
{
	struct axw *w = arg;
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL); /* signals are the program's */
	look_at_disk(w);
	for (int i = 0; i < w->n_servers; i++)
		axw_session_start(&w->servers[i]);
	uv_timer_start(&w->second, every_second, 1000, 1000);
	uv_run(&w->loop, UV_RUN_DEFAULT);
}

int axw_start(struct axw *w)
{
	if (axw_spool_start(w->spool) < 0)
		return -1;
	uv_thread_options_t options = { .flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = 1024 * 1024 };
	w->started = uv_thread_create_ex(&w->thread, &options, loop_main, w) == 0;
	return w->started ? 0 : -1;
}

int axw_wait(struct axw *w)
{
	uv_thread_join(&w->thread);
	axw_log_json(w, AXW_INFO, "ended", json_pack("{s:i}", "end", w->end));
	return w->end;
}

void axw_free(struct axw *w)
{
	if (!w)
		return;
	if (w->functions_out > 0)
		return; /* a function that never returned still uses it; the memory goes with the process */
	if (!w->started) {
		close_all(w);
		uv_run(&w->loop, UV_RUN_DEFAULT);
	}
	if (w->spool)
		axw_spool_close(w->spool);
	struct axw_attempt *a;
	struct axw_attempt *next;
	HASH_ITER(hh, w->attempts, a, next)
	{
		axw_report_unmark(a);
		HASH_DELETE(hh, w->attempts, a);
		axw_attempt_unref(a);
	}
	struct seen *s;
	struct seen *next_seen;
	HASH_ITER(hh, w->seen, s, next_seen)
	{
		HASH_DELETE(hh, w->seen, s);
		free(s);
	}
	for (struct post *post = w->posts, *next_post; post; post = next_post) {
		next_post = post->next;
		free(post);
	}
	ax_pool_close(w->pool);
	AX_ASSERT(uv_loop_close(&w->loop) == 0);
	uv_mutex_destroy(&w->lock);
	uv_cond_destroy(&w->stop_asked);
	axw_options_free(w);
}
