/* From the outbox to the sender, on a virtual clock. */

#include <inttypes.h>
#include <stdio.h>

#include "app/alerts.h"
#include "app/channels.h"
#include "app/deliver.h"
#include "app/recover.h"
#include "port/mem_store.h"
#include "world.h"

enum { MESSAGES = 64 };

/* A sender that keeps what it is given. */
struct fake {
	struct ax_sender port;
	struct world *w;
	bool busy;
	int n;
	struct {
		const char *channel;
		const char *text; /* "kind title|kind title" */
		struct ax_delivery_claim *claims;
		int n;
	} got[MESSAGES];
};

static bool is_free(struct ax_sender *port, int64_t channel_id)
{
	(void)channel_id;
	return !((struct fake *)(void *)port)->busy;
}

static void send_message(struct ax_sender *port, const struct ax_message *message)
{
	struct fake *fake = (struct fake *)(void *)port;
	struct ax_arena *arena = &fake->w->arena;
	assert_true(fake->n < MESSAGES);
	fake->got[fake->n].channel = ax_strdup(arena, message->channel.name);
	fake->got[fake->n].text = "";
	fake->got[fake->n].n = message->n;
	fake->got[fake->n].claims = ax_alloc_array(arena, (size_t)message->n, sizeof(struct ax_delivery_claim));
	for (int i = 0; i < message->n; i++) {
		fake->got[fake->n].claims[i] = message->events[i].claim;
		fake->got[fake->n].text = ax_sprintf(arena, "%s%s%d %s", fake->got[fake->n].text, i > 0 ? "|" : "",
			(int)message->events[i].kind, message->events[i].title);
	}
	fake->n++;
}

static struct fake fake_up(struct world *w)
{
	static const struct ax_sender_ops ops = { is_free, send_message };
	return (struct fake){ .port = { &ops }, .w = w };
}

/* Lets the server look after `ms`; what it sent then. */
static int look(struct world *w, struct fake *fake, int64_t ms)
{
	w->now += ms;
	fake->n = 0;
	assert_int_equal(ax_deliver(&w->ctx, &fake->port, NULL), AX_OK);
	return fake->n;
}

static void end(struct world *w, const struct fake *fake, int i, const char *error)
{
	struct ax_delivery_end end = {
		.claims = fake->got[i].claims, .n = fake->got[i].n, .arrived = error == NULL, .error = error
	};
	assert_int_equal(ax_deliver_end(&w->ctx, &end, NULL), AX_OK);
}

static struct ax_channel plain(const char *name)
{
	return (struct ax_channel){
		.name = name,
		.kind = AX_CHANNEL_WEBHOOK,
		.settings = "{}",
		.enabled = true,
		.rules = "",
		.group_keys = "",
		.time_zone = "UTC",
		.updated_by = "",
	};
}

static struct ax_channel make(struct world *w, struct ax_channel channel)
{
	struct ax_err err = { 0 };
	if (ax_channel_create(&w->ctx, &channel, &channel, &err) != AX_OK)
		fail_msg("%s: %s", err.field, err.msg);
	return channel;
}

struct act {
	struct ax_ctx *ctx;
	const char *episode;
	bool resolve;
	int64_t now;
};

static enum ax_status do_act(struct ax_tx *tx, void *arg, struct ax_err *err)
{
	struct act *act = arg;
	struct ax_alert_event event = {
		.rule = AX_ALERT_WORKER_LOST,
		.group_key = "",
		.episode = act->episode,
		.subject = act->episode,
		.detail = { .sentence = AX_SAY_ALERT_WORKER_LOST },
		.count = 1,
	};
	const struct ax_said back = { .sentence = AX_SAY_OVER_WORKER_BACK };
	if (act->resolve)
		return ax_alert_resolve(act->ctx, tx, event.rule, "", act->episode, &back, act->now, err);
	return ax_alert_raise(act->ctx, tx, &event, act->now, err);
}

static void act(struct world *w, const char *episode, bool resolve)
{
	struct act act = { &w->ctx, episode, resolve, w->now };
	assert_int_equal(ax_store_run(w->ctx.store, &w->arena, do_act, &act, NULL), AX_OK);
}

