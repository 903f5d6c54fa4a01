/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who removes the folder of a name when the executor cannot: a process that sleeps until it is told to. Process: its own, forked from
 * the executor of a root caller before that gives up host root. Privilege: the caller's files, no capability; one byte is all it hears.
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
#define HEAR_FD 5	/* a pipe from it */
#define SWEEP_TRIES 200u	/* the lock may be held for a moment by somebody who only looks */
#define SWEEP_WAIT_NS 5000000

static bool place(int who, int top, int hear)
{
	const int from[3] = { who, top, hear };
	int high[3];

	for (int i = 0; i < 3; i++) {
		high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, HEAR_FD + 1);
		if (high[i] < 0)
			return false;
	}
	for (int i = 0; i < 3; i++)
		if (dup2(high[i], WHO_FD + i) < 0)
			return false;
	/* not the lock: it must be free when the executor has ended */
	return syscall(SYS_close_range, HEAR_FD + 1, ~0u, 0) == 0;
}

/* Return: whether the executor ends in order. What a crash leaves is for the next command, which says so. */
static bool told(void)
{
	char byte;
	ssize_t n;

	do
		n = read(HEAR_FD, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* Whoever took the name anew meanwhile has locked it: then nothing is removed */
static _Noreturn void guard(int who, int top, int hear, const char *name)
{
	struct pollfd p = { .fd = WHO_FD, .events = POLLIN };
	struct timespec pause = { .tv_nsec = SWEEP_WAIT_NS };

	if (!place(who, top, hear) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    caps_drop_held(NULL) < 0)
		_exit(1);	/* the next command that looks removes it */
	if (!told())
		_exit(0);
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	for (unsigned i = 0; i < SWEEP_TRIES && !runtime_sweep(TOP_FD, name); i++)
		(void)nanosleep(&pause, NULL);
	_exit(0);
}

int runtime_guard(struct runtime_slot *s, struct ak_err *err)
{
	AK_AUTO_FD self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	AK_AUTO_FD fd = -1;
	AK_AUTO_FD hear = -1;
	AK_AUTO_FD say = -1;
	int p[2];
	pid_t pid;

	if (self < 0 || pipe2(p, O_CLOEXEC) < 0)
		return ak_err_sys(err, errno, self < 0 ? "pidfd_open" : "make a pipe");
	hear = p[0];
	say = p[1];
	/* no child of the executor's, which waits for nobody but its sandboxes */
	pid = userns_clone(CLONE_PARENT, -1, &fd, err);
	if (pid == 0)
		guard(self, s->top, hear, s->name);
	if (pid < 0)
		return (int)pid;
	s->guard = ak_fd_take(&say);
	return 0;
}
