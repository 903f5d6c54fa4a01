/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames over a SOCK_SEQPACKET socket, with descriptors counted exactly. Any process, no privilege; no allocation.
 */
#ifndef AK_SHARED_AK_CHAN_H
#define AK_SHARED_AK_CHAN_H

#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_proto.h"

struct ak_err;

/* one received frame; the payload points into the caller's buffer */
struct ak_frame {
	uint16_t op;
	uint32_t seq;
	const uint8_t *payload;
	size_t len;
	int fds[AK_FDS_MAX];	/* owned until ak_frame_release(); close-on-exec */
	size_t nfds;
};

/**
 * ak_chan_pair() - two connected ends, close-on-exec, blocking
 * Return: 0 or negative errno.
 */
int ak_chan_pair(int ret[2], struct ak_err *err);

/**
 * ak_chan_connect() - connect to a listening socket by path
 * @path:	at most 107 bytes reach the kernel; longer ones go through /proc/self/fd of their folder
 * Return: descriptor; -ENOENT, -ECONNREFUSED (nobody serves there any more), -EAGAIN (its queue is full), ...
 */
int ak_chan_connect(const char *path, struct ak_err *err);

/**
 * ak_chan_check() - is @fd a connected SOCK_SEQPACKET socket of the local family?
 * Return: 0 or -ENOTSOCK, -EPROTOTYPE, -ENOTCONN.
 */
int ak_chan_check(int fd, struct ak_err *err);

/**
 * ak_chan_send() - one frame
 * @payload:	borrowed; at most AK_PAYLOAD_MAX
 * @fds:	borrowed; the receiver gets copies
 * @flags:	MSG_DONTWAIT or 0
 * Never raises SIGPIPE. Return: 0; -EAGAIN (MSG_DONTWAIT and no room), -EPIPE or -ECONNRESET (the peer is gone), -EMSGSIZE,
 * -ETOOMANYREFS (too many descriptors in flight), -EINVAL (more than AK_FDS_MAX descriptors).
 */
int ak_chan_send(int fd, uint16_t op, uint32_t seq, const void *payload, size_t len, const int *fds, size_t nfds, int flags);

/**
 * ak_chan_recv() - one frame
 * @buf:	AK_MSG_MAX bytes; caller's, holds the payload
 * @flags:	MSG_DONTWAIT or 0
 * Return: 1 with a frame; 0 at end of file; -EAGAIN; -EBADMSG: malformed (short, wrong magic, length or flags, truncated,
 * descriptors lost on the way), every descriptor that came has been closed; other negative errno. *@ret is filled only with 1.
 */
int ak_chan_recv(int fd, void *buf, struct ak_frame *ret, int flags);

/** ak_frame_release() - close the descriptors nobody has taken (ak_fd_take() leaves -1) */
void ak_frame_release(struct ak_frame *f);

/** ak_memfd_check() - is @fd a memory file that nobody can change any more? Return: its size, -EINVAL, -EFBIG (over @max). */
long ak_memfd_check(int fd, size_t max);

/** ak_memfd_sealed() - a sealed memory file with @n bytes. Return: descriptor or negative errno. */
int ak_memfd_sealed(const char *name, const void *p, size_t n);

/** ak_memfd_sealed2() - the same from two pieces */
int ak_memfd_sealed2(const char *name, const void *p, size_t n, const void *p2, size_t n2);

#endif
