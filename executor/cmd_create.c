/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ak create NAME` from the command line to a detached executor that serves. Process: executor. Privilege: what the caller
 * has until prepare_serving(), then none on the host.
 *
 * The plan is made in the caller's process, so that what is wrong with the command line is said there. The rest happens in
 * a child with a session of its own, which keeps nothing of the caller's: its streams are /dev/null from the start, and how
 * the set-up went comes back through one pipe.
 */
#include "executor/cmd_create.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executor/args.h"
#include "executor/config.h"
#include "executor/cow_stay.h"
#include "executor/held.h"
#include "executor/limits.h"
#include "executor/named.h"
#include "executor/opts.h"
#include "executor/plan_keys.h"
#include "executor/prepare.h"
#include "executor/runtime.h"
#include "executor/serve.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_weaken.h"
#include "executor/stream.h"

struct create {
	struct exec_opts opts;
	struct prepared p;
	struct limits limits;
	struct held *held;	/* with another backend than native; owned; NULL */
	struct runtime rt;
	struct runtime_slot slot;
	struct cow_stay changes;
	int tell;	/* to the caller's process; -1: told */
};

/* One struct ak_err through a pipe between two halves of this program; code 0: ready */
static void tell(struct create *c, const struct ak_err *err)
{
	ssize_t n = write(c->tell, err, sizeof(*err));

	ak_fd_close(&c->tell);
	/* nobody hears it: the caller was told, or will say, that it did not work. Served is then nobody. */
	if (n != (ssize_t)sizeof(*err))
		(void)raise(SIGTERM);
}

static void ready(void *arg)
{
	tell(arg, &(struct ak_err){ 0 });
}

static int null_streams(struct ak_err *err)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return ak_err_sys(err, errno, "open /dev/null");
	for (int i = 0; i < 3 && r == 0; i++)
		if (dup2(fd, i) < 0)
			r = ak_err_sys(err, errno, "put /dev/null in the place of a stream");
	(void)close(fd);
	return r;
}

/* Own session, no terminal, no folder of the caller's, signals by descriptor. Return: the signalfd or negative errno. */
static int detach(struct ak_err *err)
{
	sigset_t set;
	int fd;

	if (setsid() < 0)
		return ak_err_sys(err, errno, "setsid");
	if (null_streams(err) < 0)
		return -err->code;
	if (chdir("/") < 0)
		return ak_err_sys(err, errno, "chdir /");
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	for (int i = SIGHUP; i <= SIGTERM; i++)	/* an ignored one would never be read */
		if (sigismember(&set, i))
			(void)signal(i, SIG_DFL);
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR || sigprocmask(SIG_SETMASK, &set, NULL) < 0)
		return ak_err_sys(err, errno, "set up signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? ak_err_sys(err, errno, "signalfd") : fd;
}

/* The name and its socket: made with the caller's privilege, before it is given up */
static int take_name(struct create *c, struct ak_err *err)
{
	struct runtime_facts f = { .version = AK_VERSION, .pid = (uint32_t)getpid(), .created_s = (uint64_t)time(NULL),
				   .ttl_ms = c->opts.ttl_ms, .pool = c->opts.pool, .workspace = c->p.plan.workspace };
	int r = runtime_claim(&c->rt, c->opts.name, &c->slot, err);

	if (c->held) {
		f.workspace = (char *)(uintptr_t)held_workspace(c->held);
		held_user(c->held, &f.uid, &f.gid);
	}
	if (r == 0 && !c->held)
		r = prepare_reserve(&c->p, &f.uid, &f.gid, err);
	if (r == 0)
		r = runtime_listen(&c->slot, &f, err);
	return r == 0 && c->p.plan.identity == PLAN_ID_RANGE ? runtime_guard(&c->slot, err) : r;
}

static int serve(struct create *c, int signal_fd, struct ak_err *err)
{
	struct serve_opts so = {
		.opts = &c->opts,
		.plan = &c->p.plan,
		.privs = c->p.root_mode ? &c->p.privs : NULL,
		.landlock_abi = c->p.landlock_abi,
		.name = c->opts.name,
		.listen_fd = c->slot.listen,
		.conn_fd = -1,
		.signal_fd = signal_fd,
		.alive_fd = c->slot.alive,
		.ttl_ms = c->opts.ttl_ms,
		.cgroup_dir = c->limits.place.dir,
		.cgroup_have = c->limits.place.have,
		.changes = c->opts.write == WRITE_COW ? &c->changes : NULL,
		.pool = c->opts.pool,
		.tell_paths = true,
		.held = c->held,
		.ready = ready,
		.ready_arg = c,
	};

	return serve_run(&so, err);
}

static int child(struct create *c)
{
	struct ak_err err = { 0 };
	AK_AUTO_FD signal_fd = detach(&err);
	int r = signal_fd < 0 ? signal_fd : take_name(c, &err);

	if (r == 0 && !c->held)
		r = cow_stay_begin(&c->changes, &c->opts, &c->p.host, &c->p.plan, NULL, NULL, &err);
	if (r == 0 && !c->held)
		r = prepare_serving(&c->p, &err);
	if (r == 0)
		r = serve(c, signal_fd, &err);
	cow_stay_end(&c->changes, NULL);
	/* the name is free again before anybody hears that it did not work */
	runtime_drop(&c->slot);
	if (c->tell >= 0)
		tell(c, &err);
	return r < 0 ? 1 : 0;
}

static int wait_ready(int fd, struct ak_err *err)
{
	struct ak_err said = { 0 };
	size_t got = 0;
	ssize_t n = 1;

	while (n != 0 && got < sizeof(said)) {
		n = read(fd, (char *)&said + got, sizeof(said) - got);
		if (n < 0 && errno != EINTR)
			return ak_err_sys(err, errno, "wait for the executor");
		got += n > 0 ? (size_t)n : 0;
	}
	if (got < sizeof(said))
		return ak_err_set(err, ECHILD, "the executor ended before the sandbox was ready");
	if (said.code == 0)
		return 0;
	*err = said;
	return -said.code;
}

/* Return: exit code, in both processes. */
static int start(struct create *c)
{
	struct ak_err err = { 0 };
	AK_AUTO_FD hear = -1;
	int p[2];
	pid_t pid;

	if (runtime_open(&c->p.host, true, &c->rt, &err) < 0)
		return named_fail(&err);
	if (pipe2(p, O_CLOEXEC) < 0) {
		(void)ak_err_sys(&err, errno, "make a pipe");
		return named_fail(&err);
	}
	hear = p[0];
	c->tell = p[1];
	pid = fork();
	if (pid < 0) {
		(void)ak_err_sys(&err, errno, "fork");
		return named_fail(&err);
	}
	if (pid == 0) {
		ak_fd_close(&hear);
		return child(c);
	}
	ak_fd_close(&c->tell);
	return wait_ready(hear, &err) < 0 ? named_fail(&err) : 0;
}

static void tell_warnings(const struct create *c)
{
	const struct plan *p = &c->p.plan;
	struct ak_buf b = { 0 };

	for (size_t i = 0; !c->opts.quiet && i < p->nwarnings; i++)
		if (c->opts.verbose || (p->told & (1u << i)))
			ak_buf_printf(&b, "ak: warning: %s\n", p->warnings[i]);
	if (b.len && !b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);	/* a warning that cannot be told changes nothing */
	ak_buf_release(&b);
}

/* before anything is refused, since it may be the reason */
static void tell_lowered(const struct create *c)
{
	struct ak_buf b = { 0 };

	if (!c->opts.lowered || c->opts.quiet)
		return;
	ak_buf_printf(&b, "ak: warning: %s\n", c->opts.lowered);
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);	/* the sandbox's results say it as well */
	ak_buf_release(&b);
}

static int explain(const struct create *c)
{
	struct ak_buf b = { 0 };
	int r = 1;

	plan_explain(&c->p.plan, &c->opts, &b);
	if (!b.failed)
		r = named_print(b.data, b.len);
	ak_buf_release(&b);
	return r;
}

static int plan_and_start(struct create *c, char *const env[])
{
	struct ak_err err = { 0 };

	tell_lowered(c);
	if (c->opts.backend != BACKEND_NATIVE) {
		if (held_open(&c->opts, env, &c->p, &c->held, &err) < 0)
			return named_fail(&err);
	} else if (prepare_plan(&c->opts, env, &c->p, &err) < 0 ||
		   limits_serving(&c->limits, &c->opts, &c->p.host, &c->p.plan, !c->opts.explain, &err) < 0) {
		return named_fail(&err);
	}
	if (!c->held && c->opts.lowered)
		plan_warn(&c->p.plan, "%s", c->opts.lowered);
	if (c->opts.explain)
		return explain(c);
	tell_warnings(c);
	plan_keys_forget(env, &c->opts);
	return start(c);
}

int cmd_create(int argc, char *const argv[], char *const env[])
{
	struct create c = { .p = PREPARED_NONE, .rt = { .dir = -1 }, .slot = RUNTIME_SLOT_NONE, .tell = -1 };
	struct ak_err err = { 0 };
	unsigned closed;
	int code, r;

	limits_init(&c.limits);
	cow_stay_init(&c.changes);
	if (streams_fix_stdio(&closed, &err) < 0)
		return named_fail(&err);
	if (!AK_WEAK(ak_weaken_mask(), AK_WEAK_FDS) && syscall(SYS_close_range, 3, ~0U, 0) < 0) {
		(void)ak_err_sys(&err, errno, "close_range");
		return named_fail(&err);
	}
	r = config_parse(ARGS_CREATE, argc, argv, env, &c.opts, &err);
	if (r == 1)
		code = named_print(args_create_help(), strlen(args_create_help()));
	else
		code = r < 0 ? named_usage(&err) : plan_and_start(&c, env);
	ak_fd_close(&c.tell);
	runtime_close(&c.rt);
	(void)limits_end(&c.limits);	/* closes only: each sandbox has removed its own */
	held_free(c.held);
	prepared_release(&c.p);
	exec_opts_release(&c.opts);
	return code;
}
