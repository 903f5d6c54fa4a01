/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves the caller's standard input to the command. Process: executor. Privilege: none.
 *
 * Bytes are copied, not spliced: a splice would put pages of the caller's file into a pipe that the command
 * can open. They are read only when the command's pipe has room, and what the command has not read from a
 * file is given back at the end, so that `(ak exec cmd1; cmd2) <file` works as it does without ak as far as a
 * pipe allows.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "executor/relay_priv.h"
#include "executor/shared/ak_fd.h"

#define VEOF_CHAR 0x04	/* what a new pty takes as end of file, termios(3) */

static void stop(struct intake *in)
{
	in->active = false;
	if (!in->pty)
		/* end of file for the command; in->s->keep still counts what it has not read */
		ak_fd_close(in->inner);
}

/*
 * A line discipline turns VEOF into "what you have so far": only after a whole line it reads as the end of
 * the file
 */
static void at_eof(struct intake *in)
{
	bool line = in->moved == 0 || in->final == '\n';

	in->eof = true;
	if (!in->pty) {
		stop(in);
		return;
	}
	in->buf[0] = in->buf[1] = VEOF_CHAR;
	in->off = 0;
	in->len = line ? 1 : 2;
}

void intake_start(struct relay *r, int *inner)
{
	struct intake *in = &r->in;
	struct stream *s = &r->st->s[0];

	*in = (struct intake){
		.s = s, .inner = inner, .pty = inner == &r->pty, .outer = s->nb >= 0 ? s->nb : s->outer,
		.buf = malloc(RELAY_BLOCK),
	};
	in->active = in->buf;
	if (!in->active)
		relay_fail(r, CAUSE_IO, ENOMEM, "no memory to relay standard input");
	else if (in->outer < 0)
		at_eof(in);
}

void intake_want(const struct intake *in, struct pollfd *ret_outer, struct pollfd *ret_inner)
{
	bool write = in->off < in->len || !in->room;

	*ret_outer = *ret_inner = (struct pollfd){ .fd = -1 };
	if (!in->active)
		return;
	/* an error of the inner side is always told: nobody will read what we would take from the caller */
	*ret_inner = (struct pollfd){ .fd = *in->inner, .events = write ? POLLOUT : 0 };
	if (!write)
		*ret_outer = (struct pollfd){ .fd = in->outer, .events = POLLIN };
}

static void flush(struct intake *in)
{
	while (in->off < in->len) {
		ssize_t n = write(*in->inner, in->buf + in->off, in->len - in->off);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			stop(in);	/* EPIPE: the command has closed its input */
			return;
		}
		in->final = in->buf[in->off + (size_t)n - 1];
		in->off += (size_t)n;
		in->moved += (uint64_t)n;
	}
	if (in->eof)
		stop(in);
}

static void fill(struct relay *r, struct intake *in)
{
	ssize_t n = outer_read(in->s, in->outer, in->buf, RELAY_BLOCK);

	if (n == -EAGAIN)
		return;
	in->off = in->len = 0;
	in->room = false;
	if (n > 0) {
		in->len = (size_t)n;
		flush(in);
	} else if (n == 0 || (n == -EIO && in->s->kind == STREAM_KIND_TTY) || n == -ECONNRESET) {
		at_eof(in);
	} else {
		relay_fail(r, CAUSE_IO, (int)-n, "read standard input");
		stop(in);
	}
}

void intake_ready(struct relay *r, short outer_revents, short inner_revents)
{
	struct intake *in = &r->in;

	if (!in->active)
		return;
	if (inner_revents & (POLLERR | POLLNVAL)) {
		stop(in);
	} else if (in->off < in->len) {
		if (inner_revents)
			flush(in);
	} else if (inner_revents & POLLOUT) {
		in->room = true;
		if (in->s->kind == STREAM_KIND_FILE)	/* a file is always readable */
			fill(r, in);
	} else if (outer_revents) {
		fill(r, in);
	}
}

/* Gives back to a file what was read from it for the command and not read by the command */
void intake_finish(struct relay *r)
{
	struct intake *in = &r->in;
	uint64_t unread = 0;
	int n = 0;

	if (!in->buf)
		return;
	if (in->s->keep >= 0 && ioctl(in->s->keep, FIONREAD, &n) == 0 && n > 0)
		unread = (uint64_t)n;
	/*
	 * the command may have written into the pipe by another opening: never go back further than we went
	 */
	if (unread > in->moved)
		unread = in->moved;
	if (!in->eof || !in->pty)
		unread += in->len - in->off;
	if (in->s->kind == STREAM_KIND_FILE && unread > 0)
		/* a device without an offset has nothing to give back to */
		(void)lseek(in->outer, -(off_t)unread, SEEK_CUR);
	free(in->buf);
	in->buf = NULL;
	in->active = false;
}
