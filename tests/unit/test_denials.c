/* SPDX-License-Identifier: Apache-2.0 */
/* Joined filters, and the list of what was refused. Process: unit tests. Privilege: none. */
#include <check.h>
#include <errno.h>
#include <linux/audit.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/denials.h"
#include "executor/shared/ak_clock.h"
#include "seccomp/filters.h"
#include "seccomp/own_arch.h"
#include "seccomp/sim.h"

static struct observe_filters f;
static struct sock_filter joined[BPF_MAXINSNS];
static uint32_t n_joined;

static void load(const char *profile, enum seccomp_floor_kind kind)
{
	const struct seccomp_filter *p = seccomp_profile(profile), *fl = seccomp_floor(kind);

	f = (struct observe_filters){ (const struct sock_filter *)(const void *)p->insns, (const struct sock_filter *)(const void *)fl->insns,
				      p->count, fl->count };
	n_joined = observe_join(&f, SECCOMP_RET_ALLOW, joined, BPF_MAXINSNS);
	ck_assert_uint_eq(n_joined, p->count + fl->count);
	ck_assert(bpf_sim_check(joined, n_joined));
}

/* for every number and arguments that the filters ask for: what passes passes, what is refused is told, what kills kills */
static void compare(void)
{
	static const uint64_t v[] = { 0, 1, 2, 3, 10, 16, 17, 38, 40, 0x5412, 0x541c, 0xffffffff, 0x10000000, 0x7e020000, 04755, 02755, 0x8000000000005412 };

	for (int nr = -1; nr < 1030; nr++) {
		for (size_t i = 0; i < sizeof(v) / sizeof(v[0]) * 6; i++) {
			struct seccomp_data d = { .nr = nr, .arch = i == 5 ? SECCOMP_OWN_ARCH ^ 1 : SECCOMP_OWN_ARCH };
			uint32_t plain, told;
			bool by_floor = false;

			d.args[i % 6] = v[i / 6];
			d.args[(i + 1) % 6] = v[(i * 7) % (sizeof(v) / sizeof(v[0]))];
			plain = bpf_sim_join(bpf_sim_run(f.floor, f.n_floor, &d), bpf_sim_run(f.profile, f.n_profile, &d));
			told = bpf_sim_run(joined, n_joined, &d);
			if (told != ((plain & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO ? SECCOMP_RET_USER_NOTIF : plain))
				ck_abort_msg("call %d: %x instead of %x", nr, told, plain);
			if (told != SECCOMP_RET_USER_NOTIF)
				continue;
			if (observe_errno(&f, &d, &by_floor) != (int)(plain & SECCOMP_RET_DATA) ||
			    by_floor != ((bpf_sim_run(f.floor, f.n_floor, &d) & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO))
				ck_abort_msg("call %d: wrong errno", nr);
		}
	}
}

START_TEST(joined_filter_refuses_the_same_and_tells)
{
	static const char *const profiles[] = { "default", "strict" };

	for (int p = 0; p < 2; p++) {
		for (int k = SECCOMP_FLOOR_USER; k <= SECCOMP_FLOOR_SETID; k++) {
			load(profiles[p], (enum seccomp_floor_kind)k);
			compare();
		}
	}
}
END_TEST

START_TEST(join_needs_room)
{
	load("default", SECCOMP_FLOOR_USER);
	ck_assert_uint_eq(observe_join(&f, SECCOMP_RET_ALLOW, joined, f.n_profile + f.n_floor), f.n_profile + f.n_floor);
	ck_assert_uint_eq(observe_join(&f, SECCOMP_RET_ALLOW, joined, f.n_profile + f.n_floor - 1), 0);
	ck_assert_uint_eq(observe_join(&f, SECCOMP_RET_ALLOW, joined, f.n_profile - 1), 0);
}
END_TEST

START_TEST(learning_traces_what_passes_and_nothing_else)
{
	struct sock_filter traced[BPF_MAXINSNS];

	load("default", SECCOMP_FLOOR_USER);
	ck_assert_uint_eq(observe_join(&f, SECCOMP_RET_TRACE, traced, BPF_MAXINSNS), n_joined);
	ck_assert(bpf_sim_check(traced, n_joined));
	for (int nr = -1; nr < 1030; nr++) {
		for (uint64_t arg = 0; arg < 64; arg++) {
			struct seccomp_data d = { .nr = nr, .arch = SECCOMP_OWN_ARCH, .args = { arg, arg } };
			uint32_t want = bpf_sim_run(joined, n_joined, &d);

			if (bpf_sim_run(traced, n_joined, &d) != (want == SECCOMP_RET_ALLOW ? SECCOMP_RET_TRACE : want))
				ck_abort_msg("call %d", nr);
		}
	}
}
END_TEST

START_TEST(allows_asks_both_and_no_argument)
{
	load("default", SECCOMP_FLOOR_USER);
	ck_assert(observe_allows(&f, SECCOMP_OWN_ARCH, SYS_sendmsg));
	ck_assert(!observe_allows(&f, SECCOMP_OWN_ARCH, SYS_keyctl));
	ck_assert(!observe_allows(&f, SECCOMP_OWN_ARCH ^ 1, SYS_sendmsg));
	/* with arguments of 0 it passes, with others it does not */
	ck_assert(!observe_allows(&f, SECCOMP_OWN_ARCH, SYS_personality));
	ck_assert(!observe_allows(&f, SECCOMP_OWN_ARCH, SYS_ioctl));
}
END_TEST

static void refuse(struct denials *d, int nr, unsigned n, int err, uint64_t when)
{
	d->observed = true;
	d->calls[nr] = (struct denial_count){ .count = (uint16_t)n, .err = (uint16_t)err, .when = when };
}

START_TEST(list_is_sorted_and_bounded)
{
	struct denials d;
	struct denial list[4];

	denials_init(&d, NULL, 0);
	ck_assert_uint_eq(denials_list(&d, list, 4), 0);
	refuse(&d, SYS_mount, 2, EPERM, 1);
	refuse(&d, SYS_keyctl, 9, EPERM, 2);
	refuse(&d, DENIALS_NUMBERS, 5, ENOSYS, 3);
	refuse(&d, 509, 4, ENOSYS, 4);
	refuse(&d, 510, 3, ENOSYS, 5);
	refuse(&d, SYS_bpf, 1, EPERM, 6);
	ck_assert_uint_eq(denials_list(&d, list, 4), 4);
	ck_assert_str_eq(list[0].name, "keyctl");
	ck_assert_uint_eq(list[0].count, 9);
	ck_assert_int_eq(list[0].err, EPERM);
	ck_assert_str_eq(list[1].name, "other");
	ck_assert_str_eq(list[2].name, "#509");
	ck_assert_str_eq(list[3].name, "#510");
}
END_TEST

START_TEST(explains_by_what_is_no_probe)
{
	struct denials d;
	struct denial c;

	denials_init(&d, NULL, 0);
	ck_assert(!denials_explain(&d, &c));
	refuse(&d, SYS_clone3, 7, ENOSYS, 9);
	ck_assert(!denials_explain(&d, &c));
	/* ENOSYS, but nobody asks for it just to see */
	refuse(&d, SYS_getpid, 1, ENOSYS, 8);
	ck_assert(denials_explain(&d, &c));
	ck_assert_str_eq(c.name, "getpid");
	/* a refusal that says so counts more, and the last one of these most */
	refuse(&d, SYS_mount, 1, EPERM, 3);
	ck_assert(denials_explain(&d, &c));
	ck_assert_str_eq(c.name, "mount");
	refuse(&d, SYS_socket, 1, EAFNOSUPPORT, 4);
	ck_assert(denials_explain(&d, &c));
	ck_assert_str_eq(c.name, "socket");
	ck_assert_int_eq(c.err, EAFNOSUPPORT);
	/* a probe that is refused with another errno, as by a profile of the user's */
	refuse(&d, SYS_clone3, 1, EPERM, 10);
	ck_assert(denials_explain(&d, &c));
	ck_assert_str_eq(c.name, "clone3");
}
END_TEST

/* ---- against the kernel ---- */

static void send_fd(int sock, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl = { 0 };
	char c = fd < 0;
	struct iovec iov = { &c, 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = fd < 0 ? NULL : ctl.buf,
			    .msg_controllen = fd < 0 ? 0 : sizeof(ctl.buf) };

	if (fd >= 0) {
		*CMSG_FIRSTHDR(&h) = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&h)), &fd, sizeof(int));
	}
	if (sendmsg(sock, &h, 0) != 1)
		_exit(100);
}

