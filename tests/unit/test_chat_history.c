/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the file of typed lines: what comes back, what is masked, whose it is, how large it gets. */
#include "agent/chat_history.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static char folder[64];
static char variable[96];
static char *env[] = { variable, NULL };
static char path[128];

static void set_up(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/ak-history.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(variable, sizeof(variable), "XDG_STATE_HOME=%s", folder);
	(void)snprintf(path, sizeof(path), "%s/ak/" CHAT_HISTORY_FILE, folder);
}

static void take_down(void)
{
	char ak[96];

	(void)snprintf(ak, sizeof(ak), "%s/ak", folder);
	(void)unlink(path);
	(void)rmdir(ak);
	(void)rmdir(folder);
}

static void collect(void *ctx, const char *text)
{
	struct ak_buf *b = ctx;

	ak_buf_printf(b, "<%s>", text);
}

static void holds(int fd, const char *want)
{
	struct ak_buf b = { 0 };

	ck_assert_int_eq(chat_history_load(fd, collect, &b, NULL), 0);
	ck_assert_str_eq(b.data ? b.data : "", want);
	ak_buf_release(&b);
}

static void add(int fd, const char *text)
{
	ck_assert_int_eq(chat_history_add(fd, text, strlen(text), NULL), 0);
}

START_TEST(what_was_added_comes_back_in_order)
{
	struct stat st;
	int fd = chat_history_open(env, NULL);

	ck_assert_int_ge(fd, 0);
	holds(fd, "");
	add(fd, "one");
	add(fd, "two\nlines \\n \\");
	add(fd, "gr\xc3\xbc\xc3\x9f\t\x1b[2J");
	ak_fd_close(&fd);
	fd = chat_history_open(env, NULL);
	holds(fd, "<one><two\nlines \\n \\><gr\xc3\xbc\xc3\x9f\t[2J>");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ak_fd_close(&fd);
}
END_TEST

START_TEST(secrets_are_masked)
{
	int fd = chat_history_open(env, NULL);

	add(fd, "use API_KEY=abcdefghijklmnop1234 for it");
	holds(fd, "<use API_KEY=[REDACTED] for it>");
	ak_fd_close(&fd);
}
END_TEST

START_TEST(without_a_file_nothing_is_stored)
{
	ck_assert_int_eq(chat_history_add(-1, "x", 1, NULL), 0);
}
END_TEST

START_TEST(a_long_entry_is_left_out)
{
	int fd = chat_history_open(env, NULL);
	char *text = calloc(1, CHAT_HISTORY_ENTRY_MAX + 2);
	struct ak_buf b = { 0 };

	memset(text, '\n', CHAT_HISTORY_ENTRY_MAX + 1);
	add(fd, text);
	holds(fd, "");
	text[CHAT_HISTORY_ENTRY_MAX] = '\0';
	add(fd, text);
	ak_fd_close(&fd);
	fd = chat_history_open(env, NULL);
	ck_assert_int_eq(chat_history_load(fd, collect, &b, NULL), 0);
	ck_assert_uint_eq(b.len, CHAT_HISTORY_ENTRY_MAX + 2);
	ak_buf_release(&b);
	ak_fd_close(&fd);
	free(text);
}
END_TEST

START_TEST(torn_and_foreign_lines_do_no_harm)
{
	int fd = chat_history_open(env, NULL);

	ck_assert_int_eq(write(fd, "a\n\nb\0c\nd\\", 9), 9);
	holds(fd, "<a>");
	ak_fd_close(&fd);
}
END_TEST

START_TEST(a_file_of_others_or_none_is_refused)
{
	struct ak_err err = { 0 };
	int fd = chat_history_open(env, NULL);
	struct stat st;

	ak_fd_close(&fd);
	ck_assert_int_eq(chmod(path, 0666), 0);
	fd = chat_history_open(env, NULL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ak_fd_close(&fd);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("/dev/null", path), 0);
	ck_assert_int_eq(chat_history_open(env, &err), -ELOOP);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(chat_history_open(env, &err), -EPERM);
	variable[0] = 'Y';
	ck_assert_int_eq(chat_history_open(env, &err), -ENOENT);
	variable[0] = 'X';
}
END_TEST

START_TEST(a_large_file_loses_its_older_half)
{
	int fd = chat_history_open(env, NULL);
	struct ak_buf b = { 0 };
	struct stat st;
	char line[1024];

	memset(line, 'x', sizeof(line));
	for (unsigned i = 0; i * sizeof(line) <= CHAT_HISTORY_MAX; i++) {
		(void)snprintf(line, 8, "%06u", i);
		line[6] = ' ';
		line[sizeof(line) - 1] = '\n';
		ck_assert_int_eq(write(fd, line, sizeof(line)), (ssize_t)sizeof(line));
	}
	ak_fd_close(&fd);
	fd = chat_history_open(env, NULL);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_le(st.st_size, CHAT_HISTORY_MAX / 2);
	ck_assert_int_gt(st.st_size, CHAT_HISTORY_MAX / 2 - 2 * (off_t)sizeof(line));
	add(fd, "new");
	ck_assert_int_eq(chat_history_load(fd, collect, &b, NULL), 0);
	ck_assert_str_eq(b.data + b.len - 5, "<new>");
	ck_assert_int_eq(strncmp(b.data, "<000513 ", 8), 0);
	ak_buf_release(&b);
	ak_fd_close(&fd);
}
END_TEST

START_TEST(who_holds_the_lock_is_not_waited_for)
{
	int fd = chat_history_open(env, NULL), other = open(path, O_RDWR | O_CLOEXEC);

	add(fd, "one");
	ck_assert_int_eq(flock(other, LOCK_EX), 0);
	ck_assert_int_eq(chat_history_add(fd, "two", 3, NULL), -EWOULDBLOCK);
	ck_assert_int_eq(ftruncate(other, CHAT_HISTORY_MAX + 1), 0);
	ak_fd_close(&fd);
	fd = chat_history_open(env, NULL); /* too large, and stays so */
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(other, 4), 0);
	ck_assert_int_eq(flock(other, LOCK_UN), 0);
	add(fd, "three");
	holds(fd, "<one><three>");
	ak_fd_close(&fd);
	ak_fd_close(&other);
}
END_TEST

static void count(void *ctx, const char *text)
{
	(void)text;
	++*(unsigned *)ctx;
}

START_TEST(so_many_lines_are_read)
{
	int fd = chat_history_open(env, NULL);
	unsigned n = 0;

	for (unsigned i = 0; i < CHAT_HISTORY_LINES + 5; i++)
		ck_assert_int_eq(write(fd, "x\n", 2), 2);
	ck_assert_int_eq(chat_history_load(fd, count, &n, NULL), 0);
	ck_assert_uint_eq(n, CHAT_HISTORY_LINES);
	ak_fd_close(&fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("chat_history");
	TCase *tc = tcase_create("all");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, set_up, take_down);
	tcase_add_test(tc, what_was_added_comes_back_in_order);
	tcase_add_test(tc, secrets_are_masked);
	tcase_add_test(tc, without_a_file_nothing_is_stored);
	tcase_add_test(tc, a_long_entry_is_left_out);
	tcase_add_test(tc, torn_and_foreign_lines_do_no_harm);
	tcase_add_test(tc, a_file_of_others_or_none_is_refused);
	tcase_add_test(tc, who_holds_the_lock_is_not_waited_for);
	tcase_add_test(tc, a_large_file_loses_its_older_half);
	tcase_add_test(tc, so_many_lines_are_read);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
