/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the table of protected names. */
#include "executor/workspace/protected.h"

#include <check.h>
#include <stddef.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(names_have_their_class)
{
	static const struct {
		const char *name;
		enum protected_class class;
	} rows[] = {
		{".git", PROTECTED_GIT},
		{".gitmodules", PROTECTED_BLOCK},
		{".gitattributes", PROTECTED_BLOCK},
		{".vscode", PROTECTED_BLOCK},
		{".idea", PROTECTED_BLOCK},
		{".devcontainer", PROTECTED_BLOCK},
		{".envrc", PROTECTED_BLOCK},
		{".env", PROTECTED_BLOCK},
		{".mcp.json", PROTECTED_BLOCK},
		{".claude", PROTECTED_BLOCK},
		{".codex", PROTECTED_BLOCK},
		{".agents", PROTECTED_BLOCK},
		{".cursor", PROTECTED_BLOCK},
		{".gemini", PROTECTED_BLOCK},
		{"AGENTS.md", PROTECTED_BLOCK},
		{"CLAUDE.md", PROTECTED_BLOCK},
		{".husky", PROTECTED_BLOCK},
		{".github", PROTECTED_BLOCK},
		{".gitlab-ci.yml", PROTECTED_BLOCK},
		{"Jenkinsfile", PROTECTED_BLOCK},
		{".circleci", PROTECTED_BLOCK},
		{".pre-commit-config.yaml", PROTECTED_BLOCK},
		{".npmrc", PROTECTED_BLOCK},
		{".yarnrc", PROTECTED_BLOCK},
		{".yarnrc.yml", PROTECTED_BLOCK},
		{".pnpmfile.cjs", PROTECTED_BLOCK},
		{".cargo", PROTECTED_BLOCK},
		{"rust-toolchain", PROTECTED_BLOCK},
		{"rust-toolchain.toml", PROTECTED_BLOCK},
		{".tool-versions", PROTECTED_BLOCK},
		{"mise.toml", PROTECTED_BLOCK},
		{".python-version", PROTECTED_BLOCK},
		{".bashrc", PROTECTED_BLOCK},
		{".ripgreprc", PROTECTED_BLOCK},
		{".inputrc", PROTECTED_BLOCK},
		{".gdbinit", PROTECTED_BLOCK},
		{".lldbinit", PROTECTED_BLOCK},
		{".exrc", PROTECTED_BLOCK},
		{".nvimrc", PROTECTED_BLOCK},
		{"conftest.py", PROTECTED_LIST},
		{"sitecustomize.py", PROTECTED_LIST},
		{"build.rs", PROTECTED_LIST},
		{"x.pth", PROTECTED_LIST},
		{"app.desktop", PROTECTED_LIST},
		{"x.service", PROTECTED_LIST},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		ck_assert_msg(protected_match(rows[i].name) == rows[i].class, "%s", rows[i].name);
}
END_TEST

START_TEST(ordinary_names_are_free)
{
	static const char *const names[] = {
		"",	   ".",		"..",	 "main.c",    "git",	  ".gi", ".gitx",	 ".gitignore",
		"x.git",   ".envx",	"env",	 "README.md", "Makefile", "pth", "conftest.pyc", "xAGENTS.md",
		"service", "toolchain", ".yarn", "-rf",
	};

	for (size_t i = 0; i < LEN(names); i++)
		ck_assert_msg(protected_match(names[i]) == PROTECTED_NO, "%s", names[i]);
}
END_TEST

START_TEST(case_makes_no_difference)
{
	ck_assert_int_eq(protected_match(".GIT"), PROTECTED_GIT);
	ck_assert_int_eq(protected_match("agents.MD"), PROTECTED_BLOCK);
	ck_assert_int_eq(protected_match("JENKINSFILE"), PROTECTED_BLOCK);
	ck_assert_int_eq(protected_match("RUST-toolchain.toml"), PROTECTED_BLOCK);
	ck_assert_int_eq(protected_match("X.PTH"), PROTECTED_LIST);
}
END_TEST

START_TEST(a_path_has_its_strictest_component)
{
	ck_assert_int_eq(protected_match_path("a/b/c.c"), PROTECTED_NO);
	ck_assert_int_eq(protected_match_path("a/.git/hooks/x"), PROTECTED_GIT);
	ck_assert_int_eq(protected_match_path("a/.vscode/conftest.py"), PROTECTED_BLOCK);
	ck_assert_int_eq(protected_match_path("conftest.py"), PROTECTED_LIST);
	ck_assert_int_eq(protected_match_path("a//.env/"), PROTECTED_BLOCK);
	ck_assert_int_eq(protected_match_path(".gi/t"), PROTECTED_NO);
	ck_assert_int_eq(protected_match_path(""), PROTECTED_NO);
}
END_TEST

START_TEST(only_rows_can_be_allowed)
{
	ck_assert(protected_is_row(".git"));
	ck_assert(protected_is_row(".git/hooks"));
	ck_assert(protected_is_row(".GITHUB"));
	ck_assert(protected_is_row("conftest.py"));
	ck_assert(!protected_is_row("main.c"));
	ck_assert(!protected_is_row(""));
	ck_assert(!protected_is_row(".git/config"));
	ck_assert(!protected_is_row("x/.pth"));
}
END_TEST

START_TEST(allowing_is_by_name)
{
	char *allow[] = {(char *)".env", (char *)".GIT", NULL};

	ck_assert(protected_allowed(allow, ".env"));
	ck_assert(protected_allowed(allow, ".ENV"));
	ck_assert(protected_allowed(allow, ".git"));
	ck_assert(protected_allowed(allow, ".git/hooks"));
	ck_assert(!protected_allowed(allow, ".envrc"));
	ck_assert(!protected_allowed(NULL, ".env"));
	allow[1] = (char *)".git/hooks";
	ck_assert(!protected_allowed(allow, ".git"));
	ck_assert(protected_allowed(allow, ".git/hooks"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("protected");
	TCase *t = tcase_create("protected");

	tcase_add_test(t, names_have_their_class);
	tcase_add_test(t, ordinary_names_are_free);
	tcase_add_test(t, case_makes_no_difference);
	tcase_add_test(t, a_path_has_its_strictest_component);
	tcase_add_test(t, only_rows_can_be_allowed);
	tcase_add_test(t, allowing_is_by_name);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
