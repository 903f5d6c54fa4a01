/* SPDX-License-Identifier: Apache-2.0 */
/* What protected names that are links lead to is protected as they are. */
#include "executor/workspace/protected_links.h"

#include <check.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/workspace/fsat.h"
#include "executor/workspace/journal.h"
#include "executor/workspace/protected_place.h"
#include "executor/workspace/scan.h"

static char top[64], upper[96], lower[96];
static struct protected_place place;
static struct journal j;

static void setup(void)
{
	(void)snprintf(top, sizeof(top), "/tmp/ak-links-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	(void)snprintf(upper, sizeof(upper), "%s/upper", top);
	(void)snprintf(lower, sizeof(lower), "%s/lower", top);
	ck_assert_int_eq(mkdir(upper, 0755), 0);
	ck_assert_int_eq(mkdir(lower, 0755), 0);
}

static void teardown(void)
{
	int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	journal_release(&j);
	ck_assert_int_eq(ws_empty(dir, NULL), 0);
	close(dir);
	ck_assert_int_eq(rmdir(top), 0);
}

/* with its folders; @text: what is in it, or where it leads */
static void put(const char *layer, const char *path, const char *text, bool link)
{
	char full[256];
	FILE *f;

	(void)snprintf(full, sizeof(full), "%s/%s", layer, path);
	for (char *s = full + strlen(layer) + 1; (s = strchr(s, '/')) != NULL; *s++ = '/') {
		*s = '\0';
		(void)mkdir(full, 0755);
	}
	if (link) {
		ck_assert_int_eq(symlink(text, full), 0);
		return;
	}
	f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void file(const char *layer, const char *path)
{
	put(layer, path, layer == upper ? "other\n" : "x\n", false);
}

static void scan(void)
{
	int u = open(upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC), l = open(lower, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ak_err err = {0};

	journal_release(&j);
	protected_place_find(&place, lower);
	ck_assert_msg(scan_layer(u, l, &place, 0, &j, &err) == 0, "%s", err.msg);
	protected_place_release(&place);
	close(u);
	close(l);
}

/* is the change of @path held back? */
static bool held(const char *path)
{
	const struct change *c = journal_find(&j, path);

	ck_assert_msg(c != NULL, "%s", path);
	return c->flags & CHANGE_PROTECTED;
}

/* the name that makes it so; "": its own, or none */
static const char *by(const char *path)
{
	const struct change *c = journal_find(&j, path);

	ck_assert_msg(c != NULL, "%s", path);
	return c->by ? c->by : "";
}

START_TEST(a_file_by_links_of_links)
{
	file(lower, "s/a");
	file(lower, "s/b");
	file(lower, "s/free");
	put(lower, "x/y/.envrc", "../../one", true);
	put(lower, "one", "two", true);
	put(lower, "two", "./s/../s//a", true);
	put(lower, "conftest.py", "s/b", true);
	file(upper, "s/a");
	file(upper, "s/b");
	file(upper, "s/free");
	scan();
	ck_assert(held("s/a"));
	ck_assert(!held("s/b"));	/* as its name: listed */
	ck_assert(journal_find(&j, "s/b")->flags & CHANGE_LISTED);
	ck_assert(!held("s/free"));
	ck_assert_str_eq(by("s/a"), "x/y/.envrc");
	ck_assert_str_eq(by("s/b"), "conftest.py");
	ck_assert_str_eq(by("s/free"), "");
}
END_TEST

START_TEST(a_folder_is_what_the_name_makes_of_it)
{
	file(lower, "hk/pre-commit");
	put(lower, ".git/hooks", "../hk", true);
	put(lower, "hk/pre-push", "../s/push", true);
	put(lower, "sub/.git/modules", "../../mods", true);
	put(lower, ".vscode", "cfg/code", true);
	file(lower, "cfg/code/tasks.json");
	file(lower, "cfg/other");
	file(upper, "hk/pre-commit");
	file(upper, "hk/post-commit");
	file(upper, "hk/post-commit.sample");
	file(upper, "hkx/a");
	file(upper, "s/push");
	file(upper, "mods/a/config");
	put(lower, ".git/info", "../way/info", true);
	put(lower, "way", "real", true);
	file(lower, "real/info/attributes");
	file(upper, "real/info/attributes");
	file(upper, "real/info/exclude");
	file(upper, "cfg/code/new/tasks.json");
	file(upper, "cfg/other");
	scan();
	ck_assert(held("hk/pre-commit"));
	ck_assert(held("hk/post-commit"));
	ck_assert(!held("hk/post-commit.sample"));
	ck_assert(!held("hkx/a"));
	ck_assert(held("s/push"));
	ck_assert(held("mods/a/config"));
	ck_assert(held("real/info/attributes"));
	ck_assert(!held("real/info/exclude"));
	ck_assert(held("cfg/code/new/tasks.json"));
	ck_assert(!held("cfg/other"));
	ck_assert_str_eq(by("hk/pre-commit"), ".git/hooks/pre-commit");
	ck_assert_str_eq(by("hk/post-commit.sample"), "");
	ck_assert_str_eq(by("s/push"), ".git/hooks/pre-push");
	ck_assert_str_eq(by("cfg/code/new/tasks.json"), ".vscode/new/tasks.json");
}
END_TEST

START_TEST(each_link_on_the_way_and_the_new_ones)
{
	put(lower, ".husky", "way/husky", true);
	put(lower, "way", "old", true);
	file(lower, "old/husky/pre-commit");
	put(upper, "way", "new", true);
	file(upper, "new/husky/pre-commit");
	file(upper, "old/husky/pre-commit");
	put(upper, "CLAUDE.md", "doc/a", true);
	put(upper, "doc/a", "b", true);
	file(upper, "doc/b");
	file(upper, "doc/c");
	scan();
	ck_assert(held("way"));
	ck_assert(held("new/husky/pre-commit"));
	ck_assert(held("old/husky/pre-commit"));
	ck_assert(held("doc/a"));
	ck_assert(held("doc/b"));
	ck_assert(!held("doc/c"));
}
END_TEST

START_TEST(absolute_ones_and_those_that_come_back)
{
	char text[256];

	file(lower, "a");
	file(lower, "b");
	file(lower, "c");
	(void)snprintf(text, sizeof(text), "%s/a", lower);
	put(lower, ".envrc", text, true);
	put(lower, "AGENTS.md", "../lower/b", true);
	(void)snprintf(text, sizeof(text), "%s/host/c", top);
	put(lower, "CLAUDE.md", text, true);
	ck_assert_int_gt(snprintf(text, sizeof(text), "%s/host", top), 0);
	ck_assert_int_eq(symlink("lower", text), 0);
	put(lower, "GEMINI.md", "/etc/passwd", true);
	file(upper, "a");
	file(upper, "b");
	file(upper, "c");
	file(upper, "etc/passwd");
	scan();
	ck_assert(held("a"));
	ck_assert(held("b"));
	ck_assert(held("c"));
	ck_assert(!held("etc/passwd"));
}
END_TEST

START_TEST(circles_end)
{
	put(lower, ".claude", "self", true);
	put(lower, "self", ".claude", true);
	put(lower, ".github", "g", true);
	put(lower, "g/up", ".", true);
	put(lower, "g/h", "../h", true);
	put(lower, "h/g", "../g", true);
	file(upper, "g/x");
	file(upper, "h/x");
	file(upper, "x");
	scan();
	ck_assert(held("g/x"));
	ck_assert(held("h/x"));
	ck_assert(!held("x"));
}
END_TEST

START_TEST(too_many_hold_everything)
{
	char name[64];

	for (unsigned i = 0; i < PROTECTED_LINKS_MAX; i++) {
		(void)snprintf(name, sizeof(name), ".vscode/%u", i);
		put(upper, name, name + 1, true);
	}
	file(upper, "x");
	scan();
	ck_assert(!held("x"));
	put(upper, ".vscode/more", "other", true);
	scan();
	ck_assert(held("x"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("protected_links");
	TCase *t = tcase_create("protected_links");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_file_by_links_of_links);
	tcase_add_test(t, a_folder_is_what_the_name_makes_of_it);
	tcase_add_test(t, each_link_on_the_way_and_the_new_ones);
	tcase_add_test(t, absolute_ones_and_those_that_come_back);
	tcase_add_test(t, circles_end);
	tcase_add_test(t, too_many_hold_everything);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
