/* SPDX-License-Identifier: Apache-2.0 */
/* libak: connections and the traffic on them. Any process, no privilege. */
#include "lib/libak.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "lib/libak_int.h"

extern char **environ;

/* ---- traffic ---- */

static int gone(struct ak_client *cl, int code, struct ak_err *err)
{
	if (!cl->dead)
		cl->dead = code;
	(void)ak_err_set(err, ECONNRESET, "the executor is gone");
	return -ECONNRESET;
}

int libak_malformed(struct ak_client *cl, struct ak_err *err)
{
	cl->dead = EBADMSG;
	(void)shutdown(cl->fd, SHUT_RDWR);
	(void)ak_err_set(err, EBADMSG, "the executor sent something this client does not understand");
	return -EBADMSG;
}

int libak_send(struct ak_client *cl, uint16_t op, long len, const int *fds, size_t nfds, uint32_t *ret_seq, struct ak_err *err)
{
	int e;

	if (cl->dead)
		return gone(cl, cl->dead, err);
	if (len == -ENOBUFS)
		return ak_err_set(err, E2BIG, "the request is too large");
	if (len < 0)
		return ak_err_set(err, EINVAL, "the request has values that no executor would take");
	if (++cl->seq == 0)
		cl->seq = 1;
	e = ak_chan_send(cl->fd, op, cl->seq, cl->out, (size_t)len, fds, nfds, 0);
	if (e == -EPIPE || e == -ECONNRESET)
		return gone(cl, -e, err);
	if (e == -EAGAIN)	/* SO_SNDTIMEO */
		return ak_err_set(err, ETIMEDOUT, "the executor does not read what it is asked");
	if (e < 0)
		return ak_err_sys(err, -e, "send to the executor");
	*ret_seq = cl->seq;
	return 0;
}

int libak_watch(struct ak_client *cl, uint32_t seq, struct ak_err *err)
{
	if (cl->nopen == LIBAK_EVENTS_MAX)
		return ak_err_set(err, EAGAIN, "%u requests of this client are open", LIBAK_EVENTS_MAX);
	cl->open[cl->nopen++].seq = seq;
	return 0;
}

static bool is_event(const struct ak_client *cl, uint32_t seq)
{
	for (size_t i = 0; i < cl->nopen; i++)
		if (cl->open[i].seq == seq)
			return true;
	return false;
}

void libak_forget(struct ak_client *cl, uint32_t seq)
{
	for (size_t i = 0; i < cl->nopen; i++)
		if (cl->open[i].seq == seq) {
			cl->open[i] = cl->open[--cl->nopen];
			return;
		}
}

static int keep_event(struct ak_client *cl, struct ak_frame *f, struct ak_err *err)
{
	struct ak_event ev = { .pty = -1 };
	struct ak_event *grown;
	int r = libak_event(cl, f, &ev);

	ak_frame_release(f);
	if (r == -EBADMSG)
		return libak_malformed(cl, err);
	if (r < 0)
		return ak_err_sys(err, -r, "keep an answer");
	if (cl->nevents == cl->cap) {
		size_t cap = cl->cap ? 2 * cl->cap : 8;

		grown = realloc(cl->events, cap * sizeof(*grown));
		if (!grown) {
			ak_event_release(&ev);
			return ak_err_set(err, ENOMEM, "not enough memory for an answer");
		}
		cl->events = grown;
		cl->cap = cap;
	}
	cl->events[cl->nevents++] = ev;
	if (ev.type != AK_EVENT_STARTED)
		libak_forget(cl, ev.tag);
	return 2;
}

