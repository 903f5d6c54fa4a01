/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request EXEC. Process: executor. Privilege: none.
 *
 * Safe to serve because nothing in it reaches the host: argv, environment and cwd are strings for the sandbox's init, limits are
 * lower than the sandbox's (policy_command()), and descriptors are one end of an anonymous pipe or /dev/null (stream_passable()), or a memory file that nobody can change any more: a
 * program, which runs as any file of the sandbox would.
 * What the strings mean is checked inside; here only that they can be passed on.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "executor/stream.h"

#define NS_PER_MS 1000000ull
#define BODY_USUAL_BYTES (16u << 10)

/* one EXEC on its way to init */
struct exec_job {
	struct request *q;
	struct ak_exec m;
	struct ak_exec_body body;
	void *map;		/* of the body's memfd; NULL */
	struct init_exec e;
	const char **strv;	/* owned: arrays of @e */
	struct policy_limits limits;
	struct cmd *c;		/* owned until it is in the table */
	int fds[AK_INIT_REQ_FDS_MAX];	/* for init; owned */
	size_t nfds;
	uint32_t flags;		/* enum init_exec_flags */
	struct ak_err err;
	enum ak_code code;	/* of the refusal that @err tells */
};

static int refuse(struct exec_job *x, enum ak_code code)
{
	x->code = code;
	return -1;
}

/* ---- decode ---- */

/* Return: 0, -EBADMSG, -1 refused */
static int read_body(struct exec_job *x)
{
	struct ak_frame *f = x->q->f;
	long size;
	int r;

	if (!(x->m.flags & AK_EXEC_BODY_FD)) {
		x->body = x->m.body;
		return 0;
	}
	size = ak_memfd_check(f->fds[0], AK_EXEC_BODY_MAX);
	if (size < 0 || (uint64_t)size < x->m.body_len) {
		(void)ak_err_set(&x->err, EINVAL, "the body of EXEC is no sealed memory file of the size it says");
		return refuse(x, AK_CODE_STREAM);
	}
	x->map = mmap(NULL, x->m.body_len, PROT_READ, MAP_PRIVATE, f->fds[0], 0);
	if (x->map == MAP_FAILED) {
		x->map = NULL;
		(void)ak_err_sys(&x->err, errno, "map the body of EXEC");
		return refuse(x, AK_CODE_INTERNAL);
	}
	r = ak_exec_body_decode(x->map, x->m.body_len, &x->body);
	ak_fd_close(&f->fds[0]);
	return r;
}

static int decode(struct exec_job *x)
{
	int r = ak_exec_decode(x->q->f->payload, x->q->f->len, &x->m);

	if (r < 0)
		return r;
	if (x->q->f->nfds != ak_exec_nfds(&x->m))
		return -EBADMSG;
	return read_body(x);
}

/* ---- meaning ---- */

static bool is_text(const struct ak_exec *m)
{
	return m->kind == AK_EXEC_SHELL || m->kind == AK_EXEC_SESSION;
}

static int check_kind(struct exec_job *x, const struct policy *pol)
{
	const struct ak_exec *m = &x->m;

	if (is_text(m) && x->body.argv.count != 1) {
		(void)ak_err_set(&x->err, EINVAL, "a shell text is one string, not %u", x->body.argv.count);
		return refuse(x, AK_CODE_BAD_VALUE);
	}
	if (x->body.cwd[0] && x->body.cwd[0] != '/') {
		(void)ak_err_set(&x->err, EINVAL, "cwd \"%.200s\" is not absolute", x->body.cwd);
		return refuse(x, AK_CODE_BAD_VALUE);
	}
	if (!(m->flags & AK_EXEC_JOB))
		return 0;
	if (!pol->jobs) {
		(void)ak_err_set(&x->err, EPERM, "the policy of this sandbox has no jobs");
		return refuse(x, AK_CODE_NOT_ALLOWED);
	}
	if (m->kind == AK_EXEC_PROGRAM) {
		(void)ak_err_set(&x->err, EINVAL, "a job is no program that comes with its request");
		return refuse(x, AK_CODE_BAD_VALUE);
	}
	if (m->stream[0] || m->stream[1] || m->stream[2] || m->nextra || (m->flags & AK_EXEC_NO_STARTED)) {
		(void)ak_err_set(&x->err, EINVAL, "a job has no streams of its client's: its output is kept for its log");
		return refuse(x, AK_CODE_BAD_VALUE);
	}
	return 0;
}

