/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's list of system calls: what libcurl, its resolver threads, files of the session and the executor's socket need. All
 * else gives EPERM, clone3 ENOSYS, so that the C library falls back to clone, whose flags can be looked at. Process: agent.
 * Source: seccomp(2), Documentation/userspace-api/seccomp_filter.rst.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "agent/confine_int.h"
#include "executor/shared/ak_err.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "the agent's list of system calls is not made for this architecture"
#endif

/* allowed whatever their arguments are */
static const int calls[] = {
	/* descriptors */
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_close, SYS_lseek, SYS_fcntl, SYS_dup, SYS_dup3, SYS_fstat,
	SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_openat, SYS_readlinkat, SYS_faccessat, SYS_getdents64, SYS_getcwd, SYS_mkdirat,
	SYS_unlinkat, SYS_ftruncate, SYS_fsync, SYS_fdatasync, SYS_flock, SYS_pipe2, SYS_memfd_create, SYS_eventfd2,
	/* waiting */
	SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_nanosleep, SYS_clock_nanosleep, SYS_restart_syscall,
	/* sockets: which ones is looked at below */
	SYS_connect, SYS_bind, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown, SYS_getsockname,
	SYS_getpeername, SYS_setsockopt, SYS_getsockopt, SYS_socketpair,
	/* memory */
	SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk, SYS_mlock, SYS_munlock,
	/* threads and signals of our own */
	SYS_futex, SYS_set_robust_list, SYS_get_robust_list, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
	SYS_sched_yield, SYS_sched_getaffinity, SYS_exit, SYS_exit_group, SYS_gettid, SYS_getpid, SYS_getppid,
	/* facts */
	SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getgroups, SYS_uname,
	SYS_sysinfo, SYS_getrandom, SYS_getrusage, SYS_times,
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_membarrier
	SYS_membarrier,
#endif
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
/* calls that only the older architecture has */
#ifdef SYS_open
	SYS_open,
#endif
#ifdef SYS_stat
	SYS_stat, SYS_lstat,
#endif
#ifdef SYS_access
	SYS_access,
#endif
#ifdef SYS_poll
	SYS_poll, SYS_select, SYS_epoll_wait,
#endif
#ifdef SYS_readlink
	SYS_readlink,
#endif
#ifdef SYS_time
	SYS_time,
#endif
#ifdef SYS_dup2
	SYS_dup2,
#endif
#ifdef SYS_unlink
	SYS_unlink, SYS_mkdir,
#endif
};

/* allowed with this value of one argument only; several rows of a call: any of the values */
static const struct {
	int nr;
	unsigned arg;
	uint32_t value;
} with[] = {
	{ SYS_socket, 0, AF_UNIX },	{ SYS_socket, 0, AF_INET },    { SYS_socket, 0, AF_INET6 },
	{ SYS_socket, 0, AF_NETLINK }, /* which addresses this host has: getaddrinfo(3) */
	{ SYS_ioctl, 1, TCGETS },	{ SYS_ioctl, 1, TIOCGWINSZ },  { SYS_ioctl, 1, FIONREAD },
	{ SYS_ioctl, 1, FIONBIO },	{ SYS_ioctl, 1, TCFLSH }, /* what was typed before a question */
};

#define NCALLS (sizeof(calls) / sizeof(calls[0]))
#define NWITH (sizeof(with) / sizeof(with[0]))
#define INSNS_MAX (16 + NCALLS * 2 + NWITH * 5 + 53)

struct prog {
	struct sock_filter v[INSNS_MAX];
	unsigned short n;
};

#define DATA(field) ((uint32_t)offsetof(struct seccomp_data, field))
#define LOAD(off) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (off)))
#define RET(what) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (what)))
#define UNLESS_EQ(k, skip) ((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(k), 0, (skip)))
#define REFUSE(e) RET(SECCOMP_RET_ERRNO | (e))

static void put(struct prog *p, struct sock_filter insn)
{
	p->v[p->n++] = insn;
}

/* the low half of an argument: little endian; the high half of what is compared here is never used by the kernel */
static void allow_with(struct prog *p, int nr, unsigned arg, uint32_t value)
{
	put(p, UNLESS_EQ(nr, 4));
	put(p, LOAD(DATA(args) + arg * 8u));
	put(p, UNLESS_EQ(value, 1));
	put(p, RET(SECCOMP_RET_ALLOW));
	put(p, LOAD(DATA(nr)));
}

/* one's own limits may be asked for, not set: prlimit64(0, any, NULL, any) */
static void allow_asking(struct prog *p)
{
	put(p, UNLESS_EQ(SYS_prlimit64, 8));
	put(p, LOAD(DATA(args)));
	put(p, UNLESS_EQ(0, 5));
	put(p, LOAD(DATA(args) + 16u));
	put(p, UNLESS_EQ(0, 3));
	put(p, LOAD(DATA(args) + 20u));
	put(p, UNLESS_EQ(0, 1));
	put(p, RET(SECCOMP_RET_ALLOW));
	put(p, LOAD(DATA(nr)));
}

static void build(struct prog *p, bool terminal)
{
	put(p, LOAD(DATA(arch)));
	put(p, UNLESS_EQ(ARCH, 1));
	put(p, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
	put(p, RET(SECCOMP_RET_KILL_PROCESS));
	put(p, LOAD(DATA(nr)));
#ifdef __x86_64__
	/* the x32 calls */
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
	put(p, REFUSE(ENOSYS));
#endif
	for (size_t i = 0; i < NCALLS; i++) {
		put(p, UNLESS_EQ(calls[i], 1));
		put(p, RET(SECCOMP_RET_ALLOW));
	}
	for (size_t i = 0; i < NWITH; i++)
		allow_with(p, with[i].nr, with[i].arg, with[i].value);
	if (terminal)
		allow_with(p, SYS_ioctl, 1, TCSETSW); /* tcsetattr(TCSADRAIN) */
	allow_asking(p);
	/* a signal to ourselves: abort(3) */
	allow_with(p, SYS_tgkill, 0, (uint32_t)getpid());
	/* a thread, and no process */
	put(p, UNLESS_EQ(SYS_clone, 4));
	put(p, LOAD(DATA(args)));
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1));
	put(p, RET(SECCOMP_RET_ALLOW));
	put(p, LOAD(DATA(nr)));
	put(p, UNLESS_EQ(SYS_clone3, 1));
	put(p, REFUSE(ENOSYS));
	put(p, REFUSE(EPERM));
}

int confine_seccomp(bool terminal, struct ak_err *err)
{
	struct prog p = { .n = 0 };
	struct sock_fprog fprog;

	build(&p, terminal);
	fprog = (struct sock_fprog){ .len = p.n, .filter = p.v };
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fprog) < 0)
		return ak_err_sys(err, errno, "confine the agent: load the list of system calls");
	return 0;
}
