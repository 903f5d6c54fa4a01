/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/transcript.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static char folder[64];
static int dir = -1;

static void set_up(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/ak-transcript.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir, 0);
}

static void take_down(void)
{
	(void)unlinkat(dir, TRANSCRIPT_FILE, 0);
	(void)rmdir(folder);
	ak_fd_close(&dir);
}

static void create(struct transcript *t)
{
	struct transcript_head h = { .workspace = (char *)(uintptr_t)"/w", .model = (char *)(uintptr_t)"m", .system = (char *)(uintptr_t)"s" };

	ck_assert_int_eq(transcript_create(t, dir, &h, NULL), 0);
}

static void add_user(struct transcript *t, const char *text)
{
	struct msg m = { .role = MSG_USER };

	ck_assert_int_eq(msg_set_text(&m, text, strlen(text)), 0);
	ck_assert_int_eq(transcript_add(t, &m, NULL), 0);
	msg_release(&m);
}

static void add_calls(struct transcript *t, const char *raw)
{
	struct msg m = { .role = MSG_ASSISTANT };

	for (int i = 0; i < 2; i++) {
		struct tool_call c = { strdup(i ? "c2" : "c1"), strdup("bash"), strdup("{\"command\":\"a\\\"b\"}"), 18, NULL };

		ck_assert_int_eq(msg_take_call(&m, &c), 0);
	}
	m.raw_api = WIRE_ANTHROPIC;
	m.raw = strdup(raw);
	m.raw_len = strlen(raw);
	ck_assert_int_eq(transcript_add(t, &m, NULL), 0);
	msg_release(&m);
}

static int load(struct history *h, struct ak_err *err)
{
	struct transcript_head head = { 0 };
	struct transcript t;
	int rc = transcript_load(&t, dir, &head, h, err);

	transcript_head_release(&head);
	transcript_close(&t);
	return rc;
}

static void append(const char *text)
{
	int fd = openat(dir, TRANSCRIPT_FILE, O_WRONLY | O_APPEND | O_CLOEXEC);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
}