static uint32_t count_jobs(const struct server *s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < s->ncmds; i++)
		n += s->cmds[i] && s->cmds[i]->job;
	return n;
}

/* the oldest job that ended makes room */
static bool make_job_room(struct server *s)
{
	struct cmd *oldest = NULL;

	if (count_jobs(s) < AK_JOBS_MAX)
		return true;
	for (size_t i = 0; i < s->ncmds; i++) {
		struct cmd *c = s->cmds[i];

		if (c && c->job && c->state == CMD_ENDED && (!oldest || c->ended_ms < oldest->ended_ms))
			oldest = c;
	}
	if (oldest)
		cmd_release(s, oldest);
	return oldest != NULL;
}

static int check_room(struct exec_job *x)
{
	struct server *s = x->q->s;

	if (s->running >= AK_COMMANDS_MAX) {
		(void)ak_err_set(&x->err, EAGAIN, "%u commands run already", AK_COMMANDS_MAX);
		return refuse(x, AK_CODE_TOO_MANY);
	}
	if ((x->m.flags & AK_EXEC_JOB) && !make_job_room(s)) {
		(void)ak_err_set(&x->err, EAGAIN, "%u jobs run already", AK_JOBS_MAX);
		return refuse(x, AK_CODE_TOO_MANY);
	}
	return 0;
}

/* ---- what init is told ---- */

static int collect_env(struct exec_job *x)
{
	struct ak_strs_pos pos = { 0 };
	uint32_t n = x->body.env.count;
	const char *row;

	x->e.envp = x->strv + x->body.argv.count + 1;
	x->e.unset = x->e.envp + n + 1;
	while ((row = ak_strs_next(&x->body.env, &pos))) {
		if (!row[0] || row[0] == '=') {
			(void)ak_err_set(&x->err, EINVAL, "a row of the environment has no name");
			return refuse(x, AK_CODE_BAD_VALUE);
		}
		if (strchr(row, '='))
			x->e.envp[x->e.envc++] = row;
		else
			x->e.unset[x->e.unsetc++] = row;
	}
	return 0;
}

static int collect(struct exec_job *x)
{
	struct ak_strs_pos pos = { 0 };
	const char *arg;

	x->strv = calloc((size_t)x->body.argv.count + 2 * (size_t)x->body.env.count + 3, sizeof(*x->strv));
	if (!x->strv) {
		(void)ak_err_set(&x->err, ENOMEM, "not enough memory for a command");
		return refuse(x, AK_CODE_INTERNAL);
	}
	x->e.cwd = x->body.cwd;
	x->e.argv = x->strv;
	while ((arg = ak_strs_next(&x->body.argv, &pos)))
		x->e.argv[x->e.argc++] = arg;
	if (!is_text(&x->m) && !x->e.argv[0][0]) {
		(void)ak_err_set(&x->err, EINVAL, "the command's name is empty");
		return refuse(x, AK_CODE_BAD_VALUE);
	}
	for (uint32_t i = 0; i < x->limits.nrlimits; i++)
		x->e.rlimits[x->e.nrlimits++] = (struct init_rlimit){ x->limits.rlimit[i].resource, x->limits.rlimit[i].value,
								      x->limits.rlimit[i].value };
	for (uint32_t i = 0; i < x->m.nextra; i++)
		x->e.extra[x->e.nextra++] = (int32_t)x->m.extra[i];
	return collect_env(x);
}

static void set_flags(struct exec_job *x)
{
	static const uint32_t stream[3] = { INIT_EXEC_STDIN, INIT_EXEC_STDOUT, INIT_EXEC_STDERR };
	const struct ak_exec *m = &x->m;
	bool job = m->flags & AK_EXEC_JOB, merge = job || (m->flags & AK_EXEC_MERGE);

	for (int i = 0; i < 3; i++)
		if (m->stream[i] == AK_STREAM_FD || m->stream[i] == AK_STREAM_CAPTURE)
			x->flags |= stream[i];
	if (job)
		x->flags |= INIT_EXEC_STDOUT;
	if (merge && (x->flags & INIT_EXEC_STDOUT))
		x->flags |= INIT_EXEC_STDERR;
	if (m->stream[0] == AK_STREAM_PTY)
		x->flags |= INIT_EXEC_TTY;
	if (is_text(m))
		x->flags |= INIT_EXEC_SHELL;
	if (m->kind == AK_EXEC_PROGRAM)
		x->flags |= INIT_EXEC_PROGRAM;
	if (m->kind == AK_EXEC_SESSION)
		x->flags |= INIT_EXEC_SESSION;
	if (m->flags & AK_EXEC_RESET)
		x->flags |= INIT_EXEC_RESET;
	if (!(m->flags & AK_EXEC_NO_STARTED) || x->limits.cpu_time_ms != POLICY_NONE)
		x->flags |= INIT_EXEC_STARTED;
}

