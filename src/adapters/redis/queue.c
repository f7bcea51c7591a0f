#include "adapters/redis/queue.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/redis/client.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "base/num.h"

enum {
	KEY_MAX = 16,
	NUMBER_MAX = 24,
	CHANNEL_MAX = AX_QUEUE_NAME_MAX + 16,
	SAID_MAX = 200,
	SAID_N = 8,         /* each command has a text of its own for the same fault */
	SAID_MS = 60 * 1000 /* not heard for that long: it is news again */
};

/* An error that was logged. */
struct said {
	char text[SAID_MAX];
	int64_t heard_ms; /* mono */
};

/* Members, the score of the first that stays, and what stands at infinity: marks and notes. */
static const char take_script[] =
	"local m = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2]) "
	"local hide = {} for i = 1, #m do hide[2 * i - 1], hide[2 * i] = ARGV[3], m[i] end "
	"if #m > 0 then redis.call('ZADD', KEYS[1], 'XX', unpack(hide)) end "
	"local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES') "
	"return {m, first[2] or '', redis.call('ZRANGEBYSCORE', KEYS[1], '+inf', '+inf')}";

/* A note of an earlier load is gone: that load will not mark what it did not see to the end. */
static const char begin_script[] = "for _, m in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '+inf', '+inf')) do "
				   "if string.sub(m, 1, 2) == 'l:' then redis.call('ZREM', KEYS[1], m) end end "
				   "return redis.call('ZADD', KEYS[1], '+inf', 'l:' .. ARGV[1])";

static const char end_script[] = "if redis.call('ZREM', KEYS[1], 'l:' .. ARGV[1]) == 0 then return 0 end "
				 "redis.call('ZADD', KEYS[1], '+inf', 'm:' .. ARGV[2]) return 1";

static const char renew_script[] = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
				   "return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

static const char unlock_script[] = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
				    "return redis.call('DEL', KEYS[1])";

struct ax_redis_queue {
	struct ax_queue base;
	struct ax_redis *redis;
	struct ax_redis_queue_config config;
	char identity[AX_QUEUE_NAME_MAX + 1], channel[CHANNEL_MAX];
	_Atomic int64_t refused;
	struct said said[SAID_N]; /* the client's thread */
};

static struct ax_redis_queue *queue_of(struct ax_queue *base)
{
	return (struct ax_redis_queue *)base;
}

