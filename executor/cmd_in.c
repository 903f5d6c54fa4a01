/* SPDX-License-Identifier: Apache-2.0 */
/* `ak exec --in NAME`: the command line as a request, and the relay around it. Process: a client. Privilege: the caller's. */
#include "executor/cmd_in.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "executor/cow.h"
#include "executor/opts.h"
#include "executor/relay.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_path.h"
#include "executor/stream.h"

#define TERM_VARIABLES 2
#define RLIMITS_MAX 2

/* What a request borrows while it is sent */
struct ask {
	struct ak_request req;
	char **env;		/* owned rows */
	size_t nenv;
	char *cwd;		/* owned */
	char *script;		/* owned */
	const char *text[2];	/* argv of -c */
	struct ak_extra *extra;	/* owned */
	struct ak_rlimit rlimit[RLIMITS_MAX];
};

static int no_memory(struct ak_err *err)
{
	return ak_err_set(err, ENOMEM, "out of memory");
}

static void ask_release(struct ask *a)
{
	for (size_t i = 0; i < a->nenv; i++)
		free(a->env[i]);
	free(a->env);
	free(a->script);
	free(a->cwd);
	free(a->extra);
}

static int set(struct ask *a, const char *name, const char *value, struct ak_err *err)
{
	if (asprintf(&a->env[a->nenv], "%s=%s", name, value) < 0) {
		a->env[a->nenv] = NULL;
		return no_memory(err);
	}
	a->nenv++;
	return 0;
}

/* The sandbox has its own environment; on top of it what was named here, and with a terminal what this one is called */
static int fill_env(struct ask *a, const struct exec_opts *o, const struct hostinfo *h, struct ak_err *err)
{
	static const char *const terminal[TERM_VARIABLES] = { "TERM", "COLORTERM" };
	int r = 0;

	a->env = calloc(o->nenv + TERM_VARIABLES + 1, sizeof(*a->env));
	if (!a->env)
		return no_memory(err);
	for (size_t i = 0; i < TERM_VARIABLES && o->tty && r == 0; i++) {
		const char *value = hostinfo_env(h, terminal[i]);

		if (value && value[0])
			r = set(a, terminal[i], value, err);
	}
	for (size_t i = 0; i < o->nenv && r == 0; i++) {
		const char *value = o->env[i].value ? o->env[i].value : hostinfo_env(h, o->env[i].name);

		if (value)
			r = set(a, o->env[i].name, value, err);
	}
	a->req.env = (const char *const *)a->env;
	return r;
}

/* -w DIR is meant inside, from the workspace */
static int fill_cwd(struct ask *a, const struct exec_opts *o, const struct ak_facts *f, struct ak_err *err)
{
	if (!o->workdir)
		return 0;
	a->cwd = ak_path_normalize(f->workspace, o->workdir);
	if (!a->cwd && errno == ENOMEM)
		return no_memory(err);
	if (!a->cwd)
		return ak_err_set(err, EINVAL, "--workdir: \"%.80s\" is no path", o->workdir);
	a->req.cwd = a->cwd;
	return 0;
}

static void fill_limits(struct ask *a, const struct exec_opts *o)
{
	struct ak_request *q = &a->req;

	if (o->nofile)
		a->rlimit[q->nrlimits++] = (struct ak_rlimit){ RLIMIT_NOFILE, o->nofile };
	if (o->fsize_bytes)
		a->rlimit[q->nrlimits++] = (struct ak_rlimit){ RLIMIT_FSIZE, o->fsize_bytes };
	q->rlimits = a->rlimit;
	q->cpu_time_ms = o->cpu_time_ms;
	q->kill_after_ms = o->kill_after_ms;
	q->timeout_ms = o->timeout_ms;
	if (o->timeout_ms)
		q->flags |= AK_EXEC_TIMEOUT_SET;
}

static int fill_extra(struct ask *a, const struct exec_opts *o, struct ak_err *err)
{
	if (o->nfds == 0)
		return 0;
	if (o->nfds > AK_EXEC_EXTRA_MAX || o->fds[o->nfds - 1] > (int)AK_EXTRA_FD_MAX)
		return ak_err_set(err, EINVAL, "--fd: with --in at most %u descriptors, the highest %u", AK_EXEC_EXTRA_MAX,
				  AK_EXTRA_FD_MAX);
	a->extra = calloc(o->nfds, sizeof(*a->extra));
	if (!a->extra)
		return no_memory(err);
	for (size_t i = 0; i < o->nfds; i++)
		a->extra[i] = (struct ak_extra){ .fd = o->fds[i], .number = (unsigned)o->fds[i] };
	a->req.extra = a->extra;
	a->req.nextra = o->nfds;
	return 0;
}

/* The host's /dev/null cannot be opened again inside, as /dev/stdin; the sandbox has one of its own */
static bool is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static void fill_streams(struct ask *a, const struct streams *st)
{
	struct ak_request *q = &a->req;
	struct winsize w;

	for (int i = 0; i < 3; i++) {
		const struct stream *s = &st->s[i];

		q->stream[i] = s->mode == STREAM_PTY ? AK_STREAM_PTY : is_null(s->child) ? AK_STREAM_NULL : AK_STREAM_FD;
		q->fd[i] = s->child;
	}
	for (int i = 0; i < 3 && st->s[0].mode == STREAM_PTY; i++) {
		if (!st->s[i].outer_tty || ioctl(i, TIOCGWINSZ, &w) < 0 || w.ws_row == 0 || w.ws_col == 0)
			continue;
		q->rows = w.ws_row;
		q->cols = w.ws_col;
		return;
	}
}