/* ---- streams ---- */

static int refuse_stream(struct exec_job *x, const char *what)
{
	(void)ak_err_set(&x->err, EINVAL, "%s is neither one end of a pipe in the right direction nor /dev/null", what);
	ak_err_hint(&x->err, "anything else could be reopened inside with more rights: move its bytes through a pipe");
	return refuse(x, AK_CODE_STREAM);
}

static int next_fd(struct exec_job *x, size_t *at, bool output, const char *what)
{
	int *fd = &x->q->f->fds[(*at)++];

	if (!stream_passable(*fd, output))
		return refuse_stream(x, what);
	x->fds[x->nfds++] = ak_fd_take(fd);
	return 0;
}

/* in root mode the command has another id than we: it may open its own stream again by name, in its direction only */
static void let_reopen(const struct server *s, int fd)
{
	if (s->o->privs || s->o->held)
		(void)fchmod(fd, 0602);
}

static int own_pipe(struct exec_job *x, unsigned i, uint64_t max)
{
	int fd = -1;

	if (out_open(x->q->s, x->c, i, max, &fd, &x->err) < 0)
		return refuse(x, AK_CODE_INTERNAL);
	let_reopen(x->q->s, fd);
	x->fds[x->nfds++] = fd;
	return 0;
}

static int add_copy(struct exec_job *x)
{
	int fd = fcntl(x->fds[x->nfds - 1], F_DUPFD_CLOEXEC, 3);

	if (fd < 0) {
		(void)ak_err_sys(&x->err, errno, "copy a descriptor");
		return refuse(x, AK_CODE_INTERNAL);
	}
	x->fds[x->nfds++] = fd;
	return 0;
}

static int add_stream(struct exec_job *x, int i, size_t *at)
{
	static const char *const names[3] = { "stdin", "stdout", "stderr" };
	bool job = x->m.flags & AK_EXEC_JOB;

	if (x->m.stream[i] == AK_STREAM_FD)
		return next_fd(x, at, i > 0, names[i]);
	if (x->m.stream[i] == AK_STREAM_CAPTURE)
		return own_pipe(x, (unsigned)i - 1, x->limits.max_output);
	if (job && i == 1)
		return own_pipe(x, 0, AK_JOB_LOG_MAX);
	if (i == 2 && (x->flags & INIT_EXEC_STDERR))
		return add_copy(x);	/* merged: the same pipe twice */
	return 0;
}

/* sealed, so that neither its client nor the sandbox changes it afterwards. Its mode is the client's affair: it may well be read */
static int add_program(struct exec_job *x, size_t *at)
{
	int *fd = &x->q->f->fds[(*at)++];
	long size = ak_memfd_check(*fd, AK_PROGRAM_MAX);

	if (size == -EFBIG) {
		(void)ak_err_set(&x->err, EFBIG, "the program is larger than %u MiB", AK_PROGRAM_MAX >> 20);
		return refuse(x, AK_CODE_TOO_LARGE);
	}
	if (size < 0) {
		(void)ak_err_set(&x->err, EINVAL, "the program is no sealed memory file");
		return refuse(x, AK_CODE_STREAM);
	}
	x->fds[x->nfds++] = ak_fd_take(fd);
	return 0;
}

static int add_streams(struct exec_job *x)
{
	size_t at = (x->m.flags & AK_EXEC_BODY_FD) ? 1 : 0;
	int r = x->m.kind == AK_EXEC_PROGRAM ? add_program(x, &at) : 0;

	for (int i = 0; r == 0 && i < 3; i++)
		r = add_stream(x, i, &at);
	for (uint32_t i = 0; r == 0 && i < x->m.nextra; i++) {
		int *fd = &x->q->f->fds[at++];

		if (!stream_passable(*fd, false) && !stream_passable(*fd, true))
			return refuse_stream(x, "a further descriptor");
		x->fds[x->nfds++] = ak_fd_take(fd);
	}
	return r;
}

/* ---- the request to init ---- */

static int too_large(struct exec_job *x, long n)
{
	(void)ak_err_set(&x->err, E2BIG, "arguments and environment are too large");
	(void)n;
	return refuse(x, n == -ENOMEM ? AK_CODE_INTERNAL : AK_CODE_TOO_LARGE);
}

