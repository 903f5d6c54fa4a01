/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of git folders, and of text that is shown to people. */
#include "executor/workspace/protected_change.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/workspace/visible.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(what_runs_later_is_protected)
{
	static const char *const paths[] = {
		".git/hooks/pre-commit", ".git/config", ".git/config.worktree", ".git/commondir", ".git/gitdir",
		".git/info/attributes", ".git/modules/x/config", ".git/worktrees/w/gitdir", ".git/worktrees/w/config.worktree",
		".GIT/Hooks/x", ".Git/CONFIG", "sub/.git/config", "a/b/.git/hooks/x", ".git/rebase-merge/git-rebase-todo",
		".git/sequencer/todo", ".git/objects/info/alternates", ".git/unknown", ".git/HEAD/x", ".vscode/tasks.json",
		"sub/.envrc", "AGENTS.md", "x/agents.MD", ".git", "wt/.git", ".gitmodules", "deep/.github/workflows/ci.yml",
		".git/hooks", ".git/worktrees/w/hooks/x", ".git/info/sparse-checkout.d", ".git/info", ".GIT/objects/Info",
		".git/worktrees", ".git/worktrees/w", ".git/objects", ".git/refs/x/.git/hooks/y", ".git/modules/x/objects/aa",
		".githooks/pre-commit", ".hg/hgrc", ".mvn/jvm.config", ".zed/tasks.json", "lefthook-local.yml", "x.code-workspace",
	};

	for (size_t i = 0; i < LEN(paths); i++)
		ck_assert_msg(protected_change(paths[i], false) >= PROTECTED_BLOCK, "%s", paths[i]);
}
END_TEST

START_TEST(ordinary_work_is_not)
{
	static const char *const files[] = {
		".git/HEAD", ".git/index", ".git/objects/ab/cd", ".git/objects/pack/p.idx", ".git/refs/heads/x", ".git/refs/stash",
		".git/logs/HEAD", ".git/packed-refs", ".git/COMMIT_EDITMSG", ".git/ORIG_HEAD", ".git/info/exclude",
		".git/worktrees/w/HEAD", ".git/worktrees/w/index", ".git/hooks/pre-commit.sample", "src/a.c", "hooks/x", "config",
		"my.git/config", ".gitignore", ".git/description", "Makefile", ".hg/dirstate", "package.json", ".git/refs/heads/.envrc",
	};
	static const char *const folders[] = { ".git", "sub/.git", ".git/hooks", ".git/info", ".git/worktrees/w", ".vscode" };

	for (size_t i = 0; i < LEN(files); i++)
		ck_assert_msg(protected_change(files[i], false) == PROTECTED_NO, "%s", files[i]);
	for (size_t i = 0; i < LEN(folders); i++)
		ck_assert_msg(protected_change(folders[i], true) == PROTECTED_NO, "%s", folders[i]);
	ck_assert_int_eq(protected_change("tests/conftest.py", false), PROTECTED_LIST);
}
END_TEST

static bool taken(const char *name, const char *path)
{
	char *const names[] = { (char *)name, NULL };

	return protected_taken(names, path);
}

START_TEST(a_name_takes_what_it_names)
{
	ck_assert(taken(".git", ".git/hooks/x"));
	ck_assert(taken(".git", "sub/.git/config"));
	ck_assert(taken(".git/hooks", "sub/.git/hooks/x"));
	ck_assert(!taken(".git/hooks", ".git/config"));
	ck_assert(taken(".VSCODE", "a/.vscode/tasks.json"));
	ck_assert(taken("sub/.envrc", "sub/.envrc"));
	ck_assert(taken("sub/.git/hooks/pre-push", "sub/.git/hooks/pre-push"));
	ck_assert(!taken("sub", "sub/.envrc"));
	ck_assert(!taken("", ".envrc"));
	ck_assert(!taken(".envrc", ".envrc2"));
	ck_assert(!protected_taken(NULL, ".envrc"));
	ck_assert(taken("bare.git/config", "bare.git/config"));
	ck_assert(!taken("bare.git", "bare.git/config"));
}
END_TEST

static void shows(const char *in, const char *want)
{
	struct ak_buf b = { 0 };

	ck_assert_uint_eq(visible_text(&b, in, strlen(in), true), strlen(in));
	ck_assert_str_eq(b.data ? b.data : "", want);
	ak_buf_release(&b);
}

START_TEST(text_shows_what_it_is)
{
	struct ak_buf b = { 0 };

	shows("plain\ttext\n\xc3\xa4", "plain\ttext\n\xc3\xa4");
	shows("\x1b[31m\r\x07\x7f", "\\x1b[31m\\x0d\\x07\\x7f");
	shows("a\xe2\x80\xae" "b", "a<U+202E>b");
	shows("\xf3\xa0\x81\x81", "<U+E0041>");
	shows("\xff\xc3", "\\xff\\xc3");
	shows("\xc2\x9b", "<U+009B>");
	/* a character that a block's end cuts waits for the next one */
	ck_assert_uint_eq(visible_text(&b, "a\xe2\x80", 3, false), 1);
	visible_quote(&b, "x\n\"\\\xe2\x80\x8b");
	ck_assert_str_eq(b.data, "a\"x\\x0a\\\"\\\\<U+200B>\"");
	ak_buf_release(&b);
	ck_assert(visible_plain("src/a.c"));
	ck_assert(!visible_plain("a b"));
	ck_assert(!visible_plain("a\x1b"));
	ck_assert(!visible_plain("\xe2\x80\xae"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("protected change");
	TCase *t = tcase_create("protected change");

	tcase_add_test(t, what_runs_later_is_protected);
	tcase_add_test(t, ordinary_work_is_not);
	tcase_add_test(t, a_name_takes_what_it_names);
	tcase_add_test(t, text_shows_what_it_is);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
