/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the request builders: order, equal bytes, turns of other formats, text from outside, cache marks. */
#include "agent/provider/provider.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

static const struct provider_ops *const all[] = { &provider_anthropic, &provider_chat, &provider_responses };
#define WIRES (sizeof(all) / sizeof(all[0]))

static const struct tool_def tools[] = {
	{ "zeta", "z", "{\"type\":\"object\"}" },
	{ "alpha", "a \"quoted\"", "{\"type\":\"object\", \"n\":9007199254740993}" },
};

static struct ak_err err;

static struct ak_buf build(const struct provider_ops *ops, const struct provider_req *rq)
{
	struct ak_buf b = { 0 };

	ck_assert_msg(ops->build(rq, &b, &err) == 0, "%s", err.msg);
	return b;
}

static struct cJSON *parse(const struct ak_buf *b)
{
	struct cJSON *doc = NULL;

	ck_assert_msg(json_parse(b->data, b->len, 0, NULL, &doc, &err) == 0, "%s: %s", err.msg, b->data);
	return doc;
}

static void add_call(struct msg *m, const char *id, const char *args)
{
	struct tool_call c = { .id = strdup(id), .name = strdup("alpha"), .args = strdup(args), .args_len = strlen(args) };

	ck_assert_int_eq(msg_take_call(m, &c), 0);
}

/* user, assistant with two calls, results with text behind them */
static void three_turns(struct msg v[3])
{
	memset(v, 0, 3 * sizeof(*v));
	v[0].role = v[2].role = MSG_USER;
	v[1].role = MSG_ASSISTANT;
	ck_assert_int_eq(msg_set_text(&v[0], "task", 4), 0);
	ck_assert_int_eq(msg_set_text(&v[1], "calling", 7), 0);
	add_call(&v[1], "c1", "{\"a\": 1}");
	add_call(&v[1], "c2", "{}");
	ck_assert_int_eq(msg_add_result(&v[2], "c1", "one", 3, false), 0);
	ck_assert_int_eq(msg_add_result(&v[2], "c2", "two\xff\0\x1b", 6, true), 0);
	ck_assert_int_eq(msg_set_text(&v[2], "and then", 8), 0);
}

static void free_turns(struct msg *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		msg_release(&v[i]);
}

START_TEST(equal_requests_give_equal_bytes_and_valid_json)
{
	struct msg v[3];

	three_turns(v);
	for (size_t i = 0; i < WIRES; i++) {
		struct provider_req rq = { .model = "m", .system = "s", .tools = tools, .ntools = 2, .msgs = v, .nmsgs = 3,
					   .max_tokens = 7, .stream = true, .effort = "low", .schema = "{\"type\":\"object\"}" };
		struct ak_buf a = build(all[i], &rq);
		struct ak_buf b = build(all[i], &rq);

		ck_assert_str_eq(a.data, b.data);
		json_free(parse(&a));
		ck_assert_ptr_nonnull(strstr(a.data, "9007199254740993"));
		ck_assert(strstr(a.data, "\"alpha\"") < strstr(a.data, "\"zeta\""));
		ck_assert_ptr_nonnull(strstr(a.data, "\"low\""));
		ak_buf_release(&a);
		ak_buf_release(&b);
	}
	free_turns(v, 3);
}
END_TEST

START_TEST(prefix_stays_while_the_conversation_grows)
{
	static const char *const edges[WIRES] = { "\"messages\":[", "{\"role\":\"user\"", "\"input\":[" };
	struct msg v[3];

	three_turns(v);
	for (size_t i = 0; i < WIRES; i++) {
		struct provider_req rq = { .model = "m", .system = "be careful", .tools = tools, .ntools = 2, .msgs = v, .nmsgs = 1,
					   .max_tokens = 7 };
		struct ak_buf a = build(all[i], &rq);
		size_t head = (size_t)(strstr(a.data, edges[i]) - a.data);

		rq.nmsgs = 3;
		rq.max_tokens = 900;
		rq.stream = true;

		struct ak_buf b = build(all[i], &rq);

		ck_assert(head > 100 && memmem(a.data, head, "be careful", 10));
		ck_assert_int_eq(memcmp(a.data, b.data, head), 0);
		ak_buf_release(&a);
		ak_buf_release(&b);
	}
	free_turns(v, 3);
}
END_TEST

