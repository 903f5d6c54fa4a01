/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a sandbox's mount namespace, off the way of whoever waits for ak. Process: executor. Privilege: none. */
#include "executor/ns/mnt_late.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"

/* a message to @to with the descriptors of @to's own peer and of the namespace. Nobody will read it. */
static bool send_both(int from, int to, int ns)
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
	return sendmsg(from, &h, MSG_NOSIGNAL) == 1;	/* refused: over the limit of descriptors on their way */
}

void mnt_late_hold(pid_t pid, struct mnt_late *ret)
{
	AK_AUTO_FD ns = -1;
	char path[32];
	int pair[2];

	*ret = (struct mnt_late)MNT_LATE_NONE;
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	*ret = (struct mnt_late){ .kept = pair[1], .peer = pair[0] };
	if (!send_both(pair[0], pair[1], ns))
		mnt_late_leave(ret);
}

void mnt_late_leave(struct mnt_late *l)
{
	ak_fd_close(&l->kept);	/* held by its own queue from here on */
	ak_fd_close(&l->peer);	/* which nobody can reach any more */
}
