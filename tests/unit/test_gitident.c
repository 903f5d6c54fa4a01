/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of who commits, by files that include each other; the form of question and answer. */
#include "seccomp/gitident.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOME "/home/u"
#define ROOT HOME "/.gitconfig"

static struct gitident_wanted wanted;

/* PATH, TEXT pairs; the first is the root, TEXT NULL: looked at, not there. Return: who, as "name|mail" */
static const char *who(const char *const *rows, char ret[static 2 * GIT_IDENT_MAX + 2])
{
	struct git_ident_files in = { .home = HOME };
	struct git_ident id = { "", "" };

	for (; rows[2 * in.n]; in.n++) {
		const char *text = rows[2 * in.n + 1];

		in.v[in.n] = (struct git_ident_file){ .path = rows[2 * in.n], .text = text, .len = text ? strlen(text) : 0, .root = in.n == 0 };
	}
	memset(&wanted, 0, sizeof(wanted));
	gitident_files(&in, &id, &wanted);
	(void)snprintf(ret, 2 * GIT_IDENT_MAX + 2, "%s|%s", id.name, id.email);
	return ret;
}

#define WHO(want, ...) \
	do { \
		const char *const rows_[] = { __VA_ARGS__, NULL, NULL }; \
		char got_[2 * GIT_IDENT_MAX + 2]; \
		ck_assert_str_eq(who(rows_, got_), want); \
	} while (0)

START_TEST(an_include_stands_for_the_text_of_its_file)
{
	/* the last word counts, and that depends on where the include stands */
	WHO("B|a@x", ROOT, "[user]\nname = A\nemail = a@x\n[include]\npath = b\n", HOME "/b", "[user]\nname = B\n");
	ck_assert_uint_eq(wanted.n, 0);
	WHO("A|b@x", ROOT, "[include]\npath = b\n[user]\nname = A\n", HOME "/b", "[user]\nname = B\nemail = b@x\n");
	/* two of one section, then more of it; a file's sections end with it */
	WHO("C|c@x", ROOT, "[Include]\n\tPATH = \"b\" ; x\n path=c\n[user]\nemail = c@x\n", HOME "/b", "[user]\nname = B", HOME "/c", "[user]\nname = C\n");
	WHO("B|", ROOT, "[include]\npath = b\nname = A\n", HOME "/b", "[user]\nname = B\n");
	/* one that is not there, and no include */
	WHO("A|", ROOT, "[include]\npath = b\n[user]\nname = A\n", HOME "/b", NULL);
	WHO("A|", ROOT, "[user]\nname = A\n[include \"x\"]\npath = b\n[includeIf \"gitdir:/\"]\npath = b\n[include]\npath\npath =\nother = b\n", HOME "/b",
	    "[user]\nname = B\n");
	/* a file that nobody includes counts for nothing */
	WHO("A|", ROOT, "[user]\nname = A\n", HOME "/b", "[user]\nname = B\n");
}
END_TEST

START_TEST(what_is_missing_is_asked_for_once)
{
	WHO("A|", ROOT, "[user]\nname = A\n[include]\npath = b\npath = /etc/c\npath = b\npath = ~/d\\te\n");
	ck_assert_uint_eq(wanted.n, 2);
	ck_assert_str_eq(wanted.path[0], HOME "/b");
	ck_assert_str_eq(wanted.path[1], "/etc/c");
	/* one of one that is included, from there */
	WHO("|", ROOT, "[include]\npath = sub/b\n", HOME "/sub/b", "[include]\npath = c\n");
	ck_assert_uint_eq(wanted.n, 1);
	ck_assert_str_eq(wanted.path[0], HOME "/sub/c");
}
END_TEST

START_TEST(files_and_depth_and_work_are_bounded)
{
	char text[GIT_IDENT_FILES_MAX * 80] = "[include]\n", deep[16][64], names[16][8];
	const char *rows[34] = { NULL };

	for (unsigned i = 0; i < 2 * GIT_IDENT_FILES_MAX; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "path = f%u\n", i);
	WHO("|", ROOT, text);
	ck_assert_uint_eq(wanted.n, GIT_IDENT_FILES_MAX - 1);
	/* a file that includes itself, often; its own words count still */
	WHO("B|", ROOT, "[include]\npath = b\n", HOME "/b", "[include]\npath=b\npath=b\npath=b\npath=b\n[user]\nname=B\n");
	/* a chain of 11 includes: the last one is one too many for git, too */
	for (unsigned i = 0; i < 12; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "/%u", i);
		(void)snprintf(deep[i], sizeof(deep[i]), "[user]\nname = %u\n[include]\npath = /%u\n", i, i + 1);
		rows[2 * i] = names[i];
		rows[2 * i + 1] = deep[i];
	}
	ck_assert_str_eq(who(rows, text), "10|");
	ck_assert_uint_eq(wanted.n, 0);
}
END_TEST

