/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ak run` and `ak chat`, the parent: the policy is sealed from the command line and the user's settings, then the agent is started, then host
 * privilege is given up, and then the agent is served. The agent is started before the ids change because it reads the caller's
 * keys and state; nothing it says is read before the policy is sealed and the privilege gone.
 * Process: executor. Privilege: what the caller has until privs_serving(), then none on the host.
 */
#include "executor/cmd_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/agent.h"
#include "executor/agent_session.h"
#include "executor/args.h"
#include "executor/args_agent.h"
#include "executor/companion.h"
#include "executor/config.h"
#include "executor/cow_stay.h"
#include "executor/held.h"
#include "executor/limits.h"
#include "executor/opts.h"
#include "executor/plan_keys.h"
#include "executor/prepare.h"
#include "executor/protected_look.h"
#include "executor/report.h"
#include "executor/run_end.h"
#include "executor/run_words.h"
#include "executor/serve.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_chan.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_msg.h"
#include "executor/stream.h"
#include "executor/touch_stay.h"
#include "executor/tty.h"
#include "executor/workspace/state.h"

#define EXIT_FAILED 1
#define AGENT_END_MS 5000 /* for the agent to end once its socket has: all that is left to it is to write the result */
#define REFUSE_MS 10000	   /* for the agent to ask */

/* what the agent is told first: nothing is wrong, the words are, the sandbox cannot be had, the session cannot go on */
#define STATE_OK "ok"
#define STATE_USAGE "usage"
#define STATE_UNAVAILABLE "unavailable"
#define STATE_REFUSED "refused" /* the session's changes are in use, or not whole */

/* everything one run owns */
struct run_cmd {
	const char *name;	/* of the command: "run", "chat" */
	bool chat;
	struct tty_state found;	/* chat: the terminal's modes */
	struct run_words words;
	struct config *config;	/* owned */
	struct args_settings settings;
	struct exec_opts opts;
	struct prepared p;
	struct limits limits;
	struct cow_stay changes;
	struct touch_stay touched;
	char session[AK_SESSION_ID_MAX];	/* of the agent; "": the agent finds or names it */
	char kept[CHANGESET_ID_MAX];		/* changes of the session's last run that are still there; "": none */
	struct held *held;	/* with another backend than native; owned; NULL */
	struct protected_look look;
	const struct protected_report *protected; /* what it came to */
	bool looked;
	struct serve_seen seen;
	struct cow_close left;
	uint64_t start_ns;
	int out;	/* the caller's standard output, for the result of an agent that has died */
	int exe;
	int sock[2];	/* ours, the agent's */
	int control[2]; /* the agent's, ours */
	int signal_fd;
	int pidfd;
	pid_t pid;
};

static int say(const struct ak_err *err, int code)
{
	struct ak_buf b = { 0 };

	ak_buf_printf(&b, "ak: %s%s%s%s\n", err->msg, err->hint[0] ? " (" : "", err->hint, err->hint[0] ? ")" : "");
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);
	ak_buf_release(&b);
	return code;
}

static int block_signals(struct run_cmd *r, struct ak_err *err)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;

		/* one that is ignored (nohup) stays so */
		if (sigaction(signals[i], NULL, &old) < 0 || old.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);
	}
	if (r->chat)
		sigaddset(&set, SIGCHLD);	/* says when the agent stops */
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
	    sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return ak_err_sys(err, errno, "set up signals");
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? ak_err_sys(err, errno, "signalfd") : 0;
}

/* the value of an option of the agent's; NULL: it was not given; "": it takes none */
static const char *said(const struct run_words *w, const char *option)
{
	for (size_t i = w->noptions; i > 0; i--)
		if (strcmp(w->options[i - 1].option, option) == 0)
			return w->options[i - 1].value ? w->options[i - 1].value : "";
	return NULL;
}

/*
 * Which session it is: a new name, or that of the one that goes on. With --continue it is the workspace's newest, by what sessions say
 * of themselves; where none says so, the agent looks through the transcripts.
 */
static int name_session(struct run_cmd *r, int sessions, struct ak_err *err)
{
	const char *resume = said(&r->words, "--resume");

	if (resume && ak_session_id_ok(resume))
		(void)snprintf(r->session, sizeof(r->session), "%s", resume);
	else if (said(&r->words, "--continue") && sessions >= 0)
		(void)agent_session_last(sessions, r->p.plan.workspace, r->session);
	else if (!resume && !said(&r->words, "--continue"))
		return agent_session_mint(r->session, err);
	return 0;
}

/* the changes that its last run left, if they are of this workspace */
static int find_kept(struct run_cmd *r, int sessions, struct ak_err *err)
{
	struct changeset_meta m;
	int e;

	if (sessions < 0 || !r->session[0] || (!said(&r->words, "--resume") && !said(&r->words, "--continue")))
		return 0;
	e = agent_session_changeset(sessions, r->session, r->kept, &m, err);
	if (e == 0 && strcmp(m.workspace, r->p.plan.workspace) != 0)
		r->kept[0] = '\0';
	return e == -ENOENT ? 0 : e;
}

static int plan_native(struct run_cmd *r, char *const env[], struct ak_err *err)
{
	char command[sizeof(AGENT_SESSION_COMMAND) + AK_SESSION_ID_MAX];
	AK_AUTO_FD sessions = -1;
	int e = prepare_plan(&r->opts, env, &r->p, err);

	if (e == 0 && r->opts.lowered)
		plan_warn(&r->p.plan, "%s", r->opts.lowered);
	if (e == 0)
		e = limits_serving(&r->limits, &r->opts, &r->p.host, &r->p.plan, true, err);
	if (e == 0)
		sessions = state_open(&r->p.host, "sessions", false, NULL);
	if (e == 0)
		e = name_session(r, sessions, err);
	if (e == 0)
		e = find_kept(r, sessions, err);
	(void)snprintf(command, sizeof(command), AGENT_SESSION_COMMAND "%s", r->session);
	if (e == 0)
		e = cow_stay_begin(&r->changes, &r->opts, &r->p.host, &r->p.plan, command, r->kept[0] ? r->kept : NULL, err);
	/* what held nothing is gone, and there is nothing to tell of it */
	if (e == 0 && r->changes.c.on && strcmp(r->changes.c.cs.id, r->kept) != 0)
		r->kept[0] = '\0';
	return e;
}

/* files, variables and the command line, for the sandbox and for the agent. Whether changes may be taken over is sealed here, too */
static int configure(struct run_cmd *r, char *const env[], struct ak_err *err)
{
	const struct run_words *w = &r->words;
	struct config_scan scan;
	int e;

	config_scan(w->nshape, w->shape, false, &scan);
	scan.section = AK_CFG_RUN;
	e = config_load(&scan, env, true, &r->config, err);
	if (e == 0)
		e = args_parse(ARGS_AGENT, w->nshape, w->shape, r->config, &r->opts, err);
	if (e == 0)
		e = args_agent_apply(r->config, &r->opts, w->options, w->noptions, err);
	if (e == 0)
		e = args_providers_check(r->config, err);
	if (e == 0)
		e = args_agent_settings(r->config, &r->opts, &r->settings, err);
	if (e == 0)
		r->opts.apply = args_agent_may_apply(r->config, &r->opts);
	return e;
}

/* What the command line and the settings allow. Return: 0; -EINVAL (usage); other negative errno (no sandbox here) */
static int seal(struct run_cmd *r, int argc, char *const argv[], char *const env[], const char **ret_state, struct ak_err *err)
{
	int e = run_words_split(argc, argv, &r->words, err);

	*ret_state = STATE_USAGE;
	if (e == 0)
		e = configure(r, env, err);
	if (e == -EACCES)
		*ret_state = STATE_UNAVAILABLE; /* the workspace cannot be entered */
	if (e < 0)
		return e;
	*ret_state = STATE_UNAVAILABLE;
	e = r->opts.backend == BACKEND_NATIVE ? plan_native(r, env, err) : held_open(&r->opts, env, &r->p, &r->held, err);
	if (e == 0)
		*ret_state = STATE_OK;
	else if (r->kept[0] && (e == -EBUSY || e == -ESTALE || e == -EBADMSG))
		*ret_state = STATE_REFUSED;
	return e;
}

/* ak-agent run|chat STATE MESSAGE HINT WORKSPACE SESSION KEPT N, N texts of settings, WORDS... */
static int start_agent(struct run_cmd *r, char *const env[], const char *state, const struct ak_err *why, struct ak_err *err)
{
	size_t n = 0;
	const char *workspace = r->held ? held_workspace(r->held) : r->p.plan.workspace;
	char **argv = calloc((size_t)r->words.nagent + r->settings.n + 10, sizeof(*argv));
	char count[24];
	int e;

	if (!argv)
		return ak_err_set(err, ENOMEM, "run: not enough memory for the command line");
	e = ak_chan_pair(r->sock, err);
	if (e == 0 && (pipe2(r->control, O_CLOEXEC) < 0 || fcntl(r->control[1], F_SETFL, O_NONBLOCK) < 0))
		e = ak_err_sys(err, errno, "make a pipe");
	if (e == 0) {
		argv[n++] = (char *)(uintptr_t)"ak-agent";
		argv[n++] = (char *)(uintptr_t)r->name;
		argv[n++] = (char *)(uintptr_t)state;
		argv[n++] = (char *)(uintptr_t)why->msg;
		argv[n++] = (char *)(uintptr_t)why->hint;
		argv[n++] = (char *)(uintptr_t)(workspace ? workspace : "");
		argv[n++] = r->session;
		argv[n++] = r->kept;
		(void)snprintf(count, sizeof(count), "%zu", r->settings.n);
		argv[n++] = count;
		for (size_t i = 0; i < r->settings.n; i++)
			argv[n++] = r->settings.v[i];
		for (int i = 0; i < r->words.nagent; i++)
			argv[n++] = r->words.agent[i];
		r->pid = agent_spawn(r->exe, argv, env, r->sock[1], r->control[0], &r->pidfd, err);
		e = r->pid < 0 ? (int)r->pid : 0;
	}
	free(argv);
	ak_fd_close(&r->sock[1]);
	ak_fd_close(&r->control[0]);
	return e;
}

/*
 * The agent has the standard streams. Ours lead nowhere, so that what is started here has none of the caller's; standard output is
 * kept by another number until the agent has written its result, or has died.
 */
static int let_go_of_streams(struct ak_err *err)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return ak_err_sys(err, errno, "open /dev/null");
	(void)close(fd);
	return 0;
}

/* there will be no sandbox: the first request is refused with the reason */
static void refuse_agent(struct run_cmd *r, const struct ak_err *why)
{
	struct pollfd p = { .fd = r->sock[0], .events = POLLIN };
	struct ak_refused m = { .code = AK_CODE_START, .err = (uint32_t)why->code, .text = why->msg, .hint = why->hint };
	uint8_t *buf = malloc(AK_MSG_MAX);
	struct ak_frame f = { .nfds = 0 };
	uint8_t out[4096];
	long len = ak_refused_encode(&m, out, sizeof(out));

	if (buf && poll(&p, 1, REFUSE_MS) == 1 && ak_chan_recv(r->sock[0], buf, &f, MSG_DONTWAIT) == 1) {
		if (len > 0)
			(void)ak_chan_send(r->sock[0], AK_OP_REFUSED, f.seq, out, (size_t)len, NULL, 0, MSG_DONTWAIT);
		ak_frame_release(&f);
	}
	free(buf);
	ak_fd_close(&r->sock[0]);
}

/* once: what changes afterwards is not the run's */
static const struct protected_report *look_again(void *arg)
{
	struct run_cmd *r = arg;

	if (!r->looked)
		r->protected = protected_look_end(&r->look);
	r->looked = true;
	return r->protected;
}

static int serve(struct run_cmd *r, struct ak_err *err)
{
	struct serve_opts so = { .opts = &r->opts, .plan = &r->p.plan, .listen_fd = -1, .alive_fd = -1, .tell_fd = r->control[1] };

	so.privs = r->p.root_mode ? &r->p.privs : NULL;
	so.landlock_abi = r->p.landlock_abi;
	so.conn_fd = ak_fd_take(&r->sock[0]);
	so.signal_fd = r->signal_fd;
	so.cgroup_dir = r->limits.place.dir;
	so.cgroup_have = r->limits.place.have;
	so.tell_paths = true;
	so.changes = r->opts.write == WRITE_COW ? &r->changes : NULL;
	so.may_apply = r->opts.apply;
	so.held = r->held;
	so.touched = r->opts.write == WRITE_DIRECT ? &r->touched : NULL;
	if (r->opts.write == WRITE_DIRECT) {
		so.protected = look_again;
		so.protected_arg = r;
	}
	so.tell_pidfd = r->pidfd;
	so.follow_fd = r->chat ? r->pidfd : 0;
	so.seen = &r->seen;
	so.left = &r->left;
	return serve_run(&so, err);
}

/*
 * The agent is gone, or cannot be started, without a word: the result is ours to write. Of a copy of the workspace it says what is
 * kept, so that is closed first.
 */
static int end_without_agent(struct run_cmd *r, const struct ak_err *why)
{
	struct run_end e = { .out = r->out, .form = r->words.output, .signo = r->seen.signo, .session = r->seen.session,
			     .start_ns = r->start_ns, .err = *why };
	struct ak_err err = { 0 };
	int w;

	cow_stay_end(&r->changes, &r->left);
	if (r->left.id[0])
		e.changes = &r->left;
	e.protected = look_again(r);
	if (r->left.kept)
		ak_err_hint(&e.err, "changes are kept as %s: ak diff %s, ak apply %s, ak discard %s", r->left.id, r->left.id, r->left.id,
			    r->left.id);
	else if (r->seen.stored)
		ak_err_hint(&e.err, "the session can be gone on with: ak resume %s", r->seen.session);
	(void)say(&e.err, 0);
	w = r->seen.done ? 0 : run_end_write(&e); /* it had written it, and said so */
	if (w < 0) {
		(void)ak_err_sys(&err, -w, "run: write the result to standard output");
		(void)say(&err, 0);
	}
	return run_end_code(&e);
}

/* the agent could not do it; a terminal that is somebody else's by now is left alone */
static void restore_terminal(struct run_cmd *r)
{
	static const char no_pastes[] = "\033[?2004l\n"; /* the agent may have switched bracketed paste on */

	if (r->found.fd < 0 || tcgetpgrp(r->found.fd) != getpgrp())
		return;
	tty_restore(&r->found);
	(void)ak_write_all(STDERR_FILENO, no_pastes, sizeof(no_pastes) - 1);
}

/*
 * Return: its exit code. In root mode it has other ids and cannot be killed, so one that does not end is left to itself; one that is
 * stopped is continued, which its session allows (kill(2)).
 */
static int wait_agent(struct run_cmd *r)
{
	struct pollfd p = { .fd = r->pidfd, .events = POLLIN };
	struct ak_err err = { 0 };
	int status = 0;

	(void)syscall(SYS_pidfd_send_signal, r->pidfd, SIGCONT, NULL, 0);
	if (poll(&p, 1, AGENT_END_MS) == 0 && syscall(SYS_pidfd_send_signal, r->pidfd, SIGKILL, NULL, 0) < 0) {
		(void)ak_err_sys(&err, errno, "run: end ak-agent (process %d), which does not end by itself", (int)r->pid);
		return end_without_agent(r, &err);
	}
	if (waitpid(r->pid, &status, 0) != r->pid) {
		(void)ak_err_sys(&err, errno, "run: wait for ak-agent");
		return end_without_agent(r, &err);
	}
	/* 126 and 127 are agent_spawn()'s own */
	if (WIFEXITED(status) && WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127)
		return WEXITSTATUS(status);
	if (WIFSIGNALED(status))
		restore_terminal(r);
	if (WIFSIGNALED(status))
		(void)ak_err_set(&err, EIO, "%s: ak-agent was killed by signal %d", r->name, WTERMSIG(status));
	else
		(void)ak_err_set(&err, EIO, "%s: ak-agent could not be started", r->name);
	return end_without_agent(r, &err);
}

/*
 * A workspace that is written directly is looked at before anything of the model's runs, and what keeps files as they were before tools
 * change them is started while it can still be reached
 */
static void look_first(struct run_cmd *r)
{
	const char *workspace = r->held ? held_workspace(r->held) : r->p.plan.workspace;

	if (r->opts.write != WRITE_DIRECT)
		return;
	protected_look_begin_path(&r->look, workspace);
	touch_stay_begin(&r->touched, &r->p.host, workspace, r->p.plan.workspace,
			 !r->held && r->p.plan.identity == PLAN_ID_RANGE);
}

/* one line that names what changed of the protected names; the agent has ended, and with it every sandbox */
static void tell_protected(struct run_cmd *r)
{
	struct report rep = { .opts = &r->opts, .protected = look_again(r) };
	struct ak_buf b = { 0 };

	ak_buf_str(&b, "ak: ");
	report_protected_text(&rep, &b);
	ak_buf_str(&b, "\n");
	if (!b.failed && !r->words.quiet && b.len > sizeof("ak: \n") - 1)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);
	ak_buf_release(&b);
}

static int run(struct run_cmd *r, int argc, char *const argv[], char *const env[])
{
	struct ak_err why = { 0 }, err = { 0 };
	const char *state;
	int e, sealed, code;

	r->exe = companion_open("ak-agent", &err);
	sealed = seal(r, argc, argv, env, &state, &why);
	if (r->exe < 0)
		return end_without_agent(r, &err);
	if (sealed == 0)
		look_first(r);
	e = block_signals(r, &err);
	if (e == 0)
		e = start_agent(r, env, state, &why, &err);
	plan_keys_forget(env, &r->opts);	/* the agent has its own copy, and wipes it when it has read it */
	if (e < 0)
		return end_without_agent(r, &err);
	e = let_go_of_streams(&err);
	if (e == 0 && sealed == 0 && !r->held)
		e = prepare_serving(&r->p, &err);
	if (e == 0 && sealed == 0)
		e = serve(r, &err);
	if (e < 0 && r->sock[0] >= 0)
		refuse_agent(r, &err);
	else if (e < 0)
		(void)say(&err, EXIT_FAILED);
	ak_fd_close(&r->sock[0]);
	code = wait_agent(r);
	tell_protected(r);
	return code;
}

/* one that the caller has closed cannot be written to, and whoever tries has to hear that */
static int close_stdout(unsigned closed)
{
	int fd = closed & (1u << STDOUT_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : STDOUT_FILENO;
	int r = fd == STDOUT_FILENO ? 0 : fd < 0 ? -errno : dup2(fd, STDOUT_FILENO);

	if (fd >= 0 && fd != STDOUT_FILENO)
		(void)close(fd);
	return r < 0 ? r : 0;
}

static int run_command(const char *name, bool chat, int argc, char *const argv[], char *const env[])
{
	struct run_cmd r = { .name = name, .chat = chat, .found = TTY_STATE_NONE, .p = PREPARED_NONE, .exe = -1, .out = -1,
			     .start_ns = ak_now_ns(), .sock = { -1, -1 }, .control = { -1, -1 }, .signal_fd = -1, .pidfd = -1,
			     .look = PROTECTED_LOOK_NONE };
	unsigned closed = 0;
	int code;

	limits_init(&r.limits);
	cow_stay_init(&r.changes);
	touch_stay_init(&r.touched);
	if (streams_fix_stdio(&closed, NULL) < 0 || syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) < 0 ||
	    close_stdout(closed) < 0)
		return EXIT_FAILED;
	r.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (chat && tcgetattr(STDERR_FILENO, &r.found.saved) == 0)
		r.found.fd = STDERR_FILENO;
	code = run(&r, argc, argv, env);
	cow_stay_end(&r.changes, NULL);
	cow_close_release(&r.left);
	touch_stay_end(&r.touched);
	(void)limits_end(&r.limits); /* closes only: each sandbox has removed its own */
	held_free(r.held);
	prepared_release(&r.p);
	protected_look_release(&r.look);
	exec_opts_release(&r.opts);
	args_settings_release(&r.settings);
	config_free(r.config);
	run_words_release(&r.words);
	ak_fd_close(&r.out);
	ak_fd_close(&r.exe);
	ak_fd_close(&r.sock[0]);
	ak_fd_close(&r.control[1]);
	ak_fd_close(&r.signal_fd);
	ak_fd_close(&r.pidfd);
	return code;
}

int cmd_run(int argc, char *const argv[], char *const env[])
{
	return run_command("run", false, argc, argv, env);
}

int cmd_chat(int argc, char *const argv[], char *const env[])
{
	return run_command("chat", true, argc, argv, env);
}
