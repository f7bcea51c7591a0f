#include "adapters/curl/alert_sender.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <utlist.h>

#include "adapters/curl/alert_format.h"
#include "adapters/curl/curl_loop.h"
#include "adapters/curl/resolver.h"
#include "adapters/curl/url_target.h"
#include "base/buf.h"
#include "core/target_guard.h"
#include "port/row.h"
#include "version.h"

enum {
	KEPT_MAX = 16 << 10, /* of an answer */
	READ_MAX = 1 << 20,
	CONNECT_MS = 8000,
	TOTAL_MS = 15000, /* below AX_SEND_LIMIT_MS */
	IDLE_CONNECTIONS = 8,
	CONNECTIONS = 16,
	STACK_BYTES = 512 * 1024,
};

/* A message on its way. At any moment it waits for the thread, resolves, or transfers. */
struct letter {
	struct ax_alert_sender *sender;
	struct ax_arena arena;
	struct ax_message message;
	ax_alert_ended *ended;
	void *user;
	struct ax_channel_settings settings;
	struct ax_alert_request request;
	const char *host;
	int port;
	struct ax_resolve *resolve;
	CURL *easy;
	struct curl_slist *headers, *recipients, *pins;
	struct ax_buf body; /* what is kept of the answer */
	size_t read_bytes, sent_bytes;
	bool denied; /* by the open-socket check */
	struct letter *prev, *next;
};

struct ax_alert_sender {
	struct ax_alert_sender_config config;
	uv_thread_t thread;
	uv_loop_t loop;
	uv_async_t wake;
	struct ax_curl_loop *curl;
	struct ax_resolver *resolver;
	struct letter *letters; /* the thread's */
	uv_mutex_t lock;
	struct letter *incoming; /* under the lock, as the following */
	bool stop;
};

/* --- the end of a letter ------------------------------------------------------------------------------------------ */

static void end_transfer(struct letter *letter)
{
	curl_easy_cleanup(letter->easy);
	curl_slist_free_all(letter->headers);
	curl_slist_free_all(letter->recipients);
	curl_slist_free_all(letter->pins);
	letter->easy = NULL;
	letter->headers = letter->recipients = letter->pins = NULL;
}

static void free_letter(struct letter *letter)
{
	end_transfer(letter);
	ax_buf_done(&letter->body);
	ax_arena_done(&letter->arena);
	free(letter);
}

static void finish(struct letter *letter, const char *error)
{
	DL_DELETE(letter->sender->letters, letter);
	letter->ended(letter->user, error);
	free_letter(letter);
}

static bool is_mail(const struct letter *letter)
{
	return letter->message.channel.kind == AX_CHANNEL_SMTP;
}

static const char *mail_error(struct letter *letter, CURLcode code)
{
	long said = 0;
	curl_easy_getinfo(letter->easy, CURLINFO_RESPONSE_CODE, &said);
	if (code == CURLE_LOGIN_DENIED)
		return "the mail server refused the login";
	if (code == CURLE_USE_SSL_FAILED)
		return "the mail server does not offer STARTTLS";
	if (said >= 400)
		return ax_sprintf(&letter->arena, "the mail server refused it with code %ld", said);
	return NULL;
}

/* What is told of a transfer without an answer does not say whether a port was open. */
static const char *transfer_error(struct letter *letter, CURLcode code)
{
	const char *error = is_mail(letter) ? mail_error(letter, code) : NULL;
	if (letter->denied)
		return "this server does not call that address";
	if (error != NULL)
		return error;
	switch ((int)code) {
	case CURLE_PEER_FAILED_VERIFICATION:
		return "the receiver's certificate is not valid for it";
	case CURLE_COULDNT_CONNECT:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SSL_CONNECT_ERROR:
		return "the receiver could not be reached in time";
	case CURLE_WRITE_ERROR:
		return "the receiver's answer is too long";
	default:
		return ax_sprintf(&letter->arena, "no answer: %s", curl_easy_strerror(code));
	}
}

