/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of reading git configurations for keys that start programs. */
#include "seccomp/gitkeys.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gitkeys got;

/* the keys of @text, one after the other */
static const char *keys(const char *text)
{
	static char all[4096];

	memset(&got, 0, sizeof(got));
	all[0] = '\0';
	gitkeys_read(text, strlen(text), &got);
	for (size_t i = 0; i < got.n; i++)
		(void)snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? " " : "", got.key[i].name);
	return all;
}

START_TEST(keys_that_start_programs)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"[core]\n\tfsmonitor = ./evil\n", "core.fsmonitor"},
		{"[CORE]\n\thooksPath=/x", "core.hookspath"},
		{"[core] pager = less", "core.pager"},
		{"[core]sshCommand=ssh", "core.sshcommand"},
		{"[filter \"Q.x\"]\nclean = a\nsmudge = b\nrequired = true", "filter.Q.x.clean filter.Q.x.smudge"},
		{"[filter.q]\nprocess = a", "filter.q.process"},
		{"[alias]\nx = !sh\ny = log\n", "alias.x"},
		{"[alias]\nx = \"!sh\"", "alias.x"},
		{"[credential]\nhelper = store\n[credential \"https://h\"]\nhelper=x", "credential.helper credential.https://h.helper"},
		{"[include]\npath = ../evil\n[includeIf \"gitdir:/\"]\npath=x", "include.path includeif.gitdir:/.path"},
		{"[diff]\nexternal = x\n[diff \"d\"]\ntextconv = y\ncommand = z", "diff.external diff.d.textconv diff.d.command"},
		{"[pager]\nlog = x\ndiff = true", "pager.log"},
		{"[remote \"o\"]\nurl = ext::sh -c x\nurl = https://h/\nuploadpack=x", "remote.o.url remote.o.uploadpack"},
		{"[gpg \"ssh\"]\nprogram = x", "gpg.ssh.program"},
		{"[submodule \"s\"]\nupdate = !x", "submodule.s.update"},
		{"# c\n; d\n[core] # e\n\tfsmonitor = x # f\n", "core.fsmonitor"},
		{"[core]\nfsmonitor = \\\n  ./evil\n", "core.fsmonitor"},
		{"[x]\ny = a\\\n[core]\nfsmonitor = evil\n", ""},	/* continued: not a section */
		{"[core]\r\nfsmonitor = x\r\n", "core.fsmonitor"},
		{"\xef\xbb\xbf[core]\nfsmonitor=x", "core.fsmonitor"},
		{"[[broken\n[core]\nfsmonitor = x", "core.fsmonitor"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(strcmp(keys(rows[i].text), rows[i].want) == 0, "%s: %s", rows[i].text, keys(rows[i].text));
}
END_TEST

START_TEST(ordinary_configurations_start_none)
{
	ck_assert_str_eq(keys("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
			      "[remote \"origin\"]\n\turl = git@h:x/y.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
			      "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = core.pager\n"),
			 "");
	ck_assert_str_eq(keys("[core]\nfsmonitor = true\n"), "");
	ck_assert_str_eq(keys("[core]\nfsmonitor\n"), "");
	ck_assert_str_eq(keys(""), "");
}
END_TEST

START_TEST(only_new_values_are_new)
{
	struct gitkeys *old = calloc(1, sizeof(*old));

	ck_assert_ptr_nonnull(old);
	gitkeys_read("[core]\npager = less\neditor = vi\n", 32, old);
	(void)keys("[core]\npager = less\neditor = evil\nfsmonitor = x\n");
	ck_assert_uint_eq(got.n, 3);
	ck_assert_int_eq(gitkeys_new(old, &got, 0), 0);
	ck_assert_int_eq(gitkeys_new(old, &got, 1), 1);
	ck_assert_int_eq(gitkeys_new(old, &got, 2), 1);
	free(old);
}
END_TEST

START_TEST(long_names_are_cut_and_many_are_bounded)
{
	size_t n = 0, cap = 1 << 16;
	char *text = malloc(cap);

	ck_assert_ptr_nonnull(text);
	n += (size_t)snprintf(text, cap, "[filter \"%0300d\"]\nclean = x\n[alias]\n", 7);
	for (unsigned i = 0; i < GITKEYS_MAX + 10; i++)
		n += (size_t)snprintf(text + n, cap - n, "a%u = !x\n", i);
	(void)keys(text);
	ck_assert_uint_eq(got.n, GITKEYS_MAX);
	ck_assert_uint_lt(strlen(got.key[0].name), GITKEYS_NAME);
	ck_assert_ptr_nonnull(strstr(got.key[0].name, "..."));
	free(text);
}
END_TEST

START_TEST(who_commits)
{
	static const struct {
		const char *text, *name, *email;
	} rows[] = {
		{"[user]\n\tname = A B\n\temail = a@b\n", "A B", "a@b"},
		{"[USER]\nName=A\nEMAIL=b", "A", "b"},
		{"[user]\nname = A\n[core]\nname = B\n", "A", ""},
		{"[user \"x\"]\nname = B\n", "", ""},
		{"[user.x]\nname = B\n", "", ""},
		{"[user]\nname = A\nname = B\n", "B", ""},
		{"[user]\nname = A\nname =\n", "", ""},
		{"[user]\nname = \"a # b\" # c\n", "a # b", ""},
		{"[user]\nname = a\\\nb\n", "ab", ""},
		{"[user]\nname = \"x\\\"y\\\\\"\n", "x\"y\\", ""},
		{"[user]\nname = a\x1b[2J\nemail = e\n", "", "e"},
		{"[user]\nname = a\\tb\nemail = e\n", "", "e"},
		{"[user]\nname\n", "", ""},
		{"name = A\n", "", ""},
		{"[alias]\nx = !evil\n[credential]\nhelper = store\n", "", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct git_ident id = { "", "" };

		gitident_read(rows[i].text, strlen(rows[i].text), &id, NULL, NULL);
		ck_assert_msg(strcmp(id.name, rows[i].name) == 0 && strcmp(id.email, rows[i].email) == 0, "%s: \"%s\", \"%s\"", rows[i].text, id.name,
			      id.email);
	}
}
END_TEST

START_TEST(a_name_has_an_end)
{
	char text[600] = "[user]\nname = ";
	struct git_ident id = { "", "" };
	size_t n = strlen(text);

	memset(text + n, 'x', GIT_IDENT_MAX);
	gitident_read(text, n + GIT_IDENT_MAX - 1, &id, NULL, NULL);
	ck_assert_uint_eq(strlen(id.name), GIT_IDENT_MAX - 1);
	gitident_read(text, n + GIT_IDENT_MAX, &id, NULL, NULL);
	ck_assert_str_eq(id.name, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gitkeys");
	TCase *t = tcase_create("gitkeys");

	tcase_add_test(t, keys_that_start_programs);
	tcase_add_test(t, ordinary_configurations_start_none);
	tcase_add_test(t, only_new_values_are_new);
	tcase_add_test(t, long_names_are_cut_and_many_are_bounded);
	tcase_add_test(t, who_commits);
	tcase_add_test(t, a_name_has_an_end);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
