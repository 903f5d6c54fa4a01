/* SPDX-License-Identifier: Apache-2.0 */
/* Drives ak-init in serve mode; test programs, the caller's privilege. */
#include "tests/serve/drv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/args.h"
#include "executor/hostinfo.h"
#include "executor/ns/init_image.h"
#include "executor/ns/landlock.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/privs.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_weaken.h"
#include "executor/stream.h"

extern char **environ;

static _Noreturn void die(const char *what, const struct ak_err *err)
{
	(void)fprintf(stderr, "drv: %s: %s\n", what, err && err->msg[0] ? err->msg : strerror(errno));
	exit(3);
}

/* ---- start and stop ---- */

struct own {
	struct exec_opts o;
	struct hostinfo h;
	struct plan p;
	struct privs privs;
};

/* without cgroups: limits are those of resource limits */
static void start(struct drv *d, struct own *w, struct ak_err *err)
{
	const struct plan_groups none = { .why = "a test", .advice = "" };
	const bool root = w->p.identity == PLAN_ID_RANGE;
	const int abi = AK_WEAK(ak_weaken_mask(), AK_WEAK_LANDLOCK) ? 0 : landlock_abi();
	struct sandbox_birth birth = SANDBOX_BIRTH_NONE;
	struct streams st = { 0 };

	for (int i = 0; i < 3; i++)
		st.s[i] = (struct stream){ .outer = -1, .child = -1, .inner = -1 };
	if (plan_enforce(&w->p, &w->o, &none, err) < 0)
		die("limits", err);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs", NULL);
	if (root && (privs_reserve(&w->privs, err) < 0 || privs_prepare_mounts(&w->privs, &w->p, err) < 0))
		die("root mode", err);
	if (sandbox_prepare(&w->p, &st, root, abi, -1, &birth, err) < 0 || (root && privs_enter(&w->privs, NULL, err) < 0))
		die("prepare", err);
	if (sandbox_start(&birth, root ? &w->privs : NULL, NULL, &d->sb, err) < 0)
		die("start", err);
	sandbox_birth_release(&birth);
}

void drv_start_with(struct drv *d, int argc, char *const argv[], bool late_filters, bool leaves)
{
	struct own *w = calloc(1, sizeof(*w));
	struct ak_err err = { 0 };
	char *args[64];
	int n = 0;

	memset(d, 0, sizeof(*d));
	d->next = 1;
	for (int i = 0; i < argc && n < 60; i++)
		args[n++] = argv[i];
	args[n++] = (char[]){ "--" };
	args[n++] = (char[]){ "true" };
	args[n] = NULL;
	if (!w || args_parse_exec(n, args, &w->o, &err) != 0)
		die("options", &err);
	w->privs.lock = -1;
	if (hostinfo_get(environ, &w->h, &err) < 0 || plan_build(&w->o, &w->h, &w->p, &err) < 0)
		die("plan", &err);
	w->p.serve = true;
	w->p.late_filters = late_filters;
	w->p.leaves = leaves;
	(void)signal(SIGPIPE, SIG_IGN);
	start(d, w, &err);
	for (uint64_t until = ak_now_ns() + 30000000000u; !leaves && !d->ready && drv_pump(d, 100) && ak_now_ns() < until;)
		;
	if (!leaves && !d->ready) {
		(void)fprintf(stderr, "drv: not ready: %s\n", d->failed_text);
		exit(3);
	}
	plan_release(&w->p);
	hostinfo_release(&w->h);
	exec_opts_release(&w->o);
	/* w->privs holds the lock of the slot as long as this program lives */
}

void drv_start(struct drv *d, int argc, char *const argv[])
{
	drv_start_with(d, argc, argv, false, false);
}

int drv_stop(struct drv *d)
{
	const uint64_t from = ak_now_ns();
	struct pollfd p = { .fd = d->sb.pidfd, .events = POLLIN };
	int r;

	for (size_t i = 0; i < DRV_CALLS; i++)
		drv_free(&d->calls[i]);
	(void)close(d->sb.ctl);
	r = poll(&p, 1, 20000);
	if (r <= 0)
		(void)kill(d->sb.pid, SIGKILL);
	(void)waitpid(d->sb.pid, NULL, __WALL);
	(void)close(d->sb.pidfd);
	return r <= 0 ? -1 : (int)((ak_now_ns() - from) / 1000000);
}

