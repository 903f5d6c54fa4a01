/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives frames, and owns what comes with them. Any process, no privilege; no allocation. */
#include "executor/shared/ak_chan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_wire.h"

#define CTL_FDS 253u	/* SCM_MAX_FD, net/scm.h: nothing that arrives is ever left out for want of room */
#define SEALS_NEEDED (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)

union ctl_space {
	char space[CMSG_SPACE(CTL_FDS * sizeof(int))];
	struct cmsghdr align;
};

int ak_chan_pair(int ret[2], struct ak_err *err)
{
	int sock[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return ak_err_sys(err, errno, "socketpair");
	ret[0] = sock[0];
	ret[1] = sock[1];
	return 0;
}

int ak_chan_check(int fd, struct ak_err *err)
{
	struct sockaddr_un peer;
	socklen_t len = sizeof(peer);
	int type = 0;

	if (getpeername(fd, (struct sockaddr *)&peer, &len) < 0)
		return ak_err_sys(err, errno, "descriptor %d is no connected socket", fd);
	len = sizeof(type);
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return ak_err_sys(err, errno, "descriptor %d", fd);
	if (type != SOCK_SEQPACKET || peer.sun_family != AF_UNIX)
		return ak_err_set(err, EPROTOTYPE, "descriptor %d is no local SOCK_SEQPACKET socket", fd);
	return 0;
}

/* a path that sun_path cannot hold is reached by its folder's descriptor */
static int fill_address(const char *path, struct sockaddr_un *sa, int *ret_dir, struct ak_err *err)
{
	const char *slash = strrchr(path, '/');
	char dir[4096];
	int n;

	*sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) < sizeof(sa->sun_path)) {
		memcpy(sa->sun_path, path, strlen(path) + 1);
		return 0;
	}
	if (!slash || (size_t)(slash - path) >= sizeof(dir))
		return ak_err_set(err, ENAMETOOLONG, "the path of the socket is too long");
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	*ret_dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*ret_dir < 0)
		return ak_err_sys(err, errno, "open %s", dir);
	n = snprintf(sa->sun_path, sizeof(sa->sun_path), "/proc/self/fd/%d/%s", *ret_dir, slash + 1);
	if (n < 0 || (size_t)n >= sizeof(sa->sun_path))
		return ak_err_set(err, ENAMETOOLONG, "the name of the socket is too long");
	return 0;
}

int ak_chan_connect(const char *path, struct ak_err *err)
{
	AK_AUTO_FD dir = -1;
	AK_AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un sa;
	int r;

	if (fd < 0)
		return ak_err_sys(err, errno, "socket");
	r = fill_address(path, &sa, &dir, err);
	if (r < 0)
		return r;
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		return ak_err_sys(err, errno, "connect to %s", path);
	return ak_fd_take(&fd);
}

/* ---- frames ---- */

static void put_header(uint8_t hdr[AK_HDR_BYTES], uint16_t op, uint32_t seq, size_t len)
{
	struct ak_wr w;

	ak_wr_init(&w, hdr, AK_HDR_BYTES);
	ak_wr_u32(&w, AK_PROTO_MAGIC);
	ak_wr_u32(&w, op);	/* flags, the upper half, are 0 in this version */
	ak_wr_u32(&w, seq);
	ak_wr_u32(&w, (uint32_t)len);
}

static int get_header(const uint8_t *buf, size_t n, struct ak_frame *f)
{
	struct ak_rd r;
	uint32_t magic, op, len;

	ak_rd_init(&r, buf, n);
	magic = ak_rd_u32(&r);
	op = ak_rd_u32(&r);
	f->seq = ak_rd_u32(&r);
	len = ak_rd_u32(&r);
	if (r.failed || magic != AK_PROTO_MAGIC || op > UINT16_MAX || len != n - AK_HDR_BYTES)
		return -EBADMSG;
	f->op = (uint16_t)op;
	f->payload = buf + AK_HDR_BYTES;
	f->len = len;
	return 0;
}

int ak_chan_send(int fd, uint16_t op, uint32_t seq, const void *payload, size_t len, const int *fds, size_t nfds, int flags)
{
	uint8_t hdr[AK_HDR_BYTES];
	union ctl_space ctl;
	struct iovec iov[2] = { { .iov_base = hdr, .iov_len = sizeof(hdr) },
				{ .iov_base = (void *)(uintptr_t)payload, .iov_len = len } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
	ssize_t n;

	if (len > AK_PAYLOAD_MAX)
		return -EMSGSIZE;
	if (nfds > AK_FDS_MAX)
		return -EINVAL;
	put_header(hdr, op, seq, len);
	if (nfds > 0) {
		struct cmsghdr *c = &ctl.align;

		memset(&ctl, 0, CMSG_SPACE(nfds * sizeof(int)));
		m.msg_control = &ctl;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(nfds * sizeof(int)) };
		memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
	}
	do
		n = sendmsg(fd, &m, flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* every descriptor that came; those beyond the room for them are closed. Return: how many came */
static size_t take_fds(struct msghdr *m, struct ak_frame *f)
{
	size_t came = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t k = c->cmsg_len > CMSG_LEN(0) ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < k; i++, came++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (f->nfds < AK_FDS_MAX)
				f->fds[f->nfds++] = fd;
			else
				ak_fd_close(&fd);
		}
	}
	return came;
}

int ak_chan_recv(int fd, void *buf, struct ak_frame *ret, int flags)
{
	union ctl_space ctl;
	struct iovec iov = { .iov_base = buf, .iov_len = AK_MSG_MAX };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl) };
	struct ak_frame f;
	size_t came;
	ssize_t n;

	f.nfds = 0;
	do
		n = recvmsg(fd, &m, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	came = take_fds(&m, &f);
	if (n == 0 && came == 0)
		return 0;
	if ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || came > AK_FDS_MAX || get_header(buf, (size_t)n, &f) < 0) {
		ak_frame_release(&f);
		return -EBADMSG;
	}
	*ret = f;
	return 1;
}

void ak_frame_release(struct ak_frame *f)
{
	for (size_t i = 0; i < f->nfds; i++)
		ak_fd_close(&f->fds[i]);
	f->nfds = 0;
}

/* ---- memory files ---- */

long ak_memfd_check(int fd, size_t max)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0 || (seals & SEALS_NEEDED) != SEALS_NEEDED || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 0)
		return -EINVAL;
	return (uint64_t)st.st_size > max ? -EFBIG : (long)st.st_size;
}

int ak_memfd_sealed2(const char *name, const void *p, size_t n, const void *p2, size_t n2)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	AK_AUTO_FD fd = memfd_create(name, flags | 0x0008u /* MFD_NOEXEC_SEAL, linux/memfd.h */);
	int r;

	if (fd < 0 && errno == EINVAL)	/* Linux before 6.3 */
		fd = memfd_create(name, flags);
	if (fd < 0)
		return -errno;
	r = ak_write_all(fd, p, n);
	if (r == 0)
		r = ak_write_all(fd, p2, n2);
	if (r == 0 && fcntl(fd, F_ADD_SEALS, SEALS_NEEDED | F_SEAL_SEAL) < 0)
		r = -errno;
	return r < 0 ? r : ak_fd_take(&fd);
}

int ak_memfd_sealed(const char *name, const void *p, size_t n)
{
	return ak_memfd_sealed2(name, p, n, NULL, 0);
}