/* Return: the descriptor, -1 when the other side has none */
static int receive_fd(int sock)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl = { 0 };
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };
	int fd = -1;

	ck_assert_int_eq(recvmsg(sock, &h, 0), 1);
	if (CMSG_FIRSTHDR(&h))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof(int));
	return fd;
}

static unsigned wrong(long r, int want)
{
	return r != -1 || errno != want;
}

/* exit status: how many answers were wrong, at most 99 */
static _Noreturn void refused_child(int sock)
{
	struct sock_fprog prog = { (unsigned short)n_joined, joined };
	unsigned bad = 0;
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(101);
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	send_fd(sock, fd);
	if (fd < 0)
		_exit(102);
	close(fd);
	close(sock);
	bad += wrong(syscall(SYS_keyctl, -1), EPERM);	/* counted as one of init's */
	for (unsigned i = 0; i < DENIALS_COUNT_MAX + 5; i++)
		bad += wrong(syscall(SYS_unshare, CLONE_NEWUSER), EPERM);
	bad += wrong(syscall(SYS_clone3, 0, 0), ENOSYS);
	bad += wrong(syscall(SYS_socket, 40, SOCK_STREAM, 0), EAFNOSUPPORT);
	bad += wrong(syscall(100000), ENOSYS);
	bad += syscall(SYS_getppid) < 0;
	_exit(bad < 99 ? (int)bad : 99);
}

