/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the table of git's files, and that both who ask it mind what is not in it. */
#include "executor/workspace/git_member.h"

#include <check.h>
#include <stdlib.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(each_file_is_what_it_is)
{
	static const struct {
		const char *path;
		enum git_member what;
	} rows[] = {
		{"config", GIT_CONFIG},		     {"CONFIG", GIT_CONFIG},
		{"config.worktree", GIT_CONFIG},     {"config.lock", GIT_ORDINARY},
		{"HEAD", GIT_ORDINARY},		     {"index", GIT_ORDINARY},
		{"objects", GIT_STORE},		     {"objects/aa", GIT_ORDINARY},
		{"objects/info", GIT_STORE},	     {"objects/info/alternates", GIT_DATA},
		{"objects/info/packs", GIT_ORDINARY}, {"refs", GIT_STORE},
		{"hooks", GIT_FOLDER},		     {"hooks/pre-push", GIT_HOOK},
		{"hooks/d/e", GIT_HOOK},	     {"hooks/pre-push.sample", GIT_ORDINARY},
		{"hooks/.sample", GIT_HOOK},	     {"hooks/d.sample/e", GIT_HOOK},
		{"info", GIT_FOLDER},		     {"info/attributes", GIT_FILE},
		{"info/exclude", GIT_ORDINARY},	     {"info/grafts", GIT_UNKNOWN},
		{"commondir", GIT_FILE},	     {"sharedindex.0123", GIT_ORDINARY},
		{"worktrees", GIT_FOLDER},	     {"worktrees/a", GIT_FOLDER},
		{"worktrees/a/gitdir", GIT_FILE},    {"worktrees/a/HEAD", GIT_ORDINARY},
		{"worktrees/a/hooks/x", GIT_HOOK},   {"worktrees/a/odd", GIT_UNKNOWN},
		{"modules", GIT_UNKNOWN},	     {"modules/a", GIT_UNKNOWN},
		{"modules/a/b", GIT_UNKNOWN},	     {"modules/a/config", GIT_CONFIG},
		{"modules/a/b/hooks/x", GIT_HOOK},   {"modules/a/objects/aa", GIT_DATA},
		{"modules/a/HEAD", GIT_DATA},	     {"modules/a/info/attributes", GIT_FILE},
		{"modules/a/b/index", GIT_DATA},     {"modules/a/info", GIT_FOLDER},
		/* a submodule may be called anything */
		{"modules/objects/config", GIT_CONFIG}, {"modules/refs/x/hooks/update", GIT_HOOK},
		{"modules/config/config", GIT_CONFIG}, {"modules/src/logs/config", GIT_CONFIG},
		{"modules/src/logs/hooks/post-checkout", GIT_HOOK}, {"modules/lib/objects/config", GIT_CONFIG},
		{"modules/docs/refs/x/hooks/update", GIT_HOOK}, {"modules/a/refs/foo/config", GIT_CONFIG},
		{"modules/lib/objects/commondir", GIT_FILE}, {"modules/lib/objects/hooks", GIT_FOLDER},
		{"modules/lib/objects/info/attributes", GIT_FILE}, {"worktrees/w/modules/lib/objects/config", GIT_CONFIG},
		{"modules/lib/objects", GIT_STORE}, {"modules/a/objects/aa/0123", GIT_DATA},
		{"rebase-merge", GIT_FILE},	     {"rebase-merge/git-rebase-todo", GIT_FILE},
		{"sequencer/todo", GIT_FILE},	     {"HEAD/x", GIT_UNKNOWN},
		{"branches/x", GIT_UNKNOWN},	     {"lfs/objects/aa/x", GIT_ORDINARY},
		{"new", GIT_UNKNOWN},		     {"new/deeper", GIT_UNKNOWN},
		{".lock", GIT_UNKNOWN},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		ck_assert_msg(git_member(rows[i].path) == rows[i].what, "%s: %d", rows[i].path, (int)git_member(rows[i].path));
}
END_TEST

START_TEST(folders_below_modules_may_lead_to_one)
{
	ck_assert(git_member_nested("modules"));
	ck_assert(git_member_nested("modules/lib/objects"));
	ck_assert(git_member_nested("worktrees/a/modules/x"));
	ck_assert(!git_member_nested("objects/modules"));
	ck_assert(!git_member_nested("worktrees/modules"));
	ck_assert(!git_member_nested("modulesx/y"));
}
END_TEST

/* what apply holds back is told, but for what only belongs to a repository; what is told is held back */
START_TEST(both_who_ask_agree)
{
	for (int m = GIT_ORDINARY; m <= GIT_HOOK; m++) {
		ck_assert(git_member_held((enum git_member)m, false) == (m != GIT_ORDINARY));
		ck_assert(git_member_told((enum git_member)m) == (git_member_held((enum git_member)m, false) && m != GIT_DATA));
	}
	ck_assert(git_member_held(GIT_UNKNOWN, true));
	ck_assert(git_member_told(GIT_UNKNOWN));
	ck_assert(!git_member_held(GIT_FOLDER, true));
	ck_assert(!git_member_held(GIT_STORE, true));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("git_member");
	TCase *t = tcase_create("git_member");

	tcase_add_test(t, each_file_is_what_it_is);
	tcase_add_test(t, folders_below_modules_may_lead_to_one);
	tcase_add_test(t, both_who_ask_agree);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
