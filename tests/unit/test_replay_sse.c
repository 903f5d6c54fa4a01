/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded streams (tests/replay/sse): whatever the pieces they come in, each gives what the official SDK made of it
 * (NAME.sdk.json), or what NAME.ak.json says where the SDK fails or does less; or the fault documented there.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/provider.h"
#include "agent/sse.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

#define FOLDER "tests/replay/sse"
#define FILE_MAX (4u << 20)

struct sample {
	char name[300];
	enum wire_api api;
	char *bytes;
	size_t len;
	struct cJSON *sdk;
	struct cJSON *ak;
};

struct outcome {
	int rc;
	struct completion c;
	struct provider_fault fault;
	struct ak_err err;
	struct ak_buf shown;
};

static const struct {
	const char *word;
	enum fault fault;
} faults[] = {
	{ "server", FAULT_SERVER },	{ "overloaded", FAULT_OVERLOADED }, { "rate_limit", FAULT_RATE },
	{ "request", FAULT_REQUEST },	{ "billing", FAULT_BILLING },	    { "context", FAULT_CONTEXT },
	{ "cut", FAULT_CUT },		{ "broken", FAULT_CUT },	    { "empty", FAULT_PROTOCOL },
};

static struct cJSON *read_json(const char *path)
{
	struct ak_err err = { 0 };
	struct cJSON *doc = NULL;
	char *text;
	size_t len;

	ck_assert_msg(ak_read_file(path, FILE_MAX, &text, &len) == 0, "%s cannot be read", path);
	ck_assert_msg(json_parse(text, len, JSON_REPAIR, NULL, &doc, &err) == 0, "%s: %s", path, err.msg);
	free(text);
	return doc;
}

static void load(const char *folder, const char *stem, enum wire_api api, struct sample *s)
{
	char path[512];

	*s = (struct sample){ .api = api };
	(void)snprintf(s->name, sizeof(s->name), "%s/%s", folder, stem);
	(void)snprintf(path, sizeof(path), FOLDER "/%s.sse", s->name);
	ck_assert_msg(ak_read_file(path, FILE_MAX, &s->bytes, &s->len) == 0, "%s cannot be read", path);
	(void)snprintf(path, sizeof(path), FOLDER "/%s.sdk.json", s->name);
	s->sdk = read_json(path);
	(void)snprintf(path, sizeof(path), FOLDER "/%s.ak.json", s->name);
	s->ak = read_json(path);
}

static void unload(struct sample *s)
{
	free(s->bytes);
	json_free(s->sdk);
	json_free(s->ak);
}

static int on_event(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	return acc_event(ctx, ev, err);
}

static void on_delta(void *ctx, enum delta_kind kind, const char *text)
{
	if (kind == DELTA_TEXT)
		json_text_add(ctx, text);
}

/* @piece: bytes at a time; 0: random, from @seed */
static void play(const struct sample *s, size_t piece, unsigned seed, struct outcome *o)
{
	struct sse sse;
	struct acc *a;
	int rc = 0;

	*o = (struct outcome){ 0 };
	ck_assert_int_eq(acc_new(provider_ops_of(s->api), 300, on_delta, &o->shown, &a), 0);
	sse_init(&sse, 0, on_event, a);
	for (size_t at = 0; at < s->len && rc == 0;) {
		size_t n = piece ? piece : 1 + (size_t)rand_r(&seed) % 97;

		n = n < s->len - at ? n : s->len - at;
		rc = sse_feed(&sse, s->bytes + at, n, &o->err);
		at += n;
	}
	if (rc == 0)
		rc = sse_end(&sse, &o->err);
	o->rc = acc_finish(a, &o->c, &o->fault, &o->err);
	ck_assert_msg(rc == 0 || o->rc < 0, "%s: a broken stream became a reply", s->name);
	sse_release(&sse);
	acc_free(a);
}

