/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of checkpoints of a copied workspace, of the copies they are made of, and of a changeset that begins anew. */
#include "executor/workspace/points.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/workspace/changeset_again.h"
#include "executor/workspace/layer_copy.h"
#include "executor/workspace/scan.h"

static char top[64];
static int root;
static struct changeset cs;
static struct points points;
static struct ak_err err;

/* a shell's text in a folder of the changeset; its output, static */
static const char *shell(const char *folder, const char *text)
{
	static char out[2][16384];
	static unsigned turn;
	char *buf = out[turn++ % 2];
	size_t len = 0;
	int p[2], status;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (fchdir(cs.dir) < 0 || chdir(folder) < 0 || dup2(p[1], STDOUT_FILENO) < 0)
			_exit(1);
		(void)execl("/bin/sh", "sh", "-c", text, NULL);
		_exit(1);
	}
	close(p[1]);
	while (len < sizeof(out[0]) - 1 && (n = read(p[0], buf + len, sizeof(out[0]) - 1 - len)) > 0)
		len += (size_t)n;
	close(p[0]);
	buf[len] = '\0';
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == 0, "%s: %d", text, status);
	return buf;
}

static void in_layer(const char *text)
{
	(void)shell("layer/upper", text);
}

static void make_top(void)
{
	struct changeset_meta m = { .workspace = "/w", .ino = 1, .start_ns = 1, .uid = geteuid(), .gid = getegid() };
	struct ws_ident folder = { .mode = S_IFDIR | 0755 };

	(void)snprintf(top, sizeof(top), "/tmp/ak-test-points-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = (struct ak_err){ 0 };
	ck_assert_msg(changeset_create(root, &m, &folder, &cs, &err) == 0, "%s", err.msg);
	points = (struct points)POINTS_NONE;
}

static void drop_top(void)
{
	ck_assert_int_eq(points_drop(&points, &cs, &err), 0);
	ck_assert_msg(changeset_remove(root, &cs, &err) == 0, "%s", err.msg);
	changeset_close(&cs);
	close(root);
	ck_assert_int_eq(rmdir(top), 0);
}

/* types, modes, times, links and contents of a folder in the changeset; static */
static const char *tree(const char *folder)
{
	return shell(folder, "find . -mindepth 1 -printf '%P %y %m %s %T@ %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0r cksum");
}

static uint32_t save(uint64_t max)
{
	uint64_t entries;

	ck_assert_msg(points_save(&points, &cs, max, &entries, &err) == 0, "%s", err.msg);
	return points.last;
}

static void restore(uint32_t number)
{
	ck_assert_msg(points_restore(&points, &cs, number, &err) == 0, "%s", err.msg);
}

static void in_time(void)
{
	static const struct timespec moment = { .tv_nsec = 100000000 };

	(void)nanosleep(&moment, NULL);	/* what was written before is older than the tick by which times are told apart */
}

static struct stat stat_of(const char *path)
{
	struct stat st = { 0 };

	(void)fstatat(cs.dir, path, &st, AT_SYMLINK_NOFOLLOW);
	return st;
}

static const char everything[] = "mkdir -p d/e f; echo 1 >a; echo 2 >d/e/b; ln -s a l; ln a h; mkfifo p; chmod 500 f; chmod 640 d/e/b; touch -d @5 a; "
				 "truncate -s 300000 hole; touch 'odd name'";

START_TEST(a_layer_comes_back_as_it_was)
{
	char was[16384];
	bool whiteout;

	make_top();
	in_layer(everything);
	whiteout = mknodat(cs.upper, "gone", S_IFCHR, makedev(0, 0)) == 0;	/* Linux 5.8 */
	(void)snprintf(was, sizeof(was), "%s", tree("layer/upper"));
	ck_assert_uint_eq(save(0), 1);
	ck_assert_str_eq(tree("points/1"), was);
	in_layer("rm -rf d gone l; chmod 700 f; echo x >f/x; echo more >>a; mkdir l; echo n >gone");
	ck_assert_uint_eq(save(0), 2);
	restore(1);
	ck_assert_str_eq(tree("layer/upper"), was);
	ck_assert(stat_of("layer/upper/a").st_ino == stat_of("layer/upper/h").st_ino);
	ck_assert(!whiteout || S_ISCHR(stat_of("layer/upper/gone").st_mode));
	ck_assert_int_lt(stat_of("layer/upper/hole").st_blocks, 100);
	restore(2);
	ck_assert_str_ne(tree("layer/upper"), was);
	ck_assert_str_eq(tree("layer/upper"), tree("points/2"));
	ck_assert_int_ne(faccessat(cs.dir, "layer/upper.new", F_OK, AT_SYMLINK_NOFOLLOW), 0);
	drop_top();
}
END_TEST

START_TEST(attributes_of_the_overlay_are_kept)
{
	char value[8] = "";
	int dir;

	make_top();
	in_layer("mkdir d; echo 1 >a");
	if (fsetxattr(cs.upper, "user.t", "x", 1, 0) == 0) {
		dir = openat(cs.upper, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_eq(fsetxattr(dir, "user.overlay.opaque", "y", 1, 0), 0);
		close(dir);
		ck_assert_uint_eq(save(0), 1);
		in_layer("rm -r d; mkdir d");
		restore(1);
		ck_assert_int_eq(fgetxattr(cs.upper, "user.t", value, sizeof(value)), 1);
		dir = openat(cs.upper, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_eq(fgetxattr(dir, "user.overlay.opaque", value, sizeof(value)), 1);
		ck_assert_int_eq(value[0], 'y');
		close(dir);
	} else {
		fprintf(stderr, "not tested: no user attributes on /tmp\n");
	}
	drop_top();
}
END_TEST

START_TEST(what_has_not_changed_is_shared_and_never_written_to)
{
	make_top();
	in_layer("echo same >same; echo other >other");
	in_time();
	save(0);
	in_time();
	in_layer("echo more >>other");
	save(0);
	ck_assert(stat_of("points/1/same").st_ino == stat_of("points/2/same").st_ino);
	ck_assert(stat_of("points/1/other").st_ino != stat_of("points/2/other").st_ino);
	restore(1);
	ck_assert(stat_of("points/1/same").st_ino != stat_of("layer/upper/same").st_ino);
	in_layer("echo written >>same; echo written >>other");
	ck_assert_int_eq(stat_of("points/1/same").st_size, 5);
	ck_assert_int_eq(stat_of("points/2/other").st_size, 11);
	drop_top();
}
END_TEST

/* times that cannot prove anything */
START_TEST(a_change_in_the_same_tick_is_not_missed)
{
	make_top();
	for (int i = 0; i < 30; i++) {
		char text[64];

		(void)snprintf(text, sizeof(text), "printf %03d >f", i);
		in_layer(text);
		save(0);
		(void)snprintf(text, sizeof(text), "grep -q %03d ../../points/%u/f", i, points.last);
		in_layer(text);
	}
	drop_top();
}
END_TEST

START_TEST(refusals_leave_everything)
{
	uint64_t entries;
	char was[16384];

	make_top();
	in_layer("head -c 300000 /dev/zero | tr '\\0' x >big; echo 1 >a");
	(void)snprintf(was, sizeof(was), "%s", tree("layer/upper"));
	ck_assert_int_eq(points_restore(&points, &cs, 1, &err), -ENOENT);
	ck_assert_int_eq(points_save(&points, &cs, 4096, &entries, &err), -EDQUOT);
	ck_assert_uint_eq(points.last, 0);
	ck_assert_int_ne(faccessat(cs.dir, "points/1", F_OK, 0), 0);
	ck_assert_uint_eq(save(10 << 20), 1);
	ck_assert_int_eq(points_restore(&points, &cs, 0, &err), -ENOENT);
	ck_assert_int_eq(points_restore(&points, &cs, 2, &err), -ENOENT);
	ck_assert_str_eq(tree("layer/upper"), was);
	ck_assert_int_eq(points_drop(&points, &cs, &err), 0);
	ck_assert_int_eq(points_restore(&points, &cs, 1, &err), -ENOENT);
	ck_assert_uint_eq(save(0), 2);	/* never twice the same */
	restore(2);
	ck_assert_str_eq(tree("layer/upper"), was);
	drop_top();
}
END_TEST

START_TEST(a_killed_restore_is_one_or_the_other)
{
	char one[16384], two[16384];
	const char *now;

	make_top();
	in_layer("for i in 1 2 3 4 5 6 7 8 9; do mkdir d$i; echo $i >d$i/f; done");
	save(0);
	(void)snprintf(one, sizeof(one), "%s", tree("layer/upper"));
	in_layer("rm -r d1 d2; echo x >d3/f; mkdir new; echo n >new/n");
	save(0);
	(void)snprintf(two, sizeof(two), "%s", tree("layer/upper"));
	for (int i = 0; i < 20; i++) {
		struct timespec moment = { .tv_nsec = (random() % 4000) * 1000L };
		pid_t pid = fork();

		if (pid == 0)
			for (uint32_t n = 1;; n = 3 - n)
				(void)points_restore(&points, &cs, n, NULL);
		(void)nanosleep(&moment, NULL);
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		now = tree("layer/upper");
		ck_assert_msg(strcmp(now, one) == 0 || strcmp(now, two) == 0, "neither:\n%s", now);
	}
	close(cs.upper);
	cs.upper = openat(cs.dir, "layer/upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	restore(1);
	ck_assert_str_eq(tree("layer/upper"), one);
	drop_top();
}
END_TEST

/* an executor that opens the changeset again finds what the one before has kept */
START_TEST(another_executor_goes_on_with_the_numbers)
{
	struct points again = POINTS_NONE;
	char first[16384];

	make_top();
	in_layer("echo 1 >a");
	(void)snprintf(first, sizeof(first), "%s", tree("layer/upper"));
	ck_assert_uint_eq(save(0), 1);
	in_layer("echo 2 >>a; echo b >b");
	ck_assert_uint_eq(save(0), 2);
	(void)shell("points", "mkdir new; echo torn >new/a");
	journal_release(&points.seen);
	(void)close(points.dir);
	ck_assert_msg(points_open(&again, &cs, &err) == 0, "%s", err.msg);
	points = again;
	ck_assert_uint_eq(points.first, 1);
	ck_assert_uint_eq(points.last, 2);
	ck_assert_uint_gt(points.bytes, 0);
	ck_assert_str_eq(shell("points", "ls"), "1\n2\n"); /* one that was not finished is none */
	restore(1);
	ck_assert_str_eq(tree("layer/upper"), first);
	ck_assert_uint_eq(save(0), 3);
	drop_top();
}
END_TEST

static void note(struct journal *j, const char *path, enum change_op op, uint32_t old, uint32_t now)
{
	struct change c = { .path = (char *)(uintptr_t)path, .op = (uint8_t)op, .old = { .mode = old, .ino = 7 }, .now = { .mode = now } };

	ck_assert_int_eq(journal_add(j, &c, NULL), 0);
}

/* what was removed outside meanwhile is no new file */
START_TEST(a_changeset_remembers_what_was_there_before)
{
	struct journal before = { 0 }, now = { 0 };

	make_top();
	ck_assert_int_eq(changeset_remember(&cs, &now, &err), 0);
	note(&before, "gone", CHANGE_MODIFIED, S_IFREG | 0644, S_IFREG | 0644);
	note(&before, "was-new", CHANGE_ADDED, 0, S_IFREG | 0644);
	note(&before, "was-a-link", CHANGE_TYPE, S_IFLNK | 0777, S_IFREG | 0644);
	journal_sort(&before);
	ck_assert_int_eq(changeset_store(&cs, &before, &err), 0);
	ck_assert_int_eq(changeset_again(&cs, &err), 0);
	ck_assert(!changeset_has(&cs, "journal") && changeset_has(&cs, CHANGESET_BEFORE));
	note(&now, "gone", CHANGE_ADDED, 0, S_IFREG | 0644);
	note(&now, "new", CHANGE_ADDED, 0, S_IFREG | 0644);
	note(&now, "was-a-link", CHANGE_ADDED, 0, S_IFREG | 0644);
	note(&now, "was-new", CHANGE_ADDED, 0, S_IFREG | 0644);
	ck_assert_int_eq(changeset_remember(&cs, &now, &err), 0);
	ck_assert_int_eq(now.v[0].op, CHANGE_MODIFIED);
	ck_assert_uint_eq(now.v[0].old.ino, 7);
	ck_assert_int_eq(now.v[1].op, CHANGE_ADDED);
	ck_assert_int_eq(now.v[2].op, CHANGE_TYPE);
	ck_assert_int_eq(now.v[3].op, CHANGE_ADDED);
	/* a run that was killed leaves none: the one before stays */
	ck_assert_int_eq(changeset_again(&cs, &err), 0);
	ck_assert(changeset_has(&cs, CHANGESET_BEFORE));
	ck_assert_int_eq(changeset_mark(&cs, true, &err), 0);
	ck_assert_int_eq(changeset_again(&cs, &err), -EBUSY);
	journal_release(&before);
	journal_release(&now);
	drop_top();
}
END_TEST

/* whatever the kernel's clock of file times is made of */
START_TEST(a_beginning_lies_between_what_was_before_and_what_comes)
{
	for (unsigned round = 0; round < 20; round++) {
		struct stat before, after;
		struct changeset now = CHANGESET_NONE;
		struct ws_ident folder = { .mode = S_IFDIR | 0755 };

		make_top();
		(void)shell(".", "echo a >f; stat f >/dev/null; echo b >f");
		ck_assert_int_eq(changeset_create(root, &cs.meta, &folder, &now, &err), 0);
		before = stat_of("f");
		ck_assert_int_eq(mkdirat(cs.dir, "g", 0700), 0);
		after = stat_of("g");
		ck_assert(before.st_ctim.tv_sec * 1000000000LL + before.st_ctim.tv_nsec <= now.meta.start_ns);
		ck_assert(after.st_ctim.tv_sec * 1000000000LL + after.st_ctim.tv_nsec >= now.meta.start_ns);
		ck_assert_int_eq(changeset_remove(root, &now, &err), 0);
		changeset_close(&now);
		drop_top();
	}
}
END_TEST

START_TEST(a_changeset_begins_anew)
{
	struct ws_ident folder = { .mode = S_IFDIR | 0750 };
	struct changeset again = CHANGESET_NONE;
	struct journal j = { 0 };
	int64_t start;

	make_top();
	start = cs.meta.start_ns;
	in_layer("mkdir -p d/e; chmod 0 d/e; echo 1 >a");
	ck_assert_int_eq(changeset_store(&cs, &j, &err), 0);
	ck_assert_int_eq(changeset_mark(&cs, true, &err), 0);
	ck_assert_msg(changeset_renew(&cs, &folder, &err) == 0, "%s", err.msg);
	ck_assert(changeset_empty(&cs) && !changeset_has(&cs, "journal") && !changeset_has(&cs, "applying"));
	ck_assert_int_gt(cs.meta.start_ns, start);
	ck_assert_int_eq(stat_of("layer/upper").st_mode & 07777, 0750);
	ck_assert_msg(changeset_open(root, cs.id, CHANGESET_LOOK, &again, &err) == 0, "%s", err.msg);
	ck_assert(again.meta.start_ns == cs.meta.start_ns && strcmp(again.meta.workspace, "/w") == 0);
	changeset_close(&again);
	drop_top();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("points");
	TCase *t = tcase_create("points");
	SRunner *sr = srunner_create(s);
	int failed;

	srandom((unsigned)time(NULL));
	suite_add_tcase(s, t);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_layer_comes_back_as_it_was);
	tcase_add_test(t, attributes_of_the_overlay_are_kept);
	tcase_add_test(t, what_has_not_changed_is_shared_and_never_written_to);
	tcase_add_test(t, a_change_in_the_same_tick_is_not_missed);
	tcase_add_test(t, refusals_leave_everything);
	tcase_add_test(t, a_killed_restore_is_one_or_the_other);
	tcase_add_test(t, another_executor_goes_on_with_the_numbers);
	tcase_add_test(t, a_changeset_remembers_what_was_there_before);
	tcase_add_test(t, a_beginning_lies_between_what_was_before_and_what_comes);
	tcase_add_test(t, a_changeset_begins_anew);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
