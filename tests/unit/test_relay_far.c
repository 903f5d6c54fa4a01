/* SPDX-License-Identifier: Apache-2.0 */
/* The relay with an executor at its other end: every way a command of a named sandbox can end, and what ak makes of it. */
#include "executor/relay_far.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>

#include "executor/opts.h"
#include "executor/relay.h"
#include "executor/report.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/stream.h"
#include "tests/unit/fake_executor.h"

struct rig {
	struct exec_opts o;
	struct streams st;
	struct run_result res;
	struct ak_client *cl;
	struct relay_far far;
	uint64_t took_ms;
};

static struct rig g;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void setup(void)
{
	sigset_t set;

	g = (struct rig){ .o = { .kill_after_ms = 2000, .max_output_bytes = UINT64_MAX, .json = true } };
	for (int i = 0; i < 3; i++) {
		int fd = open("/dev/null", O_RDWR);

		ck_assert_int_eq(dup2(fd, i), i);
		(void)close(fd);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Asks @script's executor for a command with our streams, and drives it to its end. Return: state of the script. */
static int drive(fake_script *script)
{
	static const char *const argv[] = { "x", NULL };
	struct relay_sandbox rs = { .pidfd = -1, .ctl = -1, .far = &g.far };
	struct ak_request req = { .argv = argv };
	struct ak_err err = { 0 };
	sigset_t set;
	int fd, sfd;
	uint64_t start;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	pid = fake_start(script, 0, &fd);
	ck_assert_msg(ak_connect_fd(fd, "test", &g.cl, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(streams_open(&g.o, 0, &g.st, &err), 0);
	for (int i = 0; i < 3; i++) {
		req.stream[i] = g.o.tty ? AK_STREAM_PTY : AK_STREAM_FD;
		req.fd[i] = g.st.s[i].child;
	}
	g.far.cl = g.cl;
	ck_assert_msg(ak_exec_start(g.cl, &req, &g.far.tag, &err) == 0, "%s", err.msg);
	streams_close_child_ends(&g.st);
	start = now_ms();
	ck_assert_msg(relay_run(&rs, &g.o, &g.st, sfd, &g.res, &err) == 0, "%s", err.msg);
	g.took_ms = now_ms() - start;
	streams_release(&g.st);
	(void)close(sfd);
	ak_close(g.cl);
	return fake_end(pid);
}

static void over(void)
{
	run_result_release(&g.res);
	relay_far_release(&g.far);
	relay_far_release(&g.far);
}

static struct ak_result ended(uint8_t status, uint32_t code, uint32_t signo)
{
	return (struct ak_result){ .cmd = 5, .sandbox = 1, .status = status, .exit_code = code, .signal = signo, .setup_ns = 1000,
				   .duration_ns = 5000000, .user_us = 1234567, .memory_peak_bytes = 4096, .pids_peak = 3 };
}

/* EXEC with stdin, stdout, stderr. Its seq is in x->f.seq. */
static void take_exec(struct fake *x)
{
	fake_expect(x, AK_OP_EXEC);
	FAKE_CHECK(x->f.nfds == 3);
}

static void exits_with_output(struct fake *x)
{
	struct ak_result r = ended(AK_STATUS_EXITED, 3, 0);

	take_exec(x);
	fake_started(x, x->f.seq, 5, -1);
	FAKE_CHECK(write(x->f.fds[1], "out", 3) == 3 && write(x->f.fds[2], "err", 3) == 3);
	/* the pipes stay open here: what holds them cannot hold up the result */
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_command_that_exits)
{
	ck_assert_int_eq(drive(exits_with_output), 0);
	ck_assert_int_eq(g.res.status, RUN_EXITED);
	ck_assert_int_eq(g.res.exit_code, 3);
	ck_assert(g.res.out[0].head_len == 3 && memcmp(g.res.out[0].head, "out", 3) == 0);
	ck_assert(g.res.out[1].head_len == 3 && memcmp(g.res.out[1].head, "err", 3) == 0);
	ck_assert_uint_eq(g.res.end_ns - g.res.start_ns, 5000000);
	ck_assert_int_eq((int)g.res.usage.ru_utime.tv_sec, 1);
	ck_assert_uint_eq(g.res.mem_peak_bytes, 4096);
	ck_assert_uint_eq(g.res.pids_peak, 3);
	over();
}
END_TEST

static const struct {
	uint8_t status;
	uint32_t code, signo;
	enum run_status want;
} ends[] = {
	{ AK_STATUS_SIGNALED, 137, 9, RUN_SIGNALED },	{ AK_STATUS_TIMED_OUT, 124, 15, RUN_TIMED_OUT },
	{ AK_STATUS_OOM_KILLED, 137, 9, RUN_OOM_KILLED }, { AK_STATUS_CPU_TIME, 137, 9, RUN_CPU_TIME },
	{ AK_STATUS_OUTPUT_CLOSED, 141, 13, RUN_OUTPUT_CLOSED },
};

static int which;

static void ends_somehow(struct fake *x)
{
	struct ak_result r = ended(ends[which].status, ends[which].code, ends[which].signo);

	take_exec(x);
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(every_status_is_taken_over)
{
	which = _i;
	ck_assert_int_eq(drive(ends_somehow), 0);
	ck_assert_int_eq(g.res.status, ends[_i].want);
	ck_assert_int_eq(g.res.exit_code, (int)ends[_i].code);
	ck_assert_int_eq(g.res.signal, (int)ends[_i].signo);
	over();
}
END_TEST

static void not_found(struct fake *x)
{
	struct ak_result r = { .cmd = 5, .status = AK_STATUS_EXITED, .exit_code = 127, .stage = AK_STAGE_EXEC, .err = ENOENT,
			       .text = "x: command not found", .hint = "install it" };

	take_exec(x);
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_command_that_is_not_there)
{
	ck_assert_int_eq(drive(not_found), 0);
	ck_assert_int_eq(g.res.exit_code, 127);
	ck_assert_uint_eq(g.res.fail_stage, AK_STAGE_EXEC);
	ck_assert_int_eq(g.res.fail_code, ENOENT);
	ck_assert_str_eq(g.res.fail_text, "x: command not found");
	ck_assert_str_eq(g.res.fail_hint, "install it");
	ck_assert(g.res.start_ns == 0 && g.res.end_ns == 0);
	over();
}
END_TEST

static void refuses(struct fake *x)
{
	take_exec(x);
	fake_refuse(x, AK_CODE_TOO_MANY, EAGAIN, "too many commands", "wait");
	fake_expect_end(x);
}

START_TEST(a_refusal)
{
	ck_assert_int_eq(drive(refuses), 0);
	ck_assert_int_eq(g.res.status, RUN_FAILED);
	ck_assert_int_eq(g.res.exit_code, 125);
	ck_assert_str_eq(g.res.fail_text, "too many commands");
	ck_assert_str_eq(g.res.fail_hint, "wait");
	over();
}
END_TEST

static void dies(struct fake *x)
{
	take_exec(x);
	fake_started(x, x->f.seq, 5, -1);
	FAKE_CHECK(write(x->f.fds[1], "some", 4) == 4);
}

START_TEST(an_executor_that_dies)
{
	ck_assert_int_eq(drive(dies), 0);
	ck_assert_int_eq(g.res.status, RUN_FAILED);
	ck_assert_int_eq(g.res.exit_code, 125);
	ck_assert_str_eq(g.res.fail_text, "the executor of the sandbox is gone");
	ck_assert_uint_eq(g.res.out[0].head_len, 4);
	over();
}
END_TEST

static void expect_signal(struct fake *x, uint32_t signo)
{
	struct ak_signal m;

	fake_expect(x, AK_OP_SIGNAL);
	FAKE_CHECK(ak_signal_decode(x->f.payload, x->f.len, &m) == 0 && m.cmd == 5 && m.signo == signo);
	fake_ok(x);
}

static void ends_on_a_signal(struct fake *x)
{
	struct ak_result r = ended(AK_STATUS_EXITED, 5, 0);
	uint32_t seq;

	take_exec(x);
	seq = x->f.seq;
	fake_started(x, seq, 5, -1);
	FAKE_CHECK(kill(getppid(), SIGTERM) == 0);
	expect_signal(x, SIGTERM);
	fake_result(x, seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_signal_goes_to_the_command)
{
	ck_assert_int_eq(drive(ends_on_a_signal), 0);
	ck_assert_int_eq(g.res.status, RUN_SIGNALED);
	ck_assert_int_eq(g.res.exit_code, 128 + SIGTERM);
	ck_assert_int_eq(g.res.signal, SIGTERM);
	ck_assert(g.res.interrupted);
	over();
}
END_TEST

static void is_late(struct fake *x)
{
	struct ak_result r = ended(AK_STATUS_SIGNALED, 130, SIGINT);
	uint32_t seq;

	take_exec(x);
	seq = x->f.seq;
	FAKE_CHECK(kill(getppid(), SIGINT) == 0);
	(void)usleep(100000);
	fake_started(x, seq, 5, -1);	/* the signal came before: it is passed on now */
	expect_signal(x, SIGINT);
	fake_result(x, seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_signal_before_the_start_is_not_lost)
{
	ck_assert_int_eq(drive(is_late), 0);
	ck_assert_int_eq(g.res.exit_code, 128 + SIGINT);
	over();
}
END_TEST

static void does_not_listen(struct fake *x)
{
	struct ak_result r = ended(AK_STATUS_SIGNALED, 137, SIGKILL);
	struct ak_cmd_ref m;
	uint32_t seq;

	take_exec(x);
	seq = x->f.seq;
	fake_started(x, seq, 5, -1);
	FAKE_CHECK(kill(getppid(), SIGTERM) == 0);
	expect_signal(x, SIGTERM);
	fake_expect(x, AK_OP_KILL);
	FAKE_CHECK(ak_cmd_ref_decode(x->f.payload, x->f.len, &m) == 0 && m.cmd == 5);
	fake_ok(x);
	fake_result(x, seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(one_that_does_not_listen_is_killed)
{
	g.o.kill_after_ms = 200;
	ck_assert_int_eq(drive(does_not_listen), 0);
	ck_assert_int_eq(g.res.exit_code, 128 + SIGTERM);
	ck_assert_uint_ge(g.took_ms, 190);
	over();
}
END_TEST

static void never_ends(struct fake *x)
{
	take_exec(x);
	fake_started(x, x->f.seq, 5, -1);
	FAKE_CHECK(kill(getppid(), SIGTERM) == 0);
	expect_signal(x, SIGTERM);
	fake_expect(x, AK_OP_KILL);
	fake_ok(x);
	fake_expect_end(x);	/* the client gives it up */
}

START_TEST(an_executor_that_does_not_answer_is_given_up)
{
	g.o.kill_after_ms = 0;
	ck_assert_int_eq(drive(never_ends), 0);
	ck_assert_int_eq(g.res.exit_code, 128 + SIGTERM);
	ck_assert_uint_ge(g.took_ms, RELAY_FAR_LOST_MS - 100);
	over();
}
END_TEST

static void wants_input(struct fake *x)
{
	struct ak_result r = ended(AK_STATUS_EXITED, 0, 0);
	char buf[16];
	ssize_t n, got = 0;

	take_exec(x);
	while ((n = read(x->f.fds[0], buf + got, sizeof(buf) - (size_t)got)) > 0)
		got += n;
	FAKE_CHECK(n == 0 && got == 5 && memcmp(buf, "given", 5) == 0);
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_file_is_relayed_to_standard_input)
{
	char name[] = "/tmp/ak-test-far-XXXXXX";
	int fd = mkstemp(name);

	ck_assert_int_eq(write(fd, "given", 5), 5);
	(void)unlink(name);
	(void)lseek(fd, 0, SEEK_SET);
	ck_assert_int_eq(dup2(fd, 0), 0);
	(void)close(fd);
	ck_assert_int_eq(drive(wants_input), 0);
	ck_assert_int_eq(g.res.exit_code, 0);
	over();
}
END_TEST

static void writes_until_killed(struct fake *x)
{
	struct ak_result r = ended(AK_STATUS_SIGNALED, 137, SIGKILL);
	uint32_t seq;

	take_exec(x);
	seq = x->f.seq;
	fake_started(x, seq, 5, -1);
	fake_expect(x, AK_OP_KILL);
	fake_ok(x);
	fake_result(x, seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_reader_that_goes_away_ends_the_command)
{
	int p[2];

	g.o.json = false;
	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(dup2(p[1], 1), 1);
	(void)close(p[1]);
	(void)close(p[0]);
	ck_assert_int_eq(drive(writes_until_killed), 0);
	ck_assert_int_eq(g.res.status, RUN_OUTPUT_CLOSED);
	ck_assert_int_eq(g.res.exit_code, 128 + SIGPIPE);
	over();
}
END_TEST

static void gives_a_pty(struct fake *x)
{
	struct ak_result r = ended(AK_STATUS_EXITED, 0, 0);
	int master, slave;

	fake_expect(x, AK_OP_EXEC);
	FAKE_CHECK(x->f.nfds == 0 && openpty(&master, &slave, NULL, NULL, NULL) == 0);
	fake_started(x, x->f.seq, 5, master);
	(void)close(master);
	FAKE_CHECK(write(slave, "text", 4) == 4);
	(void)close(slave);
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_pty_is_read_to_its_end)
{
	g.o.tty = true;
	ck_assert_int_eq(drive(gives_a_pty), 0);
	ck_assert_int_eq(g.res.exit_code, 0);
	ck_assert(g.res.out[0].head_len == 4 && memcmp(g.res.out[0].head, "text", 4) == 0);
	over();
}
END_TEST

static void gives_no_pty(struct fake *x)
{
	fake_expect(x, AK_OP_EXEC);
	fake_started(x, x->f.seq, 5, open("/dev/null", O_RDWR));
	fake_expect(x, AK_OP_KILL);
	fake_ok(x);
	(void)shutdown(x->fd, SHUT_RDWR);
}

START_TEST(what_is_no_pty_is_not_used)
{
	g.o.tty = true;
	ck_assert_int_eq(drive(gives_no_pty), 0);
	ck_assert_int_eq(g.res.status, RUN_FAILED);
	ck_assert_ptr_nonnull(strstr(g.res.fail_text, "no new pty"));
	over();
}
END_TEST

START_TEST(the_report_holds_what_the_executor_said)
{
	struct ak_facts f = fake_facts();
	struct ak_result d = ended(AK_STATUS_TIMED_OUT, 124, 15);
	struct report rep = { .opts = &g.o, .facts = &f, .far = &d, .run = &g.res };
	struct ak_buf b = { 0 };

	d.limit[AK_LIMIT_MEMORY] = (struct ak_limit){ .by = AK_BY_CGROUP, .hit = AK_HIT_NO, .value = 1048576 };
	d.limit[AK_LIMIT_CPUS] = (struct ak_limit){ .by = AK_BY_NONE, .value = 1500 };
	d.limit[AK_LIMIT_TIMEOUT] = (struct ak_limit){ .by = AK_BY_AK, .hit = AK_HIT_YES, .value = 2500 };
	d.limit[AK_LIMIT_NOFILE] = (struct ak_limit){ .by = AK_BY_RLIMIT, .hit = AK_HIT_UNKNOWN, .value = 99 };
	d.nwarnings = 1;
	d.warning[0] = "of the command";
	f.net = AK_NET_HOST;
	f.write = AK_WRITE_NONE;
	f.seccomp = AK_SECCOMP_STRICT;
	f.identity = AK_IDENTITY_RANGE;
	report_json(&rep, &b);
	ck_assert(!b.failed);
	ck_assert_ptr_nonnull(strstr(b.data, "\"memory\":{\"value\":1048576,\"enforced_by\":\"cgroup\",\"hit\":false}"));
	ck_assert_ptr_nonnull(strstr(b.data, "\"pids\":{\"value\":null,\"enforced_by\":null,\"hit\":false}"));
	ck_assert_ptr_nonnull(strstr(b.data, "\"cpus\":{\"value\":1.5,\"enforced_by\":\"none\",\"hit\":false}"));
	ck_assert_ptr_nonnull(strstr(b.data, "\"timeout\":{\"value\":2.5,\"enforced_by\":\"ak\",\"hit\":true}"));
	ck_assert_ptr_nonnull(strstr(b.data, "\"nofile\":{\"value\":99,\"enforced_by\":\"rlimit\",\"hit\":null}"));
	ck_assert_ptr_null(strstr(b.data, "\"fsize\""));
	ck_assert_ptr_nonnull(strstr(b.data, "\"namespaces\":[\"user\",\"mount\",\"pid\",\"ipc\",\"uts\",\"cgroup\"]"));
	ck_assert_ptr_nonnull(strstr(b.data, "\"seccomp\":\"strict\",\"landlock_abi\":6,\"network\":\"host\",\"root\":\"host\","
					     "\"workspace\":\"none\",\"identity\":\"range\""));
	ck_assert_ptr_nonnull(strstr(b.data, "\"warnings\":[\"a warning of the sandbox\",\"of the command\"]"));
	ak_buf_release(&b);
	/* another backend */
	f.backend = AK_BACKEND_DOCKER;
	f.user_ns = 1;
	f.seccomp = AK_SECCOMP_DOCKER;
	d.limit[AK_LIMIT_MEMORY].by = AK_BY_DOCKER;
	report_json(&rep, &b);
	ck_assert_ptr_nonnull(strstr(b.data, "\"backend\":\"docker\",\"namespaces\":[\"user\",\"mount\",\"pid\",\"ipc\",\"uts\"],\"seccomp\":\"docker\""));
	ck_assert_ptr_nonnull(strstr(b.data, "\"enforced_by\":\"docker\""));
	ak_buf_release(&b);
	f.backend = AK_BACKEND_LOCAL;
	f.seccomp = AK_SECCOMP_NONE;
	report_json(&rep, &b);
	ck_assert_ptr_nonnull(strstr(b.data, "\"backend\":\"local\",\"namespaces\":[],\"seccomp\":null"));
	ak_buf_release(&b);
	f.backend = AK_BACKEND_NATIVE;
	/* before it was started: what holds for the sandbox */
	rep.far = NULL;
	rep.run = NULL;
	report_json(&rep, &b);
	ck_assert_ptr_nonnull(strstr(b.data, "\"pids\":{\"value\":256,\"enforced_by\":\"rlimit\",\"hit\":null}"));
	ck_assert_ptr_nonnull(strstr(b.data, "\"status\":\"failed\",\"exit_code\":125"));
	ak_buf_release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("relay_far");
	TCase *t = tcase_create("relay_far");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, a_command_that_exits);
	tcase_add_loop_test(t, every_status_is_taken_over, 0, (int)(sizeof(ends) / sizeof(ends[0])));
	tcase_add_test(t, a_command_that_is_not_there);
	tcase_add_test(t, a_refusal);
	tcase_add_test(t, an_executor_that_dies);
	tcase_add_test(t, a_signal_goes_to_the_command);
	tcase_add_test(t, a_signal_before_the_start_is_not_lost);
	tcase_add_test(t, one_that_does_not_listen_is_killed);
	tcase_add_test(t, an_executor_that_does_not_answer_is_given_up);
	tcase_add_test(t, a_file_is_relayed_to_standard_input);
	tcase_add_test(t, a_reader_that_goes_away_ends_the_command);
	tcase_add_test(t, a_pty_is_read_to_its_end);
	tcase_add_test(t, what_is_no_pty_is_not_used);
	tcase_add_test(t, the_report_holds_what_the_executor_said);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
