/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of finding core.hooksPath in configurations and in repositories. */
#include "executor/workspace/git_hooks.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/workspace/fsat.h"

static char top[64];
static struct git_hooks h;

static void setup(void)
{
	(void)snprintf(top, sizeof(top), "/tmp/ak-hooks-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	h = (struct git_hooks){0};
}

static void teardown(void)
{
	int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	git_hooks_release(&h);
	ck_assert_int_eq(ws_empty(dir, NULL), 0);
	close(dir);
	ck_assert_int_eq(rmdir(top), 0);
}

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	(void)snprintf(full, sizeof(full), "%s/%s", top, path);
	for (char *s = full + strlen(top) + 1; (s = strchr(s, '/')) != NULL; *s++ = '/') {
		*s = '\0';
		(void)mkdir(full, 0755);
	}
	f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void values(const char *text, const char *want)
{
	char got[256] = "", one[64];
	size_t pos = 0;

	while (git_hooks_value(text, strlen(text), &pos, one, sizeof(one))) {
		strncat(got, one, sizeof(got) - strlen(got) - 1);
		strncat(got, "|", sizeof(got) - strlen(got) - 1);
	}
	ck_assert_str_eq(got, want);
}

START_TEST(values_are_found)
{
	values("", "");
	values("[core]\n\thooksPath = .githooks\n", ".githooks|");
	values("[core] HOOKSPATH=x # why\n", "x|");
	values("[core]\nhookspath = \"a b\" ; c\n", "a b|");
	values("[core]\nhookspath = \"a\\\"b\\\\c\"", "a\"b\\c|");
	values("[core]\nhookspath = a\\\nb\n", "ab|");
	values("[core]\nhookspath =\n hookspath = y", "y|");
	values("[core]\n  hooksPath = one \n[x]\nhooksPath=two", "one|two|");
	ck_assert(!git_hooks_value("hookspath=\"\\\0x\"", 16, &(size_t){0}, (char[8]){0}, 8));
	/* no keys */
	values("# hooksPath = x\n", "");
	values("[core]\nmyhookspath = x\nhookspathx = y\nhookspath\n", "");
	/* too long to be a path here: passed over */
	values("hookspath = 0123456789012345678901234567890123456789012345678901234567890123456789\n", "");
}
END_TEST

START_TEST(any_bytes_end)
{
	char text[64], one[16];
	unsigned seed = 7;

	for (int i = 0; i < 20000; i++) {
		static const char bits[] = "hookspath=\"\\ \n]#;x\0";
		size_t pos = 0, n = 0;

		for (size_t k = 0; k < sizeof(text); k++)
			text[k] = bits[(size_t)rand_r(&seed) % sizeof(bits)];
		memcpy(text + 8, "\nhookspath=", 11);
		while (git_hooks_value(text, sizeof(text), &pos, one, sizeof(one)))
			ck_assert_uint_le(++n, sizeof(text));
		ck_assert_uint_eq(pos, sizeof(text));
	}
}
END_TEST

static const char *at(const char *path)
{
	static char full[256];

	(void)snprintf(full, sizeof(full), "%s%s%s", top, *path ? "/" : "", path);
	return full;
}

START_TEST(a_repository_names_its_folders)
{
	put("w/.git/config", "[core]\n\thooksPath = tools/./hooks/\n\thooksPath = ../out\n\thooksPath = ~/x\n\thooksPath = tools/hooks\n");
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 1);
	ck_assert_str_eq(h.path[0], "tools/hooks");
	ck_assert(git_hooks_has(&h, "tools/hooks"));
	ck_assert(git_hooks_has(&h, "tools/Hooks/pre-commit"));
	ck_assert(git_hooks_has(&h, "tools/hooks/lib/x"));
	ck_assert(!git_hooks_has(&h, "tools/hooks2"));
	ck_assert(!git_hooks_has(&h, "tools"));
}
END_TEST

START_TEST(the_workspace_may_lie_in_one)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "[core]\nhooksPath = %s/w/sub/hooks\n", top);
	put("w/.git/config", text);
	put("w/sub/x", "");
	git_hooks_find(&h, at("w/sub"));
	ck_assert_uint_eq(h.n, 1);
	ck_assert_str_eq(h.path[0], "hooks");
}
END_TEST

START_TEST(the_workspace_may_be_one)
{
	put("w/.git/config", "[core]\nhooksPath = sub\n");
	put("w/sub/x", "");
	git_hooks_find(&h, at("w/sub"));
	ck_assert(git_hooks_has(&h, "pre-commit"));
	ck_assert(!git_hooks_has(&h, "main.c"));
}
END_TEST

START_TEST(linked_worktrees_are_followed)
{
	char text[256];

	put("m/.git/config", "[core]\nhooksPath = .hooks\n");
	put("m/.git/worktrees/wt/commondir", "../..\n");
	(void)snprintf(text, sizeof(text), "gitdir: %s/m/.git/worktrees/wt\n", top);
	put("wt/.git", text);
	git_hooks_find(&h, at("wt"));
	ck_assert_uint_eq(h.n, 1);
	ck_assert_str_eq(h.path[0], ".hooks");
}
END_TEST

START_TEST(what_is_no_file_is_not_read)
{
	put("w/x", "");
	ck_assert_int_eq(mkdir(at("w/.git"), 0755), 0);
	ck_assert_int_eq(mkfifo(at("w/.git/config"), 0644), 0);
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 0);
}
END_TEST

START_TEST(homes_are_expanded)
{
	put("w/.git/config", "[core]\nhooksPath = ~/w/hk\n");
	ck_assert_int_eq(setenv("HOME", top, 1), 0);
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 1);
	ck_assert_str_eq(h.path[0], "hk");
	ck_assert(!h.unclear);
	ck_assert(!git_hooks_has(&h, "x/pre-commit"));
}
END_TEST

