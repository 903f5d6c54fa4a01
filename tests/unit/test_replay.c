/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of scripts: what they may hold, that slips are named with their line, that records play. */
#include "agent/provider/replay.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/provider/call_int.h"

#define HEAD "{\"schema\":\"ak-replay/1\"}\n"

static struct ak_err err;

static struct replay *script(const char *text)
{
	struct replay *r = NULL;

	ck_assert_msg(replay_parse(text, strlen(text), "s", &r, &err) == 0, "%s", err.msg);
	return r;
}

static struct attempt next(struct replay *r, const char *user)
{
	struct msg m = { .role = MSG_USER, .text = (char *)user, .text_len = strlen(user) };
	struct provider_req rq = { .model = "m", .msgs = &m, .nmsgs = 1 };
	struct attempt at;

	replay_next(r, &rq, NULL, &at);
	return at;
}

START_TEST(steps_come_in_order_and_faults_as_often_as_said)
{
	struct replay *r = script("# a comment\n" HEAD "\n"
				  "{\"fault\":{\"name\":\"rate_limited\",\"status\":429,\"wait_ms\":7,\"times\":2}}\n"
				  "{\"note\":\"n\",\"reply\":{\"text\":\"hi\",\"usage\":{\"input\":3,\"cache_read\":4,\"output\":2},\"cost_usd\":0.5}}\n");
	struct attempt at;

	for (int i = 0; i < 2; i++) {
		at = next(r, "x");
		ck_assert_int_eq(at.fault.fault, FAULT_RATE);
		ck_assert(at.hint.has_wait && at.hint.wait_ms == 7);
	}
	at = next(r, "x");
	ck_assert_int_eq(at.fault.fault, FAULT_NONE);
	ck_assert_str_eq(at.reply.msg.text, "hi");
	ck_assert_uint_eq(at.reply.usage.prompt_total, 7);
	ck_assert_uint_eq(at.reply.usage.cost_picousd, 500000000000);
	ck_assert(!at.reply.usage.estimated);
	completion_release(&at.reply);
	at = next(r, "x");
	ck_assert_int_eq(at.fault.fault, FAULT_REQUEST);
	ck_assert_ptr_nonnull(strstr(at.err.msg, "no step left"));
	replay_free(r);
}
END_TEST

START_TEST(a_request_that_does_not_match_is_told)
{
	struct replay *r = script(HEAD "{\"match\":{\"user\":\"abc\"},\"reply\":{\"text\":\"x\"}}\n");
	struct attempt at = next(r, "ab");

	ck_assert_int_eq(at.fault.fault, FAULT_REQUEST);
	ck_assert_ptr_nonnull(strstr(at.err.msg, "line 2"));
	at = next(r, "xabcx"); /* the step is still there */
	ck_assert_int_eq(at.fault.fault, FAULT_NONE);
	ck_assert(at.reply.usage.estimated);
	completion_release(&at.reply);
	replay_free(r);
}
END_TEST

START_TEST(calls_are_checked_as_those_of_a_server)
{
	struct replay *r = script(HEAD "{\"reply\":{\"calls\":[{\"name\":\"a\",\"args\":{\"x\":9007199254740993}},{\"name\":\"b\",\"args_text\":\"{'\"},"
					"{\"id\":\"i\",\"name\":\"c\"}]}}\n");
	struct attempt at = next(r, "x");
	struct msg *m = &at.reply.msg;

	ck_assert_uint_eq(m->ncalls, 3);
	ck_assert_str_eq(m->calls[0].args, "{\"x\":9007199254740993}");
	ck_assert_ptr_null(m->calls[0].bad);
	ck_assert_ptr_nonnull(m->calls[1].bad);
	ck_assert_str_eq(m->calls[2].id, "i");
	ck_assert_str_eq(m->calls[2].args, "{}");
	ck_assert_int_eq(at.reply.stop, STOP_TOOL_USE);
	completion_release(&at.reply);
	replay_free(r);
}
END_TEST

