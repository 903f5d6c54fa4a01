/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What init says, and what signals say. Process: executor. Privilege: none.
 *
 * Messages are read as written by an attacker, since a command may have broken init: each kind comes at most
 * once, carries exactly the descriptors it should, and everything else ends the tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/observing.h"
#include "executor/relay_far.h"
#include "executor/relay_priv.h"
#include "executor/shared/ak_fd.h"

#define MSG_FDS_MAX 4	/* room for more than is expected, so that too many are seen as such */

/* --- from init --- */

static size_t take_fds(struct msghdr *m, int fds[MSG_FDS_MAX])
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t k = c->cmsg_len > CMSG_LEN(0) ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < k && n < MSG_FDS_MAX; i++)
			memcpy(&fds[n++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
	return n;
}

/*
 * The text may have been made by a hostile command and goes to a terminal: one line, no controls, valid UTF-8
 */
static void copy_text(char *to, size_t cap, const char *from)
{
	uint8_t out[4 * AK_INIT_MSG_MAX + TERM_SEQ_MAX + 16];
	struct term_filter f;
	size_t n = strnlen(from ? from : "", AK_INIT_MSG_MAX);

	term_filter_init(&f, TERM_STRICT);
	n = term_filter_run(&f, (const uint8_t *)from, n, out);
	if (n > cap - 1)
		for (n = cap - 1; n > 0 && (out[n] & 0xc0) == 0x80;)
			n--;
	for (size_t i = 0; i < n; i++)
		to[i] = out[i] < 0x20 ? '?' : (char)out[i];
	to[n] = '\0';
}

static void on_failed(struct relay *r, const struct init_msg *m)
{
	struct run_result *ret = r->ret;

	r->failed = true;
	r->fail_exit_code = m->stage == INIT_STAGE_EXEC ? m->exit_code : 125;
	ret->fail_stage = m->stage;
	ret->fail_code = (int)m->code;
	copy_text(ret->fail_text, sizeof(ret->fail_text), m->text);
	copy_text(ret->fail_hint, sizeof(ret->fail_hint), m->hint);
}

/* The times are only believed as far as they make sense */
static void on_exited(struct relay *r, const struct init_msg *m)
{
	uint64_t now = relay_now();

	r->exited = true;
	r->wstatus = (int)m->wstatus;
	r->end_ns = m->end_ns && m->end_ns <= now ? m->end_ns : now;
	r->ret->start_ns = m->start_ns && m->start_ns <= r->end_ns ? m->start_ns : r->start_ns;
}

/* The pty has the size of the caller's terminal, whichever stream that is */
static void resize(struct relay *r)
{
	for (int i = 0; r->pty >= 0 && i < 3; i++)
		if (r->st->s[i].outer_tty && tty_copy_size(i, r->pty) == 0)
			return;
}

/* Whatever it was, init is not to be trusted any more: nothing else is read from it, and the tree ends now */
static void broken(struct relay *r, const char *what)
{
	r->ctl_open = false;
	relay_fail(r, CAUSE_BROKEN, EBADMSG, "the sandbox sent %s", what);
	relay_kill(r);
}

void relay_take_pty(struct relay *r, int *fd)
{
	struct stream *in = &r->st->s[0];
	int flags = fcntl(*fd, F_GETFL);

	if (!r->o->tty || r->pty >= 0 || !tty_is_master(*fd) || flags < 0 ||
	    fcntl(*fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		broken(r, "a descriptor that is no new pty");
		return;
	}
	r->pty = ak_fd_take(fd);
	resize(r);
	pump_start(r, 0, &r->pty);
	if (in->outer_tty && tty_raw(in->outer, &r->tty) < 0)
		/* then lines are read as the terminal gives them */
		r->tty = (struct tty_state)TTY_STATE_NONE;
	intake_start(r, &r->pty);
}

/* The joined filter is loaded, or could not be; said once, by the command's child before it becomes the command */
static void on_listener(struct relay *r, const struct init_msg *m, int *fd)
{
	struct denials *d = r->sb->observing ? &r->sb->observing->denials : NULL;

	if (d && m->code && !d->observed && !d->why_not)
		d->why_not = (int)m->code;
	else if (!d || m->code || d->why_not || denials_listen(d, ak_fd_take(fd)) < 0)
		broken(r, "a listener that was not asked for");
}

static void on_learned(struct relay *r, const struct init_msg *m)
{
	struct observing *ob = r->sb->observing;

	if (!ob || !ob->learn || ob->have_learned) {
		broken(r, "calls that were not asked for");
		return;
	}
	memcpy(ob->learned, m->learned, sizeof(ob->learned));
	ob->have_learned = true;
}

static size_t fds_of(const struct init_msg *m)
{
	return m->type == INIT_MSG_PTY || (m->type == INIT_MSG_LISTENER && m->code == 0);
}

static void handle(struct relay *r, const struct init_msg *m, int *fds, size_t nfds)
{
	bool again = m->type == INIT_MSG_FAILED ? r->failed : r->exited;

	if (again || nfds != fds_of(m)) {
		broken(r, "a message out of turn");
		return;
	}
	switch (m->type) {
	case INIT_MSG_FAILED:
		on_failed(r, m);
		break;
	case INIT_MSG_EXITED:
		on_exited(r, m);
		break;
	case INIT_MSG_PTY:
		relay_take_pty(r, &fds[0]);
		return;
	case INIT_MSG_LISTENER:
		on_listener(r, m, &fds[0]);
		return;
	case INIT_MSG_LEARNED:
		on_learned(r, m);
		return;
	default:
		broken(r, "a message that is not for the executor");
		return;
	}
	/* init ends by itself now, and all that is left with it; what else it does is not waited for */
	r->at[TIMER_TIMEOUT] = r->at[TIMER_WATCH] = r->at[TIMER_OUTPUT] = 0;
	if (!r->at[TIMER_KILL])
		relay_set(r, TIMER_KILL, RELAY_INIT_END_MS);
}

/* Return: true when there may be more */
static bool receive_one(struct relay *r)
{
	char buf[AK_INIT_MSG_MAX];
	union {
		char space[CMSG_SPACE(MSG_FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} ctl;
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr h = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl),
	};
	int fds[MSG_FDS_MAX];
	struct init_msg m;
	size_t nfds;
	ssize_t n = recvmsg(r->sb->ctl, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		r->ctl_open = false;	/* init is gone or going; its pidfd tells */
		return false;
	}
	nfds = take_fds(&h, fds);
	if ((h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || init_msg_decode(buf, (size_t)n, &m) < 0)
		broken(r, "a malformed message");
	else
		handle(r, &m, fds, nfds);
	for (size_t i = 0; i < nfds; i++)
		ak_fd_close(&fds[i]);
	return true;
}

void relay_receive(struct relay *r)
{
	if (r->sb->far) {
		relay_far_receive(r);
		return;
	}
	while (r->ctl_open && receive_one(r))
		;
}

/* --- to init --- */

void relay_send_signal(struct relay *r, int signo)
{
	struct init_msg m = { .type = INIT_MSG_SIGNAL, .signo = (uint32_t)signo };
	char buf[AK_INIT_MSG_MAX];
	long n;

	if (r->sb->far) {
		relay_far_signal(r, signo);
		return;
	}
	n = init_msg_encode(&m, buf, sizeof(buf));
	/* when it does not arrive, the kill that follows does */
	if (n > 0)
		(void)send(r->sb->ctl, buf, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* --- signals to ak --- */

/* ak stops as its group does; the command stops with it and goes on with it */
static void suspend(struct relay *r)
{
	struct tty_state raw = r->tty;

	tty_restore(&r->tty);
	relay_send_signal(r, SIGSTOP);
	(void)raise(SIGSTOP);
	relay_send_signal(r, SIGCONT);
	if (raw.fd >= 0 && tty_raw(raw.fd, &r->tty) < 0)
		r->tty = (struct tty_state)TTY_STATE_NONE;
}

static void on_end_signal(struct relay *r, int signo)
{
	/* the second: no more waiting, for readers neither */
	if (r->cause != CAUSE_NONE || r->first_signal) {
		if (!r->first_signal)
			r->first_signal = signo;
		relay_kill(r);
		relay_set(r, TIMER_GIVEUP, 0);
		return;
	}
	r->first_signal = signo;
	relay_end(r, CAUSE_SIGNAL);
}

void relay_read_signals(struct relay *r)
{
	struct signalfd_siginfo si;

	while (read(r->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		switch (si.ssi_signo) {
		case SIGINT:
		case SIGTERM:
		case SIGHUP:
		case SIGQUIT:
			on_end_signal(r, (int)si.ssi_signo);
			break;
		case SIGWINCH:
			resize(r);
			break;
		case SIGTSTP:
			suspend(r);
			break;
		default:
			break;
		}
		/* the descriptor may be in blocking mode: one a turn, poll tells of more */
		if (!(fcntl(r->signal_fd, F_GETFL) & O_NONBLOCK))
			break;
	}
}
