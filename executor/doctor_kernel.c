/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of everything but mounts: ids, network, filters, memory files, limits. Each in a child. Privilege:
 * the caller's. */
#include "executor/doctor_int.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/caps.h"
#include "executor/ns/init_image.h"
#include "executor/ns/sysmount.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

int try_nothing(const struct doctor_ctx *ctx, struct trial *t)
{
	(void)ctx;
	(void)t;
	return 0;
}

int try_ids(const struct doctor_ctx *ctx, struct trial *t)
{
	uid_t want = ctx->root ? 0 : ctx->uid;

	if (getuid() == want && geteuid() == want)
		return 0;
	errno = EINVAL;
	return trial_fail(t, "the mapped id is not the one asked for");
}

int try_drop_groups(const struct doctor_ctx *ctx, struct trial *t)
{
	(void)ctx;
	return setgroups(0, NULL) < 0 ? trial_fail(t, "setgroups(0)") : 0;
}

/* The files show the counters of the opener's own user namespace. */
int try_ns_limit(const struct doctor_ctx *ctx, struct trial *t)
{
	AK_AUTO_FD fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);

	(void)ctx;
	if (fd < 0)
		return trial_fail(t, "open user.max_user_namespaces");
	return write(fd, "0", 1) < 0 ? trial_fail(t, "write user.max_user_namespaces") : 0;
}

/* ENOSYS: a kernel without keys has none to share */
int try_keyring(const struct doctor_ctx *ctx, struct trial *t)
{
	(void)ctx;
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		return trial_fail(t, "join a new session keyring");
	return 0;
}

/* RTM_NEWLINK for index 1 with IFF_UP; the answer is an nlmsgerr whose error is 0. */
int try_loopback(const struct doctor_ctx *ctx, struct trial *t)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg i;
	} req = {
		.h = {.nlmsg_len = sizeof(req),
		      .nlmsg_type = RTM_NEWLINK,
		      .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
		.i = {.ifi_family = AF_UNSPEC, .ifi_index = 1, .ifi_flags = IFF_UP, .ifi_change = IFF_UP},
	};
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char rest[256];
	} answer = {0};
	AK_AUTO_FD fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	(void)ctx;
	if (fd < 0)
		return trial_fail(t, "open a netlink socket");
	if (send(fd, &req, sizeof(req), 0) < 0)
		return trial_fail(t, "send RTM_NEWLINK");
	if (recv(fd, &answer, sizeof(answer), 0) < (ssize_t)(sizeof(answer.h) + sizeof(answer.e.error)))
		return trial_fail(t, "receive the answer to RTM_NEWLINK");
	errno = -answer.e.error;
	return answer.e.error ? trial_fail(t, "bring up lo (RTM_NEWLINK)") : 0;
}

int try_syscalls(const struct doctor_ctx *ctx, struct trial *t)
{
	AK_AUTO_FD root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AK_AUTO_FD fd = -1;

	(void)ctx;
	if (root < 0)
		return trial_fail(t, "open /");
	fd = sys_openat2(root, "usr", O_PATH | O_CLOEXEC, AK_RESOLVE_IN_ROOT | AK_RESOLVE_NO_MAGICLINKS);
	if (fd < 0)
		return trial_fail(t, "openat2");
	if (syscall(SYS_close_range, 1000u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return trial_fail(t, "close_range with CLOSE_RANGE_CLOEXEC");
	return 0;
}

int try_caps(const struct doctor_ctx *ctx, struct trial *t)
{
	struct ak_err err = {0};

	(void)ctx;
	return caps_drop_all(&err) < 0 ? trial_err(t, &err) : 0;
}

int try_seccomp(const struct doctor_ctx *ctx, struct trial *t)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = {.len = 1, .filter = &allow};

	(void)ctx;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return trial_fail(t, "set no_new_privs");
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		return trial_fail(t, "load a seccomp filter");
	return 0;
}

/* ak-init ends at once when it gets no arguments; that it started shows in the close-on-exec pipe, which
 * gives end of file. */
int try_memfd_exec(const struct doctor_ctx *ctx, struct trial *t)
{
	char name[] = "ak-init";
	char *const argv[] = {name, NULL};
	char *const envp[] = {NULL};
	struct ak_err err = {0};
	AK_AUTO_FD fd = init_image_open(false, &err);
	int p[2], code = 0;
	siginfo_t si;
	ssize_t n;
	pid_t pid;

	(void)ctx;
	if (fd < 0)
		return trial_err(t, &err);
	if (pipe2(p, O_CLOEXEC) < 0)
		return trial_fail(t, "pipe");
	pid = fork();
	if (pid == 0) {
		AK_AUTO_FD null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (null >= 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2)
			fexecve(fd, argv, envp);
		code = errno;
		(void)ak_write_all(p[1], &code, sizeof(code));
		_exit(1);
	}
	if (pid < 0)
		return trial_fail(t, "fork");
	close(p[1]);
	n = read(p[0], &code, sizeof(code));
	close(p[0]);
	(void)waitid(P_ALL, 0, &si, WEXITED);
	if (n == 0)
		return 0;
	errno = n > 0 ? code : EIO;
	return trial_fail(t, "execute a sealed memfd");
}

/* A user and a mount namespace inside the sandbox's own; the kernel bounds the depth, and a limit above may be used up */
int try_nesting(const struct doctor_ctx *ctx, struct trial *t)
{
	(void)ctx;
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ? trial_fail(t, "make a user namespace inside a user namespace") : 0;
}

int try_landlock(const struct doctor_ctx *ctx, struct trial *t)
{
	struct ak_landlock_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE};
	AK_AUTO_FD fd = -1;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	(void)ctx;
	if (abi < 0)
		return trial_fail(t, "landlock_create_ruleset");
	t->value = (int)abi;
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.handled_access_fs), 0);
	if (fd < 0)
		return trial_fail(t, "landlock_create_ruleset");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return trial_fail(t, "set no_new_privs");
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return trial_fail(t, "landlock_restrict_self");
	return 0;
}

static void __attribute__((noreturn)) wait_and_end(int fd)
{
	char c;

	(void)!read(fd, &c, 1);
	_exit(0);
}

/*
 * RLIMIT_NPROC 2 with one process in the namespace: one fork must work, although the caller's processes
 * outside are more, and a second one must not.
 */
int try_nproc(const struct doctor_ctx *ctx, struct trial *t)
{
	const struct rlimit two = {.rlim_cur = 2, .rlim_max = 2};
	pid_t first, second;
	int p[2];

	(void)ctx;
	if (pipe2(p, O_CLOEXEC) < 0)
		return trial_fail(t, "pipe");
	if (setrlimit(RLIMIT_NPROC, &two) < 0)
		return trial_fail(t, "set RLIMIT_NPROC");
	first = fork();
	if (first == 0) {
		close(p[1]);
		wait_and_end(p[0]);
	}
	if (first < 0)
		return trial_fail(
			t, "fork under RLIMIT_NPROC (processes outside the namespace are counted too)");
	second = fork();
	if (second == 0)
		_exit(0);
	close(p[1]);
	close(p[0]);
	errno = EAGAIN;
	return second < 0 ? 0 : trial_fail(t, "RLIMIT_NPROC did not stop a fork over the limit");
}
