/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the look at protected names, on trees of its own in a temporary folder. */
#include "executor/workspace/protected_scan.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];
static struct protected_mark mark;
static struct protected_report rep;
static struct git_hooks hooks;	/* of the mark that is set next */

static void put(const char *path, const char *text)
{
	char full[512];
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

static void move(const char *from, const char *to)
{
	char a[512], b[512];

	(void)snprintf(a, sizeof(a), "%s/%s", top, from);
	(void)snprintf(b, sizeof(b), "%s/%s", top, to);
	ck_assert_int_eq(rename(a, b), 0);
}

/* what came before was long ago: a tick of the clock that stamps files, and more */
static void set(void)
{
	ck_assert_int_eq(usleep(30000), 0);
	protected_mark_set(&mark, open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &hooks);
	ck_assert_int_ge(mark.dir, 0);
}

static void scan(void)
{
	protected_report_release(&rep);
	protected_scan(&mark, &rep);
}

static const struct protected_change *find(const char *path)
{
	for (size_t i = 0; i < rep.n; i++)
		if (strcmp(rep.list[i].path, path) == 0)
			return &rep.list[i];
	return NULL;
}

#define IS(path, want)                                                             \
	do {                                                                       \
		ck_assert_msg(find(path) != NULL, "%s is not reported", path);     \
		ck_assert_msg(find(path)->op == (want), "%s: wrong operation", path); \
	} while (0)

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void setup(void)
{
	(void)snprintf(top, sizeof(top), "/tmp/ak-scan-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	mark = (struct protected_mark)PROTECTED_MARK_NONE;
	put(".git/config", "[core]\n");
	put(".git/hooks/pre-commit.sample", "#");
	put(".git/info/exclude", "");
	put(".envrc", "old");
	put(".github/workflows/a.yml", "old");
	put("src/deep/.envrc", "old");
	put("src/deep/x.c", "old");
	put("src/vendor/.git/config", "old");
	put("other/f", "old");
}

static void teardown(void)
{
	protected_report_release(&rep);
	protected_mark_release(&mark);
	(void)nftw(top, drop, 16, FTW_DEPTH | FTW_PHYS);
}

START_TEST(nothing_changed_is_nothing_told)
{
	set();
	put("src/deep/x.c", "new");
	put("src/new.c", "new");
	put(".git/index", "new");
	put(".git/objects/aa/bb", "new");
	put(".git/refs/heads/main", "new");
	put(".git/hooks/post-commit.sample", "new");
	scan();
	ck_assert_uint_eq(rep.n, 0);
	ck_assert(!rep.cut);
}
END_TEST

START_TEST(what_changed_or_appeared_is_told)
{
	set();
	put(".envrc", "new");
	put(".git/config", "new");
	put(".git/hooks/pre-commit", "new");
	put(".git/modules/a/b/config", "new");
	put(".git/modules/a/b/hooks/post-checkout", "new");
	put(".git/worktrees/w/gitdir", "new");
	put(".github/workflows/b.yml", "new");
	put("src/deep/.envrc", "new");
	put("src/deep/er/CLAUDE.md", "new");
	put("src/vendor/.git/config", "new");
	scan();
	ck_assert_uint_eq(rep.n, 10);
	IS(".envrc", PROTECTED_MODIFIED);
	IS(".git/config", PROTECTED_MODIFIED);
	IS(".git/hooks/pre-commit", PROTECTED_ADDED);
	IS(".git/modules/a/b/config", PROTECTED_ADDED);
	IS(".git/modules/a/b/hooks/post-checkout", PROTECTED_ADDED);
	IS(".git/worktrees/w/gitdir", PROTECTED_ADDED);
	IS(".github/workflows/b.yml", PROTECTED_ADDED);
	IS("src/deep/.envrc", PROTECTED_MODIFIED);
	IS("src/deep/er/CLAUDE.md", PROTECTED_ADDED);
	IS("src/vendor/.git/config", PROTECTED_MODIFIED);
	ck_assert_str_eq(find(".git/config")->text, "new");
	ck_assert_ptr_null(find(".envrc")->text);
}
END_TEST

START_TEST(replacing_is_changing)
{
	set();
	put("other/t", "new");
	move("other/t", ".git/config");
	move("other/f", "src/deep/.npmrc");
	scan();
	ck_assert_uint_eq(rep.n, 2);
	IS(".git/config", PROTECTED_MODIFIED);
	IS("src/deep/.npmrc", PROTECTED_MODIFIED);	/* deeper down an old file's new name is not known to be new */
}
END_TEST

START_TEST(a_moved_folder_brings_new_names)
{
	set();
	move("src/deep", "src/elsewhere");
	move("other", ".vscode");
	scan();
	IS("src/elsewhere/.envrc", PROTECTED_ADDED);
	IS(".vscode/f", PROTECTED_ADDED);
	ck_assert_uint_eq(rep.n, 2);
	protected_report_release(&rep);
	protected_mark_release(&mark);
	set();
	move("src", "src2");	/* a folder of the top, known by its number */
	put("src2/touched", "");
	scan();
	IS("src2/elsewhere/.envrc", PROTECTED_ADDED);
	IS("src2/vendor/.git/config", PROTECTED_ADDED);
}
END_TEST

START_TEST(writing_beside_a_name_is_no_change_of_it)
{
	set();
	put("src/deep/y", "new");
	put("src/z", "new");
	put("top", "new");
	scan();
	ck_assert_uint_eq(rep.n, 0);
}
END_TEST

START_TEST(what_the_user_changed_just_before_is_not_told)
{
	put(".envrc", "just now");
	put(".git/config", "just now");
	protected_mark_set(&mark, open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &hooks);
	scan();
	ck_assert_ptr_null(find(".envrc"));
	ck_assert_ptr_null(find(".git/config"));
}
END_TEST

START_TEST(a_removed_file_changes_its_protected_folder)
{
	char path[128];

	set();
	(void)snprintf(path, sizeof(path), "%s/.github/workflows/a.yml", top);
	ck_assert_int_eq(unlink(path), 0);
	scan();
	ck_assert_uint_eq(rep.n, 1);
	IS(".github/workflows", PROTECTED_MODIFIED);
}
END_TEST

START_TEST(links_are_looked_at_and_not_followed_out)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/AGENTS.md", top);
	ck_assert_int_eq(symlink("other/f", path), 0);
	(void)snprintf(path, sizeof(path), "%s/src/.claude", top);
	ck_assert_int_eq(symlink("/etc", path), 0);
	set();
	put("other/f", "what the link leads to");
	(void)snprintf(path, sizeof(path), "%s/src/.vscode", top);
	ck_assert_int_eq(symlink("/", path), 0);
	scan();
	ck_assert_uint_eq(rep.n, 2);
	IS("AGENTS.md", PROTECTED_MODIFIED);
	IS("src/.vscode", PROTECTED_ADDED);
}
END_TEST

START_TEST(linked_folders_are_looked_into)
{
	int top_dir;

	put("hk/pre-commit", "x");
	put("mods/a/hooks/post-merge", "x");
	put("mods/a/objects/aa/x", "x");
	put("cfg/self/f", "x");
	put(".git/modules/x", "x");
	put("sub/.git/HEAD", "x");
	top_dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(symlinkat("../../hk", top_dir, "sub/.git/hooks"), 0);
	ck_assert_int_eq(symlinkat("../../mods", top_dir, "sub/.git/modules"), 0);
	ck_assert_int_eq(symlinkat("cfg", top_dir, ".husky"), 0);
	ck_assert_int_eq(symlinkat(".", top_dir, "cfg/up"), 0);
	close(top_dir);
	set();
	put("hk/pre-commit", "y");
	put("hk/new.sample", "y");
	put("hkx/pre-commit", "y");
	put("mods/a/hooks/post-merge", "y");
	put("mods/a/objects/aa/x", "y");
	put("cfg/self/f", "y");
	scan();
	ck_assert_uint_eq(rep.n, 3);
	IS("hk/pre-commit", PROTECTED_MODIFIED);
	IS("mods/a/hooks/post-merge", PROTECTED_MODIFIED);
	IS("cfg/self/f", PROTECTED_MODIFIED);
	ck_assert(!rep.cut);
}
END_TEST

START_TEST(a_bare_repository_is_one)
{
	put("b/HEAD", "");
	put("b/objects/x", "");
	put("b/refs/x", "");
	put("b/config", "old");
	set();
	put("b/config", "new");
	put("b/hooks/update", "new");
	put("b/description", "new");
	scan();
	ck_assert_uint_eq(rep.n, 2);
	IS("b/config", PROTECTED_MODIFIED);
	IS("b/hooks/update", PROTECTED_ADDED);
}
END_TEST

START_TEST(what_becomes_a_repository_is_named)
{
	put("b/config", "old");
	put("HEAD", "");
	put("objects/x", "");
	put("config", "old");
	set();
	put("b/HEAD", "");
	put("b/objects/x", "");
	put("b/refs/x", "");
	put("refs/x", "");
	put("b/.envrc", "a name that counts anywhere");
	scan();
	ck_assert_uint_eq(rep.n, 3);
	IS("b/HEAD", PROTECTED_ADDED);
	IS("b/.envrc", PROTECTED_ADDED);
	IS("refs", PROTECTED_ADDED);
}
END_TEST

START_TEST(many_are_counted)
{
	char name[64];

	set();
	for (unsigned i = 0; i < PROTECTED_SCAN_NAMES + 9; i++) {
		(void)snprintf(name, sizeof(name), "d%u/.envrc", i);
		put(name, "");
	}
	scan();
	ck_assert_uint_eq(rep.n, PROTECTED_SCAN_NAMES);
	ck_assert_uint_eq(rep.more, 9);
}
END_TEST

START_TEST(too_deep_is_said)
{
	char path[512] = "";

	set();
	for (unsigned i = 0; i < PROTECTED_SCAN_DEPTH + 4; i++)
		memcpy(path + (size_t)i * 2, "d/", 2);
	memcpy(path + (PROTECTED_SCAN_DEPTH + 4) * 2, ".envrc", 7);
	put(path, "");
	scan();
	ck_assert(rep.cut);
}
END_TEST

/* who may read all sees into it as well: that is not what is tested */
START_TEST(a_folder_that_the_command_closed_is_told)
{
	char open_one[512], closed[512], before[512];

	if (geteuid() == 0) {
		ck_assert_int_eq(chown(top, 65534, 65534), 0);
		ck_assert_int_eq(seteuid(65534), 0);
	}
	(void)snprintf(open_one, sizeof(open_one), "%s/new/.git", top);
	(void)snprintf(closed, sizeof(closed), "%s/new2", top);
	(void)snprintf(before, sizeof(before), "%s/long-ago", top);
	put("long-ago/f", "old");
	ck_assert_int_eq(chmod(before, 0111), 0);
	set();
	put("new/.git/config", "[core]\n\tfsmonitor = x\n");
	put("new2/.git/config", "[core]\n\tfsmonitor = x\n");
	ck_assert_int_eq(chmod(open_one, 0111), 0);
	ck_assert_int_eq(chmod(closed, 0), 0);
	scan();
	ck_assert_int_eq(chmod(open_one, 0755), 0);
	ck_assert_int_eq(chmod(closed, 0755), 0);
	ck_assert_int_eq(chmod(before, 0755), 0);
	ck_assert_int_eq(seteuid(getuid()), 0);
	IS("new/.git", PROTECTED_ADDED);
	IS("new2", PROTECTED_ADDED);
	ck_assert_ptr_null(find("long-ago"));
	ck_assert(rep.cut);
}
END_TEST

START_TEST(names_that_git_does_not_have_are_told)
{
	put(".git/modules/objects/x/config", "old");
	set();
	put(".git/new-in-git", "new");
	put(".git/rebase-merge/git-rebase-todo", "exec x");
	put(".git/config.lock", "new");
	put(".git/modules/objects/x/config", "a submodule of that name");
	put(".git/modules/a/objects/aa/bb", "new");
	put(".git/modules/a/HEAD", "new");
	put(".git/worktrees/w/odd", "new");
	scan();
	IS(".git/new-in-git", PROTECTED_ADDED);
	IS(".git/rebase-merge/git-rebase-todo", PROTECTED_ADDED);
	IS(".git/modules/objects/x/config", PROTECTED_MODIFIED);
	IS(".git/worktrees/w/odd", PROTECTED_ADDED);
	ck_assert_uint_eq(rep.n, 4);
}
END_TEST

START_TEST(submodules_may_be_called_like_a_store)
{
	put(".git/modules/src/logs/config", "old");
	put(".git/modules/src/logs/hooks/post-merge", "old");
	put(".git/modules/lib/objects/aa/hooks/update", "old");
	set();
	put(".git/modules/src/logs/config", "new");
	put(".git/modules/src/logs/hooks/post-checkout", "new");
	put(".git/modules/lib/objects/aa/hooks/update", "new");
	put(".git/modules/docs/refs/x/config", "new");
	put(".git/modules/src/logs/objects/aa/bb", "new");
	put(".git/modules/src/logs/logs/HEAD", "new");
	put(".git/modules/src/logs/index", "new");
	move(".git/modules/src/logs/hooks/post-merge", "kept");
	ck_assert_int_eq(symlinkat("../../../elsewhere", mark.dir, ".git/modules/src/refs"), 0);
	scan();
	IS(".git/modules/src/logs/config", PROTECTED_MODIFIED);
	IS(".git/modules/src/logs/hooks/post-checkout", PROTECTED_ADDED);
	IS(".git/modules/lib/objects/aa/hooks/update", PROTECTED_MODIFIED);
	IS(".git/modules/docs/refs/x/config", PROTECTED_ADDED);
	IS(".git/modules/src/refs", PROTECTED_ADDED);
	ck_assert(find(".git/modules/src/logs/config")->config);
	ck_assert_uint_eq(rep.n, 5);
	ck_assert(!rep.cut);
}
END_TEST

START_TEST(a_link_in_place_of_a_git_folder_is_told)
{
	char path[128];

	set();
	(void)snprintf(path, sizeof(path), "%s/.git/objects", top);
	ck_assert_int_eq(symlink("/tmp", path), 0);
	scan();
	ck_assert_uint_eq(rep.n, 1);
	IS(".git/objects", PROTECTED_ADDED);
}
END_TEST

START_TEST(nested_hooks_by_another_name_are_told)
{
	put("one/.git/config", "[core]\nhooksPath = hk\n");
	put("one/hk/pre-commit", "old");
	put("two/.git/config", "[core]\nhooksPath = .\n");
	put("two/pre-push", "old");
	put("src/deep/hk/pre-commit", "old");
	hooks.workspace = strdup(top);
	set();
	put("one/hk/pre-commit", "new");
	put("one/hk/lib/x", "new");
	put("one/other", "new");
	put("two/pre-push", "new");
	put("src/deep/hk/pre-commit", "new");
	scan();
	IS("one/hk/pre-commit", PROTECTED_MODIFIED);
	IS("one/hk/lib/x", PROTECTED_ADDED);
	IS("two/pre-push", PROTECTED_MODIFIED);
	ck_assert_uint_eq(rep.n, 3);
}
END_TEST

START_TEST(hooks_by_another_name_are_told)
{
	put("tools/hooks/pre-push", "old");
	hooks.path[hooks.n++] = strdup("tools/hooks");
	set();
	put("tools/hooks/pre-push", "new");
	put("tools/hooks/lib/x.sh", "new");
	put("tools/other", "new");
	scan();
	ck_assert_uint_eq(rep.n, 2);
	IS("tools/hooks/pre-push", PROTECTED_MODIFIED);
	IS("tools/hooks/lib/x.sh", PROTECTED_ADDED);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("protected_scan");
	TCase *t = tcase_create("protected_scan");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing_changed_is_nothing_told);
	tcase_add_test(t, what_changed_or_appeared_is_told);
	tcase_add_test(t, replacing_is_changing);
	tcase_add_test(t, a_moved_folder_brings_new_names);
	tcase_add_test(t, writing_beside_a_name_is_no_change_of_it);
	tcase_add_test(t, what_the_user_changed_just_before_is_not_told);
	tcase_add_test(t, a_removed_file_changes_its_protected_folder);
	tcase_add_test(t, links_are_looked_at_and_not_followed_out);
	tcase_add_test(t, linked_folders_are_looked_into);
	tcase_add_test(t, a_bare_repository_is_one);
	tcase_add_test(t, what_becomes_a_repository_is_named);
	tcase_add_test(t, many_are_counted);
	tcase_add_test(t, too_deep_is_said);
	tcase_add_test(t, a_folder_that_the_command_closed_is_told);
	tcase_add_test(t, names_that_git_does_not_have_are_told);
	tcase_add_test(t, submodules_may_be_called_like_a_store);
	tcase_add_test(t, a_link_in_place_of_a_git_folder_is_told);
	tcase_add_test(t, nested_hooks_by_another_name_are_told);
	tcase_add_test(t, hooks_by_another_name_are_told);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
