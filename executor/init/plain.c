/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init without a pid namespace: nothing ends the tree by itself, so init is a subreaper, to which every orphan of the tree comes,
 * and ends it by walking /proc. No privilege. A command that can signal init (Landlock before ABI 6) can kill it: then the
 * executor, a subreaper too, does the same.
 */
#include "executor/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/shared/ak_tree.h"
#include "executor/shared/ak_weaken.h"

#define PROC_MAGIC 0x9fa0	/* PROC_SUPER_MAGIC, linux/magic.h */
#define ROUNDS 250		/* of two milliseconds */
#define ROUNDS_AT_ONCE 3	/* enough for most trees; what forks without end has to be frozen before it is killed */
#define SIGNALS 64

/* What the default would do to an init; a pid 1 is spared it by the kernel. Not blocked: a queue could be filled */
static void ignore_signals(void)
{
	/* struct kernel_sigaction: handler, flags, restorer, mask */
	const uint64_t ignore[4] = { (uint64_t)(uintptr_t)SIG_IGN, 0, 0, 0 };

	for (int n = 1; n <= SIGNALS; n++) {
		if (n != SIGCHLD)
			(void)syscall(SYS_rt_sigaction, n, ignore, NULL, sizeof(uint64_t));	/* KILL, STOP: EINVAL */
	}
}

void bare_begin(struct init *in)
{
	struct statfs fs;

	in->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (in->proc < 0 || fstatfs(in->proc, &fs) < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "open /proc, without which the tree could not be ended");
	if (fs.f_type != PROC_MAGIC)
		fail_simple(in, INIT_STAGE_SETUP, 0, "/proc is no procfs: the tree could not be ended");
	if (syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "become a subreaper");
}

void plain_begin(struct init *in)
{
	bare_begin(in);
	/* a signal would leave the tree behind: the end of CTL tells, and then there is something to do */
	if (prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "PR_SET_PDEATHSIG");
	ignore_signals();
}

/* Return: false when there is no child any more, and so no descendant either */
static bool reap_all(void)
{
	pid_t p;

	do
		p = waitpid(-1, NULL, WNOHANG | __WALL);
	while (p > 0);
	return p == 0;
}

bool plain_end(const struct init *in)
{
	struct ak_tree t = { .proc = in->proc, .root = getpid() };
	const struct timespec nap = { .tv_nsec = 2000000 };

	if (AK_WEAK(in->weaken, AK_WEAK_KEEPER))
		return true;
	for (int i = 0; i < ROUNDS; i++) {
		if (!reap_all())
			return true;
		t.at_once = i < ROUNDS_AT_ONCE;
		(void)ak_tree_kill(&t);
		(void)nanosleep(&nap, NULL);	/* those that are dying have to be waited for */
	}
	return !reap_all();
}