START_TEST(anthropic_results_come_first_in_one_turn)
{
	struct msg v[3];

	three_turns(v);

	struct provider_req rq = { .model = "m", .msgs = v, .nmsgs = 3, .max_tokens = 7 };
	struct ak_buf b = build(&provider_anthropic, &rq);
	struct cJSON *doc = parse(&b);
	const struct cJSON *turn = json_next(json_next(json_first(json_get(doc, "messages"))));
	const struct cJSON *block = json_first(json_get(turn, "content"));

	ck_assert(json_is_str(json_get(block, "tool_use_id"), "c1"));
	ck_assert(json_kind(json_get(block, "is_error")) == JSON_ABSENT);
	block = json_next(block);
	ck_assert(json_is_str(json_get(block, "tool_use_id"), "c2"));
	ck_assert(json_true(json_get(block, "is_error")));
	ck_assert_str_eq(json_str(json_get(block, "content")), "two\xef\xbf\xbd\xef\xbf\xbd\x1b");
	block = json_next(block);
	ck_assert(json_is_str(json_get(block, "type"), "text"));
	ck_assert_ptr_null(json_next(block));
	/* arguments as they came */
	ck_assert_ptr_nonnull(strstr(b.data, "\"input\":{\"a\": 1}"));
	json_free(doc);
	ak_buf_release(&b);
	free_turns(v, 3);
}
END_TEST

START_TEST(chat_has_one_message_for_each_result)
{
	struct msg v[3];

	three_turns(v);
	ck_assert_int_eq(msg_add_image(&v[2], "image/png", "QUJD"), 0);

	struct provider_req rq = { .model = "m", .msgs = v, .nmsgs = 3, .max_tokens = 7, .stream = true };
	struct ak_buf b = build(&provider_chat, &rq);
	struct cJSON *doc = parse(&b);
	const struct cJSON *m = json_next(json_first(json_get(doc, "messages")));

	ck_assert(json_is_str(json_at(json_first(json_get(m, "tool_calls")), "function.arguments"), "{\"a\": 1}"));
	m = json_next(m);
	ck_assert(json_is_str(json_get(m, "role"), "tool") && json_is_str(json_get(m, "tool_call_id"), "c1"));
	m = json_next(m);
	ck_assert(json_is_str(json_get(m, "role"), "tool") && json_is_str(json_get(m, "tool_call_id"), "c2"));
	m = json_next(m);
	ck_assert(json_is_str(json_get(m, "role"), "user"));
	ck_assert_ptr_nonnull(strstr(b.data, "\"url\":\"data:image/png;base64,QUJD\""));
	ck_assert_ptr_nonnull(strstr(b.data, "\"stream_options\":{\"include_usage\":true}"));
	json_free(doc);
	ak_buf_release(&b);
	rq.quirks = QUIRK_NO_STREAM_OPTIONS | QUIRK_MAX_COMPLETION;
	b = build(&provider_chat, &rq);
	ck_assert_ptr_null(strstr(b.data, "stream_options"));
	ck_assert_ptr_null(strstr(b.data, "\"max_tokens\""));
	ck_assert_ptr_nonnull(strstr(b.data, "\"max_completion_tokens\":7"));
	ak_buf_release(&b);
	free_turns(v, 3);
}
END_TEST

