/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a plan into a running sandbox: writes init's configuration, clones the set-up child, maps its ids (root mode).
 * Process: executor. Privilege: none (rootless), or CAP_SETUID and CAP_SETGID in its own user namespace (root mode).
 */
#include "executor/sandbox.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/backend.h"
#include "executor/ns/ahead.h"
#include "executor/ns/init_image.h"
#include "executor/ns/setup.h"
#include "executor/ns/userns.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/privs.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_canary.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/shared/ak_weaken.h"
#include "executor/stream.h"
#include "seccomp/filters.h"
#include "seccomp/observe.h"

#define CONFIG_USUAL_BYTES (8u << 10)	/* filters 3 kB, environment and arguments of most commands */

static enum seccomp_floor_kind floor_kind(const struct plan *p)
{
	if (p->plain)
		return p->net == NET_NONE ? SECCOMP_FLOOR_PLAIN : SECCOMP_FLOOR_PLAIN_NET;
	if (p->nesting)
		return p->allow_setid ? SECCOMP_FLOOR_NESTED_SETID : SECCOMP_FLOOR_NESTED;
	if (p->allow_setid)
		return SECCOMP_FLOOR_SETID;
	return p->floor_setgid ? SECCOMP_FLOOR_ROOT : SECCOMP_FLOOR_USER;
}

static struct init_filter as_filter(const struct sock_filter *f, uint32_t count)
{
	return (struct init_filter){ .insns = (const uint8_t *)f, .count = count };
}

/* both kinds of bytes are aligned: of struct sock_filter in the program, or malloc'ed */
static const struct sock_filter *insns(const uint8_t *bytes)
{
	return (const struct sock_filter *)(const void *)bytes;
}

void sandbox_filters(const struct plan *plan, struct observe_filters *ret)
{
	const struct seccomp_filter *floor = seccomp_floor(floor_kind(plan));
	const struct seccomp_filter *profile = plan->filter ? NULL : seccomp_profile(plan->seccomp);

	*ret = (struct observe_filters){
		.profile = insns(profile ? profile->insns : plan->filter),
		.n_profile = profile ? profile->count : plan->filter_count,
		.floor = insns(floor->insns),
		.n_floor = floor->count,
	};
}

/* File operations work below the workspace and wherever a command may write */
static void fill_serve(const struct plan *p, struct init_config *c)
{
	c->flags = INIT_SERVE | (c->flags & INIT_LANDLOCK) | (p->late_filters || p->filter ? INIT_LATE_FILTERS : 0u) |
		   (p->leaves ? INIT_LEAVES : 0u) | (p->once ? INIT_ONCE : 0u);
	c->argc = 0;
	c->nkeep_fds = 0;
	c->roots[c->nroots++] = p->workspace;
	for (size_t i = 0; i < p->npaths && c->nroots < AK_INIT_ROOTS_MAX; i++) {
		if (p->paths[i].access == INIT_PATH_RW && strcmp(p->paths[i].path, p->workspace) != 0)
			c->roots[c->nroots++] = p->paths[i].path;
	}
}

static void fill_filters(const struct plan *p, struct init_config *c)
{
	struct observe_filters f;

	sandbox_filters(p, &f);
	c->profile = as_filter(f.profile, f.n_profile);
	c->floor = as_filter(f.floor, f.n_floor);
	c->canary_skip = p->canary_skip | (p->nesting ? AK_CANARIES_NESTING : 0u);
	if (p->joined)
		c->joined = (struct init_filter){ .insns = p->joined, .count = p->joined_count };
}

static uint32_t config_flags(const struct plan *p, int landlock_abi)
{
	uint32_t flags = (p->tty ? INIT_TTY : 0u) | (p->plain ? INIT_PLAIN : 0u) | (p->learn ? INIT_LEARN : 0u);

	if (landlock_abi > 0)
		flags |= INIT_LANDLOCK | (p->nesting ? INIT_SCOPES : 0u) | (p->plain && p->net == NET_NONE ? INIT_NO_TCP : 0u);
	return flags;
}