static void shard_key(int shard, char ret[KEY_MAX])
{
	snprintf(ret, KEY_MAX, "ax:{s%02d}:due", shard);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

/* Whether it was not heard lately. It takes the place of what was silent for longest. */
static bool is_news(struct ax_redis_queue *queue, const char text[SAID_MAX])
{
	int64_t now = (int64_t)(uv_hrtime() / 1000000);
	struct said *oldest = &queue->said[0];
	for (int i = 0; i < SAID_N; i++) {
		struct said *said = &queue->said[i];
		if (strcmp(said->text, text) == 0) {
			bool news = now - said->heard_ms > SAID_MS;
			said->heard_ms = now;
			return news;
		}
		if (said->heard_ms < oldest->heard_ms)
			oldest = said;
	}
	memcpy(oldest->text, text, SAID_MAX);
	oldest->heard_ms = now;
	return true;
}

/* An error that comes again and again is told once. */
static void tell(struct ax_redis_queue *queue, const redisReply *error)
{
	char said[SAID_MAX] = "";
	atomic_fetch_add(&queue->refused, 1);
	snprintf(said, sizeof(said), "%s", error->str);
	for (char *c = said; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	if (queue->config.log == NULL || !is_news(queue, said))
		return;
	struct ax_buf fields;
	struct ax_json json;
	ax_buf_init(&fields, 2048);
	ax_json_init(&json, &fields);
	ax_json_str(&json, "message", said);
	queue->config.log->ops->event(queue->config.log, AX_LOG_WARN, "redis_refused", fields.data);
	ax_buf_done(&fields);
}

/* False for no answer, and for an error. */
static bool is_good(struct ax_redis_queue *queue, const redisReply *reply)
{
	if (reply != NULL && reply->type == REDIS_REPLY_ERROR)
		tell(queue, reply);
	return reply != NULL && reply->type != REDIS_REPLY_ERROR;
}

/* A request whose answer is yes or no. */
struct plain {
	struct ax_redis_queue *queue;
	ax_queue_done *done;
	void *user;
};

static void plain_answered(void *user, const redisReply *reply)
{
	struct plain *plain = user;
	bool good = is_good(plain->queue, reply);
	/* SET … NX says nil when the lock is another's; scripts say 0 */
	if (good && (reply->type == REDIS_REPLY_NIL || (reply->type == REDIS_REPLY_INTEGER && reply->integer == 0)))
		good = false;
	if (plain->done != NULL)
		plain->done(plain->user, good);
	free(plain);
}

static bool send_words(
	struct ax_redis_queue *queue, const char *key, int n, const char *const *words, ax_queue_done *done, void *user)
{
	size_t lens[8];
	struct plain *plain = ax_malloc(sizeof(*plain));
	*plain = (struct plain){ .queue = queue, .done = done, .user = user };
	AX_ASSERT(n <= (int)AX_COUNT(lens));
	for (int i = 0; i < n; i++)
		lens[i] = strlen(words[i]);
	bool taken = ax_redis_send(queue->redis, key, n, words, lens, plain_answered, plain);
	if (!taken)
		free(plain);
	return taken;
}

/* --- put ---------------------------------------------------------------------------------------------------------- */

/* One put is up to two commands per shard. */
struct put {
	struct ax_redis_queue *queue;
	atomic_int left;
	atomic_bool failed;
	ax_queue_done *done;
	void *user;
};

static void put_part_done(struct put *put, bool good)
{
	if (!good)
		atomic_store(&put->failed, true);
	if (atomic_fetch_sub(&put->left, 1) > 1)
		return;
	if (put->done != NULL)
		put->done(put->user, !atomic_load(&put->failed));
	free(put);
}

static void put_answered(void *user, const redisReply *reply)
{
	struct put *put = user;
	put_part_done(put, is_good(put->queue, reply));
}

/* The words of one command, in room that all commands of a put share. */
struct words {
	const char *at[2 + 2 * AX_QUEUE_PUT_MAX];
	size_t lens[2 + 2 * AX_QUEUE_PUT_MAX];
	char text[2 * AX_QUEUE_PUT_MAX][NUMBER_MAX];
	int n, n_text;
};

static void add_word(struct words *words, const char *word)
{
	words->at[words->n] = word;
	words->lens[words->n++] = strlen(word);
}

static void add_entry(struct words *words, const struct ax_queue_entry *entry)
{
	if (entry->due_ms > 0) {
		char *score = words->text[words->n_text++];
		snprintf(score, NUMBER_MAX, "%" PRId64, ax_queue_score(entry->due_ms, entry->priority));
		add_word(words, score);
	}
	char *member = words->text[words->n_text++];
	ax_member_write(&entry->member, member);
	add_word(words, member);
}

/* What is put in one shard, or what is dropped there; false when the command was refused. */
static bool put_part(
	struct put *put, struct words *words, const struct ax_queue_entry *entries, int n, int shard, bool drop)
{
	char key[KEY_MAX];
	shard_key(shard, key);
	words->n = words->n_text = 0;
	add_word(words, drop ? "ZREM" : "ZADD");
	add_word(words, key);
	for (int i = 0; i < n; i++)
		if (entries[i].shard == shard && (entries[i].due_ms <= 0) == drop)
			add_entry(words, &entries[i]);
	if (words->n == 2)
		return true;
	atomic_fetch_add(&put->left, 1);
	if (ax_redis_send(put->queue->redis, key, words->n, words->at, words->lens, put_answered, put))
		return true;
	atomic_fetch_sub(&put->left, 1);
	return false;
}

static bool put_entries(
	struct ax_queue *base, const struct ax_queue_entry *entries, int n, ax_queue_done *done, void *user)
{
	struct ax_redis_queue *queue = queue_of(base);
	bool there[AX_QUEUE_SHARDS] = { false };
	bool sent = false, refused = false;
	AX_ASSERT(n > 0 && n <= AX_QUEUE_PUT_MAX);
	struct put *put = ax_malloc(sizeof(*put));
	struct words *words = ax_malloc(sizeof(*words));
	put->queue = queue;
	put->done = done;
	put->user = user;
	atomic_init(&put->left, 1);
	for (int i = 0; i < n; i++)
		there[entries[i].shard] = true;
	for (int shard = 0; shard < AX_QUEUE_SHARDS && !refused; shard++) {
		for (int drop = 0; there[shard] && drop < 2 && !refused; drop++) {
			refused = !put_part(put, words, entries, n, shard, drop == 1);
			sent = sent || !refused;
		}
	}
	free(words);
	if (sent)
		put_part_done(put, !refused);
	else
		free(put);
	return sent;
}

/* --- take, size --------------------------------------------------------------------------------------------------- */

struct take {
	struct ax_redis_queue *queue;
	int shard;
	ax_queue_taker *taker;
	void *user;
};

static enum ax_queue_mark read_mark(const struct ax_redis_queue *queue, const redisReply *notes)
{
	enum ax_queue_mark mark = AX_QUEUE_UNMARKED;
	for (size_t i = 0; i < notes->elements; i++) {
		const redisReply *note = notes->element[i];
		if (note->type != REDIS_REPLY_STRING || strncmp(note->str, "m:", 2) != 0)
			continue;
		if (strcmp(note->str + 2, queue->identity) != 0)
			return AX_QUEUE_FOREIGN;
		mark = AX_QUEUE_OURS;
	}
	return mark;
}

/* Scores come as the shortest text of a double: ours are whole numbers below 2^53. */
static int64_t read_due(const redisReply *score)
{
	int64_t number;
	if (score->type != REDIS_REPLY_STRING || !ax_parse_i64(score->str, score->len, 1, INT64_MAX, &number))
		return 0; /* "inf": there is nothing but marks */
	return number / 16;
}

static bool is_take_answer(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
		reply->element[0]->type == REDIS_REPLY_ARRAY && reply->element[2]->type == REDIS_REPLY_ARRAY &&
		reply->element[0]->elements <= AX_QUEUE_TAKE_MAX;
}

static void take_answered(void *user, const redisReply *reply)
{
	struct take *take = user;
	if (!is_good(take->queue, reply) || !is_take_answer(reply)) {
		take->taker(take->user, NULL);
		free(take);
		return;
	}
	struct ax_member members[AX_QUEUE_TAKE_MAX];
	struct ax_queue_taken taken = {
		.shard = take->shard,
		.mark = read_mark(take->queue, reply->element[2]),
		.members = members,
		.next_ms = read_due(reply->element[1]),
	};
	for (size_t i = 0; i < reply->element[0]->elements; i++) {
		const redisReply *member = reply->element[0]->element[i];
		if (member->type == REDIS_REPLY_STRING && ax_member_read(member->str, member->len, &members[taken.n]))
			taken.n++;
	}
	take->taker(take->user, &taken);
	free(take);
}

static bool take_due(struct ax_queue *base, int shard, int64_t now_ms, int limit, ax_queue_taker *taker, void *user)
{
	struct ax_redis_queue *queue = queue_of(base);
	char key[KEY_MAX], until[NUMBER_MAX], most[NUMBER_MAX], hidden[NUMBER_MAX];
	AX_ASSERT(limit <= AX_QUEUE_TAKE_MAX);
	shard_key(shard, key);
	snprintf(until, sizeof(until), "%" PRId64, ax_queue_score(now_ms, 0));
	snprintf(most, sizeof(most), "%d", limit);
	snprintf(hidden, sizeof(hidden), "%" PRId64, ax_queue_score(now_ms + AX_QUEUE_HIDE_MS, 0));
	const char *const words[] = { "EVAL", take_script, "1", key, until, most, hidden };
	size_t lens[AX_COUNT(words)];
	for (size_t i = 0; i < AX_COUNT(words); i++)
		lens[i] = strlen(words[i]);
	struct take *take = ax_malloc(sizeof(*take));
	*take = (struct take){ .queue = queue, .shard = shard, .taker = taker, .user = user };
	bool taken = ax_redis_send(queue->redis, key, (int)AX_COUNT(words), words, lens, take_answered, take);
	if (!taken)
		free(take);
	return taken;
}

struct count {
	struct ax_redis_queue *queue;
	ax_queue_count *count;
	void *user;
};

static void size_answered(void *user, const redisReply *reply)
{
	struct count *count = user;
	bool good = is_good(count->queue, reply) && reply->type == REDIS_REPLY_INTEGER;
	count->count(count->user, good ? reply->integer : -1);
	free(count);
}

static bool size(struct ax_queue *base, int shard, ax_queue_count *done, void *user)
{
	struct ax_redis_queue *queue = queue_of(base);
	char key[KEY_MAX];
	shard_key(shard, key);
	const char *const words[] = { "ZCOUNT", key, "-inf", "(+inf" };
	const size_t lens[] = { 6, strlen(key), 4, 5 };
	struct count *count = ax_malloc(sizeof(*count));
	*count = (struct count){ .queue = queue, .count = done, .user = user };
	bool taken = ax_redis_send(queue->redis, key, 4, words, lens, size_answered, count);
	if (!taken)
		free(count);
	return taken;
}

/* --- loads, locks, hints ------------------------------------------------------------------------------------------ */

static bool load_begin(struct ax_queue *base, int shard, const char *token, ax_queue_done *done, void *user)
{
	char key[KEY_MAX];
	shard_key(shard, key);
	return send_words(
		queue_of(base), key, 5, (const char *[]){ "EVAL", begin_script, "1", key, token }, done, user);
}

static bool load_end(struct ax_queue *base, int shard, const char *token, ax_queue_done *done, void *user)
{
	struct ax_redis_queue *queue = queue_of(base);
	char key[KEY_MAX];
	shard_key(shard, key);
	return send_words(
		queue, key, 6, (const char *[]){ "EVAL", end_script, "1", key, token, queue->identity }, done, user);
}

enum { LOCK_KEY_MAX = AX_QUEUE_NAME_MAX + 16 };

static void lock_key(const char *name, char ret[LOCK_KEY_MAX])
{
	snprintf(ret, LOCK_KEY_MAX, "ax:{%.*s}:lock", AX_QUEUE_NAME_MAX, name);
}

static bool lock(
	struct ax_queue *base, const char *name, const char *token, int64_t life_ms, ax_queue_done *done, void *user)
{
	char key[LOCK_KEY_MAX], life[NUMBER_MAX];
	lock_key(name, key);
	snprintf(life, sizeof(life), "%" PRId64, life_ms);
	return send_words(queue_of(base), key, 6, (const char *[]){ "SET", key, token, "NX", "PX", life }, done, user);
}

static bool renew(
	struct ax_queue *base, const char *name, const char *token, int64_t life_ms, ax_queue_done *done, void *user)
{
	char key[LOCK_KEY_MAX], life[NUMBER_MAX];
	lock_key(name, key);
	snprintf(life, sizeof(life), "%" PRId64, life_ms);
	return send_words(
		queue_of(base), key, 6, (const char *[]){ "EVAL", renew_script, "1", key, token, life }, done, user);
}

static bool unlock(struct ax_queue *base, const char *name, const char *token, ax_queue_done *done, void *user)
{
	char key[LOCK_KEY_MAX];
	lock_key(name, key);
	return send_words(
		queue_of(base), key, 5, (const char *[]){ "EVAL", unlock_script, "1", key, token }, done, user);
}

static bool publish(struct ax_queue *base, const struct ax_hint *hint)
{
	struct ax_redis_queue *queue = queue_of(base);
	char text[AX_HINT_TEXT];
	ax_hint_write(hint, text);
	return send_words(queue, NULL, 3, (const char *[]){ "PUBLISH", queue->channel, text }, NULL, NULL);
}

static void hint_heard(void *user, const char *message, size_t len)
{
	struct ax_redis_queue *queue = user;
	char group[AX_QUEUE_NAME_MAX + 1];
	struct ax_hint hint;
	if (queue->config.ears.heard != NULL && ax_hint_read(message, len, group, &hint))
		queue->config.ears.heard(queue->config.ears.user, &hint);
}

static void health(struct ax_queue *base, struct ax_queue_health *ret)
{
	struct ax_redis_stats stats;
	ax_redis_stats(queue_of(base)->redis, &stats);
	*ret = (struct ax_queue_health){ .up = stats.up, .losses = stats.losses };
}

/* --- life --------------------------------------------------------------------------------------------------------- */

enum ax_status ax_redis_queue_new(
	const struct ax_redis_queue_config *config, struct ax_redis_queue **ret, struct ax_err *err)
{
	static const struct ax_queue_ops ops = { put_entries, take_due, size, load_begin, load_end, lock, renew, unlock,
		publish, health };
	struct ax_redis_queue *queue = ax_malloc(sizeof(*queue));
	queue->base.ops = &ops;
	queue->config = *config;
	snprintf(queue->identity, sizeof(queue->identity), "%s", config->identity);
	snprintf(queue->channel, sizeof(queue->channel), "ax:%s:hints", queue->identity);
	struct ax_redis_config redis = {
		.url = config->url,
		.ca_file = config->ca_file,
		.cert_file = config->cert_file,
		.key_file = config->key_file,
		.channel = queue->channel,
		.heard = hint_heard,
		.user = queue,
		.log = config->log,
		.connect_ms = config->command_ms,
		.command_ms = config->command_ms,
		.queue_max = config->queue_max,
	};
	enum ax_status status = ax_redis_new(&redis, &queue->redis, err);
	if (status != AX_OK)
		free(queue);
	else
		*ret = queue;
	return status;
}

struct ax_queue *ax_redis_queue_port(struct ax_redis_queue *queue)
{
	return &queue->base;
}

void ax_redis_queue_stats(struct ax_redis_queue *queue, struct ax_redis_queue_stats *ret)
{
	struct ax_redis_stats stats;
	ax_redis_stats(queue->redis, &stats);
	*ret = (struct ax_redis_queue_stats){
		.up = stats.up,
		.losses = stats.losses,
		.moved = stats.moved,
		.asked = stats.asked,
		.tried_again = stats.tried_again,
		.refused = atomic_load(&queue->refused),
	};
}

void ax_redis_queue_free(struct ax_redis_queue *queue)
{
	if (queue == NULL)
		return;
	ax_redis_free(queue->redis);
	free(queue);
}
