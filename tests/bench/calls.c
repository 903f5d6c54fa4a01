/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a system call costs under the filters of `ak exec`, without and with observation of refused ones, against the same process
 * without filters: five children, in turns. "least" has the shortest filter there is, which allows everything: what the kernel takes
 * for any filter at all. "one" is what a shipped profile gives, "two" a user's profile. A call that passes whatever its arguments are
 * (getppid) never runs a filter: the kernel keeps such answers as bits since Linux 5.11. openat has mode bits, which the floor looks at.
 * Usage: calls [ROUNDS]. Prints medians in ns, their ratios, the ratio of the least times, and how many calls are kept as bits.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/denials.h"
#include "executor/shared/ak_clock.h"
#include "seccomp/filters.h"
#include "seccomp/filters_gen.h"
#include "seccomp/own_arch.h"

#define ROUNDS_MAX 1000

enum { BARE, LEAST, ONE, TWO, OBSERVED, KINDS };
static const char *const kind_names[KINDS] = { "bare", "least", "one", "two", "observed" };

static const struct {
	const char *name;
	unsigned count;	/* calls a round */
	double wanted;	/* ratio at most; 0: none */
} calls[] = { { "getppid", 100000, 1.15 }, { "openat+close", 10000, 1.15 }, { "keyctl (refused)", 2000, 0 } };

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static double ns[CALLS][KINDS][ROUNDS_MAX];

struct child {
	int sock;
	pid_t pid;
};

static void once(unsigned call)
{
	if (call == 0)
		(void)syscall(SYS_getppid);
	else if (call == 1)
		(void)close((int)syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	else
		(void)syscall(SYS_keyctl, -1);
}

static double measure(unsigned call)
{
	uint64_t start = ak_now_ns();

	for (unsigned i = 0; i < calls[call].count; i++)
		once(call);
	return (double)(ak_now_ns() - start) / calls[call].count;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int load(const struct sock_filter *f, uint32_t n, unsigned flags)
{
	struct sock_fprog prog = { (unsigned short)n, (struct sock_filter *)(uintptr_t)f };
	int r = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);

	if (r < 0)
		fail("seccomp");
	return r;
}

static void send_fd(int sock, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl = { 0 };
	char c = 0;
	struct iovec iov = { &c, 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };

	*CMSG_FIRSTHDR(&h) = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	*(int *)(void *)CMSG_DATA(CMSG_FIRSTHDR(&h)) = fd;
	if (sendmsg(sock, &h, 0) != 1)
		fail("sendmsg");
	(void)close(fd);
}

static int receive_fd(int sock)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl = { 0 };
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };

	if (recvmsg(sock, &h, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&h))
		fail("recvmsg");
	return *(int *)(void *)CMSG_DATA(CMSG_FIRSTHDR(&h));
}

static _Noreturn void child(int kind, int sock, const struct observe_filters *f)
{
	static struct sock_filter joined[BPF_MAXINSNS];
	static const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	uint32_t n = observe_join(f, SECCOMP_RET_ALLOW, joined, BPF_MAXINSNS);
	unsigned call;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fail("no_new_privs");
	if (kind == LEAST) {
		load(&allow, 1, 0);
	} else if (kind == ONE) {
		load(joined, n, 0);	/* nobody listens: what is refused gets ENOSYS */
	} else if (kind == TWO) {
		load(f->profile, f->n_profile, 0);
		load(f->floor, f->n_floor, 0);
	} else if (kind == OBSERVED) {
		send_fd(sock, load(joined, n, SECCOMP_FILTER_FLAG_NEW_LISTENER));
	}
	while (read(sock, &call, sizeof(call)) == (ssize_t)sizeof(call)) {
		double t = measure(call);

		if (write(sock, &t, sizeof(t)) != (ssize_t)sizeof(t))
			break;
	}
	_exit(0);
}

static void start(struct child *c, int kind, const struct observe_filters *f)
{
	int sock[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) < 0)
		fail("socketpair");
	c->pid = fork();
	if (c->pid == 0)
		child(kind, sock[1], f);
	(void)close(sock[1]);
	c->sock = sock[0];
}

/* one round of one call in one child; its refused calls are answered meanwhile, as the executor does */
static double ask(const struct child *c, unsigned call, struct denials *d)
{
	double t = 0;

	if (write(c->sock, &call, sizeof(call)) != (ssize_t)sizeof(call))
		fail("write");
	for (;;) {
		struct pollfd p[2] = { { .fd = c->sock, .events = POLLIN }, { .fd = d->fd, .events = POLLIN } };

		if (poll(p, 2, -1) < 0)
			fail("poll");
		if (p[1].revents)
			denials_ready(d, p[1].revents);
		if (p[0].revents)
			break;
	}
	if (read(c->sock, &t, sizeof(t)) != (ssize_t)sizeof(t))
		fail("read");
	return t;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double processor_s(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void print(unsigned call, unsigned rounds)
{
	double m[KINDS];

	printf("%-18s", calls[call].name);
	for (int k = 0; k < KINDS; k++) {
		qsort(ns[call][k], rounds, sizeof(ns[call][k][0]), by_value);
		m[k] = ns[call][k][rounds / 2];
		printf(" %s %.0f ns", kind_names[k], m[k]);
		if (k > 0 && calls[call].wanted > 0)
			printf(" (x%.3f, least x%.3f)", m[k] / m[BARE], ns[call][k][0] / ns[call][BARE][0]);
	}
	if (calls[call].wanted > 0)
		printf("; wanted: at most x%.2f", calls[call].wanted);
	printf("\n");
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
	const struct seccomp_filter *p = seccomp_profile("default"), *fl = seccomp_floor(SECCOMP_FLOOR_USER);
	const struct observe_filters f = { (const struct sock_filter *)(const void *)p->insns,
					   (const struct sock_filter *)(const void *)fl->insns, p->count, fl->count };
	struct child c[KINDS];
	struct denials d;
	double before;
	unsigned kept = 0;

	if (!rounds || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: calls [ROUNDS], at most %d\n", ROUNDS_MAX);
		return 2;
	}
	for (int k = 0; k < KINDS; k++)
		start(&c[k], k, &f);
	denials_init(&d, &f, 0);
	if (denials_listen(&d, receive_fd(c[OBSERVED].sock)) < 0)
		fail("listener");
	before = processor_s();
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned call = 0; call < CALLS; call++)
			for (int k = 0; k < KINDS; k++)
				ns[call][(k + (int)r) % KINDS][r] = ask(&c[(k + (int)r) % KINDS], call, &d);
	for (unsigned call = 0; call < CALLS; call++)
		print(call, rounds);
	for (int nr = 0; nr < SECCOMP_GEN_NUMBERS; nr++)
		kept += observe_allows(&f, SECCOMP_OWN_ARCH, nr);
	printf("%u calls pass without running a filter\n", kept);
	printf("answering took %.1f us of processor time a refused call\n", (processor_s() - before) * 1e6 / (double)d.answered);
	for (int k = 0; k < KINDS; k++) {
		(void)kill(c[k].pid, SIGKILL);	/* they hold one another's sockets open */
		(void)waitpid(c[k].pid, NULL, 0);
	}
	return 0;
}
