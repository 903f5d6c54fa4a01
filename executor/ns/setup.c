/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rootless the child runs in the executor's memory while that is suspended (vclone.h): nothing here may change what the
 * executor still needs. It does not: descriptors and credentials are the child's own, and only locals are written.
 *
 * The set-up child: from a fresh clone in new namespaces to ak-init as pid 1 of a finished sandbox. No hostile code exists
 * yet. Privilege: all capabilities of its own user namespace, given up step by step; none on the host.
 */
#include "executor/ns/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/ahead.h"
#include "executor/ns/caps.h"
#include "executor/ns/kabi.h"
#include "executor/ns/mount.h"
#include "executor/ns/netns.h"
#include "executor/ns/nslimit.h"
#include "executor/ns/prework.h"
#include "executor/ns/sigs.h"
#include "executor/plan.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/shared/ak_weaken.h"

#define NESTED_NAMESPACES "32"		/* of each kind, with --nesting */

static _Noreturn void child_fail(const struct setup *s, const struct ak_err *err)
{
	char buf[AK_INIT_MSG_MAX];
	struct init_msg m = { .type = INIT_MSG_FAILED, .stage = INIT_STAGE_SETUP, .code = (uint32_t)err->code,
			      .exit_code = 125, .text = err->msg, .hint = err->hint };
	long n = init_msg_encode(&m, buf, sizeof(buf));

	if (n > 0)
		(void)send(s->ctl, buf, (size_t)n, MSG_NOSIGNAL);	/* no parent: nobody to tell */
	_exit(125);
}

