/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who removes the folder of a name when the executor cannot: a process that sleeps until it has ended. Process: its own, forked from
 * the executor of a root caller before that gives up host root. Privilege: the caller's files, no capability; it hears nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executor/ns/caps.h"
#include "executor/ns/userns.h"
#include "executor/runtime_int.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define WHO_FD 3	/* the executor */
#define TOP_FD 4	/* the runtime folder */
#define SWEEP_TRIES 200u	/* the lock may be held for a moment by somebody who only looks */
#define SWEEP_WAIT_NS 5000000

static bool place(int who, int top)
{
	int w = fcntl(who, F_DUPFD_CLOEXEC, TOP_FD + 1), t = fcntl(top, F_DUPFD_CLOEXEC, TOP_FD + 1);

	/* not the lock: it must be free when the executor has ended */
	return w >= 0 && t >= 0 && dup2(w, WHO_FD) >= 0 && dup2(t, TOP_FD) >= 0 && syscall(SYS_close_range, TOP_FD + 1, ~0u, 0) == 0;
}

/* Whoever took the name anew meanwhile has locked it: then nothing is removed */
static _Noreturn void guard(int who, int top, const char *name)
{
	struct pollfd p = { .fd = WHO_FD, .events = POLLIN };
	struct timespec pause = { .tv_nsec = SWEEP_WAIT_NS };

	if (!place(who, top) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    caps_drop_held(NULL) < 0)
		_exit(1);	/* the next command that looks removes it */
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	for (unsigned i = 0; i < SWEEP_TRIES && !runtime_sweep(TOP_FD, name); i++)
		(void)nanosleep(&pause, NULL);
	_exit(0);
}

int runtime_guard(const struct runtime_slot *s, struct ak_err *err)
{
	AK_AUTO_FD self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	AK_AUTO_FD fd = -1;
	pid_t pid;

	if (self < 0)
		return ak_err_sys(err, errno, "pidfd_open");
	/* no child of the executor's, which waits for nobody but its sandboxes */
	pid = userns_clone(CLONE_PARENT, -1, &fd, err);
	if (pid == 0)
		guard(self, s->top, s->name);
	return pid < 0 ? (int)pid : 0;
}
