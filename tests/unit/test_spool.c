/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of spools: where they lie, who may read them, what is in them, and what a full disk or quota does. */
#include "agent/spool.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

static char place[] = "/tmp/ak-spool-XXXXXX";
static int session = -1;

static void make_place(void)
{
	memcpy(place + sizeof(place) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(place));
	session = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(session, 0);
}

static void remove_place(void)
{
	char cmd[128];

	(void)close(session);
	(void)snprintf(cmd, sizeof(cmd), "%s/spool", place);
	for (unsigned i = 1; i < 20; i++) {
		char name[160];

		(void)snprintf(name, sizeof(name), "%s/%06u.txt", cmd, i);
		(void)unlink(name);
	}
	(void)unlink(cmd);
	(void)rmdir(cmd);
	(void)rmdir(place);
}

static char *content(const char *name)
{
	char path[160];
	char *text = NULL;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/%s", place, name);
	ck_assert_int_eq(ak_read_file(path, 1 << 20, &text, &len), 0);
	return text;
}

static struct spool_dir open_dir(uint64_t quota)
{
	struct spool_dir d;

	ck_assert_int_eq(spool_dir_open(&d, session, quota, NULL), 0);
	return d;
}

static const char *spool(struct spool *s, struct spool_dir *d, const char *text, bool keep)
{
	spool_begin(s, d);
	for (size_t i = 0; text[i]; i++)
		spool_feed(s, text + i, 1);
	return spool_end(s, keep);
}

START_TEST(LOG_03_the_text_is_stored_redacted)
{
	struct spool_dir d = open_dir(SPOOL_QUOTA);
	static struct spool s;
	char *text;

	ck_assert_str_eq(spool(&s, &d, "a API_KEY=abcdefghijkl b", true), "spool/000001.txt");
	text = content("spool/000001.txt");
	ck_assert_str_eq(text, "a API_KEY=[REDACTED] b");
	free(text);
	ck_assert_str_eq(spool(&s, &d, "second", true), "spool/000002.txt");
	spool_dir_close(&d);
}
END_TEST

START_TEST(LOG_01_files_are_0600_and_the_folder_0700_whatever_the_umask)
{
	mode_t old = umask(0);
	struct spool_dir d = open_dir(SPOOL_QUOTA);
	static struct spool s;
	struct stat st;

	ck_assert_ptr_nonnull(spool(&s, &d, "x", true));
	(void)umask(old);
	ck_assert_int_eq(fstatat(session, "spool", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(fstatat(session, "spool/000001.txt", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	spool_dir_close(&d);
}
END_TEST

START_TEST(what_is_not_kept_leaves_no_file)
{
	struct spool_dir d = open_dir(1000);
	static struct spool s;
	struct stat st;

	ck_assert_ptr_null(spool(&s, &d, "0123456789", false));
	ck_assert_int_lt(fstatat(session, "spool/000001.txt", &st, 0), 0);
	ck_assert_uint_eq(d.quota, 1000);
	ck_assert_int_eq(d.refused, 0);
	spool_dir_close(&d);
}
END_TEST

START_TEST(numbers_and_quota_go_on_where_an_earlier_run_ended)
{
	struct spool_dir d = open_dir(1000);
	static struct spool s;

	ck_assert_ptr_nonnull(spool(&s, &d, "0123456789", true));
	spool_dir_close(&d);
	d = open_dir(1000);
	ck_assert_uint_eq(d.quota, 990);
	ck_assert_str_eq(spool(&s, &d, "x", true), "spool/000002.txt");
	spool_dir_close(&d);
}
END_TEST

START_TEST(what_goes_over_the_quota_is_cut_and_says_so)
{
	struct spool_dir d = open_dir(15);
	static struct spool s;
	char *text;

	ck_assert_ptr_nonnull(spool(&s, &d, "0123456789", true));
	ck_assert_int_eq(d.refused, 0);
	ck_assert_ptr_nonnull(spool(&s, &d, "abcdefghij", true));
	text = content("spool/000002.txt");
	ck_assert_ptr_eq(strstr(text, "abcde\n[cut here"), text);
	free(text);
	ck_assert_int_eq(d.refused, EDQUOT);
	ck_assert_ptr_null(spool(&s, &d, "x", true));
	spool_dir_close(&d);
}
END_TEST

START_TEST(a_full_disk_costs_the_file_and_nothing_else)
{
	struct spool_dir d = open_dir(SPOOL_QUOTA);
	struct rlimit old, small = { 1000, 1000 };
	static struct spool s;
	struct stat st;
	char text[3000];

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert_ptr_null(spool(&s, &d, text, true));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_int_eq(d.refused, EFBIG);
	ck_assert_int_lt(fstatat(session, "spool/000001.txt", &st, 0), 0);
	ck_assert_ptr_nonnull(spool(&s, &d, text, true));
	spool_dir_close(&d);
}
END_TEST

START_TEST(links_are_not_followed)
{
	struct spool_dir d = { .fd = 77 };
	struct ak_err err = { 0 };

	ck_assert_int_eq(symlinkat("/tmp", session, "spool"), 0);
	ck_assert_int_lt(spool_dir_open(&d, session, 10, &err), 0);
	ck_assert_str_ne(err.msg, "");
	ck_assert_int_eq(d.fd, 77);
}
END_TEST

START_TEST(without_a_folder_nothing_is_stored)
{
	struct spool_dir d;
	static struct spool s;

	ck_assert_int_eq(spool_dir_open(&d, -1, SPOOL_QUOTA, NULL), 0);
	ck_assert_ptr_null(spool(&s, &d, "x", true));
	ck_assert_int_eq(d.refused, 0);
	spool_dir_close(&d);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spool");
	TCase *t = tcase_create("spool");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, make_place, remove_place);
	tcase_add_test(t, LOG_03_the_text_is_stored_redacted);
	tcase_add_test(t, LOG_01_files_are_0600_and_the_folder_0700_whatever_the_umask);
	tcase_add_test(t, what_is_not_kept_leaves_no_file);
	tcase_add_test(t, numbers_and_quota_go_on_where_an_earlier_run_ended);
	tcase_add_test(t, what_goes_over_the_quota_is_cut_and_says_so);
	tcase_add_test(t, a_full_disk_costs_the_file_and_nothing_else);
	tcase_add_test(t, links_are_not_followed);
	tcase_add_test(t, without_a_folder_nothing_is_stored);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
