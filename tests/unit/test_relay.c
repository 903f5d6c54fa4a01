/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay's loop against a child that plays init: every way in which a command can end, and every way bytes
 * can go.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "executor/observing.h"
#include "executor/opts.h"
#include "executor/relay.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/stream.h"

/* what does not wait for one of our own times, all longer, ends long before this on a busy machine, too */
#define NOT_WAITED_MS 10000u
#define KILL_AFTER_LONG_MS 60000u

struct rig {
	struct exec_opts o;
	struct streams st;
	struct run_result res;
	struct observing *observing;
	int ctl;	/* of the child that plays init */
	int ran;	/* what relay_run() returned */
	uint64_t took_ms;
	void *arg;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void rig_init(struct rig *g)
{
	*g = (struct rig){ .o = { .kill_after_ms = 2000, .max_output_bytes = UINT64_MAX } };
	for (int i = 0; i < 3; i++) {
		int fd = open("/dev/null", O_RDWR);

		ck_assert_int_eq(dup2(fd, i), i);
		close(fd);
	}
	signal(SIGPIPE, SIG_IGN);
}

static void place(int fd, int as)
{
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dup2(fd, as), as);
	close(fd);
}

static int temp_file(int flags)
{
	char name[] = "/tmp/ak-test-relay-XXXXXX";
	int fd = mkstemp(name), again;

	ck_assert_int_ge(fd, 0);
	again = open(name, O_RDWR | flags);
	unlink(name);
	close(fd);
	return again;
}

static int end_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Starts @init with the streams in place, and runs the relay to its end */
static void rig_run(struct rig *g, void (*init)(struct rig *g))
{
	int ctl[2], sfd = end_signals(), pid;
	struct relay_sandbox sb;
	struct ak_err err = { 0 };
	uint64_t start = now_ns();

	ck_assert_int_eq(streams_open(&g->o, 0, &g->st, &err), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl), 0);
	pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		for (int i = 0; i < 3; i++)
			if (g->st.s[i].child >= 0)
				dup2(g->st.s[i].child, i);
		streams_release(&g->st);
		close(ctl[0]);
		g->ctl = ctl[1];
		init(g);
		_exit(0);
	}
	close(ctl[1]);
	streams_close_child_ends(&g->st);
	sb = (struct relay_sandbox){ .pid = pid, .ctl = ctl[0], .pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
				     .watch_memory = !g->o.memory_bytes.max, .observing = g->observing };
	ck_assert_int_ge(sb.pidfd, 0);
	g->ran = relay_run(&sb, &g->o, &g->st, sfd, &g->res, &err);
	g->took_ms = (now_ns() - start) / 1000000;
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), -1);	/* waited for */
	streams_release(&g->st);
	close(sb.pidfd);
	close(ctl[0]);
	close(sfd);
	ck_assert_int_eq(g->ran, 0);
}

static void say(struct rig *g, const struct init_msg *m)
{
	char buf[AK_INIT_MSG_MAX];
	long n = init_msg_encode(m, buf, sizeof(buf));

	if (n <= 0 || send(g->ctl, buf, (size_t)n, MSG_NOSIGNAL) != n)
		_exit(99);
}

static void say_exited(struct rig *g, int wstatus)
{
	struct init_msg m = { .type = INIT_MSG_EXITED, .wstatus = (uint32_t)wstatus, .text = "", .hint = "" };

	m.end_ns = now_ns();
	m.start_ns = m.end_ns - 1000;
	say(g, &m);
}

static void say_failed(struct rig *g, enum init_stage stage, unsigned code, const char *text)
{
	struct init_msg m = { .type = INIT_MSG_FAILED, .stage = stage, .code = ENOENT, .exit_code = code,
			      .text = text, .hint = "a hint" };

	say(g, &m);
}

