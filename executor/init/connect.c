/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ak-init in a container: its two descriptors come over a socket that the container is shown, since docker passes none on. Whoever
 * listens there is the executor's warden; nothing else runs in the container yet. No privilege.
 */
#include "executor/init/box.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FDS 2

static bool receive(int sock, int fds[FDS])
{
	union {
		char buf[CMSG_SPACE(sizeof(int) * FDS)];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf, .msg_controllen = sizeof(control.buf) };
	ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int) * FDS) ||
	    (m.msg_flags & MSG_CTRUNC))
		return false;
	memcpy(fds, CMSG_DATA(c), sizeof(int) * FDS);
	return true;
}

void init_connect(const char *path, int *ret_ctl, int *ret_config)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), fds[FDS];

	if (sock < 0 || n >= sizeof(a.sun_path))
		return;
	memcpy(a.sun_path, path, n + 1);
	if (connect(sock, (const struct sockaddr *)&a, sizeof(a)) == 0 && receive(sock, fds)) {
		*ret_ctl = fds[0];
		*ret_config = fds[1];
	}
	(void)close(sock);
}
