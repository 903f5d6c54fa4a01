/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the agent; see agent.h. Process: executor, and the child until its exec. Privilege: given up here. */
#include "executor/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/kabi.h"
#include "executor/ns/landlock.h"
#include "executor/ns/userns.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define EXE_FD 5

/* what the child needs; everything else of the executor is closed */
struct agent {
	int exe, sock, control, parent;
	char *const *argv;
	char *const *envp;
};

static int no_signals_held(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		(void)sigaction(n, &dfl, NULL);	/* two of them cannot, and are at their default */
	sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

/* sources above the targets first, so that none is overwritten before it was used */
static int place_descriptors(const struct agent *a)
{
	int sock = fcntl(a->sock, F_DUPFD_CLOEXEC, EXE_FD + 1);
	int exe = fcntl(a->exe, F_DUPFD_CLOEXEC, EXE_FD + 1);
	int control = a->control >= 0 ? fcntl(a->control, F_DUPFD_CLOEXEC, EXE_FD + 1) : -1;

	if (sock < 0 || exe < 0 || dup2(sock, AGENT_SOCKET_FD) < 0 || dup3(exe, EXE_FD, O_CLOEXEC) < 0)
		return -1;
	if (a->control < 0)
		(void)close(AGENT_CONTROL_FD);
	else if (control < 0 || dup2(control, AGENT_CONTROL_FD) < 0)
		return -1;
	return (int)syscall(SYS_close_range, EXE_FD + 1, ~0U, 0);
}

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int r = none ? cap_set_proc(none) : -1;

	if (none)
		(void)cap_free(none);
	if (r == 0 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		r = -1;
	return r;
}

/*
 * The least a domain can be: one right that no program here needs is handled and given to nothing. What counts is what comes with
 * any domain: processes outside it cannot be traced (Documentation/userspace-api/landlock.rst, "Ptrace restrictions").
 */
static int enter_domain(void)
{
	int abi = landlock_abi();
	struct ak_landlock_attr attr = { .handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_BLOCK };
	size_t size = sizeof(attr.handled_access_fs);
	AK_AUTO_FD fd = -1;

	if (abi <= 0)
		return 0;	/* no Landlock here: facts say so */
	if (abi >= 6) {
		attr.scoped = LANDLOCK_SCOPE_SIGNAL;
		size = sizeof(attr);
	}
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (fd < 0)
		return -1;
	return (int)syscall(SYS_landlock_restrict_self, fd, 0);
}

static bool executor_lives(const struct agent *a)
{
	struct pollfd p = { .fd = a->parent, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

static _Noreturn void become_agent(const struct agent *a)
{
	if (prctl(PR_SET_PDEATHSIG, a->control < 0 ? SIGKILL : SIGCONT) < 0 || !executor_lives(a) || no_signals_held() < 0 || place_descriptors(a) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || drop_capabilities() < 0 || enter_domain() < 0)
		_exit(126);
	(void)syscall(SYS_execveat, EXE_FD, "", a->argv, a->envp, AT_EMPTY_PATH);
	_exit(127);
}

pid_t agent_spawn(int exe, char *const argv[], char *const envp[], int sock, int control, int *ret_pidfd, struct ak_err *err)
{
	struct agent a = { .exe = exe, .sock = sock, .control = control, .argv = argv, .envp = envp };
	AK_AUTO_FD self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int fd = -1;
	pid_t pid;

	if (self < 0)
		return ak_err_sys(err, errno, "pidfd_open");
	a.parent = self;
	pid = userns_clone(0, -1, &fd, err);	/* no namespace: a child with its descriptor */
	if (pid == 0)
		become_agent(&a);
	if (pid > 0)
		*ret_pidfd = fd;
	return pid;
}
