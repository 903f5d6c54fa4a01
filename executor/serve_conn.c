/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: frames in, replies out. Process: executor. Privilege: none.
 *
 * A client that does not read is no concern of others: its replies wait in a bounded queue, no further request of it is read
 * meanwhile, and when the queue is full its connection ends.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_fd.h"

static void reply_release(struct reply *r)
{
	free(r->payload);
	ak_fd_close(&r->fds[0]);
	ak_fd_close(&r->fds[1]);
	*r = (struct reply){ .fds = { -1, -1 } };
}

static int send_reply(struct conn *c, const struct reply *r)
{
	int fds[2];
	size_t n = 0;

	for (int i = 0; i < 2; i++)
		if (r->fds[i] >= 0)
			fds[n++] = r->fds[i];
	return ak_chan_send(c->ev.fd, r->op, r->seq, r->payload, r->len, fds, n, MSG_DONTWAIT);
}

/* what waits, as far as the client takes it. Return: 0, or negative errno when the client is gone */
static int flush(struct server *s, struct conn *c)
{
	while (c->queued > 0) {
		struct reply *r = &c->queue[c->first];
		int e = send_reply(c, r);

		if (e == -EAGAIN)
			return 0;
		if (e < 0)
			return e;
		reply_release(r);
		c->first = (c->first + 1) % AK_QUEUE_MAX;
		c->queued--;
	}
	ev_want(s, &c->ev, EPOLLIN);
	return 0;
}

static int enqueue(struct server *s, struct conn *c, struct reply *r)
{
	struct reply *slot = &c->queue[(c->first + c->queued) % AK_QUEUE_MAX];
	uint8_t *copy = malloc(r->len ? r->len : 1);

	if (c->queued == AK_QUEUE_MAX || !copy) {
		free(copy);
		return -ENOBUFS;
	}
	if (r->len)
		memcpy(copy, r->payload, r->len);
	*slot = (struct reply){ .op = r->op, .seq = r->seq, .payload = copy, .len = r->len,
				.fds = { ak_fd_take(&r->fds[0]), ak_fd_take(&r->fds[1]) } };
	c->queued++;
	ev_want(s, &c->ev, EPOLLOUT);
	return 0;
}

void conn_reply(struct server *s, struct conn *c, uint16_t op, uint32_t seq, const void *payload, long len, int fd0, int fd1)
{
	struct reply r = { .op = op, .seq = seq, .payload = (uint8_t *)(uintptr_t)payload, .len = len > 0 ? (size_t)len : 0,
			   .fds = { fd0, fd1 } };
	int e = 0;

	if (c && c->ev.fn) {
		if (len < 0)
			e = (int)len;	/* a reply of ours that does not encode: better no connection than no answer */
		else
			e = c->queued ? -EAGAIN : send_reply(c, &r);
		if (e == -EAGAIN || e == -ETOOMANYREFS)
			e = enqueue(s, c, &r);
	}
	ak_fd_close(&r.fds[0]);
	ak_fd_close(&r.fds[1]);
	if (e < 0)
		conn_end(s, c);
}

void conn_ok(struct server *s, struct conn *c, uint32_t seq)
{
	conn_reply(s, c, AK_OP_OK, seq, NULL, 0, -1, -1);
}

void conn_refuse(struct server *s, struct conn *c, uint32_t seq, enum ak_code code, const struct ak_err *err)
{
	struct ak_refused m = { .code = code, .err = err->code > 0 && err->code < 4096 ? (uint32_t)err->code : 0,
				.text = err->msg, .hint = err->hint };
	uint8_t buf[2 * AK_TEXT_MAX + 64];

	conn_reply(s, c, AK_OP_REFUSED, seq, buf, ak_refused_encode(&m, buf, sizeof(buf)), -1, -1);
}

void conn_refuse_text(struct server *s, struct conn *c, uint32_t seq, enum ak_code code, int eno, const char *fmt, ...)
{
	struct ak_err err = { 0 };
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)ak_err_set(&err, eno, "%s", text);
	conn_refuse(s, c, seq, code, &err);
}

