/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of canonical messages: ownership, names, which history may be sent. */
#include "agent/msg.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_err.h"

static struct ak_err err;

static void call(struct msg *m, const char *id)
{
	struct tool_call c = { .id = strdup(id), .name = strdup("bash"), .args = strdup("{}"), .args_len = 2 };

	ck_assert_int_eq(msg_take_call(m, &c), 0);
	ck_assert_ptr_null(c.id);
}

/* A history of turns as letters: u user, a assistant; "c1" a call with id 1, "r1" its result */
static struct history make(const char *spec)
{
	struct history h = { 0 };
	struct msg m = { 0 };
	bool open = false;

	for (const char *p = spec; *p; p++) {
		char id[2] = { p[1], '\0' };

		if (*p == 'u' || *p == 'a') {
			if (open)
				ck_assert_int_eq(history_take(&h, &m), 0);
			m.role = *p == 'u' ? MSG_USER : MSG_ASSISTANT;
			open = true;
		} else if (*p == 'c') {
			call(&m, id);
			p++;
		} else if (*p == 'r') {
			ck_assert_int_eq(msg_add_result(&m, id, "x", 1, false), 0);
			p++;
		}
	}
	if (open)
		ck_assert_int_eq(history_take(&h, &m), 0);
	return h;
}

START_TEST(which_history_may_be_sent)
{
	static const struct {
		const char *spec;
		int rc;
	} rows[] = {
		{ "u", 0 },	      { "uac1ur1", 0 },		{ "uac1c2ur2r1", 0 },  { "uaau", 0 },
		{ "uauau", 0 },	      { "", -EINVAL },		{ "a", -EINVAL },      { "uu", -EINVAL },
		{ "uac1u", -EINVAL }, { "uac1", -EINVAL },	{ "ur1", -EINVAL },    { "uac1ur1r1", -EINVAL },
		{ "uac1ur2", -EINVAL }, { "uac1ur1aur1", -EINVAL }, { "uac1c1ur1", -EINVAL }, { "uac1aur1", -EINVAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct history h = make(rows[i].spec);

		ck_assert_msg(history_check(&h, &err) == rows[i].rc, "%s: %s", rows[i].spec, err.msg);
		history_release(&h);
	}
}
END_TEST

START_TEST(what_is_copied_is_owned)
{
	struct msg m = { .role = MSG_USER };
	char text[] = "abc";

	ck_assert_int_eq(msg_set_text(&m, text, 3), 0);
	ck_assert_int_eq(msg_add_result(&m, "id", "r\0s", 3, true), 0);
	ck_assert_int_eq(msg_add_image(&m, "image/png", "QUJD"), 0);
	text[0] = 'x';
	ck_assert_str_eq(m.text, "abc");
	ck_assert_uint_eq(m.results[0].text_len, 3);
	ck_assert(m.results[0].is_error);
	ck_assert_str_eq(m.images[0].base64, "QUJD");
	ck_assert_int_eq(msg_set_text(&m, NULL, 0), 0);
	ck_assert_ptr_null(m.text);
	msg_release(&m);
	ck_assert_uint_eq(m.nresults + m.nimages, 0);
	msg_release(&m);
}
END_TEST

START_TEST(names_go_both_ways)
{
	for (int i = WIRE_ANTHROPIC; i <= WIRE_REPLAY; i++)
		ck_assert_int_eq(wire_api_parse(wire_api_name((enum wire_api)i)), i);
	ck_assert_int_eq(wire_api_parse("none"), WIRE_NONE);
	ck_assert_int_eq(wire_api_parse("Chat"), WIRE_NONE);
	for (int i = STOP_END_TURN; i <= STOP_UNKNOWN; i++)
		ck_assert_int_eq(stop_reason_parse(stop_reason_name((enum stop_reason)i)), i);
	ck_assert_int_eq(stop_reason_parse(""), STOP_UNKNOWN);
}
END_TEST

START_TEST(history_grows)
{
	struct history h = { 0 };

	for (int i = 0; i < 100; i++) {
		struct msg m = { .role = MSG_ASSISTANT };

		ck_assert_int_eq(history_add_user(&h, "x"), 0);
		ck_assert_int_eq(history_take(&h, &m), 0);
	}
	ck_assert_uint_eq(h.n, 200);
	ck_assert_int_eq(history_check(&h, &err), 0);
	history_release(&h);
	ck_assert_uint_eq(h.n, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("msg");
	TCase *c = tcase_create("msg");
	SRunner *r;
	int failed;

	tcase_add_test(c, which_history_may_be_sent);
	tcase_add_test(c, what_is_copied_is_owned);
	tcase_add_test(c, names_go_both_ways);
	tcase_add_test(c, history_grows);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
