/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves what the command writes to the caller or into memory, one step at a time. Process: executor.
 * Privilege: none.
 *
 * A step never waits: the inner end is non-blocking, and the outer one is written as relay_write.c says. A
 * pump polls one side at a time: the inner one for data, or the outer one while that takes nothing. So a slow
 * reader holds up its own stream only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/relay_priv.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_weaken.h"

static size_t buf_size(const struct pump *p)
{
	return p->filter ? 4 * RELAY_FILTER_BLOCK + TERM_SEQ_MAX + 16 + TERM_END_MAX : RELAY_BLOCK;
}

static bool have_buf(struct relay *r, struct pump *p)
{
	if (!p->buf)
		p->buf = malloc(buf_size(p));
	if (!p->buf) {
		relay_fail(r, CAUSE_IO, ENOMEM, "no memory to relay %s", p->name);
		p->active = false;
	}
	return p->buf;
}

/* splice(2) refuses a target in append mode; terminals, other devices and sockets could make it wait */
static bool can_splice(const struct pump *p)
{
	int flags;

	if (p->pty || p->capture || p->filter || p->outer < 0)
		return false;
	if (p->s->kind == STREAM_KIND_PIPE)
		return true;
	flags = fcntl(p->outer, F_GETFL);
	return p->s->kind == STREAM_KIND_FILE && flags >= 0 && !(flags & O_APPEND);
}

void pump_start(struct relay *r, unsigned i, int *inner)
{
	struct pump *p = &r->out[i];
	struct stream *s = &r->st->s[i + 1];
	bool weak = AK_WEAK(ak_weaken_mask(), AK_WEAK_PTYFILTER);

	*p = (struct pump){
		.s = s, .name = i == 0 ? "standard output" : "standard error", .inner = inner, .active = true,
		.pty = inner == &r->pty,
		.capture = s->mode == STREAM_CAPTURE || r->o->json,
		.allowed = r->o->max_output_bytes,
	};
	p->outer = p->capture ? -1 : s->nb >= 0 ? s->nb : s->outer;
	if (p->capture)
		capture_init(&p->kept, r->o->max_output_bytes);
	p->filter = p->outer >= 0 && s->outer_tty && !r->o->raw && !weak;
	if (p->filter)
		term_filter_init(&p->tf, p->pty ? TERM_INTERACTIVE : TERM_STRICT);
	p->splice = can_splice(p);
	p->gone = !p->capture && p->outer < 0;
}

void pump_want(const struct pump *p, struct pollfd *ret)
{
	*ret = (struct pollfd){ .fd = -1 };
	if (!p->active)
		return;
	if (p->off < p->len || p->blocked)
		*ret = (struct pollfd){ .fd = p->outer, .events = POLLOUT };
	else if (!p->hup)
		*ret = (struct pollfd){ .fd = *p->inner, .events = POLLIN };
}

/* Counts bytes that were read. Return: how many of them may pass. */
static size_t account(struct pump *p, size_t n)
{
	size_t pass = n;

	p->total += n;
	if (p->last && !p->pty)
		p->left -= n < p->left ? n : p->left;
	if (p->capture)
		return n;
	if (p->gone)
		pass = 0;
	else if (p->allowed != UINT64_MAX) {
		pass = n < p->allowed ? n : (size_t)p->allowed;
		p->allowed -= pass;
	}
	p->dropped += n - pass;
	return pass;
}

/* The inner side is finished */
static void at_eof(struct pump *p)
{
	p->eof = true;
	if (p->filter && !p->gone && p->buf) {
		p->off = 0;
		p->len = term_filter_end(&p->tf, p->buf);
	}
	if (p->off == p->len)
		p->active = false;
}

/* The outer side does not take bytes any more. Nobody there is one thing, a full disk another. */
static void outer_failed(struct relay *r, struct pump *p, int e)
{
	bool gone = e == EPIPE || e == ECONNRESET || e == ENOTCONN ||
		    (e == EIO && p->s->kind == STREAM_KIND_TTY);

	p->dropped += p->len - p->off;
	p->off = p->len = 0;
	p->blocked = false;
	p->gone = true;
	if (!gone)
		relay_fail(r, CAUSE_IO, e, "write to %s", p->name);
	else if (p == &r->out[0])
		relay_output_gone(r, p);
	if (p->eof)
		p->active = false;
}