static void fill_config(const struct plan *p, int landlock_abi, struct init_config *c)
{
	c->flags = config_flags(p, landlock_abi);
	c->weaken = ak_weaken_mask();
	c->cwd = p->cwd;
	c->argv = (const char **)p->argv;
	c->argc = (uint32_t)p->argc;
	c->envp = (const char **)p->envp;
	c->envc = (uint32_t)p->envc;
	c->landlock_abi = (uint32_t)landlock_abi;
	c->npaths = (uint32_t)p->npaths;
	memcpy(c->paths, p->paths, p->npaths * sizeof(p->paths[0]));
	c->nrlimits = (uint32_t)p->nrlimits;
	for (size_t i = 0; i < p->nrlimits; i++)
		c->rlimits[i] = (struct init_rlimit){ p->rlimits[i].resource, p->rlimits[i].soft, p->rlimits[i].hard };
	fill_filters(p, c);
	c->nkeep_fds = (uint32_t)p->nkeep_fds;
	if (p->nkeep_fds)
		memcpy(c->keep_fds, p->keep_fds, p->nkeep_fds * sizeof(p->keep_fds[0]));
	c->tty_rows = 24;
	c->tty_cols = 80;
	if (p->serve)
		fill_serve(p, c);
}

/* what docker or nothing holds: no rule and no filter of ours */
static void fill_held(const struct plan *p, struct init_config *c)
{
	c->flags = INIT_SERVE | INIT_BARE | (p->once ? INIT_ONCE : 0u) | (p->held->backend == BACKEND_DOCKER ? INIT_OWN_ENV : 0u);
	c->weaken = ak_weaken_mask();
	c->cwd = p->cwd;
	c->envp = (const char **)p->envp;
	c->envc = (uint32_t)p->envc;
	c->canary_skip = ~0u;
	c->nrlimits = (uint32_t)p->nrlimits;
	for (size_t i = 0; i < p->nrlimits; i++)
		c->rlimits[i] = (struct init_rlimit){ p->rlimits[i].resource, p->rlimits[i].soft, p->rlimits[i].hard };
	c->roots[c->nroots++] = p->workspace;
	for (size_t i = 0; i < p->npaths && c->nroots < AK_INIT_ROOTS_MAX; i++)
		c->roots[c->nroots++] = p->paths[i].path;
}

static int keep_config(const void *bytes, long n, struct ak_err *err)
{
	if (n == -ENOBUFS)
		return ak_err_set(err, E2BIG, "arguments and environment are too large");
	if (n < 0)
		return ak_err_sys(err, (int)-n, "write the configuration of init");
	return sealed_memfd("ak-config", bytes, (size_t)n, false, err);
}

static int encode_large(const struct init_config *c, struct ak_err *err)
{
	uint8_t *buf = malloc(AK_INIT_CONFIG_MAX);
	int fd;

	if (!buf)
		return ak_err_set(err, ENOMEM, "out of memory");
	fd = keep_config(buf, init_config_encode(c, buf, AK_INIT_CONFIG_MAX), err);
	free(buf);
	return fd;
}

/* into a buffer that nearly always suffices, and whose pages the plan has used before; else into the largest */
static int encode_config(const struct init_config *c, struct ak_err *err)
{
	uint8_t buf[CONFIG_USUAL_BYTES] AK_UNINIT;
	long n = init_config_encode(c, buf, sizeof(buf));

	return n == -ENOBUFS ? encode_large(c, err) : keep_config(buf, n, err);
}

int sandbox_config_open(const struct plan *p, int landlock_abi, struct ak_err *err)
{
	struct init_config c = { 0 };

	if (p->npaths > AK_INIT_PATHS_MAX || p->nkeep_fds > AK_INIT_FDS_MAX)
		return ak_err_set(err, E2BIG, "too many mounts or --fd descriptors");
	if (p->held)
		fill_held(p, &c);
	else
		fill_config(p, landlock_abi, &c);
	return encode_config(&c, err);
}

static uint64_t clone_flags(const struct plan *plan)
{
	uint32_t weaken = ak_weaken_mask();
	uint64_t flags = plan->plain ? 0 : CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID;

	if (plan->plain)
		return flags;
	if (!AK_WEAK(weaken, AK_WEAK_IPCNS))
		flags |= CLONE_NEWIPC;
	if (!AK_WEAK(weaken, AK_WEAK_UTSNS))
		flags |= CLONE_NEWUTS;
	/* the network namespace is made by the child, beside its mounts: see netns.h */
	return flags;
}

