/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local backend: a command of the caller's own, without isolation. What it has is a session of its own, an environment
 * without secrets, a limit of time, and an end that takes its descendants along. Process: executor and warden. Privilege: the
 * caller's.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/backend.h"
#include "executor/exec_run.h"
#include "executor/local/local_env.h"
#include "executor/local/local_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/shared/ak_path.h"
#include "executor/warden.h"

/* what the warden needs; made before it is forked */
struct local_job {
	char *const *argv;	/* borrowed */
	char **env;		/* owned by the executor's side */
	char *cwd;
};

/* ---- the executor's side ---- */

static int find_folder(const struct exec_run *r, struct local_box *box, struct ak_err *err)
{
	const char *dir = r->opts.workspace ? r->opts.workspace : ".";
	char *real = realpath(dir, NULL);
	struct stat st;

	if (!real || stat(real, &st) < 0 || !S_ISDIR(st.st_mode)) {
		int e = real ? ENOTDIR : errno;

		free(real);
		return ak_err_sys(err, e, "workspace \"%s\"", dir);
	}
	box->cwd = r->opts.workdir ? ak_path_normalize(real, r->opts.workdir) : strdup(real);
	free(real);
	return box->cwd ? 0 : ak_err_sys(err, errno, "--workdir \"%s\"", r->opts.workdir ? r->opts.workdir : "");
}

static int probe(struct exec_run *r, char *const env[], struct ak_err *err)
{
	int e;

	if (geteuid() == 0 && r->opts.identity != IDENTITY_ROOT) {
		(void)ak_err_set(err, EPERM, "--backend local: it would give the command all of root's rights, without isolation");
		ak_err_hint(err, "be an ordinary user, leave --backend local out, or force it with --identity root");
		return -EPERM;
	}
	if (geteuid() != 0 && r->opts.identity == IDENTITY_ROOT)
		return ak_err_set(err, EPERM, "--identity root: ak was not started by root");
	r->facts = warden_facts(BACKEND_LOCAL);
	if (!r->facts)
		return ak_err_set(err, ENOMEM, "not enough memory");
	r->facts->root = geteuid() == 0;
	r->facts->usage = true;
	backend_warn(r->facts, "no isolation (--backend local): the command has your files, your network and your processes");
	backend_warn(r->facts, "--backend local holds no limit of memory, processes or processors");
	e = find_folder(r, &r->local, err);
	if (e == 0)
		e = local_env(env, r->opts.env, r->opts.nenv, &r->local.env, err);
	return e;
}

static int main_local(struct warden *w, void *arg);

static int create(struct exec_run *r, struct ak_err *err)
{
	struct local_job job = { .argv = r->opts.argv, .env = r->local.env, .cwd = r->local.cwd };
	int e = warden_start(main_local, &job, r->facts, &r->streams, &r->sb, err);

	if (e == 0)
		r->rs = (struct relay_sandbox){ .pidfd = r->sb.pidfd, .pid = r->sb.pid, .ctl = r->sb.ctl, .warden = true };
	return e;
}

static int run(struct exec_run *r, struct ak_err *err)
{
	return relay_run(&r->rs, &r->opts, &r->streams, r->signal_fd, &r->result, err);
}

static void destroy(struct exec_run *r)
{
	local_env_free(r->local.env);
	free(r->local.cwd);
	r->local = (struct local_box){ 0 };
	warden_facts_free(r->facts);
	r->facts = NULL;
}

/* the sandbox has the variables from now on */
static int stay(struct exec_run *r, struct plan *p, struct held_place *ret, struct ak_err *err)
{
	const char *dir = r->opts.workspace ? r->opts.workspace : ".";

	p->net = NET_HOST;	/* whatever was not asked for */
	p->envp = r->local.env;
	r->local.env = NULL;
	p->workspace = realpath(dir, NULL);
	if (!p->workspace)
		return ak_err_sys(err, errno, "workspace \"%s\"", dir);
	p->cwd = strdup(r->local.cwd);
	*ret = (struct held_place){ .workspace = p->workspace, .uid = geteuid(), .gid = getegid() };
	return 0;
}

const struct backend_ops backend_local = {
	.name = "local", .probe = probe, .create = create, .exec = run, .destroy = destroy, .stay = stay, .hold = local_hold,
};

/* ---- the command's process ---- */

/* what the child could not do: the word is one of these, the errno comes with it */
enum step { STEP_SETUP = 1, STEP_CWD, STEP_EXEC };

static _Noreturn void child_fail(int fd, enum step step)
{
	const int what[2] = { (int)step, errno };

	(void)!write(fd, what, sizeof(what));
	_exit(125);
}

