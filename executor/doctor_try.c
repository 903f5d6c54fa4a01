/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of `ak doctor`: a child in new namespaces that does one thing and says how it went. Privilege: the
 * caller's. */
#include "executor/doctor_int.h"

#include <errno.h>
#include <grp.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/userns.h"
#include "executor/privs.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define TRIAL_TIMEOUT_MS 20000	/* on a machine that is busy; one that hangs is rare */

int trial_fail(struct trial *t, const char *what)
{
	t->code = errno ? errno : EIO;
	snprintf(t->what, sizeof(t->what), "%s: %s (%s)", what, strerror(t->code), ak_errno_name(t->code));
	return -t->code;
}

int trial_err(struct trial *t, const struct ak_err *err)
{
	t->code = err->code ? err->code : EIO;
	snprintf(t->what, sizeof(t->what), "%.300s", err->msg);
	return -t->code;
}

/*
 * An ordinary user may map its own id only, and from inside. A range without host id 0 can only be mapped
 * from outside, with CAP_SETUID and CAP_SETGID (user_namespaces(7)).
 */
static int map_own_ids(const struct doctor_ctx *ctx, struct trial *t)
{
	const struct id_map u = {ctx->uid, ctx->uid, 1}, g = {ctx->gid, ctx->gid, 1};
	struct ak_err err = {0};

	return userns_write_maps(0, u, g, true, &err) < 0 ? trial_err(t, &err) : 0;
}

static int map_range(const struct doctor_ctx *ctx, pid_t pid, struct trial *t)
{
	const struct id_map u = {0, ctx->range_uid, PRIVS_SLOT_IDS}, g = {0, ctx->range_gid, PRIVS_SLOT_IDS};
	struct ak_err err = {0};

	return userns_write_maps(pid, u, g, false, &err) < 0 ? trial_err(t, &err) : 0;
}

static int take_range_ids(struct trial *t)
{
	if (setgroups(0, NULL) < 0)
		return trial_fail(t, "setgroups(0)");
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return trial_fail(t, "take an id of the reserved range");
	return 0;
}

static int child_map(const struct doctor_ctx *ctx, struct trial *t)
{
	return ctx->root ? take_range_ids(t) : map_own_ids(ctx, t);
}

/* The child: waits for its maps, tries, sends what it found. Never returns. */
static void __attribute__((noreturn))
child_run(const struct doctor_ctx *ctx, uint64_t ns, trial_fn fn, int sock)
{
	struct trial t = {.stage = TRIAL_MAP};
	char go;
	int rc = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(sock, &go, 1) != 1)
		_exit(1);
	if (ns & CLONE_NEWUSER)
		rc = child_map(ctx, &t);
	if (rc == 0) {
		/* taking other ids clears it (prctl(2)) */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		t.stage = TRIAL_RUN;
		rc = fn(ctx, &t);
		if (rc < 0 && !t.code)
			t.code = -rc;
	}
	if (rc == 0)
		t.stage = TRIAL_DONE;
	if (send(sock, &t, sizeof(t), MSG_NOSIGNAL) != (ssize_t)sizeof(t))
		_exit(1);
	_exit(0);
}

static void receive(int sock, struct trial *t)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	int n = poll(&p, 1, TRIAL_TIMEOUT_MS);
	struct trial got;

	if (n == 0) {
		errno = ETIMEDOUT;
		trial_fail(t, "no answer from the trial");
		return;
	}
	if (n > 0 && recv(sock, &got, sizeof(got), 0) == (ssize_t)sizeof(got)) {
		got.what[sizeof(got.what) - 1] = '\0';
		*t = got;
		return;
	}
	errno = ECHILD;
	trial_fail(t, "the trial was killed before it could answer (by a seccomp filter?)");
}

static void end_child(int pidfd)
{
	siginfo_t si;

	/* what is left after its answer, or after its time, has nothing more to say */
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	while (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &si, WEXITED) < 0 && errno == EINTR)
		;
}

int doctor_try(const struct doctor_ctx *ctx, uint64_t ns, trial_fn fn, struct trial *ret)
{
	struct trial t = {.stage = TRIAL_CLONE};
	AK_AUTO_FD pidfd = -1;
	int sv[2], raw_pidfd = -1;
	struct clone_args ca = {
		.flags = ns | CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&raw_pidfd, .exit_signal = SIGCHLD};
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0) {
		trial_fail(&t, "socketpair");
		goto out;
	}
	pid = (pid_t)syscall(SYS_clone3, &ca, sizeof(ca));
	if (pid == 0) {
		close(sv[0]);
		child_run(ctx, ns, fn, sv[1]);
	}
	if (pid < 0)
		trial_fail(&t, "clone3");
	close(sv[1]);
	if (pid > 0) {
		pidfd = raw_pidfd;
		t.stage = TRIAL_MAP;
		/* without the byte the child ends by itself; a failed send leaves the answer to receive() */
		if (!(ns & CLONE_NEWUSER) || !ctx->root || map_range(ctx, pid, &t) == 0) {
			(void)send(sv[0], "g", 1, MSG_NOSIGNAL);
			receive(sv[0], &t);
		}
		end_child(pidfd);
	}
	close(sv[0]);
out:
	*ret = t;
	return t.stage == TRIAL_DONE ? 0 : -1;
}