static void transfer_ended(CURL *easy, CURLcode code, void *user)
{
	struct letter *letter = user;
	long status = 0;
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	const char *error = NULL;
	if (code != CURLE_OK)
		error = transfer_error(letter, code);
	else if (!is_mail(letter))
		error = ax_alert_refusal(letter->message.channel.kind, status,
			letter->body.data == NULL ? "" : letter->body.data, letter->body.len, &letter->arena);
	finish(letter, error);
}

/* --- the guard ---------------------------------------------------------------------------------------------------- */

static bool is_listed(struct letter *letter)
{
	const char *want = ax_sprintf(
		&letter->arena, strchr(letter->host, ':') != NULL ? "[%s]:%d" : "%s:%d", letter->host, letter->port);
	for (const char *const *entry = letter->sender->config.allow; *entry != NULL; entry++)
		if (strcasecmp(*entry, want) == 0)
			return true;
	return false;
}

static bool may_call(struct letter *letter, const void *address, unsigned size)
{
	const struct ax_alert_sender_config *config = &letter->sender->config;
	int port = letter->port;
	bool mail_port = is_mail(letter) && (port == 25 || port == 465 || port == 587);
	return ax_target_allowed(address, size, is_listed(letter), config->loopback_open && port != config->own_port,
		mail_port || ax_target_port_is_plain(port));
}

/* The second wall: whatever name or spelling led here, this is where the bytes would go. */
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *sa)
{
	struct letter *letter = user;
	(void)purpose;
	const void *address = &sa->addr;
	bool good = false;
	if (sa->family == AF_INET)
		good = may_call(letter, &((const struct sockaddr_in *)address)->sin_addr, 4);
	else if (sa->family == AF_INET6)
		good = may_call(letter, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
	if (!good) {
		letter->denied = true;
		return CURL_SOCKET_BAD;
	}
	return socket(sa->family, sa->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, sa->protocol);
}

/* All addresses must pass, and the transfer may use no others. The '+' lets the pin leave libcurl's cache in time. */
static bool pin(struct letter *letter, const struct ax_address *addresses, int n)
{
	char text[INET6_ADDRSTRLEN];
	const char *list = "";
	for (int i = 0; i < n; i++) {
		if (!may_call(letter, addresses[i].bytes, addresses[i].size))
			return false;
		bool v6 = addresses[i].size == 16;
		inet_ntop(v6 ? AF_INET6 : AF_INET, addresses[i].bytes, text, sizeof(text));
		list = ax_sprintf(&letter->arena, v6 ? "%s%s[%s]" : "%s%s%s", list, i > 0 ? "," : "", text);
	}
	if (strchr(letter->host, ':') == NULL) /* an address needs no pin, and an IPv6 one cannot be written as one */
		letter->pins = curl_slist_append(
			NULL, ax_sprintf(&letter->arena, "+%s:%d:%s", letter->host, letter->port, list));
	return true;
}

/* --- a transfer --------------------------------------------------------------------------------------------------- */

static size_t take_answer(char *bytes, size_t size, size_t n, void *user)
{
	struct letter *letter = user;
	size_t len = size * n;
	letter->read_bytes += len;
	if (letter->read_bytes > READ_MAX)
		return 0;
	if (letter->body.len < KEPT_MAX)
		ax_buf_add(&letter->body, bytes, AX_MIN(len, KEPT_MAX - letter->body.len));
	return len;
}

static size_t give_mail(char *bytes, size_t size, size_t n, void *user)
{
	struct letter *letter = user;
	size_t len = AX_MIN(size * n, letter->request.body_len - letter->sent_bytes);
	memcpy(bytes, letter->request.body + letter->sent_bytes, len);
	letter->sent_bytes += len;
	return len;
}

static void set_mail(struct letter *letter)
{
	const struct ax_channel_settings *settings = &letter->settings;
	CURL *e = letter->easy;
	char host[256] = "";
	gethostname(host, sizeof(host) - 1);
	bool v6 = strchr(settings->host, ':') != NULL;
	const char *scheme = settings->security == AX_MAIL_TLS ? "smtps" : "smtp";
	curl_easy_setopt(e, CURLOPT_URL,
		ax_sprintf(&letter->arena, v6 ? "%s://[%s]:%d/%s" : "%s://%s:%d/%s", scheme, settings->host,
			settings->port, host[0] != '\0' ? host : "localhost"));
	curl_easy_setopt(e, CURLOPT_USE_SSL, settings->security == AX_MAIL_PLAIN ? CURLUSESSL_NONE : CURLUSESSL_ALL);
	if (settings->user[0] != '\0') {
		curl_easy_setopt(e, CURLOPT_USERNAME, settings->user);
		curl_easy_setopt(e, CURLOPT_PASSWORD, settings->password);
	}
	curl_easy_setopt(e, CURLOPT_MAIL_FROM, ax_sprintf(&letter->arena, "<%s>", settings->from));
	for (int i = 0; i < settings->n_to; i++)
		letter->recipients =
			curl_slist_append(letter->recipients, ax_sprintf(&letter->arena, "<%s>", settings->to[i]));
	curl_easy_setopt(e, CURLOPT_MAIL_RCPT, letter->recipients);
	curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(e, CURLOPT_READFUNCTION, give_mail);
	curl_easy_setopt(e, CURLOPT_READDATA, letter);
}

static void set_post(struct letter *letter)
{
	CURL *e = letter->easy;
	for (int i = 0; i < letter->request.n_headers; i++)
		letter->headers = curl_slist_append(letter->headers, letter->request.headers[i]);
	letter->headers = curl_slist_append(letter->headers, "Expect:");
	curl_easy_setopt(e, CURLOPT_URL, letter->request.url);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, letter->headers);
	curl_easy_setopt(e, CURLOPT_POSTFIELDS, letter->request.body);
	curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)letter->request.body_len);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
}

