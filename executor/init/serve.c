/* SPDX-License-Identifier: Apache-2.0 */
/* init while the command runs: reaps every process of the sandbox, passes signals on, reports the end; no
 * privilege. */
#include "executor/init/init.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/init/learn.h"
#include "executor/shared/ak_weaken.h"

#define REAP_MAX 256

enum { EXIT_LOST = 1 }; /* the executor is gone or talks nonsense */

enum reaped {
	REAP_ALL,	/* nothing is left to reap */
	REAP_MORE,	/* stopped at the maximum */
	REAP_COMMAND,	/* the command itself ended */
};

/* A bounded number, so that a command that forks and exits without end cannot keep init from its other work */
static enum reaped reap(struct init *in, int *ret_status)
{
	for (int i = 0; i < REAP_MAX; i++) {
		int status;
		pid_t p = waitpid(-1, &status, WNOHANG | __WALL);

		if (p <= 0)
			return REAP_ALL;
		if (LEARNING(in) && WIFSTOPPED(status)) {
			learn_stopped(in, p, status);
			continue;
		}
		if (p == in->child) {
			*ret_status = status;
			return REAP_COMMAND;
		}
	}
	return REAP_MORE;
}

static int finish(const struct init *in, int status)
{
	const struct init_msg m = {
		.type = INIT_MSG_EXITED,
		.wstatus = (uint32_t)status,
		.start_ns = in->start_ns,
		.end_ns = now_ns(),
	};

	bool told = (!LEARNING(in) || learn_tell(in) == 0) && msg_send(in->ctl, &m) == 0;
	bool over = in->proc < 0 || plain_end(in);

	return told && over ? 0 : EXIT_LOST;
}

static void pass_signal(const struct init *in, int signo)
{
	pid_t group = -in->child;

	/* before its setsid() the child leads no group; it is not reaped yet, so its pid is its own */
	if (kill(group, signo) < 0 && errno == ESRCH) {
		group = in->child;
		(void)kill(group, signo);
	}
	if (signo == SIGTERM)
		(void)kill(group, SIGCONT); /* a stopped group would not see it */
}

/* One message; descriptors that come with it are dropped by the kernel. Return: false to end */
static bool serve_ctl(const struct init *in)
{
	uint8_t buf[AK_INIT_MSG_MAX + 1];
	ssize_t n = recv(in->ctl, buf, sizeof(buf), MSG_DONTWAIT);
	struct init_msg m;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0 || init_msg_decode(buf, (size_t)n, &m) < 0 || m.type != INIT_MSG_SIGNAL)
		return false;
	pass_signal(in, (int)m.signo);
	return true;
}

int serve(struct init *in)
{
	enum reaped reaped = REAP_ALL;

	for (;;) {
		struct pollfd p[2] = { { .fd = in->ctl, .events = POLLIN }, { .fd = in->sigfd, .events = POLLIN } };
		struct signalfd_siginfo si;
		int status = 0;

		if (poll(p, 2, reaped == REAP_MORE ? 0 : -1) < 0 && errno != EINTR)
			return EXIT_LOST;
		if (p[1].revents)
			(void)read(in->sigfd, &si, sizeof(si));	/* at most one is pending; wait tells who it was */
		if (p[1].revents || reaped == REAP_MORE)
			reaped = reap(in, &status);
		if (reaped == REAP_COMMAND)
			return finish(in, status);
		if (p[0].revents && !serve_ctl(in)) {
			if (!AK_WEAK(in->weaken, AK_WEAK_PDEATH)) {
				if (in->proc >= 0)
					(void)plain_end(in);
				return EXIT_LOST;
			}
			in->ctl = -1;	/* the test build lives on */
		}
	}
}