/* ---- messages ---- */

int drv_send(struct drv *d, const struct init_req *q, const int *fds, size_t nfds)
{
	union {
		char buf[CMSG_SPACE(sizeof(int) * (AK_INIT_REQ_FDS_MAX + 4))];
		struct cmsghdr align;
	} control = { 0 };
	static uint8_t buf[AK_INIT_REQ_MAX];
	long n = init_req_encode(q, buf, sizeof(buf));
	struct iovec iov = { .iov_base = buf, .iov_len = n < 0 ? 0 : (size_t)n };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n < 0)
		return (int)n;
	if (nfds > 0) {
		h.msg_control = control.buf;
		h.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
		CMSG_FIRSTHDR(&h)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&h)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&h)->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&h)), fds, sizeof(int) * nfds);
	}
	return sendmsg(d->sb.ctl, &h, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static struct call *by_id(struct drv *d, uint32_t id)
{
	for (size_t i = 0; i < DRV_CALLS; i++) {
		if (d->calls[i].id == id && id)
			return &d->calls[i];
	}
	return NULL;
}

static void copy(char *to, size_t cap, const char *from)
{
	(void)snprintf(to, cap, "%s", from ? from : "");
}

static void take_reply(struct drv *d, const struct init_rep *m, int fd)
{
	struct call *c = by_id(d, m->id);

	if (m->type == INIT_REP_READY) {
		d->ready = true;
	} else if (m->type == INIT_REP_STATS) {
		d->stats = *m;
		d->have_stats = true;
	} else if (m->type == INIT_REP_FILE) {
		d->file = *m;
		copy(d->file_text, sizeof(d->file_text), m->text);
		copy(d->file_hint, sizeof(d->file_hint), m->hint);
		d->have_file = true;
	} else if ((!c || c->done) && m->type == INIT_REP_EXITED && (m->flags & INIT_EXITED_LOST)) {
		return;	/* of a keeper that was killed after it had told of the end: the executor overlooks it as well */
	} else if (!c || c->done) {
		(void)fprintf(stderr, "not expected: message %u about %u (%s), flags %x, status %x; it had ended with %u, flags %x, status %x\n",
			      (unsigned)m->type, m->id, c ? "ended" : "unknown", m->flags, m->wstatus, c ? (unsigned)c->end.type : 0,
			      c ? c->end.flags : 0, c ? c->end.wstatus : 0);
		d->bad++;
	} else if (m->type == INIT_REP_STARTED) {
		c->pid = m->pid;
	} else if (m->type == INIT_REP_PTY) {
		c->pty = fd;
		return;
	} else {
		if ((c->wants_pid && !c->pid && m->type == INIT_REP_EXITED) || (c->wants_pty && c->pty < 0 && m->type == INIT_REP_EXITED)) {
			(void)fprintf(stderr, "not expected: the end of %u before its start\n", m->id);
			d->bad++;
		}
		c->end = *m;
		copy(c->text, sizeof(c->text), m->text);
		copy(c->hint, sizeof(c->hint), m->hint);
		c->done = true;
	}
	if (fd >= 0)
		(void)close(fd);
}

/* Return: false at the end of file */
static bool take_message(struct drv *d)
{
	union {
		char buf[CMSG_SPACE(sizeof(int) * 4)];
		struct cmsghdr align;
	} control;
	static uint8_t buf[AK_INIT_REP_MAX + 1];
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf, .msg_controllen = sizeof(control.buf) };
	ssize_t n = recvmsg(d->sb.ctl, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct init_rep m;
	int fd = -1;

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	if (CMSG_FIRSTHDR(&h))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof(fd));
	if (init_msg_type(buf, (size_t)n) == INIT_MSG_FAILED && init_msg_decode(buf, (size_t)n, &d->failed) == 0)
		copy(d->failed_text, sizeof(d->failed_text), d->failed.text);
	else if (init_rep_decode(buf, (size_t)n, &m) == 0)
		take_reply(d, &m, fd);
	else
		d->bad++;
	return true;
}

