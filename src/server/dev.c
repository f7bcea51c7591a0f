#include "server/dev.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/accounts.h"
#include "server/secrets.h"
#include "server/server.h"

#define FOREVER_MS (INT64_C(3650) * 86400000)

struct first_steps {
	struct ax_server *server;
	char link[AX_SECRET_SIZE]; /* of the sign-in or setup link, "" = none needed */
	bool setup;
};

static enum ax_status add_token(struct ax_tx *tx, const char *kind, const char *name, const char *role,
	const char *worker_groups, const char *secret, int64_t now, int64_t life_ms, struct ax_err *err)
{
	char hash[AX_SECRET_HASH_SIZE];
	int64_t id;
	ax_secret_hash(secret, hash);
	struct ax_token token = {
		.hash = hash,
		.kind = kind,
		.name = name,
		.role = role,
		.worker_groups = worker_groups,
		.csrf = "",
		.create_time = now,
		.expire_time = now + life_ms,
	};
	return tx->ops->token_insert(tx, &token, &id, err);
}

/* Credentials of earlier starts end here, whatever mode that was. Over a shared store they may be another server's. */
static enum ax_status make_credentials(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	static const char *const kinds[] = { "setup", "once", "dev", "dev_worker" };
	struct first_steps *f = arg;
	struct ax_server *server = f->server;
	int64_t now = ax_now_ms(&server->clock.port), users = 0;
	enum ax_status status = AX_OK;
	bool shared = server->threads.backend->ops->shared;
	for (size_t i = 0; i < AX_COUNT(kinds) && status == AX_OK && !shared; i++)
		status = tx->ops->tokens_expire(tx, INT64_MAX, kinds[i], err);
	if (status == AX_OK)
		status = tx->ops->user_count(tx, &users, err);
	if (status != AX_OK)
		return status;
	if (!server->config.dev) {
		f->setup = users == 0;
		if (!f->setup)
			return AX_OK;
		ax_secret_make("", f->link);
		return add_token(tx, "setup", "setup", "", "", f->link, now, AX_LINK_MS, err);
	}
	ax_secret_make("", f->link);
	ax_secret_make("axp_", server->dev.token);
	ax_secret_make("axw_", server->dev.worker_token);
	status = add_token(tx, "once", AX_ACCOUNT_DEV_USER, "admin", "", f->link, now, AX_LINK_MS, err);
	if (status == AX_OK)
		status =
			add_token(tx, "dev", AX_ACCOUNT_DEV_USER, "admin", "", server->dev.token, now, FOREVER_MS, err);
	if (status == AX_OK)
		status = add_token(
			tx, "dev_worker", "dev-worker", "", "[\"*\"]", server->dev.worker_token, now, FOREVER_MS, err);
	return status;
}

/* Replaces a file of the state folder whole, readable by its owner alone. */
#define SETUP_TOKEN "setup-token"

static enum ax_status write_file(struct ax_server *server, const char *name, const char *text, struct ax_err *err)
{
	char path[4096], draft[4096 + 8];
	snprintf(path, sizeof path, "%s/%s", server->config.state_dir, name);
	snprintf(draft, sizeof draft, "%s.new", path);
	int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t len = strlen(text);
	bool written = fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, text, len) == (ssize_t)len;
	int fault = errno;
	if (fd >= 0)
		close(fd);
	if (!written || rename(draft, path) != 0)
		return ax_fail(err, AX_UNAVAILABLE, "", "cannot write %s: %s", path, strerror(written ? errno : fault));
	return AX_OK;
}

/* --- the worker --------------------------------------------------------------------------------------------------- */

enum {
	WORKER_LIVES_MS = 3000, /* one that ends sooner would probably do so again */
	WORKER_WAIT_FIRST_MS = 250,
	WORKER_WAIT_LAST_MS = 30000,
};

static void start_worker(struct ax_server *server);