START_TEST(paths_are_gits)
{
	static const struct {
		const char *from, *text, *want;
	} rows[] = {
		{ ROOT, "b", HOME "/b" },	      { ROOT, "../x/b", HOME "/../x/b" }, { ROOT, "/etc/b", "/etc/b" }, { ROOT, "~/b", HOME "/b" },
		{ "conf", "b", "b" },		      { "d/conf", "b", "d/b" },		  { "/conf", "b", "/b" },	{ "/conf", "~/b", HOME "/b" },
		{ ROOT, "~other/b", NULL },	      { ROOT, "~", NULL },		  { ROOT, "%(prefix)/b", NULL }, { ROOT, "a\nb", NULL },
		{ ROOT, "%(prefix)", HOME "/%(prefix)" },
	};
	char path[GIT_IDENT_PATH_MAX], longest[GIT_IDENT_PATH_MAX + 1] = "";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc = gitident_path(HOME, rows[i].from, rows[i].text, path);

		ck_assert_msg(rc == (rows[i].want ? 0 : -1), "row %zu", i);
		if (rows[i].want)
			ck_assert_str_eq(path, rows[i].want);
	}
	memset(longest, 'x', GIT_IDENT_PATH_MAX);
	longest[0] = '/';
	ck_assert_int_eq(gitident_path(HOME, ROOT, longest, path), -1);
	longest[GIT_IDENT_PATH_MAX - 1] = '\0';
	ck_assert_int_eq(gitident_path(HOME, ROOT, longest, path), 0);
}
END_TEST

START_TEST(the_answer_is_two_lines_and_what_is_wanted)
{
	static const char *const bad[] = { "", "\n", "a", "a\nb", "a\nb\nc", "a\nb\n\n", "a\tb\nc\n", "a\x7f\nb\n", "a\nb\n/c", "a\nb\n/c\n\n", "a\nb\n/\tc\n" };
	struct git_ident id = { "was", "" };
	char many[4 + 3 * (GIT_IDENT_FILES_MAX + 1) + 1] = "a\nb\n", path[GIT_IDENT_PATH_MAX];
	const char *more = NULL, *text = "A\na@b\n/c\nd e\n";

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_lt(git_ident_decode(bad[i], strlen(bad[i]), &id, &more), 0);
	ck_assert_str_eq(id.name, "was");
	ck_assert_ptr_null(more);
	ck_assert_int_eq(git_ident_decode("\n\n", 2, &id, &more), 0);
	ck_assert_str_eq(id.name, "");
	ck_assert_int_eq(git_ident_decode("A B\na@b\n", 8, &id, &more), 0);
	ck_assert_str_eq(id.name, "A B");
	ck_assert_str_eq(id.email, "a@b");
	ck_assert(!git_ident_more(&more, more, path));
	ck_assert_int_eq(git_ident_decode(text, strlen(text), &id, &more), 0);
	ck_assert(git_ident_more(&more, text + strlen(text), path));
	ck_assert_str_eq(path, "/c");
	ck_assert(git_ident_more(&more, text + strlen(text), path));
	ck_assert_str_eq(path, "d e");
	ck_assert(!git_ident_more(&more, text + strlen(text), path));
	for (unsigned i = 0; i <= GIT_IDENT_FILES_MAX; i++)
		memcpy(many + strlen(many), "/c\n", sizeof("/c\n"));
	ck_assert_int_lt(git_ident_decode(many, strlen(many), &id, &more), 0);
	ck_assert_int_eq(git_ident_decode(many, strlen(many) - 3, &id, &more), 0);
}
END_TEST

START_TEST(the_question_is_read_as_it_was_written)
{
	struct git_ident_files in = { .home = HOME, .n = 3, .v = { { ROOT, "a\nb", 3, true }, { "/gone", NULL, 0, false }, { "/empty", "", 0, false } } }, out;
	char buf[256];
	long n = git_ident_files_encode(&in, buf, sizeof(buf));

	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(git_ident_files_encode(&in, buf, (size_t)n - 1), -ENOBUFS);
	ck_assert_int_eq(git_ident_files_encode(&in, buf, (size_t)n), n);
	ck_assert_int_eq(git_ident_files_decode(buf, (size_t)n, &out), 0);
	ck_assert_str_eq(out.home, HOME);
	ck_assert_uint_eq(out.n, 3);
	ck_assert(out.v[0].root && out.v[0].len == 3 && memcmp(out.v[0].text, "a\nb", 3) == 0);
	ck_assert(!out.v[1].root && !out.v[1].text && out.v[2].text);
	ck_assert_str_eq(git_ident_files_find(&out, "/gone")->path, "/gone");
	ck_assert_ptr_null(git_ident_files_find(&out, "/go"));
	for (size_t i = 0; i < (size_t)n; i++)
		ck_assert_int_lt(git_ident_files_decode(buf, i, &out), 0);
	ck_assert_uint_eq(out.n, 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gitident");
	TCase *t = tcase_create("gitident");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, t);
	tcase_add_test(t, an_include_stands_for_the_text_of_its_file);
	tcase_add_test(t, what_is_missing_is_asked_for_once);
	tcase_add_test(t, files_and_depth_and_work_are_bounded);
	tcase_add_test(t, paths_are_gits);
	tcase_add_test(t, the_answer_is_two_lines_and_what_is_wanted);
	tcase_add_test(t, the_question_is_read_as_it_was_written);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
