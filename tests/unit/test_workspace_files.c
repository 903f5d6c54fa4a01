/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of what changesets and checkpoints share: looking, walking, copying, installing, removing. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/workspace/copy.h"
#include "executor/workspace/fsat.h"
#include "executor/workspace/walk.h"

static char top[64];
static int root;

static void make_top(void)
{
	(void)snprintf(top, sizeof(top), "/tmp/ak-test-files-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(root, 0);
}

static void drop_top(void)
{
	ck_assert_int_eq(ws_empty(root, NULL), 0);
	close(root);
	ck_assert_int_eq(rmdir(top), 0);
}

static void put(const char *name, const char *text)
{
	int fd = openat(root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

START_TEST(paths_are_relative_and_plain)
{
	static const char *const bad[] = { "", "/", "/a", "a//b", "a/", ".", "..", "a/..", "a/./b", "../a" };
	static const char *const good[] = { "a", "...", "a/b", ".a/..b", "a/b.", "a\nb/\xff" };
	char name[300];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!ws_path_ok(bad[i]), "%s", bad[i]);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(ws_path_ok(good[i]), "%s", good[i]);
	memset(name, 'n', sizeof(name));
	name[255] = '\0';
	ck_assert(ws_path_ok(name));
	name[255] = 'n';
	name[256] = '\0';
	ck_assert(!ws_path_ok(name));
}
END_TEST

START_TEST(no_link_is_followed)
{
	struct ws_ident id;
	const char *name;

	ck_assert_int_eq(symlinkat("/etc", root, "l"), 0);
	ck_assert_int_eq(ws_open_dir(root, "l"), -ELOOP);
	ck_assert_int_eq(ws_open_parent(root, "l/passwd", &name), -ELOOP);
	ck_assert_int_eq(ws_stat_beneath(root, "l/passwd", &id), 0);
	ck_assert_uint_eq(id.mode, 0);
	ck_assert_int_eq(ws_open_file(root, "l", &id), -EINVAL);
	ck_assert_int_eq(ws_open_dir(root, ".."), -EXDEV);
	ck_assert_int_eq(mkfifoat(root, "p", 0600), 0);
	ck_assert_int_eq(ws_open_file(root, "p", &id), -EINVAL);
	ck_assert_int_eq(ws_open_file(root, "none", &id), -ENOENT);
}
END_TEST

START_TEST(a_changed_file_is_not_the_same)
{
	struct ws_ident a, b;

	put("f", "one");
	ck_assert_int_eq(ws_stat(root, "f", &a), 0);
	ck_assert_int_eq(ws_stat(root, "f", &b), 0);
	ck_assert(ws_same(&a, &b));
	ck_assert_int_eq(fchmodat(root, "f", 0600, 0), 0);
	ck_assert_int_eq(ws_stat(root, "f", &b), 0);
	ck_assert(!ws_same(&a, &b));
}
END_TEST

struct seen {
	char text[512];
	int stop;
};

static int note(void *arg, const struct ws_entry *e, struct ak_err *err)
{
	struct seen *s = arg;

	(void)err;
	size_t len = strlen(s->text);

	(void)snprintf(s->text + len, sizeof(s->text) - len, "%s ", e->path);
	if (s->stop)
		return -ECANCELED;
	return strcmp(e->name, "closed") == 0 ? WS_DO_NOT_ENTER : WS_GO_ON;
}

START_TEST(a_walk_has_one_order)
{
	struct seen s = { 0 };

	mkdirat(root, "b", 0755);
	mkdirat(root, "a", 0755);
	mkdirat(root, "closed", 0755);
	put("b/2", "");
	put("b/1", "");
	put("a/x", "");
	put("closed/y", "");
	put("z", "");
	ck_assert_int_eq(symlinkat("b", root, "link"), 0);
	ck_assert_int_eq(ws_walk(root, "", note, NULL, &s, NULL), 0);
	ck_assert_str_eq(s.text, "a b closed link z a/x b/1 b/2 ");
	s = (struct seen){ 0 };
	ck_assert_int_eq(ws_walk(root, "b", note, NULL, &s, NULL), 0);
	ck_assert_str_eq(s.text, "b/1 b/2 ");
	s = (struct seen){ .stop = 1 };
	ck_assert_int_eq(ws_walk(root, "", note, NULL, &s, NULL), -ECANCELED);
	ck_assert_str_eq(s.text, "a ");
}
END_TEST

START_TEST(a_sparse_file_stays_sparse)
{
	struct ws_ident a, b;
	char c = 0;
	int from, to;

	from = openat(root, "from", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(ftruncate(from, 1 << 28), 0);
	ck_assert_int_eq(pwrite(from, "x", 1, 1 << 27), 1);
	to = openat(root, "to", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(ws_copy_data(from, to, 1 << 27), -EFBIG);
	ck_assert_int_eq(ws_copy_data(from, to, UINT64_MAX), 0);
	ck_assert_int_eq(ws_fstat(from, &a), 0);
	ck_assert_int_eq(ws_fstat(to, &b), 0);
	ck_assert_uint_eq(a.size, b.size);
	ck_assert_uint_lt(b.blocks, 4096);
	ck_assert_int_eq(pread(to, &c, 1, 1 << 27), 1);
	ck_assert_int_eq(c, 'x');
	close(from);
	close(to);
}
END_TEST

START_TEST(install_is_whole_or_nothing)
{
	struct ws_ident old = { 0 }, now;
	struct ws_file f = { .src = -1, .mode = 06755, .uid = -1, .gid = -1, .mtime_ns = 1000000007, .old = &old };

	put("src", "new");
	f.src = openat(root, "src", O_RDONLY | O_CLOEXEC);
	if (fsetxattr(f.src, "user.a", "v", 1, 0) == 0)
		(void)fsetxattr(f.src, "user.overlay.opaque", "y", 1, 0);
	ck_assert_int_eq(ws_install(root, "dst", ".t", &f, &now), 0);
	ck_assert_uint_eq(now.mode & 07777, 0755);
	ck_assert_int_eq(now.mtime_ns, 1000000007);
	ck_assert_uint_eq(now.size, 3);
	/* it was not there, and now it is */
	ck_assert_int_eq(ws_install(root, "dst", ".t", &f, NULL), -ESTALE);
	old = now;
	ck_assert_int_eq(ws_install(root, "dst", ".t", &f, &now), 0);
	ck_assert_int_eq(ws_install(root, "dst", ".t", &f, NULL), -ESTALE);
	f.old = NULL;
	mkdirat(root, "d", 0755);
	ck_assert_int_eq(ws_install(root, "d", ".t", &f, NULL), -EISDIR);
	put(".t", "mine");
	ck_assert_int_eq(ws_install(root, "dst", ".t", &f, NULL), -EEXIST);
	ck_assert_int_eq(unlinkat(root, ".t", 0), 0);
	f.link = "/somewhere";
	ck_assert_int_eq(ws_install(root, "dst", ".t", &f, &now), 0);
	ck_assert(S_ISLNK(now.mode));
	ck_assert_int_eq(faccessat(root, ".t", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	close(f.src);
}
END_TEST

START_TEST(a_deep_tree_is_removed)
{
	int fd = dup(root);

	/* far deeper than a path can say, with names that hold everything but '/' */
	for (int i = 0; i < 3000; i++) {
		int down;

		ck_assert_int_eq(mkdirat(fd, "d\n\x01", 0700), 0);
		ck_assert_int_eq(symlinkat("/etc/passwd", fd, "l"), 0);
		down = openat(fd, "d\n\x01", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ge(down, 0);
		if (i % 7 == 0)
			ck_assert_int_eq(fchmod(fd, i ? 0 : 0500), 0);
		close(fd);
		fd = down;
	}
	close(fd);
	ck_assert_int_eq(fchmod(root, 0700), 0);
	ck_assert_int_eq(ws_remove(root, "d\n\x01", NULL), 0);
	ck_assert_int_eq(ws_remove(root, "d\n\x01", NULL), 0);
}
END_TEST

START_TEST(what_cannot_be_removed_stays_and_the_rest_goes)
{
	struct ak_err err = {0};
	char path[128];

	/* in a test's own process; the folder again, as a part of its mounts */
	if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return;
	close(root);
	root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(mkdirat(root, "x", 0700) | mkdirat(root, "x/a", 0700) | mkdirat(root, "x/a/m", 0700) | mkdirat(root, "x/z", 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/x/a/m", top);
	if (mount("none", path, "tmpfs", 0, NULL) < 0)
		return;
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"x/1", "x/a/2", "x/z/3"};

		close(openat(root, names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
	ck_assert_int_lt(ws_remove(root, "x", &err), 0);
	ck_assert(strlen(err.msg) > 0);
	for (int i = 0; i < 3; i++) {
		static const char *const gone[] = {"x/1", "x/a/2", "x/z"};

		ck_assert_int_ne(faccessat(root, gone[i], F_OK, 0), 0);
	}
	ck_assert_int_eq(umount2(path, MNT_DETACH), 0);
	ck_assert_int_eq(ws_remove(root, "x", NULL), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("workspace files");
	TCase *t = tcase_create("files");

	tcase_add_checked_fixture(t, make_top, drop_top);
	tcase_add_test(t, paths_are_relative_and_plain);
	tcase_add_test(t, no_link_is_followed);
	tcase_add_test(t, a_changed_file_is_not_the_same);
	tcase_add_test(t, a_walk_has_one_order);
	tcase_add_test(t, a_sparse_file_stays_sparse);
	tcase_add_test(t, install_is_whole_or_nothing);
	tcase_add_test(t, a_deep_tree_is_removed);
	tcase_add_test(t, what_cannot_be_removed_stays_and_the_rest_goes);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