START_TEST(what_cannot_be_judged_makes_names_of_hooks_count)
{
	put("w/.git/config", "[core]\nhooksPath = ~somebody/w/hk\n");
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 0);
	ck_assert(h.unclear);
	ck_assert(git_hooks_has(&h, "x/pre-commit"));
	ck_assert(!git_hooks_has(&h, "x/main.c"));
}
END_TEST

START_TEST(links_are_seen_through)
{
	char text[256], link[256];

	put("w/hk/pre-commit", "");
	put("w/tools/x", "");
	(void)snprintf(link, sizeof(link), "%s/other", top);
	ck_assert_int_eq(symlink(at("w"), link), 0);
	(void)snprintf(link, sizeof(link), "%s/w/l", top);
	ck_assert_int_eq(symlink("tools", link), 0);
	(void)snprintf(text, sizeof(text), "[core]\nhooksPath = %s/other/hk\nhooksPath = %s/other/new/deep\nhooksPath = l\n", top, top);
	put("w/.git/config", text);
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 4);
	ck_assert_str_eq(h.path[0], "hk");
	ck_assert_str_eq(h.path[1], "new/deep");
	ck_assert_str_eq(h.path[2], "l");
	ck_assert_str_eq(h.path[3], "tools");
}
END_TEST

START_TEST(of_many_the_last_are_kept)
{
	char *text = malloc(64u * GIT_HOOKS_MAX);
	size_t n = 0;

	ck_assert_ptr_nonnull(text);
	for (unsigned i = 0; i <= GIT_HOOKS_MAX; i++)
		n += (size_t)snprintf(text + n, 64, "hooksPath = h%u\n", i);
	put("w/.git/config", text);
	free(text);
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, GIT_HOOKS_MAX);
	ck_assert(h.unclear);
	ck_assert(!git_hooks_has(&h, "h0/x"));
	ck_assert(git_hooks_has(&h, "h1/x"));
	ck_assert(git_hooks_has(&h, "h256/x"));
}
END_TEST

START_TEST(too_large_is_unclear)
{
	put("w/.git/config", "");
	ck_assert_int_eq(truncate(at("w/.git/config"), GIT_HOOKS_CONFIG), 0);
	git_hooks_find(&h, at("w"));
	ck_assert(!h.unclear);
	ck_assert_int_eq(truncate(at("w/.git/config"), GIT_HOOKS_CONFIG + 1), 0);
	git_hooks_find(&h, at("w"));
	ck_assert(h.unclear);
}
END_TEST

START_TEST(by_a_link_no_device_is_opened)
{
	char link[256];

	char event[512];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;

	put("w/.git/x", "");
	ck_assert_int_eq(mkfifo(at("fifo"), 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, at("fifo"), IN_OPEN), 0);
	(void)snprintf(link, sizeof(link), "%s/w/.git/config", top);
	ck_assert_int_eq(symlink("../../fifo", link), 0);
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 0);
	ck_assert_int_lt(read(watch, event, sizeof(event)), 0);
	fd = open(at("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);	/* an opening would have been seen */
	ck_assert_int_gt(read(watch, event, sizeof(event)), 0);
	close(fd);
	close(watch);
	ck_assert_int_eq(unlink(link), 0);
	put("plain", "hooksPath = hk\n");
	ck_assert_int_eq(symlink("../../plain", link), 0);
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 1);
}
END_TEST

START_TEST(root_reads_as_the_owner)
{
	char link[256];

	if (geteuid() != 0)
		return;
	put("secret", "hooksPath = hk\n");
	put("w/.git/x", "");
	(void)snprintf(link, sizeof(link), "%s/w/.git/config", top);
	ck_assert_int_eq(symlink("../../secret", link), 0);
	ck_assert_int_eq(chmod(top, 0755), 0);
	ck_assert_int_eq(chmod(at("secret"), 0600), 0);
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 1);	/* root's own workspace */
	git_hooks_release(&h);
	ck_assert_int_eq(chown(at("w"), 65534, 65534), 0);
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 0);
	ck_assert(h.unclear);
	git_hooks_release(&h);
	ck_assert_int_eq(chmod(at("secret"), 0640), 0);	/* a group that root is in */
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 0);
	ck_assert_int_eq(chmod(at("secret"), 0644), 0);
	git_hooks_find(&h, at("w"));
	ck_assert_uint_eq(h.n, 1);
	ck_assert_int_eq(chmod(at("secret"), 0600), 0);
	ck_assert_int_ge(open(at("secret"), O_RDONLY | O_CLOEXEC), 0);	/* our ids are our own again */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("git_hooks");
	TCase *t = tcase_create("git_hooks");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, values_are_found);
	tcase_add_test(t, any_bytes_end);
	tcase_add_test(t, a_repository_names_its_folders);
	tcase_add_test(t, the_workspace_may_lie_in_one);
	tcase_add_test(t, the_workspace_may_be_one);
	tcase_add_test(t, linked_worktrees_are_followed);
	tcase_add_test(t, what_is_no_file_is_not_read);
	tcase_add_test(t, homes_are_expanded);
	tcase_add_test(t, what_cannot_be_judged_makes_names_of_hooks_count);
	tcase_add_test(t, links_are_seen_through);
	tcase_add_test(t, of_many_the_last_are_kept);
	tcase_add_test(t, too_large_is_unclear);
	tcase_add_test(t, by_a_link_no_device_is_opened);
	tcase_add_test(t, root_reads_as_the_owner);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
