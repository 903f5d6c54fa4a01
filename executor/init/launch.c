/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command in serve mode, from its birth over the wait for a request to its exec. Up to the exec this is our code in a copy of
 * init, confined as the command will be; whatever goes wrong is written to the slot and ends the process. No privilege.
 */
#include "executor/init/box.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/init/files.h"
#include "executor/ns/kabi.h"
#include "executor/shared/ak_weaken.h"

#define STRINGS_USUAL 256u	/* pointers to arguments and environment of a request for which nothing is mapped */
#define STACK_USUAL (24u << 10)	/* what the way from a request to its exec takes */
#define PAGE 4096u

/* ---- waiting ---- */

/* The limit counts our helpers as well, so it is higher by what there may be; the exact number is set with the request */
static void allow_helpers(struct init_rlimit *l, uint64_t n)
{
	if (l->soft < UINT64_MAX - n)
		l->soft += n;
	if (l->hard < UINT64_MAX - n)
		l->hard += n;
}

/* Pages are cheap to touch while nobody waits, and dear afterwards: a fault costs as much as a few system calls */
static __attribute__((noinline)) void touch_stack(void)
{
	volatile char deep[STACK_USUAL];

	for (size_t i = 0; i < sizeof(deep); i += PAGE)
		deep[i] = 0;
}

static void touch(const struct init_config *cfg, const struct slot_mem *m, const char **strings)
{
	volatile char sink;

	sink = cfg->cwd[0];
	for (uint32_t i = 0; i < cfg->envc; i++)
		sink = cfg->envp[i][0];
	sink = (char)m->body[PAGE];
	(void)sink;
	for (size_t i = 0; i < STRINGS_USUAL; i += PAGE / sizeof(*strings))
		*(const char *volatile *)&strings[i] = NULL;
	touch_stack();
}

static void become_parked(const struct box *b, struct init *in, struct slot_mem *m, const char **strings)
{
	struct init_config wide = *b->cfg;

	/* only our own keeper's end is meant; it may have come before this */
	if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() == b->self)
		_exit(125);
	if (!AK_WEAK(in->weaken, AK_WEAK_SESSION) && setsid() < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "setsid");
	(void)umask(022);
	if (b->nproc)
		allow_helpers(&wide.rlimits[b->nproc - 1], AK_INIT_HELPERS(AK_INIT_COMMANDS_MAX));
	in->cfg = &wide;
	confine_limits(in);
	check_no_new_privs(in);
	if (box_keeper_filters(b))
		confine_self_test(in);
	else if (!(b->cfg->flags & INIT_LATE_FILTERS))
		confine_filters(in);
	in->cfg = NULL;
	touch(b->cfg, m, strings);
	m->command = getpid();
	atomic_store(&m->phase, PHASE_PARKED);
	box_wake(b);
	box_wait(&m->go, 0);
}

/* ---- the request ---- */

void *launch_memory(const struct launch *l, size_t n)
{
	void *p = mmap(NULL, n ? n : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail_simple(l->in, INIT_STAGE_SETUP, errno, "memory for the arguments");
	return p;
}

/* The body: in the slot, or in a sealed memfd */
static const void *body(struct launch *l, size_t *ret_len)
{
	const int want = F_SEAL_WRITE | F_SEAL_SHRINK;
	struct stat st;
	void *p;
	int fd;

	*ret_len = l->m->body_len;
	if (!(l->m->req.flags & INIT_EXEC_MEMFD))
		return l->m->body;
	fd = l->m->fds[l->at++];
	if ((fcntl(fd, F_GET_SEALS) & want) != want || fstat(fd, &st) < 0 || st.st_size <= 0 ||
	    st.st_size > (off_t)AK_INIT_EXEC_MAX)
		fail_simple(l->in, INIT_STAGE_SETUP, 0, "the command's description is not a sealed file of a right size");
	*ret_len = (size_t)st.st_size;
	p = mmap(NULL, *ret_len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		fail_simple(l->in, INIT_STAGE_SETUP, errno, "map the command's description");
	return p;
}

/* What both halves of a request say must fit */
static bool fits(const struct init_req *q, const struct init_exec *e)
{
	return e->nextra == q->nextra && (!(q->flags & INIT_EXEC_SHELL) || e->argc == 1);
}

static void read_request(struct launch *l)
{
	static const char malformed[] = "the command's description is malformed";
	const char **strv;
	size_t len;
	const void *p = body(l, &len);
	long n = init_exec_counts(p, len);

	if (n < 0)
		fail_simple(l->in, INIT_STAGE_SETUP, 0, malformed);
	strv = (size_t)n <= STRINGS_USUAL ? l->strings : launch_memory(l, (size_t)n * sizeof(char *));
	if (init_exec_decode(p, len, strv, (size_t)n, &l->exec) < 0 || !fits(&l->m->req, &l->exec))
		fail_simple(l->in, INIT_STAGE_SETUP, 0, malformed);
}

/* ---- descriptors ---- */

static void close_on_exec(const struct launch *l)
{
	struct rlimit r = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		fail_simple(l->in, INIT_STAGE_SETUP, errno, "read the limit of descriptors");
	/* init's table may hold more than this command's limit lets it make */
	for (int fd = 3; fd < 4096 || (rlim_t)fd < r.rlim_max; fd++) {
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 && fd > 65536)
			break;
	}
}

/* A table of our own, in which everything ends with the exec; then init may close its copies */
static void own_table(const struct launch *l)
{
	/* close_range: Linux 5.9, with CLOEXEC 5.11 */
	if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) < 0) {
		if (unshare(CLONE_FILES) < 0)
			fail_simple(l->in, INIT_STAGE_SETUP, errno, "take a table of descriptors");
		close_on_exec(l);
	}
	atomic_store(&l->m->phase, PHASE_TAKEN);
	if (l->m->nfds > 0)	/* else it has no copies to close */
		box_wake(l->b);
}

