/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of one command: its parent, and as a child subreaper (prctl(2)) that of everything which loses its parent below it, so
 * that whatever a command starts stays below its keeper. It ends all of it when the command has ended, adds up the usage and writes
 * the result. A process of its own, forked from init, in the Landlock domain of the commands but without a filter; no privilege.
 */
#include "executor/init/box.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/shared/ak_weaken.h"

#define MS 1000000ull
#define END_MAX_NS (1500 * MS)	/* after that the result goes out with INIT_EXITED_LEFT */
#define BIT(signo) (1ull << ((signo)-1))
#define REAP_MAX 512

struct keeper {
	const struct box *b;
	struct slot_mem *m;
	pid_t command;
	bool ended;	/* the command was reaped */
	bool told;	/* the result is written */
	struct slot_result r;
};

/* ---- signals ---- */

/* SIGCHLD and the nudge of init stay blocked and are waited for; all others are blocked and never looked at */
static void wait_signal(int ms)
{
	const uint64_t set = BIT(SIGCHLD) | BIT(SIGUSR1);
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L };

	(void)syscall(SYS_rt_sigtimedwait, &set, NULL, ms < 0 ? NULL : &t, sizeof(set));
}

/* The command is not reaped, so its number and that of its group are its own. Before its setsid() it leads no group */
static void signal_group(const struct keeper *k, int signo)
{
	if (k->ended)
		return;
	if (kill(-k->command, signo) < 0 && errno == ESRCH)
		(void)kill(k->command, signo);
}

static void pass_signals(struct keeper *k)
{
	uint64_t bits = atomic_exchange(&k->m->signals, 0);

	for (int n = 1; bits && n <= 64; n++) {
		if (bits & BIT(n))
			signal_group(k, n);
	}
	if (bits & BIT(SIGTERM))
		signal_group(k, SIGCONT);	/* a stopped group would not see it */
}

/* ---- reaping ---- */

static uint64_t tv_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

static void add_usage(struct keeper *k, const struct rusage *u)
{
	k->r.user_ns += tv_ns(&u->ru_utime);
	k->r.system_ns += tv_ns(&u->ru_stime);
	if ((uint64_t)u->ru_maxrss * 1024 > k->r.maxrss_bytes)
		k->r.maxrss_bytes = (uint64_t)u->ru_maxrss * 1024;
}

static void command_ended(struct keeper *k, int status)
{
	k->ended = true;
	k->r.wstatus = (uint32_t)status;
	k->r.end_ns = now_ns();
}

/* The command's group goes as one, before its number can become another's: kill(2) of a group and fork exclude each other */
static void look_at_command(struct keeper *k)
{
	siginfo_t si = { 0 };

	if (k->ended || AK_WEAK(k->b->in->weaken, AK_WEAK_KEEPER) ||
	    waitid(P_PID, (id_t)k->command, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || si.si_pid == 0)
		return;
	(void)kill(-k->command, SIGKILL);
}

/* Return: whether children are left */
static bool reap(struct keeper *k)
{
	/* as long as it is not let go it must not stay stopped by others; what it does to itself later is its own affair */
	const int stopped = atomic_load(&k->m->phase) < PHASE_TAKEN ? WUNTRACED : 0;

	look_at_command(k);
	for (int i = 0; i < REAP_MAX; i++) {
		struct rusage u;
		int status;
		pid_t p = wait4(-1, &status, WNOHANG | __WALL | stopped, &u);

		if (p < 0)
			return errno != ECHILD;
		if (p == 0)
			return true;
		if (WIFSTOPPED(status)) {
			(void)kill(p, SIGCONT);
			continue;
		}
		add_usage(k, &u);
		if (p == k->command)
			command_ended(k, status);
	}
	return true;
}

/* ---- the end ---- */

/*
 * Straight to the executor: that init is woken, looks and says it would cost who waits more than all we do here. Where there is no
 * room, or a profile forbids the call, init says it. Should we be killed in between, init tells the executor of a lost command that
 * it has heard of before: it overlooks that.
 */
static void say_end(const struct keeper *k)
{
	uint8_t buf[AK_INIT_REP_MAX];
	struct init_rep rep;
	long n;

	if (!atomic_load(&k->m->direct) || (k->r.flags & INIT_EXITED_LEFT))
		return;
	atomic_store(&k->m->phase, PHASE_TELLING);
	slot_rep(k->m, &rep);
	n = init_rep_encode(&rep, buf, sizeof(buf));
	k->m->told = n > 0 && box_send(k->b->in->ctl, buf, (size_t)n, -1) == 0;
}

static void tell(struct keeper *k)
{
	if (k->told)
		return;
	k->told = true;
	k->m->result = k->r;
	say_end(k);
	atomic_store(&k->m->phase, PHASE_ENDED);
	box_wake(k->b);
}

/* Until nothing is left below us */
static void end_tree(struct keeper *k)
{
	const struct ak_tree t = { .proc = k->b->proc, .root = getpid() };
	const uint64_t deadline = now_ns() + END_MAX_NS;

	for (int round = 0; reap(k); round++) {
		if (k->ended && !k->told)
			k->r.flags |= INIT_EXITED_SWEPT;
		if (!k->ended)
			signal_group(k, SIGKILL);
		(void)ak_tree_kill(&t);
		if (k->ended && !k->told && now_ns() > deadline) {
			k->r.flags |= INIT_EXITED_LEFT;
			tell(k);
		}
		wait_signal(k->told ? 200 : round < 5 ? 1 : 10);
	}
}

/* One command from its birth to the end of all it left */
static void keep(struct keeper *k, struct box *b, struct slot *s)
{
	bool left;

	k->command = box_fork(k->m->leaf_fd);
	if (k->command == 0)
		parked_main(b, s);
	box_touch();
	if (k->command < 0) {
		struct failure f = { .stage = INIT_STAGE_SETUP, .err = -k->command, .exit_code = 125 };

		text_raw(&f.text, k->m->leaf_fd >= 0 ? "start a process in the cgroup leaf: " : "start a process: ");
		text_raw(&f.text, strerror(f.err));
		failure_store(&k->m->failure, &f);
		tell(k);
		return;
	}
	while ((left = reap(k)) && !k->ended) {
		pass_signals(k);
		if (atomic_load(&k->m->kill)) {
			k->r.flags |= INIT_EXITED_KILLED;
			break;
		}
		wait_signal(-1);
	}
	if (left && !AK_WEAK(b->in->weaken, AK_WEAK_KEEPER))
		end_tree(k);
	tell(k);
}

_Noreturn void keeper_main(struct box *b, struct slot *s)
{
	struct init in = *b->in;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	/* elsewhere the kernel ends all of us with pid 1 */
	if (HELD(b->cfg) && (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != b->self))
		_exit(0);
	(void)setsid();	/* where the scheduler groups by session (autogroup, sched(7)) we compete as one with a tree that has many */
	signals_set_mask(~0ull);
	in.cfg = b->cfg;
	in.failure = &s->mem->failure;
	if (box_keeper_filters(b))
		confine_filters(&in);
	for (;;) {
		struct keeper k = { .b = b, .m = s->mem };

		box_wait(&s->mem->order, 0);
		atomic_store(&s->mem->order, 0);
		keep(&k, b, s);
		if (k.r.flags & INIT_EXITED_LEFT)
			_exit(0);	/* init uses none again whose processes did not end in time */
	}
}