static void drop(struct outcome *o)
{
	completion_release(&o->c);
	ak_buf_release(&o->shown);
}

/* --- equality as JSON, where a null member is as good as none ------------------------------------------------------------ */

static bool same(const struct cJSON *a, const struct cJSON *b);

static bool nothing(const struct cJSON *v)
{
	return json_kind(v) == JSON_ABSENT || json_kind(v) == JSON_NULL || json_is_str(v, "");
}

static bool members_in(const struct cJSON *a, const struct cJSON *b)
{
	for (const struct cJSON *m = json_first(a); m; m = json_next(m)) {
		const struct cJSON *other = json_get(b, json_name(m));

		if (!same(m, other) && !(nothing(m) && nothing(other)))
			return false;
	}
	return true;
}

static bool same_list(const struct cJSON *a, const struct cJSON *b)
{
	const struct cJSON *x = json_first(a);
	const struct cJSON *y = json_first(b);

	for (; x && y && same(x, y); x = json_next(x))
		y = json_next(y);
	return !x && !y;
}

static bool same(const struct cJSON *a, const struct cJSON *b)
{
	if (json_kind(a) != json_kind(b))
		return false;
	switch (json_kind(a)) {
	case JSON_NUMBER:
		return strtod(json_num(a), NULL) == strtod(json_num(b), NULL);
	case JSON_STRING:
		return strcmp(json_str(a), json_str(b)) == 0;
	case JSON_BOOL:
		return json_true(a) == json_true(b);
	case JSON_ARRAY:
		return same_list(a, b);
	case JSON_OBJECT:
		return members_in(a, b) && members_in(b, a);
	default:
		return true;
	}
}

/* --- what is expected ---------------------------------------------------------------------------------------------------- */

static void check_fault(const struct sample *s, const struct outcome *o)
{
	const char *word = json_str(json_get(s->ak, "error"));
	const char *message = json_str(json_get(s->ak, "message"));
	bool known = false;

	ck_assert_msg(o->rc < 0, "%s: expected the fault %s, got a reply", s->name, word);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (strcmp(faults[i].word, word) != 0)
			continue;
		known = true;
		ck_assert_msg(o->fault.fault == faults[i].fault, "%s: expected %s, got %s (%s)", s->name, word,
			      fault_info(o->fault.fault)->name, o->err.msg);
	}
	ck_assert_msg(known, "%s: no fault is called %s", s->name, word);
	ck_assert_msg(*o->err.msg && (!message || strstr(o->err.msg, message)), "%s: \"%s\"", s->name, o->err.msg);
	ck_assert_msg(strcmp(word, "empty") != 0 || strstr(o->err.msg, "empty"), "%s: \"%s\"", s->name, o->err.msg);
	if (json_kind(json_get(s->ak, "retry")) != JSON_ABSENT)
		ck_assert_msg(fault_info(o->fault.fault)->retry == json_true(json_get(s->ak, "retry")),
			      "%s: %s is %sretried", s->name, word, fault_info(o->fault.fault)->retry ? "" : "not ");
}

static void check_str(const struct sample *s, const char *member, const char *got)
{
	const char *want = json_str(json_get(s->ak, member));

	ck_assert_msg((!want && !got) || (want && got && strcmp(want, got) == 0), "%s: %s is \"%s\", not \"%s\"", s->name,
		      member, got ? got : "(none)", want ? want : "(none)");
}