static struct ax_delivery row(struct world *w, size_t i)
{
	const struct ax_delivery *delivery = ax_mem_store_at(w->mem, &ax_delivery_row, i);
	assert_non_null(delivery);
	struct ax_delivery copy;
	ax_row_copy(&ax_delivery_row, &w->arena, delivery, &copy);
	return copy;
}

static void test_sent_once(void **state)
{
	struct world *w = *state;
	struct fake fake = fake_up(w);
	make(w, plain("ops"));
	assert_int_equal(look(w, &fake, 0), 0);
	act(w, "w9", false);
	assert_int_equal(look(w, &fake, 0), 1);
	assert_string_equal(fake.got[0].channel, "ops");
	assert_string_equal(fake.got[0].text, "1 worker w9 fell silent");
	struct fake first = fake;
	assert_int_equal(look(w, &fake, 1000), 0); /* it is under way */
	end(w, &first, 0, NULL);
	struct ax_delivery delivery = row(w, 0);
	assert_int_equal(delivery.state, AX_DELIVERY_SENT);
	assert_int_equal(delivery.sent_time, w->now);
	assert_int_equal(delivery.attempts, 1);
	assert_int_equal(look(w, &fake, 3600000), 0);
	end(w, &first, 0, "too late"); /* overtaken: changes nothing */
	assert_int_equal(row(w, 0).state, AX_DELIVERY_SENT);
}

static void test_tried_again_after_growing_waits_and_given_up_in_the_end(void **state)
{
	struct world *w = *state;
	struct fake fake = fake_up(w);
	make(w, plain("ops"));
	act(w, "w9", false);
	int64_t began = w->now;
	for (int64_t attempt = 1; attempt <= AX_DELIVERY_TRIES; attempt++) {
		assert_int_equal(look(w, &fake, 0), 1);
		end(w, &fake, 0, "the receiver said 503");
		struct ax_delivery delivery = row(w, 0);
		assert_int_equal(delivery.attempts, attempt);
		assert_string_equal(delivery.error, "the receiver said 503");
		if (attempt == AX_DELIVERY_TRIES)
			break;
		assert_int_equal(delivery.state, AX_DELIVERY_PENDING);
		assert_true(delivery.next_time > w->now + 4000);
		assert_int_equal(look(w, &fake, delivery.next_time - w->now - 1), 0);
		w->now++;
	}
	assert_int_equal(row(w, 0).state, AX_DELIVERY_GIVEN_UP);
	assert_int_equal(look(w, &fake, 86400000), 0);
	assert_in_range(w->now - 86400000 - began, 22 * 3600000, 27 * 3600000);
}

static void test_the_end_waits_for_the_beginning(void **state)
{
	struct world *w = *state;
	struct fake fake = fake_up(w);
	make(w, plain("ops"));
	act(w, "w9", false);
	assert_int_equal(look(w, &fake, 0), 1);
	end(w, &fake, 0, "no");
	act(w, "w9", true);
	act(w, "w8", false);
	assert_int_equal(look(w, &fake, 1000), 1); /* another alert is not held up */
	assert_string_equal(fake.got[0].text, "1 worker w8 fell silent");
	end(w, &fake, 0, NULL);
	assert_int_equal(look(w, &fake, 5000), 1);
	assert_string_equal(fake.got[0].text, "1 worker w9 fell silent");
	end(w, &fake, 0, NULL);
	assert_int_equal(look(w, &fake, 0), 1);
	assert_string_equal(fake.got[0].text, "2 resolved: worker w9 fell silent");
}

static void test_what_is_due_at_once_is_one_message(void **state)
{
	struct world *w = *state;
	struct fake fake = fake_up(w);
	make(w, plain("ops"));
	struct ax_channel wecom = plain("wecom");
	wecom.kind = AX_CHANNEL_WECOM;
	make(w, wecom);
	fake.busy = true;
	for (int i = 0; i < 50; i++)
		act(w, ax_sprintf(&w->arena, "w%d", i), false);
	assert_int_equal(look(w, &fake, 0), 0); /* the channels are busy */
	fake.busy = false;
	int told[2] = { 0 }, messages[2] = { 0 };
	while (look(w, &fake, 1000) > 0) {
		for (int i = 0; i < fake.n; i++) {
			int c = strcmp(fake.got[i].channel, "wecom") == 0;
			told[c] += fake.got[i].n;
			messages[c]++;
			end(w, &fake, i, NULL);
		}
	}
	assert_int_equal(told[0], 50);
	assert_int_equal(told[1], 50);
	assert_int_equal(messages[0], 3);
	assert_in_range(messages[1], 3, 12); /* its messages are small */
}

