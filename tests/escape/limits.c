/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits, priorities, and that init cannot be reached through them. Runs as a command in a sandbox.
 */
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "tests/escape/esc.h"

#define IOPRIO_PID 1 /* IOPRIO_WHO_PROCESS */

struct sched_attr_v0 {
	unsigned size, policy;
	unsigned long long flags;
	int nice;
	unsigned prio;
	unsigned long long runtime, deadline, period;
};

static void value(struct esc *e, const char *name, int res, rlim_t soft, rlim_t hard)
{
	struct rlimit r;

	if (getrlimit(res, &r)) {
		esc_is(e, name, false, "cannot be read");
		return;
	}
	esc_is(e, name, r.rlim_cur <= soft && r.rlim_max <= hard, "%llu/%llu, at most %llu/%llu",
	       (unsigned long long)r.rlim_cur, (unsigned long long)r.rlim_max, (unsigned long long)soft,
	       (unsigned long long)hard);
}

static void check_values(struct esc *e)
{
	const char *core_hard = esc_arg(e, "corehard");
	struct rlimit r;
	void *p;

	/* 1 keeps a core pipe handler away and is too small for a file; a caller whose own limit is 0 cannot
	 * give 1 */
	getrlimit(RLIMIT_CORE, &r);
	rlim_t want = core_hard && !strcmp(core_hard, "0") ? 0 : 1;
	esc_is(e, "84+85:core", r.rlim_cur == want && r.rlim_max == want, "%llu/%llu, want %llu",
	       (unsigned long long)r.rlim_cur, (unsigned long long)r.rlim_max, (unsigned long long)want);
	value(e, "84:nofile", RLIMIT_NOFILE, 1024, 4096);
	value(e, "84:memlock", RLIMIT_MEMLOCK, 65536, 65536);
	value(e, "84:msgqueue", RLIMIT_MSGQUEUE, 819200, 819200);
	value(e, "84:rtprio", RLIMIT_RTPRIO, 0, 0);
	value(e, "84:nice", RLIMIT_NICE, 0, 0);
	value(e, "84:stack", RLIMIT_STACK, 8 << 20, RLIM_INFINITY);
	getrlimit(RLIMIT_SIGPENDING, &r);
	esc_is(e, "84:sigpending", r.rlim_cur != RLIM_INFINITY, "%llu", (unsigned long long)r.rlim_cur);
	/* init counts */
	getrlimit(RLIMIT_NPROC, &r);
	esc_is(e, "84:nproc", r.rlim_cur <= 257, "%llu", (unsigned long long)r.rlim_cur);
	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_max++;
	esc_err(e, "84:raise_nofile", setrlimit(RLIMIT_NOFILE, &r), EPERM);
	r = (struct rlimit){2, 2};
	esc_err(e, "84:raise_core", setrlimit(RLIMIT_CORE, &r), EPERM);
	r = (struct rlimit){99, 99};
	esc_err(e, "84:raise_rtprio", setrlimit(RLIMIT_RTPRIO, &r), EPERM);
	p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	esc_err(e, "84:mlock_64m", mlock(p, 64 << 20), ENOMEM);
}

/* init is pid 1; a command that could change its limits or priority could stop it from working */
static void check_init(struct esc *e)
{
	struct rlimit r = {0, 0}, old;
	struct sched_param sp = {0};
	struct sched_attr_v0 sa = {.size = sizeof(sa), .policy = SCHED_IDLE};
	unsigned long cpus[16] = {1};
	pid_t pid;

	esc_err(e, "84:prlimit_init_nofile", syscall(SYS_prlimit64, 1, RLIMIT_NOFILE, &r, NULL), EPERM);
	esc_err(e, "84:prlimit_init_fsize", syscall(SYS_prlimit64, 1, RLIMIT_FSIZE, &r, &old), EPERM);
	esc_err(e, "84:prlimit_init_high_bits",
		syscall(SYS_prlimit64, 0x4500000001L, RLIMIT_NOFILE, &r, NULL), EPERM);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	esc_err(e, "84:prlimit_other", syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, &r, NULL), EPERM);
	esc_need(e, "84:prlimit_other_read", syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, NULL, &old) == 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	esc_need(e, "84:prlimit_self",
		 syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &old) == 0 &&
			 syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &old, NULL) == 0);
	esc_err(e, "68:sched_setscheduler_init", syscall(SYS_sched_setscheduler, 1, SCHED_IDLE, &sp), EPERM);
	esc_err(e, "68:sched_setparam_init", syscall(SYS_sched_setparam, 1, &sp), EPERM);
	esc_err(e, "68:sched_setattr_init", syscall(SYS_sched_setattr, 1, &sa, 0), EPERM);
	esc_err(e, "68:sched_setaffinity_init", syscall(SYS_sched_setaffinity, 1, sizeof(cpus), cpus), EPERM);
	esc_err(e, "68:setpriority_init", syscall(SYS_setpriority, PRIO_PROCESS, 1, 19), EPERM);
	esc_err(e, "68:ioprio_init",
		syscall(SYS_ioprio_set, IOPRIO_PID, 1, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)), EPERM);
	esc_err(e, "68:setpriority_init_high_bits", syscall(SYS_setpriority, PRIO_PROCESS, 0x9900000001L, 19),
		EPERM);
	esc_need(e, "68:setpriority_self", syscall(SYS_setpriority, PRIO_PROCESS, 0, 19) == 0);
	esc_need(e, "68:sched_setaffinity_self",
		 sched_getaffinity(0, sizeof(cpus), (cpu_set_t *)cpus) >= 0 &&
			 sched_setaffinity(0, sizeof(cpus), (cpu_set_t *)cpus) == 0);
}

static void check_priority(struct esc *e)
{
	struct sched_param sp = {.sched_priority = 1};
	struct sched_attr_v0 sa = {
		.size = sizeof(sa), .policy = 6, .runtime = 1000000, .deadline = 9000000, .period = 9000000};
	char v[32];

	esc_err(e, "68:sched_fifo", sched_setscheduler(0, SCHED_FIFO, &sp), EPERM);
	esc_err(e, "68:sched_rr", sched_setscheduler(0, SCHED_RR, &sp), EPERM);
	esc_err(e, "68:sched_deadline", syscall(SYS_sched_setattr, 0, &sa, 0), EPERM);
	esc_err(e, "68:negative_nice", setpriority(PRIO_PROCESS, 0, -5), EACCES);
	esc_err(e, "68:ioprio_realtime",
		syscall(SYS_ioprio_set, IOPRIO_PID, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 0)), EPERM);
	esc_line("/proc/self/oom_score_adj", "", v, sizeof(v));
	esc_is(e, "89:oom_score_adj", esc_num(v) >= 500, "%s", v);
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	esc_err(e, "89:oom_score_adj_lower", fd < 0 ? -1 : write(fd, "-1000", 5), EACCES);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);

	check_values(&e);
	check_init(&e);
	check_priority(&e);
	return esc_end(&e);
}