/* behind the text of its turn, in the words of each format */
START_TEST(images_follow_the_text)
{
	static const char *const want[WIRES] = {
		"{\"type\":\"text\",\"text\":\"look\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/webp\",\"data\":\"QUJD\"}",
		"{\"type\":\"text\",\"text\":\"look\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/webp;base64,QUJD\"",
		"{\"type\":\"input_text\",\"text\":\"look\"},{\"type\":\"input_image\",\"image_url\":\"data:image/webp;base64,QUJD\"",
	};

	for (size_t i = 0; i < WIRES; i++) {
		struct msg m = { .role = MSG_USER };
		struct provider_req rq = { .model = "m", .msgs = &m, .nmsgs = 1, .max_tokens = 7 };

		ck_assert_int_eq(msg_set_text(&m, "look", 4), 0);
		ck_assert_int_eq(msg_add_image(&m, "image/webp", "QUJD"), 0);

		struct ak_buf b = build(all[i], &rq);

		ck_assert_msg(strstr(b.data, want[i]) != NULL, "%s", b.data);
		ak_buf_release(&b);
		msg_release(&m);
	}
}
END_TEST

START_TEST(a_turn_goes_back_raw_to_its_own_format_only)
{
	static const char *const raws[WIRES] = { "[{\"type\":\"text\",\"text\":\"raw!\"}]", "{\"role\":\"assistant\",\"content\":\"raw!\"}",
						 "[{\"type\":\"message\",\"x\":\"raw!\"}]" };

	for (size_t from = 0; from < WIRES; from++) {
		for (size_t to = 0; to < WIRES; to++) {
			struct msg v[3];

			three_turns(v);
			v[1].raw = strdup(raws[from]);
			v[1].raw_len = strlen(raws[from]);
			v[1].raw_api = all[from]->api;

			struct provider_req rq = { .model = "m", .msgs = v, .nmsgs = 3, .max_tokens = 7 };
			struct ak_buf b = build(all[to], &rq);

			ck_assert_int_eq(strstr(b.data, "raw!") != NULL, from == to);
			ck_assert_int_eq(strstr(b.data, "calling") != NULL, from != to);
			json_free(parse(&b));
			ak_buf_release(&b);
			free_turns(v, 3);
		}
	}
}
END_TEST

START_TEST(reasoning_is_left_out_where_it_is_refused)
{
	struct msg v[3];
	static const char raw[] = "{\"role\":\"assistant\",\"content\":\"x\",\"reasoning_content\":\"hm\",\"reasoning_details\":[1],\"k\":1}";

	three_turns(v);
	v[1].raw = strdup(raw);
	v[1].raw_len = strlen(raw);
	v[1].raw_api = WIRE_CHAT;

	struct provider_req rq = { .model = "m", .msgs = v, .nmsgs = 3, .max_tokens = 7, .quirks = QUIRK_NO_REASONING_ECHO };
	struct ak_buf b = build(&provider_chat, &rq);

	ck_assert_ptr_null(strstr(b.data, "reasoning"));
	ck_assert_ptr_nonnull(strstr(b.data, "{\"role\":\"assistant\",\"content\":\"x\",\"k\":1}"));
	ak_buf_release(&b);
	free_turns(v, 3);
}
END_TEST

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, what)) != NULL; p += strlen(what))
		n++;
	return n;
}

START_TEST(anthropic_marks_are_at_most_four_and_where_they_help)
{
	struct msg v[5];
	struct provider_req rq = { .model = "m", .system = "s", .tools = tools, .ntools = 2, .msgs = v, .nmsgs = 5, .max_tokens = 7 };
	struct ak_buf b;

	three_turns(v);
	v[3] = (struct msg){ .role = MSG_ASSISTANT };
	v[4] = (struct msg){ .role = MSG_USER };
	for (int i = 0; i < 30; i++) {
		char id[16];

		(void)snprintf(id, sizeof(id), "d%d", i);
		add_call(&v[3], id, "{}");
		ck_assert_int_eq(msg_add_result(&v[4], id, "r", 1, false), 0);
	}
	b = build(&provider_anthropic, &rq);
	ck_assert_uint_eq(count(b.data, "cache_control"), 4);

	struct cJSON *doc = parse(&b);
	const struct cJSON *last = NULL;
	size_t at = 0;

	for (const struct cJSON *m = json_first(json_get(doc, "messages")); m; m = json_next(m))
		last = m;
	for (const struct cJSON *x = json_first(json_get(last, "content")); x; x = json_next(x), at++)
		ck_assert_int_eq(json_get(x, "cache_control") != NULL, at == 14 || at == 29);
	json_free(doc);
	ak_buf_release(&b);
	rq.system = NULL;
	b = build(&provider_anthropic, &rq);
	ck_assert_ptr_nonnull(strstr(b.data, "\"type\":\"object\"},\"cache_control\""));
	ak_buf_release(&b);
	rq.quirks = QUIRK_NO_CACHE_CONTROL;
	b = build(&provider_anthropic, &rq);
	ck_assert_ptr_null(strstr(b.data, "cache_control"));
	ak_buf_release(&b);
	free_turns(v, 5);
}
END_TEST

