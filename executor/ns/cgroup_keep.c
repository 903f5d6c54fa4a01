/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper of a cgroup in root mode. Process: keeper. Privilege: host root behind a filter of its own. */
#include "executor/ns/cgroup_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/ns/cgroup.h"
#include "executor/ns/cgroup_find.h"
#include "executor/ns/kabi.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define REMOVE_TRIES 2000	/* with a millisecond between them */

/* everything the keeper needs, opened before it is confined: it opens nothing by itself */
struct keeping {
	int pipe;	/* end of file: ak is gone, or wants the group gone */
	int place;
	int kill;	/* cgroup.kill of the group; -1 */
	int control;	/* cgroup.subtree_control of the place; -1: nothing to switch off */
	int procs;	/* cgroup.procs of the place; -1: ak did not move */
	char name[CGROUP_NAME_MAX];
	char aside[CGROUP_NAME_MAX];
	char off[64];
	char ak[16];	/* pid of ak */
};

static void nap_ms(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	(void)nanosleep(&t, NULL);
}

static int remove_group(const struct keeping *k, const char *name)
{
	for (int i = 0; i < REMOVE_TRIES; i++) {
		if (unlinkat(k->place, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return -errno;
		nap_ms(1);
	}
	return -EBUSY;
}

/* what a filter of an allow-list of these calls refuses ends the process: it never needs more */
static int confine(void)
{
	static const int allowed[] = { SYS_read, SYS_write, SYS_unlinkat, SYS_exit_group, SYS_exit, SYS_clock_nanosleep,
#ifdef SYS_nanosleep
				       SYS_nanosleep,
#endif
				       SYS_restart_syscall, SYS_rt_sigreturn };
	enum { N = sizeof(allowed) / sizeof(allowed[0]) };
	struct sock_filter f[N + 6];
	struct sock_fprog prog = { .filter = f };
	unsigned short n = 0;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
#if defined(__x86_64__)
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
#elif defined(__aarch64__)
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_AARCH64, 1, 0);
#else
#error "no filter for this architecture"
#endif
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < N; i++)
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], (uint8_t)(N - i), 0);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0 ? -errno : 0;
}

/* closes all but the kept descriptors: the gaps between them, the lowest first */
static int keep_only(const struct keeping *k)
{
	const int mine[] = { k->pipe, k->place, k->kill, k->control, k->procs };
	enum { N = sizeof(mine) / sizeof(mine[0]) };

	for (int i = 0, from = 0; i <= N; i++) {
		int to = -1;

		for (int j = 0; j < N; j++)
			if (mine[j] >= from && (to < 0 || mine[j] < to))
				to = mine[j];
		if (to != from && syscall(SYS_close_range, (unsigned)from, to < 0 ? ~0U : (unsigned)to - 1, 0) < 0)
			return -errno;
		if (to < 0)
			break;
		from = to + 1;
	}
	return 0;
}

static _Noreturn void keeper(struct keeping *k)
{
	sigset_t all;
	char c;
	int left;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)setsid();		/* what is meant for ak's group or terminal is not meant for us */
	(void)prctl(PR_SET_NAME, "ak-keeper");
	(void)prctl(PR_SET_PDEATHSIG, 0);
	if (keep_only(k) < 0 || confine() < 0)
		_exit(2);
	while (read(k->pipe, &c, 1) < 0 && errno == EINTR)
		;
	if (k->kill >= 0)
		(void)!write(k->kill, "1", 1);
	left = remove_group(k, k->name);
	if (k->procs >= 0) {
		if (k->control >= 0)
			(void)!write(k->control, k->off, strlen(k->off));
		(void)!write(k->procs, k->ak, strlen(k->ak));
		(void)!write(k->procs, "0", 1);
		if (remove_group(k, k->aside) < 0)
			left = -EBUSY;
	}
	(void)syscall(SYS_exit_group, left < 0 ? 1 : 0);	/* _exit(3) may do more, with calls that are refused */
	__builtin_unreachable();
}

static int open_all(const struct cgroup *g, const struct cgroup_place *place, struct keeping *k)
{
	k->place = place->dir;
	k->kill = g->kill;
	memcpy(k->name, g->name, sizeof(k->name));
	if (place->aside < 0)
		return 0;
	snprintf(k->aside, sizeof(k->aside), "%s", place->aside_name);
	snprintf(k->ak, sizeof(k->ak), "%d", (int)getpid());
	cgroup_ctl_enable_text(place->taken, '-', k->off, sizeof(k->off));
	k->procs = openat(place->dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (k->procs < 0)
		return -errno;
	if (place->taken)
		k->control = openat(place->dir, "cgroup.subtree_control", O_WRONLY | O_CLOEXEC);
	return place->taken && k->control < 0 ? -errno : 0;
}

int cgroup_keeper_start(const struct cgroup *g, const struct cgroup_place *place, struct cgroup_keeper *ret, struct ak_err *err)
{
	struct keeping k = { .control = -1, .procs = -1 };
	int p[2], r;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		return ak_err_sys(err, errno, "make a pipe for the cgroup's keeper");
	k.pipe = p[0];
	r = open_all(g, place, &k);
	if (r == 0) {
		pid = fork();
		if (pid == 0) {
			(void)close(p[1]);
			keeper(&k);
		}
		r = pid < 0 ? -errno : 0;
		*ret = (struct cgroup_keeper){ .pid = r == 0 ? pid : 0, .pipe = r == 0 ? p[1] : -1 };
	}
	if (r < 0) {
		(void)close(p[1]);
		(void)ak_err_sys(err, -r, "start the cgroup's keeper");
	}
	ak_fd_close(&k.control);
	ak_fd_close(&k.procs);
	(void)close(p[0]);
	return r;
}

int cgroup_keeper_end(struct cgroup_keeper *k)
{
	int status = 0;
	pid_t n;

	ak_fd_close(&k->pipe);
	if (k->pid <= 0)
		return 0;
	do
		n = waitpid(k->pid, &status, 0);
	while (n < 0 && errno == EINTR);
	k->pid = 0;
	return n > 0 && status == 0 ? 0 : -EBUSY;
}