static void test_quiet_hours_put_off(void **state)
{
	struct world *w = *state; /* it is 00:00 */
	struct fake fake = fake_up(w);
	struct ax_channel night = plain("night");
	night.quiet_from = 22 * 60;
	night.quiet_to = 7 * 60;
	night = make(w, night);
	act(w, "w9", false);
	assert_int_equal(look(w, &fake, 0), 0);
	assert_int_equal(row(w, 0).next_time, T0 + 7 * 3600000);
	act(w, "w9", true);
	assert_int_equal(look(w, &fake, 7 * 3600000 - 1), 0);
	struct ax_delivery test;
	assert_int_equal(ax_channel_test(&w->ctx, night.id, &test, NULL), AX_OK);
	assert_int_equal(look(w, &fake, 0), 1); /* a test does not wait */
	assert_string_equal(fake.got[0].text, "4 test message: this channel works");
	end(w, &fake, 0, NULL);
	assert_int_equal(look(w, &fake, 1), 1);
	assert_string_equal(fake.got[0].text, "1 worker w9 fell silent");
	end(w, &fake, 0, NULL);
	assert_int_equal(look(w, &fake, 0), 1);
	assert_string_equal(fake.got[0].text, "2 resolved: worker w9 fell silent");
}

static void test_what_nobody_wants_to_hear_is_given_up(void **state)
{
	struct world *w = *state;
	struct fake fake = fake_up(w);
	struct ax_channel channel = make(w, plain("ops"));
	struct ax_alert alert;
	act(w, "w9", false);
	assert_int_equal(ax_alert_mute(&w->ctx, 1, true, "", "ann", &alert, NULL), AX_OK);
	assert_int_equal(look(w, &fake, 0), 0);
	assert_string_equal(row(w, 0).error, "the alert was muted");
	act(w, "w8", false);
	channel.enabled = false;
	assert_int_equal(ax_channel_update(&w->ctx, &channel, &channel, NULL), AX_OK);
	assert_int_equal(look(w, &fake, 0), 0);
	assert_string_equal(row(w, 1).error, "the channel is off");
	channel.enabled = true;
	assert_int_equal(ax_channel_update(&w->ctx, &channel, &channel, NULL), AX_OK);
	act(w, "w7", false);
	act(w, "w7", true);
	assert_int_equal(ax_channel_delete(&w->ctx, channel.id, NULL), AX_OK);
	assert_string_equal(row(w, 2).error, "the channel was deleted");
	assert_string_equal(row(w, 3).error, "the channel was deleted");
	assert_int_equal(row(w, 3).state, AX_DELIVERY_GIVEN_UP);
}

static void test_nothing_is_queued_for_a_channel_that_is_gone(void **state)
{
	struct world *w = *state;
	struct ax_channel channel = make(w, plain("ops"));
	make(w, plain("other"));
	act(w, "w9", false);
	assert_int_equal(ax_channel_delete(&w->ctx, channel.id, NULL), AX_OK);
	act(w, "w9", true);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_delivery_row), 3);
}

static void test_a_server_that_died_sends_again(void **state)
{
	struct world *w = *state;
	struct fake fake = fake_up(w);
	make(w, plain("ops"));
	act(w, "w9", false);
	assert_int_equal(look(w, &fake, 0), 1);
	struct fake first = fake;
	restart(w);
	assert_int_equal(look(w, &fake, 1), 1);
	end(w, &first, 0, NULL); /* of the earlier life */
	assert_int_equal(row(w, 0).state, AX_DELIVERY_PENDING);
	end(w, &fake, 0, NULL);
	assert_int_equal(row(w, 0).attempts, 2);
}

static void test_a_try_that_nobody_ends_counts_as_lost(void **state)
{
	struct world *w = *state;
	struct fake fake = fake_up(w);
	make(w, plain("ops"));
	act(w, "w9", false);
	assert_int_equal(look(w, &fake, 0), 1);
	assert_int_equal(look(w, &fake, AX_SEND_LEASE_MS - 1), 0);
	assert_int_equal(look(w, &fake, 1), 1);
}

