/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of the init of a sandbox, and what it says. Process: executor. Privilege: none.
 *
 * Messages are read as written by an attacker, since a command may have broken init: each has its turn, an id it knows, exactly
 * the descriptors it should, and everything else ends the sandbox. But what comes late or twice about a command or file operation
 * that has ended is overlooked: it changes nothing, as ids are never used twice, and one such message is in the protocol (a keeper
 * that was killed while it told). What may come in which order: ak_init_serve.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "executor/tty.h"
#include "executor/watch_tree.h"

#define NS_PER_MS 1000000ull
#define REP_FDS_MAX 4	/* room for more than is expected, so that too many are seen as such */
#define REPS_A_TURN 32

/* ---- down ---- */

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ak_fd_close(&fds[i]);
}

static int send_now(struct box *b, const void *buf, size_t len, const int *fds, size_t nfds)
{
	union {
		char space[CMSG_SPACE(AK_INIT_REQ_FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} ctl;
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (nfds > 0) {
		memset(&ctl, 0, CMSG_SPACE(nfds * sizeof(int)));
		ctl.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(nfds * sizeof(int)) };
		memcpy(CMSG_DATA(&ctl.align), fds, nfds * sizeof(int));
		m.msg_control = &ctl;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
	}
	do
		n = sendmsg(b->ctl.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int enqueue(struct server *s, struct box *b, const void *buf, size_t len, const int *fds, size_t nfds)
{
	struct ctl_msg *m;

	if (!b->queue)
		b->queue = calloc(SERVE_CTL_QUEUE_MAX, sizeof(*b->queue));
	if (!b->queue || b->queued == SERVE_CTL_QUEUE_MAX)
		return -EAGAIN;
	m = &b->queue[(b->first + b->queued) % SERVE_CTL_QUEUE_MAX];
	m->buf = malloc(len);
	if (!m->buf)
		return -EAGAIN;
	memcpy(m->buf, buf, len);
	m->len = len;
	memcpy(m->fds, fds, nfds * sizeof(int));
	m->nfds = nfds;
	b->queued++;
	ev_want(s, &b->ctl, EPOLLIN | EPOLLOUT);
	return 0;
}

int ctl_send(struct server *s, struct box *b, const struct init_req *q, int *fds, size_t nfds)
{
	long n = init_req_encode(q, s->req, sizeof(s->req));
	int r = n < 0 ? (int)n : b->ctl.fn && b->state != BOX_ENDING ? 0 : -EPIPE;

	if (r == 0)
		r = b->queued ? -EAGAIN : send_now(b, s->req, (size_t)n, fds, nfds);
	if (r == -EAGAIN || r == -ETOOMANYREFS) {
		r = enqueue(s, b, s->req, (size_t)n, fds, nfds);
		if (r == 0)
			return 0;
	}
	close_all(fds, nfds);
	return r;
}

void ctl_flush(struct server *s, struct box *b)
{
	while (b->queued > 0) {
		struct ctl_msg *m = &b->queue[b->first];
		int r = send_now(b, m->buf, m->len, m->fds, m->nfds);

		if (r == -EAGAIN || r == -ETOOMANYREFS)
			return;
		free(m->buf);
		close_all(m->fds, m->nfds);
		*m = (struct ctl_msg){ 0 };
		b->first = (b->first + 1) % SERVE_CTL_QUEUE_MAX;
		b->queued--;
		if (r < 0)
			return;	/* it is going; its pidfd tells */
	}
	ev_want(s, &b->ctl, EPOLLIN);
}

/* ---- up ---- */

static void broken(struct server *s, struct box *b, const char *what)
{
	box_end(s, b, EBADMSG, "the sandbox sent %s", what);
	ev_close(s, &b->ctl);	/* nothing else is read from it */
}

void box_told(struct server *s, struct box *b)
{
	b->state = BOX_READY;
	b->deadline_ns = 0;
	if (b->create.c) {
		struct ak_created m = { .sandbox = b->id };

		policy_facts(&b->pol, &m.facts);
		conn_reply(s, b->create.c, AK_OP_CREATED, b->create.seq, s->out, ak_created_encode(&m, s->out, sizeof(s->out)), -1, -1);
		b->create.c = NULL;
	}
	if (b->id == s->named && !s->ready_said) {
		s->ready_said = true;
		s->busy_ns = ak_now_ns();
		if (s->o->ready)
			s->o->ready(s->o->ready_arg);
	}
	for (size_t i = 0; i < s->ncmds; i++)
		if (s->cmds[i] && s->cmds[i]->box == b && s->cmds[i]->state == CMD_WAITING)
			cmd_send_waiting(s, s->cmds[i]);
}

/* the set-up child or init could not make the sandbox */
static void on_setup_failed(struct server *s, struct box *b, const void *buf, size_t n)
{
	struct init_msg m;

	if (b->state != BOX_STARTING || init_msg_decode(buf, n, &m) < 0 || m.type != INIT_MSG_FAILED) {
		broken(s, b, "a message out of turn");
		return;
	}
	(void)ak_err_set(&b->why, (int)m.code, "%s", m.text);
	ak_err_hint(&b->why, "%s", m.hint);
	if (!b->why.code)
		b->why.code = ECHILD;
	box_end(s, b, ECHILD, "%s", "");
}

static void on_pty(struct server *s, struct box *b, struct cmd *c, int *fd)
{
	int flags = *fd < 0 ? 0 : fcntl(*fd, F_GETFL);

	if (!c->tty || c->pty_told || c->state != CMD_SENT || (*fd >= 0 && !tty_is_master(*fd)) || flags < 0) {
		broken(s, b, "a descriptor that is no new pty");
		return;
	}
	c->pty_told = true;
	if (*fd < 0) {	/* it came, but we had no room for it: without its terminal the command is nobody's */
		cmd_kill(s, c, CAUSE_NO_PTY);
		return;
	}
	c->pty = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
	c->pty_out = ak_fd_take(fd);
}

/* Return: whether @id is that of something that is over, or of no command; else a command with it runs, or it was never given out */
static bool is_over(struct server *s, uint32_t id)
{
	const struct cmd *c = cmd_find(s, id);

	return c ? c->state == CMD_ENDED : server_gave(s, id);
}

static void on_command(struct server *s, struct box *b, const struct init_rep *m, int *fds)
{
	struct cmd *c = cmd_find(s, m->id);

	if (is_over(s, m->id))
		return;
	if (!c || c->box != b || (c->state != CMD_SENT && c->state != CMD_RUNNING)) {
		broken(s, b, "a message about a command that does not run");
		return;
	}
	switch (m->type) {
	case INIT_REP_PTY:
		on_pty(s, b, c, &fds[0]);
		return;
	case INIT_REP_STARTED:
		if (c->state != CMD_SENT || (c->tty && !c->pty_told))
			broken(s, b, "a message out of turn");
		else
			cmd_started(s, c, m->pid);
		return;
	case INIT_REP_FAILED:
		cmd_failed(s, c, m);
		return;
	default:
		cmd_exited(s, c, m);
		return;
	}
}

static void on_file(struct server *s, struct box *b, const struct init_rep *m)
{
	if (!file_done(s, b, m) && !is_over(s, m->id))
		broken(s, b, "an answer to what nobody asked");
}

/* @cut: more descriptors came than there was room for (recvmsg(2), MSG_CTRUNC), since we have as many as we may */
static void on_reply(struct server *s, struct box *b, const struct init_rep *m, int *fds, size_t nfds, bool cut)
{
	if (nfds + cut != (m->type == INIT_REP_PTY ? 1u : 0u)) {
		broken(s, b, "other descriptors than it said");
		return;
	}
	switch (m->type) {
	case INIT_REP_READY:
		if (b->state == BOX_STARTING)
			box_told(s, b);
		else if (b->state != BOX_ENDING)
			broken(s, b, "a message out of turn");
		return;
	case INIT_REP_LEAVES:
		leaves_begin(s, b);
		return;
	case INIT_REP_FILE:
		on_file(s, b, m);
		return;
	case INIT_REP_STATS:
		return;
	default:
		on_command(s, b, m, fds);
		return;
	}
}

static size_t take_fds(struct msghdr *h, int fds[REP_FDS_MAX])
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t k = c->cmsg_len > CMSG_LEN(0) ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < k && n < REP_FDS_MAX; i++)
			memcpy(&fds[n++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
	return n;
}

/* Return: true when there may be more */
static bool receive_one(struct server *s, struct box *b)
{
	char buf[AK_INIT_REP_MAX];
	union {
		char space[CMSG_SPACE(REP_FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} ctl;
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl) };
	int fds[REP_FDS_MAX] = { -1, -1, -1, -1 };
	struct init_rep m;
	size_t nfds;
	bool whole, cut;
	ssize_t n = recvmsg(b->ctl.fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		ev_close(s, &b->ctl);	/* init is gone or going; its pidfd tells */
		return false;
	}
	nfds = take_fds(&h, fds);
	whole = !(h.msg_flags & MSG_TRUNC);
	cut = h.msg_flags & MSG_CTRUNC;
	if (whole && !cut && init_msg_type(buf, (size_t)n) == INIT_MSG_FAILED)
		on_setup_failed(s, b, buf, (size_t)n);
	else if (whole && init_rep_decode(buf, (size_t)n, &m) == 0)
		on_reply(s, b, &m, fds, nfds, cut);
	else
		broken(s, b, "a malformed message");
	close_all(fds, nfds);
	return b->ctl.fn != NULL;
}

void ctl_event(struct server *s, struct ev *ev, uint32_t events)
{
	struct box *b = ev->owner;
	unsigned n = 0;

	if (events & EPOLLOUT)
		ctl_flush(s, b);
	while (ev->fn && n++ < REPS_A_TURN && receive_one(s, b))
		;
}

void ctl_drain(struct server *s, struct box *b)
{
	while (b->ctl.fn && receive_one(s, b))	/* as much as a socket's buffer holds: its other end is closed */
		;
}

/* ---- limits kept by sampling ---- */

/* the command that uses most goes first; what cannot be told apart goes together */
static void end_for_memory(struct server *s, struct box *b)
{
	bool any = false;

	for (size_t i = 0; i < s->ncmds; i++) {
		struct cmd *c = s->cmds[i];

		if (!c || c->box != b || (c->state != CMD_RUNNING && c->state != CMD_SENT))
			continue;
		any = true;
		cmd_kill(s, c, CAUSE_MEMORY);
	}
	if (!any)
		box_end(s, b, ENOMEM, "the sandbox is over its memory limit while no command runs");
}

void box_watch(struct server *s, struct box *b, uint64_t now)
{
	unsigned next_ms = WATCH_MAX_MS;
	enum watch_verdict v;

	b->watch_ns = 0;
	if (b->running == 0 || b->state != BOX_READY)
		return;
	v = watch_sample(&b->watch, &next_ms);
	b->watch_ns = now + next_ms * NS_PER_MS;
	if (v == WATCH_MEMORY)
		end_for_memory(s, b);
}