START_TEST(turns_with_nothing_in_them_are_not_sent)
{
	struct msg v[3] = { { .role = MSG_USER }, { .role = MSG_ASSISTANT }, { .role = MSG_USER } };
	struct provider_req rq = { .model = "m", .msgs = v, .nmsgs = 3, .max_tokens = 7 };

	ck_assert_int_eq(msg_set_text(&v[0], "x", 1), 0);
	ck_assert_int_eq(msg_set_text(&v[1], " \n", 2), 0);
	ck_assert_int_eq(msg_set_text(&v[2], "y", 1), 0);
	for (size_t i = 0; i < WIRES; i++) {
		struct ak_buf b = build(all[i], &rq);

		ck_assert_ptr_null(strstr(b.data, "assistant"));
		json_free(parse(&b));
		ak_buf_release(&b);
	}
	free_turns(v, 3);
}
END_TEST

START_TEST(what_cannot_be_sent_is_named)
{
	struct msg m = { .role = MSG_USER };
	static const struct tool_def twice[] = { { "a", "", "{}" }, { "a", "", "{}" } };
	static const struct tool_def dotted[] = { { "a.b", "", "{}" } };
	const struct {
		struct provider_req rq;
		const char *says;
	} rows[] = {
		{ { .msgs = &m, .nmsgs = 1, .max_tokens = 1 }, "model" },
		{ { .model = "", .msgs = &m, .nmsgs = 1, .max_tokens = 1 }, "model" },
		{ { .model = "m", .msgs = &m, .nmsgs = 1 }, "0 tokens" },
		{ { .model = "m", .max_tokens = 1 }, "no message" },
		{ { .model = "m", .msgs = &m, .nmsgs = 1, .max_tokens = 1, .tools = twice, .ntools = 2 }, "two tools" },
		{ { .model = "m", .msgs = &m, .nmsgs = 1, .max_tokens = 1, .tools = dotted, .ntools = 1 }, "a.b" },
	};

	for (size_t i = 0; i < WIRES; i++) {
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
			struct ak_buf b = { 0 };

			ck_assert_int_eq(all[i]->build(&rows[k].rq, &b, &err), -EINVAL);
			ck_assert_msg(strstr(err.msg, rows[k].says), "%s", err.msg);
			ak_buf_release(&b);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("build");
	TCase *c = tcase_create("build");
	SRunner *r;
	int failed;

	tcase_add_test(c, equal_requests_give_equal_bytes_and_valid_json);
	tcase_add_test(c, prefix_stays_while_the_conversation_grows);
	tcase_add_test(c, anthropic_results_come_first_in_one_turn);
	tcase_add_test(c, chat_has_one_message_for_each_result);
	tcase_add_test(c, images_follow_the_text);
	tcase_add_test(c, a_turn_goes_back_raw_to_its_own_format_only);
	tcase_add_test(c, reasoning_is_left_out_where_it_is_refused);
	tcase_add_test(c, anthropic_marks_are_at_most_four_and_where_they_help);
	tcase_add_test(c, turns_with_nothing_in_them_are_not_sent);
	tcase_add_test(c, what_cannot_be_sent_is_named);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