static void transfer(struct letter *letter)
{
	CURL *e = letter->easy = curl_easy_init();
	AX_ASSERT(e);
	if (is_mail(letter))
		set_mail(letter);
	else
		set_post(letter);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, is_mail(letter) ? "smtp,smtps" : "http,https");
	curl_easy_setopt(e, CURLOPT_RESOLVE, letter->pins);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, letter);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, letter);
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_UNRESTRICTED_AUTH, 0L);
	curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)TOTAL_MS);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "ax-server/" AX_VERSION);
	if (letter->sender->config.ca_file[0] != '\0')
		curl_easy_setopt(e, CURLOPT_CAINFO, letter->sender->config.ca_file);
	ax_curl_loop_add(letter->sender->curl, e, transfer_ended, letter);
}

static void resolved(const struct ax_address *addresses, int n, void *user)
{
	struct letter *letter = user;
	letter->resolve = NULL;
	if (n == 0)
		finish(letter, "the receiver's host name has no address");
	else if (!pin(letter, addresses, n))
		finish(letter, "this server does not call that address");
	else
		transfer(letter);
}

/* A word that no other message has: what is sent again is another mail. */
static const char *unique(struct ax_arena *arena)
{
	uint64_t bits;
	randombytes_buf(&bits, sizeof(bits));
	return ax_sprintf(arena, "%016" PRIx64, bits);
}

static enum ax_status read_target(struct letter *letter, struct ax_err *err)
{
	const struct ax_channel *channel = &letter->message.channel;
	struct ax_url_target target;
	enum ax_status status =
		ax_channel_settings_read(channel->kind, channel->settings, &letter->arena, &letter->settings, err);
	if (status != AX_OK)
		return status;
	if (is_mail(letter)) {
		letter->host = letter->settings.host;
		letter->port = letter->settings.port;
		letter->request.body =
			ax_alert_mail_make(&letter->message, &letter->settings, unique(&letter->arena), &letter->arena);
		letter->request.body_len = strlen(letter->request.body);
		return AX_OK;
	}
	letter->request = ax_alert_request_make(&letter->message, &letter->settings, &letter->arena);
	status = ax_url_target_read(letter->request.url, &letter->arena, &target, err);
	if (status != AX_OK)
		return status;
	letter->request.url = target.url;
	letter->host = target.host;
	letter->port = target.port;
	return AX_OK;
}