static void start_another(uv_timer_t *timer)
{
	struct ax_server *server = timer->data;
	if (server->phase != AX_SERVER_STOPPING)
		start_worker(server);
}

/* The longer, the more ended one after the other. The worker of a server that was killed holds the state folder for
 * some seconds, in which it still tells results: until then others end at once. */
static void start_another_later(uv_handle_t *ended)
{
	struct ax_server *server = ended->data;
	struct ax_dev *dev = &server->dev;
	dev->worker_wait_ms =
		dev->worker_wait_ms == 0 ? WORKER_WAIT_FIRST_MS : AX_MIN(2 * dev->worker_wait_ms, WORKER_WAIT_LAST_MS);
	uv_timer_start(&dev->worker_again, start_another, (uint64_t)dev->worker_wait_ms, 0);
}

/* Why another one would be of no use, by the exit status (ax-worker --help); NULL = it may be. */
static const char *why_no_other(int64_t exit_status, int signal)
{
	if (signal != 0)
		return NULL;
	switch (exit_status) {
	case 0:
		return "it was asked to end";
	case 2:
		return "its options, which it takes from the environment too, are wrong";
	case 3:
		return "its token was refused";
	case 4:
		return "another worker has taken its name";
	case 5:
		return "its registration was refused";
	default:
		return NULL;
	}
}

/* Of several that end one after the other the first is news, and the last when no other follows. */
static void worker_ended(uv_process_t *process, int64_t exit_status, int signal)
{
	struct ax_server *server = process->data;
	struct ax_dev *dev = &server->dev;
	const char *why = why_no_other(exit_status, signal);
	uv_close((uv_handle_t *)process, why == NULL ? start_another_later : NULL);
	dev->worker_running = false;
	if (dev->worker_ended != NULL) {
		dev->worker_ended(server);
		return;
	}
	if (ax_mono_ms(&server->clock.port) - dev->worker_start_ms >= WORKER_LIVES_MS)
		dev->worker_wait_ms = 0;
	if (why != NULL || dev->worker_wait_ms == 0)
		ax_log_event(&server->log, AX_LOG_WARN, "dev_worker_ended",
			"\"exit_status\":%lld,\"signal\":%d,\"message\":\"%s%s\"", (long long)exit_status, signal,
			why != NULL ? "no other is started: " : "another is started", why != NULL ? why : "");
}

/* Beside this program (installed), beside its folder (build tree), or in PATH. */
static void find_worker(char ret[4096])
{
	char self[3900];
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	snprintf(ret, 4096, "ax-worker");
	if (len <= 0)
		return;
	self[len] = '\0';
	char *slash = strrchr(self, '/');
	if (slash == NULL)
		return;
	*slash = '\0';
	static const char *const places[] = { "", "/../worker" };
	for (size_t i = 0; i < AX_COUNT(places); i++) {
		char path[4096];
		snprintf(path, sizeof path, "%s%s/ax-worker", self, places[i]);
		if (access(path, X_OK) == 0) {
			snprintf(ret, 4096, "%s", path);
			return;
		}
	}
}

static void start_worker(struct ax_server *server)
{
	char program[4096], dev_option[32], token_file[4096], state[4096];
	find_worker(program);
	snprintf(dev_option, sizeof dev_option, "--dev=%d", (int)getpid());
	snprintf(token_file, sizeof token_file, "%s/dev-worker.token", server->config.state_dir);
	snprintf(state, sizeof state, "%s/worker", server->config.state_dir);
	char *args[] = { program, dev_option, (char[]){ "--server" }, server->origin, (char[]){ "--token-file" },
		token_file, (char[]){ "--state" }, state, NULL };
	uv_stdio_container_t stdio[3] = { { .flags = UV_IGNORE }, { .flags = UV_INHERIT_FD, .data.fd = 2 },
		{ .flags = UV_INHERIT_FD, .data.fd = 2 } };
	uv_process_options_t options = {
		.exit_cb = worker_ended, .file = program, .args = args, .stdio = stdio, .stdio_count = 3
	};
	struct ax_dev *dev = &server->dev;
	int fault = uv_spawn(&server->loop, &dev->worker, &options);
	bool news = fault != dev->worker_fault;
	dev->worker_fault = fault;
	dev->worker.data = server;
	if (fault == 0) {
		dev->worker_running = true;
		dev->worker_start_ms = ax_mono_ms(&server->clock.port);
		return;
	}
	uv_close((uv_handle_t *)&dev->worker, start_another_later);
	if (news)
		ax_log_text(&server->log, AX_LOG_WARN, "dev_worker_not_started", "reason", uv_strerror(fault));
}