/* in the message, or as a memfd before the streams. *@ret_body is to be freed. */
static int make_body(struct exec_job *x, struct init_req *r, uint8_t **ret_body)
{
	static const size_t sizes[] = { BODY_USUAL_BYTES, AK_INIT_EXEC_MAX };
	uint8_t *buf = NULL;
	long n = -ENOBUFS;
	int fd;

	for (size_t i = 0; i < 2 && n == -ENOBUFS; i++) {
		free(buf);
		buf = malloc(sizes[i]);
		n = buf ? init_exec_encode(&x->e, buf, sizes[i]) : -ENOMEM;
	}
	*ret_body = buf;
	if (n == -EINVAL) {
		(void)ak_err_set(&x->err, EINVAL, "the command is not one that init takes");
		return refuse(x, AK_CODE_BAD_VALUE);
	}
	if (n < 0)
		return too_large(x, n);
	if ((size_t)n <= AK_INIT_EXEC_INLINE) {
		r->body = buf;
		r->body_len = (uint32_t)n;
		return 0;
	}
	fd = ak_memfd_sealed("ak-exec", buf, (size_t)n);
	if (fd < 0)
		return too_large(x, -ENOMEM);
	memmove(x->fds + 1, x->fds, x->nfds * sizeof(int));
	x->fds[0] = fd;
	x->nfds++;
	r->flags |= INIT_EXEC_MEMFD;
	return 0;
}

static void add_to_table(struct server *s, struct cmd *c)
{
	size_t i = 0;

	while (i < s->ncmds && s->cmds[i])
		i++;
	s->cmds[i] = c;	/* there is room: running ones and jobs are counted */
	if (i == s->ncmds)
		s->ncmds++;
}

/* its sandbox is not ready yet: the request is kept */
static int hold(struct exec_job *x, const struct init_req *r)
{
	struct ctl_msg *w = &x->c->wait;
	long n = init_req_encode(r, x->q->s->req, sizeof(x->q->s->req));

	w->buf = n > 0 ? malloc((size_t)n) : NULL;
	if (!w->buf) {
		(void)ak_err_set(&x->err, ENOMEM, "not enough memory for a command");
		return refuse(x, AK_CODE_INTERNAL);
	}
	memcpy(w->buf, x->q->s->req, (size_t)n);
	w->len = (size_t)n;
	memcpy(w->fds, x->fds, x->nfds * sizeof(int));
	w->nfds = x->nfds;
	x->nfds = 0;
	return 0;
}

static int ask(struct exec_job *x, struct box *b, const struct init_req *r)
{
	size_t n = x->nfds;
	int e;

	if (b->state == BOX_STARTING)
		return hold(x, r);
	x->nfds = 0;	/* taken */
	x->c->state = CMD_SENT;
	e = ctl_send(x->q->s, b, r, x->fds, n);
	if (e < 0) {
		(void)ak_err_set(&x->err, -e, "the sandbox takes no command now");
		return refuse(x, AK_CODE_TOO_MANY);
	}
	return 0;
}

static void set_deadlines(struct cmd *c, struct box *b)
{
	uint64_t t = c->limits.timeout_ms;

	if (t != POLICY_NONE && t < (INT64_MAX - c->arrived_ns) / NS_PER_MS)
		c->timeout_ns = c->arrived_ns + t * NS_PER_MS;
	if (b->watch.mem_limit_bytes && !b->watch_ns)
		b->watch_ns = c->arrived_ns + WATCH_FIRST_MS * NS_PER_MS;
}

static void set_title(struct cmd *c, const struct ak_strs *argv)
{
	struct ak_strs_pos pos = { 0 };
	const char *arg;
	size_t n = 0;

	while ((arg = ak_strs_next(argv, &pos)) && n + 2 < sizeof(c->title)) {
		size_t len = strnlen(arg, sizeof(c->title) - 2 - n);

		if (n)
			c->title[n++] = ' ';
		memcpy(c->title + n, arg, len);
		n += len;
	}
	while (n > 0 && ((unsigned char)c->title[n - 1] & 0xc0) == 0x80 && arg)
		n--;	/* cut inside a character: not shown in part */
	c->title[n] = '\0';
	ak_text_clean(c->title);
}

