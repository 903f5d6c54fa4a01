/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of where a write of a file tool goes: links within the workspace are followed as the sandbox's init does, others are not ours. */
#include "executor/touch_stay.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/workspace/fsat.h"

static char top[] = "/tmp/ak-touch-XXXXXX", ws[64];
static int root;

static void set_up(void)
{
	(void)snprintf(top, sizeof(top), "/tmp/ak-touch-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	(void)snprintf(ws, sizeof(ws), "%s/ws", top);
	ck_assert_int_eq(mkdir(ws, 0755), 0);
	root = open(ws, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(root, 0);
	ck_assert_int_eq(mkdirat(root, "d", 0755), 0);
	ck_assert_int_eq(mkdirat(root, "d/e", 0755), 0);
	ck_assert_int_ge(close(openat(root, "d/f", O_CREAT | O_WRONLY, 0644)), 0);
}

static void tear_down(void)
{
	struct ak_err err = { 0 };

	(void)close(root);
	root = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_msg(ws_remove(root, top + 5, &err) == 0, "%s", err.msg);
	(void)close(root);
}

static void leads(const char *path, const char *want)
{
	char got[WS_PATH_MAX + 1] = "?";
	int r = touch_resolve(root, path, "/inside", got);

	if (want)
		ck_assert_msg(r == 0 && strcmp(got, want) == 0, "\"%s\": %d \"%s\", not \"%s\"", path, r, got, want);
	else
		ck_assert_msg(r == 1, "\"%s\": %d \"%s\"", path, r, got);
}

static void link_to(const char *text, const char *name)
{
	ck_assert_int_eq(symlinkat(text, root, name), 0);
}

START_TEST(paths_are_from_the_workspace)
{
	leads("d/f", "d/f");
	leads("/inside/d/f", "d/f");
	leads("/inside//d/f", "d/f");
	leads("new", "new");
	leads("d/new", "d/new");
	leads("a/b/c", "a/b/c");
	leads("d/a/b/c", "d/a/b/c");
	leads("a//./b/./c", "a/b/c");
	leads("./d/.//a/f", "d/a/f");
	leads("/inside", NULL);
	leads("/insider/f", NULL);
	leads("/tmp/f", NULL);
	leads("", NULL);
	leads(".", NULL);
	leads("..", NULL);
	leads("d/..", NULL);
	leads("../f", NULL);
	leads("d/../../f", NULL);
	leads("d/e/../f", "d/f");
}
END_TEST

START_TEST(links_within_are_followed)
{
	link_to("d/f", "l");
	link_to("d", "dl");
	link_to("../d/e", "d/up");
	link_to("l", "ll");
	link_to("dl/new", "dangling");
	leads("l", "d/f");
	leads("ll", "d/f");
	leads("dl/f", "d/f");
	leads("dl/up/x", "d/e/x");
	leads("dl/a/b", "d/a/b");
	leads("dangling", "d/new");
}
END_TEST

START_TEST(links_that_lead_out_are_not_ours)
{
	link_to("/etc/passwd", "abs");
	link_to("../out", "up");
	link_to("..", "parent");
	link_to(ws, "self");
	link_to("loop", "loop");
	link_to("/proc/self", "magic");
	leads("abs", NULL);
	leads("up", NULL);
	leads("parent/x", NULL);
	leads("self/x", NULL);
	leads("loop", NULL);
	leads("loop/x", NULL);
	leads("magic/cwd/x", NULL);
	leads("d/f/x", NULL);
}
END_TEST

START_TEST(long_paths_are_refused_or_whole)
{
	char path[WS_PATH_MAX + 8], got[WS_PATH_MAX + 1];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(touch_resolve(root, path, "/inside", got), -ENAMETOOLONG);
	path[WS_NAME_MAX + 1] = '\0';
	leads(path, NULL);	/* a name that no file can have */
	path[WS_NAME_MAX] = '\0';
	leads(path, path);
}
END_TEST

/* inside a sandbox of ak's the call is refused, and so are file tools */
static bool kernel_opens(void)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

int main(void)
{
	if (!kernel_opens()) {
		printf("not tested: where file tools write, since openat2 is refused here\n");
		return 0;
	}

	Suite *s = suite_create("touch_resolve");
	TCase *tc = tcase_create("touch_resolve");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, paths_are_from_the_workspace);
	tcase_add_test(tc, links_within_are_followed);
	tcase_add_test(tc, links_that_lead_out_are_not_ours);
	tcase_add_test(tc, long_paths_are_refused_or_whole);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
