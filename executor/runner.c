/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a helper program of the host, moves its standard error, keeps its time. Process: warden. Privilege: none given on. */
#include "executor/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/userns.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define NS_PER_MS 1000000ull
#define BLOCK 16384u
#define DRAIN_MS 2000u	/* after the program's end, for what somebody else may still hold open */

struct kept {
	char *data;
	size_t len;
};

struct job {
	const struct runner_call *c;
	int out, err, pidfd;	/* owned; -1 */
	struct kept kept[2];
	bool watching;
	bool killed;
	bool ended;
	siginfo_t end;
	uint64_t limit_ns;	/* 0: none */
};

void runner_result_release(struct runner_result *r)
{
	free(r->out);
	free(r->err);
	*r = (struct runner_result){0};
}

/*
 * All of them, also the two that the C library keeps for itself and does not let signal(2) touch: who was started by posix_spawn(3), as
 * by make, has them ignored. All zero: SIG_DFL, no flags, no restorer, an empty mask, on every architecture.
 */
static void default_signals(void)
{
	const unsigned long action[4] = { 0 };

	for (int n = 1; n < NSIG; n++)
		(void)syscall(SYS_rt_sigaction, n, action, NULL, sizeof(unsigned long));
}

static _Noreturn void run_child(const struct runner_program *p, const struct runner_call *c, const int fds[3])
{
	sigset_t none;

	sigemptyset(&none);
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			_exit(125);
	if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() == 1)
		_exit(125);
	if (p->cwd && chdir(p->cwd) < 0)
		_exit(125);
	default_signals();
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)syscall(SYS_close_range, 3u, ~0u, 0);
	(void)execve(p->path, c->argv, p->envp);
	_exit(125);
}

static void keep(struct kept *k, const uint8_t *p, size_t n)
{
	char *grown;

	if (n > RUNNER_KEPT_MAX - k->len)
		n = RUNNER_KEPT_MAX - k->len;
	grown = realloc(k->data, k->len + n + 1);
	if (!grown)
		return;	/* then less is kept */
	k->data = grown;
	for (size_t i = 0; i < n; i++)
		k->data[k->len + i] = p[i] ? (char)p[i] : '?';
	k->len += n;
	k->data[k->len] = '\0';
}

/* one read of what the program wrote. Return: false at the end of file */
static bool take(struct job *j, int fd, int which)
{
	uint8_t buf[BLOCK];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0)
		return false;
	if (which == 1 && j->c->hooks && j->c->hooks->err_bytes)
		j->c->hooks->err_bytes(j->c->ctx, buf, (size_t)n);
	else
		keep(&j->kept[which], buf, (size_t)n);
	return true;
}

static void kill_it(struct job *j)
{
	j->killed = true;
	(void)syscall(SYS_pidfd_send_signal, j->pidfd, SIGKILL, NULL, 0);	/* gone already: fine */
}

static uint64_t next_time(const struct job *j)
{
	uint64_t at = j->ended || j->killed ? 0 : j->limit_ns;
	uint64_t hook = j->c->hooks && j->c->hooks->deadline ? j->c->hooks->deadline(j->c->ctx) : 0;

	if (j->ended)
		return j->limit_ns;
	return !at || (hook && hook < at) ? hook : at;
}

/* what a deadline brings. Return: false: nothing more is waited for */
static bool at_time(struct job *j, uint64_t now)
{
	const struct runner_hooks *h = j->c->hooks;
	uint64_t hook = h && h->deadline ? h->deadline(j->c->ctx) : 0;

	if (j->ended)
		return now < j->limit_ns;
	if (!j->killed && ((j->limit_ns && now >= j->limit_ns) || (hook && now >= hook && !h->expired(j->c->ctx))))
		kill_it(j);
	return true;
}

