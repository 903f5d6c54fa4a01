/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what the set-up child's two threads build side by side; each case in namespaces of its own, without privilege. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/mount.h"
#include "executor/ns/netns.h"
#include "executor/ns/nslimit.h"
#include "executor/ns/userns.h"
#include "executor/ns/vclone.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"

#define NS (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID)
#define NEED(cond) do { if (!(cond)) return not_so(#cond, __LINE__); } while (0)

static int not_so(const char *what, int line)
{
	fprintf(stderr, "line %d: not so: %s (errno %d)\n", line, what, errno);
	return 1;
}

/* run @fn in new namespaces; where the host forbids them the case tests nothing. Return: what @fn returned, 0 for good */
static int in_namespaces(int (*fn)(struct ak_err *))
{
	struct ak_err err = { 0 };
	struct id_map uid = { geteuid(), geteuid(), 1 }, gid = { getegid(), getegid(), 1 };
	int pidfd = -1, status = -1;
	pid_t pid = userns_clone(NS, -1, &pidfd, &err);

	if (pid == -ENOSYS || pid == -EPERM || pid == -ENOSPC)
		return 0;
	ck_assert_msg(pid >= 0, "%s", err.msg);
	if (pid == 0) {
		int r = userns_write_maps(0, uid, gid, true, &err);

		if (r == 0)
			r = fn(&err);
		if (r != 0)
			fprintf(stderr, "%d: %s\n", r, err.msg);
		_exit(r == 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	(void)close(pidfd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

/* the first number of a file, -1 if there is none */
static long number_in(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		(void)close(fd);
	return n <= 0 ? -1 : strtol(text, NULL, 10);
}

/* with IPv6 the list of addresses has a line as soon as lo is up; -1: a kernel without */
static int loopback_is_up(void)
{
	int fd = open("/proc/thread-self/net/if_inet6", O_RDONLY | O_CLOEXEC);
	char c;
	ssize_t n = fd < 0 ? -1 : read(fd, &c, 1);

	if (fd >= 0)
		(void)close(fd);
	return (int)n;
}

static ino_t netns_id(void)
{
	struct stat st = { 0 };

	return stat("/proc/thread-self/ns/net", &st) < 0 ? 0 : st.st_ino;
}

struct seen {
	volatile long tid;
};

static void note_thread(void *arg)
{
	struct seen *s = arg;

	s->tid = vcall(SYS_gettid, 0, 0, 0, 0, 0);
}

static int side_by_side(struct ak_err *err)
{
	static struct netns_worker w;
	struct seen seen = { 0 };
	ino_t before = netns_id();
	struct netns_job job = { .loopback = true, .limit_dir = nslimit_open(), .limits = { "0", "0" }, .after = note_thread, .arg = &seen };
	int r;

	NEED(job.limit_dir >= 0);
	netns_begin(&w, &job);
	r = netns_enter(&w, err);
	netns_end(&w);
	if (r < 0)
		return r;
	NEED(before != 0 && netns_id() != before);
	NEED(loopback_is_up() != 0);
	NEED(number_in("/proc/sys/user/max_user_namespaces") == 0);
	NEED(number_in("/proc/sys/user/max_net_namespaces") == 0);
	NEED(number_in("/proc/sys/user/max_mnt_namespaces") != 0);
	NEED(seen.tid > 0);
	NEED(!w.started || seen.tid != gettid());
	return 0;
}

START_TEST(network_namespace_loopback_and_limits_are_made_beside)
{
	ck_assert_int_eq(in_namespaces(side_by_side), 0);
}
END_TEST

static int nothing_asked(struct ak_err *err)
{
	static struct netns_worker w;
	struct netns_job job = { .limit_dir = nslimit_open() };
	int r;

	netns_begin(&w, &job);
	r = netns_enter(&w, err);
	netns_end(&w);
	if (r < 0)
		return r;
	NEED(loopback_is_up() <= 0);
	NEED(number_in("/proc/sys/user/max_user_namespaces") != 0);
	NEED(number_in("/proc/sys/user/max_inotify_instances") == 64);
	return 0;
}

START_TEST(loopback_and_limits_stay_as_they_are_unasked)
{
	ck_assert_int_eq(in_namespaces(nothing_asked), 0);
}
END_TEST

static int last_limit(struct ak_err *err)
{
	const char *name = "";
	static const struct nslimit none = { "0", "0" };
	int dir = nslimit_open();

	(void)err;
	NEED(dir >= 0);
	NEED(nslimit_last(dir, &none, &name) == 0);
	NEED(strcmp(name, "max_mnt_namespaces") == 0);
	NEED(unshare(CLONE_NEWNS) < 0 && errno == ENOSPC);
	NEED(unshare(CLONE_NEWUTS) == 0);
	NEED(nslimit_first(dir, &none, &name) == 0);
	NEED(unshare(CLONE_NEWUTS) < 0 && errno == ENOSPC);
	NEED(unshare(CLONE_NEWUSER) < 0 && errno == ENOSPC);
	return 0;
}

START_TEST(no_namespace_can_be_made_under_the_limits)
{
	ck_assert_int_eq(in_namespaces(last_limit), 0);
}
END_TEST

static int begin_root(struct mnt_ctx *c, struct plan *p, struct ak_err *err)
{
	*p = (struct plan){ .rootfs_fd = -1, .identity = PLAN_ID_SAME };
	mount_init(c, p, 0);
	return mount_begin(c, err);
}

/* a name that is there, and be it a dangling link into the host, is never mounted on in the short way */
static int only_new_names(struct ak_err *err)
{
	static char dst[] = "/link", fresh[] = "/new", deep[] = "/a/b";
	struct plan_mount m = { .kind = PM_TMPFS, .size_bytes = 65536, .inodes = 16, .mode = 0700, .dst = dst };
	struct mnt_ctx c;
	struct plan p;
	struct stat st;
	const char *name;
	int r = begin_root(&c, &p, err);

	if (r < 0)
		return r;
	NEED(symlinkat("/tmp", c.root, "link") == 0);
	NEED(mount_new_target(&c, &m, true, &name) < 0);
	NEED(mount_target(&c, dst, true, false, err) == -ELOOP);
	m.dst = fresh;
	m.flags = PMF_TARGET_EXISTS;
	NEED(mount_new_target(&c, &m, true, &name) < 0);
	NEED(fstatat(c.root, "new", &st, AT_SYMLINK_NOFOLLOW) < 0);
	m.flags = 0;
	r = mount_new_target(&c, &m, true, &name);
	NEED(r == c.root && strcmp(name, "new") == 0);
	NEED(mount_new_tmpfs(r, name, &m, MOUNT_ATTR_NOSUID) == 0);
	NEED(fstatat(c.root, "new", &st, 0) == 0 && (st.st_mode & 07777) == 0700);
	NEED(mount_new_target(&c, &m, true, &name) < 0);
	m.dst = deep;
	r = mount_new_target(&c, &m, false, &name);
	NEED(r >= 0 && r != c.root && strcmp(name, "b") == 0);
	NEED(fstatat(c.root, "a/b", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode));
	return 0;
}

START_TEST(short_way_only_onto_names_made_just_now)
{
	ck_assert_int_eq(in_namespaces(only_new_names), 0);
}
END_TEST

static int parts(struct ak_err *err)
{
	static char proc[] = "/proc", dev[] = "/dev";
	struct plan_mount rows[] = { { .kind = PM_PROC, .dst = proc }, { .kind = PM_DEV, .dst = dev, .size_bytes = 1 << 20 } };
	struct mnt_ctx c;
	struct plan p;
	struct stat st;
	int r = begin_root(&c, &p, err);

	p.mounts = rows;
	p.nmounts = 2;
	if (r == 0)
		r = mount_all(&c, err);
	NEED(r == 0);
	NEED(atomic_load(&c.proc.state) == PART_OFFERED && atomic_load(&c.dev.state) == PART_OFFERED);
	r = mount_leave_host(&c, err);
	NEED(r == 0);
	NEED(atomic_load(&c.proc.state) == PART_DONE && atomic_load(&c.dev.state) == PART_DONE);
	r = mount_seal(&c, err);
	NEED(r == 0);
	NEED(mount_check_alone(&c, err) == 0);
	NEED(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
	NEED(open("/dev/new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EROFS);
	NEED(open("/proc/sys/kernel/hostname", O_WRONLY | O_CLOEXEC) < 0);
	NEED(stat("/proc/keys", &st) < 0 || (st.st_mode & 0777) == 0);
	NEED(access("/.ak-mask-file", F_OK) < 0);
	return 0;
}

START_TEST(parts_nobody_took_are_built_before_the_host_is_left)
{
	ck_assert_int_eq(in_namespaces(parts), 0);
}
END_TEST

static void other_thread(void *arg)
{
	mount_parts_beside(arg);
	vexit();
}

/* @c: its root is ready to be entered */
static int leave_beside(struct mnt_ctx *c, bool give_up, struct ak_err *err)
{
	static _Alignas(16) char stack[16384];
	static volatile uint32_t tid;
	uint32_t now;
	int r;

	c->beside = vthread(stack, sizeof(stack), (uint32_t *)&tid, other_thread, c) > 0;
	r = give_up ? 0 : mount_leave_host(c, err);
	if (give_up)
		mount_give_up(c);
	while ((now = tid) != 0)
		(void)syscall(SYS_futex, &tid, FUTEX_WAIT, now, NULL, NULL, 0);
	return r;
}

static int detached_beside(struct ak_err *err)
{
	struct mnt_ctx c;
	struct plan p;
	int r = begin_root(&c, &p, err);

	NEED(r == 0);
	NEED(access("/etc/passwd", F_OK) == 0);
	r = leave_beside(&c, false, err);
	NEED(r == 0);
	NEED(atomic_load(&c.old) != OLD_STAYS);
	NEED(mount_check_alone(&c, err) == 0);
	NEED(access("/etc/passwd", F_OK) < 0 && access("/../etc/passwd", F_OK) < 0);
	NEED(access("/" MOUNT_MASK_FILE, F_OK) == 0);
	return 0;
}

START_TEST(other_thread_takes_the_old_root_away)
{
	ck_assert_int_eq(in_namespaces(detached_beside), 0);
}
END_TEST

static int given_up(struct ak_err *err)
{
	struct mnt_ctx c;
	struct plan p;
	int r = begin_root(&c, &p, err);

	NEED(r == 0);
	NEED(leave_beside(&c, true, err) == 0);
	NEED(c.detached == 0);
	NEED(access("/etc/passwd", F_OK) == 0);
	mount_give_up(&c);
	return 0;
}

START_TEST(other_thread_ends_after_a_failure)
{
	ck_assert_int_eq(in_namespaces(given_up), 0);
}
END_TEST

static int old_root_stays(struct ak_err *err)
{
	struct mnt_ctx c;
	struct plan p;
	int r = begin_root(&c, &p, err);

	NEED(r == 0);
	NEED(fchdir(c.root) == 0 && syscall(SYS_pivot_root, ".", ".") == 0);
	NEED(mount_check_alone(&c, err) == -EBUSY);
	c.detached = -EPERM;
	NEED(mount_check_alone(&c, err) == -EPERM);
	c.detached = 0;
	NEED(part_detach_old(&c) == 0);
	NEED(mount_check_alone(&c, err) == 0);
	err->msg[0] = '\0';
	return 0;
}

START_TEST(old_root_that_stays_is_noticed)
{
	ck_assert_int_eq(in_namespaces(old_root_stays), 0);
}
END_TEST

static bool may_leave(struct plan_mount *rows, size_t n, bool beside)
{
	struct plan p = { .mounts = rows, .nmounts = n };
	struct mnt_ctx c;

	mount_init(&c, &p, 0);
	c.beside = beside;
	return mount_may_leave(&c, 1);
}

START_TEST(host_is_left_early_only_where_nothing_needs_it)
{
	static char dev[] = "/dev", tmp[] = "/tmp", w[] = "/tmp/w", file[] = "/tmp/w/.git", secret[] = "/etc/secret", below[] = "/tmp/w/secret",
		    node[] = "/dev/fuse", src[] = "/srv/w";
	const struct plan_mount plain[] = { { .kind = PM_DEV, .dst = dev }, { .kind = PM_TMPFS, .dst = tmp },
					    { .kind = PM_BIND, .dst = w, .src = src, .src_fd = -1 },
					    { .kind = PM_BIND, .dst = file, .src = file, .src_fd = -1, .flags = PMF_PROTECT },
					    { .kind = PM_HIDE, .dst = secret } };
	struct plan_mount m[16];
	const size_t n = sizeof(plain) / sizeof(plain[0]);

	memcpy(m, plain, sizeof(plain));
	ck_assert(may_leave(m, n, true));
	ck_assert(!may_leave(m, n, false));
	m[4].dst = below;
	ck_assert(!may_leave(m, n, true));
	m[4] = (struct plan_mount){ .kind = PM_HIDE, .dst = secret, .flags = PMF_USER };
	ck_assert(!may_leave(m, n, true));
	m[4] = (struct plan_mount){ .kind = PM_DEVNODE, .dst = node, .src = node };
	ck_assert(!may_leave(m, n, true));
	m[4] = (struct plan_mount){ .kind = PM_TMPFS, .dst = node };
	ck_assert(!may_leave(m, n, true));
	m[4] = plain[4];
	m[2].flags = PMF_COW;
	ck_assert(!may_leave(m, n, true));
	memcpy(m, plain, sizeof(plain));
	for (size_t i = n; i < n + MOUNT_HELD_MAX; i++) {
		ck_assert(may_leave(m, i, true));
		m[i] = plain[2];
	}
	ck_assert(!may_leave(m, n + MOUNT_HELD_MAX, true));
}
END_TEST

/* what is shown and hidden is the same whether the host is left before the last rows or after them */
static int left_early(struct ak_err *err)
{
	static char proc[] = "/proc", dev[] = "/dev", tmp[] = "/tmp", etc[] = "/tmp/etc", host_etc[] = "/etc", none[] = "/tmp/none",
		    missing[] = "/nonexistent/x", dir[] = "/covered";
	struct plan_mount rows[] = { { .kind = PM_DIR, .dst = dir, .mode = 0755 },
				     { .kind = PM_PROC, .dst = proc },
				     { .kind = PM_DEV, .dst = dev, .size_bytes = 1 << 20 },
				     { .kind = PM_TMPFS, .dst = tmp, .size_bytes = 65536, .inodes = 64, .mode = 0700 },
				     { .kind = PM_BIND, .dst = none, .src = missing, .src_fd = -1, .flags = PMF_OPTIONAL },
				     { .kind = PM_BIND, .dst = etc, .src = host_etc, .src_fd = -1, .flags = PMF_RO },
				     { .kind = PM_HIDE, .dst = dir } };
	static _Alignas(16) char stack[16384];
	static volatile uint32_t tid;
	struct mnt_ctx c;
	struct plan p;
	struct stat st;
	uint32_t now;
	int r = begin_root(&c, &p, err);

	NEED(r == 0);
	p.mounts = rows;
	p.nmounts = sizeof(rows) / sizeof(rows[0]);
	c.beside = vthread(stack, sizeof(stack), (uint32_t *)&tid, other_thread, &c) > 0;
	r = mount_all(&c, err);
	if (r == 0)
		NEED(c.left == c.beside);
	if (r == 0)
		r = mount_leave_host(&c, err);
	if (r == 0)
		r = mount_seal(&c, err);
	mount_give_up(&c);
	while ((now = tid) != 0)
		(void)syscall(SYS_futex, &tid, FUTEX_WAIT, now, NULL, NULL, 0);
	if (r == 0)
		r = mount_check_alone(&c, err);
	NEED(r == 0);
	NEED(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
	NEED(open("/dev/new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EROFS);
	NEED(stat("/dev/pts/ptmx", &st) == 0 && stat("/dev/shm", &st) == 0 && (st.st_mode & 07777) == 01777);
	NEED(access("/tmp/etc/passwd", F_OK) == 0 && access("/etc/passwd", F_OK) < 0);
	NEED(open("/tmp/etc/new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && (errno == EROFS || errno == EACCES));
	NEED(access("/tmp/none", F_OK) < 0);
	NEED(stat("/covered", &st) == 0 && (st.st_mode & 0777) == 0);
	return 0;
}

START_TEST(last_rows_come_after_the_host_is_left)
{
	ck_assert_int_eq(in_namespaces(left_early), 0);
}
END_TEST

static int failed_part(struct ak_err *err)
{
	struct mnt_ctx c;
	struct plan p;
	int r = begin_root(&c, &p, err);

	NEED(r == 0);
	c.dev.result = -ENODEV;
	c.dev.what = "null";
	NEED(mount_seal(&c, err) == -ENODEV);
	NEED(strstr(err->msg, "/dev: null") && strstr(err->hint, "character device"));
	err->msg[0] = '\0';
	return 0;
}

START_TEST(failure_of_a_part_is_told)
{
	ck_assert_int_eq(in_namespaces(failed_part), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("beside");
	TCase *t = tcase_create("beside");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 30);
	tcase_add_test(t, network_namespace_loopback_and_limits_are_made_beside);
	tcase_add_test(t, loopback_and_limits_stay_as_they_are_unasked);
	tcase_add_test(t, no_namespace_can_be_made_under_the_limits);
	tcase_add_test(t, short_way_only_onto_names_made_just_now);
	tcase_add_test(t, parts_nobody_took_are_built_before_the_host_is_left);
	tcase_add_test(t, other_thread_takes_the_old_root_away);
	tcase_add_test(t, other_thread_ends_after_a_failure);
	tcase_add_test(t, old_root_that_stays_is_noticed);
	tcase_add_test(t, host_is_left_early_only_where_nothing_needs_it);
	tcase_add_test(t, last_rows_come_after_the_host_is_left);
	tcase_add_test(t, failure_of_a_part_is_told);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