static void begin(struct letter *letter)
{
	struct ax_err err = { 0 };
	if (read_target(letter, &err) != AX_OK)
		finish(letter, err.msg);
	else
		letter->resolve = ax_resolver_ask(letter->sender->resolver, letter->host, resolved, letter);
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

static void drop(struct letter *letter)
{
	if (letter->resolve != NULL)
		ax_resolver_forget(letter->resolve);
	if (letter->easy != NULL)
		ax_curl_loop_remove(letter->sender->curl, letter->easy);
}

static void on_wake(uv_async_t *wake)
{
	struct ax_alert_sender *sender = wake->data;
	uv_mutex_lock(&sender->lock);
	struct letter *incoming = sender->incoming, *letter, *next;
	bool stop = sender->stop;
	sender->incoming = NULL;
	uv_mutex_unlock(&sender->lock);
	DL_FOREACH_SAFE(incoming, letter, next)
	{
		DL_DELETE(incoming, letter);
		DL_APPEND(sender->letters, letter);
		if (!stop)
			begin(letter);
	}
	if (!stop)
		return;
	DL_FOREACH(sender->letters, letter)
	drop(letter);
	ax_resolver_close(sender->resolver);
	ax_curl_loop_close(sender->curl);
	uv_close((uv_handle_t *)&sender->wake, NULL);
}

static void run(void *arg)
{
	struct ax_alert_sender *sender = arg;
	uv_run(&sender->loop, UV_RUN_DEFAULT);
}

struct ax_alert_sender *ax_alert_sender_new(const struct ax_alert_sender_config *config)
{
	uv_thread_options_t options = { .flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = STACK_BYTES };
	struct ax_alert_sender *sender = ax_malloc(sizeof(*sender));
	sender->config = *config;
	AX_ASSERT(uv_loop_init(&sender->loop) == 0);
	AX_ASSERT(uv_mutex_init(&sender->lock) == 0);
	AX_ASSERT(uv_async_init(&sender->loop, &sender->wake, on_wake) == 0);
	sender->wake.data = sender;
	sender->curl = ax_curl_loop_new(&sender->loop, IDLE_CONNECTIONS, CONNECTIONS);
	sender->resolver = ax_resolver_new(&sender->loop, 2);
	AX_ASSERT(uv_thread_create_ex(&sender->thread, &options, run, sender) == 0);
	return sender;
}

static void copy_message(struct ax_arena *arena, const struct ax_message *message, struct ax_message *ret)
{
	struct ax_message_event *events = ax_alloc_array(arena, (size_t)message->n, sizeof(*events));
	*ret = *message;
	ax_row_copy(&ax_channel_row, arena, &message->channel, &ret->channel);
	for (int i = 0; i < message->n; i++) {
		events[i] = message->events[i];
		ax_row_copy(&ax_alert_row, arena, &message->events[i].alert, &events[i].alert);
		events[i].title = ax_strdup(arena, message->events[i].title);
		events[i].body = ax_strdup(arena, message->events[i].body);
	}
	ret->events = events;
}

void ax_alert_sender_send(
	struct ax_alert_sender *sender, const struct ax_message *message, ax_alert_ended *ended, void *user)
{
	struct letter *letter = ax_malloc(sizeof(*letter));
	letter->sender = sender;
	letter->ended = ended;
	letter->user = user;
	copy_message(&letter->arena, message, &letter->message);
	ax_buf_init(&letter->body, KEPT_MAX);
	uv_mutex_lock(&sender->lock);
	DL_APPEND(sender->incoming, letter);
	uv_mutex_unlock(&sender->lock);
	uv_async_send(&sender->wake);
}

void ax_alert_sender_free(struct ax_alert_sender *sender, void (*dropped)(void *user))
{
	struct letter *letter, *next;
	if (sender == NULL)
		return;
	uv_mutex_lock(&sender->lock);
	sender->stop = true;
	uv_mutex_unlock(&sender->lock);
	uv_async_send(&sender->wake);
	uv_thread_join(&sender->thread);
	uv_loop_close(&sender->loop);
	uv_mutex_destroy(&sender->lock);
	DL_FOREACH_SAFE(sender->letters, letter, next)
	{
		dropped(letter->user);
		free_letter(letter);
	}
	free(sender);
}