static void check_calls(const struct sample *s, const struct outcome *o)
{
	const struct cJSON *want = json_first(json_get(s->ak, "calls"));

	for (size_t i = 0; i < o->c.msg.ncalls; i++, want = json_next(want)) {
		const struct tool_call *call = &o->c.msg.calls[i];
		const struct cJSON *id = json_first(want);
		const struct cJSON *name = json_next(id);
		const char *args = json_str(json_next(name));

		ck_assert_msg(want, "%s: call %zu was not expected", s->name, i);
		ck_assert_msg(json_is_str(id, call->id) && json_is_str(name, call->name), "%s: call %zu is %s %s", s->name,
			      i, call->id, call->name);
		ck_assert_msg(strcmp(call->args, args ? args : "{}") == 0, "%s: arguments of call %zu: %.200s", s->name, i,
			      call->args);
		ck_assert_msg(!args == !!call->bad, "%s: call %zu: %s", s->name, i, call->bad ? call->bad : "accepted");
		ck_assert_msg(strlen(call->args) == call->args_len, "%s: NUL in the arguments of call %zu", s->name, i);
	}
	ck_assert_msg(!want, "%s: a call is missing (%zu came)", s->name, o->c.msg.ncalls);
}

static void check_usage(const struct sample *s, const struct outcome *o)
{
	const struct cJSON *want = json_get(s->ak, "usage");
	const struct {
		const char *name;
		uint64_t got;
	} rows[] = {
		{ "input", o->c.usage.input_uncached },	  { "cache_read", o->c.usage.cache_read },
		{ "write_5m", o->c.usage.cache_write_5m }, { "write_1h", o->c.usage.cache_write_1h },
		{ "output", o->c.usage.output },	  { "reasoning", o->c.usage.reasoning },
		{ "prompt", o->c.usage.prompt_total },
	};
	uint64_t v;

	ck_assert_msg(o->c.usage.estimated == json_true(json_get(s->ak, "estimated")), "%s: estimated", s->name);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && json_kind(want) == JSON_OBJECT; i++) {
		ck_assert_int_eq(json_need_u64(want, rows[i].name, &v, NULL), 0);
		ck_assert_msg(v == rows[i].got, "%s: usage %s is %llu, not %llu", s->name, rows[i].name,
			      (unsigned long long)rows[i].got, (unsigned long long)v);
	}
	if (json_str(json_get(s->ak, "cost"))) {
		ck_assert_int_eq(o->c.usage.cost_source, COST_PROVIDER);
		ck_assert_uint_eq(o->c.usage.cost_picousd, 1230000000);
	}
}

/* The turn, as the provider wrote it: the SDK's, unless the sample says otherwise */
static void check_turn(const struct sample *s, const struct outcome *o)
{
	const struct cJSON *want = json_get(s->ak, "turn");
	struct cJSON *got = NULL;
	struct ak_err err = { 0 };
	struct ak_buf text = { 0 };

	if (o->c.msg.raw)
		ck_assert_msg(json_parse(o->c.msg.raw, o->c.msg.raw_len, JSON_REPAIR, NULL, &got, &err) == 0, "%s: %s",
			      s->name, err.msg);
	if (json_kind(want) == JSON_ABSENT) {
		if (json_str(json_get(s->ak, "turn_differs")) || json_str(json_get(s->ak, "sdk_differs")) ||
		    json_kind(json_get(s->sdk, "error")) != JSON_ABSENT) {
			json_free(got);
			return;
		}
		want = json_get(s->sdk, "turn");
	}
	json_print(got, 0, &text);
	ck_assert_msg(got ? same(got, want) : !json_first(want), "%s: the turn differs: %s", s->name, text.data);
	ak_buf_release(&text);
	json_free(got);
}