START_TEST(what_was_written_is_read_and_raw_turns_keep_every_byte)
{
	static const char raw[] = "[{\"type\":\"thinking\",\"signature\":\"\\u00e9\\ud800 x\"},  1.0e5]";
	struct transcript t;
	struct history h = { 0 };
	struct msg m = { .role = MSG_USER };
	struct stat st;

	create(&t);
	add_user(&t, "go\n\xc3\xa9");
	add_calls(&t, raw);
	ck_assert_int_eq(msg_add_result(&m, "c1", "one", 3, false), 0);
	ck_assert_int_eq(msg_add_result(&m, "c2", "two", 3, true), 0);
	ck_assert_int_eq(transcript_add(&t, &m, NULL), 0);
	msg_release(&m);
	transcript_close(&t);
	ck_assert_int_eq(load(&h, NULL), 0);
	ck_assert_uint_eq(h.n, 3);
	ck_assert_str_eq(h.v[0].text, "go\n\xc3\xa9");
	ck_assert_str_eq(h.v[1].raw, raw);
	ck_assert_int_eq(h.v[1].raw_api, WIRE_ANTHROPIC);
	ck_assert_str_eq(h.v[1].calls[1].args, "{\"command\":\"a\\\"b\"}");
	ck_assert(h.v[2].results[1].is_error);
	history_release(&h);
	ck_assert_int_eq(fstatat(dir, TRANSCRIPT_FILE, &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(open_calls_are_answered_once_and_for_good)
{
	struct transcript t;
	struct history h = { 0 };

	create(&t);
	add_user(&t, "go");
	add_calls(&t, "[]");
	transcript_close(&t);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(load(&h, NULL), 0);
		ck_assert_uint_eq(h.n, 3);
		ck_assert_uint_eq(h.v[2].nresults, 2);
		ck_assert_str_eq(h.v[2].results[0].text, TRANSCRIPT_OPEN_CALL);
		ck_assert_int_eq(history_check(&h, NULL), 0);
		history_release(&h);
	}
}
END_TEST

START_TEST(a_torn_last_line_is_cut)
{
	struct transcript t;
	struct history h = { 0 };

	create(&t);
	add_user(&t, "go");
	transcript_close(&t);
	append("{\"role\":\"assis");
	ck_assert_int_eq(load(&h, NULL), 0);
	ck_assert_uint_eq(h.n, 1);
	history_release(&h);
	append("{\"role\":\"assistant\",\"text\":\"x\"}\n");
	ck_assert_int_eq(load(&h, NULL), 0);
	ck_assert_uint_eq(h.n, 2);
	history_release(&h);
}
END_TEST

START_TEST(user_turns_in_a_row_become_one)
{
	struct transcript t;
	struct history h = { 0 };

	create(&t);
	add_user(&t, "one");
	add_user(&t, "two");
	transcript_close(&t);
	ck_assert_int_eq(load(&h, NULL), 0);
	ck_assert_uint_eq(h.n, 1);
	ck_assert_str_eq(h.v[0].text, "one\n\ntwo");
	history_release(&h);
}
END_TEST

START_TEST(what_is_no_transcript_is_named)
{
	static const char *const bad[] = { "{\"role\":\"system\"}\n", "no json\n", "{\"role\":\"assistant\",\"raw\":\"x\",\"api\":\"y\"}\n",
					   "{\"role\":\"assistant\",\"calls\":[{\"id\":\"a\"}]}\n", "{\"role\":7}\n" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct transcript t;
		struct history h = { 0 };
		struct ak_err err = { 0 };

		create(&t);
		transcript_close(&t);
		append(bad[i]);
		ck_assert_int_eq(load(&h, &err), -EBADMSG);
		ck_assert_ptr_nonnull(strstr(err.msg, "line 2 of the transcript"));
		history_release(&h);
		(void)unlinkat(dir, TRANSCRIPT_FILE, 0);
	}
}
END_TEST

START_TEST(there_is_one_file_and_no_link)
{
	struct transcript t;
	struct transcript_head head = { .workspace = (char *)(uintptr_t)"/w", .model = (char *)(uintptr_t)"m", .system = (char *)(uintptr_t)"s" };
	struct history h = { 0 };

	create(&t);
	transcript_close(&t);
	ck_assert_int_eq(transcript_create(&t, dir, &head, NULL), -EEXIST);
	transcript_close(&t);
	(void)unlinkat(dir, TRANSCRIPT_FILE, 0);
	ck_assert_int_eq(load(&h, NULL), -ENOENT);
	ck_assert_int_eq(symlinkat("/etc/passwd", dir, TRANSCRIPT_FILE), 0);
	ck_assert_int_eq(load(&h, NULL), -ELOOP);
	ck_assert_int_eq(transcript_create(&t, -1, &head, NULL), 0);
	transcript_close(&t);
}
END_TEST

START_TEST(what_stands_before_a_clearing_is_not_read_again)
{
	struct transcript t;
	struct history h = { 0 };

	create(&t);
	add_user(&t, "old");
	add_calls(&t, "[]"); /* open calls, too */
	ck_assert_int_eq(transcript_cleared(&t, NULL), 0);
	add_user(&t, "new");
	transcript_close(&t);
	ck_assert_int_eq(load(&h, NULL), 0);
	ck_assert_uint_eq(h.n, 1);
	ck_assert_str_eq(h.v[0].text, "new");
	history_release(&h);
	(void)unlinkat(dir, TRANSCRIPT_FILE, 0);
	create(&t);
	ck_assert_int_eq(transcript_cleared(&t, NULL), 0);
	transcript_close(&t);
	ck_assert_int_eq(load(&h, NULL), 0);
	ck_assert_uint_eq(h.n, 0);
	t.fd = -1;
	ck_assert_int_eq(transcript_cleared(&t, NULL), 0);
}
END_TEST

START_TEST(the_model_is_the_one_used_last)
{
	struct transcript_head first = { .workspace = (char *)(uintptr_t)"/w", .system = (char *)(uintptr_t)"s", .model = (char *)(uintptr_t)"m/1",
					 .provider = (char *)(uintptr_t)"corp", .api = (char *)(uintptr_t)"chat" };
	struct transcript_head next = { .model = (char *)(uintptr_t)"m2", .provider = (char *)(uintptr_t)"h.example", .base_url = (char *)(uintptr_t)"" };
	struct transcript_head h = { 0 };
	struct transcript t;
	struct history hist = { 0 };
	struct ak_err err = { 0 };

	ck_assert_int_eq(transcript_create(&t, dir, &first, NULL), 0);
	transcript_close(&t);
	ck_assert_int_eq(transcript_load(&t, dir, &h, &hist, NULL), 0);
	ck_assert_str_eq(h.model, "m/1");
	ck_assert_str_eq(h.provider, "corp");
	ck_assert_str_eq(h.api, "chat");
	ck_assert_ptr_null(h.base_url);
	transcript_head_release(&h);
	add_user(&t, "go");
	ck_assert_int_eq(transcript_uses(&t, &next, NULL), 0);
	add_user(&t, "on");
	transcript_close(&t);
	ck_assert_int_eq(transcript_load(&t, dir, &h, &hist, NULL), 0);
	transcript_close(&t);
	ck_assert_str_eq(h.workspace, "/w");
	ck_assert_str_eq(h.system, "s");
	ck_assert_str_eq(h.model, "m2");
	ck_assert_str_eq(h.provider, "h.example");
	ck_assert_ptr_null(h.api);
	ck_assert_str_eq(h.base_url, "");
	transcript_head_release(&h);
	ck_assert_uint_eq(hist.n, 1);
	history_release(&hist);
	append("{\"uses\":{\"provider\":\"x\"}}\n");
	ck_assert_int_eq(load(&hist, &err), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(err.msg, "no model is named"));
	history_release(&hist);
	t.fd = -1;
	ck_assert_int_eq(transcript_uses(&t, &next, NULL), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("transcript");
	TCase *tc = tcase_create("transcript");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, set_up, take_down);
	tcase_add_test(tc, what_was_written_is_read_and_raw_turns_keep_every_byte);
	tcase_add_test(tc, open_calls_are_answered_once_and_for_good);
	tcase_add_test(tc, a_torn_last_line_is_cut);
	tcase_add_test(tc, user_turns_in_a_row_become_one);
	tcase_add_test(tc, what_is_no_transcript_is_named);
	tcase_add_test(tc, what_stands_before_a_clearing_is_not_read_again);
	tcase_add_test(tc, the_model_is_the_one_used_last);
	tcase_add_test(tc, there_is_one_file_and_no_link);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