/* dup2() clears close-on-exec; a descriptor that has the number already would keep it */
static void place(const struct launch *l, int from, int to)
{
	if (from == to ? fcntl(to, F_SETFD, 0) < 0 : dup2(from, to) < 0)
		fail_simple(l->in, INIT_STAGE_SETUP, errno, "pass a descriptor");
}

static void place_streams(struct launch *l)
{
	const uint32_t flags = l->m->req.flags;

	if (flags & INIT_EXEC_TTY) {
		struct init in = *l->in;

		in.slave = l->m->slave;
		pty_attach(&in);
		return;
	}
	/* what is not given is init's own /dev/null already */
	for (int i = 0; i < 3; i++) {
		if (flags & (INIT_EXEC_STDIN << i))
			place(l, l->m->fds[l->at++], i);
	}
}

static bool is_target(const struct launch *l, int fd)
{
	for (uint32_t i = 0; i < l->exec.nextra; i++) {
		if (l->exec.extra[i] == fd)
			return true;
	}
	return false;
}

/* The same file under a number that nothing will be put on */
static int out_of_the_way(const struct launch *l, int fd)
{
	int at = fd;

	for (int from = 3; at >= 0 && is_target(l, at); from = at + 1)
		at = fcntl(fd, F_DUPFD_CLOEXEC, from);
	if (at < 0)
		fail_simple(l->in, INIT_STAGE_SETUP, errno, "pass a descriptor");
	return at;
}

static void place_extra(struct launch *l)
{
	int *fds = &l->m->fds[l->at];

	if (l->in->program)
		l->in->program = out_of_the_way(l, l->in->program);
	if (l->m->state_out >= 0)
		l->state_out = out_of_the_way(l, l->m->state_out);
	if (l->m->state_in >= 0)
		l->state_in = out_of_the_way(l, l->m->state_in);
	for (uint32_t i = 0; i < l->exec.nextra; i++)
		l->from[i] = out_of_the_way(l, fds[i]);
	for (uint32_t i = 0; i < l->exec.nextra; i++)
		place(l, l->from[i], l->exec.extra[i]);
}

/* ---- environment ---- */

static bool same_name(const char *entry, const char *other)
{
	size_t n = strcspn(other, "=");

	return strncmp(entry, other, n) == 0 && (entry[n] == '=' || entry[n] == 0);
}

static bool named_in(const char *entry, const char *const *list)
{
	for (; *list; list++) {
		if (same_name(entry, *list))
			return true;
	}
	return false;
}

static void merge_env(struct launch *l)
{
	const struct init_exec *e = &l->exec;
	const char **v;
	uint32_t n = 0;

	/* in a session the state comes first, so the shell itself sets them: shell.c */
	if ((l->m->req.flags & INIT_EXEC_SESSION) || (e->envc == 0 && e->unsetc == 0))
		return;
	v = launch_memory(l, ((size_t)l->cfg->envc + e->envc + 1) * sizeof(*v));
	for (uint32_t i = 0; i < l->cfg->envc; i++) {
		if (!named_in(l->cfg->envp[i], e->unset) && !named_in(l->cfg->envp[i], e->envp))
			v[n++] = l->cfg->envp[i];
	}
	for (uint32_t i = 0; i < e->envc; i++) {
		/* of two of one name the later one counts */
		if (!named_in(e->envp[i], e->envp + i + 1))
			v[n++] = e->envp[i];
	}
	l->cfg->envp = v;
	l->cfg->envc = n;
}