/* Return: 1 ready, 0 time passed, negative errno */
static int wait_readable(const struct ak_client *cl, int timeout_ms)
{
	struct pollfd p = { .fd = cl->fd, .events = POLLIN };
	int n;

	if (timeout_ms < 0)
		return 1;	/* the read waits */
	do
		n = poll(&p, 1, timeout_ms);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int libak_read(struct ak_client *cl, struct ak_frame *f, int timeout_ms, struct ak_err *err)
{
	int r;

	if (cl->dead)
		return gone(cl, cl->dead, err);
	r = wait_readable(cl, timeout_ms);
	if (r <= 0)
		return r < 0 ? ak_err_sys(err, -r, "wait for the executor") : 0;
	r = ak_chan_recv(cl->fd, cl->buf, f, timeout_ms < 0 ? 0 : MSG_DONTWAIT);
	if (r == -EAGAIN)
		return 0;
	if (r == -EBADMSG)
		return libak_malformed(cl, err);
	if (r <= 0)
		return gone(cl, r < 0 ? -r : ECONNRESET, err);
	return is_event(cl, f->seq) ? keep_event(cl, f, err) : 1;
}

static int refused(struct ak_client *cl, struct ak_frame *f, struct ak_err *err)
{
	struct ak_refused m;

	if (ak_refused_decode(f->payload, f->len, &m) < 0 || f->nfds > 0) {
		ak_frame_release(f);
		return libak_malformed(cl, err);
	}
	cl->code = m.code;
	cl->code_err = (int)m.err;
	(void)ak_err_set(err, m.err ? (int)m.err : EREMOTEIO, "%s", m.text);
	ak_err_hint(err, "%s", m.hint);
	return -EREMOTEIO;
}

int libak_stray(struct ak_client *cl, struct ak_frame *f, struct ak_err *err)
{
	ak_frame_release(f);
	if (cl->late == 0)
		return libak_malformed(cl, err);
	cl->late--;
	return 0;
}

static uint64_t mono_ms(void)
{
	return ak_now_ns() / 1000000;
}

/* The answer to @seq; events and late answers to other requests may come before it */
static int wait_answer(struct ak_client *cl, uint32_t seq, int timeout_ms, struct ak_frame *f, struct ak_err *err)
{
	uint64_t end = mono_ms() + (uint64_t)timeout_ms;

	for (;;) {
		uint64_t now = mono_ms();
		int r = now < end ? libak_read(cl, f, (int)(end - now), err) : 0;

		if (r == 0 && now >= end) {
			cl->late++;
			return ak_err_set(err, ETIMEDOUT, "the executor does not answer");
		}
		if (r == 1 && f->seq == seq)
			return 0;
		if (r == 1)
			r = libak_stray(cl, f, err);
		if (r < 0)
			return r;
	}
}

static int time_for(uint16_t op)
{
	bool long_one = op == AK_OP_CREATE || op == AK_OP_DESTROY || op == AK_OP_SHUTDOWN || op == AK_OP_FILE;

	if (op == AK_OP_CHANGES || op == AK_OP_FINISH || op == AK_OP_CHECKPOINT || op == AK_OP_ROLLBACK)
		return LIBAK_CHANGES_MS;
	return long_one ? LIBAK_BUILD_MS : LIBAK_ANSWER_MS;
}

int libak_call(struct ak_client *cl, uint16_t op, long len, const int *fds, size_t nfds, uint16_t want, struct ak_frame *f,
	       struct ak_err *err)
{
	uint32_t seq = 0;
	int r = libak_send(cl, op, len, fds, nfds, &seq, err);

	cl->code = 0;
	if (r == 0)
		r = wait_answer(cl, seq, time_for(op), f, err);
	if (r < 0)
		return r;
	if (f->op == AK_OP_REFUSED)
		return refused(cl, f, err);
	if (f->op != want) {
		ak_frame_release(f);
		return libak_malformed(cl, err);
	}
	return 0;
}

enum ak_code ak_refusal(const struct ak_client *cl, int *ret_err)
{
	if (ret_err)
		*ret_err = cl->code_err;
	return cl->code;
}

int ak_poll_fd(const struct ak_client *cl)
{
	return cl->fd;
}

bool ak_pending(const struct ak_client *cl)
{
	return cl->nevents > 0;
}

/* ---- connections ---- */

static int say_hello(struct ak_client *cl, const char *who, struct ak_err *err)
{
	struct ak_hello m = { .version = AK_PROTO_VERSION, .client = who ? who : "libak" };
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, AK_OP_HELLO, ak_hello_encode(&m, cl->out, sizeof(cl->out)), NULL, 0, AK_OP_HELLO_REPLY, &f, err);

	/* what cannot be read is most likely of another version, too */
	if (r == -EBADMSG || (r == -EREMOTEIO && cl->code == AK_CODE_VERSION))
		return ak_err_set(err, EPROTO, "the executor speaks another version of the protocol");
	if (r < 0)
		return r;
	cl->hello_buf = malloc(f.len ? f.len : 1);
	if (!cl->hello_buf) {
		ak_frame_release(&f);
		return ak_err_set(err, ENOMEM, "not enough memory for a client");
	}
	memcpy(cl->hello_buf, f.payload, f.len);
	r = f.nfds ? -EBADMSG : ak_hello_reply_decode(cl->hello_buf, f.len, &cl->hello);
	ak_frame_release(&f);
	if (r == 0 && cl->hello.version == AK_PROTO_VERSION)
		return 0;
	(void)libak_malformed(cl, err);
	return ak_err_set(err, EPROTO, "the executor speaks another version of the protocol");
}

