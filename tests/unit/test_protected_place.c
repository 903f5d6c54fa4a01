/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace is judged by where it lies. */
#include "executor/workspace/protected_place.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/workspace/fsat.h"

static char top[64];
static struct protected_place place;

static void setup(void)
{
	(void)snprintf(top, sizeof(top), "/tmp/ak-place-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
}

static void teardown(void)
{
	int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(ws_empty(dir, NULL), 0);
	close(dir);
	ck_assert_int_eq(rmdir(top), 0);
}

static void make(const char *path)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s/", top, path);
	for (char *s = full + strlen(top) + 1; (s = strchr(s, '/')) != NULL; *s++ = '/') {
		*s = '\0';
		(void)mkdir(full, 0755);
	}
}

static void find(const char *path)
{
	char full[256];

	make(path);
	(void)snprintf(full, sizeof(full), "%s/%s", top, path);
	protected_place_find(&place, full);
	protected_place_release(&place);
}

START_TEST(within_a_protected_folder_all_is_protected)
{
	find("p/.git/hooks");
	ck_assert_str_eq(place.prefix, ".git/hooks");
	ck_assert_int_eq(protected_place_change(&place, "pre-commit", false), PROTECTED_GIT);
	ck_assert_int_eq(protected_place_change(&place, "pre-commit.sample", false), PROTECTED_NO);
	find("p/.git");
	ck_assert_int_eq(protected_place_change(&place, "config", false), PROTECTED_GIT);
	ck_assert_int_eq(protected_place_change(&place, "index", false), PROTECTED_NO);
	find("p/.vscode/deep");
	ck_assert_str_eq(place.prefix, ".vscode/deep");
	ck_assert_int_eq(protected_place_change(&place, "any.txt", false), PROTECTED_BLOCK);
}
END_TEST

START_TEST(elsewhere_names_decide)
{
	find("p/src");
	ck_assert_str_eq(place.prefix, "");
	ck_assert_int_eq(protected_place_change(&place, "any.txt", false), PROTECTED_NO);
	ck_assert_int_eq(protected_place_change(&place, ".envrc", false), PROTECTED_BLOCK);
	find("p/conftest.py/x");	/* a name that is only listed */
	ck_assert_str_eq(place.prefix, "");
}
END_TEST

START_TEST(a_project_in_such_a_folder_is_one)
{
	make("p/.claude/worktrees/w/.git");
	find("p/.claude/worktrees/w");
	ck_assert_str_eq(place.prefix, "");
	find("p/.claude/worktrees/w/src");
	ck_assert_str_eq(place.prefix, "");
	find("p/.claude/worktrees");
	ck_assert_str_eq(place.prefix, ".claude/worktrees");
	make("p/.git/x/.git");
	find("p/.git/x");
	ck_assert_str_eq(place.prefix, ".git/x");
}
END_TEST

START_TEST(a_bare_repository_is_a_git_folder)
{
	make("b/HEAD");
	make("b/objects");
	make("b/refs");
	find("b/hooks");
	ck_assert_str_eq(place.prefix, ".git/hooks");
	find("b");	/* by what is in it: its scan tells */
	ck_assert_str_eq(place.prefix, "");
}
END_TEST

START_TEST(both_names_lift_it)
{
	char *const git[] = {(char *)".git", NULL}, *const own[] = {(char *)"pre-commit", NULL}, *const other[] = {(char *)".vscode", NULL};

	ck_assert(protected_place_taken(".git/hooks", git, "pre-commit"));
	ck_assert(protected_place_taken(".git/hooks", own, "pre-commit"));
	ck_assert(!protected_place_taken(".git/hooks", other, "pre-commit"));
	ck_assert(!protected_place_taken("", git, "pre-commit"));
	ck_assert(!protected_place_taken(".git/hooks", NULL, "pre-commit"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("protected_place");
	TCase *t = tcase_create("protected_place");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, within_a_protected_folder_all_is_protected);
	tcase_add_test(t, elsewhere_names_decide);
	tcase_add_test(t, a_project_in_such_a_folder_is_one);
	tcase_add_test(t, a_bare_repository_is_a_git_folder);
	tcase_add_test(t, both_names_lift_it);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