/* ---- limits ---- */

static _Noreturn void limit_failed(const struct launch *l, uint32_t resource, int err, const char *why)
{
	struct failure f = { .stage = INIT_STAGE_CONFINE, .err = err, .exit_code = 125 };

	text_raw(&f.text, "resource limit ");
	text_raw(&f.text, rlimit_name(resource));
	text_raw(&f.text, ": ");
	text_raw(&f.text, why);
	fail(l->in, &f);
}

static void lower_limits(const struct launch *l)
{
	uint64_t now[2];

	if (AK_WEAK(l->in->weaken, AK_WEAK_RLIMITS))
		return;
	if (l->b->nproc) {
		struct init_rlimit p = l->b->cfg->rlimits[l->b->nproc - 1];

		allow_helpers(&p, l->m->helpers);
		if (syscall(SYS_prlimit64, 0, RLIMIT_NPROC, (const uint64_t[]){ p.soft, p.hard }, NULL) < 0)
			limit_failed(l, RLIMIT_NPROC, errno, strerror(errno));
	}
	for (uint32_t i = 0; i < l->exec.nrlimits; i++) {
		const struct init_rlimit *r = &l->exec.rlimits[i];
		uint64_t value[2] = { r->soft, r->hard };

		if (r->resource == RLIMIT_NPROC && r->hard < UINT64_MAX - l->m->helpers) {
			value[0] += l->m->helpers;
			value[1] += l->m->helpers;
		}
		if (syscall(SYS_prlimit64, 0, r->resource, NULL, now) < 0)
			limit_failed(l, r->resource, errno, strerror(errno));
		if (value[0] > now[0] || value[1] > now[1])
			limit_failed(l, r->resource, EPERM, "it can only be lowered");
		if (syscall(SYS_prlimit64, 0, r->resource, value, NULL) < 0)
			limit_failed(l, r->resource, errno, strerror(errno));
	}
}

/* ---- signals ---- */

/* Everything was blocked so far; what others sent meanwhile was not meant for the command. Ignoring drops what is pending */
static void clean_signals(const struct launch *l)
{
	const uint64_t ignore[4] = { (uint64_t)(uintptr_t)SIG_IGN }, dfl[4] = { 0 };
	uint64_t pending = 0;

	(void)syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	for (int n = 1; pending && n <= 64; n++) {
		if (!(pending & (1ull << (n - 1))))
			continue;
		(void)syscall(SYS_rt_sigaction, n, ignore, NULL, sizeof(uint64_t));
		(void)syscall(SYS_rt_sigaction, n, dfl, NULL, sizeof(uint64_t));
	}
	if (!AK_WEAK(l->in->weaken, AK_WEAK_SIGNALS))
		signals_set_mask(0);
}

/*
 * What came as a descriptor, which the exec closes. A profile of the user's may be without execveat(2), as one that was learned is; the
 * other way wants the sandbox's /proc
 */
static _Noreturn void exec_program(const struct init *in)
{
	char path[FILEOP_FD_PATH];

	(void)syscall(SYS_execveat, in->program, "", in->cfg->argv, in->cfg->envp, AT_EMPTY_PATH);
	fileop_fd_path(in->program, path);
	(void)execve(path, (char *const *)in->cfg->argv, (char *const *)in->cfg->envp);
	fail_simple(in, INIT_STAGE_EXEC, errno, "run the given program");
}

_Noreturn void parked_main(struct box *b, struct slot *s)
{
	struct init in = *b->in;
	struct init_config cfg = *b->cfg;
	const char *strings[STRINGS_USUAL];
	struct launch l = { .b = b, .m = s->mem, .in = &in, .cfg = &cfg, .strings = strings, .state_in = -1, .state_out = -1 };

	in.failure = &s->mem->failure;
	become_parked(b, &in, s->mem, strings);
	in.cfg = &cfg;
	read_request(&l);
	own_table(&l);
	if (l.m->req.flags & INIT_EXEC_PROGRAM)
		in.program = l.m->fds[l.at++];
	place_streams(&l);
	place_extra(&l);
	if (l.exec.cwd[0])
		cfg.cwd = l.exec.cwd;
	cfg.argv = l.exec.argv;
	cfg.argc = l.exec.argc;
	merge_env(&l);
	if (l.m->req.flags & INIT_EXEC_SHELL)
		shell_argv(&l);
	enter_cwd(&in);
	lower_limits(&l);
	if (b->cfg->flags & INIT_LATE_FILTERS)
		confine_filters(&in);
	clean_signals(&l);
	if (in.program)
		exec_program(&in);
	exec_command(&in);
}
