/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What binds the command: rlimits, descriptors, Landlock, filters and their self-test. Runs in the command's
 * child, which holds no capability; nothing here can be undone by it. A step that fails ends the child:
 * nothing runs half confined.
 */
#include "executor/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/ns/kabi.h"
#include "executor/shared/ak_canary.h"
#include "executor/shared/ak_weaken.h"

/* ---- rlimits ---- */

const char *rlimit_name(uint32_t resource)
{
	static const char *const names[RLIMIT_NLIMITS] = {
		[RLIMIT_CPU] = "cpu",		[RLIMIT_FSIZE] = "fsize",
		[RLIMIT_DATA] = "data",		[RLIMIT_STACK] = "stack",
		[RLIMIT_CORE] = "core",		[RLIMIT_RSS] = "rss",
		[RLIMIT_NPROC] = "nproc",	[RLIMIT_NOFILE] = "nofile",
		[RLIMIT_MEMLOCK] = "memlock",	[RLIMIT_AS] = "as",
		[RLIMIT_LOCKS] = "locks",	[RLIMIT_SIGPENDING] = "sigpending",
		[RLIMIT_MSGQUEUE] = "msgqueue", [RLIMIT_NICE] = "nice",
		[RLIMIT_RTPRIO] = "rtprio",	[RLIMIT_RTTIME] = "rttime",
	};

	return resource < RLIMIT_NLIMITS ? names[resource] : "?";
}

void confine_limits(const struct init *in)
{
	for (uint32_t i = 0; !AK_WEAK(in->weaken, AK_WEAK_RLIMITS) && i < in->cfg->nrlimits; i++) {
		const struct init_rlimit *l = &in->cfg->rlimits[i];
		const uint64_t value[2] = { l->soft, l->hard }; /* struct rlimit64 */
		struct failure f = { .stage = INIT_STAGE_CONFINE, .exit_code = 125 };

		if (syscall(SYS_prlimit64, 0, l->resource, value, NULL) == 0)
			continue;
		f.err = errno;
		text_raw(&f.text, "resource limit ");
		text_raw(&f.text, rlimit_name(l->resource));
		text_raw(&f.text, ": ");
		text_raw(&f.text, strerror(f.err));
		fail(in, &f);
	}
}

/* ---- descriptors ---- */

static void cloexec_one_by_one(const struct init *in)
{
	struct rlimit l = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		fail_simple(in, INIT_STAGE_CONFINE, errno, "read the limit of descriptors");
	for (unsigned long fd = 3; fd < l.rlim_max && fd <= INT32_MAX; fd++)
		(void)fcntl((int)fd, F_SETFD, FD_CLOEXEC); /* EBADF: not open */
}

/*
 * Before the rlimits, of which the loop reads one, and before the filters, which may be a user's and know
 * nothing of close_range. Nothing is opened afterwards without O_CLOEXEC.
 */
static void keep_only_passed_fds(const struct init *in)
{
	/* close_range: Linux 5.9, with CLOEXEC 5.11 */
	if (!AK_WEAK(in->weaken, AK_WEAK_FDS) && syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		cloexec_one_by_one(in);
	for (uint32_t i = 0; i < in->cfg->nkeep_fds; i++) {
		if (fcntl(in->cfg->keep_fds[i], F_SETFD, 0) < 0)
			fail_simple(in, INIT_STAGE_CONFINE, errno, "pass a descriptor");
	}
}

/* ---- Landlock ---- */

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_RX (FS_READ | LANDLOCK_ACCESS_FS_EXECUTE)
#define FS_DEV                                                                                               \
	(FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_IOCTL_DEV)
/* no MAKE_CHAR and MAKE_BLOCK: device nodes cannot be made without capabilities anyhow */
#define FS_RW                                                                                                \
	(FS_RX | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |                               \
	 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |      \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |         \
	 LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)
/* the rights that a rule on a file may hold; others give EINVAL: landlock_add_rule(2) */
#define FS_FILE                                                                                              \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |         \
	 LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_IOCTL_DEV)

/* Rights that a kernel of this ABI handles. Source: Documentation/userspace-api/landlock.rst, previous
 * limitations */
static uint64_t fs_handled(uint32_t abi)
{
	uint64_t r =
		(LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1; /* ABI 1: EXECUTE to MAKE_SYM, the first 13 bits */

	if (abi >= 2)
		r |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		r |= LANDLOCK_ACCESS_FS_TRUNCATE;
	if (abi >= 5)
		r |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
	return r;
}

static uint64_t fs_access(uint32_t class)
{
	static const uint64_t rights[] = {
		[INIT_PATH_RX] = FS_RX,
		[INIT_PATH_RW] = FS_RW,
		[INIT_PATH_DEV] = FS_DEV,
	};

	return rights[class]; /* the decoder lets no other class through */
}

static long rule_add(int ruleset, const struct landlock_path_beneath_attr *rule)
{
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0);
}

/*
 * In a root of our own nothing is a link that we did not make. In the host's another program, even another command under ak, may
 * put one where the folder was that was looked at.
 */
static int open_place(const struct init *in, const char *path)
{
	/* struct open_how, linux/openat2.h: flags, mode, resolve */
	const uint64_t how[3] = { O_PATH | O_CLOEXEC, 0, AK_RESOLVE_NO_SYMLINKS };

	/* raw: libc would set close-on-exec by a second call for kernels older than any that has Landlock */
	if (in->cfg->flags & INIT_PLAIN)
		return (int)syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(how));
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
}

