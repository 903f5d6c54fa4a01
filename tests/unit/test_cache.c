/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the cache of ak-policy's answers: bytes come back, and nothing is taken from where others could have put it. */
#include "executor/cache.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64], state[96];

static void begin(void)
{
	snprintf(top, sizeof(top), "/tmp/ak-test-cache.XXXXXX");
	ck_assert(mkdtemp(top) != NULL);
	snprintf(state, sizeof(state), "%s/a/b", top);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void end(void)
{
	ck_assert_int_eq(nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static const char *in(const char *rest)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", state, rest);
	return path;
}

static int get(const char *name, size_t max, char **ret)
{
	size_t len = 4711;
	int r = cache_get(state, "kind", name, max, ret, &len);

	ck_assert(r < 0 ? len == 4711 : len == strlen("bytes"));
	return r;
}

START_TEST(what_was_put_comes_back)
{
	char *p = NULL;
	struct stat st;

	ck_assert_int_eq(get("x", 100, &p), -ENOENT);
	cache_put(state, "kind", "x", "older", 5);
	cache_put(state, "kind", "x", "bytes", 5);
	ck_assert_int_eq(get("x", 100, &p), 0);
	ck_assert_int_eq(memcmp(p, "bytes", 5), 0);
	free(p);
	ck_assert_int_eq(stat(in("kind"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	ck_assert_int_eq(stat(in("kind/x"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(get("y", 100, &p), -ENOENT);
}
END_TEST

START_TEST(sizes_at_and_over_the_maximum)
{
	char *p = (char *)1;

	cache_put(state, "kind", "x", "bytes", 5);
	ck_assert_int_eq(get("x", 4, &p), -E2BIG);
	ck_assert(p == (char *)1);
	ck_assert_int_eq(get("x", 5, &p), 0);
	free(p);
}
END_TEST

/* its size is no promise: this one says that it is empty */
START_TEST(more_than_was_expected_is_read)
{
	char *p = NULL;
	size_t len = 0;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(cache_read_whole(fd, 65536, &p, &len), 0);
	ck_assert_uint_gt(len, 100);
	free(p);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(cache_read_whole(fd, 100, &p, &len), -E2BIG);
	(void)close(fd);
}
END_TEST

START_TEST(a_folder_that_others_may_enter_is_no_cache)
{
	char *p = NULL;

	cache_put(state, "kind", "x", "bytes", 5);
	ck_assert_int_eq(chmod(in("kind"), 0710), 0);
	ck_assert_int_eq(get("x", 100, &p), -EPERM);
	cache_put(state, "kind", "y", "bytes", 5);	/* nor is anything left there */
	ck_assert_int_eq(access(in("kind/y"), F_OK), -1);
	ck_assert_int_eq(chmod(in("kind"), 0700), 0);
	ck_assert_int_eq(get("x", 100, &p), 0);
	free(p);
}
END_TEST

START_TEST(neither_links_nor_fifos_are_entries)
{
	char to[PATH_MAX], *p = NULL;

	cache_put(state, "kind", "x", "bytes", 5);
	snprintf(to, sizeof(to), "%s", in("kind/x"));
	ck_assert_int_eq(symlink(to, in("kind/link")), 0);
	ck_assert_int_eq(get("link", 100, &p), -ELOOP);
	ck_assert_int_eq(mkfifo(in("kind/fifo"), 0600), 0);
	ck_assert_int_eq(get("fifo", 100, &p), -EINVAL);	/* and it does not wait */
	snprintf(to, sizeof(to), "%s", in("kind"));
	ck_assert_int_eq(rename(to, in("other")), 0);
	ck_assert_int_eq(symlink("other", in("kind")), 0);
	ck_assert(get("x", 100, &p) == -ELOOP || get("x", 100, &p) == -ENOTDIR);
}
END_TEST

START_TEST(a_kind_is_dropped_with_its_entries)
{
	char *p = NULL, path[128];

	cache_put(state, "kind", "x", "bytes", 5);
	cache_put(state, "kind", "y", "bytes", 5);
	cache_put(state, "kept", "x", "bytes", 5);
	cache_drop(state, "kind");
	snprintf(path, sizeof(path), "%s/kind", state);
	ck_assert_int_eq(access(path, F_OK), -1);
	cache_drop(state, "kind"); /* there is none */
	ck_assert_int_eq(rename(in("kept"), path), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
	cache_drop(state, "kind"); /* not ours alone */
	ck_assert_int_eq(chmod(path, 0700), 0);
	ck_assert_int_eq(get("x", 100, &p), 0);
	free(p);
}
END_TEST

START_TEST(without_a_state_folder_there_is_none)
{
	char *p = NULL;
	size_t len;

	ck_assert_int_eq(cache_get(NULL, "kind", "x", 100, &p, &len), -ENOENT);
	cache_put(NULL, "kind", "x", "bytes", 5);
	ck_assert(p == NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cache");
	TCase *t = tcase_create("cache");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, what_was_put_comes_back);
	tcase_add_test(t, sizes_at_and_over_the_maximum);
	tcase_add_test(t, more_than_was_expected_is_read);
	tcase_add_test(t, a_folder_that_others_may_enter_is_no_cache);
	tcase_add_test(t, neither_links_nor_fifos_are_entries);
	tcase_add_test(t, a_kind_is_dropped_with_its_entries);
	tcase_add_test(t, without_a_state_folder_there_is_none);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
