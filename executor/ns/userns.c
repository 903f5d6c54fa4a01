/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes user namespaces and writes their id maps; explains refusals. Process: executor, set-up child.
 * Privilege: none for a rootless sandbox; CAP_SETUID and CAP_SETGID for maps of a range.
 */
#include "executor/ns/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/vclone.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static int write_proc(pid_t pid, const char *name, const char *text, struct ak_err *err)
{
	char path[64];
	AK_AUTO_FD fd = -1;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	else
		snprintf(path, sizeof(path), "/proc/self/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return ak_err_sys(err, errno, "open %s", path);
	if (write(fd, text, strlen(text)) < 0)
		return ak_err_sys(err, errno, "write \"%s\" to %s", text, path);
	return 0;
}

static int write_map(pid_t pid, const char *name, struct id_map m, struct ak_err *err)
{
	char text[40];

	snprintf(text, sizeof(text), "%u %u %u", m.inside, m.outside, m.count);
	return write_proc(pid, name, text, err);
}

int userns_write_maps(pid_t pid, struct id_map uid, struct id_map gid, bool deny_setgroups, struct ak_err *err)
{
	int r = deny_setgroups ? write_proc(pid, "setgroups", "deny", err) : 0;

	if (r == 0)
		r = write_map(pid, "uid_map", uid, err);
	if (r == 0)
		r = write_map(pid, "gid_map", gid, err);
	return r;
}

static bool proc_is_zero(const char *path)
{
	char c[2] = { 0 };
	AK_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, c, 2) >= 1 && c[0] == '0' && (c[1] == '\n' || c[1] == '\0');
}

static bool proc_is_one(const char *path)
{
	char c[2] = { 0 };
	AK_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, c, 2) >= 1 && c[0] == '1';
}

/* the sysctl that forbids a kind of namespace, or NULL */
static const char *zero_sysctl(void)
{
	static const char *const names[] = { "user", "mnt", "pid", "net", "ipc", "uts", "cgroup" };
	static const char *const full[] = { "user.max_user_namespaces", "user.max_mnt_namespaces", "user.max_pid_namespaces",
					    "user.max_net_namespaces", "user.max_ipc_namespaces", "user.max_uts_namespaces",
					    "user.max_cgroup_namespaces" };
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/sys/user/max_%s_namespaces", names[i]);
		if (proc_is_zero(path))
			return full[i];
	}
	if (proc_is_zero("/proc/sys/kernel/unprivileged_userns_clone"))
		return "kernel.unprivileged_userns_clone";
	return NULL;
}

int userns_explain(int code, struct ak_err *err)
{
	const char *sysctl = zero_sysctl();

	(void)ak_err_sys(err, code, "make the sandbox's namespaces (clone3)");
	if (sysctl && code != ENOSYS)
		ak_err_hint(err, "the sysctl %s is 0 here: an administrator can raise it; `ak doctor` shows what is missing; --isolation landlock does without, but is weaker", sysctl);
	else if (code == ENOSYS)
		ak_err_hint(err, "a seccomp filter around ak (a container, or another sandbox) refuses clone3; "
				 "docker: --security-opt seccomp=unconfined");
	else if (code == EPERM && proc_is_one("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"))
		ak_err_hint(err, "AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1): "
				 "give ak a profile with \"userns,\", or run it as root");
	else if (code == EPERM)
		ak_err_hint(err, "a seccomp filter around ak forbids it (docker: --security-opt seccomp=unconfined), or ak runs in a chroot; "
				 "--isolation landlock does without, but is weaker; `ak doctor` tells more");
	else if (code == EAGAIN)
		ak_err_hint(err, "the caller's limit of processes is reached (ulimit -u)");
	else if (code == ENOSPC || code == EUSERS)
		ak_err_hint(err, "a limit on namespaces is reached (user.max_*_namespaces, or nesting depth 32)");
	return -code;
}

/* errors that clone3 gives only with CLONE_INTO_CGROUP: clone(2), and cgroup_css_set_fork() of the kernel */
static int explain_birth(int code, int cgroup, struct ak_err *err)
{
	char link[32], path[256];
	ssize_t n;

	if (cgroup < 0 || (code != EACCES && code != EBUSY && code != EOPNOTSUPP && code != ENODEV && code != EBADF))
		return userns_explain(code, err);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", cgroup);
	n = readlink(link, path, sizeof(path) - 1);
	(void)ak_err_sys(err, code, "start the sandbox inside its cgroup %.*s", n > 0 ? (int)n : 0, path);
	if (code == EACCES)
		ak_err_hint(err, "the kernel lets a process be born in another group only by who may write cgroup.procs of a group "
			    "above both: run ak inside the delegated subtree, or delegate a group above ak's own");
	else if (code == EOPNOTSUPP || code == EBUSY)
		ak_err_hint(err, "the group is threaded, or passes controllers down: give one that does neither");
	return -code;
}

static struct clone_args args_of(uint64_t flags, int cgroup, int *pidfd)
{
	struct clone_args a = { .flags = flags | CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)pidfd };

	if (!(flags & CLONE_PARENT))	/* a sibling gives the signal that the caller gives */
		a.exit_signal = SIGCHLD;
	if (cgroup >= 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (uint64_t)cgroup;
	}
	return a;
}

/*
 * clone(2), whose flags a filter can see: containers refuse clone3 for that (docker: ENOSYS, others EPERM) and let an ordinary child
 * be made. Without a group, which only clone3 takes. Parent's and child's descriptor stand third in the arguments of every architecture
 */
static pid_t old_clone(const struct clone_args *args, int *pidfd)
{
	return (pid_t)syscall(SYS_clone, (unsigned long)(args->flags | args->exit_signal), 0, pidfd, 0, 0);
}

pid_t userns_clone(uint64_t flags, int cgroup, int *ret_pidfd, struct ak_err *err)
{
	int pidfd = -1;
	struct clone_args args = args_of(flags, cgroup, &pidfd);
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0 && cgroup < 0 && (errno == ENOSYS || errno == EPERM))
		pid = old_clone(&args, &pidfd);
	if (pid < 0)
		return explain_birth(errno, cgroup, err);
	if (pid > 0)
		*ret_pidfd = pidfd;
	return pid;
}

pid_t userns_vclone(uint64_t flags, int cgroup, void (*fn)(void *), void *arg, int *ret_pidfd, struct ak_err *err)
{
	int pidfd = -1;
	struct clone_args args = args_of(flags, cgroup, &pidfd);
	pid_t pid = vclone(&args, fn, arg);

	if (pid < 0)
		return explain_birth(-pid, cgroup, err);
	*ret_pidfd = pidfd;
	return pid;
}

/* keeps a namespace alive; dies with the parent, also if that died before the death signal was set */
static _Noreturn void hold_until_killed(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	for (;;)
		pause();
}

int userns_make(struct id_map uid, struct id_map gid, struct ak_err *err)
{
	char path[48];
	AK_AUTO_FD pidfd = -1;
	int fd = -1;
	pid_t self = getpid();
	pid_t pid = userns_clone(CLONE_NEWUSER, -1, &pidfd, err);
	int r;

	if (pid < 0)
		return (int)pid;
	if (pid == 0)
		hold_until_killed(self);
	r = userns_write_maps(pid, uid, gid, false, err);
	if (r == 0) {
		snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		r = fd < 0 ? ak_err_sys(err, errno, "open %s", path) : fd;
	}
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	(void)waitid(P_PIDFD, (id_t)pidfd, NULL, WEXITED);
	return r;
}