static void test_a_test_is_tried_once(void **state)
{
	struct world *w = *state;
	struct fake fake = fake_up(w);
	struct ax_channel channel = plain("ops");
	struct ax_delivery test;
	channel.enabled = false;
	channel.language = AX_CHINESE;
	channel = make(w, channel);
	assert_int_equal(ax_channel_test(&w->ctx, channel.id, &test, NULL), AX_OK);
	assert_int_equal(look(w, &fake, 0), 1);
	assert_string_equal(fake.got[0].text, "4 测试消息：此通道工作正常");
	end(w, &fake, 0, "401");
	assert_int_equal(row(w, 0).state, AX_DELIVERY_GIVEN_UP);
	assert_string_equal(row(w, 0).error, "401");
	assert_int_equal(ax_channel_test(&w->ctx, 99, &test, NULL), AX_NOT_FOUND);
}

static void test_retention(void **state)
{
	struct world *w = *state;
	struct fake fake = fake_up(w);
	struct ax_channel channel = make(w, plain("ops"));
	struct ax_delivery test;
	int deleted;
	act(w, "w9", false);
	act(w, "w8", false);
	act(w, "w8", true);
	assert_int_equal(ax_channel_test(&w->ctx, channel.id, &test, NULL), AX_OK);
	assert_int_equal(look(w, &fake, 3 * 86400000 + 1), 1);
	assert_int_equal(ax_retain(&w->ctx, 2 * 86400000, &deleted, NULL), AX_OK);
	assert_int_equal(ax_mem_store_count(w->mem, &ax_alert_row), 1); /* an open one stays */
	assert_int_equal(ax_mem_store_count(w->mem, &ax_delivery_row), 1);
	end(w, &fake, 0, NULL); /* ends of what is gone */
}

static void test_channels_are_checked(void **state)
{
	struct world *w = *state;
	static const struct {
		const char *field;
		struct ax_channel channel;
	} cases[] = {
		{ "name", { .name = "" } },
		{ "name", { .name = "a b" } },
		{ "name", { .name = "A" } },
		{ "name", { .name = "-a" } },
		{ "time_zone", { .name = "a", .time_zone = "Nowhere" } },
		{ "rules", { .name = "a", .rules = "failed nope" } },
		{ "quiet_hours", { .name = "a", .quiet_to = 1440 } },
		{ "quiet_hours", { .name = "a", .quiet_from = -1 } },
		{ "remind_seconds", { .name = "a", .remind_seconds = 299 } },
	};
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		struct ax_channel channel = plain(cases[i].channel.name), ret;
		struct ax_err err = { 0 };
		if (cases[i].channel.time_zone != NULL)
			channel.time_zone = cases[i].channel.time_zone;
		if (cases[i].channel.rules != NULL)
			channel.rules = cases[i].channel.rules;
		channel.quiet_from = cases[i].channel.quiet_from;
		channel.quiet_to = cases[i].channel.quiet_to;
		channel.remind_seconds = cases[i].channel.remind_seconds;
		assert_int_equal(ax_channel_create(&w->ctx, &channel, &ret, &err), AX_INVALID);
		assert_string_equal(err.field, cases[i].field);
	}
	struct ax_channel channel = make(w, plain("a")), other = make(w, plain("b")), again = plain("a");
	assert_int_equal(ax_channel_create(&w->ctx, &again, &again, NULL), AX_EXISTS);
	other.name = "a";
	assert_int_equal(ax_channel_update(&w->ctx, &other, &other, NULL), AX_EXISTS);
	channel.version = 7;
	assert_int_equal(ax_channel_update(&w->ctx, &channel, &channel, NULL), AX_CONFLICT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_up, world_down)
	const struct CMUnitTest tests[] = {
		TEST(test_sent_once),
		TEST(test_tried_again_after_growing_waits_and_given_up_in_the_end),
		TEST(test_the_end_waits_for_the_beginning),
		TEST(test_what_is_due_at_once_is_one_message),
		TEST(test_quiet_hours_put_off),
		TEST(test_what_nobody_wants_to_hear_is_given_up),
		TEST(test_nothing_is_queued_for_a_channel_that_is_gone),
		TEST(test_a_server_that_died_sends_again),
		TEST(test_a_try_that_nobody_ends_counts_as_lost),
		TEST(test_a_test_is_tried_once),
		TEST(test_retention),
		TEST(test_channels_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
