/* SPDX-License-Identifier: Apache-2.0 */
/* The file about a session, and which changeset belongs to which. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/agent_session.h"

static const struct ak_session_about whole = { .created_ms = 1, .updated_ms = 2, .runs = 3, .turns = 4, .tool_calls = 5, .cost_picousd = 6,
					       .exit_code = 19, .workspace = "/w", .model = "m", .task = "t" };

START_TEST(what_goes_in_comes_out)
{
	uint8_t buf[AK_SESSION_ABOUT_MAX];
	struct ak_session_about a = { 0 };
	long n = ak_session_about_encode(&whole, buf, sizeof(buf));

	ck_assert_int_gt(n, 0);
	for (long cut = 0; cut < n; cut++)
		ck_assert_int_eq(ak_session_about_decode(buf, (size_t)cut, &a), -EBADMSG);
	ck_assert_ptr_null(a.workspace);
	ck_assert_int_eq(ak_session_about_decode(buf, (size_t)n, &a), 0);
	ck_assert_uint_eq(a.created_ms, 1);
	ck_assert_uint_eq(a.updated_ms, 2);
	ck_assert_uint_eq(a.runs, 3);
	ck_assert_uint_eq(a.turns, 4);
	ck_assert_uint_eq(a.tool_calls, 5);
	ck_assert_uint_eq(a.cost_picousd, 6);
	ck_assert_uint_eq(a.exit_code, 19);
	ck_assert_str_eq(a.workspace, "/w");
	ck_assert_str_eq(a.model, "m");
	ck_assert_str_eq(a.task, "t");
	ck_assert_int_eq(ak_session_about_encode(&whole, buf, (size_t)n - 1), -ENOBUFS);
}
END_TEST

/* numbers have fixed widths: the agent writes over what is there */
START_TEST(length_hangs_on_the_texts_only)
{
	uint8_t buf[AK_SESSION_ABOUT_MAX];
	struct ak_session_about a = whole;
	long n = ak_session_about_encode(&a, buf, sizeof(buf));

	a.turns = a.cost_picousd = UINT64_MAX;
	a.exit_code = AK_SESSION_NOT_ENDED;
	ck_assert_int_eq(ak_session_about_encode(&a, buf, sizeof(buf)), n);
}
END_TEST

START_TEST(what_it_does_not_take)
{
	uint8_t buf[AK_SESSION_ABOUT_MAX];
	char task[AK_SESSION_TASK_MAX + 2];
	struct ak_session_about a = whole;

	memset(task, 'x', sizeof(task));
	task[sizeof(task) - 1] = '\0';
	a.task = task;
	ck_assert_int_eq(ak_session_about_encode(&a, buf, sizeof(buf)), -EINVAL);
	task[AK_SESSION_TASK_MAX] = '\0';
	ck_assert_int_gt(ak_session_about_encode(&a, buf, sizeof(buf)), 0);
	a.workspace = "w";
	ck_assert_int_eq(ak_session_about_encode(&a, buf, sizeof(buf)), -EINVAL);
	a.workspace = NULL;
	ck_assert_int_eq(ak_session_about_encode(&a, buf, sizeof(buf)), -EINVAL);
	a = whole;
	a.exit_code = 256;
	ck_assert_int_eq(ak_session_about_encode(&a, buf, sizeof(buf)), -EINVAL);
}
END_TEST

static const struct {
	const char *command, *session;
} commands[] = {
	{ "ak run s-0123456789ab", "s-0123456789ab" },
	{ "ak run s-0123456789AB", NULL },
	{ "ak run s-0123456789abc", NULL },
	{ "ak run s-0123456789a", NULL },
	{ "ak run", NULL },
	{ "ak run  s-0123456789ab", NULL },
	{ "ak serve", NULL },
	{ "s-0123456789ab", NULL },
};

START_TEST(a_changeset_names_its_session)
{
	struct changeset_meta m = { .workspace = "/w" };
	const char *got;

	(void)snprintf(m.command, sizeof(m.command), "%s", commands[_i].command);
	got = agent_session_of(&m);
	ck_assert((got == NULL) == (commands[_i].session == NULL));
	if (got)
		ck_assert_str_eq(got, commands[_i].session);
}
END_TEST

START_TEST(new_names_differ_and_are_names)
{
	char a[AK_SESSION_ID_MAX], b[AK_SESSION_ID_MAX];

	ck_assert_int_eq(agent_session_mint(a, NULL), 0);
	ck_assert_int_eq(agent_session_mint(b, NULL), 0);
	ck_assert(ak_session_id_ok(a) && ak_session_id_ok(b) && strcmp(a, b) != 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session_file");
	TCase *t = tcase_create("session_file");
	SRunner *sr;
	int failed;

	tcase_add_test(t, what_goes_in_comes_out);
	tcase_add_test(t, length_hangs_on_the_texts_only);
	tcase_add_test(t, what_it_does_not_take);
	tcase_add_loop_test(t, a_changeset_names_its_session, 0, (int)(sizeof(commands) / sizeof(commands[0])));
	tcase_add_test(t, new_names_differ_and_are_names);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
