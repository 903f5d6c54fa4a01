/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a sandbox's mount namespace, off the way of whoever waits for ak. Process: executor. Privilege: none. */
#include "executor/ns/mnt_late.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"

int mnt_late_hold(pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* a message to @to with the descriptors of @to's own peer and of the namespace. Nobody will read it. */
static void send_both(int from, int to, int ns)
{
	union {
		char space[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} ctl = { 0 };
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	const int fds[2] = { to, ns };

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	(void)sendmsg(from, &h, MSG_NOSIGNAL);	/* refused, over the limit of descriptors on their way: it ends with its last descriptor */
}

void mnt_late_leave(int *fd)
{
	int pair[2];

	if (*fd < 0)
		return;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0) {
		send_both(pair[0], pair[1], *fd);
		ak_fd_close(fd);
		ak_fd_close(&pair[1]);	/* held by its own queue from here on */
		ak_fd_close(&pair[0]);	/* which nobody can reach any more */
	}
	ak_fd_close(fd);
}