/* A backslash at the very end of a text means nothing, as it does in a script file; bash takes it literally from elsewhere */
static int fill_script(struct ask *a, const struct exec_opts *o, struct ak_err *err)
{
	const char *text = o->argv[2];	/* the parser made it sh -c TEXT */
	size_t n = strlen(text);

	if (asprintf(&a->script, "%s%s", text, n > 0 && text[n - 1] == '\\' ? "\n" : "") < 0) {
		a->script = NULL;
		return no_memory(err);
	}
	a->text[0] = a->script;
	a->req.argv = a->text;
	return 0;
}

static int ask_fill(struct ask *a, const struct in_run *in, const struct exec_opts *o, struct ak_err *err)
{
	struct ak_request *q = &a->req;
	int r;

	*a = (struct ask){ 0 };
	q->kind = o->shell ? AK_EXEC_SESSION : AK_EXEC_ARGV;
	q->argv = (const char *const *)o->argv;
	r = o->shell ? fill_script(a, o, err) : 0;
	if (r < 0)
		return r;
	if (o->fresh)
		q->flags |= AK_EXEC_FRESH;
	if (o->detach)
		q->flags |= AK_EXEC_JOB;
	fill_limits(a, o);
	r = fill_env(a, o, &in->n.host, err);
	if (r == 0)
		r = fill_cwd(a, o, &ak_hello_facts(in->n.cl)->facts, err);
	if (r == 0)
		r = fill_extra(a, o, err);
	return r;
}

static struct limit_opt as_limit(const struct ak_limit *l)
{
	return (struct limit_opt){ .max = l->by == AK_BY_UNSET, .value = l->value };
}

int in_open(struct in_run *in, struct exec_opts *o, char *const env[], struct ak_err *err)
{
	const struct ak_facts *f;
	int r = named_open(&in->n, o->in, env, err);

	if (r < 0)
		return r;
	f = &ak_hello_facts(in->n.cl)->facts;
	o->memory_bytes = as_limit(&f->limit[AK_LIMIT_MEMORY]);
	o->pids = as_limit(&f->limit[AK_LIMIT_PIDS]);
	o->cpu_milli = as_limit(&f->limit[AK_LIMIT_CPUS]);
	return 0;
}

/* A root caller's pipes are root's: the sandbox's user must be able to open them again by name, as /dev/stdin */
static int give_streams(const struct in_run *in, struct streams *st, struct ak_err *err)
{
	struct runtime_facts f = { 0 };
	int r;

	if (in->n.host.uid != 0)
		return 0;
	r = runtime_read_facts(&in->n.rt, in->n.name, &f, err);
	if (r < 0)
		return r;
	if (f.uid != 0)
		r = streams_chown(st, f.uid, f.gid);
	runtime_facts_release(&f);
	return r < 0 ? ak_err_sys(err, -r, "give the standard streams to the sandbox's user") : 0;
}

int in_relay(struct in_run *in, const struct exec_opts *o, struct streams *st, int signal_fd, struct run_result *ret,
	     struct ak_err *err)
{
	struct relay_sandbox rs = { .pidfd = -1, .ctl = -1, .far = &in->far };
	struct ask a;
	int r = ask_fill(&a, in, o, err);

	if (r == 0)
		r = give_streams(in, st, err);
	if (r == 0) {
		fill_streams(&a, st);
		in->far.cl = in->n.cl;
		r = ak_exec_start(in->n.cl, &a.req, &in->far.tag, err);
	}
	ask_release(&a);
	streams_close_child_ends(st);
	return r < 0 ? r : relay_run(&rs, o, st, signal_fd, ret, err);
}

int in_detach(struct in_run *in, const struct exec_opts *o, uint32_t *ret_job, struct ak_err *err)
{
	struct ask a;
	int r = ask_fill(&a, in, o, err);

	if (r == 0)
		r = ak_exec_job(in->n.cl, &a.req, ret_job, err);
	ask_release(&a);
	return r;
}

static int add_changes(const struct ak_change_set *s, struct journal *j)
{
	struct ak_change m;
	size_t pos = 0;
	int r = 0;

	while (r == 0 && ak_change_next(s->data, s->len, &pos, &m) == 1) {
		struct change c = { .path = (char *)(uintptr_t)m.path, .op = m.op, .flags = (uint8_t)(m.flags & CHANGE_FLAGS),
				    .now = { .mode = m.mode, .size = m.size } };

		r = journal_add(j, &c, NULL);
	}
	return r;
}

void in_changes(struct in_run *in, struct cow *ret)
{
	struct ak_change_set s;

	if (ak_hello_facts(in->n.cl)->facts.write != AK_WRITE_COW)
		return;
	if (ak_changes(in->n.cl, 0, 0, &s, NULL) < 0)
		return;	/* the sandbox is being ended: the result says null */
	if (add_changes(&s, &ret->changes) == 0) {
		(void)snprintf(ret->cs.id, sizeof(ret->cs.id), "%s", s.id);
		ret->more = s.total - s.entries;
		ret->on = ret->known = ret->kept = ret->open = true;
	}
	ak_change_set_release(&s);
}

void in_release(struct in_run *in)
{
	relay_far_release(&in->far);
	named_release(&in->n);
}
