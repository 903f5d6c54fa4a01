/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the guess that is made before libc begins: nothing that may ask for another kind of sandbox passes for a plain one. */
#include "executor/ns/early.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define WORDS_MAX 12

static char program[] = "ak", home[] = "HOME=/home/somebody", path[] = "PATH=/usr/bin";

static bool likely(const char *const words[WORDS_MAX], const char *variable)
{
	char *argv[WORDS_MAX + 2] = { program };
	char *env[] = { home, path, (char *)(size_t)variable, NULL };
	int argc = 1;

	while (words[argc - 1]) {
		argv[argc] = (char *)(size_t)words[argc - 1];
		argc++;
	}
	return early_likely(argc, argv, env);
}

#define LIKELY(...) likely((const char *const[WORDS_MAX]){ __VA_ARGS__ }, NULL)

START_TEST(plain_command_lines_are_likely)
{
	ck_assert(LIKELY("exec", "true"));
	ck_assert(LIKELY("exec", "--", "true"));
	ck_assert(LIKELY("exec", "-C", "/w", "--json", "--", "make", "-j2"));
	ck_assert(LIKELY("exec", "-C", "/w", "--ro", "/data", "--timeout", "5s", "true"));
}
END_TEST

START_TEST(other_subcommands_are_not)
{
	ck_assert(!LIKELY("run", "--", "true"));
	ck_assert(!LIKELY("executor", "true"));
	ck_assert(!LIKELY("exe", "true"));
	ck_assert(!LIKELY("exec"));
	ck_assert(!LIKELY("--version", "exec"));
}
END_TEST

START_TEST(options_for_another_kind_are_not)
{
	static const char *const options[] = { "--in", "--in=box", "--fd", "--fd=5", "--net", "--net=host", "--network", "--write", "--write=cow",
					       "--backend", "--user", "-u", "-u0", "--nesting", "--isolation", "--explain", "--detach",
					       "--identity", "--rootfs", "--rootfs-write", "--image", "--help", "-h" };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		ck_assert_msg(!LIKELY("exec", options[i], "x", "true"), "%s", options[i]);
		ck_assert_msg(!LIKELY("exec", "-C", "/w", options[i], "--", "true"), "%s", options[i]);
	}
}
END_TEST

START_TEST(words_of_the_command_are_its_own)
{
	ck_assert(LIKELY("exec", "--", "git", "--help"));
	ck_assert(LIKELY("exec", "--", "--in"));
}
END_TEST

START_TEST(variables_of_ours_are_not)
{
	static const char *const words[WORDS_MAX] = { "exec", "true" };

	ck_assert(likely(words, "AKIRA=1"));
	ck_assert(likely(words, "AK_CGROUP=none"));
	ck_assert(!likely(words, "AK_CGROUP=/sys/fs/cgroup/mine"));
	ck_assert(!likely(words, "AK_CGROUP=nonesuch"));
	ck_assert(!likely(words, "AK_WRITE=cow"));
	ck_assert(!likely(words, "AK_WEAKEN=caps"));
}
END_TEST

START_TEST(nobody_takes_what_is_not_there)
{
	ck_assert_ptr_null(early_take());
	ck_assert_int_eq(early_fd(NULL), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("early");
	TCase *t = tcase_create("early");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, plain_command_lines_are_likely);
	tcase_add_test(t, other_subcommands_are_not);
	tcase_add_test(t, options_for_another_kind_are_not);
	tcase_add_test(t, words_of_the_command_are_its_own);
	tcase_add_test(t, variables_of_ours_are_not);
	tcase_add_test(t, nobody_takes_what_is_not_there);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