/* Answers until nobody is left who could call; @ret_rests: how often a rest was taken. Return: the listener was there. */
static bool serve_child(struct denials *d, int *ret_status, unsigned *ret_rests)
{
	int sock[2], fd;
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		refused_child(sock[1]);
	close(sock[1]);
	fd = receive_fd(sock[0]);
	if (fd >= 0)
		ck_assert_int_eq(denials_listen(d, fd), 0);
	while (d->fd >= 0) {
		struct pollfd p = { .fd = d->fd, .events = POLLIN };

		ck_assert_int_gt(poll(&p, 1, 20000), 0);
		denials_ready(d, p.revents);
		*ret_rests += d->rest_ns > ak_now_ns();
		while (d->rest_ns > ak_now_ns())
			usleep(100);
	}
	close(sock[0]);
	ck_assert_int_eq(waitpid(pid, ret_status, 0), pid);
	return fd >= 0;
}

/* a filter around this one refuses the calls itself, which an error does before a listener is asked: seccomp(2) */
static bool refused_already(void)
{
	if (syscall(SYS_clone3, NULL, 0) == 0 || errno != ENOSYS)
		return false;
	printf("skipped: a filter around refuses the calls\n");
	return true;
}

START_TEST(refusals_are_answered_from_the_table_counted_and_saturate)
{
	struct denials d;
	unsigned rests = 0;
	int status = 0;

	if (refused_already())
		return;
	load("default", SECCOMP_FLOOR_USER);
	denials_init(&d, &f, 1);
	if (!serve_child(&d, &status, &rests)) {
		printf("skipped: the kernel gives no listener here (an outer one is in force)\n");
		return;
	}
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(d.calls[SYS_keyctl].count, 0);
	ck_assert_uint_eq(d.calls[SYS_unshare].count, DENIALS_COUNT_MAX);
	ck_assert_uint_eq(d.calls[SYS_unshare].err, EPERM);
	ck_assert(d.calls[SYS_unshare].by_floor);
	ck_assert_uint_eq(d.calls[SYS_clone3].count, 1);
	ck_assert_uint_eq(d.calls[SYS_socket].err, EAFNOSUPPORT);
	ck_assert_uint_eq(d.calls[DENIALS_NUMBERS].count, 1);
	ck_assert_uint_eq(d.calls[SYS_getppid].count, 0);
	ck_assert_uint_eq(d.answered, 1 + DENIALS_COUNT_MAX + 5 + 3);
	ck_assert(d.calls[SYS_socket].when > d.calls[SYS_clone3].when);
	ck_assert_uint_eq(rests, 0);
}
END_TEST