const struct ak_hello_reply *ak_hello_facts(const struct ak_client *cl)
{
	return &cl->hello;
}

int ak_connect_fd(int fd, const char *who, struct ak_client **ret, struct ak_err *err)
{
	struct timeval tv = { .tv_sec = LIBAK_ANSWER_MS / 1000 };
	struct ak_client *cl = NULL;
	int r = ak_chan_check(fd, err);

	if (r == 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0)
		r = ak_err_sys(err, errno, "set up the connection");
	if (r == 0) {
		cl = calloc(1, sizeof(*cl));
		r = cl ? 0 : ak_err_set(err, ENOMEM, "not enough memory for a client");
	}
	if (!cl) {
		ak_fd_close(&fd);
		return r;
	}
	cl->fd = fd;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);	/* an agent may have inherited it across its exec */
	r = say_hello(cl, who, err);
	if (r < 0) {
		ak_close(cl);
		return r;
	}
	*ret = cl;
	return 0;
}

int ak_connect(const char *path, const char *who, struct ak_client **ret, struct ak_err *err)
{
	int fd = ak_chan_connect(path, err);

	return fd < 0 ? fd : ak_connect_fd(fd, who, ret, err);
}

static int spawn_executor(const char *const argv[], int sock, pid_t *ret, struct ak_err *err)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none;
	int r = posix_spawn_file_actions_init(&fa);

	if (r == 0)
		r = posix_spawnattr_init(&at);
	if (r)
		return ak_err_sys(err, r, "prepare to start %s", argv[0]);
	sigemptyset(&none);
	r = posix_spawn_file_actions_adddup2(&fa, sock, STDIN_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(&fa, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (r == 0)
		r = posix_spawnattr_setsigmask(&at, &none);
	/* a group of its own: the terminal's Ctrl-C is the client's to handle */
	if (r == 0)
		r = posix_spawnattr_setpgroup(&at, 0);
	if (r == 0)
		r = posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	if (r == 0)
		r = posix_spawnp(ret, argv[0], &fa, &at, (char *const *)(uintptr_t)argv, environ);
	(void)posix_spawn_file_actions_destroy(&fa);
	(void)posix_spawnattr_destroy(&at);
	return r ? ak_err_sys(err, r, "start %s", argv[0]) : 0;
}

int ak_spawn(const char *const argv[], const char *who, struct ak_client **ret, struct ak_err *err)
{
	int sock[2], r = ak_chan_pair(sock, err);
	pid_t pid = 0;

	if (r < 0)
		return r;
	r = spawn_executor(argv, sock[1], &pid, err);
	ak_fd_close(&sock[1]);
	if (r < 0) {
		ak_fd_close(&sock[0]);
		return r;
	}
	r = ak_connect_fd(sock[0], who, ret, err);
	if (r == 0)
		(*ret)->child = pid;
	else
		(void)waitpid(pid, NULL, 0);	/* its client is gone, so it ends; its stderr says why it did not serve */
	return r;
}

void ak_close(struct ak_client *cl)
{
	if (!cl)
		return;
	ak_fd_close(&cl->fd);
	if (cl->child > 0)
		while (waitpid(cl->child, NULL, 0) < 0 && errno == EINTR)
			;
	for (size_t i = 0; i < cl->nevents; i++)
		ak_event_release(&cl->events[i]);
	free(cl->events);
	free(cl->hello_buf);
	free(cl);
}
