/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of first-touch copies: the earliest state wins, what was not there goes, a crash loses nothing. */
#include "executor/workspace/touched.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"

static char top[64], ws[80], session[80];
static int root;
static struct touched t;
static struct ak_err err;

static const char *at(const char *path)
{
	static char full[4][512];
	static unsigned turn;
	char *p = full[turn++ % 4];

	(void)snprintf(p, sizeof(full[0]), "%s/%s", ws, path);
	return p;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(at(path), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void is(const char *path, const char *want)
{
	char got[64] = "";
	FILE *f = fopen(at(path), "r");

	ck_assert_msg(f != NULL, "%s is missing", path);
	(void)!fgets(got, sizeof(got), f);
	(void)fclose(f);
	ck_assert_str_eq(got, want);
}

static void begin(void)
{
	t = (struct touched)TOUCHED_NONE;
	ck_assert_msg(touched_open(open(session, O_RDONLY | O_DIRECTORY), root, &t, &err) == 0, "%s", err.msg);
}

/* the process is gone and another one goes on */
static void crash(void)
{
	touched_close(&t);
	begin();
}

static void setup(void)
{
	(void)snprintf(top, sizeof(top), "/tmp/ak-touched-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	(void)snprintf(ws, sizeof(ws), "%s/ws", top);
	(void)snprintf(session, sizeof(session), "%s/session", top);
	ck_assert_int_eq(mkdir(ws, 0755) | mkdir(session, 0700) | mkdir(at("d"), 0755), 0);
	root = open(ws, O_RDONLY | O_DIRECTORY);
	put("a", "old");
	put("d/b", "old b");
	ck_assert_int_eq(chmod(at("a"), 0751), 0);
	begin();
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void teardown(void)
{
	touched_close(&t);
	(void)close(root);
	(void)nftw(top, drop, 16, FTW_DEPTH | FTW_PHYS);
}

START_TEST(the_first_touch_wins)
{
	size_t n = 9;
	struct stat st;

	ck_assert_int_eq(touched_record(&t, "a", &err), 0);
	put("a", "first edit");
	ck_assert_int_eq(touched_record(&t, "a", &err), 0);
	put("a", "second edit");
	ck_assert_int_eq(chmod(at("a"), 0600), 0);
	ck_assert_int_eq(touched_record(&t, "new", &err), 0);
	put("new", "made by a tool");
	ck_assert_uint_eq(touched_pending(&t), 2);
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	ck_assert_uint_eq(n, 2);
	is("a", "old");
	ck_assert_int_eq(stat(at("a"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0751);
	ck_assert_int_lt(access(at("new"), F_OK), 0);
	ck_assert_uint_eq(touched_pending(&t), 0);
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(what_is_not_there_any_more_is_not_counted)
{
	size_t n = 9;

	ck_assert_int_eq(touched_record(&t, "new", &err), 0);
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(a_crash_loses_nothing)
{
	char list[128];
	size_t n = 0;
	int fd;

	ck_assert_int_eq(touched_record(&t, "a", &err), 0);
	put("a", "edit");
	ck_assert_int_eq(touched_record(&t, "d/n", &err), 0);
	crash();
	ck_assert_uint_eq(touched_pending(&t), 2);
	ck_assert_int_eq(touched_record(&t, "a", &err), 0);	/* still the earliest */
	/* killed in the middle of a record */
	(void)snprintf(list, sizeof(list), "%s/list", session);
	fd = open(list, O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(fd, "uotk\0\0\0", 7), 7);
	(void)close(fd);
	crash();
	ck_assert_uint_eq(touched_pending(&t), 2);
	ck_assert_int_eq(touched_record(&t, "d/b", &err), 0);
	put("d/b", "edit");
	put("d/n", "made");
	crash();
	ck_assert_uint_eq(touched_pending(&t), 3);
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	ck_assert_uint_eq(n, 3);
	is("a", "old");
	is("d/b", "old b");
	ck_assert_int_lt(access(at("d/n"), F_OK), 0);
	crash();
	ck_assert_uint_eq(touched_pending(&t), 0);
}
END_TEST

START_TEST(deleted_files_and_their_folders_come_back)
{
	size_t n = 0;

	ck_assert_int_eq(touched_record(&t, "d/b", &err), 0);
	ck_assert_int_eq(unlink(at("d/b")) | rmdir(at("d")), 0);
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	is("d/b", "old b");
	ck_assert_uint_eq(n, 1);
}
END_TEST

START_TEST(links_are_never_followed)
{
	size_t n = 0;
	char text[128] = "";

	ck_assert_int_eq(symlink("/etc/hostname", at("l")), 0);
	ck_assert_int_eq(touched_record(&t, "l", &err), 0);
	ck_assert_int_eq(unlink(at("l")), 0);
	put("l", "a file now");
	ck_assert_int_eq(touched_record(&t, "d/x", &err), 0);
	/* the folder becomes a link to outside: nothing is removed or written there */
	ck_assert_int_eq(rename(at("d"), at("e")), 0);
	ck_assert_int_eq(symlink(session, at("d")), 0);
	(void)snprintf(text, sizeof(text), "%s/x", session);
	ck_assert_int_ge(open(text, O_WRONLY | O_CREAT, 0600), 0);
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	ck_assert_int_eq(access(text, F_OK), 0);
	ck_assert_int_eq(readlink(at("l"), text, sizeof(text)), 13);
	ck_assert_int_eq(touched_record(&t, "d/y", &err), -ELOOP);
}
END_TEST

START_TEST(what_tools_do_not_change_is_refused)
{
	ck_assert_int_eq(mkfifo(at("fifo"), 0600), 0);
	ck_assert_int_eq(touched_record(&t, "fifo", &err), -EINVAL);
	ck_assert_int_eq(touched_record(&t, "d", &err), -EINVAL);
	ck_assert_int_eq(touched_record(&t, "../x", &err), -EINVAL);
	ck_assert_int_eq(touched_record(&t, "/x", &err), -EINVAL);
	ck_assert_int_eq(touched_record(&t, "", &err), -EINVAL);
	ck_assert_uint_eq(touched_pending(&t), 0);
}
END_TEST

static int spoil(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)type;
	(void)ftw;
	return S_ISREG(st->st_mode) && truncate(path, 1) < 0 && (chmod(path, 0600) < 0 || truncate(path, 1) < 0);
}

START_TEST(a_damaged_copy_is_not_put_back)
{
	char objects[128];
	size_t n = 0;

	ck_assert_int_eq(touched_record(&t, "a", &err), 0);
	put("a", "edit");
	(void)snprintf(objects, sizeof(objects), "%s/objects", session);
	ck_assert_int_eq(nftw(objects, spoil, 16, FTW_PHYS), 0);
	ck_assert_int_eq(touched_rollback(&t, &n, &err), -EBADMSG);
	is("a", "edit");
	ck_assert_uint_eq(touched_pending(&t), 1);
}
END_TEST

START_TEST(what_cannot_be_taken_back_stays_and_the_rest_goes)
{
	size_t n = 9;

	put("b", "old b");
	put("c", "old c");
	ck_assert_int_eq(touched_record(&t, "a", &err) | touched_record(&t, "d/b", &err) | touched_record(&t, "b", &err), 0);
	ck_assert_int_eq(touched_record(&t, "new", &err) | touched_record(&t, "c", &err), 0);
	put("b", "edit");
	put("new", "made");
	put("c", "edit");
	/* a folder with something in it, and a file where the folder was */
	ck_assert_int_eq(unlink(at("a")) | mkdir(at("a"), 0755) | unlink(at("d/b")) | rmdir(at("d")), 0);
	put("a/q", "q");
	put("d", "in the way");
	ck_assert_int_lt(touched_rollback(&t, &n, &err), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_ptr_nonnull(strstr(err.msg, "take back 2 file(s)"));
	ck_assert_ptr_nonnull(strstr(err.msg, "\"a\": Is a directory"));
	ck_assert_ptr_nonnull(strstr(err.msg, "\"d/b\": Not a directory"));
	ck_assert_ptr_nonnull(strstr(err.msg, "3 others"));
	is("b", "old b");
	is("c", "old c");
	is("a/q", "q");
	is("d", "in the way");
	ck_assert_int_lt(access(at("new"), F_OK), 0);
	ck_assert_uint_eq(touched_pending(&t), 2);
	crash();
	ck_assert_uint_eq(touched_pending(&t), 2);
	ck_assert_int_eq(touched_record(&t, "b", &err), 0);	/* as it is now, and appended to what is left */
	put("b", "new edit");
	crash();
	ck_assert_uint_eq(touched_pending(&t), 3);
	ck_assert_int_eq(unlink(at("a/q")) | rmdir(at("a")) | unlink(at("d")), 0);
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	ck_assert_uint_eq(n, 3);
	is("a", "old");
	is("b", "old b");
	is("d/b", "old b");
	crash();
	ck_assert_uint_eq(touched_pending(&t), 0);
}
END_TEST

/* a tool made a file where a folder was that another one is in */
START_TEST(one_may_be_in_the_way_of_another)
{
	size_t n = 0;

	ck_assert_int_eq(touched_record(&t, "d/b", &err), 0);
	ck_assert_int_eq(unlink(at("d/b")) | rmdir(at("d")), 0);
	ck_assert_int_eq(touched_record(&t, "d", &err), 0);
	put("d", "made");
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	ck_assert_uint_eq(n, 2);
	is("d/b", "old b");
}
END_TEST

/* what a killed rollback wrote down and made is removed beside the files, and nothing else, whatever it is called */
START_TEST(only_what_is_ours_is_removed)
{
	char name[128];
	size_t n = 0;
	FILE *f;

	put(".ak-rollback", "the user's");
	put(".ak-00000000000000ab.tmp", "the user's");
	ck_assert_int_eq(touched_record(&t, "a", &err) | touched_record(&t, "d/b", &err), 0);
	put("a", "edit");
	put("d/b", "edit");
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	ck_assert_uint_eq(n, 2);
	is(".ak-rollback", "the user's");
	is(".ak-00000000000000ab.tmp", "the user's");
	ck_assert_int_eq(touched_record(&t, "d/b", &err), 0);
	(void)snprintf(name, sizeof(name), "%s/making", session);
	for (int whole = 0; whole < 2; whole++) {
		put("d/.ak-00000000000000cd.tmp", "half");
		put("d/b", "edit");
		f = fopen(name, "w");
		ck_assert_ptr_nonnull(f);
		(void)fputs(whole ? ".ak-00000000000000cd.tmp" : ".ak-00000000000000cd.tm", f);
		(void)fclose(f);
		crash();
		ck_assert_int_eq(access(at("d/.ak-00000000000000cd.tmp"), F_OK), whole ? -1 : 0);
		ck_assert_int_lt(access(name, F_OK), 0);
		is(".ak-00000000000000ab.tmp", "the user's");
	}
	f = fopen(name, "w");
	ck_assert_ptr_nonnull(f);
	(void)fputs("b", f);
	(void)fclose(f);
	crash();
	is("d/b", "edit");
	ck_assert_int_eq(touched_rollback(&t, &n, &err), 0);
	is("d/b", "old b");
	ck_assert_int_lt(access(name, F_OK), 0);
}
END_TEST

START_TEST(texts)
{
	char text[80];

	touched_text(0, 0, text, sizeof(text));
	ck_assert_str_eq(text, "Nothing to roll back — no files have been modified.");
	touched_text(3, 2, text, sizeof(text));
	ck_assert_str_eq(text, "Rolled back 2 file(s) to their pre-edit state.");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("touched");
	TCase *c = tcase_create("touched");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, the_first_touch_wins);
	tcase_add_test(c, what_is_not_there_any_more_is_not_counted);
	tcase_add_test(c, a_crash_loses_nothing);
	tcase_add_test(c, deleted_files_and_their_folders_come_back);
	tcase_add_test(c, links_are_never_followed);
	tcase_add_test(c, what_tools_do_not_change_is_refused);
	tcase_add_test(c, a_damaged_copy_is_not_put_back);
	tcase_add_test(c, what_cannot_be_taken_back_stays_and_the_rest_goes);
	tcase_add_test(c, one_may_be_in_the_way_of_another);
	tcase_add_test(c, only_what_is_ours_is_removed);
	tcase_add_test(c, texts);
	suite_add_tcase(s, c);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