START_TEST(slips_are_named_with_their_line)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "empty" },
		{ "{}\n", "line 1: expected {\"schema\"" },
		{ HEAD "{\n", "line 2" },
		{ HEAD "[]\n", "line 2: step" },
		{ HEAD "{}\n", "either a reply or a fault" },
		{ HEAD "{\"reply\":{},\"fault\":{\"name\":\"cut\"}}\n", "either" },
		{ HEAD "{\"replay\":{}}\n", "\"replay\" is not known" },
		{ HEAD "{\"reply\":{\"stop\":\"done\"}}\n", "stop: \"done\"" },
		{ HEAD "{\"reply\":{\"text\":1}}\n", "text" },
		{ HEAD "{\"reply\":{\"usage\":{\"in\":1}}}\n", "\"in\"" },
		{ HEAD "{\"reply\":{\"calls\":[{}]}}\n", "name" },
		{ HEAD "{\"reply\":{\"calls\":[{\"name\":\"a\"}],\"stop\":\"max_tokens\"}}\n", "no calls" },
		{ HEAD "{\"reply\":{\"calls\":[{\"name\":\"a\",\"args\":{},\"args_text\":\"\"}]}}\n", "exclude" },
		{ HEAD "{\"fault\":{\"name\":\"none\"}}\n", "name \"none\"" },
		{ HEAD "{\"fault\":{\"name\":\"cut\",\"times\":0}}\n", "times" },
		{ HEAD "{\"reply\":{\"raw\":{\"api\":\"replay\",\"turn\":[]}}}\n", "raw" },
		{ HEAD "{\"reply\":{}}\n\n{\"reply\":{\"x\":1}}\n", "line 4" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct replay *r = NULL;

		ck_assert_msg(replay_parse(rows[i].text, strlen(rows[i].text), "s", &r, &err) == -EBADMSG, "%s", rows[i].text);
		ck_assert_msg(strstr(err.msg, rows[i].says), "%s: %s", rows[i].text, err.msg);
		ck_assert_ptr_null(r);
	}
	ck_assert_int_eq(replay_open(NULL, NULL, &err), -EINVAL);
	ck_assert_int_eq(replay_open("/nonexistent/x", NULL, &err), -ENOENT);
}
END_TEST

START_TEST(a_record_plays)
{
	char dir[] = "/tmp/ak-record-XXXXXX";
	char path[64];
	struct record *rec = NULL;
	struct replay *r = NULL;
	struct provider_fault f = { .fault = FAULT_OVERLOADED, .status = 529, .message = "busy" };
	struct stat st;
	struct attempt at;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/r", dir);
	ck_assert_int_eq(record_open(path, &rec, &err), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);

	struct replay *src = script(HEAD "{\"reply\":{\"text\":\"\u00e4\\n\",\"reasoning\":\"r\",\"calls\":[{\"id\":\"c\",\"name\":\"n\",\"args\":{\"a\":[1]}}],"
					 "\"usage\":{\"input\":1,\"output\":2},\"cost_usd\":0.000000000001,"
					 "\"raw\":{\"api\":\"anthropic\",\"turn\":[{\"signature\":\"s\\ud83d\"}]}}}\n");

	at = next(src, "x");
	record_turn(rec, &at.reply, NULL);
	completion_release(&at.reply);
	record_turn(rec, NULL, &f);
	ck_assert(record_ok(rec));
	record_free(rec);
	rec = NULL;
	ck_assert_int_eq(record_open(path, &rec, &err), -EEXIST);
	ck_assert_msg(replay_open(path, &r, &err) == 0, "%s", err.msg);
	at = next(r, "x");
	ck_assert_str_eq(at.reply.msg.text, "\u00e4\n");
	ck_assert_str_eq(at.reply.msg.raw, "[{\"signature\":\"s\\ud83d\"}]");
	ck_assert_int_eq(at.reply.msg.raw_api, WIRE_ANTHROPIC);
	ck_assert_str_eq(at.reply.msg.calls[0].args, "{\"a\":[1]}");
	ck_assert_uint_eq(at.reply.usage.cost_picousd, 1);
	completion_release(&at.reply);
	at = next(r, "x");
	ck_assert_int_eq(at.fault.fault, FAULT_OVERLOADED);
	ck_assert_int_eq(at.fault.status, 529);
	replay_free(r);
	replay_free(src);
	ck_assert_int_eq(unlink(path) + rmdir(dir), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("replay");
	TCase *c = tcase_create("replay");
	SRunner *r;
	int failed;

	tcase_add_test(c, steps_come_in_order_and_faults_as_often_as_said);
	tcase_add_test(c, a_request_that_does_not_match_is_told);
	tcase_add_test(c, calls_are_checked_as_those_of_a_server);
	tcase_add_test(c, slips_are_named_with_their_line);
	tcase_add_test(c, a_record_plays);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