static void reaped(struct job *j)
{
	while (waitid(P_PIDFD, (id_t)j->pidfd, &j->end, WEXITED) < 0 && errno == EINTR)
		;
	j->ended = true;
	j->limit_ns = ak_now_ns() + DRAIN_MS * NS_PER_MS;
}

/* Return: 0 when all is over, 1 to go on, negative errno */
static int turn(struct job *j)
{
	struct pollfd p[4] = {
		{ .fd = j->out, .events = POLLIN },
		{ .fd = j->err, .events = POLLIN },
		{ .fd = j->ended ? -1 : j->pidfd, .events = POLLIN },
		{ .fd = j->watching && !j->ended ? j->c->hooks->watch : -1, .events = POLLIN },
	};
	uint64_t at = next_time(j), now = ak_now_ns();
	uint64_t wait = at > now ? (at - now) / NS_PER_MS + 1 : 0;

	if (j->ended && j->out < 0 && j->err < 0)
		return 0;
	if (poll(p, 4, !at ? -1 : wait < 3600000 ? (int)wait : 3600000) < 0 && errno != EINTR)
		return -errno;
	if (p[0].revents && !take(j, j->out, 0))
		ak_fd_close(&j->out);
	if (p[1].revents && !take(j, j->err, 1))
		ak_fd_close(&j->err);
	if (p[3].revents)
		j->watching = j->c->hooks->readable(j->c->ctx);
	if (p[2].revents)
		reaped(j);
	return at && !at_time(j, ak_now_ns()) ? 0 : 1;
}

/* @ret: our ends of the pipes and the program. Return: 0 or negative errno */
static int start(const struct runner_program *p, struct job *j, struct ak_err *err)
{
	int out[2] = { -1, -1 }, complain[2] = { -1, -1 };
	AK_AUTO_FD null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct runner_call *c = j->c;
	pid_t pid = -1;

	if (null < 0 || (c->fds[1] < 0 && pipe2(out, O_CLOEXEC) < 0) || pipe2(complain, O_CLOEXEC) < 0)
		(void)ak_err_sys(err, errno, "make pipes for %s", p->path);
	else
		pid = userns_clone(0, -1, &j->pidfd, err);
	if (pid == 0)
		run_child(p, c, (const int[3]){ c->fds[0] >= 0 ? c->fds[0] : null, c->fds[1] >= 0 ? c->fds[1] : out[1],
						complain[1] });
	ak_fd_close(&out[1]);
	ak_fd_close(&complain[1]);
	j->out = out[0];
	j->err = complain[0];
	return pid < 0 ? -EIO : 0;
}

static void give(struct job *j, struct runner_result *ret)
{
	*ret = (struct runner_result){
		.code = j->end.si_code == CLD_EXITED ? j->end.si_status : 128 + j->end.si_status,
		.timed_out = j->killed,
		.out = j->kept[0].data, .out_len = j->kept[0].len,
		.err = j->kept[1].data, .err_len = j->kept[1].len,
	};
	if (j->killed)
		ret->code = 124;
	j->kept[0].data = j->kept[1].data = NULL;
}

int runner_program_run(void *program, const struct runner_call *c, struct runner_result *ret, struct ak_err *err)
{
	const struct runner_program *p = program;
	struct job j = { .c = c, .out = -1, .err = -1, .pidfd = -1, .watching = c->hooks && c->hooks->watch >= 0 };
	int r = start(p, &j, err);

	if (r == 0 && c->timeout_ms != UINT64_MAX)
		j.limit_ns = ak_now_ns() + c->timeout_ms * NS_PER_MS;
	if (r == 0)
		r = 1;
	while (r > 0)
		r = turn(&j);
	if (r < 0 && j.pidfd >= 0 && !j.ended) {
		kill_it(&j);
		reaped(&j);
	}
	if (r == 0)
		give(&j, ret);
	free(j.kept[0].data);
	free(j.kept[1].data);
	ak_fd_close(&j.out);
	ak_fd_close(&j.err);
	ak_fd_close(&j.pidfd);
	return r;
}
