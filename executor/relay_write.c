/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One read or write on a descriptor of the caller that does not wait, although the descriptor may be in
 * blocking mode.
 * Process: executor. Privilege: none.
 *
 * O_NONBLOCK belongs to the open file, which other processes share, so it is not ours to set. What is used in
 * its place: a flag of the call (RWF_NOWAIT for pipes, MSG_DONTWAIT for sockets), our own opening
 * (terminals), or a length that fits for certain after poll() said that there is room. Files never make a
 * caller wait in the sense of poll().
 */
#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "executor/relay_priv.h"

static ssize_t result(ssize_t n)
{
	if (n >= 0)
		return n;
	return errno == EINTR || errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

/*
 * pipe(7): a pipe that polls writable has room for PIPE_BUF bytes, unless somebody else writes into it at
 * this moment
 */
static ssize_t pipe_write(int fd, const uint8_t *buf, size_t len)
{
	struct iovec v = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	ssize_t n = pwritev2(fd, &v, 1, -1, RWF_NOWAIT);

	if (n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL))
		n = write(fd, buf, len < PIPE_BUF ? len : PIPE_BUF);
	return result(n);
}

static ssize_t pipe_read(int fd, uint8_t *buf, size_t cap)
{
	struct iovec v = { .iov_base = buf, .iov_len = cap };
	ssize_t n = preadv2(fd, &v, 1, -1, RWF_NOWAIT);

	if (n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL))
		n = read(fd, buf, cap);
	return result(n);
}

/**
 * outer_write() - write some bytes to the caller's side after poll() said that it is writable
 * Return: bytes written, -EAGAIN, or the negative errno of write(2).
 */
ssize_t outer_write(const struct stream *s, int fd, const uint8_t *buf, size_t len)
{
	switch (s->kind) {
	case STREAM_KIND_PIPE:
		return pipe_write(fd, buf, len);
	case STREAM_KIND_SOCK:
		return result(send(fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL));
	case STREAM_KIND_TTY:
		if (s->nb < 0 && len > RELAY_TTY_BLOCK)
			len = RELAY_TTY_BLOCK;
		return result(write(fd, buf, len));
	default:
		return result(write(fd, buf, len));
	}
}

/**
 * outer_read() - read some bytes from the caller's side after poll() said that it is readable
 * Return: bytes read, 0 at the end, -EAGAIN, or the negative errno of read(2).
 */
ssize_t outer_read(const struct stream *s, int fd, uint8_t *buf, size_t cap)
{
	switch (s->kind) {
	case STREAM_KIND_PIPE:
		return pipe_read(fd, buf, cap);
	case STREAM_KIND_SOCK:
		return result(recv(fd, buf, cap, MSG_DONTWAIT));
	default:
		return result(read(fd, buf, cap));
	}
}