static int start(struct exec_job *x, struct box *b)
{
	bool tty = x->flags & INIT_EXEC_TTY;
	struct init_req r = { .type = INIT_REQ_EXEC, .id = x->c->id, .flags = x->flags, .nextra = x->m.nextra, .session = x->m.session,
			      .rows = (uint16_t)(tty ? (x->m.rows ? x->m.rows : 24) : 0),
			      .cols = (uint16_t)(tty ? (x->m.cols ? x->m.cols : 80) : 0) };
	struct server *s = x->q->s;
	struct cmd *c = x->c;
	uint8_t *body = NULL;
	int e;

	c->box = b;
	c->box_id = b->id;
	e = make_body(x, &r, &body);
	if (e == 0)
		e = ask(x, b, &r);
	free(body);
	if (e < 0)
		return e;
	set_deadlines(c, b);
	add_to_table(s, c);
	x->c = NULL;
	b->running++;
	s->running++;
	b->used_ms = now_ms();
	leaves_top_up(s, b);
	return 0;
}

static int make_cmd(struct exec_job *x)
{
	struct request *q = x->q;
	struct cmd *c = calloc(1, sizeof(*c));

	if (!c) {
		(void)ak_err_set(&x->err, ENOMEM, "not enough memory for a command");
		return refuse(x, AK_CODE_INTERNAL);
	}
	c->pty = c->pty_out = c->out[0].ev.fd = c->out[1].ev.fd = -1;
	c->id = server_id(q->s);
	c->c = q->c;
	c->seq = q->f->seq;
	c->flags = x->m.flags;
	c->told = x->m.flags & AK_EXEC_NO_STARTED;
	c->tty = x->m.stream[0] == AK_STREAM_PTY;
	c->job = x->m.flags & AK_EXEC_JOB;
	c->limits = x->limits;
	c->arrived_ns = ak_now_ns();
	c->started_ms = c->job ? wall_ms() : 0;
	if (c->job)
		set_title(c, &x->body.argv);
	x->c = c;
	return 0;
}

static int prepare(struct exec_job *x, const struct policy *pol)
{
	int r = check_kind(x, pol);

	if (r == 0)
		r = check_room(x);
	if (r == 0 && policy_command(pol, &x->m, &x->limits, &x->err) < 0)
		r = refuse(x, x->err.code == EPERM ? AK_CODE_NOT_ALLOWED : AK_CODE_BAD_VALUE);
	if (r == 0)
		r = collect(x);
	if (r == 0)
		r = make_cmd(x);
	if (r == 0) {
		set_flags(x);
		r = add_streams(x);
	}
	return r;
}

static int run_fresh(struct exec_job *x)
{
	struct server *s = x->q->s;
	struct box *b;
	int r;

	if (s->pol.plan.write == WRITE_COW) {
		(void)ak_err_set(&x->err, EPERM, "a fresh sandbox would need a copy of the workspace of its own (--write cow): there is one");
		ak_err_hint(&x->err, "run it in the sandbox, or with `ak exec --write cow`");
		return refuse(x, AK_CODE_NOT_ALLOWED);
	}
	r = prepare(x, &s->pol);
	if (r < 0)
		return r;
	b = box_fresh(s, x->c->job ? NULL : x->q->c, &x->err);
	if (!b)
		return refuse(x, box_code(&x->err));
	r = start(x, b);
	if (r < 0)
		box_end(s, b, ECANCELED, "its command was refused");
	return r;
}

static int run_in(struct exec_job *x, struct box *b)
{
	int r;

	if (b->running >= AK_INIT_COMMANDS_MAX) {
		(void)ak_err_set(&x->err, EAGAIN, "%u commands run in the sandbox already", AK_INIT_COMMANDS_MAX);
		return refuse(x, AK_CODE_TOO_MANY);
	}
	r = prepare(x, &b->pol);
	return r < 0 ? r : start(x, b);
}

static void release(struct exec_job *x)
{
	for (size_t i = 0; i < x->nfds; i++)
		ak_fd_close(&x->fds[i]);
	if (x->c)
		cmd_release(x->q->s, x->c);
	if (x->map)
		(void)munmap(x->map, x->m.body_len);
	free(x->strv);
}

int op_exec(struct request *q)
{
	struct exec_job x = { .q = q };
	int r = decode(&x);
	struct box *b;

	q->s->busy_ns = ak_now_ns();
	if (r == 0) {
		if (x.m.flags & AK_EXEC_FRESH) {
			r = run_fresh(&x);
		} else {
			b = box_of(q, x.m.sandbox);
			r = b ? run_in(&x, b) : 0;
		}
	}
	if (r == -1)
		conn_refuse(q->s, q->c, q->f->seq, x.code, &x.err);
	release(&x);
	return r == -EBADMSG ? r : 0;
}