void sandbox_ahead(const struct exec_opts *o, struct ahead *a)
{
	if (ak_weaken_mask() != 0 || geteuid() == 0 || getegid() == 0 || o->net != NET_NONE || o->user_given || o->nesting ||
	    o->isolation != ISOLATION_NAMESPACES)
		return;
	ahead_begin(a, AHEAD_BORN);
}

static bool has(const struct plan *p, unsigned kind, const char *at)
{
	for (size_t i = 0; i < p->nmounts; i++)
		if (p->mounts[i].kind == kind)
			return strcmp(p->mounts[i].dst, at) == 0;
	return false;
}

/* was it right to begin before the plan was there? */
static bool as_usual(const struct sandbox_birth *b)
{
	const struct plan *p = b->s.plan;

	return ak_weaken_mask() == 0 && !b->s.wait_go && b->cgroup < 0 && b->s.uid.inside == b->ahead->uid &&
	       b->s.gid.inside == b->ahead->gid && p->net == NET_NONE && !p->plain && !p->nesting && !p->serve && !p->background &&
	       p->root == PLAN_ROOT_TMPFS && p->identity != PLAN_ID_ROOT && has(p, PM_PROC, "/proc") && has(p, PM_DEV, "/dev");
}

static int say_go(int ctl, struct ak_err *err)
{
	char buf[64];
	struct init_msg m = { .type = INIT_MSG_GO };
	long n = init_msg_encode(&m, buf, sizeof(buf));

	if (n < 0 || send(ctl, buf, (size_t)n, MSG_NOSIGNAL) != n)
		return ak_err_sys(err, errno, "tell the set-up child to go on");
	return 0;
}

/* root mode: the child waits for its maps, which only we may write */
static int map_child(pid_t pid, const struct privs *privs, int ctl, struct ak_err *err)
{
	struct id_map uid = { 0, privs->uid_base, PRIVS_OWN_ID };
	struct id_map gid = { 0, privs->gid_base, PRIVS_OWN_ID };
	int r = userns_write_maps(pid, uid, gid, true, err);

	return r < 0 ? r : say_go(ctl, err);
}

static void fill_setup(const struct plan *p, const struct streams *st, bool root_mode, struct setup *s)
{
	s->plan = p;
	for (int i = 0; i < 3; i++)
		s->stdio[i] = p->serve ? -1 : st->s[i].child;
	s->wait_go = root_mode;
	s->uid = (struct id_map){ p->uid, geteuid(), 1 };
	s->gid = (struct id_map){ p->gid, getegid(), 1 };
	s->weaken = ak_weaken_mask();
}

int sandbox_prepare(const struct plan *plan, const struct streams *st, bool root_mode, int landlock_abi, int cgroup,
		    struct sandbox_birth *ret, struct ak_err *err)
{
	int sock[2];
	AK_AUTO_FD config = sandbox_config_open(plan, landlock_abi, err);
	AK_AUTO_FD init = config < 0 ? -1 : init_image_open(plan->serve || plan->learn, err);

	if (config < 0 || init < 0)
		return config < 0 ? config : init;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return ak_err_sys(err, errno, "socketpair");
	*ret = (struct sandbox_birth){ .cgroup = AK_WEAK(ak_weaken_mask(), AK_WEAK_CGROUP) ? -1 : cgroup };
	fill_setup(plan, st, root_mode, &ret->s);
	ret->s.ctl = sock[1];
	ret->s.ctl_parent = sock[0];
	ret->s.config = ak_fd_take(&config);
	ret->s.init = ak_fd_take(&init);
	return 0;
}

void sandbox_birth_release(struct sandbox_birth *b)
{
	ak_fd_close(&b->s.ctl);
	ak_fd_close(&b->s.ctl_parent);
	ak_fd_close(&b->s.config);
	ak_fd_close(&b->s.init);
}

static void child_entry(void *arg)
{
	setup_child(arg);
}

/*
 * Rootless the child needs nothing from us before its exec, so it may borrow our memory. In root mode we write its maps
 * while it waits, and its change of ids must not make us non-dumpable: it gets a copy.
 */