/* Sent back, the turn is in the request byte for byte */
static void check_echo(const struct sample *s, const struct outcome *o)
{
	struct msg turns[3] = { { .role = MSG_USER }, o->c.msg, { .role = MSG_USER } };
	struct provider_req rq = { .model = "m", .max_tokens = 1, .msgs = turns, .nmsgs = 3 };
	struct ak_buf out = { 0 };
	size_t edge = s->api == WIRE_RESPONSES; /* the array's brackets */

	(void)msg_set_text(&turns[0], "x", 1);
	for (size_t i = 0; i < o->c.msg.ncalls; i++)
		ck_assert_int_eq(msg_add_result(&turns[2], o->c.msg.calls[i].id, "y", 1, false), 0);
	(void)msg_set_text(&turns[2], "x", 1);

	struct history h = { .v = turns, .n = 3 };
	struct ak_err err = { 0 };

	ck_assert_msg(history_check(&h, &err) == 0, "%s: %s", s->name, err.msg);
	ck_assert_int_eq(provider_ops_of(s->api)->build(&rq, &out, NULL), 0);
	if (o->c.msg.raw && (s->api != WIRE_CHAT || o->c.msg.text || o->c.msg.ncalls))
		ck_assert_msg(memmem(out.data, out.len, o->c.msg.raw + edge, o->c.msg.raw_len - 2 * edge) != NULL,
			      "%s: not sent back unchanged", s->name);
	ak_buf_release(&out);
	msg_release(&turns[0]);
	msg_release(&turns[2]);
}

static void check_outcome(const struct sample *s, const struct outcome *o)
{
	if (json_str(json_get(s->ak, "error"))) {
		check_fault(s, o);
		return;
	}
	ck_assert_msg(o->rc == 0, "%s: %s", s->name, o->err.msg);
	ck_assert_msg(json_is_str(json_get(s->ak, "stop"), stop_reason_name(o->c.stop)), "%s: stop is %s", s->name,
		      stop_reason_name(o->c.stop));
	check_str(s, "text", o->c.msg.text);
	if (json_str(json_get(s->ak, "stop_detail")))
		check_str(s, "stop_detail", o->c.stop_detail);
	if (json_str(json_get(s->ak, "reasoning")))
		check_str(s, "reasoning", o->c.reasoning);
	check_calls(s, o);
	check_usage(s, o);
	check_turn(s, o);
	check_echo(s, o);
}

static size_t each(const char *folder, enum wire_api api, void (*use)(const struct sample *s))
{
	char path[256];
	struct dirent **names;
	size_t count = 0;

	(void)snprintf(path, sizeof(path), FOLDER "/%s", folder);

	int n = scandir(path, &names, NULL, alphasort);

	ck_assert_msg(n > 0, "%s: no samples; tests run from the top of the tree", path);
	for (int i = 0; i < n; i++) {
		char *dot = strstr(names[i]->d_name, ".sse");

		if (dot && dot[4] == '\0') {
			struct sample s;

			*dot = '\0';
			load(folder, names[i]->d_name, api, &s);
			use(&s);
			unload(&s);
			count++;
		}
		free(names[i]);
	}
	free(names);
	return count;
}

static void use_pieces(const struct sample *s)
{
	static const size_t pieces[] = { 1, 7, 4096, FILE_MAX, 0, 0, 0 };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct outcome o;

		play(s, pieces[i], (unsigned)i + 1, &o);
		check_outcome(s, &o);
		drop(&o);
	}
}

START_TEST(anthropic_streams)
{
	ck_assert_uint_ge(each("anthropic", WIRE_ANTHROPIC, use_pieces), 30);
}
END_TEST

START_TEST(chat_streams)
{
	ck_assert_uint_ge(each("chat", WIRE_CHAT, use_pieces), 30);
}
END_TEST

START_TEST(responses_streams)
{
	ck_assert_uint_ge(each("responses", WIRE_RESPONSES, use_pieces), 18);
}
END_TEST

/* No call comes from a stream that ended too early, wherever it was cut */
static void use_cuts(const struct sample *s)
{
	size_t end = s->len;

	if (json_str(json_get(s->ak, "error")) || s->len > 20000)
		return;
	for (size_t n = 0; n < end; n += 1 + n % 3) {
		struct sample cut = *s;
		struct outcome o;

		cut.len = n;
		play(&cut, 4096, 0, &o);
		ck_assert_msg(o.rc < 0 || o.c.msg.ncalls == 0 || json_first(json_get(s->ak, "calls")), "%s cut at %zu", s->name,
			      n);
		/* what was said to be the whole reply has all its calls */
		if (o.rc == 0 && o.c.stop == STOP_TOOL_USE)
			check_calls(s, &o);
		drop(&o);
	}
}