static void add_rule(const struct init *in, int ruleset, const struct init_path *p, uint64_t handled)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = fs_access(p->access) & handled };
	long r;

	rule.parent_fd = open_place(in, p->path);
	if (rule.parent_fd < 0)
		return;
	r = rule_add(ruleset, &rule);
	if (r < 0 && errno == EINVAL) {
		/* no folder: landlock_add_rule(2) */
		rule.allowed_access &= FS_FILE;
		r = rule_add(ruleset, &rule);
	}
	if (r < 0)
		fail_simple(in, INIT_STAGE_CONFINE, errno, "Landlock: add a rule");
	(void)close(rule.parent_fd);
}

void confine_paths(const struct init *in)
{
	const uint32_t abi = in->cfg->landlock_abi;
	struct ak_landlock_attr attr = { .handled_access_fs = in->cfg->flags & INIT_SCOPES ? 0 : fs_handled(abi) };
	int ruleset;

	if (!(in->cfg->flags & INIT_LANDLOCK) || AK_WEAK(in->weaken, AK_WEAK_LANDLOCK))
		return;
	if (abi >= 4 && (in->cfg->flags & INIT_NO_TCP))
		attr.handled_access_net = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP;
	if (abi >= 6)
		attr.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL;
	/* an older kernel takes the longer structure as long as what it does not know is 0 */
	if (!attr.handled_access_fs && !attr.scoped)
		return;	/* the kernel takes no ruleset without a rule */
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		fail_simple(in, INIT_STAGE_CONFINE, errno, "Landlock: create a ruleset");
	for (uint32_t i = 0; attr.handled_access_fs && i < in->cfg->npaths; i++)
		add_rule(in, ruleset, &in->cfg->paths[i], attr.handled_access_fs);
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		fail_simple(in, INIT_STAGE_CONFINE, errno, "Landlock: restrict");
	(void)close(ruleset);
}

/* ---- filters ---- */

void check_no_new_privs(const struct init *in)
{
	if (!HELD(in->cfg) && !AK_WEAK(in->weaken, AK_WEAK_NNP) && syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		fail_simple(in, INIT_STAGE_CONFINE, 0, "no_new_privs is not set");
}

static void load_filter(const struct init *in, const struct init_filter *f, const char *what)
{
	/* the kernel copies the instructions, so their alignment in CONFIG does not matter */
	struct sock_fprog prog = { .len = (unsigned short)f->count, .filter = (void *)(uintptr_t)f->insns };

	if (f->count > 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		fail_simple(in, INIT_STAGE_CONFINE, errno, what);
}

/* Source: seccomp(2); WAIT_KILLABLE_RECV, Linux 5.19: a signal does not turn the answer into EINTR */
static int load_joined(const struct init *in)
{
	static const unsigned flags[] = { SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
					  SECCOMP_FILTER_FLAG_NEW_LISTENER };
	const struct init_filter *f = &in->cfg->joined;
	struct sock_fprog prog = { .len = (unsigned short)f->count, .filter = (void *)(uintptr_t)f->insns };
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(flags) / sizeof(flags[0]) && (i == 0 || errno == EINVAL); i++)
		fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags[i], &prog);
	return fd < 0 ? -errno : fd;
}

/*
 * The executor answers from here on, also what the self-test asks; what is called here passes: see observing.h. A process that has
 * a listener already, as of an `ak` around this one, gets no second: EBUSY. Return: false when nothing was loaded.
 */
static bool confine_observed(const struct init *in)
{
	struct init_msg m = { .type = INIT_MSG_LISTENER };
	int fd, r;

	if (in->cfg->joined.count == 0)
		return false;
	fd = load_joined(in);
	m.code = fd < 0 ? (uint32_t)-fd : 0;
	r = fd < 0 ? msg_send(in->ctl, &m) : msg_send_fd(in->ctl, &m, fd);
	if (fd >= 0)
		(void)close(fd);	/* else nobody would answer if the executor went: the calls fail with ENOSYS then */
	if (r < 0 || (fd < 0 && (in->cfg->flags & INIT_LEARN)))
		fail_simple(in, INIT_STAGE_CONFINE, r < 0 ? -r : -fd, "observe refused calls");
	return fd >= 0;
}

void confine_self_test(const struct init *in)
{
	for (size_t i = 0; !AK_WEAK(in->weaken, AK_WEAK_CANARY) && i < AK_CANARIES; i++) {
		const struct ak_canary *c = &ak_canaries[i];
		struct failure f = { .stage = INIT_STAGE_CONFINE, .exit_code = 125 };
		long r;

		if (in->cfg->canary_skip >> i & 1)
			continue;	/* a user's profile would kill the process for it */
		r = syscall(c->nr, c->arg[0], c->arg[1], c->arg[2]);
		f.err = r < 0 ? errno : 0;
		if (r == -1 && f.err == c->want)
			continue;
		text_raw(&f.text, "self-test of the filters: system call ");
		text_raw(&f.text, c->name);
		text_raw(&f.text, " gave \"");
		text_raw(&f.text, f.err ? strerror(f.err) : "success");
		text_raw(&f.text, "\" instead of \"");
		text_raw(&f.text, strerror(c->want));
		text_raw(&f.text, "\"");
		fail(in, &f);
	}
}

void confine_filters(const struct init *in)
{
	if (confine_observed(in)) {
		confine_self_test(in);
		return;
	}
	if (!AK_WEAK(in->weaken, AK_WEAK_PROFILE))
		load_filter(in, &in->cfg->profile, "load the profile filter");
	if (!AK_WEAK(in->weaken, AK_WEAK_FLOOR))
		load_filter(in, &in->cfg->floor, "load the floor filter");
	confine_self_test(in);
}

void confine(const struct init *in)
{
	keep_only_passed_fds(in);
	confine_limits(in);
	check_no_new_privs(in);
	confine_paths(in);
	confine_filters(in);
}