static void take_output(struct call *c, int i)
{
	char buf[65536];
	ssize_t n = read(c->fd[i], buf, sizeof(buf));

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		(void)close(c->fd[i]);
		c->fd[i] = -1;
		return;
	}
	if (c->len[i] + (size_t)n >= DRV_OUT_MAX)
		n = (ssize_t)(DRV_OUT_MAX - 1 - c->len[i]);
	memcpy(c->data[i] + c->len[i], buf, (size_t)n);
	c->len[i] += (size_t)n;
	c->data[i][c->len[i]] = 0;
}

bool drv_pump(struct drv *d, int ms)
{
	struct pollfd p[1 + 2 * DRV_CALLS] = { { .fd = d->sb.ctl, .events = POLLIN } };
	struct call *of[1 + 2 * DRV_CALLS];
	int which[1 + 2 * DRV_CALLS];
	nfds_t n = 1;

	for (size_t i = 0; i < DRV_CALLS; i++) {
		for (int k = 0; k < 2 && d->calls[i].id; k++) {
			if (d->calls[i].fd[k] < 0)
				continue;
			of[n] = &d->calls[i];
			which[n] = k;
			p[n++] = (struct pollfd){ .fd = d->calls[i].fd[k], .events = POLLIN };
		}
	}
	if (poll(p, n, ms) <= 0)
		return !d->dead;
	for (nfds_t i = 1; i < n; i++) {
		if (p[i].revents)
			take_output(of[i], which[i]);
	}
	if (p[0].revents && !take_message(d))
		d->dead = true;
	return !d->dead;
}

/* ---- commands ---- */

static int body_file(const void *body, size_t len)
{
	struct ak_err err = { 0 };

	return sealed_memfd("ak-exec", body, len, false, &err);
}

static struct call *new_call(struct drv *d)
{
	for (size_t i = 0; i < DRV_CALLS; i++) {
		struct call *c = &d->calls[i];

		if (c->id)
			continue;
		*c = (struct call){ .id = d->next++, .pty = -1, .fd = { -1, -1 } };
		for (int k = 0; k < 2; k++) {
			c->data[k] = malloc(DRV_OUT_MAX);
			if (!c->data[k])
				die("memory", NULL);
			c->data[k][0] = 0;
		}
		return c;
	}
	return NULL;
}

void drv_free(struct call *c)
{
	if (!c || !c->id)
		return;
	for (int k = 0; k < 2; k++) {
		if (c->fd[k] >= 0)
			(void)close(c->fd[k]);
		free(c->data[k]);
	}
	if (c->pty >= 0)
		(void)close(c->pty);
	c->id = 0;
}

static uint32_t count_of(const char *const *v)
{
	uint32_t n = 0;

	while (v && v[n])
		n++;
	return n;
}

static long encode_body(const struct spec *s, uint8_t **ret)
{
	static const char *const none[] = { NULL };
	struct init_exec e = { .cwd = s->cwd ? s->cwd : "", .nextra = s->nextra, .nrlimits = s->nrlimits };
	long n;

	e.argv = (const char **)(uintptr_t)s->argv;
	e.argc = count_of(s->argv);
	e.envp = (const char **)(uintptr_t)(s->env ? s->env : none);
	e.envc = count_of(s->env);
	e.unset = (const char **)(uintptr_t)(s->unset ? s->unset : none);
	e.unsetc = count_of(s->unset);
	for (uint32_t i = 0; i < s->nextra; i++)
		e.extra[i] = s->extra_to[i];
	for (uint32_t i = 0; i < s->nrlimits; i++)
		e.rlimits[i] = s->rlimits[i];
	*ret = malloc(AK_INIT_EXEC_MAX);
	n = *ret ? init_exec_encode(&e, *ret, AK_INIT_EXEC_MAX) : -ENOMEM;
	if (n < 0)
		free(*ret);
	return n;
}

struct call *drv_exec(struct drv *d, const struct spec *s)
{
	struct call *c = new_call(d);
	int fds[AK_INIT_REQ_FDS_MAX], out[2][2] = { { -1, -1 }, { -1, -1 } }, file = -1, r;
	struct init_req q = { .type = INIT_REQ_EXEC, .id = c ? c->id : 0, .flags = s->flags, .nextra = s->nextra, .session = s->session };
	uint8_t *body = NULL;
	long n = encode_body(s, &body);
	size_t nfds = 0;