START_TEST(cut_anywhere_gives_no_part_of_a_turn)
{
	(void)each("anthropic", WIRE_ANTHROPIC, use_cuts);
	(void)each("chat", WIRE_CHAT, use_cuts);
	(void)each("responses", WIRE_RESPONSES, use_cuts);
}
END_TEST

/* Arguments that come in pieces and then whole: @done in the item's own event, @last in the final list, "" for none of the two */
static const struct {
	const char *piece;
	const char *done;
	const char *last;
	const char *want;
} whole_rows[] = {
	{ "{\\\"a\\\":1}", "{\\\"a\\\":1}", "{\\\"a\\\":1}", "{\"a\":1}" },
	{ "{\\\"a\\\":1}", "{\\\"a\\\":2}", "{\\\"a\\\":3}", "{\"a\":2}" },
	{ "{\\\"a\\\":1}", "{\\\"a\\\":1} ", "", "{\"a\":1} " },
	{ "{\\\"a\\\":1", "{\\\"a\\\":1}", "", "{\"a\":1}" },
	{ "", "{\\\"a\\\":\\\"\\\\ud83d\\\\ude00\\\"}", "", "{\"a\":\"\\ud83d\\ude00\"}" },
	{ "{\\\"a\\\":1}", "", "{\\\"a\\\":2}", "{\"a\":2}" },
	{ "{\\\"a\\\":1}", "", "{\\\"a\\\":1}", "{\"a\":1}" },
	{ "", "", "{\\\"a\\\":2}", "{\"a\":2}" },
	{ "{\\\"a\\\":1}", "", "", "{\"a\":1}" },
};

#define ITEM "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"bash\",\"arguments\":\"%s\",\"status\":\"completed\",\"x\":[1]}"

START_TEST(whole_arguments_count_more_than_their_pieces)
{
	struct sample s = { .name = "whole arguments", .api = WIRE_RESPONSES };
	struct ak_buf text = { 0 };

	ak_buf_printf(&text, "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":" ITEM "}\n\n", "");
	ak_buf_printf(&text, "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"%s\"}\n\n",
		      whole_rows[_i].piece);
	if (*whole_rows[_i].done)
		ak_buf_printf(&text, "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":" ITEM "}\n\n",
			      whole_rows[_i].done);
	ak_buf_str(&text, "data: {\"type\":\"response.completed\",\"response\":{\"output\":[");
	if (*whole_rows[_i].last)
		ak_buf_printf(&text, ITEM, whole_rows[_i].last);
	ak_buf_str(&text, "]}}\n\n");
	s.bytes = text.data;
	s.len = text.len;
	for (size_t piece = 1; piece <= text.len; piece++) {
		struct outcome o;

		play(&s, piece, 0, &o);
		ck_assert_int_eq(o.rc, 0);
		ck_assert_uint_eq(o.c.msg.ncalls, 1);
		ck_assert_str_eq(o.c.msg.calls[0].args, whole_rows[_i].want);
		ck_assert_ptr_nonnull(strstr(o.c.msg.raw, "\"x\":[1]"));
		drop(&o);
	}
	ak_buf_release(&text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("replay_sse");
	TCase *t = tcase_create("replay_sse");
	SRunner *runner;
	int failed;

	tcase_add_test(t, anthropic_streams);
	tcase_add_test(t, chat_streams);
	tcase_add_test(t, responses_streams);
	tcase_add_loop_test(t, whole_arguments_count_more_than_their_pieces, 0, sizeof(whole_rows) / sizeof(whole_rows[0]));
	tcase_add_test(t, cut_anywhere_gives_no_part_of_a_turn);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