/* Return: 0 go on, 1 nothing more now, -1 the connection must end */
static int read_one(struct server *s, struct conn *c)
{
	struct ak_frame f;
	int e = ak_chan_recv(c->ev.fd, s->buf, &f, MSG_DONTWAIT);

	if (e == -EAGAIN)
		return 1;
	if (e <= 0)
		return -1;
	e = dispatch(s, c, &f);
	ak_frame_release(&f);
	return e < 0 ? -1 : 0;
}

static void on_event(struct server *s, struct ev *ev, uint32_t events)
{
	struct conn *c = ev->owner;
	int e = 0;

	if ((events & EPOLLOUT) && flush(s, c) < 0) {
		conn_end(s, c);
		return;
	}
	for (unsigned i = 0; i < SERVE_FRAMES_A_TURN && e == 0; i++) {
		if (!ev->fn)	/* ended by what it asked for */
			return;
		if (c->queued)	/* it does not read: neither do we */
			break;
		e = read_one(s, c);
	}
	if (!ev->fn)
		return;
	if (e < 0 || (c->queued && (events & (EPOLLHUP | EPOLLERR))))
		conn_end(s, c);
}

int conn_add(struct server *s, int fd, bool last, struct ak_err *err)
{
	struct conn *c;
	size_t i = 0;
	int r;

	while (i < AK_CONNECTIONS_MAX && s->conns[i])
		i++;
	c = i < AK_CONNECTIONS_MAX ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		ak_fd_close(&fd);
		return ak_err_set(err, i < AK_CONNECTIONS_MAX ? ENOMEM : EMFILE, "no room for another connection");
	}
	c->last = last;
	for (size_t k = 0; k < AK_QUEUE_MAX; k++)
		c->queue[k].fds[0] = c->queue[k].fds[1] = -1;
	r = ev_add(s, &c->ev, fd, EPOLLIN, on_event, c);
	if (r < 0) {
		ak_fd_close(&fd);
		free(c);
		return ak_err_sys(err, -r, "wait for the client");
	}
	s->conns[i] = c;
	return 0;
}

static void forget_waiters(struct server *s, const struct conn *c)
{
	for (size_t i = 0; i < AK_WAITS_MAX; i++)
		if (s->waits[i].to.c == c)
			s->waits[i] = (struct wait){ 0 };
	for (size_t i = 0; i < AK_FILES_MAX; i++)
		if (s->files[i].to.c == c)
			s->files[i].to.c = NULL;
	for (size_t i = 0; i < 4; i++)
		if (s->shutdown[i].c == c)
			s->shutdown[i].c = NULL;
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++) {
		struct box *b = s->boxes[i];

		if (b && b->create.c == c)
			b->create.c = NULL;
		for (size_t k = 0; b && k < 4; k++)
			if (b->destroy[k].c == c)
				b->destroy[k].c = NULL;
	}
}

void conn_end(struct server *s, struct conn *c)
{
	if (!c || !c->ev.fn)
		return;
	ev_close(s, &c->ev);
	for (size_t i = 0; i < AK_CONNECTIONS_MAX; i++)
		if (s->conns[i] == c)
			s->conns[i] = NULL;
	forget_waiters(s, c);
	copy_forget(s, c);
	touch_forget(s, c);
	for (size_t i = 0; i < s->ncmds; i++) {
		struct cmd *cmd = s->cmds[i];

		if (!cmd || cmd->c != c)
			continue;
		cmd->c = NULL;
		if (!cmd->job)
			cmd_kill(s, cmd, CAUSE_GONE);
	}
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++) {
		struct box *b = s->boxes[i];

		if (b && b->owner == c) {
			b->owner = NULL;
			box_end(s, b, ECONNRESET, "the client that made the sandbox is gone");
		}
	}
	while (c->queued > 0) {
		reply_release(&c->queue[c->first]);
		c->first = (c->first + 1) % AK_QUEUE_MAX;
		c->queued--;
	}
	if (c->last)
		server_stop(s);
	server_bury(s, &c->dead);
}
