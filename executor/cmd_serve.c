/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ak serve`: makes the plan, gives host privilege up and serves the client on standard input.
 * Process: executor. Privilege: what the caller has until privs_serving(), then none on the host.
 */
#include "executor/cmd_serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/args.h"
#include "executor/config.h"
#include "executor/cow_stay.h"
#include "executor/held.h"
#include "executor/limits.h"
#include "executor/opts.h"
#include "executor/plan_keys.h"
#include "executor/prepare.h"
#include "executor/serve.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_chan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define CONN_FD 3

static const char help_text[] =
	"usage: ak serve [OPTIONS]\n"
	"\n"
	"Serves sandboxes to the one client on standard input, which must be a connected\n"
	"SOCK_SEQPACKET socket (see ak(3), ak_spawn). OPTIONS are those of ak create but\n"
	"--ttl: they are what the client can ask for at most. With --write cow there is one\n"
	"copy of the workspace; --apply always allows the client to have its changes taken over.\n";

/* everything one run owns */
struct serve_cmd {
	struct exec_opts opts;
	struct prepared p;
	struct limits limits;
	struct cow_stay changes;
	struct held *held;	/* with another backend than native; owned; NULL */
	int signal_fd;
	int conn;
};

static int say(const struct ak_err *err, int code)
{
	struct ak_buf b = { 0 };

	ak_buf_printf(&b, "ak: serve: %s%s%s%s\n", err->msg, err->hint[0] ? " (" : "", err->hint, err->hint[0] ? ")" : "");
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);
	ak_buf_release(&b);
	return code;
}

static void warn(const char *text)
{
	struct ak_buf b = { 0 };

	ak_buf_printf(&b, "ak: serve: warning: %s\n", text);
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);	/* nobody left to tell: the facts of the sandbox say it too */
	ak_buf_release(&b);
}

/* standard input is the client; 0 becomes /dev/null, so that nothing else mistakes it */
static int take_socket(struct serve_cmd *r, struct ak_err *err)
{
	int e = ak_chan_check(STDIN_FILENO, err);

	if (e < 0) {
		ak_err_hint(err, "standard input must be the client's SOCK_SEQPACKET socket");
		return e;
	}
	r->conn = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (r->conn < 0)
		return ak_err_sys(err, errno, "keep the client's socket");
	e = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (e < 0 || dup2(e, STDIN_FILENO) < 0)
		return ak_err_sys(err, errno, "open /dev/null");
	(void)close(e);
	return 0;
}

static int block_signals(struct serve_cmd *r, struct ak_err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
	    sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return ak_err_sys(err, errno, "set up signals");
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? ak_err_sys(err, errno, "signalfd") : 0;
}

/* nothing that was inherited lives on in the executor, or goes to a sandbox */
static int close_inherited(struct serve_cmd *r, struct ak_err *err)
{
	if (r->conn != CONN_FD) {
		if (dup3(r->conn, CONN_FD, O_CLOEXEC) < 0)
			return ak_err_sys(err, errno, "keep the client's socket");
		(void)close(r->conn);
		r->conn = CONN_FD;
	}
	return syscall(SYS_close_range, CONN_FD + 1, ~0U, 0) < 0 ? ak_err_sys(err, errno, "close_range") : 0;
}

static int run(struct serve_cmd *r, char *const env[], struct ak_err *err)
{
	struct serve_opts so = { .opts = &r->opts, .plan = &r->p.plan, .listen_fd = -1, .alive_fd = -1 };
	int e = take_socket(r, err);

	if (r->opts.lowered && !r->opts.quiet)
		warn(r->opts.lowered);
	if (e == 0)
		e = close_inherited(r, err);
	if (e == 0 && r->opts.backend != BACKEND_NATIVE)
		e = held_open(&r->opts, env, &r->p, &r->held, err);
	else if (e == 0)
		e = prepare_plan(&r->opts, env, &r->p, err);
	plan_keys_forget(env, &r->opts);
	if (e == 0 && !r->held)
		e = limits_serving(&r->limits, &r->opts, &r->p.host, &r->p.plan, true, err);
	if (e == 0)
		e = block_signals(r, err);
	if (e == 0 && !r->held)
		e = cow_stay_begin(&r->changes, &r->opts, &r->p.host, &r->p.plan, NULL, NULL, err);
	if (e == 0 && !r->held)
		e = prepare_serving(&r->p, err);
	if (e < 0)
		return e;
	if (!r->held && r->opts.lowered)
		plan_warn(&r->p.plan, "%s", r->opts.lowered);
	so.privs = r->p.root_mode ? &r->p.privs : NULL;
	so.landlock_abi = r->p.landlock_abi;
	so.conn_fd = ak_fd_take(&r->conn);
	so.signal_fd = r->signal_fd;
	so.cgroup_dir = r->limits.place.dir;
	so.cgroup_have = r->limits.place.have;
	so.pool = r->opts.pool;
	so.changes = r->opts.write == WRITE_COW ? &r->changes : NULL;
	so.may_apply = r->opts.apply;
	so.held = r->held;
	return serve_run(&so, err);
}

int cmd_serve(int argc, char *const argv[], char *const env[])
{
	struct serve_cmd r = { .signal_fd = -1, .conn = -1, .p = PREPARED_NONE };
	struct ak_err err = { 0 };
	int e = config_parse(ARGS_SERVE, argc, argv, env, &r.opts, &err);

	limits_init(&r.limits);
	cow_stay_init(&r.changes);
	if (e == 1) {
		exec_opts_release(&r.opts);
		return ak_write_all(STDOUT_FILENO, help_text, sizeof(help_text) - 1) < 0 ? EXIT_FAILED : 0;
	}
	if (e < 0) {
		exec_opts_release(&r.opts);
		return say(&err, EXIT_USAGE);
	}
	e = run(&r, env, &err);
	cow_stay_end(&r.changes, NULL);
	(void)limits_end(&r.limits);	/* closes only: each sandbox has removed its own */
	held_free(r.held);
	prepared_release(&r.p);
	exec_opts_release(&r.opts);
	ak_fd_close(&r.conn);
	ak_fd_close(&r.signal_fd);
	return e < 0 ? say(&err, EXIT_FAILED) : 0;
}
