/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of ak_err and ak_fd. */
#include "executor/shared/ak_err.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"

START_TEST(set_fills_everything_and_returns_the_negative_code)
{
	struct ak_err e = {.hint = "old"};

	ck_assert_int_eq(ak_err_set(&e, EPERM, "no %s", "way"), -EPERM);
	ck_assert_int_eq(e.code, EPERM);
	ck_assert_str_eq(e.msg, "no way");
	ck_assert_str_eq(e.hint, "");
}
END_TEST

START_TEST(null_error_is_allowed)
{
	ck_assert_int_eq(ak_err_set(NULL, EPERM, "x"), -EPERM);
	ck_assert_int_eq(ak_err_sys(NULL, ENOENT, "x"), -ENOENT);
	ck_assert_int_eq(ak_err_wrap(NULL, "x"), -EINVAL);
	ak_err_hint(NULL, "x");
}
END_TEST

START_TEST(sys_appends_text_and_name)
{
	struct ak_err e = {0};

	ck_assert_int_eq(ak_err_sys(&e, ENOENT, "open %s", "/x"), -ENOENT);
	ck_assert_str_eq(e.msg, "open /x: No such file or directory (ENOENT)");
	ck_assert_int_eq(ak_err_sys(&e, 9999, "x"), -9999);
	ck_assert_str_eq(e.msg, "x: unknown error (E?)");
}
END_TEST

START_TEST(sys_keeps_the_cause_behind_a_long_path)
{
	struct ak_err e = {0};
	char path[2000];

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (int code = 1; code < 134; code++) {
		char name[32] = "(";

		(void)ak_err_sys(&e, code, "open %s", path);
		strncat(name, ak_errno_name(code), 20);
		strncat(name, ")", 2);
		ck_assert_msg(strstr(e.msg, name) != NULL, "%s: %s", name, e.msg);
	}
}
END_TEST

START_TEST(wrap_puts_text_in_front_and_keeps_the_rest)
{
	struct ak_err e = {0};

	(void)ak_err_set(&e, EBUSY, "inner");
	ak_err_hint(&e, "try %d", 2);
	ck_assert_int_eq(ak_err_wrap(&e, "outer %d", 1), -EBUSY);
	ck_assert_str_eq(e.msg, "outer 1: inner");
	ck_assert_str_eq(e.hint, "try 2");
	ck_assert_int_eq(e.code, EBUSY);
}
END_TEST

START_TEST(wrap_of_nothing_is_einval_and_changes_nothing)
{
	struct ak_err e = {0};

	ck_assert_int_eq(ak_err_wrap(&e, "outer"), -EINVAL);
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(arguments_may_point_into_the_error)
{
	struct ak_err e = {0};

	(void)ak_err_set(&e, EIO, "first");
	(void)ak_err_set(&e, EIO, "again: %s", e.msg);
	ck_assert_str_eq(e.msg, "again: first");
	(void)ak_err_wrap(&e, "%s", e.msg);
	ck_assert_str_eq(e.msg, "again: first: again: first");
	ak_err_hint(&e, "see %s", e.msg);
	ck_assert_str_eq(e.hint, "see again: first: again: first");
}
END_TEST

START_TEST(control_bytes_become_question_marks)
{
	struct ak_err e = {0};

	(void)ak_err_set(&e, EIO,
			 "a\x1b[31m\nb\x7f\xc2\x9b"
			 "c\xff"
			 "d \xc3\xa9");
	ck_assert_str_eq(e.msg, "a?[31m?b???c?d \xc3\xa9");
	ak_err_hint(&e, "h\r\x9b");
	ck_assert_str_eq(e.hint, "h??");
}
END_TEST

START_TEST(long_text_is_cut_at_a_character)
{
	char text[AK_ERR_MSG_MAX * 2];

	for (size_t lead = 0; lead < 3; lead++) {
		struct ak_err e = {0};
		size_t n = 0;

		while (n < lead)
			text[n++] = 'x';
		for (; n + 4 < sizeof(text); n += 3)
			memcpy(text + n, "\xe2\x82\xac", 3);
		text[n] = '\0';
		(void)ak_err_set(&e, EIO, "%s", text);
		ck_assert_uint_gt(strlen(e.msg), AK_ERR_MSG_MAX - 5);
		ck_assert(ak_utf8_valid(e.msg, strlen(e.msg)));
		ck_assert(strchr(e.msg, '?') == NULL);
		(void)ak_err_wrap(&e, "%s", text);
		ck_assert(ak_utf8_valid(e.msg, strlen(e.msg)));
		ck_assert(strchr(e.msg, '?') == NULL);
	}
}
END_TEST

START_TEST(errno_names)
{
	ck_assert_str_eq(ak_errno_name(ENOENT), "ENOENT");
	ck_assert_str_eq(ak_errno_name(EAGAIN), "EAGAIN");
	ck_assert_str_eq(ak_errno_name(0), "E?");
	ck_assert_str_eq(ak_errno_name(-EPERM), "E?");
	ck_assert_str_eq(ak_errno_name(100000), "E?");
}
END_TEST

START_TEST(close_forgets_the_descriptor_and_keeps_errno)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int old = fd;

	ck_assert_int_ge(fd, 0);
	errno = ENOTTY;
	ak_fd_close(&fd);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(fcntl(old, F_GETFD), -1);
	ak_fd_close(&fd);
	ck_assert_int_eq(fd, -1);
}
END_TEST

