/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a sandbox's mount namespace, off the way of whoever waits for ak. Process: executor. Privilege: none. */
#include "executor/ns/mnt_late.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"

#ifndef PIDFD_GET_MNT_NAMESPACE
#define PIDFD_GET_MNT_NAMESPACE _IO(0xFF, 3)	/* linux/pidfd.h, Linux 6.11 */
#endif

/* a message to @to with the descriptors of @to's own peer, of the namespace, and @image if there is one. Nobody will read it. */
static bool send_all(int from, int to, int ns, int image)
{
	union {
		char space[CMSG_SPACE(3 * sizeof(int))];
		struct cmsghdr align;
	} ctl = { 0 };
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	const int fds[3] = { to, ns, image };
	const size_t bytes = (image < 0 ? 2 : 3) * sizeof(int);
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = CMSG_SPACE(bytes) };
	struct cmsghdr *c = &ctl.align;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(c), fds, bytes);
	return sendmsg(from, &h, MSG_NOSIGNAL) == 1;	/* refused: over the limit of descriptors on their way */
}

/* without a path in /proc where that can be: what was looked up there would have to go when the process is waited for */
static int open_namespace(pid_t pid, int pidfd)
{
	int ns = ioctl(pidfd, PIDFD_GET_MNT_NAMESPACE, 0);
	char path[32];

	if (ns >= 0)
		return ns;
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void mnt_late_hold(pid_t pid, int pidfd, int image, struct mnt_late *ret)
{
	AK_AUTO_FD ns = -1;
	int pair[2];

	*ret = (struct mnt_late)MNT_LATE_NONE;
	ns = open_namespace(pid, pidfd);
	if (ns < 0 || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	*ret = (struct mnt_late){ .kept = pair[1], .peer = pair[0] };
	if (!send_all(pair[0], pair[1], ns, image))
		mnt_late_leave(ret);
}

void mnt_late_leave(struct mnt_late *l)
{
	ak_fd_close(&l->kept);	/* held by its own queue from here on */
	ak_fd_close(&l->peer);	/* which nobody can reach any more */
}
