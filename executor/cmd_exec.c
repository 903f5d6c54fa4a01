/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ak exec` from the command line to the exit code. Process: executor. Privilege: what the caller has until
 * privs_enter(), then none on the host.
 */
#include "executor/cmd_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/args.h"
#include "executor/cmd_in.h"
#include "executor/config.h"
#include "executor/cow.h"
#include "executor/exec_run.h"
#include "executor/hostinfo.h"
#include "executor/limits.h"
#include "executor/ns/kabi.h"
#include "executor/ns/sysmount.h"
#include "executor/opts.h"
#include "executor/plain.h"
#include "executor/plan.h"
#include "executor/plan_keys.h"
#include "executor/prepare.h"
#include "executor/relay.h"
#include "executor/report.h"
#include "executor/sandbox.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_weaken.h"
#include "executor/stream.h"
#include "executor/workspace/apply_text.h"
#include "executor/workspace/copy.h"

#define EXIT_FAILED 125

static void say(const char *prefix, const char *text, size_t len)
{
	struct ak_buf b = { 0 };

	ak_buf_str(&b, prefix);
	ak_buf_add(&b, text, len);
	ak_buf_str(&b, "\n");
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);	/* nobody left to tell when stderr is gone */
	ak_buf_release(&b);
}

/* inherited descriptors end here; what is passed on was named by --fd */
static int close_inherited(const struct exec_opts *o, struct ak_err *err)
{
	unsigned from = 3;

	if (AK_WEAK(ak_weaken_mask(), AK_WEAK_FDS))
		return 0;
	for (size_t i = 0; i <= o->nfds; i++) {
		unsigned to = i < o->nfds ? (unsigned)o->fds[i] - 1 : ~0U;

		if (to >= from && syscall(SYS_close_range, from, to, 0) < 0)
			return ak_err_sys(err, errno, "close_range");
		from = to + 2;
	}
	return 0;
}

static int check_passed_fds(const struct exec_opts *o, struct ak_err *err)
{
	for (size_t i = 0; i < o->nfds; i++) {
		struct stat st;

		if (fstat(o->fds[i], &st) < 0)
			return ak_err_sys(err, errno, "--fd %d", o->fds[i]);
		if (!S_ISFIFO(st.st_mode) || (fcntl(o->fds[i], F_GETFL) & O_ACCMODE) == O_RDWR) {
			(void)ak_err_set(err, EINVAL, "--fd %d is not one end of a pipe", o->fds[i]);
			ak_err_hint(err, "anything else could be reopened inside with more rights than it was passed with");
			return -EINVAL;
		}
	}
	return 0;
}

static int block_signals(struct exec_run *r, struct ak_err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	struct sigaction old;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);	/* nohup and the like stay in force */
	/* a caller that ignores SIGCHLD would have our children reaped before we can ask for their status */
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||	/* a caller's file size limit is an error to report */
	    sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return ak_err_sys(err, errno, "set up signals");
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? ak_err_sys(err, errno, "signalfd") : 0;
}

/*
 * An earlier command may have left a link or a FIFO under this name in the workspace: neither is followed, neither blocks.
 * Emptied only after the look, since opening with O_TRUNC would have done the harm already.
 */
static int open_report(struct exec_run *r, struct ak_err *err)
{
	struct ak_open_how how = { .flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, .mode = 0666,
				   .resolve = AK_RESOLVE_NO_SYMLINKS };
	AK_AUTO_FD fd = -1;
	struct stat st;

	if (!r->opts.report)
		return 0;
	fd = sys_openat2_how(AT_FDCWD, r->opts.report, &how);
	if (fd < 0 && errno == ELOOP) {
		(void)ak_err_set(err, ELOOP, "--report: %s leads through a symbolic link", r->opts.report);
		ak_err_hint(err, "name the file itself by its real path: a sandbox may have left the link");
		return -ELOOP;
	}
	if (fd < 0)
		return ak_err_sys(err, errno, "--report: open %s", r->opts.report);
	if (fstat(fd, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)))
		return ak_err_set(err, EINVAL, "--report: %s is not a regular file", r->opts.report);
	if (S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0)
		return ak_err_sys(err, errno, "--report: empty %s", r->opts.report);
	r->report_fd = ak_fd_take(&fd);
	return 0;
}

/* host-privileged acts; afterwards the door can close behind us: see docs/architecture.md, "Root" */
static int prepare_as_root(struct exec_run *r, struct ak_err *err)
{
	int e = privs_reserve(&r->p.privs, err);

	if (e == 0)
		e = privs_prepare_mounts(&r->p.privs, &r->p.plan, err);
	if (e == 0) {
		e = streams_chown(&r->streams, r->p.privs.uid_base + r->p.plan.uid, r->p.privs.gid_base + r->p.plan.gid);
		if (e < 0)
			(void)ak_err_sys(err, -e, "give the standard streams to the sandbox's user");
	}
	return e;
}

/* from here on ak is nobody on the host. With a group the sandbox is born by a helper that is in it, since we may not enter it */
static int start_as_nobody(struct exec_run *r, struct sandbox_birth *b, struct ak_err *err)
{
	struct privs_errand errand = { .cgroup = b->cgroup, .fn = b->cgroup >= 0 ? sandbox_errand : NULL, .arg = b, .sock = -1 };
	int e = privs_enter(&r->p.privs, &errand, err);

	r->p.root_mode = e == 0;
	if (e == 0)
		e = sandbox_start(b, &r->p.privs, errand.fn ? &errand : NULL, &r->sb, err);
	privs_errand_end(&errand);
	return e;
}

static int start_sandbox(struct exec_run *r, struct ak_err *err)
{
	struct sandbox_birth b = SANDBOX_BIRTH_NONE;
	bool range = r->p.plan.identity == PLAN_ID_RANGE;
	int e = 0;

	if (!AK_WEAK(ak_weaken_mask(), AK_WEAK_NNP) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ak_err_sys(err, errno, "PR_SET_NO_NEW_PRIVS");
	if (range)
		e = prepare_as_root(r, err);
	if (e == 0)
		e = protected_look_begin(&r->look, &r->p.plan, range ? &r->p.privs : NULL, err);
	if (e == 0)
		e = sandbox_prepare(&r->p.plan, &r->streams, range, r->p.landlock_abi, r->limits.group.dir, &b, err);
	if (!range)
		b.ahead = &r->ahead;
	if (e == 0)
		r->image = fcntl(b.s.init, F_DUPFD_CLOEXEC, 3);	/* none: init's end frees it */
	if (e == 0)
		e = range ? start_as_nobody(r, &b, err) : sandbox_start(&b, NULL, NULL, &r->sb, err);
	sandbox_birth_release(&b);
	return e;
}

static int native_probe(struct exec_run *r, char *const env[], struct ak_err *err)
{
	return prepare_plan(&r->opts, env, &r->p, err);
}

static int native_create(struct exec_run *r, struct ak_err *err)
{
	int e;

	r->plain.except = r->limits.keeper.pid > 0 ? r->limits.keeper.pid : 0;
	e = prepare_landlock(&r->p, err);
	if (e == 0)
		e = observing_prepare(&r->ob, &r->opts, r->learning, &r->p.plan, err);
	if (e == 0)
		e = cow_begin(&r->cow, &r->opts, &r->p.host, &r->p.plan, err);
	if (e == 0)
		e = start_sandbox(r, err);
	if (e < 0)
		return e;
	r->rs = (struct relay_sandbox){ .pidfd = r->sb.pidfd, .pid = r->sb.pid, .ctl = r->sb.ctl,
					.group = r->limits.group.dir >= 0 ? &r->limits.group : NULL,
					.watch_memory = r->p.plan.memory_by == PLAN_BY_AK,
					.alarm = r->cow.disk_bytes ? &r->cow.alarm : NULL,
					.plain = r->p.plan.plain ? &r->plain : NULL,
					.observing = r->p.plan.joined ? &r->ob : NULL };
	return 0;
}

static int native_exec(struct exec_run *r, struct ak_err *err)
{
	return relay_run(&r->rs, &r->opts, &r->streams, r->signal_fd, &r->result, err);
}

static void native_destroy(struct exec_run *r)
{
	(void)limits_end(&r->limits);
}

const struct backend_ops backend_native = {
	.name = "native", .probe = native_probe, .create = native_create, .exec = native_exec, .destroy = native_destroy,
};

/* what was made in the layer, but never comes into a workspace */
static void tell_special(struct exec_run *r)
{
	struct ak_buf b = { 0 };

	if (apply_special(&r->cow.changes, &b) > 0 && !b.failed)
		plan_notice(&r->p.plan, "%s", b.data);
	ak_buf_release(&b);
}

/* what a cow run changed; taken over only when the command itself says that it succeeded */
static int end_changes(struct exec_run *r, struct ak_err *err)
{
	bool apply = r->opts.apply && r->result.status == RUN_EXITED && r->result.exit_code == 0;
	struct ak_err warn = { 0 };
	int e = cow_end(&r->cow, apply, err, &warn);

	if (warn.code)
		plan_notice(&r->p.plan, "the changes could not be listed and are kept as %s: %s%s%s", r->cow.cs.id, warn.msg, warn.hint[0] ? " - " : "",
			    warn.hint);
	if (e < 0)
		r->stage = "apply";
	if (r->cow.applied)
		tell_special(r);
	if (r->cow.dropped)
		plan_notice(&r->p.plan, WS_XATTR_DROPPED_FMT, r->cow.dropped, r->cow.dropped == 1 ? "" : "s");
	return e;
}

static int run_sandbox(struct exec_run *r, struct ak_err *err)
{
	const struct backend_ops *ops = backend_of(r->opts.backend);
	int e;

	r->stage = "setup";
	e = block_signals(r, err);	/* first: a signal must not end us while something is to be undone */
	if (e < 0)
		return e;
	if (ops == &backend_native && r->p.plan.plain)
		e = plain_begin(&r->plain, &r->p.plan, err);
	if (e == 0 && ops == &backend_native) {
		r->stage = "plan";
		e = limits_start(&r->limits, &r->opts, &r->p.host, &r->p.plan, err);
	}
	if (e == 0) {
		r->stage = "setup";
		e = streams_open(&r->opts, r->closed, &r->streams, err);
	}
	if (e == 0)
		e = ops->create(r, err);
	if (e < 0)
		return e;
	streams_close_child_ends(&r->streams);
	if (ops == &backend_native && r->p.plan.root == PLAN_ROOT_TMPFS && !r->p.plan.plain &&
	    r->opts.write != WRITE_COW)
		mnt_late_hold(r->sb.pid, r->sb.pidfd, r->image, &r->late);
	ak_fd_close(&r->image);
	r->stage = "relay";
	e = ops->exec(r, err);
	r->have_result = e == 0;
	return e == 0 ? end_changes(r, err) : e;
}

/* the same in a sandbox that is there already */
static int run_in(struct exec_run *r, char *const env[], struct ak_err *err)
{
	int e;

	r->stage = "setup";
	e = block_signals(r, err);
	if (e == 0)
		e = streams_open(&r->opts, r->closed, &r->streams, err);
	if (e == 0)
		e = in_open(&r->in, &r->opts, env, err);
	if (e < 0)
		return e;
	/* the path inside is the host's, but for a container's */
	if (ak_hello_facts(r->in.n.cl)->facts.write == AK_WRITE_DIRECT &&
	    ak_hello_facts(r->in.n.cl)->facts.backend != AK_BACKEND_DOCKER)
		protected_look_begin_path(&r->look, ak_hello_facts(r->in.n.cl)->facts.workspace);
	r->stage = "relay";
	e = in_relay(&r->in, &r->opts, &r->streams, r->signal_fd, &r->result, err);
	r->have_result = e == 0;
	if (e == 0 && (r->opts.json || r->report_fd >= 0))
		in_changes(&r->in, &r->cow);
	return e;
}

/* --detach: the job's id is all there is to say */
static int run_job(struct exec_run *r, char *const env[], struct ak_err *err)
{
	struct ak_buf b = { 0 };
	uint32_t job = 0;
	int e = in_open(&r->in, &r->opts, env, err);

	if (e == 0)
		e = in_detach(&r->in, &r->opts, &job, err);
	if (e < 0)
		return e;
	ak_buf_printf(&b, "%u\n", job);
	e = b.failed ? -ENOMEM : ak_write_all(STDOUT_FILENO, b.data, b.len);
	ak_buf_release(&b);
	return e < 0 ? ak_err_sys(err, -e, "job %u runs, but its id cannot be written to standard output", job) : 0;
}

/* what the set-up child or init said becomes the run's error */
static const char *result_error(const struct run_result *res, struct ak_err *err)
{
	static const char *const stages[] = { "relay", "setup", "confine", "cwd", "exec" };

	if (!res->fail_text[0])
		return NULL;
	(void)ak_err_set(err, res->fail_code, "%s", res->fail_text);
	ak_err_hint(err, "%s", res->fail_hint);
	return stages[res->fail_stage < 5 ? res->fail_stage : 0];
}

/* in blocks: escaped output is up to six times what was captured. Return: false when it could not be written. */
static bool write_report(int fd, struct report *rep, bool with_output)
{
	static const char lost[] = "the result object could not be written";
	struct ak_buf b = { .sink = fd, .max = SIZE_MAX / 2 };
	bool ok;

	rep->with_output = with_output;
	report_json(rep, &b);
	ak_buf_flush(&b);
	ok = !b.failed;
	ak_buf_release(&b);
	if (!ok)
		say("ak: ", lost, sizeof(lost) - 1);
	return ok;
}

static void tell_changes(const struct exec_run *r)
{
	const struct cow *c = &r->cow;
	struct ak_buf b = { 0 };

	if (r->opts.quiet || !c->on || c->open || !c->known || !c->kept || c->changes.n == 0)
		return;
	ak_buf_printf(&b, "%zu change%s kept as %s (ak diff %s, ak apply %s, ak discard %s)", c->changes.n,
		      c->changes.n == 1 ? "" : "s", c->cs.id, c->cs.id, c->cs.id, c->cs.id);
	if (!b.failed)
		say("ak: ", b.data, b.len);
	ak_buf_release(&b);
}

static void tell_denied(const struct report *rep)
{
	struct ak_buf b = { 0 };

	report_denied_text(rep, &b);
	if (b.len && !b.failed)
		say("ak: ", b.data, b.len);
	ak_buf_release(&b);
}

static void tell_human(const struct exec_run *r, const struct report *rep)
{
	struct ak_buf b = { 0 };

	report_exit_text(rep, &b);
	if (b.len && !b.failed && (!r->opts.quiet || rep->error))
		say("ak: ", b.data, b.len);
	ak_buf_release(&b);
	if ((r->opts.verbose || r->learning) && !r->opts.quiet)
		tell_denied(rep);
	report_protected_text(rep, &b);
	if (b.len && !b.failed && !r->opts.quiet)
		say("ak: ", b.data, b.len);
	ak_buf_release(&b);
	tell_changes(r);
	/* a command line that makes no sense gets the one line that says so, with the setting's name in it */
	if (r->opts.lowered && !r->opts.quiet && !(rep->error && strcmp(r->stage, "usage") == 0))
		say("ak: warning: ", r->opts.lowered, strlen(r->opts.lowered));
	for (uint32_t i = 0; rep->facts && r->opts.verbose && !r->opts.quiet && i < rep->facts->nwarnings; i++)
		say("ak: warning: ", rep->facts->warning[i], strlen(rep->facts->warning[i]));
	for (uint32_t i = 0; rep->backend && r->opts.verbose && !r->opts.quiet && i < rep->backend->nwarnings; i++)
		say("ak: warning: ", rep->backend->warning[i], strlen(rep->backend->warning[i]));
	for (size_t i = 0; r->p.have_plan && !r->opts.quiet && i < r->p.plan.nwarnings; i++)
		if (r->opts.verbose || (r->p.plan.told & (1u << i)))
			say("ak: warning: ", r->p.plan.warnings[i], strlen(r->p.plan.warnings[i]));
}

/* a command that was ended in the middle leaves git's lock behind: in the workspace, or in what a cow run keeps of it */
static void tell_lock(struct exec_run *r)
{
	const struct journal *j = &r->cow.changes;
	bool left = r->look.lock_left;

	for (size_t i = 0; r->cow.known && !left && i < j->n; i++)
		left = j->v[i].op == CHANGE_ADDED && strcmp(j->v[i].path, PROTECTED_LOOK_LOCK) == 0;
	if (left && r->p.have_plan)
		plan_notice(&r->p.plan, "git's lock %s was left behind: git refuses to work there until it is removed (rm %s)",
			    PROTECTED_LOOK_LOCK, PROTECTED_LOOK_LOCK);
}

/* the two result objects, one line for a human, the exit code */
static int finish(struct exec_run *r, struct ak_err *err, bool failed)
{
	struct report rep = { .opts = &r->opts, .plan = r->p.have_plan ? &r->p.plan : NULL,
			      .run = r->have_result ? &r->result : NULL, .cow = &r->cow,
			      .landlock_abi = r->p.landlock_abi,
			      .denials = r->p.plan.joined ? &r->ob.denials : NULL };
	uint64_t started = r->have_result ? r->result.start_ns : 0;

	rep.backend = r->facts;
	if (r->in.n.cl) {
		rep.facts = &ak_hello_facts(r->in.n.cl)->facts;
		rep.far = r->in.far.have_done ? &r->in.far.done.r : NULL;
	}
	if (failed) {
		rep.error = err;
		rep.stage = r->stage;
		rep.failed = true;
	} else if (r->have_result) {
		rep.stage = result_error(&r->result, err);
		rep.error = rep.stage ? err : NULL;
	}
	if (r->p.have_plan)
		observing_told(&r->ob, &r->p.plan);
	if (r->have_result && r->result.tree_left && r->p.have_plan)
		plan_notice(&r->p.plan, "init was killed, and what the command started may still run");
	if (plain_end(&r->plain) < 0 && r->p.have_plan)
		plan_warn(&r->p.plan, "the private folder could not be removed; the next run removes it");
	if (limits_end(&r->limits) < 0 && r->p.have_plan)
		plan_warn(&r->p.plan, "the sandbox's cgroup could not be removed; the next run removes it");
	rep.protected = r->have_result ? protected_look_end(&r->look) : NULL;
	if (rep.protected && rep.protected->cut && r->p.have_plan)
		plan_warn(&r->p.plan, "not all of the workspace was looked through for changed protected names (%zu folders were)",
			  rep.protected->folders);
	tell_lock(r);
	rep.total_ns = ak_now_ns() - r->start_ns;
	rep.setup_ns = started > r->start_ns ? started - r->start_ns : 0;
	tell_human(r, &rep);
	if (r->report_fd >= 0 && !write_report(r->report_fd, &rep, false))
		failed = true;	/* whoever reads the object does not learn how it ended */
	if (r->opts.json && !write_report(STDOUT_FILENO, &rep, true))
		failed = true;
	return failed ? EXIT_FAILED : r->result.exit_code;
}

/* after finish(); a profile is written whenever there is one */
static int finish_learning(struct exec_run *r, int code)
{
	struct ak_err err = { 0 };
	struct ak_buf b = { 0 };

	if (!r->have_result || r->result.fail_text[0])	/* told already; the command was not started, so it taught nothing */
		return strcmp(r->stage, "usage") == 0 ? 2 : 1;
	if (learn_write(&r->learn, &r->opts, &r->ob, &err) < 0)
		ak_buf_printf(&b, "%s%s%s", err.msg, err.hint[0] ? " - " : "", err.hint);
	else if (code != 0)
		ak_buf_printf(&b, "the command ended with %d: the profile holds what it called until then", code);
	if (b.len && !b.failed)
		say("ak: ", b.data, b.len);
	code = b.len != 0;
	ak_buf_release(&b);
	return code;
}

static void release(struct exec_run *r)
{
	ahead_end(&r->ahead);
	(void)plain_end(&r->plain);
	backend_of(r->opts.backend)->destroy(r);
	sandbox_release(&r->sb);
	observing_release(&r->ob);
	learn_release(&r->learn);
	cow_release(&r->cow);
	if (r->have_result)
		run_result_release(&r->result);
	streams_release(&r->streams);
	prepared_release(&r->p);
	in_release(&r->in);
	protected_look_release(&r->look);
	exec_opts_release(&r->opts);
	ak_fd_close(&r->report_fd);
	ak_fd_close(&r->signal_fd);
	ak_fd_close(&r->image);
	mnt_late_leave(&r->late);
}

/*
 * After an ordinary run all that is left is memory and descriptors, and the kernel takes those back as a whole in less time than one by
 * one. Not where a sanitizer looks for leaks.
 */
static bool only_memory_left(const struct exec_run *r)
{
#if defined(__SANITIZE_ADDRESS__)
	(void)r;
	return false;
#else
	return r->have_result && !r->own && !r->learning && !r->opts.tty && !r->opts.in && !r->p.plan.plain &&
	       r->opts.write != WRITE_COW && backend_of(r->opts.backend) == &backend_native;
#endif
}

static int explain(struct exec_run *r)
{
	struct ak_buf b = { 0 };
	int e;

	plan_explain(&r->p.plan, &r->opts, &b);
	e = b.failed ? -ENOMEM : ak_write_all(STDOUT_FILENO, b.data, b.len);
	ak_buf_release(&b);
	return e < 0 ? EXIT_FAILED : 0;
}

/* a sandbox in a group has to be born in it, and that is made by what the plan says */
static void begin_ahead(struct exec_run *r, char *const env[])
{
	if (backend_of(r->opts.backend) == &backend_native && !r->opts.explain && r->opts.write != WRITE_COW &&
	    cgroup_glance(&r->limits.search, config_getenv(env, CGROUP_ENV)))
		sandbox_ahead(&r->opts, &r->ahead);
}

static int parse_and_run(struct exec_run *r, int argc, char *const argv[], char *const env[], struct ak_err *err)
{
	int e;

	r->stage = "usage";
	e = config_parse(ARGS_EXEC, argc, argv, env, &r->opts, err);
	if (e == 1) {
		const char *help = args_exec_help();

		return ak_write_all(STDOUT_FILENO, help, strlen(help)) < 0 ? EXIT_FAILED : 0;
	}
	r->opts.workspace_own = r->own;
	if (e == 0)
		e = check_passed_fds(&r->opts, err);
	if (e == 0 && r->learning)
		e = learn_check(&r->opts, err);
	if (r->learning)
		r->opts.json = false;	/* standard output holds a profile or nothing */
	if (e == 0)
		e = close_inherited(&r->opts, err);
	if (e == 0 && r->learning) {
		r->stage = "setup";
		e = learn_open(&r->learn, err);
	}
	/* also for the report of a refusal; nothing is opened for --explain, which reports nothing */
	if (!r->opts.explain && open_report(r, e < 0 ? NULL : err) < 0 && e == 0)
		e = -EIO;
	if (e == 0 && r->opts.in) {
		plan_keys_forget(env, &r->opts);
		r->stage = "setup";
		e = r->opts.detach ? run_job(r, env, err) : run_in(r, env, err);
		return finish(r, err, e < 0);
	}
	if (e == 0) {
		r->stage = "plan";
		begin_ahead(r, env);
		e = backend_of(r->opts.backend)->probe(r, env, err);
	}
	if (e == 0 && r->opts.explain)
		e = limits_look(&r->limits, &r->opts, &r->p.host, &r->p.plan, err);
	if (e == 0 && r->opts.explain)
		return explain(r);
	plan_keys_forget(env, &r->opts);
	if (e == 0)
		e = run_sandbox(r, err);
	return finish(r, err, e < 0);
}

/*
 * Ten pages, all mapped at once: most of them are touched, and a fault takes as long as the zeroing of ten. The members are made what
 * they are before anything was done without writing all of them. Never unmapped: the process ends with it.
 */
static struct exec_run *run_new(void)
{
	struct exec_run *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (r == MAP_FAILED)
		return NULL;
	r->report_fd = r->signal_fd = r->image = -1;
	r->late = (struct mnt_late)MNT_LATE_NONE;
	r->sb = (struct sandbox){ .pidfd = -1, .ctl = -1 };
	r->ahead.pidfd = r->ahead.sock[0] = r->ahead.sock[1] = -1;
	r->p = (struct prepared)PREPARED_NONE;
	r->in = (struct in_run)IN_RUN_NONE;
	r->plain = (struct plain)PLAIN_NONE;
	r->ob.denials.fd = -1;
	r->learn = (struct learn)LEARN_NONE;
	r->look.mark.dir = r->look.program = -1;
	limits_init(&r->limits);
	cow_init(&r->cow);
	for (int i = 0; i < 3; i++)
		r->streams.s[i] = (struct stream){ .outer = -1, .child = -1, .inner = -1 };
	return r;
}

static int run(int argc, char *const argv[], char *const environ_[], uint64_t start_ns, bool learning, bool own)
{
	struct ak_err err = { 0 };
	struct exec_run *r = run_new();
	int code;

	if (!r)
		return EXIT_FAILED;
	r->start_ns = start_ns;
	r->own = own;
	r->learning = learning;
	if (streams_fix_stdio(&r->closed, &err) < 0)
		return EXIT_FAILED;
	code = parse_and_run(r, argc, argv, environ_, &err);
	if (learning)
		code = finish_learning(r, code);
	if (only_memory_left(r)) {
		mnt_late_leave(&r->late);
		_exit(code);
	}
	release(r);
	return code;
}

int cmd_exec(int argc, char *const argv[], char *const environ_[], uint64_t start_ns)
{
	return run(argc, argv, environ_, start_ns, false, false);
}

int cmd_learn(int argc, char *const argv[], char *const environ_[], uint64_t start_ns)
{
	return run(argc, argv, environ_, start_ns, true, false);
}

int cmd_exec_own(int argc, char *const argv[], char *const environ_[])
{
	return run(argc, argv, environ_, ak_now_ns(), false, true);
}
