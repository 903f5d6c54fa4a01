/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of what is known of the caller. */
#include "executor/hostinfo.h"

#include <check.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"

static char top[PATH_MAX];
static char rows[4][PATH_MAX + 32];
static char *env[5];
static struct hostinfo h;
static struct ak_err e;

static void setup(void)
{
	char template[] = "/tmp/ak-host-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(template));
	ck_assert_ptr_nonnull(realpath(template, top));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static void teardown(void)
{
	hostinfo_release(&h);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static char *at(const char *name)
{
	static char ring[8][PATH_MAX];
	static unsigned next;
	char *text = ring[next++ % 8];

	ck_assert_int_lt(snprintf(text, PATH_MAX, "%s/%s", top, name), PATH_MAX);
	return text;
}

/* Up to four "NAME", "value" pairs, NULL at the end */
static void get(const char *const *pairs)
{
	size_t n = 0;

	for (; pairs[0]; pairs += 2, n++) {
		ck_assert_uint_lt(n, 4);
		ck_assert_int_lt(snprintf(rows[n], sizeof(rows[n]), "%s=%s", pairs[0], pairs[1]),
				 (int)sizeof(rows[n]));
		env[n] = rows[n];
	}
	env[n] = NULL;
	hostinfo_release(&h);
	ck_assert_int_eq(hostinfo_get(env, &h, &e), 0);
}

#define GET(...) get((const char *const[]){__VA_ARGS__, NULL, NULL})

START_TEST(ids_and_names_are_the_callers)
{
	GET("PATH", "/a:/b", "X", "1=2");
	ck_assert_uint_eq(h.uid, geteuid());
	ck_assert_uint_eq(h.gid, getegid());
	ck_assert_int_eq(h.root, geteuid() == 0);
	ck_assert_str_eq(h.path, "/a:/b");
	ck_assert_str_eq(hostinfo_env(&h, "X"), "1=2");
	ck_assert_ptr_null(hostinfo_env(&h, "PAT"));
	ck_assert_ptr_null(hostinfo_env(&h, "PATHS"));
	ck_assert_ptr_nonnull(h.user);
	if (geteuid() == 0) {
		ck_assert_str_eq(h.user, "root");
		ck_assert_str_eq(h.home, "/root");
	}
}
END_TEST

START_TEST(an_unset_path_is_null)
{
	GET("X", "");
	ck_assert_ptr_null(h.path);
}
END_TEST

START_TEST(the_home_is_resolved_where_it_exists)
{
	ck_assert_int_eq(mkdir(at("real"), 0755), 0);
	ck_assert_int_eq(symlink("real", at("link")), 0);
	GET("HOME", at("link/"));
	ck_assert_str_eq(h.home, at("real"));
	GET("HOME", at("link/none/../other//x"));
	ck_assert_str_eq(h.home, at("real/other/x"));
	GET("HOME", "/none-at-all");
	ck_assert_str_eq(h.home, "/none-at-all");
	GET("HOME", "/");
	ck_assert_str_eq(h.home, "/");
}
END_TEST

START_TEST(a_relative_home_does_not_count)
{
	GET("HOME", "relative");
	ck_assert_int_eq(h.home[0], '/');
	ck_assert_ptr_null(strstr(h.home, "relative"));
}
END_TEST

START_TEST(own_folders_follow_the_home)
{
	char want[PATH_MAX + 32];

	ck_assert_int_eq(mkdir(at("home"), 0755), 0);
	GET("HOME", at("home"), "XDG_STATE_HOME", "relative", "XDG_RUNTIME_DIR", "");
	ck_assert_str_eq(h.state_dir, at("home/.local/state/ak"));
	ck_assert_str_eq(h.config_dir, at("home/.config/ak"));
	ck_assert_int_lt(snprintf(want, sizeof(want), "%s/run", h.state_dir), (int)sizeof(want));
	ck_assert_str_eq(h.runtime_dir, want);
}
END_TEST

START_TEST(own_folders_follow_absolute_variables)
{
	GET("HOME", at("home"), "XDG_STATE_HOME", at("s"), "XDG_CONFIG_HOME", at("c/"), "XDG_RUNTIME_DIR",
	    at("r"));
	ck_assert_str_eq(h.state_dir, at("s/ak"));
	ck_assert_str_eq(h.config_dir, at("c/ak"));
	ck_assert_str_eq(h.runtime_dir, at("r/ak"));
}
END_TEST

START_TEST(own_folders_are_resolved_through_links)
{
	ck_assert_int_eq(mkdir(at("home"), 0755), 0);
	ck_assert_int_eq(mkdir(at("dotfiles"), 0755), 0);
	ck_assert_int_eq(symlink(at("dotfiles"), at("home/.config")), 0);
	GET("HOME", at("home"));
	ck_assert_str_eq(h.config_dir, at("dotfiles/ak"));
}
END_TEST

START_TEST(a_deleted_current_directory_is_no_error)
{
	ck_assert_int_eq(mkdir(at("gone"), 0755), 0);
	ck_assert_int_eq(chdir(at("gone")), 0);
	GET("X", "");
	ck_assert_str_eq(h.cwd, at("gone"));
	ck_assert_int_eq(rmdir(at("gone")), 0);
	GET("X", "");
	ck_assert_ptr_null(h.cwd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hostinfo");
	TCase *t = tcase_create("hostinfo");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, ids_and_names_are_the_callers);
	tcase_add_test(t, an_unset_path_is_null);
	tcase_add_test(t, the_home_is_resolved_where_it_exists);
	tcase_add_test(t, a_relative_home_does_not_count);
	tcase_add_test(t, own_folders_follow_the_home);
	tcase_add_test(t, own_folders_follow_absolute_variables);
	tcase_add_test(t, own_folders_are_resolved_through_links);
	tcase_add_test(t, a_deleted_current_directory_is_no_error);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
