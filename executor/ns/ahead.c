/* SPDX-License-Identifier: Apache-2.0 */
/* Clones the set-up child before the plan is made. Process: executor; set-up child. Privilege: none on the host. */
#include "executor/ns/ahead.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/elsewhere.h"
#include "executor/ns/nslimit.h"
#include "executor/ns/setup.h"
#include "executor/ns/vclone.h"
#include "executor/shared/ak_fd.h"

#define FDS_MAX 6	/* ctl, config, init and three streams */

union control {
	char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

/* the descriptors of @s that were opened after the child was born, in their order; standard streams it has itself */
static size_t late_fds(struct setup *s, int *ret[FDS_MAX])
{
	size_t n = 0;

	ret[n++] = &s->ctl;
	ret[n++] = &s->config;
	ret[n++] = &s->init;
	for (int i = 0; i < 3; i++)
		if (s->stdio[i] > 2)
			ret[n++] = &s->stdio[i];
	return n;
}

/* ---- the child and its thread: system calls without errno, nothing of libc ---- */

static _Noreturn void leave(void)
{
	for (;;)
		(void)vcall(SYS_exit_group, 125, 0, 0, 0, 0);
}

static void thread_waits(void *arg)
{
	struct ahead *a = arg;

	while (__atomic_load_n(&a->ready, __ATOMIC_ACQUIRE) == 0)
		(void)vcall(SYS_futex, (long)(uintptr_t)&a->ready, FUTEX_WAIT_PRIVATE, 0, 0, 0);
	a->after(a->arg);
}

/* Return: a copy of what the executor wants to be set up, with our numbers of its descriptors */
static struct setup receive(const struct ahead *a)
{
	union control ctl;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl) };
	const struct cmsghdr *c = &ctl.align;
	struct setup s;
	int *fds[FDS_MAX];
	size_t n;
	long r;

	do
		r = vcall(SYS_recvmsg, a->far, (long)(uintptr_t)&h, MSG_CMSG_CLOEXEC, 0, 0);
	while (r == -EINTR);
	if (r != 1)
		leave();	/* the executor is gone, or has no use for us */
	s = *a->s;
	s.ctl_parent = -1;	/* we never had it */
	n = late_fds(&s, fds);
	if (h.msg_controllen < sizeof(*c) || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(n * sizeof(int)))
		leave();
	for (size_t i = 0; i < n; i++)
		*fds[i] = ((const int *)CMSG_DATA(c))[i];
	return s;
}

static void child(void *arg)
{
	struct ahead *a = arg;
	struct setup s;

	/* should the executor have died already, end of file on the socket says so */
	(void)vcall(SYS_close, a->sock[0], 0, 0, 0, 0);
	if (vcall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		leave();
	if (vcall(SYS_unshare, AHEAD_MADE, 0, 0, 0, 0) < 0)
		leave();
	(void)vcall(SYS_umask, 0, 0, 0, 0, 0);	/* as setup.c has it when the thread takes its copy */
	a->net.job.limit_dir = nslimit_raw();
	netns_start(&a->net);
	if (prework_do(a->uid, a->gid, &a->done) < 0)
		leave();
	s = receive(a);
	a->took = true;
	/* the executor is suspended from here on: libc is ours */
	setup_child(&s);
}

void ahead_beside(struct ahead *a, void (*fn)(void *arg), void *arg)
{
	a->after = fn;
	a->arg = arg;
	netns_move_away(&a->net);	/* first: it sleeps, as a rule, and wakes up where it may run */
	__atomic_store_n(&a->ready, 1, __ATOMIC_RELEASE);
	(void)vcall(SYS_futex, (long)(uintptr_t)&a->ready, FUTEX_WAKE_PRIVATE, 1, 0, 0);
}

/* ---- the executor ---- */

void ahead_begin(struct ahead *a, uint64_t born)
{
	struct clone_args args = { .flags = born | CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&a->pidfd, .exit_signal = SIGCHLD };
	const struct netns_job job = { .loopback = true, .limit_dir = -1, .limits = { "0", "0" }, .after = thread_waits, .arg = a };
	pid_t pid;

	a->took = false;
	a->uid = geteuid();
	a->gid = getegid();
	netns_prepare(&a->net, &job);
	if (!a->net.up || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, a->sock) < 0) {
		ahead_end(a);
		return;
	}
	a->far = a->sock[1];
	pid = vclone_begin(&args, &a->stack, &a->tid, child, a);
	if (pid < 0) {
		ahead_end(a);
		return;
	}
	a->pid = pid;
	elsewhere(pid);
}

pid_t ahead_go(struct ahead *a, const struct setup *s, int *ret_pidfd)
{
	union control ctl;
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl };
	struct cmsghdr *c = &ctl.align;
	struct setup copy = *s;
	int *fds[FDS_MAX];
	const size_t n = late_fds(&copy, fds);
	pid_t pid = a->pid;
	long r;

	memset(&ctl, 0, sizeof(ctl));
	h.msg_controllen = CMSG_SPACE(n * sizeof(int));
	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(n * sizeof(int)) };
	for (size_t i = 0; i < n; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), fds[i], sizeof(int));
	a->s = s;
	r = anywhere(pid);	/* before the message: what it starts from then on is the sandbox */
	if (r < 0)
		return (pid_t)r;
	/* nothing of libc between the first of these calls and the end of the second */
	r = vcall(SYS_sendmsg, a->sock[0], (long)(uintptr_t)&h, MSG_NOSIGNAL, 0, 0);
	if (r != 1)
		return r < 0 ? (pid_t)r : -EIO;
	vclone_wait(&a->tid);
	if (!a->took)
		return -ECHILD;
	*ret_pidfd = ak_fd_take(&a->pidfd);
	a->pid = 0;
	ahead_end(a);
	return pid;
}

static void end_child(struct ahead *a)
{
	ak_fd_close(&a->sock[0]);	/* ends it too, without a descriptor to spare */
	(void)syscall(SYS_pidfd_send_signal, a->pidfd, SIGKILL, NULL, 0);
	while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void ahead_end(struct ahead *a)
{
	if (a->pid > 0)
		end_child(a);
	a->pid = 0;
	netns_release(&a->net);
	vclone_end(&a->stack);
	ak_fd_close(&a->pidfd);
	ak_fd_close(&a->sock[0]);
	ak_fd_close(&a->sock[1]);
}
