/* What goes out to each kind of channel: the head of a mail, and what of it no text can change. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "adapters/curl/alert_format.h"

static void test_header_texts(void **state)
{
	(void)state;
	static const struct {
		const char *text, *header;
	} cases[] = {
		{ "plain", "plain" },
		{ "a\r\nBcc: x", "a  Bcc: x" },
		{ "caf\xc3\xa9", "=?UTF-8?B?Y2Fmw6k=?=" },
		{ "=?UTF-8?B?eA==?=", "=?UTF-8?B?PT9VVEYtOD9CP2VBPT0/PQ==?=" }, /* not ours: shown as it is */
		{ "", "" },
	};
	struct ax_arena arena = { 0 };
	for (size_t i = 0; i < AX_COUNT(cases); i++)
		assert_string_equal(ax_mail_header_text(cases[i].text, &arena), cases[i].header);
	ax_arena_done(&arena);
}

static void test_a_mail(void **state)
{
	(void)state;
	struct ax_message_event event = {
		.claim = { 41, 3 }, .kind = AX_TELL_OPEN, .title = "nightly failed", .body = "a\nb"
	};
	struct ax_message message = {
		.channel = { .kind = AX_CHANNEL_SMTP }, .events = &event, .n = 1, .time = 1764451205000
	};
	struct ax_channel_settings settings = {
		.from = "ax@example.org", .to = { "a@example.org", "b@example.org" }, .n_to = 2
	};
	struct ax_arena arena = { 0 };
	const char *mail = ax_alert_mail_make(&message, &settings, "u1", &arena);
	assert_ptr_equal(mail,
		strstr(mail,
			"Date: Sat, 29 Nov 2025 21:20:05 +0000\r\nFrom: AX <ax@example.org>\r\nTo: <a@example.org>,\r\n"
			" <b@example.org>\r\nSubject: [AX] nightly failed\r\nMessage-ID: <ax-41-u1@example.org>\r\n"
			"Auto-Submitted: auto-generated\r\n"));
	/* "[AX] nightly failed\r\na\r\nb\r\n" */
	assert_non_null(strstr(mail, "\r\n\r\nW0FYXSBuaWdodGx5IGZhaWxlZA0KYQ0KYg0K\r\n"));
	ax_arena_done(&arena);
}

static void test_answers(void **state)
{
	(void)state;
	static const struct {
		enum ax_channel_kind kind;
		long status;
		const char *body, *refusal; /* NULL: taken */
	} cases[] = {
		{ AX_CHANNEL_WEBHOOK, 204, "", NULL },
		{ AX_CHANNEL_WEBHOOK, 200, "anything", NULL },
		{ AX_CHANNEL_WEBHOOK, 302, "", "the receiver answered HTTP 302" },
		{ AX_CHANNEL_SLACK, 403, "invalid\ntoken\xff",
			"the receiver answered HTTP 403: invalid token\xef\xbf\xbd" },
		{ AX_CHANNEL_DINGTALK, 200, "{\"errcode\":0}", NULL },
		{ AX_CHANNEL_DINGTALK, 200, "{\"errcode\":130101}", "the receiver refused it: {\"errcode\":130101}" },
		{ AX_CHANNEL_WECOM, 200, "", "the receiver refused it: " },
		{ AX_CHANNEL_FEISHU, 200, "{\"code\":0}", NULL },
		{ AX_CHANNEL_FEISHU, 200, "{\"StatusCode\":0}", NULL },
		{ AX_CHANNEL_FEISHU, 200, "{\"code\":9499}", "the receiver refused it: {\"code\":9499}" },
	};
	struct ax_arena arena = { 0 };
	for (size_t i = 0; i < AX_COUNT(cases); i++) {
		const char *refusal =
			ax_alert_refusal(cases[i].kind, cases[i].status, cases[i].body, strlen(cases[i].body), &arena);
		if (cases[i].refusal == NULL)
			assert_null(refusal);
		else
			assert_string_equal(refusal, cases[i].refusal);
	}
	ax_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_texts),
		cmocka_unit_test(test_a_mail),
		cmocka_unit_test(test_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