/* For `axctl setup`, which needs no browser. A file of an earlier start is worth nothing. */
static enum ax_status keep_setup_token(struct ax_server *server, const struct first_steps *f, struct ax_err *err)
{
	char path[4096];
	if (f->setup)
		return write_file(server, SETUP_TOKEN, f->link, err);
	snprintf(path, sizeof path, "%s/" SETUP_TOKEN, server->config.state_dir);
	(void)unlink(path); /* mostly there is none */
	return AX_OK;
}

/* --- what people see ---------------------------------------------------------------------------------------------- */

/* An address that a browser can open: who listens on all of them (0.0.0.0, ::) is reached by the machine's name. */
static void find_origin(const struct ax_server *server, char *ret, size_t size)
{
	const char *address = server->config.address;
	char host[256] = "";
	bool all = strspn(address, "0.:") == strlen(address);
	if (all && gethostname(host, sizeof host - 1) == 0 && host[0] != '\0')
		snprintf(ret, size, "%s://%s:%d", server->config.tls_cert[0] != '\0' ? "https" : "http", host,
			server->port);
	else
		snprintf(ret, size, "%s", server->origin);
}

static void print_welcome(struct ax_server *server, const struct first_steps *f)
{
	char origin[400];
	const char *cert = server->config.tls_cert;
	find_origin(server, origin, sizeof origin);
	printf("AX listens on %s\n", server->origin);
	if (f->setup)
		printf("No administrator yet. Open this link within 15 minutes to make one:\n  %s/#/setup?token=%s\n"
		       "or: axctl --server %s%s%s setup --token-file %s/" SETUP_TOKEN " --user NAME\n",
			origin, f->link, origin, cert[0] != '\0' ? " --ca " : "", cert, server->config.state_dir);
	else if (f->link[0] != '\0')
		printf("Console, signed in (one use, 15 minutes):\n  %s/#/signin?once=%s\n", origin, f->link);
	fflush(stdout);
}

enum ax_status ax_dev_start(struct ax_server *server, struct ax_err *err)
{
	struct first_steps f = { .server = server };
	struct ax_arena arena = { 0 };
	enum ax_status status = ax_store_run(ax_threads_store(server), &arena, make_credentials, &f, err);
	ax_arena_done(&arena);
	if (status != AX_OK)
		return status;
	atomic_store(&server->setup_needed, f.setup);
	if (server->config.dev) {
		char json[512];
		snprintf(
			json, sizeof json, "{\"server\":\"%s\",\"token\":\"%s\"}\n", server->origin, server->dev.token);
		status = write_file(server, "dev.json", json, err);
		if (status == AX_OK)
			status = write_file(server, "dev-worker.token", server->dev.worker_token, err);
		if (status != AX_OK)
			return status;
		AX_ASSERT(uv_timer_init(&server->loop, &server->dev.worker_again) == 0);
		server->dev.worker_again.data = server;
		start_worker(server);
	}
	status = keep_setup_token(server, &f, err);
	if (status == AX_OK)
		print_welcome(server, &f);
	return status;
}

bool ax_dev_stop_worker(struct ax_server *server, void (*ended)(struct ax_server *server))
{
	if (!server->dev.worker_running || uv_process_kill(&server->dev.worker, SIGTERM) != 0)
		return false;
	server->dev.worker_ended = ended;
	return true;
}