START_TEST(a_flood_is_answered_with_rests)
{
	struct denials d;
	unsigned rests = 0;
	int status = 0;

	if (refused_already())
		return;
	load("default", SECCOMP_FLOOR_USER);
	denials_init(&d, &f, 0);
	d.answered = DENIALS_FREE;
	if (!serve_child(&d, &status, &rests)) {
		printf("skipped: the kernel gives no listener here (an outer one is in force)\n");
		return;
	}
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(d.calls[SYS_unshare].count, DENIALS_COUNT_MAX);
	ck_assert(d.since_ns > 0);
}
END_TEST

/* exit status 0: the call failed with ENOSYS, which no filter of ours gives to it */
static _Noreturn void left_alone_child(void)
{
	struct sock_fprog prog = { (unsigned short)n_joined, joined };
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(101);
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	if (fd < 0)
		_exit(102);
	close(fd);
	_exit((int)wrong(syscall(SYS_unshare, CLONE_NEWUSER), ENOSYS));
}

START_TEST(without_a_listener_refused_calls_fail)
{
	int status = 0;
	pid_t pid;

	if (refused_already())
		return;
	load("default", SECCOMP_FLOOR_USER);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		left_alone_child();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 102) {
		printf("skipped: the kernel gives no listener here (an outer one is in force)\n");
		return;
	}
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(what_is_no_listener_is_refused)
{
	struct denials d;
	int p[2];

	load("default", SECCOMP_FLOOR_USER);
	ck_assert_int_eq(pipe(p), 0);
	denials_init(&d, &f, 0);
	ck_assert_int_eq(denials_listen(&d, p[0]), -EBADMSG);
	ck_assert(!d.observed && d.fd == -1);
	ck_assert_int_lt(close(p[0]), 0);	/* was taken */
	(void)close(p[1]);
}
END_TEST

START_TEST(names_of_calls)
{
	ck_assert_str_eq(seccomp_call_name(SYS_mount), "mount");
	ck_assert_str_eq(seccomp_call_name(462), "mseal");
	ck_assert_ptr_null(seccomp_call_name(511));
	ck_assert_ptr_null(seccomp_call_name(100000));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("denials");
	TCase *t = tcase_create("all");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_set_timeout(t, 60);	/* every number is tried; a busy machine needs its time */
	tcase_add_test(t, joined_filter_refuses_the_same_and_tells);
	tcase_add_test(t, join_needs_room);
	tcase_add_test(t, learning_traces_what_passes_and_nothing_else);
	tcase_add_test(t, allows_asks_both_and_no_argument);
	tcase_add_test(t, list_is_sorted_and_bounded);
	tcase_add_test(t, explains_by_what_is_no_probe);
	tcase_add_test(t, refusals_are_answered_from_the_table_counted_and_saturate);
	tcase_add_test(t, a_flood_is_answered_with_rests);
	tcase_add_test(t, without_a_listener_refused_calls_fail);
	tcase_add_test(t, what_is_no_listener_is_refused);
	tcase_add_test(t, names_of_calls);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