static void flush(struct relay *r, struct pump *p)
{
	while (p->off < p->len) {
		ssize_t n = outer_write(p->s, p->outer, p->buf + p->off, p->len - p->off);

		if (n == -EAGAIN)
			return;
		if (n < 0) {
			outer_failed(r, p, (int)-n);
			return;
		}
		p->off += (size_t)n;
		if (p->s->kind == STREAM_KIND_TTY || p->s->kind == STREAM_KIND_PIPE)
			break;	/* ask again before more is written */
	}
	if (p->off == p->len && p->eof)
		p->active = false;
}

/* Handles what is no data. Return: true when there were bytes. */
static bool got_bytes(struct relay *r, struct pump *p, ssize_t n)
{
	if (n > 0)
		return true;
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (p->last)
			at_eof(p);
	} else if (n < 0 && errno == EIO && p->pty && !p->last) {
		p->hup = true;
		relay_set(r, TIMER_PTY, RELAY_PTY_RETRY_MS);
	} else {
		at_eof(p);
	}
	return false;
}

static size_t limit(const struct pump *p, size_t want)
{
	return p->last && !p->pty && p->left < want ? (size_t)p->left : want;
}

static void move_splice(struct relay *r, struct pump *p)
{
	size_t want = p->allowed < RELAY_SPLICE_BYTES ? (size_t)p->allowed : RELAY_SPLICE_BYTES;
	ssize_t n = splice(*p->inner, NULL, p->outer, NULL, limit(p, want), SPLICE_F_NONBLOCK);

	if (n > 0)
		(void)account(p, (size_t)n);
	else if (n == 0)
		at_eof(p);
	else if (errno == EAGAIN)
		/* poll said that there is data, so it is the outer side */
		p->blocked = p->s->kind == STREAM_KIND_PIPE;
	else if (errno == EINVAL)
		p->splice = false;
	else if (errno != EINTR)
		outer_failed(r, p, errno);
}

static void move_copy(struct relay *r, struct pump *p)
{
	uint8_t block[RELAY_FILTER_BLOCK];
	bool filter = p->filter && !p->gone;
	ssize_t n;
	size_t pass;

	if (!have_buf(r, p))
		return;
	n = filter ? read(*p->inner, block, limit(p, sizeof(block))) :
		     read(*p->inner, p->buf, limit(p, p->filter ? RELAY_FILTER_BLOCK : RELAY_BLOCK));
	if (!got_bytes(r, p, n))
		return;
	pass = account(p, (size_t)n);
	if (p->capture) {
		capture_add(&p->kept, p->buf, (size_t)n);
		return;
	}
	p->off = 0;
	p->len = filter ? term_filter_run(&p->tf, block, pass, p->buf) : pass;
	flush(r, p);
}

/* Return: true when the tree is dead and nothing is left in the pipe */
static bool emptied(const struct pump *p)
{
	return p->last && !p->pty && p->left == 0;
}

void pump_ready(struct relay *r, struct pump *p, short revents)
{
	if (!p->active || !revents)
		return;
	if (p->off < p->len) {
		flush(r, p);
	} else if (p->blocked) {
		/*
		 * an error on the outer side is told by the next splice, which needs data for it: poll shows
		 * it to us now
		 */
		p->blocked = false;
		if (revents & POLLERR)
			outer_failed(r, p, EPIPE);
	} else if (p->splice && !p->gone && p->allowed > 0) {
		move_splice(r, p);
	} else {
		move_copy(r, p);
	}
	if (p->active && !p->eof && p->off == p->len && emptied(p))
		at_eof(p);
}

/*
 * The tree is dead, so nothing can be written any more but by somebody outside who was sent a descriptor;
 * what is in the pipe now is the end. The kernel gives a pty's last bytes before it says EIO or EAGAIN
 * (n_tty_read() flushes the line first).
 */
void pump_last(struct pump *p)
{
	int n = 0;

	if (!p->active)
		return;
	p->last = true;
	p->hup = false;
	if (!p->pty)
		p->left = ioctl(*p->inner, FIONREAD, &n) == 0 && n > 0 ? (uint64_t)n : 0;
	if (p->off == p->len && !p->eof && emptied(p))
		at_eof(p);
}

/* A reader that takes nothing is not waited for any longer; what it has not got is counted */
void pump_give_up(struct pump *p)
{
	if (!p->active)
		return;
	p->dropped += p->len - p->off;
	p->total += p->left;
	p->dropped += p->left;
	p->off = p->len = 0;
	p->active = false;
}

void pump_finish(struct pump *p, struct capture *ret)
{
	if (p->capture)
		capture_finish(&p->kept, ret);
	else
		*ret = (struct capture){ .total = p->total, .dropped = p->dropped };
}

void pump_release(struct pump *p)
{
	capture_release(&p->kept);
	free(p->buf);
	p->buf = NULL;
}
