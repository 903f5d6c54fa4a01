/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of executor/ns: each case runs in a child with namespaces of its own, so no privilege is needed. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/caps.h"
#include "executor/ns/init_image.h"
#include "executor/ns/mount.h"
#include "executor/ns/netns.h"
#include "executor/ns/userns.h"
#include "executor/ns/vclone.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"

#define NS (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET)

static char top[64];	/* a folder of the test's own on the host */
static bool refused;	/* no namespaces here: set once, before the first case */

static void make_top(void)
{
	snprintf(top, sizeof(top), "%s", "/tmp/ak-test-ns.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
}

static char path_d[128], path_link[128];

static void remove_top(void)
{
	char old[160];

	snprintf(old, sizeof(old), "%s/old", path_d);
	(void)unlink(old);
	(void)rmdir(path_d);
	(void)unlink(path_link);
	(void)rmdir(top);
}

static void put(const char *rel, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, rel);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static bool refused_here(pid_t r)
{
	return r == -ENOSYS || r == -EPERM || r == -ENOSPC;
}

/* Inside a sandbox, or where the host forbids it, no namespace can be made: then the cases that need one test nothing */
static bool namespaces_are_refused(void)
{
	struct ak_err err = { 0 };
	int pidfd = -1;
	pid_t pid = userns_clone(NS, -1, &pidfd, &err);

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return refused_here(pid);
	(void)waitpid(pid, NULL, 0);
	(void)close(pidfd);
	return false;
}

/* run @fn in new namespaces with our own ids mapped; its return value becomes the exit status */
static int in_namespaces(int (*fn)(struct ak_err *))
{
	struct ak_err err = { 0 };
	struct id_map uid = { geteuid(), geteuid(), 1 }, gid = { getegid(), getegid(), 1 };
	int pidfd = -1, status = -1;
	pid_t pid;

	if (refused)
		return 0;
	pid = userns_clone(NS, -1, &pidfd, &err);
	ck_assert_msg(pid >= 0, "%s", err.msg);
	if (pid == 0) {
		int r = userns_write_maps(0, uid, gid, true, &err);

		if (r == 0)
			r = fn(&err);
		if (r != 0)
			fprintf(stderr, "in the sandbox: %d: %s\n", r, err.msg);
		_exit(r == 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	(void)close(pidfd);
	return status;
}

static int build(struct plan_mount *m, size_t n, struct ak_err *err)
{
	struct plan p = { .rootfs_fd = -1, .mounts = m, .nmounts = n, .identity = PLAN_ID_SAME };
	struct mnt_ctx c;
	int r;

	mount_init(&c, &p, 0);
	r = mount_begin(&c, err);

	if (r == 0)
		r = mount_all(&c, err);
	if (r == 0)
		r = mount_leave_host(&c, err);
	if (r == 0)
		r = mount_seal(&c, err);
	return r < 0 ? r : mount_check_alone(&c, err);
}

static void set_up(void)
{
	make_top();
	snprintf(path_d, sizeof(path_d), "%s/d", top);
	snprintf(path_link, sizeof(path_link), "%s/link", top);
	ck_assert_int_eq(mkdir(path_d, 0755), 0);
	put("d/old", "old\n");
	ck_assert_int_eq(symlink("/", path_link), 0);
}

static int root_holds_only_the_plan(struct ak_err *err)
{
	char text[] = "hello", ro[] = "/a/ro", f[] = "/a/f", tmp[] = "/t";
	struct plan_mount m[] = {
		{ .kind = PM_FILE, .src = text, .dst = f, .mode = 0444, .src_fd = -1 },
		{ .kind = PM_BIND, .flags = PMF_RO, .src = path_d, .dst = ro, .src_fd = -1 },
		{ .kind = PM_TMPFS, .dst = tmp, .mode = 01777, .size_bytes = 1 << 20, .inodes = 4, .src_fd = -1 },
	};
	int r = build(m, 3, err);

	if (r < 0)
		return r;
	if (access("/a/f", R_OK) != 0 || access("/a/ro/old", R_OK) != 0 || access("/etc", F_OK) == 0 || access("/..", F_OK) != 0)
		return 2;
	if (open("/a/ro/new", O_CREAT | O_WRONLY, 0600) >= 0 || errno != EROFS)
		return 3;
	if (open("/x", O_CREAT | O_WRONLY, 0600) >= 0 || errno != EROFS)
		return 4;
	for (int i = 0; i < 4; i++) {
		char name[] = "/t/0";

		name[3] = (char)('0' + i);
		if (open(name, O_CREAT | O_WRONLY, 0600) < 0)
			return i == 3 && errno == ENOSPC ? 0 : 5;	/* the folder itself is the fourth */
	}
	return 6;
}

START_TEST(root_shows_only_what_the_plan_says_and_is_read_only)
{
	ck_assert_int_eq(in_namespaces(root_holds_only_the_plan), 0);
}
END_TEST

static int target_made_in_read_only_folder(struct ak_err *err)
{
	char a[] = "/a", deep[] = "/a/deep/er";
	struct plan_mount m[] = {
		{ .kind = PM_BIND, .flags = PMF_RO, .src = path_d, .dst = a, .src_fd = -1 },
		{ .kind = PM_TMPFS, .dst = deep, .mode = 0755, .size_bytes = 1 << 20, .inodes = 8, .src_fd = -1 },
	};
	int r = build(m, 2, err);

	if (r < 0)
		return r;
	if (access("/a/old", R_OK) != 0 || open("/a/deep/er/x", O_CREAT | O_WRONLY, 0600) < 0)
		return 2;
	return open("/a/new", O_CREAT | O_WRONLY, 0600) < 0 && errno == EROFS ? 0 : 3;
}

START_TEST(missing_target_below_read_only_folder_leaves_the_host_alone)
{
	char made[160];

	ck_assert_int_eq(in_namespaces(target_made_in_read_only_folder), 0);
	snprintf(made, sizeof(made), "%s/deep", path_d);
	ck_assert_int_eq(access(made, F_OK), -1);
}
END_TEST

static int target_must_exist(struct ak_err *err)
{
	char a[] = "/a", none[] = "/a/none";
	struct plan_mount m[] = {
		{ .kind = PM_BIND, .src = path_d, .dst = a, .src_fd = -1 },
		{ .kind = PM_TMPFS, .flags = PMF_TARGET_EXISTS, .dst = none, .size_bytes = 4096, .mode = 0755, .src_fd = -1 },
	};

	return build(m, 2, err) == -ENOENT ? 0 : 2;
}

START_TEST(no_stub_is_made_where_the_target_must_exist)
{
	char made[160];

	ck_assert_int_eq(in_namespaces(target_must_exist), 0);
	snprintf(made, sizeof(made), "%s/none", path_d);
	ck_assert_int_eq(access(made, F_OK), -1);
}
END_TEST

static int target_through_link(struct ak_err *err)
{
	char a[] = "/a", l[] = "/a/link/x";
	struct plan_mount m[] = {
		{ .kind = PM_BIND, .src = top, .dst = a, .src_fd = -1 },
		{ .kind = PM_TMPFS, .dst = l, .size_bytes = 4096, .mode = 0755, .src_fd = -1 },
	};

	return build(m, 2, err) == -ELOOP ? 0 : 2;
}

START_TEST(target_through_a_symbolic_link_is_refused)
{
	ck_assert_int_eq(in_namespaces(target_through_link), 0);
}
END_TEST

static int source_is_link(struct ak_err *err)
{
	char a[] = "/a";
	struct plan_mount m[] = { { .kind = PM_BIND, .src = path_link, .dst = a, .src_fd = -1 } };

	return build(m, 1, err) == -ELOOP ? 0 : 2;
}

START_TEST(source_that_became_a_symbolic_link_is_refused)
{
	ck_assert_int_eq(in_namespaces(source_is_link), 0);
}
END_TEST

static int hidden_is_unreadable(struct ak_err *err)
{
	char a[] = "/a", f[] = "/a/old", none[] = "/a/none";
	struct plan_mount m[] = {
		{ .kind = PM_BIND, .src = path_d, .dst = a, .src_fd = -1 },
		{ .kind = PM_HIDE, .dst = f, .src_fd = -1 },
		{ .kind = PM_HIDE, .dst = none, .src_fd = -1 },
	};
	int r = build(m, 3, err);

	if (r < 0 || caps_drop_all(err) < 0)
		return r < 0 ? r : 2;
	if (open("/a/old", O_RDONLY) >= 0 || errno != EACCES)
		return 3;
	if (chmod("/a/old", 0600) == 0 || errno != EROFS)
		return 4;
	return rename("/a/old", "/a/x") < 0 && errno == EBUSY ? 0 : 5;
}

START_TEST(hidden_file_can_be_neither_read_nor_changed_nor_moved)
{
	ck_assert_int_eq(in_namespaces(hidden_is_unreadable), 0);
}
END_TEST

static int caps_go(struct ak_err *err)
{
	int r = caps_drop_all(err);

	if (r < 0)
		return r;
	for (int c = 0; prctl(PR_CAPBSET_READ, c) >= 0; c++)
		if (prctl(PR_CAPBSET_READ, c) != 0)
			return 2;
	return sethostname("x", 1) < 0 && errno == EPERM ? 0 : 3;
}

START_TEST(drop_all_leaves_no_capability_in_any_set)
{
	ck_assert_int_eq(in_namespaces(caps_go), 0);
}
END_TEST

static int loopback(struct ak_err *err)
{
	FILE *f;
	unsigned flags = 0;
	int r = netns_loopback_up(err);

	if (r < 0)
		return r;
	/* sysfs shows the host's; ask by a bind that fails while lo is down */
	f = fopen("/proc/self/net/if_inet6", "r");
	if (!f)
		return 0;	/* a kernel without IPv6 lists nothing */
	flags = (unsigned)fgetc(f);
	(void)fclose(f);
	return flags == (unsigned)EOF ? 2 : 0;
}

START_TEST(loopback_comes_up_with_its_address)
{
	ck_assert_int_eq(in_namespaces(loopback), 0);
}
END_TEST

START_TEST(sealed_memfd_cannot_be_changed)
{
	struct ak_err err = { 0 };
	int fd = sealed_memfd("t", "abc", 3, false, &err);

	ck_assert_msg(fd >= 0, "%s", err.msg);
	ck_assert_int_eq(write(fd, "x", 1), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_ptr_eq(mmap(NULL, 3, PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	(void)close(fd);
}
END_TEST

START_TEST(init_image_is_a_static_program)
{
	struct ak_err err = { 0 };
	unsigned char head[20];
	int fd = init_image_open(false, &err);

	ck_assert_msg(fd >= 0, "%s", err.msg);
	ck_assert_int_eq(pread(fd, head, sizeof(head), 0), sizeof(head));
	ck_assert_int_eq(memcmp(head, "\177ELF", 4), 0);
	ck_assert_int_le(lseek(fd, 0, SEEK_END), 65536);
	(void)close(fd);
}
END_TEST

struct vtest {
	int value;
	int pipe[2];
};

static void vchild(void *arg)
{
	struct vtest *t = arg;

	t->value = 7;	/* the parent's memory */
	t->value += write(t->pipe[1], "x", 1) == 1;
	(void)close(t->pipe[0]);
	_exit(9);
}

START_TEST(vclone_shares_memory_but_not_descriptors)
{
	struct vtest t = { 0 };
	struct clone_args args = { .exit_signal = SIGCHLD };
	int status = 0;
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe(t.pipe), 0);
	pid = vclone(&args, vchild, &t);
	if (pid == -ENOSYS)
		return;	/* no stub for this architecture: the caller forks */
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(t.value, 8);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 9);
	ck_assert_int_eq(read(t.pipe[0], &c, 1), 1);
	(void)close(t.pipe[0]);
	(void)close(t.pipe[1]);
}
END_TEST

START_TEST(refused_clone_names_the_errno)
{
	struct ak_err err = { 0 };
	int pidfd = -1;

	if (refused)
		return;
	/* CLONE_FS with a new user namespace is EINVAL: user_namespaces(7) */
	ck_assert_int_eq(userns_clone(CLONE_NEWUSER | CLONE_FS, -1, &pidfd, &err), -EINVAL);
	ck_assert_int_eq(pidfd, -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "EINVAL"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ns");
	TCase *t = tcase_create("ns");
	SRunner *r;
	int failed;

	refused = namespaces_are_refused();
	if (refused)
		(void)fprintf(stderr, "not tested here: namespaces are refused\n");
	suite_add_tcase(s, t);
	tcase_add_unchecked_fixture(t, set_up, remove_top);
	tcase_add_test(t, root_shows_only_what_the_plan_says_and_is_read_only);
	tcase_add_test(t, missing_target_below_read_only_folder_leaves_the_host_alone);
	tcase_add_test(t, no_stub_is_made_where_the_target_must_exist);
	tcase_add_test(t, target_through_a_symbolic_link_is_refused);
	tcase_add_test(t, source_that_became_a_symbolic_link_is_refused);
	tcase_add_test(t, hidden_file_can_be_neither_read_nor_changed_nor_moved);
	tcase_add_test(t, drop_all_leaves_no_capability_in_any_set);
	tcase_add_test(t, loopback_comes_up_with_its_address);
	tcase_add_test(t, sealed_memfd_cannot_be_changed);
	tcase_add_test(t, init_image_is_a_static_program);
	tcase_add_test(t, vclone_shares_memory_but_not_descriptors);
	tcase_add_test(t, refused_clone_names_the_errno);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
