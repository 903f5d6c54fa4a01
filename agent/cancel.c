/* SPDX-License-Identifier: Apache-2.0 */
/* Signals and the executor's end as one descriptor. Process: agent. Privilege: none. */
#include "agent/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/interrupt.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static int watch(int epoll, int fd, struct ak_err *err)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? ak_err_sys(err, errno, "wait for signals") : 0;
}

/* a pipe: what else may be open there is nobody's business */
static int find_control(void)
{
	struct stat st;

	if (fstat(CANCEL_CONTROL_FD, &st) < 0 || !S_ISFIFO(st.st_mode))
		return -1;
	(void)fcntl(CANCEL_CONTROL_FD, F_SETFD, FD_CLOEXEC);
	(void)fcntl(CANCEL_CONTROL_FD, F_SETFL, O_NONBLOCK);
	return CANCEL_CONTROL_FD;
}

int cancel_open(struct cancel *c, struct ak_err *err)
{
	int rc;

	*c = (struct cancel){ .fd = -1, .signals = -1, .control = find_control() };
	c->signals = interrupt_open(err);
	if (c->signals < 0)
		return c->signals;
	c->fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->fd < 0)
		return ak_err_sys(err, errno, "epoll_create1");
	rc = watch(c->fd, c->signals, err);
	return rc == 0 && c->control >= 0 ? watch(c->fd, c->control, err) : rc;
}

void cancel_close(struct cancel *c)
{
	ak_fd_close(&c->fd);
	ak_fd_close(&c->signals);
	ak_fd_close(&c->control);
}

bool cancel_came(const struct cancel *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	return c->fd >= 0 && poll(&p, 1, 0) == 1;
}

int cancel_take(const struct cancel *c)
{
	unsigned char signo = 0;
	ssize_t n = c->control >= 0 ? read(c->control, &signo, 1) : -1;

	/* before the signals: the kernel sends one when the executor has ended, and its end of the pipe is closed then */
	if (n == 1)
		return signo;
	if (n == 0)
		return CANCEL_EXECUTOR_GONE;
	return c->signals >= 0 ? interrupt_taken(c->signals) : 0;
}