static void send_fd(struct rig *g, const struct init_msg *m, int fd)
{
	char buf[AK_INIT_MSG_MAX], space[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { .iov_base = buf, .iov_len = (size_t)init_msg_encode(m, buf, sizeof(buf)) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(g->ctl, &h, 0) < 0)
		_exit(98);
}

/* Return: number of the signal the relay asks for */
static int hear_signal(struct rig *g)
{
	char buf[AK_INIT_MSG_MAX];
	struct init_msg m;
	ssize_t n = recv(g->ctl, buf, sizeof(buf), 0);

	if (n <= 0 || init_msg_decode(buf, (size_t)n, &m) < 0 || m.type != INIT_MSG_SIGNAL)
		_exit(97);
	return (int)m.signo;
}

static void write_all(int fd, char c, size_t n)
{
	char buf[65536];

	memset(buf, c, sizeof(buf));
	while (n) {
		ssize_t k = write(fd, buf, n < sizeof(buf) ? n : sizeof(buf));

		if (k <= 0)
			_exit(96);
		n -= (size_t)k;
	}
}

/* --- ends --- */

static void init_exit_42(struct rig *g)
{
	say_exited(g, 42 << 8);
}

START_TEST(exit_code_is_the_commands)
{
	struct rig g;

	rig_init(&g);
	rig_run(&g, init_exit_42);
	ck_assert_int_eq(g.res.status, RUN_EXITED);
	ck_assert_int_eq(g.res.exit_code, 42);
	ck_assert_int_eq(g.res.signal, 0);
	ck_assert(!g.res.interrupted && !g.res.timeout_hit);
	ck_assert_uint_gt(g.res.start_ns, 0);
	ck_assert_uint_eq(g.res.end_ns - g.res.start_ns, 1000);
}
END_TEST

static const int deaths[] = { SIGSEGV, SIGKILL, SIGTERM, 34 };

static void init_death(struct rig *g)
{
	say_exited(g, *(int *)g->arg);
}

START_TEST(signal_death_is_128_and_its_number)
{
	struct rig g;
	int n = deaths[_i];

	rig_init(&g);
	g.arg = &n;
	rig_run(&g, init_death);
	ck_assert_int_eq(g.res.status, RUN_SIGNALED);
	ck_assert_int_eq(g.res.exit_code, 128 + n);
	ck_assert_int_eq(g.res.signal, n);
}
END_TEST

static void init_hang(struct rig *g)
{
	(void)g;
	for (;;)
		pause();
}

START_TEST(timeout_kills_what_does_not_end)
{
	struct rig g;

	rig_init(&g);
	g.o.timeout_ms = 150;
	g.o.kill_after_ms = 200;
	rig_run(&g, init_hang);
	ck_assert_int_eq(g.res.status, RUN_TIMED_OUT);
	ck_assert_int_eq(g.res.exit_code, 124);
	ck_assert_int_eq(g.res.signal, SIGKILL);
	ck_assert(g.res.timeout_hit);
	ck_assert_uint_ge(g.took_ms, 350);
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
}
END_TEST

static void init_stopped(struct rig *g)
{
	(void)g;
	raise(SIGSTOP);
	_exit(1);
}

START_TEST(timeout_kills_what_is_stopped)
{
	struct rig g;

	rig_init(&g);
	g.o.timeout_ms = 100;
	g.o.kill_after_ms = 100;
	rig_run(&g, init_stopped);
	ck_assert_int_eq(g.res.status, RUN_TIMED_OUT);
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
}
END_TEST

static void init_obeys(struct rig *g)
{
	int n;

	write_all(1, 'P', 10);
	n = hear_signal(g);
	write_all(1, 'b', 4);
	say_exited(g, n == SIGTERM ? 5 << 8 : 99 << 8);
}

START_TEST(timeout_stays_a_timeout_when_the_command_obeys)
{
	struct rig g;

	rig_init(&g);
	g.o.kill_after_ms = KILL_AFTER_LONG_MS;
	g.o.json = true;
	g.o.timeout_ms = 100;
	rig_run(&g, init_obeys);
	ck_assert_int_eq(g.res.status, RUN_TIMED_OUT);
	ck_assert_int_eq(g.res.exit_code, 124);
	ck_assert_int_eq(g.res.signal, 0);
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
	ck_assert_uint_eq(g.res.out[0].total, 14);
	run_result_release(&g.res);
}
END_TEST

static void init_signals_parent_once(struct rig *g)
{
	int n;

	kill(getppid(), SIGINT);
	n = hear_signal(g);
	say_exited(g, n == SIGINT ? 5 << 8 : 99 << 8);
}

START_TEST(signal_is_passed_on_and_gives_128_and_its_number)
{
	struct rig g;

	rig_init(&g);
	rig_run(&g, init_signals_parent_once);
	ck_assert_int_eq(g.res.status, RUN_SIGNALED);
	ck_assert_int_eq(g.res.exit_code, 130);
	ck_assert_int_eq(g.res.signal, SIGINT);
	ck_assert(g.res.interrupted);
}
END_TEST

static void init_signals_parent_twice(struct rig *g)
{
	kill(getppid(), SIGTERM);
	(void)hear_signal(g);
	kill(getppid(), SIGINT);
	for (;;)
		pause();
}

START_TEST(second_signal_kills_at_once)
{
	struct rig g;

	rig_init(&g);
	g.o.kill_after_ms = KILL_AFTER_LONG_MS;
	rig_run(&g, init_signals_parent_twice);
	ck_assert_int_eq(g.res.exit_code, 143);
	ck_assert_int_eq(g.res.signal, SIGTERM);
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
}
END_TEST

static void init_dies(struct rig *g)
{
	(void)g;
	raise(SIGKILL);
}

START_TEST(init_gone_without_a_result_is_a_failure)
{
	struct rig g;

	rig_init(&g);
	rig_run(&g, init_dies);
	ck_assert_int_eq(g.res.status, RUN_FAILED);
	ck_assert_int_eq(g.res.exit_code, 125);
	ck_assert_ptr_nonnull(strstr(g.res.fail_text, "ended without a result"));
	ck_assert_ptr_nonnull(strstr(g.res.fail_text, "SIGKILL"));
	ck_assert_uint_eq(g.res.start_ns, 0);
}
END_TEST

/* 8-bit controls, as an encoder of ours would not let them pass; others do not decode */
static void init_no_command(struct rig *g)
{
	static const char evil[] = "nope: \x9b\xc2\x9b" "31m\xff";
	char buf[AK_INIT_MSG_MAX], plain[sizeof(evil)] = "";
	struct init_msg m = { .type = INIT_MSG_FAILED, .stage = INIT_STAGE_EXEC, .code = ENOENT, .exit_code = 127,
			      .text = plain, .hint = "a hint" };
	char *at;
	long n;

	memset(plain, 'x', sizeof(plain) - 1);
	n = init_msg_encode(&m, buf, sizeof(buf));
	at = n > 0 ? memmem(buf, (size_t)n, plain, strlen(plain)) : NULL;
	if (!at)
		_exit(92);
	memcpy(at, evil, strlen(evil));
	if (send(g->ctl, buf, (size_t)n, 0) != n)
		_exit(91);
	say_exited(g, 3 << 8);
}

START_TEST(command_not_found_is_127_with_a_clean_text)
{
	struct rig g;

	rig_init(&g);
	rig_run(&g, init_no_command);
	ck_assert_int_eq(g.res.status, RUN_EXITED);
	ck_assert_int_eq(g.res.exit_code, 127);
	ck_assert_uint_eq(g.res.fail_stage, INIT_STAGE_EXEC);
	ck_assert_int_eq(g.res.fail_code, ENOENT);
	ck_assert_str_eq(g.res.fail_text, "nope: 31m\xef\xbf\xbd");
	ck_assert_str_eq(g.res.fail_hint, "a hint");
}
END_TEST

static void init_set_up_fails(struct rig *g)
{
	say_failed(g, *(enum init_stage *)g->arg, 126, "mount /proc: no");
	for (;;)	/* and init does not even end */
		pause();
}

START_TEST(failed_set_up_is_125_and_is_ended)
{
	enum init_stage stage = (enum init_stage)(INIT_STAGE_SETUP + _i);
	struct rig g;

	rig_init(&g);
	g.o.kill_after_ms = KILL_AFTER_LONG_MS;
	g.arg = &stage;
	rig_run(&g, init_set_up_fails);
	ck_assert_int_eq(g.res.status, RUN_FAILED);
	ck_assert_int_eq(g.res.exit_code, 125);
	ck_assert_str_eq(g.res.fail_text, "mount /proc: no");
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
}
END_TEST

/* --- a hostile init --- */

static void hostile_garbage(struct rig *g)
{
	(void)send(g->ctl, "\x03garbage", 8, 0);
	init_hang(g);
}

static void hostile_long(struct rig *g)
{
	char buf[4 * AK_INIT_MSG_MAX] = { 3 };

	(void)send(g->ctl, buf, sizeof(buf), 0);
	init_hang(g);
}

static void hostile_twice(struct rig *g)
{
	say_exited(g, 0);
	say_exited(g, 1 << 8);
	init_hang(g);
}

static void hostile_wrong_way(struct rig *g)
{
	struct init_msg m = { .type = INIT_MSG_SIGNAL, .signo = 9, .text = "", .hint = "" };

	say(g, &m);
	init_hang(g);
}

static void hostile_extra_fd(struct rig *g)
{
	struct init_msg m = { .type = INIT_MSG_EXITED, .text = "", .hint = "" };

	send_fd(g, &m, 0);
	init_hang(g);
}

static void hostile_pty_no_fd(struct rig *g)
{
	struct init_msg m = { .type = INIT_MSG_PTY, .text = "", .hint = "" };

	say(g, &m);
	init_hang(g);
}

static void hostile_pty_file(struct rig *g)
{
	struct init_msg m = { .type = INIT_MSG_PTY, .text = "", .hint = "" };

	send_fd(g, &m, open("/dev/null", O_RDWR));
	init_hang(g);
}

static void hostile_pty_slave(struct rig *g)
{
	struct init_msg m = { .type = INIT_MSG_PTY, .text = "", .hint = "" };
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	unlockpt(master);
	send_fd(g, &m, open(ptsname(master), O_RDWR | O_NOCTTY));
	init_hang(g);
}

static void hostile_listener_unasked(struct rig *g)
{
	struct init_msg m = { .type = INIT_MSG_LISTENER };

	send_fd(g, &m, open("/dev/null", O_RDWR));
	init_hang(g);
}

static void hostile_no_listener_unasked(struct rig *g)
{
	struct init_msg m = { .type = INIT_MSG_LISTENER, .code = EBUSY };

	say(g, &m);
	init_hang(g);
}

static void hostile_learned_unasked(struct rig *g)
{
	static const uint8_t bits[AK_INIT_LEARNED_BYTES];
	struct init_msg m = { .type = INIT_MSG_LEARNED, .learned = bits };

	say(g, &m);
	init_hang(g);
}

static void (*const hostile[])(struct rig *g) = {
	hostile_garbage, hostile_long, hostile_twice, hostile_wrong_way, hostile_extra_fd, hostile_pty_no_fd,
	hostile_pty_file, hostile_pty_slave, hostile_listener_unasked, hostile_no_listener_unasked, hostile_learned_unasked,
};

static size_t open_fds(void)
{
	size_t n = 0;

	for (int i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

START_TEST(broken_protocol_ends_the_tree_and_leaks_nothing)
{
	struct rig g;
	size_t before;

	rig_init(&g);
	g.o.kill_after_ms = KILL_AFTER_LONG_MS;
	g.o.tty = _i >= 5;
	before = open_fds();
	rig_run(&g, hostile[_i]);
	ck_assert_int_eq(g.res.status, RUN_FAILED);
	ck_assert_int_eq(g.res.exit_code, 125);
	ck_assert_ptr_nonnull(strstr(g.res.fail_text, "the sandbox sent "));
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
	ck_assert_uint_eq(open_fds(), before);
}
END_TEST

/* --- observing --- */

static void hostile_listener_twice(struct rig *g)
{
	struct init_msg m = { .type = INIT_MSG_LISTENER, .code = EBUSY };

	say(g, &m);
	say(g, &m);
	init_hang(g);
}

/* asked for, but: a descriptor that is no listener; said twice; once more than once */
static void (*const hostile_observed[])(struct rig *g) = { hostile_listener_unasked, hostile_listener_twice, hostile_learned_unasked };

START_TEST(observed_and_broken_ends_the_tree_and_leaks_nothing)
{
	static const struct sock_filter none;
	struct observing ob = OBSERVING_NONE;
	const struct observe_filters f = { &none, &none, 1, 1 };
	struct rig g;
	size_t before;

	rig_init(&g);
	denials_init(&ob.denials, &f, 0);
	ob.learn = true;
	ob.have_learned = true;	/* so that another one is one too many */
	g.observing = &ob;
	g.o.kill_after_ms = KILL_AFTER_LONG_MS;
	before = open_fds();
	rig_run(&g, hostile_observed[_i]);
	ck_assert_int_eq(g.res.status, RUN_FAILED);
	ck_assert_ptr_nonnull(strstr(g.res.fail_text, "the sandbox sent "));
	ck_assert(!ob.denials.observed);
	ck_assert_uint_eq(open_fds(), before);
}
END_TEST

static void init_without_listener(struct rig *g)
{
	uint8_t bits[AK_INIT_LEARNED_BYTES] = { 5 };
	struct init_msg no = { .type = INIT_MSG_LISTENER, .code = EBUSY };
	struct init_msg learned = { .type = INIT_MSG_LEARNED, .learned = bits };

	say(g, &no);
	say(g, &learned);
	say_exited(g, 0);
}

START_TEST(what_init_says_of_observing_is_kept)
{
	static const struct sock_filter none;
	struct observing ob = OBSERVING_NONE;
	const struct observe_filters f = { &none, &none, 1, 1 };
	struct rig g;

	rig_init(&g);
	denials_init(&ob.denials, &f, 0);
	ob.learn = true;
	g.observing = &ob;
	rig_run(&g, init_without_listener);
	ck_assert_int_eq(g.res.status, RUN_EXITED);
	ck_assert(!ob.denials.observed);
	ck_assert_int_eq(ob.denials.why_not, EBUSY);
	ck_assert(ob.have_learned);
	ck_assert_uint_eq(ob.learned[0], 5);
}
END_TEST

static void hostile_flood(struct rig *g)
{
	(void)hear_signal(g);
	for (;;)
		if (send(g->ctl, "x", 1, MSG_NOSIGNAL) < 0)
			pause();
}

START_TEST(flood_of_messages_after_the_timeout_ends_the_tree)
{
	struct rig g;

	rig_init(&g);
	g.o.timeout_ms = 50;
	g.o.kill_after_ms = KILL_AFTER_LONG_MS;
	rig_run(&g, hostile_flood);
	ck_assert_int_eq(g.res.status, RUN_TIMED_OUT);
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
}
END_TEST

/* --- output --- */

#define TEN_MB 10000000u

static void init_ten_mb(struct rig *g)
{
	write_all(2, 'e', TEN_MB);
	write_all(1, 'o', TEN_MB);
	say_exited(g, 0);
}

START_TEST(ten_megabytes_on_both_streams_are_captured)
{
	struct rig g;

	rig_init(&g);
	g.o.json = true;
	g.o.max_output_bytes = 16u << 20;
	rig_run(&g, init_ten_mb);
	ck_assert_int_eq(g.res.exit_code, 0);
	for (int i = 0; i < 2; i++) {
		const struct capture *c = &g.res.out[i];

		ck_assert(g.res.counted[i]);
		ck_assert_uint_eq(c->total, TEN_MB);
		ck_assert_uint_eq(c->dropped, 0);
		ck_assert_uint_eq(c->head_len + c->tail_len, TEN_MB);
		ck_assert_int_eq(c->tail[c->tail_len - 1], i == 0 ? 'o' : 'e');
	}
	run_result_release(&g.res);
	run_result_release(&g.res);
	ck_assert_ptr_null(g.res.out[0].head);
}
END_TEST

START_TEST(ten_megabytes_reach_files)
{
	struct rig g;
	struct stat st;

	rig_init(&g);
	place(temp_file(_i ? O_APPEND : 0), 1);
	place(temp_file(_i ? O_APPEND : 0), 2);
	rig_run(&g, init_ten_mb);
	for (int i = 1; i < 3; i++) {
		ck_assert_int_eq(g.st.s[i].mode, STREAM_RELAY);
		ck_assert_int_eq(fstat(i, &st), 0);
		ck_assert_int_eq(st.st_size, TEN_MB);
		ck_assert_uint_eq(g.res.out[i - 1].total, TEN_MB);
	}
}
END_TEST

START_TEST(maximum_passes_the_first_bytes_and_counts_the_rest)
{
	struct rig g;
	struct stat st;

	rig_init(&g);
	place(temp_file(_i ? O_APPEND : 0), 1);
	place(temp_file(0), 2);
	g.o.max_output_bytes = 100001;
	rig_run(&g, init_ten_mb);
	for (int i = 1; i < 3; i++) {
		ck_assert_int_eq(fstat(i, &st), 0);
		ck_assert_int_eq(st.st_size, 100001);
		ck_assert_uint_eq(g.res.out[i - 1].total, TEN_MB);
		ck_assert_uint_eq(g.res.out[i - 1].dropped, TEN_MB - 100001);
	}
}
END_TEST

static void init_alternates(struct rig *g)
{
	char line[16];

	for (int i = 0; i < 500; i++) {
		snprintf(line, sizeof(line), "%c%03d\n", i % 2 ? 'e' : 'o', i);
		if (write(i % 2 ? 2 : 1, line, 5) != 5)
			_exit(95);
	}
	say_exited(g, 0);
}

START_TEST(merged_streams_keep_their_order)
{
	struct rig g;
	char want[16], got[16] = "";

	rig_init(&g);
	place(temp_file(0), 1);
	ck_assert_int_eq(dup2(1, 2), 2);
	rig_run(&g, init_alternates);
	ck_assert(g.res.counted[0] && !g.res.counted[1]);
	for (int i = 0; i < 500; i++) {
		snprintf(want, sizeof(want), "%c%03d\n", i % 2 ? 'e' : 'o', i);
		ck_assert_int_eq(pread(1, got, 5, i * 5), 5);
		ck_assert_str_eq(got, want);
	}
}
END_TEST

static void init_writes_on(struct rig *g)
{
	(void)g;
	signal(SIGPIPE, SIG_IGN);
	for (;;)
		if (write(1, "y\n", 2) < 0)
			usleep(1000);
}

START_TEST(command_that_ignores_a_missing_reader_is_ended)
{
	struct rig g;
	int p[2];

	rig_init(&g);
	ck_assert_int_eq(pipe(p), 0);
	place(p[1], 1);
	close(p[0]);
	if (_i == 1)
		g.o.max_output_bytes = 1u << 20;	/* relayed */
	if (_i == 2)
		g.o.json = true;
	rig_run(&g, init_writes_on);
	ck_assert_int_eq(g.res.status, RUN_OUTPUT_CLOSED);
	ck_assert_int_eq(g.res.exit_code, 141);
	ck_assert_uint_ge(g.took_ms, 100);
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
	run_result_release(&g.res);
}
END_TEST

static void init_feels_sigpipe(struct rig *g)
{
	int pid = fork(), status = 0;

	if (pid == 0)
		write_all(1, 'y', 1u << 30);
	waitpid(pid, &status, 0);
	say_exited(g, status);
}

START_TEST(command_that_ends_by_sigpipe_has_its_own_result)
{
	struct rig g;
	int p[2];

	rig_init(&g);
	ck_assert_int_eq(pipe(p), 0);
	place(p[1], 1);
	close(p[0]);
	if (_i == 1)
		g.o.max_output_bytes = 1u << 20;
	rig_run(&g, init_feels_sigpipe);
	ck_assert_int_eq(g.res.status, RUN_SIGNALED);
	ck_assert_int_eq(g.res.signal, SIGPIPE);
	ck_assert_int_eq(g.res.exit_code, 141);
}
END_TEST

static void init_err_then_exit(struct rig *g)
{
	write_all(2, 'e', TEN_MB);
	say_exited(g, 7 << 8);
}

START_TEST(missing_reader_of_stderr_does_not_matter)
{
	struct rig g;
	int s[2];

	rig_init(&g);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	place(s[1], 2);
	close(s[0]);
	rig_run(&g, init_err_then_exit);
	ck_assert_int_eq(g.res.status, RUN_EXITED);
	ck_assert_int_eq(g.res.exit_code, 7);
	ck_assert_uint_eq(g.res.out[1].total, TEN_MB);
	ck_assert_uint_eq(g.res.out[1].dropped, TEN_MB);
}
END_TEST

static void init_both_then_hang(struct rig *g)
{
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* stuck until the tree is killed */
		write_all(1, 'o', TEN_MB);
		_exit(0);
	}
	write_all(2, 'e', TEN_MB);
	init_hang(g);
}

START_TEST(stuck_reader_stalls_neither_time_nor_the_other_stream)
{
	struct rig g;
	struct stat st;
	int p[2];

	rig_init(&g);
	if (_i == 0)
		ck_assert_int_eq(pipe(p), 0);
	else
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
	place(p[1], 1);	/* nobody reads p[0] */
	place(temp_file(0), 2);
	g.o.max_output_bytes = 1u << 30;
	g.o.timeout_ms = 1000;
	g.o.kill_after_ms = 100;
	rig_run(&g, init_both_then_hang);
	ck_assert_int_eq(g.res.exit_code, 124);
	ck_assert_int_eq(fstat(2, &st), 0);
	ck_assert_int_eq(st.st_size, TEN_MB);
	ck_assert_uint_gt(g.res.out[0].dropped, 0);
	ck_assert_uint_ge(g.took_ms, 1100);
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
	ck_assert_int_eq(fcntl(1, F_GETFL) & O_NONBLOCK, 0);
	close(p[0]);
}
END_TEST

static void init_slow_reader(struct rig *g)
{
	write_all(1, 'o', 3u << 20);
	say_exited(g, 0);
}

START_TEST(slow_reader_gets_everything)
{
	struct rig g;
	int p[2], pid, status;

	rig_init(&g);
	if (_i == 0)
		ck_assert_int_eq(pipe(p), 0);
	else
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
	pid = fork();
	if (pid == 0) {
		static char buf[65536];
		size_t n = 0;
		ssize_t k;

		close(p[1]);
		usleep(200000);
		while ((k = read(p[0], buf, sizeof(buf))) > 0) {
			n += (size_t)k;
			usleep(2000);
		}
		_exit(n == 3u << 20 ? 0 : 1);
	}
	close(p[0]);
	place(p[1], 1);
	g.o.max_output_bytes = 1u << 30;
	rig_run(&g, init_slow_reader);
	ck_assert_uint_eq(g.res.out[0].dropped, 0);
	place(open("/dev/null", O_RDWR), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void init_leaves_a_writer(struct rig *g)
{
	/* plays a descriptor that was sent out of the sandbox: it is still open when the tree is dead */
	if (fork() == 0) {
		for (int i = 0; i < 300; i++) {	/* until the relay has gone and the pipe breaks */
			usleep(100000);
			(void)!write(1, "late", 4);
		}
		_exit(0);
	}
	write_all(1, 'o', 1000);
	say_exited(g, 0);
}

START_TEST(writer_outside_the_tree_is_not_waited_for)
{
	struct rig g;

	rig_init(&g);
	g.o.json = true;
	rig_run(&g, init_leaves_a_writer);
	ck_assert_uint_eq(g.res.out[0].total, 1000);
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
	run_result_release(&g.res);
}
END_TEST

START_TEST(full_disk_is_a_failure_that_names_the_stream)
{
	struct rig g;

	rig_init(&g);
	place(open("/dev/full", O_WRONLY), 1);
	rig_run(&g, init_ten_mb);
	ck_assert_int_eq(g.res.status, RUN_FAILED);
	ck_assert_int_eq(g.res.exit_code, 125);
	ck_assert_int_eq(g.res.fail_code, ENOSPC);
	ck_assert_ptr_nonnull(strstr(g.res.fail_text, "standard output"));
	ck_assert_ptr_nonnull(strstr(g.res.fail_text, "ENOSPC"));
}
END_TEST

/* --- input --- */

static void init_reads(struct rig *g)
{
	size_t want = *(size_t *)g->arg, n = 0;
	char buf[4096];
	ssize_t k = 1;

	while (n < want && k > 0) {
		k = read(0, buf, want - n < sizeof(buf) ? want - n : sizeof(buf));
		if (k > 0)
			n += (size_t)k;
	}
	usleep(20000);	/* let the relay read ahead */
	say_exited(g, n == want ? 0 : 1 << 8);
}

START_TEST(unread_input_is_given_back_to_the_file)
{
	static const size_t sizes[] = { 0, 10, 5000, 200000, 300000 };
	size_t want = sizes[_i];
	struct rig g;
	int fd = temp_file(0);

	rig_init(&g);
	write_all(fd, 'i', 300000);
	lseek(fd, 0, SEEK_SET);
	place(fd, 0);
	g.arg = &want;
	rig_run(&g, init_reads);
	ck_assert_int_eq(g.res.exit_code, 0);
	ck_assert_int_eq(lseek(0, 0, SEEK_CUR), (off_t)want);
}
END_TEST

static void init_reads_to_eof(struct rig *g)
{
	char buf[4096];
	size_t n = 0;
	ssize_t k;

	while ((k = read(0, buf, sizeof(buf))) > 0)
		n += (size_t)k;
	say_exited(g, k == 0 && n == *(size_t *)g->arg ? 0 : 1 << 8);
}

START_TEST(input_ends_with_its_source)
{
	size_t want = 1000;
	struct rig g;
	int p[2];

	rig_init(&g);
	if (_i == 0) {
		p[0] = temp_file(0);
		write_all(p[0], 'i', want);
		lseek(p[0], 0, SEEK_SET);
	} else {
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
		write_all(p[1], 'i', want);
		close(p[1]);
	}
	place(p[0], 0);
	g.arg = &want;
	rig_run(&g, init_reads_to_eof);
	ck_assert_int_eq(g.res.exit_code, 0);
}
END_TEST

static void init_closes_stdin(struct rig *g)
{
	close(0);
	usleep(100000);
	kill(getppid(), SIGWINCH);	/* any event */
	usleep(50000);
	say_exited(g, 0);
}

START_TEST(closed_input_is_not_read_any_more)
{
	struct rig g;
	char buf[16];
	int s[2], pid;

	rig_init(&g);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	place(s[0], 0);
	pid = fork();
	if (pid == 0) {
		usleep(60000);	/* comes after the command has closed its input */
		_exit(write(s[1], "typed", 5) == 5 ? 0 : 1);
	}
	rig_run(&g, init_closes_stdin);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(recv(0, buf, sizeof(buf), MSG_DONTWAIT), 5);
	close(s[1]);
}
END_TEST

/* --- pty --- */

static int open_pty(struct rig *g)
{
	struct init_msg m = { .type = INIT_MSG_PTY, .text = "", .hint = "" };
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;

	if (master < 0 || unlockpt(master) < 0)
		_exit(94);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	send_fd(g, &m, master);
	close(master);
	return slave;
}

static void init_pty_writes(struct rig *g)
{
	int slave = open_pty(g);

	write_all(slave, 'a', 200000);
	close(slave);
	say_exited(g, 0);
}

START_TEST(last_bytes_of_a_pty_arrive)
{
	struct rig g;
	struct stat st;

	rig_init(&g);
	g.o.tty = true;
	for (int i = 0; i < 30; i++) {
		place(temp_file(0), 1);
		rig_run(&g, init_pty_writes);
		ck_assert_int_eq(g.res.exit_code, 0);
		ck_assert_int_eq(fstat(1, &st), 0);
		ck_assert_int_eq(st.st_size, 200000);
		ck_assert(g.res.counted[0]);
		ck_assert_uint_eq(g.res.out[0].total, 200000);
	}
}
END_TEST

static void init_pty_reads(struct rig *g)
{
	size_t n = 0, want = *(size_t *)g->arg;
	int slave = open_pty(g);
	char buf[256];
	ssize_t k;

	while ((k = read(slave, buf, sizeof(buf))) > 0)
		n += (size_t)k;
	say_exited(g, k == 0 && n == want ? 0 : 1 << 8);
}

/* with and without a newline at the end of the input */
START_TEST(input_of_a_pty_ends_as_an_end_of_file)
{
	static const char *const inputs[] = { "abc\n", "abc", "" };
	size_t want = strlen(inputs[_i]);
	struct rig g;
	int p[2];

	rig_init(&g);
	g.o.tty = true;
	g.o.timeout_ms = 20000;
	g.o.kill_after_ms = 10;
	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(write(p[1], inputs[_i], want), (ssize_t)want);
	close(p[1]);
	place(p[0], 0);
	g.arg = &want;
	rig_run(&g, init_pty_reads);
	ck_assert_int_eq(g.res.exit_code, 0);
}
END_TEST

/*
 * What has come to the terminal. 0 and 1 are its last slaves and are closed, so that what comes has an end: EIO, at once
 * or as soon as the kernel's worker has passed the last bytes on
 */
static void read_terminal(int master, char *buf, size_t cap)
{
	struct pollfd p = { .fd = master, .events = POLLIN };
	size_t n = 0;

	for (int i = 0; i < 2; i++)
		place(open("/dev/null", O_RDWR), i);
	while (n < cap - 1 && poll(&p, 1, NOT_WAITED_MS) > 0) {
		ssize_t k = read(master, buf + n, cap - 1 - n);

		if (k <= 0)
			break;
		n += (size_t)k;
	}
	buf[n] = '\0';
}

static void init_pty_size(struct rig *g)
{
	int slave = open_pty(g);
	struct winsize w = { 0 };
	char c;

	for (int i = 0; i < 1000 && w.ws_row != 33; i++) {
		usleep(10000);
		ioctl(slave, TIOCGWINSZ, &w);
	}
	kill(getppid(), SIGWINCH);
	/*
	 * Ctrl-C must come as a byte through the raw terminal; the pty makes a signal or, here, cooked input
	 * of it
	 */
	if (read(slave, &c, 1) != 1 || c != 'q')
		_exit(93);
	(void)!write(slave, "\033]52;c;QUJD\a\033[2Jtext\033[6n", 24);
	say_exited(g, w.ws_row == 33 && w.ws_col == 99 ? 0 : 1 << 8);
}

START_TEST(terminal_gives_its_size_goes_raw_and_comes_back)
{
	struct rig g;
	struct winsize w = { .ws_row = 33, .ws_col = 99 };
	struct termios before, after;
	char buf[256] = "";
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	rig_init(&g);
	ck_assert_int_eq(unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_eq(ioctl(slave, TIOCSWINSZ, &w), 0);
	ck_assert_int_eq(tcgetattr(slave, &before), 0);
	dup2(slave, 1);
	place(slave, 0);
	g.o.tty = true;
	g.o.timeout_ms = 20000;
	ck_assert_int_eq(write(master, "q\n", 2), 2);
	rig_run(&g, init_pty_size);
	ck_assert_int_eq(g.res.exit_code, 0);
	ck_assert_int_eq(tcgetattr(0, &after), 0);
	ck_assert_uint_eq(after.c_lflag, before.c_lflag);
	ck_assert_uint_eq(after.c_iflag, before.c_iflag);
	ck_assert_uint_eq(after.c_oflag, before.c_oflag);
	read_terminal(master, buf, sizeof(buf));
	ck_assert_ptr_nonnull(strstr(buf, "\033[2Jtext"));
	ck_assert_ptr_null(strstr(buf, "\033]"));
	ck_assert_ptr_null(strstr(buf, "6n"));
}
END_TEST

static void init_hostile_output(struct rig *g)
{
	(void)!write(1, "a\033]52;c;QUJD\a\033[2J\033[31mred\n", 27);
	say_exited(g, 0);
}

START_TEST(terminal_gets_filtered_output_unless_raw)
{
	struct rig g;
	char buf[256] = "";
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	rig_init(&g);
	ck_assert_int_eq(unlockpt(master), 0);
	place(open(ptsname(master), O_RDWR | O_NOCTTY), 1);
	g.o.raw = _i == 1;
	rig_run(&g, init_hostile_output);
	read_terminal(master, buf, sizeof(buf));
	if (_i == 0)
		ck_assert_str_eq(buf, "a\033[31mred\r\n\033[0m");
	else
		ck_assert_str_eq(buf, "a\033]52;c;QUJD\a\033[2J\033[31mred\r\n");
}
END_TEST

/* --- limits --- */

static void init_takes_memory(struct rig *g)
{
	size_t n = 96u << 20;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 1, n);
	init_hang(g);
}

START_TEST(memory_limit_ends_the_tree)
{
	struct rig g;

	rig_init(&g);
	g.o.kill_after_ms = KILL_AFTER_LONG_MS;
	g.o.memory_bytes = (struct limit_opt){ .given = true, .value = 32u << 20 };
	g.o.timeout_ms = KILL_AFTER_LONG_MS;
	rig_run(&g, init_takes_memory);
	ck_assert_int_eq(g.res.status, RUN_OOM_KILLED);
	ck_assert_int_eq(g.res.exit_code, 137);
	ck_assert_int_eq(g.res.signal, SIGKILL);
	ck_assert(g.res.memory_hit);
	ck_assert_uint_gt(g.res.mem_peak_bytes, 32u << 20);
	ck_assert_uint_lt(g.took_ms, NOT_WAITED_MS);
}
END_TEST

static void init_spins(struct rig *g)
{
	(void)g;
	for (volatile unsigned i = 0;; i++)
		;
}

START_TEST(cpu_time_limit_ends_the_tree)
{
	struct rig g;

	rig_init(&g);
	g.o.memory_bytes.max = true;
	g.o.cpu_time_ms = 200;
	g.o.timeout_ms = 10000;
	rig_run(&g, init_spins);
	ck_assert_int_eq(g.res.status, RUN_CPU_TIME);
	ck_assert_int_eq(g.res.exit_code, 137);
	ck_assert(g.res.cpu_time_hit);
	ck_assert_int_ge(g.res.usage.ru_utime.tv_sec * 1000 + g.res.usage.ru_utime.tv_usec / 1000, 150);
}
END_TEST

static Suite *relay_suite(void)
{
	Suite *s = suite_create("relay");
	TCase *ends = tcase_create("ends"), *out = tcase_create("output"), *in = tcase_create("input");
	TCase *pty = tcase_create("pty"), *limits = tcase_create("limits");

	tcase_add_test(ends, exit_code_is_the_commands);
	tcase_add_loop_test(ends, signal_death_is_128_and_its_number, 0, 4);
	tcase_add_test(ends, timeout_kills_what_does_not_end);
	tcase_add_test(ends, timeout_kills_what_is_stopped);
	tcase_add_test(ends, timeout_stays_a_timeout_when_the_command_obeys);
	tcase_add_test(ends, signal_is_passed_on_and_gives_128_and_its_number);
	tcase_add_test(ends, second_signal_kills_at_once);
	tcase_add_test(ends, init_gone_without_a_result_is_a_failure);
	tcase_add_test(ends, command_not_found_is_127_with_a_clean_text);
	tcase_add_loop_test(ends, failed_set_up_is_125_and_is_ended, 0, 3);
	tcase_add_loop_test(ends, broken_protocol_ends_the_tree_and_leaks_nothing, 0,
			    sizeof(hostile) / sizeof(hostile[0]));
	tcase_add_loop_test(ends, observed_and_broken_ends_the_tree_and_leaks_nothing, 0, 3);
	tcase_add_test(ends, what_init_says_of_observing_is_kept);
	tcase_add_test(ends, flood_of_messages_after_the_timeout_ends_the_tree);
	suite_add_tcase(s, ends);

	tcase_set_timeout(out, 60);
	tcase_add_test(out, ten_megabytes_on_both_streams_are_captured);
	tcase_add_loop_test(out, ten_megabytes_reach_files, 0, 2);
	tcase_add_loop_test(out, maximum_passes_the_first_bytes_and_counts_the_rest, 0, 2);
	tcase_add_test(out, merged_streams_keep_their_order);
	tcase_add_loop_test(out, command_that_ignores_a_missing_reader_is_ended, 0, 3);
	tcase_add_loop_test(out, command_that_ends_by_sigpipe_has_its_own_result, 0, 2);
	tcase_add_test(out, missing_reader_of_stderr_does_not_matter);
	tcase_add_loop_test(out, stuck_reader_stalls_neither_time_nor_the_other_stream, 0, 2);
	tcase_add_loop_test(out, slow_reader_gets_everything, 0, 2);
	tcase_add_test(out, writer_outside_the_tree_is_not_waited_for);
	tcase_add_test(out, full_disk_is_a_failure_that_names_the_stream);
	suite_add_tcase(s, out);

	tcase_add_loop_test(in, unread_input_is_given_back_to_the_file, 0, 5);
	tcase_add_loop_test(in, input_ends_with_its_source, 0, 2);
	tcase_add_test(in, closed_input_is_not_read_any_more);
	suite_add_tcase(s, in);

	tcase_set_timeout(pty, 60);
	tcase_add_test(pty, last_bytes_of_a_pty_arrive);
	tcase_add_loop_test(pty, input_of_a_pty_ends_as_an_end_of_file, 0, 3);
	tcase_add_test(pty, terminal_gives_its_size_goes_raw_and_comes_back);
	tcase_add_loop_test(pty, terminal_gets_filtered_output_unless_raw, 0, 2);
	suite_add_tcase(s, pty);

	tcase_set_timeout(limits, 60);
	tcase_add_test(limits, memory_limit_ends_the_tree);
	tcase_add_test(limits, cpu_time_limit_ends_the_tree);
	suite_add_tcase(s, limits);
	return s;
}

int main(void)
{
	SRunner *sr = srunner_create(relay_suite());
	int failed;

	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