START_TEST(take_and_scope_end)
{
	int kept, gone;

	{
		AK_AUTO_FD a = open("/dev/null", O_RDONLY | O_CLOEXEC);
		AK_AUTO_FD b = open("/dev/null", O_RDONLY | O_CLOEXEC);

		gone = b;
		kept = ak_fd_take(&a);
		ck_assert_int_eq(a, -1);
	}
	ck_assert_int_ge(fcntl(kept, F_GETFD), 0);
	ck_assert_int_eq(fcntl(gone, F_GETFD), -1);
	ak_fd_close(&kept);
}
END_TEST

START_TEST(write_all_writes_more_than_a_pipe_holds)
{
	enum { LEN = 1 << 20 };
	char *data = calloc(1, LEN);
	size_t got = 0;
	char block[4096];
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	if (fork() == 0) {
		close(p[0]);
		_exit(ak_write_all(p[1], data, LEN) == 0 ? 0 : 1);
	}
	close(p[1]);
	for (ssize_t n; (n = read(p[0], block, sizeof(block))) > 0;)
		got += (size_t)n;
	ck_assert_uint_eq(got, LEN);
	close(p[0]);
	free(data);
}
END_TEST

START_TEST(write_all_gives_the_errno)
{
	int p[2];

	ck_assert_int_eq(ak_write_all(-1, "x", 1), -EBADF);
	ck_assert_int_eq(ak_write_all(-1, "x", 0), 0);
	ck_assert_int_eq(pipe2(p, O_NONBLOCK), 0);

	char *big = calloc(1, 1 << 21);

	ck_assert_int_eq(ak_write_all(p[1], big, 1 << 21), -EAGAIN);
	free(big);
	close(p[0]);
	close(p[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("err");
	TCase *t = tcase_create("err");

	tcase_add_test(t, set_fills_everything_and_returns_the_negative_code);
	tcase_add_test(t, null_error_is_allowed);
	tcase_add_test(t, sys_appends_text_and_name);
	tcase_add_test(t, sys_keeps_the_cause_behind_a_long_path);
	tcase_add_test(t, wrap_puts_text_in_front_and_keeps_the_rest);
	tcase_add_test(t, wrap_of_nothing_is_einval_and_changes_nothing);
	tcase_add_test(t, arguments_may_point_into_the_error);
	tcase_add_test(t, control_bytes_become_question_marks);
	tcase_add_test(t, long_text_is_cut_at_a_character);
	tcase_add_test(t, errno_names);
	tcase_add_test(t, close_forgets_the_descriptor_and_keeps_errno);
	tcase_add_test(t, take_and_scope_end);
	tcase_add_test(t, write_all_writes_more_than_a_pipe_holds);
	tcase_add_test(t, write_all_gives_the_errno);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