static _Noreturn void run_child(const struct local_job *job, int fail_fd)
{
	sigset_t none;

	sigemptyset(&none);
	/* should the warden be killed, at least the command itself goes with it */
	if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		child_fail(fail_fd, STEP_SETUP);
	if (chdir(job->cwd) < 0)
		child_fail(fail_fd, STEP_CWD);
	for (int n = 1; n < NSIG; n++)
		(void)signal(n, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	environ = job->env;	/* also for PATH */
	(void)execvp(job->argv[0], job->argv);
	child_fail(fail_fd, STEP_EXEC);
}

/* ---- the warden ---- */

struct local_run {
	struct warden *w;
	const struct local_job *job;
	pid_t child;
	int sigfd;
	uint64_t start_ns;
};

static void report_failure(struct local_run *l, const int what[2])
{
	struct ak_err err = { 0 };
	bool missing = what[1] == ENOENT;

	if (what[0] == STEP_CWD) {
		(void)ak_err_sys(&err, what[1], "working directory %s", l->job->cwd);
		warden_failed(l->w, INIT_STAGE_CWD, 125, &err);
	} else if (what[0] == STEP_EXEC) {
		if (missing && !strchr(l->job->argv[0], '/'))
			(void)ak_err_set(&err, ENOENT, "%.200s: command not found", l->job->argv[0]);
		else
			(void)ak_err_sys(&err, what[1], "%.200s", l->job->argv[0]);
		warden_failed(l->w, INIT_STAGE_EXEC, missing ? 127 : 126, &err);
	} else {
		(void)ak_err_sys(&err, what[1], "prepare the command");
		warden_failed(l->w, INIT_STAGE_SETUP, 125, &err);
	}
}

/* Return: 0 when the command runs; its failure has been reported else */
static int start_command(struct local_run *l)
{
	int p[2], what[2];
	ssize_t n;

	if (pipe2(p, O_CLOEXEC) < 0) {
		what[0] = STEP_SETUP;
		what[1] = errno;
		report_failure(l, what);
		return -1;
	}
	l->start_ns = ak_now_ns();
	l->child = fork();
	if (l->child == 0)
		run_child(l->job, p[1]);
	ak_fd_close(&p[1]);
	n = read(p[0], what, sizeof(what));
	ak_fd_close(&p[0]);
	warden_drop_streams();
	if (l->child > 0 && n != (ssize_t)sizeof(what))
		return 0;
	if (l->child < 0) {
		what[0] = STEP_SETUP;
		what[1] = EAGAIN;
	}
	report_failure(l, what);
	return -1;
}

/* all that the command has left */
static void end_tree(struct local_run *l)
{
	if (l->child > 0)
		(void)kill(-l->child, SIGKILL);
	if (!local_end_children())
		backend_warn(l->w->facts, "processes that the command has left could not all be ended");
}

static void pass_signal(const struct local_run *l, int signo)
{
	(void)kill(-l->child, signo);
	if (signo == SIGTERM)
		(void)kill(-l->child, SIGCONT);
}

/* Return: true with the command's wait status */
static bool reap(const struct local_run *l, int *ret_status)
{
	struct signalfd_siginfo si;
	int status;
	pid_t p;

	(void)!read(l->sigfd, &si, sizeof(si));
	while ((p = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (p == l->child) {
			*ret_status = status;
			return true;
		}
	}
	return false;
}

/* until the command's end, or until all of it is to end. Return: true when it ended by itself or by a signal that was passed */
static bool watch(struct local_run *l, int *ret_status)
{
	for (;;) {
		struct pollfd p[2] = { { .fd = l->w->ctl, .events = POLLIN }, { .fd = l->sigfd, .events = POLLIN } };
		int signo;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return false;
		if (p[1].revents && reap(l, ret_status))
			return true;
		signo = p[0].revents ? warden_message(l->w) : 0;
		if (signo < 0 || signo == SIGKILL)
			return false;
		if (signo > 0)
			pass_signal(l, signo);
	}
}

static int main_local(struct warden *w, void *arg)
{
	struct local_run l = { .w = w, .job = arg };
	int status = W_EXITCODE(0, SIGKILL);
	uint64_t end_ns;
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &chld, NULL);
	l.sigfd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l.sigfd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
		struct ak_err err = { 0 };

		(void)ak_err_sys(&err, errno, "prepare to look after the command");
		warden_failed(w, INIT_STAGE_SETUP, 125, &err);
		return 125;
	}
	if (start_command(&l) < 0)
		return 0;
	(void)watch(&l, &status);
	end_ns = ak_now_ns();
	end_tree(&l);
	warden_exited(w, status, l.start_ns, end_ns);
	return 0;
}
