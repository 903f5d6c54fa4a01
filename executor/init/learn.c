/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learns which calls a command and all it starts make: init traces them. The joined filter answers to what passes with
 * SECCOMP_RET_TRACE, so the tracer is told of each call once, before it is made, and lets it go on. It decides nothing: what is refused
 * is refused by the filter, and who gets rid of the tracer gets ENOSYS for every call. No state a task: a stop says all that is needed.
 * Runs in init and, up to the filters, in the command's child; no privilege. Source: ptrace(2), seccomp(2).
 */
#include "executor/init/learn.h"

#include <errno.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                                          \
	(PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)

static long trace(long request, pid_t pid, unsigned long addr, unsigned long data)
{
	return syscall(SYS_ptrace, request, (long)pid, addr, data);
}

/* The child may be traced as long as it is dumpable; its exec makes it what it will be */
void learn_wait(const struct init *in)
{
	char c = 0;

	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 || write(in->gate[1], &c, 1) != 1 || read(in->gate[1], &c, 1) != 1)
		fail_simple(in, INIT_STAGE_SETUP, errno, "wait for the tracer");
	(void)close(in->gate[1]);
}

static _Noreturn void cannot_trace(const struct init *in, int err)
{
	struct failure f = { .stage = INIT_STAGE_SETUP, .err = err, .exit_code = 125,
			     .hint = "learning needs ptrace: kernel.yama.ptrace_scope must be 0 or 1" };

	text_raw(&f.text, "trace the command: ");
	text_raw(&f.text, strerror(err));
	fail(in, &f);
}

static void begin(struct init *in, pid_t pid)
{
	char c = 0;

	/* a child that fails has said why, and its end closes this */
	if (read(in->gate[0], &c, 1) != 1)
		return;
	if (trace(PTRACE_SEIZE, pid, 0, OPTIONS) < 0)
		cannot_trace(in, errno);
	(void)write(in->gate[0], &c, 1);
}

pid_t learn_fork(struct init *in)
{
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in->gate) < 0)
		return -1;
	pid = fork();	/* not vfork: this process has to run while the child makes its way */
	if (pid > 0) {
		(void)close(in->gate[1]);
		begin(in, pid);
		(void)close(in->gate[0]);
	} else if (pid == 0) {
		(void)close(in->gate[0]);
	}
	return pid;
}

static void note_call(struct init *in, pid_t pid)
{
	struct ptrace_syscall_info si = { 0 };

	if (trace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(si), (unsigned long)(uintptr_t)&si) <= 0 || si.op != PTRACE_SYSCALL_INFO_SECCOMP)
		return;	/* it was killed meanwhile */
	if (si.seccomp.nr < AK_INIT_LEARNED_BYTES * 8u)
		in->learned[si.seccomp.nr / 8] |= (uint8_t)(1u << si.seccomp.nr % 8);
}

void learn_stopped(struct init *in, pid_t pid, int status)
{
	int signo = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_SECCOMP)
		note_call(in, pid);
	if (event == PTRACE_EVENT_STOP && signo != SIGTRAP)
		(void)trace(PTRACE_LISTEN, pid, 0, 0);	/* stopped as a group, and stays so until SIGCONT */
	else
		(void)trace(PTRACE_CONT, pid, 0, event ? 0 : (unsigned long)signo);
}

int learn_tell(const struct init *in)
{
	const struct init_msg m = { .type = INIT_MSG_LEARNED, .learned = in->learned };

	return msg_send(in->ctl, &m);
}