static pid_t clone_child(struct sandbox_birth *b, int *ret_pidfd, struct ak_err *err)
{
	uint64_t flags = clone_flags(b->s.plan);
	pid_t pid = -ENOSYS;

	if (b->ahead && b->ahead->pid > 0 && as_usual(b)) {
		b->s.ahead = b->ahead;
		pid = ahead_go(b->ahead, &b->s, ret_pidfd);
		if (pid > 0)
			return pid;
		b->s.ahead = NULL;
		pid = -ENOSYS;
	}
	if (b->ahead)
		ahead_end(b->ahead);
	/* with a group of its own the child makes this one itself: see setup.c */
	b->s.cgroupns = b->cgroup >= 0 && !b->s.plan->plain;
	if (!b->s.cgroupns && !b->s.plan->plain)
		flags |= CLONE_NEWCGROUP;
	if (!b->s.wait_go && !b->s.plan->background)
		pid = userns_vclone(flags, b->cgroup, child_entry, &b->s, ret_pidfd, err);
	/* where clone3 is refused, as in containers, there is clone(2) for what makes no namespace */
	if (pid != -ENOSYS && !(pid == -EPERM && b->s.plan->plain))
		return pid;
	pid = userns_clone(flags, b->cgroup, ret_pidfd, err);
	if (pid == 0)
		setup_child(&b->s);
	return pid;
}

/* --- root mode with a group: born by the helper that is in it already; see privs.h --- */

struct birth_reply {
	int pid;
	struct ak_err err;
};

static void send_reply(int sock, const struct birth_reply *m, int pidfd)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)m, .iov_len = sizeof(*m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (pidfd >= 0) {
		h.msg_control = &ctl;
		h.msg_controllen = sizeof(ctl);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &pidfd, sizeof(int));
	}
	(void)sendmsg(sock, &h, MSG_NOSIGNAL);	/* no executor: the sandbox sees that by itself */
}

void sandbox_errand(void *arg, int sock)
{
	struct sandbox_birth *b = arg;
	struct birth_reply m = { 0 };
	int pidfd = -1;

	/* our sibling: the executor waits for it, and it dies with the executor */
	m.pid = userns_clone(clone_flags(b->s.plan) | CLONE_NEWCGROUP | CLONE_PARENT, -1, &pidfd, &m.err);
	if (m.pid == 0)
		setup_child(&b->s);
	send_reply(sock, &m, pidfd);
}

static pid_t receive_child(int sock, int *ret_pidfd, struct ak_err *err)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl;
	struct birth_reply m = { 0 };
	struct iovec iov = { .iov_base = &m, .iov_len = sizeof(m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl) };
	struct cmsghdr *c;
	ssize_t n = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);

	if (n != (ssize_t)sizeof(m))
		return ak_err_set(err, EPIPE, "the helper that starts the sandbox in its cgroup is gone");
	if (m.pid < 0) {
		if (err)
			*err = m.err;
		return m.pid;
	}
	c = CMSG_FIRSTHDR(&h);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return ak_err_set(err, EPIPE, "the helper that starts the sandbox sent no descriptor");
	memcpy(ret_pidfd, CMSG_DATA(c), sizeof(int));
	return m.pid;
}

int sandbox_start(struct sandbox_birth *b, const struct privs *privs, struct privs_errand *errand, struct sandbox *ret,
		  struct ak_err *err)
{
	int pidfd = -1, r = 0;
	pid_t pid;

	if (errand) {
		pid = receive_child(errand->sock, &pidfd, err);
		privs_errand_end(errand);
	} else {
		pid = clone_child(b, &pidfd, err);
	}
	if (pid < 0)
		return (int)pid;
	if (privs)
		r = map_child(pid, privs, b->s.ctl_parent, err);
	*ret = (struct sandbox){ .pidfd = pidfd, .pid = pid, .ctl = ak_fd_take(&b->s.ctl_parent) };
	sandbox_birth_release(b);
	if (r < 0) {
		/* the child sees end of file and ends; nothing of it is left behind */
		ak_fd_close(&ret->ctl);
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		(void)waitid(P_PIDFD, (id_t)pidfd, NULL, WEXITED);
		ak_fd_close(&ret->pidfd);
	}
	return r;
}

void sandbox_release(struct sandbox *sb)
{
	ak_fd_close(&sb->ctl);
	ak_fd_close(&sb->pidfd);
}