	if (!c || n < 0)
		die("request", NULL);
	if (s->memfd || n > (long)AK_INIT_EXEC_INLINE) {
		file = body_file(body, (size_t)n);
		q.flags |= INIT_EXEC_MEMFD;
		fds[nfds++] = file;
	} else {
		q.body = body;
		q.body_len = (uint32_t)n;
	}
	if (s->flags & INIT_EXEC_STDIN)
		fds[nfds++] = s->in;
	if (s->flags & INIT_EXEC_TTY) {
		q.rows = 24;
		q.cols = 80;
	} else if (!s->no_output) {
		for (int k = 0; k < 2; k++) {
			if (pipe2(out[k], O_CLOEXEC) < 0)
				die("pipe", NULL);
			(void)fcntl(out[k][0], F_SETFL, O_NONBLOCK);
			c->fd[k] = out[k][0];
			fds[nfds++] = out[k][1];
		}
		q.flags |= INIT_EXEC_STDOUT | INIT_EXEC_STDERR;
	}
	for (uint32_t i = 0; i < s->nextra; i++)
		fds[nfds++] = s->extra[i];
	c->wants_pid = q.flags & INIT_EXEC_STARTED;
	c->wants_pty = q.flags & INIT_EXEC_TTY;
	r = drv_send(d, &q, fds, nfds);
	for (int k = 0; k < 2; k++) {
		if (out[k][1] >= 0)
			(void)close(out[k][1]);
	}
	if (file >= 0)
		(void)close(file);
	free(body);
	if (r < 0) {
		drv_free(c);
		return NULL;
	}
	return c;
}

bool drv_wait(struct drv *d, struct call *c, int ms)
{
	const uint64_t until = ak_now_ns() + (uint64_t)ms * 1000000u;

	while (!c->done && ak_now_ns() < until && drv_pump(d, 50))
		;
	/* what was written is there; nobody waits for those who still hold the pipe */
	for (int i = 0; i < 64 && (c->fd[0] >= 0 || c->fd[1] >= 0); i++)
		(void)drv_pump(d, 1);
	return c->done;
}

struct call *drv_run(struct drv *d, const struct spec *s)
{
	struct call *c = drv_exec(d, s);

	if (c)
		(void)drv_wait(d, c, 60000);
	return c;
}

struct call *drv_sh(struct drv *d, const char *text)
{
	const char *argv[] = { "sh", "-c", text, NULL };

	return drv_run(d, &(struct spec){ .argv = argv });
}

struct call *drv_text(struct drv *d, const char *text, uint32_t flags)
{
	const char *argv[] = { text, NULL };

	return drv_run(d, &(struct spec){ .argv = argv, .flags = flags | INIT_EXEC_SHELL });
}

int drv_code(const struct call *c)
{
	if (!c || !c->done)
		return -1;
	if (c->end.type == INIT_REP_FAILED)
		return 1000 + (int)c->end.exit_code;
	return WIFSIGNALED(c->end.wstatus) ? 128 + WTERMSIG(c->end.wstatus) : WEXITSTATUS(c->end.wstatus);
}

/* ---- the rest ---- */

static bool until_flag(struct drv *d, const bool *flag)
{
	const uint64_t until = ak_now_ns() + 60000000000u;

	while (!*flag && ak_now_ns() < until && drv_pump(d, 50))
		;
	return *flag;
}

bool drv_stats(struct drv *d)
{
	const struct init_req q = { .type = INIT_REQ_STATS, .id = d->next++ };

	d->have_stats = false;
	return drv_send(d, &q, NULL, 0) == 0 && until_flag(d, &d->have_stats);
}

bool drv_settle(struct drv *d)
{
	const uint64_t until = ak_now_ns() + 20000000000u;

	while (ak_now_ns() < until && drv_stats(d)) {
		if (d->stats.running == 0 && d->stats.spares == AK_INIT_SPARES && d->stats.processes <= 1 + 3 * AK_INIT_SPARES)
			return true;
		(void)usleep(10000);
	}
	return false;
}

int drv_file(struct drv *d, struct init_req q, int fd)
{
	int r;

	q.type = INIT_REQ_FILE;
	q.id = d->next++;
	d->have_file = false;
	r = drv_send(d, &q, &fd, fd >= 0);
	if (r < 0)
		return -r + 10000;
	return until_flag(d, &d->have_file) ? (int)d->file.code : -1;
}