/* wait until the parent has written our id maps */
static int wait_for_go(const struct setup *s, struct ak_err *err)
{
	char buf[AK_INIT_MSG_MAX];
	struct init_msg m;
	ssize_t n;

	do
		n = recv(s->ctl, buf, sizeof(buf), 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		_exit(125);	/* the parent is gone */
	if (init_msg_decode(buf, (size_t)n, &m) < 0 || m.type != INIT_MSG_GO)
		return ak_err_set(err, EBADMSG, "unexpected message instead of the go-ahead");
	return 0;
}

static int write_file(int dir, const char *path, const char *text)
{
	AK_AUTO_FD fd = openat(dir, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* ids: maps, our own ids, and what must be written while /proc/self still belongs to us (setresuid makes us non-dumpable) */
static int step_identity(const struct setup *s, struct ak_err *err)
{
	int r;

	if (s->ahead)
		return 0;	/* prework_do() */
	r = s->wait_go ? wait_for_go(s, err) : userns_write_maps(0, s->uid, s->gid, true, err);

	if (r < 0)
		return r;
	if (!AK_WEAK(s->weaken, AK_WEAK_OOMADJ))
		(void)write_file(AT_FDCWD, "/proc/self/oom_score_adj", OOM_SCORE_ADJ);	/* refused only if it is higher already */
	if (s->wait_go) {
		if (setresgid(s->plan->gid, s->plan->gid, s->plan->gid) < 0)
			return ak_err_sys(err, errno, "setresgid %u", s->plan->gid);
		if (setresuid(s->plan->uid, s->plan->uid, s->plan->uid) < 0)
			return ak_err_sys(err, errno, "setresuid %u", s->plan->uid);
	}
	return 0;
}

/* die with the parent; set after the last change of ids, which clears it (prctl(2)) */
static int step_pdeath(const struct setup *s, struct ak_err *err)
{
	struct pollfd p = { .fd = s->ctl, .events = POLLIN };

	if (AK_WEAK(s->weaken, AK_WEAK_PDEATH))
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return ak_err_sys(err, errno, "PR_SET_PDEATHSIG");
	/* the parent may have died before that */
	if (poll(&p, 1, 0) > 0 && (p.revents & POLLHUP))
		_exit(125);
	return 0;
}

/*
 * A cgroup namespace has its root in the group of whoever makes it: clone3 with CLONE_INTO_CGROUP and CLONE_NEWCGROUP roots it in
 * the parent's, and the name of ours would be seen from inside.
 */
static int step_cgroup_namespace(const struct setup *s, struct ak_err *err)
{
	return s->cgroupns && unshare(CLONE_NEWCGROUP) < 0 ? userns_explain(errno, err) : 0;
}

/* the caller's ignored signals are its own affair; init makes SIGCHLD default, which it needs itself */
static int step_signals(const struct setup *s, struct ak_err *err)
{
	(void)err;
	if (!AK_WEAK(s->weaken, AK_WEAK_SIGNALS) && !s->ahead)
		sigs_default();
	return 0;
}

static int keyring_failed(int code, struct ak_err *err)
{
	(void)ak_err_sys(err, code, "join a new session keyring");
	if (code == EPERM)
		ak_err_hint(err, "a seccomp filter around ak forbids it, as in a container or another sandbox: start ak outside of that "
				 "(docker: --security-opt seccomp=unconfined)");
	else if (code == EDQUOT || code == ENOMEM)
		ak_err_hint(err, "the caller's quota of keys is used up (kernel.keys.maxkeys, /proc/key-users)");
	return -code;
}

static int step_keyring(const struct setup *s, struct ak_err *err)
{
	if (AK_WEAK(s->weaken, AK_WEAK_KEYRING) || s->ahead)
		return 0;
	/* namespaces do not cover the session keyring; a kernel without keys has nothing to share */
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		return keyring_failed(errno, err);
	return 0;
}

static bool own_network(const struct setup *s)
{
	return s->plan->net == NET_NONE && !AK_WEAK(s->weaken, AK_WEAK_NETNS);
}

static int step_names(const struct setup *s, struct ak_err *err)
{
	const char *name = s->plan->hostname;

	if (!AK_WEAK(s->weaken, AK_WEAK_UTSNS) && sethostname(name, strlen(name)) < 0)
		return ak_err_sys(err, errno, "sethostname");
	return 0;
}

static int make_root(struct mnt_ctx *c, struct ak_err *err)
{
	int r = mount_begin(c, err);

	if (r == 0)
		r = mount_all(c, err);
	if (r == 0)
		r = mount_leave_host(c, err);
	/* open_tree(2) gives each clone a namespace of its own; nothing here writes to a disk */
	if (r == -ENOSPC)
		ak_err_hint(err, "a limit of the kernel on mounts is reached (user.max_mnt_namespaces, fs.mount-max): building a sandbox takes "
				 "several; an administrator can raise it");
	return r;
}

static void build_parts(void *arg)
{
	mount_parts_beside(arg);
}

/* none, or with --nesting so many that a few sandboxes fit in one another or side by side */
static struct nslimit limits_inside(const struct setup *s)
{
	if (AK_WEAK(s->weaken, AK_WEAK_NSLIMIT))
		return (struct nslimit){ 0 };
	if (!s->plan->nesting)
		return (struct nslimit){ "0", "0" };
	return (struct nslimit){ NESTED_NAMESPACES, s->plan->nest_cgroups ? NESTED_NAMESPACES : "0" };
}

/* what the second thread shares with the first, on the first one's stack */
struct beside {
	struct netns_worker *net;	/* @own_net, or the one that began ahead; NULL: there is none */
	struct netns_worker own_net;
	struct mnt_ctx root;
	int limit_dir;		/* of nslimit_open() */
	bool limits_late;	/* no thread writes the first limits */
};

/* what the second thread does where there is one, and the last limit, after the last detached mount */
static int close_namespaces(const struct setup *s, const struct beside *b, struct ak_err *err)
{
	const struct nslimit l = limits_inside(s);
	const char *name = "";
	int r = b->limits_late ? nslimit_first(b->limit_dir, &l, &name) : 0;

	if (r == 0)
		r = nslimit_last(b->limit_dir, &l, &name);
	return r < 0 ? ak_err_sys(err, -r, "write user.%s of the sandbox", name) : 0;
}

/*
 * The second thread is started as soon as it may be. It needs no ids; but files of a network namespace belong to its uid 0 and
 * gid 0, as mapped when it is made.
 */
static bool may_begin_early(const struct setup *s)
{
	return !s->wait_go && s->uid.inside != 0 && s->gid.inside != 0;
}

/*
 * The thread does not run on when it has nothing to do any more. It is not to be there when this process executes, or fails: it uses our
 * stack, and has all capabilities still.
 */
static void end_beside(struct beside *b)
{
	if (!b->net)
		return;
	mount_give_up(&b->root);
	netns_end(b->net);
}

static int begin_beside(const struct setup *s, struct beside *b, struct ak_err *err)
{
	struct ahead *a = s->ahead;
	const int dir = a && a->net.job.limit_dir >= 0 ? a->net.job.limit_dir : nslimit_open();
	const struct netns_job job = { .loopback = !AK_WEAK(s->weaken, AK_WEAK_LOOPBACK), .limit_dir = dir,
				       .limits = limits_inside(s), .after = build_parts, .arg = &b->root };

	b->limit_dir = dir;	/* the host's /proc is out of reach afterwards */
	if (dir < 0)
		return ak_err_sys(err, -dir, "open /proc/sys/user");
	b->limits_late = !own_network(s) || (a && a->net.job.limit_dir < 0);
	mount_init(&b->root, s->plan, s->weaken);
	(void)umask(0);	/* before the thread takes its copy */
	if (a)
		mount_take_over(&b->root, a->done.root, a->done.proc, a->done.dev);
	if (!a && !own_network(s))
		return 0;
	b->net = a ? &a->net : &b->own_net;
	b->root.beside = true;
	if (a)
		ahead_beside(a, build_parts, &b->root);
	else
		netns_begin(b->net, &job);
	if (!b->net->started)
		b->root.beside = false;
	return 0;
}

/* the root is built and the door to the host closed, the network is made beside that */
static int step_root_and_network(const struct setup *s, struct beside *b, struct ak_err *err)
{
	int r = make_root(&b->root, err);

	(void)umask(022);
	if (r == 0 && b->net)
		r = netns_enter(b->net, err);
	if (r == 0)
		r = close_namespaces(s, b, err);
	ak_fd_close(&b->limit_dir);
	return r < 0 ? r : mount_seal(&b->root, err);
}

static int step_privileges(const struct setup *s, struct ak_err *err)
{
	int r = 0;

	if (!AK_WEAK(s->weaken, AK_WEAK_CAPS))
		r = s->ahead ? caps_drop_rest(err) : caps_drop_all(err);
	if (r < 0)
		return r;
	if (!AK_WEAK(s->weaken, AK_WEAK_NNP) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ak_err_sys(err, errno, "PR_SET_NO_NEW_PRIVS");
	return 0;
}

/* 0, 1 and 2 become the command's streams; sources above 2 first, so that none is overwritten before it was used */
static int place_stdio(const struct setup *s, struct ak_err *err)
{
	int fd[3];

	for (int i = 0; i < 3; i++) {
		fd[i] = s->stdio[i] < 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : s->stdio[i];
		if (fd[i] >= 0 && fd[i] < 3 && fd[i] != i)
			fd[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, 3);
		if (fd[i] < 0)
			return ak_err_sys(err, errno, "open standard stream %d", i);
	}
	for (int i = 0; i < 3; i++)
		if (fd[i] == i ? fcntl(i, F_SETFD, 0) < 0 : dup2(fd[i], i) < 0)
			return ak_err_sys(err, errno, "place standard stream %d", i);
	return 0;
}

/* only what init needs survives its exec: everything else becomes close-on-exec in one call */
static int step_descriptors(const struct setup *s, struct ak_err *err)
{
	int r = place_stdio(s, err);

	if (r < 0)
		return r;
	if (!AK_WEAK(s->weaken, AK_WEAK_FDS) && syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return ak_err_sys(err, errno, "close_range");
	if (fcntl(s->ctl, F_SETFD, 0) < 0 || fcntl(s->config, F_SETFD, 0) < 0)
		return ak_err_sys(err, errno, "keep the control descriptors");
	for (size_t i = 0; i < s->plan->nkeep_fds; i++)
		if (fcntl(s->plan->keep_fds[i], F_SETFD, 0) < 0)
			return ak_err_sys(err, errno, "--fd %d", s->plan->keep_fds[i]);
	return 0;
}

static int step_exec(const struct setup *s, struct ak_err *err)
{
	char ctl[12], config[12];
	char name[] = "ak-init";
	char *argv[] = { name, ctl, config, NULL };
	char *envp[] = { NULL };

	snprintf(ctl, sizeof(ctl), "%d", s->ctl);
	snprintf(config, sizeof(config), "%d", s->config);
	(void)syscall(SYS_execveat, s->init, "", argv, envp, AT_EMPTY_PATH);
	return ak_err_sys(err, errno, "start ak-init");
}

/* the order matters: see docs/architecture.md, "One sandbox" */
static int run_steps(const struct setup *s, struct ak_err *err)
{
	static int (*const before[])(const struct setup *, struct ak_err *) = { step_identity, step_pdeath, step_signals, step_keyring, step_names };
	static int (*const after[])(const struct setup *, struct ak_err *) = { step_privileges, step_descriptors };
	struct beside b AK_UNINIT;
	bool early = may_begin_early(s);

	b.net = NULL;
	/* first: the second thread may forbid further namespaces of its kind at any time */
	int r = step_cgroup_namespace(s, err);

	if (r == 0 && early)
		r = begin_beside(s, &b, err);
	for (size_t i = 0; r == 0 && i < sizeof(before) / sizeof(before[0]); i++)
		r = before[i](s, err);
	if (r == 0 && !early)
		r = begin_beside(s, &b, err);
	if (r == 0)
		r = step_root_and_network(s, &b, err);
	for (size_t i = 0; r == 0 && i < sizeof(after) / sizeof(after[0]); i++)
		r = after[i](s, err);
	end_beside(&b);
	if (r == 0)
		r = mount_check_alone(&b.root, err);
	return r < 0 ? r : step_exec(s, err);
}

/* without namespaces: nothing may be written but what is this process's own */
static int step_plain_identity(const struct setup *s, struct ak_err *err)
{
	(void)err;
	if (!AK_WEAK(s->weaken, AK_WEAK_OOMADJ))
		(void)write_file(AT_FDCWD, "/proc/self/oom_score_adj", OOM_SCORE_ADJ);
	return 0;
}

/* signals of the caller's terminal are for the executor, which passes them on */
static int step_session(const struct setup *s, struct ak_err *err)
{
	(void)s;
	return setsid() < 0 ? ak_err_sys(err, errno, "setsid") : 0;
}

/* a caller in a user namespace may hold capabilities there; an ordinary one can empty everything but the bounding set */
static int step_plain_privileges(const struct setup *s, struct ak_err *err)
{
	int r = AK_WEAK(s->weaken, AK_WEAK_CAPS) ? 0 : caps_drop_held(err);

	if (r < 0)
		return r;
	if (!AK_WEAK(s->weaken, AK_WEAK_NNP) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ak_err_sys(err, errno, "PR_SET_NO_NEW_PRIVS");
	return 0;
}

static int run_plain_steps(const struct setup *s, struct ak_err *err)
{
	static int (*const steps[])(const struct setup *, struct ak_err *) = {
		step_plain_identity, step_pdeath, step_signals, step_keyring, step_session, step_plain_privileges, step_descriptors, step_exec,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		r = steps[i](s, err);
	return r;
}

_Noreturn void setup_child(const struct setup *s)
{
	struct ak_err err = { 0 };

	(void)close(s->ctl_parent);
	if ((s->plan->plain ? run_plain_steps(s, &err) : run_steps(s, &err)) < 0)
		child_fail(s, &err);
	_exit(125);
}
