/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of reading an overlay's layer and of taking it over. Layers are made by hand, as the kernel would make them. The race at
 * the end is short; AK_RACE_TRIES makes it longer.
 */
#include "executor/workspace/apply.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/workspace/apply_text.h"
#include "executor/workspace/journal.h"
#include "executor/workspace/protected_place.h"
#include "executor/workspace/scan.h"

static char top[64];
static int upper, lower, base;
static struct journal j;
static struct protected_place place;
static bool attributes;

static void fixture(void)
{
	(void)snprintf(top, sizeof(top), "/tmp/ak-test-apply-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	base = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(mkdirat(base, "upper", 0755) | mkdirat(base, "lower", 0755) | mkdirat(base, "out", 0755), 0);
	upper = openat(base, "upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lower = openat(base, "lower", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	attributes = fsetxattr(upper, "user.ak.probe", "1", 1, 0) == 0;
	j = (struct journal){ 0 };
}

static void end_fixture(void)
{
	journal_release(&j);
	protected_place_release(&place);
	close(upper);
	close(lower);
	ck_assert_int_eq(ws_empty(base, NULL), 0);
	close(base);
	ck_assert_int_eq(rmdir(top), 0);
}

static void put(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_msg(fd >= 0, "%s", path);
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static void has(const char *path, const char *text)
{
	char buf[64] = "";
	int fd = openat(lower, path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s", path);
	ck_assert_int_ge(read(fd, buf, sizeof(buf) - 1), 0);
	ck_assert_str_eq(buf, text);
	close(fd);
}

static bool there(const char *path)
{
	return faccessat(lower, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void whiteout(const char *path)
{
	ck_assert_int_eq(mknodat(upper, path, S_IFCHR, makedev(0, 0)), 0);
}

static void opaque(const char *path)
{
	int fd = openat(upper, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(fsetxattr(fd, "user.overlay.opaque", "y", 1, 0), 0);
	close(fd);
}

/* in the past, so that what is there counts as older than the run */
static int64_t later(void)
{
	usleep(20000);
	return scan_now();
}

static void place_find(void)
{
	char path[128];

	protected_place_release(&place);
	(void)snprintf(path, sizeof(path), "%s/lower", top);
	protected_place_find(&place, path);
}

static void scan(int64_t start_ns)
{
	struct ak_err err = { 0 };

	journal_release(&j);
	place_find();
	ck_assert_msg(scan_layer(upper, lower, &place, start_ns, &j, &err) == 0, "%s", err.msg);
}

static void op_of(const char *path, unsigned op)
{
	const struct change *c = journal_find(&j, path);

	ck_assert_msg(c != NULL, "%s is no change", path);
	ck_assert_msg(c->op == op, "%s: %s", path, change_op_name(c->op));
}

static struct apply plain(void)
{
	return (struct apply){ .upper = upper, .lower = lower, .temp = ".tmp~", .prefix = "", .j = &j };
}

static void apply_all(size_t conflicts)
{
	struct apply a = plain();
	struct ak_err err = { 0 };

	ck_assert_int_eq(apply_check(&a, &err), 0);
	ck_assert_uint_eq(a.n[APPLY_CONFLICT], conflicts);
	if (conflicts == 0)
		ck_assert_msg(apply_run(&a, &err) == 0, "%s", err.msg);
	apply_release(&a);
}

/* one of everything */
static void some_changes(void)
{
	ck_assert_int_eq(mkdirat(lower, "d", 0755) | mkdirat(lower, "d/e", 0755) | mkdirat(lower, "o", 0755) |
			 mkdirat(lower, "t", 0755) | symlinkat("x", lower, "l"), 0);
	put(lower, "m", "old");
	put(lower, "same", "same");
	put(lower, "mode", "mode");
	put(lower, "d/f", "f");
	put(lower, "d/e/g", "g");
	put(lower, "o/1", "1");
	put(lower, "o/2", "2");
	put(lower, "t/in", "in");
	put(lower, "f2d", "file");
	put(upper, "m", "new!");
	put(upper, "same", "same");
	put(upper, "mode", "mode");
	ck_assert_int_eq(fchmodat(upper, "mode", 04711, 0), 0);
	whiteout("d");
	ck_assert_int_eq(mkdirat(upper, "o", 0700) | mkdirat(upper, "f2d", 0755) | mkdirat(upper, "n", 0555) |
			 symlinkat("y", upper, "l"), 0);
	put(upper, "o/2", "two");
	put(upper, "t", "now a file");
	put(upper, "f2d/x", "x");
	put(upper, "a\n\xff", "odd");
	ck_assert_int_eq(mkfifoat(upper, "fifo", 0600), 0);
	if (attributes)
		opaque("o");
	else
		whiteout("o/1");
}

START_TEST(a_layer_says_what_it_changes)
{
	some_changes();
	scan(later());
	op_of("m", CHANGE_MODIFIED);
	op_of("mode", CHANGE_MODE);
	op_of("d", CHANGE_DELETED);
	op_of("d/f", CHANGE_DELETED);
	op_of("d/e", CHANGE_DELETED);
	op_of("d/e/g", CHANGE_DELETED);
	op_of("o", CHANGE_MODE);
	op_of("o/1", CHANGE_DELETED);
	op_of("o/2", CHANGE_MODIFIED);
	op_of("t", CHANGE_TYPE);
	op_of("t/in", CHANGE_DELETED);
	op_of("f2d", CHANGE_TYPE);
	op_of("f2d/x", CHANGE_ADDED);
	op_of("l", CHANGE_MODIFIED);
	op_of("n", CHANGE_ADDED);
	op_of("fifo", CHANGE_ADDED);
	op_of("a\n\xff", CHANGE_ADDED);
	ck_assert_ptr_null(journal_find(&j, "same"));
	ck_assert_uint_eq(j.n, 17);
}
END_TEST

static void looks_applied(void)
{
	struct stat st;
	char link[8] = "";

	has("m", "new!");
	has("same", "same");
	has("o/2", "two");
	has("t", "now a file");
	has("f2d/x", "x");
	has("a\n\xff", "odd");
	ck_assert(!there("d") && !there("o/1") && !there("fifo") && !there(".tmp~"));
	ck_assert_int_eq(readlinkat(lower, "l", link, sizeof(link)), 1);
	ck_assert_int_eq(link[0], 'y');
	ck_assert_int_eq(fstatat(lower, "mode", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0711);	/* without its set-user-id bit */
	ck_assert_int_eq(fstatat(lower, "n", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0555);
	ck_assert_int_eq(fstatat(lower, "o", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
}

START_TEST(apply_does_it_and_again_does_nothing)
{
	some_changes();
	scan(later());
	apply_all(0);
	looks_applied();
	apply_all(0);
	looks_applied();
}
END_TEST

START_TEST(what_changed_outside_stops_everything)
{
	some_changes();
	scan(later());
	put(lower, "m", "theirs");
	put(lower, "d/new", "added in what goes");
	apply_all(2);	/* m, and d, which is not empty then */
	has("m", "theirs");
	ck_assert(there("d/f"));
	/* the same content is no conflict */
	put(lower, "m", "new!");
	ck_assert_int_eq(unlinkat(lower, "d/new", 0), 0);
	apply_all(0);
	looks_applied();
}
END_TEST

START_TEST(what_changed_during_the_run_is_a_conflict)
{
	int64_t start = scan_now();

	usleep(20000);
	put(lower, "m", "outside");
	put(upper, "m", "inside");
	scan(start);
	ck_assert(journal_find(&j, "m")->flags & CHANGE_TOUCHED);
	apply_all(1);
	has("m", "outside");
}
END_TEST

/* a file that was looked at between two changes has the finest time there is */
START_TEST(what_changed_just_before_the_run_is_none)
{
	struct stat st;
	int64_t now;

	for (int i = 0; i < 50; i++) {
		put(lower, "m", "one");
		ck_assert_int_eq(fstatat(lower, "m", &st, 0), 0);
		put(lower, "m", "two");
		now = scan_now();
		ck_assert_int_eq(fstatat(lower, "m", &st, 0), 0);
		ck_assert_int_le(st.st_ctim.tv_sec * 1000000000ll + st.st_ctim.tv_nsec, now);
	}
}
END_TEST

START_TEST(force_takes_conflicts_and_deletes_nothing_unnamed)
{
	struct apply a = plain();
	struct ak_err err = { 0 };

	some_changes();
	scan(later());
	put(lower, "m", "theirs");
	put(lower, "d/new", "n");
	a.force = true;
	ck_assert_int_eq(apply_check(&a, &err), 0);
	ck_assert_uint_eq(a.n[APPLY_CONFLICT], 1);	/* d stays: nobody has seen d/new */
	apply_release(&a);
	a.paths = (char *[]){ (char *)"m", NULL };
	ck_assert_int_eq(apply_check(&a, &err), 0);
	ck_assert_uint_eq(a.n[APPLY_DO], 1);
	ck_assert_int_eq(apply_run(&a, &err), 0);
	apply_release(&a);
	has("m", "new!");
	ck_assert(there("d/new"));
}
END_TEST

START_TEST(a_choice_takes_its_parents_with_it)
{
	struct apply a = plain();
	struct ak_err err = { 0 };

	some_changes();
	scan(later());
	a.paths = (char *[]){ (char *)"f2d/x", NULL };
	ck_assert_int_eq(apply_check(&a, &err), 0);
	ck_assert_uint_eq(a.n[APPLY_DO], 2);
	ck_assert_int_eq(apply_run(&a, &err), 0);
	apply_release(&a);
	has("f2d/x", "x");
	has("m", "old");
	a.paths = (char *[]){ (char *)"nothing", NULL };
	ck_assert_int_eq(apply_check(&a, &err), -ENOENT);
	apply_release(&a);
}
END_TEST

START_TEST(protected_names_are_held_back)
{
	struct apply a = plain();
	struct ak_err err = { 0 };

	ck_assert_int_eq(mkdirat(lower, "sub", 0755), 0);
	put(lower, "sub/.envrc", "old");
	put(upper, ".envrc", "evil");
	whiteout("sub");
	scan(later());
	ck_assert_int_eq(apply_check(&a, &err), 0);
	ck_assert_uint_eq(a.n[APPLY_PROTECTED], 3);	/* both, and the folder that cannot go without */
	ck_assert_uint_eq(a.n[APPLY_DO] + a.n[APPLY_CONFLICT], 0);
	apply_release(&a);
	a.allow = (char *[]){ (char *)".envrc", NULL };
	ck_assert_int_eq(apply_check(&a, &err), 0);
	ck_assert_uint_eq(a.n[APPLY_DO], 3);
	ck_assert_int_eq(apply_run(&a, &err), 0);
	apply_release(&a);
	has(".envrc", "evil");
	ck_assert(!there("sub"));
}
END_TEST

static void a_repository(void)
{
	ck_assert_int_eq(mkdirat(lower, ".git", 0755) | mkdirat(lower, ".git/objects", 0755) | mkdirat(lower, ".git/refs", 0755), 0);
	put(lower, ".git/HEAD", "ref: refs/heads/x\n");
	put(lower, ".git/config", "[core]\n\thooksPath = tools\n");
	put(lower, ".git/objects/x", "x");
}

/* all of @n changes are one thing that is held back, and all are taken by its name */
static void is_one_thing(size_t n)
{
	struct apply a = plain();
	struct ak_err err = { 0 };
	unsigned op;

	scan(later());
	ck_assert_uint_eq(j.n, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_msg(j.v[i].flags & CHANGE_PROTECTED, "%s", j.v[i].path);
		ck_assert_uint_eq(journal_whole(&j, i, &op), 4);
		ck_assert(journal_follows(&j, i) == (i > 0));
	}
	ck_assert_int_eq(apply_check(&a, &err), 0);
	ck_assert_uint_eq(a.n[APPLY_PROTECTED], n);
	ck_assert_uint_eq(apply_held(&a), 1);
	apply_release(&a);
	a.allow = (char *[]){ (char *)".git", NULL };
	ck_assert_int_eq(apply_check(&a, &err), 0);
	ck_assert_uint_eq(a.n[APPLY_DO], n);
	ck_assert_msg(apply_run(&a, &err) == 0, "%s", err.msg);
	apply_release(&a);
}

START_TEST(a_repository_that_vanishes_is_one_thing)
{
	a_repository();
	whiteout(".git");
	is_one_thing(6);
	ck_assert(!there(".git"));
}
END_TEST

START_TEST(a_repository_that_becomes_a_link_is_one_thing)
{
	char link[16] = "";

	a_repository();
	ck_assert_int_eq(symlinkat("/elsewhere", upper, ".git"), 0);
	is_one_thing(6);
	ck_assert_int_eq(readlinkat(lower, ".git", link, sizeof(link)), 10);
}
END_TEST

START_TEST(a_repository_that_is_replaced_is_one_thing)
{
	if (!attributes)
		return;
	a_repository();
	ck_assert_int_eq(mkdirat(upper, ".git", 0755) | mkdirat(upper, ".git/objects", 0755) | mkdirat(upper, ".git/refs", 0755), 0);
	opaque(".git");
	put(upper, ".git/HEAD", "ref: refs/heads/y\n");
	is_one_thing(3);	/* HEAD, config, objects/x */
}
END_TEST

START_TEST(git_work_in_a_repository_is_no_replacement)
{
	struct apply a = plain();

	a_repository();
	ck_assert_int_eq(mkdirat(upper, ".git", 0755) | mkdirat(upper, ".git/objects", 0755), 0);
	put(upper, ".git/HEAD", "ref: refs/heads/y\n");
	put(upper, ".git/objects/y", "y");
	scan(later());
	ck_assert_int_eq(apply_check(&a, NULL), 0);
	ck_assert_uint_eq(a.n[APPLY_DO], 2);
	apply_release(&a);
}
END_TEST

START_TEST(hooks_by_another_name_are_held_back)
{
	struct apply a = plain();

	a_repository();
	ck_assert_int_eq(mkdirat(upper, "tools", 0755) | mkdirat(lower, "sub", 0755) | mkdirat(lower, "sub/.git", 0755) |
			 mkdirat(upper, "sub", 0755) | mkdirat(upper, "sub/h", 0755), 0);
	put(lower, "sub/.git/config", "[core]\n\thooksPath = h\n");
	put(upper, "tools/pre-commit", "evil");
	put(upper, "sub/h/pre-push", "evil");
	put(upper, "sub/x", "x");
	scan(later());
	ck_assert_int_eq(apply_check(&a, NULL), 0);
	ck_assert_uint_eq(a.n[APPLY_PROTECTED], 2);
	ck_assert_uint_eq(a.state[journal_find(&j, "sub/x") - j.v], APPLY_DO);
	ck_assert_uint_eq(a.state[journal_find(&j, "tools/pre-commit") - j.v], APPLY_PROTECTED);
	apply_release(&a);
}
END_TEST

START_TEST(a_mode_does_not_reach_other_names_of_a_file)
{
	struct stat st;

	put(base, "out/f", "shared");
	ck_assert_int_eq(linkat(base, "out/f", lower, "f", 0), 0);
	put(upper, "f", "shared");
	ck_assert_int_eq(fchmodat(upper, "f", 0755, 0), 0);
	scan(later());
	op_of("f", CHANGE_MODE);
	apply_all(0);
	ck_assert_int_eq(fstatat(lower, "f", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	ck_assert_int_eq(fstatat(base, "out/f", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0644);
	has("f", "shared");
}
END_TEST

START_TEST(a_bare_repository_is_a_git_folder)
{
	ck_assert_int_eq(mkdirat(upper, "g", 0755) | mkdirat(upper, "g/objects", 0755) | mkdirat(upper, "g/refs", 0755) |
			 mkdirat(upper, "g/hooks", 0755), 0);
	put(upper, "g/HEAD", "ref: refs/heads/x\n");
	put(upper, "g/config", "");
	put(upper, "g/hooks/post-receive", "");
	scan(later());
	ck_assert(journal_find(&j, "g/config")->flags & CHANGE_PROTECTED);
	ck_assert(journal_find(&j, "g/hooks/post-receive")->flags & CHANGE_PROTECTED);
	/* without it, it is none */
	ck_assert(journal_find(&j, "g/HEAD")->flags & CHANGE_PROTECTED);
	ck_assert(!(journal_find(&j, "g/refs")->flags & CHANGE_PROTECTED));
}
END_TEST

/* a run before has left a config in a folder that was none of git's */
START_TEST(what_makes_a_repository_of_a_folder_is_protected)
{
	static const char *const last[] = { "HEAD", "refs", "objects" };

	for (size_t i = 0; i < 3; i++) {
		char path[32], dir[16];

		(void)snprintf(dir, sizeof(dir), "g%zu", i);
		ck_assert_int_eq(mkdirat(lower, dir, 0755) | mkdirat(upper, dir, 0755), 0);
		for (size_t k = 0; k < 3; k++) {
			(void)snprintf(path, sizeof(path), "%s/%s", dir, last[k]);
			if (k == 0)
				put(k == i ? upper : lower, path, "ref: refs/heads/x\n");
			else
				ck_assert_int_eq(mkdirat(k == i ? upper : lower, path, 0755), 0);
		}
	}
	scan(later());
	ck_assert(journal_find(&j, "g0/HEAD")->flags & CHANGE_PROTECTED);
	ck_assert(journal_find(&j, "g1/refs")->flags & CHANGE_PROTECTED);
	ck_assert(journal_find(&j, "g2/objects")->flags & CHANGE_PROTECTED);
}
END_TEST

START_TEST(the_workspace_itself_may_become_a_repository)
{
	ck_assert_int_eq(mkdirat(upper, "objects", 0755) | mkdirat(upper, "refs", 0755), 0);
	put(upper, "HEAD", "ref: refs/heads/x\n");
	put(upper, "config", "[core]\n\tfsmonitor = evil\n");
	scan(later());
	ck_assert(journal_find(&j, "HEAD")->flags & CHANGE_PROTECTED);
	ck_assert(journal_find(&j, "config")->flags & CHANGE_PROTECTED);
}
END_TEST

START_TEST(a_repository_that_was_one_has_an_ordinary_head)
{
	ck_assert_int_eq(mkdirat(lower, "g", 0755) | mkdirat(lower, "g/objects", 0755) | mkdirat(lower, "g/refs", 0755) |
			 mkdirat(upper, "g", 0755), 0);
	put(lower, "g/HEAD", "ref: refs/heads/x\n");
	put(upper, "g/HEAD", "ref: refs/heads/other\n");
	put(upper, "g/commondir", "../h\n");
	scan(later());
	ck_assert(!(journal_find(&j, "g/HEAD")->flags & CHANGE_PROTECTED));
	ck_assert(journal_find(&j, "g/commondir")->flags & CHANGE_PROTECTED);
}
END_TEST

START_TEST(a_link_in_the_way_is_never_followed)
{
	struct apply a = plain();
	struct ak_err err = { 0 };

	ck_assert_int_eq(mkdirat(lower, "d", 0755), 0);
	ck_assert_int_eq(mkdirat(upper, "d", 0755), 0);
	put(upper, "d/f", "x");
	scan(later());
	ck_assert_int_eq(unlinkat(lower, "d", AT_REMOVEDIR) | symlinkat("../out", lower, "d"), 0);
	apply_all(1);
	a.force = true;
	ck_assert_int_eq(apply_check(&a, &err), 0);
	ck_assert_uint_eq(a.n[APPLY_DO], 0);
	apply_release(&a);
	ck_assert_int_eq(faccessat(base, "out/f", F_OK, 0), -1);
}
END_TEST

/* ---- the race ---- */

static atomic_bool stop;

/* "d" is a folder, a link that leads out, a folder ... */
static void *swapper(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop))
		(void)renameat2(lower, "d", lower, "e", RENAME_EXCHANGE);
	return NULL;
}

static bool outside_touched(void)
{
	return faccessat(base, "out/f", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || faccessat(base, "out/g", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       faccessat(base, "out/.tmp~", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || faccessat(base, "out/old", F_OK, 0) != 0;
}

static unsigned long tries(void)
{
	const char *text = getenv("AK_RACE_TRIES");

	return text ? strtoul(text, NULL, 10) : 3000;
}

/* Return: the folder itself, wherever its name is just now: what the test does must not follow the link either */
static int race_fixture(pthread_t *t)
{
	int dir;

	put(base, "out/old", "keep");
	ck_assert_int_eq(mkdirat(lower, "d", 0755) | symlinkat("../out", lower, "e") | mkdirat(upper, "d", 0755), 0);
	put(lower, "d/old", "keep");
	put(upper, "d/f", "written");
	whiteout("d/old");
	scan(later());
	dir = openat(lower, "d", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ck_assert_int_ge(dir, 0);
	atomic_store(&stop, false);
	ck_assert_int_eq(pthread_create(t, NULL, swapper, NULL), 0);
	return dir;
}

START_TEST(special_files_are_counted_and_named)
{
	static const char *const names[] = { "a\nb", "plain", "p", "q", "r" };
	struct journal list = { 0 };
	struct ak_buf b = { 0 };

	ck_assert_uint_eq(apply_special(&list, &b), 0);
	ck_assert_uint_eq(b.len, 0);
	for (size_t i = 0; i < 2; i++) {
		const struct change c = { .path = (char *)(uintptr_t)names[i], .op = CHANGE_ADDED, .flags = i == 1 ? 0 : CHANGE_SPECIAL };

		ck_assert_int_eq(journal_add(&list, &c, NULL), 0);
	}
	ck_assert_uint_eq(apply_special(&list, &b), 1);
	ck_assert_str_eq(b.data, "1 special file was not taken over: \"a\\x0ab\"");
	ak_buf_release(&b);
	b = (struct ak_buf){ 0 };
	for (size_t i = 2; i < 5; i++) {
		const struct change c = { .path = (char *)(uintptr_t)names[i], .op = CHANGE_ADDED, .flags = CHANGE_SPECIAL };

		ck_assert_int_eq(journal_add(&list, &c, NULL), 0);
	}
	ck_assert_uint_eq(apply_special(&list, &b), 4);
	ck_assert_str_eq(b.data, "4 special files were not taken over: \"a\\x0ab\", \"p\", \"q\" and 1 more");
	ak_buf_release(&b);
	journal_release(&list);
}
END_TEST

START_TEST(nothing_lands_outside_however_links_are_swapped)
{
	unsigned long n = tries(), done = 0, refused = 0;
	pthread_t t;
	int dir = race_fixture(&t);

	for (unsigned long i = 0; i < n; i++) {
		struct apply a = plain();
		struct change *old = journal_find(&j, "d/old");

		a.force = true;
		if (apply_check(&a, NULL) < 0 || apply_run(&a, NULL) < 0)
			refused++;	/* it was a folder when it was looked at, and a link after that */
		apply_release(&a);
		/* there is always something to write and something to remove */
		done += unlinkat(dir, "f", 0) == 0;
		done += linkat(base, "out/old", dir, "old", 0) == 0;
		old->flags = 0;
		if (i % 1000 == 0)
			ck_assert(!outside_touched());
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	ck_assert(!outside_touched());
	close(dir);
	printf("race: %lu tries, %lu files written or removed, %lu times refused in the middle\n", n, done, refused);
	ck_assert_uint_gt(done, 0);
}
END_TEST

/* the same race against code that trusts its path: the test must be able to see it */
START_TEST(the_race_would_be_noticed)
{
	pthread_t t;
	bool seen = false;

	close(race_fixture(&t));
	for (unsigned long i = 0; i < 2000000 && !seen; i++) {
		int fd = openat(lower, "d/g", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		if (fd >= 0)
			close(fd);
		seen = i % 16 == 0 && outside_touched();
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	ck_assert(seen);
}
END_TEST

/* inside a sandbox of ak's neither a whiteout nor a set-user-id bit can be made; nor may an ordinary user in a container without them */
static bool whiteouts_here(void)
{
	char dir[] = "/tmp/ak-whiteout.XXXXXX", path[64];
	bool made = mkdtemp(dir) != NULL;

	(void)snprintf(path, sizeof(path), "%s/w", dir);
	made = made && mknod(path, S_IFCHR, makedev(0, 0)) == 0 && chmod(dir, 04711) == 0;
	(void)unlink(path);
	(void)rmdir(dir);
	if (!made)
		printf("not tested here: layers with whiteouts and set-user-id bits, which cannot be made\n");
	return made;
}

static void add_whole_layers(TCase *t, TCase *race)
{
	tcase_add_test(t, a_layer_says_what_it_changes);
	tcase_add_test(t, apply_does_it_and_again_does_nothing);
	tcase_add_test(t, what_changed_outside_stops_everything);
	tcase_add_test(t, force_takes_conflicts_and_deletes_nothing_unnamed);
	tcase_add_test(t, a_choice_takes_its_parents_with_it);
	tcase_add_test(t, protected_names_are_held_back);
	tcase_add_test(t, a_repository_that_vanishes_is_one_thing);
	tcase_add_test(race, nothing_lands_outside_however_links_are_swapped);
	tcase_add_test(race, the_race_would_be_noticed);
}

int main(void)
{
	Suite *s = suite_create("apply");
	TCase *t = tcase_create("apply"), *race = tcase_create("race");

	tcase_add_checked_fixture(t, fixture, end_fixture);
	if (whiteouts_here())
		add_whole_layers(t, race);
	tcase_add_test(t, what_changed_during_the_run_is_a_conflict);
	tcase_add_test(t, what_changed_just_before_the_run_is_none);
	tcase_add_test(t, a_bare_repository_is_a_git_folder);
	tcase_add_test(t, a_repository_that_becomes_a_link_is_one_thing);
	tcase_add_test(t, a_repository_that_is_replaced_is_one_thing);
	tcase_add_test(t, git_work_in_a_repository_is_no_replacement);
	tcase_add_test(t, hooks_by_another_name_are_held_back);
	tcase_add_test(t, a_mode_does_not_reach_other_names_of_a_file);
	tcase_add_test(t, what_makes_a_repository_of_a_folder_is_protected);
	tcase_add_test(t, the_workspace_itself_may_become_a_repository);
	tcase_add_test(t, a_repository_that_was_one_has_an_ordinary_head);
	tcase_add_test(t, a_link_in_the_way_is_never_followed);
	tcase_add_test(t, special_files_are_counted_and_named);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(race, fixture, end_fixture);
	tcase_set_timeout(race, 3600);
	suite_add_tcase(s, race);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
