/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the client library, against a peer that plays an executor well and badly. */
#include "lib/libak.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/unit/fake_executor.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct ak_client *cl;
static struct ak_err e;
static pid_t pid;

static int open_fake(fake_script *script, int bare)
{
	int fd;

	e = (struct ak_err){ 0 };
	pid = fake_start(script, bare, &fd);
	return ak_connect_fd(fd, "test", &cl, &e);
}

static void with(fake_script *script)
{
	ck_assert_msg(open_fake(script, 0) == 0, "%s", e.msg);
}

static void over(void)
{
	ak_close(cl);
	cl = NULL;
	ck_assert_int_eq(fake_end(pid), 0);
}

static int open_fds(void)
{
	int n = 0;

	for (int i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

/* --- greeting --- */

static void nothing(struct fake *x)
{
	fake_expect_end(x);
}

START_TEST(greeting_tells_the_facts)
{
	const struct ak_hello_reply *h;

	with(nothing);
	h = ak_hello_facts(cl);
	ck_assert_str_eq(h->program, "9.9");
	ck_assert_str_eq(h->facts.workspace, "/ws");
	ck_assert_uint_eq(h->running, 3);
	ck_assert_str_eq(h->facts.warning[0], "a warning of the sandbox");
	ck_assert(!ak_pending(cl));
	over();
}
END_TEST

static void other_version(struct fake *x)
{
	fake_expect(x, AK_OP_HELLO);
	fake_refuse(x, AK_CODE_VERSION, 0, "version 2 is spoken here", "");
	fake_expect_end(x);
}

static void other_magic(struct fake *x)
{
	fake_expect(x, AK_OP_HELLO);
	FAKE_CHECK(send(x->fd, "some other protocol", 19, 0) == 19);
	fake_expect_end(x);
}

static void goes_away(struct fake *x)
{
	fake_expect(x, AK_OP_HELLO);
}

static void hello_with_fd(struct fake *x)
{
	struct ak_hello_reply m = { .version = AK_PROTO_VERSION, .facts = fake_facts() };
	int fd = 0;

	fake_expect(x, AK_OP_HELLO);
	fake_send(x, AK_OP_HELLO_REPLY, x->f.seq, ak_hello_reply_encode(&m, x->out, sizeof(x->out)), &fd, 1);
	fake_expect_end(x);
}

START_TEST(a_peer_of_another_kind_is_told_from_a_dead_one)
{
	int before = open_fds();

	ck_assert_int_eq(open_fake(other_version, 1), -EPROTO);
	ck_assert_int_eq(fake_end(pid), 0);
	ck_assert_int_eq(open_fake(other_magic, 1), -EPROTO);
	ck_assert_int_eq(fake_end(pid), 0);
	ck_assert_int_eq(open_fake(hello_with_fd, 1), -EPROTO);
	ck_assert_int_eq(fake_end(pid), 0);
	ck_assert_int_eq(open_fake(goes_away, 1), -ECONNRESET);
	ck_assert_int_eq(fake_end(pid), 0);
	ck_assert_int_eq(open_fds(), before);
}
END_TEST

START_TEST(what_is_no_connection_is_refused)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), before = open_fds();

	ck_assert_int_lt(ak_connect_fd(fd, NULL, &cl, &e), 0);
	ck_assert_int_eq(open_fds(), before - 1);
	ck_assert_int_lt(ak_connect("/nonexistent/sock", NULL, &cl, &e), 0);
	ck_assert_int_eq(open_fds(), before - 1);
	ck_assert_ptr_null(cl);
}
END_TEST

/* --- commands --- */

static void runs_one(struct fake *x)
{
	struct ak_result r = { .cmd = 5, .sandbox = 1, .status = AK_STATUS_EXITED, .exit_code = 3, .duration_ns = 10, .text = "bad\033[2J",
			       .stage = AK_STAGE_EXEC, .hint = "" };
	struct ak_exec m;
	struct ak_strs_pos pos = { 0 };

	fake_expect(x, AK_OP_EXEC);
	FAKE_CHECK(ak_exec_decode(x->f.payload, x->f.len, &m) == 0 && m.kind == AK_EXEC_ARGV && x->f.nfds == 2);
	FAKE_CHECK(strcmp(ak_strs_next(&m.body.argv, &pos), "echo") == 0 && m.body.argv.count == 2 && m.body.env.count == 1);
	FAKE_CHECK(m.stream[0] == AK_STREAM_NULL && m.stream[1] == AK_STREAM_FD && m.nextra == 1 && m.extra[0] == 7);
	FAKE_CHECK(m.nrlimits == 1 && m.rlimit[0].resource == RLIMIT_NOFILE && m.rlimit[0].value == 99);
	FAKE_CHECK(m.flags == (AK_EXEC_TIMEOUT_SET | AK_EXEC_NO_STARTED) && m.timeout_ms == 1500);
	FAKE_CHECK(write(x->f.fds[0], "out", 3) == 3 && write(x->f.fds[1], "extra", 5) == 5);
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_command_and_its_result)
{
	const char *const argv[] = { "echo", "hi", NULL }, *const env[] = { "A=1", NULL };
	struct ak_rlimit lim = { RLIMIT_NOFILE, 99 };
	int p[2], q[2];
	char buf[8];
	struct ak_done d;

	ck_assert_int_eq(pipe(p) + pipe(q), 0);
	with(runs_one);
	struct ak_extra extra = { q[1], 7 };
	struct ak_request req = { .argv = argv, .env = env, .stream = { 0, AK_STREAM_FD, 0 }, .fd = { 0, p[1], 0 }, .extra = &extra,
				  .nextra = 1, .rlimits = &lim, .nrlimits = 1, .flags = AK_EXEC_TIMEOUT_SET, .timeout_ms = 1500 };

	ck_assert_msg(ak_exec(cl, &req, &d, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(d.r.exit_code, 3);
	ck_assert(!strchr(d.r.text, '\033') && strstr(d.r.text, "bad"));
	ck_assert_int_eq(read(p[0], buf, 8), 3);
	ck_assert_int_eq(read(q[0], buf, 8), 5);
	ak_done_release(&d);
	ak_done_release(&d);
	over();
}
END_TEST

static void takes_a_large_body(struct fake *x)
{
	struct ak_result r = { .cmd = 5, .status = AK_STATUS_EXITED };
	struct ak_exec m;
	struct ak_exec_body b;
	void *p;

	fake_expect(x, AK_OP_EXEC);
	FAKE_CHECK(ak_exec_decode(x->f.payload, x->f.len, &m) == 0 && (m.flags & AK_EXEC_BODY_FD) && x->f.nfds == 2);
	FAKE_CHECK(ak_memfd_check(x->f.fds[0], AK_EXEC_BODY_MAX) == (long)m.body_len);
	p = mmap(NULL, m.body_len, PROT_READ, MAP_PRIVATE, x->f.fds[0], 0);
	FAKE_CHECK(p != MAP_FAILED && ak_exec_body_decode(p, m.body_len, &b) == 0 && b.argv.count == 1);
	FAKE_CHECK(strlen(ak_strs_next(&b.argv, &(struct ak_strs_pos){ 0 })) == 300000);
	FAKE_CHECK(write(x->f.fds[1], "x", 1) == 1);
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_large_script_goes_as_a_memory_file)
{
	static char text[300001];
	const char *const argv[] = { text, NULL };
	int p[2], before;
	struct ak_done d;

	memset(text, 'x', 300000);
	ck_assert_int_eq(pipe(p), 0);
	with(takes_a_large_body);
	before = open_fds();
	struct ak_request req = { .kind = AK_EXEC_SESSION, .argv = argv, .stream = { 0, AK_STREAM_FD, 0 }, .fd = { 0, p[1], 0 } };

	ck_assert_msg(ak_exec(cl, &req, &d, &e) == 0, "%s", e.msg);
	ak_done_release(&d);
	ck_assert_int_eq(open_fds(), before);
	over();
}
END_TEST

START_TEST(too_much_is_refused_here)
{
	size_t n = 5u << 20;
	char *text = malloc(n);
	const char *argv[] = { text, NULL };
	struct ak_request req = { .argv = argv }, none = { 0 };
	struct ak_done d;

	memset(text, 'x', n - 1);
	text[n - 1] = '\0';
	with(nothing);
	ck_assert_int_eq(ak_exec(cl, &req, &d, &e), -E2BIG);
	ck_assert_int_eq(ak_exec(cl, &none, &d, &e), -EINVAL);
	free(text);
	over();
}
END_TEST

static void interleaves(struct fake *x)
{
	struct ak_result r = { .status = AK_STATUS_EXITED };
	uint32_t a, b;

	fake_expect(x, AK_OP_EXEC);
	a = x->f.seq;
	fake_expect(x, AK_OP_EXEC);
	b = x->f.seq;
	fake_expect(x, AK_OP_SIGNAL);
	fake_started(x, b, 2, -1);
	fake_started(x, a, 1, -1);
	r.cmd = 2;
	r.exit_code = 22;
	fake_result(x, b, &r, NULL, 0);
	fake_ok(x);
	r.cmd = 1;
	r.exit_code = 11;
	fake_result(x, a, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(answers_are_never_mixed)
{
	const char *const argv[] = { "x", NULL };
	struct ak_request req = { .argv = argv };
	struct { enum ak_event_type type; unsigned which; } want[] = {
		{ AK_EVENT_STARTED, 2 }, { AK_EVENT_STARTED, 1 }, { AK_EVENT_DONE, 2 }, { AK_EVENT_DONE, 1 },
	};
	struct ak_event ev;
	uint32_t tag[3];

	with(interleaves);
	ck_assert_int_eq(ak_exec_start(cl, &req, &tag[1], &e), 0);
	ck_assert_int_eq(ak_exec_start(cl, &req, &tag[2], &e), 0);
	ck_assert_int_eq(ak_signal(cl, 1, SIGTERM, &e), 0);
	ck_assert(ak_pending(cl));
	for (size_t i = 0; i < LEN(want); i++) {
		ck_assert_int_eq(ak_next(cl, &ev, -1, &e), 1);
		ck_assert_int_eq(ev.type, want[i].type);
		ck_assert_uint_eq(ev.tag, tag[want[i].which]);
		ck_assert_uint_eq(ev.cmd, want[i].which);
		if (ev.type == AK_EVENT_DONE)
			ck_assert_uint_eq(ev.done.r.exit_code, want[i].which * 11);
		ak_event_release(&ev);
	}
	ck_assert(!ak_pending(cl));
	ck_assert_int_eq(ak_next(cl, &ev, 0, &e), 0);
	ck_assert_int_eq(ak_next(cl, &ev, 20, &e), 0);
	over();
}
END_TEST

static void refuses(struct fake *x)
{
	fake_expect(x, AK_OP_EXEC);
	fake_refuse(x, AK_CODE_TOO_MANY, EAGAIN, "256 commands run already", "wait for one");
	fake_expect(x, AK_OP_EXEC);
	fake_refuse(x, AK_CODE_NOT_ALLOWED, 0, "no\nsuch", "");
	fake_expect(x, AK_OP_KILL);
	fake_refuse(x, AK_CODE_NO_COMMAND, ESRCH, "gone", "");
	fake_expect(x, AK_OP_KILL);
	fake_ok(x);
	fake_expect_end(x);
}

START_TEST(a_refusal_is_an_answer)
{
	const char *const argv[] = { "x", NULL };
	struct ak_request req = { .argv = argv };
	struct ak_event ev;
	struct ak_done d;
	uint32_t tag;
	int code;

	with(refuses);
	ck_assert_int_eq(ak_exec(cl, &req, &d, &e), -EREMOTEIO);
	ck_assert_int_eq(ak_refusal(cl, &code), AK_CODE_TOO_MANY);
	ck_assert_int_eq(code, EAGAIN);
	ck_assert_str_eq(e.msg, "256 commands run already");
	ck_assert_str_eq(e.hint, "wait for one");
	ck_assert_int_eq(ak_exec_start(cl, &req, &tag, &e), 0);
	ck_assert_int_eq(ak_next(cl, &ev, -1, &e), 1);
	ck_assert(ev.type == AK_EVENT_REFUSED && ev.tag == tag && ev.code == AK_CODE_NOT_ALLOWED);
	ck_assert_str_eq(ev.err.msg, "no?such");
	ak_event_release(&ev);
	ck_assert_int_eq(ak_kill(cl, 4, &e), -EREMOTEIO);
	ck_assert_int_eq(ak_refusal(cl, NULL), AK_CODE_NO_COMMAND);
	ck_assert_int_eq(ak_kill(cl, 4, &e), 0);
	over();
}
END_TEST

static void gives_a_pty(struct fake *x)
{
	struct ak_result r = { .cmd = 1, .status = AK_STATUS_EXITED };

	fake_expect(x, AK_OP_EXEC);
	fake_started(x, x->f.seq, 1, open("/dev/null", O_RDWR));
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_pty_belongs_to_who_gets_the_event)
{
	const char *const argv[] = { "x", NULL };
	struct ak_request req = { .argv = argv, .stream = { AK_STREAM_PTY, AK_STREAM_PTY, AK_STREAM_PTY } };
	struct ak_event ev;
	struct ak_done d;
	uint32_t tag;
	int before;

	with(gives_a_pty);
	before = open_fds();
	ck_assert_int_eq(ak_exec_start(cl, &req, &tag, &e), 0);
	ck_assert_int_eq(ak_next(cl, &ev, -1, &e), 1);
	ck_assert_int_ge(ev.pty, 0);
	ck_assert(fcntl(ev.pty, F_GETFD) & FD_CLOEXEC);
	ak_event_release(&ev);
	ck_assert_int_eq(open_fds(), before);
	ck_assert_int_eq(ak_next(cl, &ev, -1, &e), 1);
	ak_event_release(&ev);
	over();
	/* nobody takes it: it is closed all the same */
	with(gives_a_pty);
	before = open_fds();
	ck_assert_int_eq(ak_exec(cl, &req, &d, &e), 0);
	ak_done_release(&d);
	ck_assert_int_eq(open_fds(), before);
	over();
}
END_TEST

static void captures(struct fake *x)
{
	struct ak_result r = { .cmd = 1, .status = AK_STATUS_EXITED };
	static const uint8_t inl[] = "headtail";
	int fd = ak_memfd_sealed("o", "0123456789", 10);

	r.out[0] = (struct ak_output){ .counted = 1, .total = 100, .dropped = 92, .head_len = 4, .tail_len = 4, .bytes = inl, .bytes_len = 8 };
	r.out[1] = (struct ak_output){ .counted = 1, .memfd = 1, .total = 10, .head_len = 7, .tail_len = 3 };
	fake_expect(x, AK_OP_EXEC);
	fake_result(x, x->f.seq, &r, &fd, 1);
	fake_expect_end(x);
}

START_TEST(captured_output_comes_both_ways)
{
	const char *const argv[] = { "x", NULL };
	struct ak_request req = { .argv = argv, .stream = { 0, AK_STREAM_CAPTURE, AK_STREAM_CAPTURE } };
	const uint8_t *h, *t;
	size_t nh, nt;
	struct ak_done d;

	with(captures);
	ck_assert_msg(ak_exec(cl, &req, &d, &e) == 0, "%s", e.msg);
	ak_done_output(&d, 0, &h, &nh, &t, &nt);
	ck_assert(nh == 4 && nt == 4 && memcmp(h, "head", 4) == 0 && memcmp(t, "tail", 4) == 0);
	ak_done_output(&d, 1, &h, &nh, &t, &nt);
	ck_assert(nh == 7 && nt == 3 && memcmp(h, "0123456", 7) == 0 && memcmp(t, "789", 3) == 0);
	ak_done_release(&d);
	over();
}
END_TEST

/* --- a peer that does not keep to the protocol --- */

static void result_with_open_memfd(struct fake *x)
{
	struct ak_result r = { .status = AK_STATUS_EXITED };
	int fd = memfd_create("o", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	FAKE_CHECK(ftruncate(fd, 10) == 0);
	r.out[0] = (struct ak_output){ .counted = 1, .memfd = 1, .total = 10, .head_len = 10 };
	fake_expect(x, AK_OP_EXEC);
	fake_result(x, x->f.seq, &r, &fd, 1);
	fake_expect_end(x);
}

static void result_with_short_memfd(struct fake *x)
{
	struct ak_result r = { .status = AK_STATUS_EXITED };
	int fd = ak_memfd_sealed("o", "123", 3);

	r.out[0] = (struct ak_output){ .counted = 1, .memfd = 1, .total = 10, .head_len = 10 };
	fake_expect(x, AK_OP_EXEC);
	fake_result(x, x->f.seq, &r, &fd, 1);
	fake_expect_end(x);
}

static void result_without_its_memfd(struct fake *x)
{
	struct ak_result r = { .status = AK_STATUS_EXITED };

	r.out[0] = (struct ak_output){ .counted = 1, .memfd = 1, .total = 10, .head_len = 10 };
	fake_expect(x, AK_OP_EXEC);
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

static void started_with_two_fds(struct fake *x)
{
	struct ak_started m = { .cmd = 1, .pty = 1 };
	int fds[2] = { 0, 1 };

	fake_expect(x, AK_OP_EXEC);
	fake_send(x, AK_OP_STARTED, x->f.seq, ak_started_encode(&m, x->out, sizeof(x->out)), fds, 2);
	fake_expect_end(x);
}

static void answer_of_another_kind(struct fake *x)
{
	fake_expect(x, AK_OP_EXEC);
	memset(x->out, 0xff, 64);
	fake_send(x, AK_OP_RESULT, x->f.seq, 64, NULL, 0);
	fake_expect_end(x);
}

START_TEST(a_malformed_answer_ends_the_connection)
{
	static fake_script *const bad[] = { result_with_open_memfd, result_with_short_memfd, result_without_its_memfd,
					    started_with_two_fds, answer_of_another_kind };
	const char *const argv[] = { "x", NULL };
	struct ak_request req = { .argv = argv, .stream = { 0, AK_STREAM_CAPTURE, 0 } };
	struct ak_done d;
	struct ak_event ev;
	int before = open_fds();

	for (size_t i = 0; i < LEN(bad); i++) {
		with(bad[i]);
		ck_assert_msg(ak_exec(cl, &req, &d, &e) == -EBADMSG, "%zu: %s", i, e.msg);
		ck_assert_int_eq(ak_exec(cl, &req, &d, &e), -ECONNRESET);
		ck_assert_int_eq(ak_next(cl, &ev, 0, &e), -ECONNRESET);
		ck_assert_int_eq(ak_kill(cl, 1, &e), -ECONNRESET);
		over();
		ck_assert_int_eq(open_fds(), before);
	}
}
END_TEST

static void ok_with_bytes(struct fake *x)
{
	fake_expect(x, AK_OP_KILL);
	fake_send(x, AK_OP_OK, x->f.seq, 4, NULL, 0);
	fake_expect_end(x);
}

static void wrong_reply(struct fake *x)
{
	fake_expect(x, AK_OP_KILL);
	fake_started(x, x->f.seq, 1, -1);
	fake_expect_end(x);
}

START_TEST(the_answer_must_fit_the_question)
{
	with(ok_with_bytes);
	ck_assert_int_eq(ak_kill(cl, 1, &e), -EBADMSG);
	over();
	with(wrong_reply);
	ck_assert_int_eq(ak_kill(cl, 1, &e), -EBADMSG);
	over();
}
END_TEST

static void dies_in_between(struct fake *x)
{
	fake_expect(x, AK_OP_EXEC);
	fake_started(x, x->f.seq, 1, -1);
}

START_TEST(a_dead_executor_is_told)
{
	const char *const argv[] = { "x", NULL };
	struct ak_request req = { .argv = argv };
	struct ak_done d;

	with(dies_in_between);
	ck_assert_int_eq(ak_exec(cl, &req, &d, &e), -ECONNRESET);
	ck_assert_str_eq(e.msg, "the executor is gone");
	ck_assert_int_eq(ak_kill(cl, 1, &e), -ECONNRESET);
	over();
}
END_TEST

/* --- jobs and files --- */

static void has_jobs(struct fake *x)
{
	static const uint8_t log[] = "some log";
	struct ak_jobs m = { .count = 2 };
	struct ak_log_data d = { .cmd = 4, .running = 1, .offset = 10, .total = 18, .bytes = log, .bytes_len = 8 };
	struct ak_job_log q;
	struct ak_result r = { .cmd = 4, .status = AK_STATUS_SIGNALED, .exit_code = 143, .signal = 15 };

	m.job[0] = (struct ak_job){ .cmd = 3, .title = "one", .status = AK_STATUS_EXITED };
	m.job[1] = (struct ak_job){ .cmd = 4, .running = 1, .title = "two" };
	fake_expect(x, AK_OP_EXEC);
	fake_started(x, x->f.seq, 4, -1);
	fake_expect(x, AK_OP_JOB_LIST);
	fake_send(x, AK_OP_JOBS, x->f.seq, ak_jobs_encode(&m, x->out, sizeof(x->out)), NULL, 0);
	fake_expect(x, AK_OP_JOB_LOG);
	FAKE_CHECK(ak_job_log_decode(x->f.payload, x->f.len, &q) == 0 && q.cmd == 4 && q.offset == 5);
	fake_send(x, AK_OP_LOG_DATA, x->f.seq, ak_log_data_encode(&d, x->out, sizeof(x->out)), NULL, 0);
	fake_expect(x, AK_OP_WAIT);
	fake_refuse(x, AK_CODE_TIMEOUT, 0, "still running", "");
	fake_expect(x, AK_OP_WAIT);
	fake_result(x, x->f.seq, &r, NULL, 0);
	fake_expect_end(x);
}

static void count_job(void *arg, const struct ak_job *job)
{
	unsigned *n = arg;

	*n = *n * 10 + job->cmd;
}

START_TEST(jobs)
{
	const char *const argv[] = { "x", NULL };
	struct ak_request req = { .argv = argv };
	struct ak_log_data d;
	struct ak_done done;
	unsigned seen = 0;
	uint32_t job;

	with(has_jobs);
	ck_assert_int_eq(ak_exec_job(cl, &req, &job, &e), 0);
	ck_assert_uint_eq(job, 4);
	ck_assert_int_eq(ak_job_list(cl, 0, count_job, &seen, &e), 0);
	ck_assert_uint_eq(seen, 34);
	ck_assert_int_eq(ak_job_log(cl, 4, 5, &d, &e), 0);
	ck_assert(d.offset == 10 && d.bytes_len == 8 && memcmp(d.bytes, "some log", 8) == 0);
	ck_assert_int_eq(ak_job_wait(cl, 4, 10, &done, &e), -EREMOTEIO);
	ck_assert_int_eq(ak_refusal(cl, NULL), AK_CODE_TIMEOUT);
	ck_assert_int_eq(ak_job_wait(cl, 4, 10, &done, &e), 0);
	ck_assert_uint_eq(done.r.exit_code, 143);
	ak_done_release(&done);
	over();
}
END_TEST

static void has_files(struct fake *x)
{
	static const uint8_t text[] = "content";
	static uint8_t big[100000];
	struct ak_file_reply small = { .kind = AK_KIND_FILE, .mode = 0644, .size = 7, .data_len = 7, .bytes = text, .bytes_len = 7 };
	struct ak_file_reply large = { .flags = AK_REPLY_DATA_FD | AK_REPLY_MORE, .kind = AK_KIND_FILE, .size = 200000, .data_len = 100000 };
	struct ak_file_reply plain = { .kind = AK_KIND_DIR, .mode = 0755 };
	struct ak_file m;
	int fd;

	memset(big, 'b', sizeof(big));
	fd = ak_memfd_sealed("f", big, sizeof(big));
	fake_expect(x, AK_OP_FILE);
	FAKE_CHECK(ak_file_decode(x->f.payload, x->f.len, &m) == 0 && m.op == AK_FILE_READ && strcmp(m.path, "a") == 0);
	fake_send(x, AK_OP_FILE_REPLY, x->f.seq, ak_file_reply_encode(&small, x->out, sizeof(x->out)), NULL, 0);
	fake_expect(x, AK_OP_FILE);
	fake_send(x, AK_OP_FILE_REPLY, x->f.seq, ak_file_reply_encode(&large, x->out, sizeof(x->out)), &fd, 1);
	fake_expect(x, AK_OP_FILE);
	FAKE_CHECK(ak_file_decode(x->f.payload, x->f.len, &m) == 0 && m.op == AK_FILE_WRITE && m.bytes_len == 3 && x->f.nfds == 0);
	fake_send(x, AK_OP_FILE_REPLY, x->f.seq, ak_file_reply_encode(&plain, x->out, sizeof(x->out)), NULL, 0);
	fake_expect(x, AK_OP_FILE);
	FAKE_CHECK(ak_file_decode(x->f.payload, x->f.len, &m) == 0 && (m.flags & AK_FILE_DATA_FD) && x->f.nfds == 1);
	FAKE_CHECK(ak_memfd_check(x->f.fds[0], AK_FILE_MAX) == 100000);
	fake_send(x, AK_OP_FILE_REPLY, x->f.seq, ak_file_reply_encode(&plain, x->out, sizeof(x->out)), NULL, 0);
	fake_expect(x, AK_OP_FILE);
	fake_refuse(x, AK_CODE_FILE, ELOOP, "a: a link", "");
	fake_expect_end(x);
}

START_TEST(files)
{
	static uint8_t big[100000];
	struct ak_file_reply st;
	struct ak_bytes b;
	int before, code;

	with(has_files);
	before = open_fds();
	ck_assert_int_eq(ak_file_read(cl, 0, "a", 0, 0, &b, &e), 0);
	ck_assert(b.len == 7 && !b.more && strcmp((char *)b.data, "content") == 0 && b.st.mode == 0644);
	ak_bytes_release(&b);
	ck_assert_msg(ak_file_read(cl, 0, "a", 0, 0, &b, &e) == 0, "%s", e.msg);
	ck_assert(b.len == 100000 && b.more && b.data[99999] == 'b' && b.data[100000] == 0);
	ak_bytes_release(&b);
	ck_assert_int_eq(ak_file_write(cl, 0, "a", "abc", 3, 0644, 0, &e), 0);
	ck_assert_int_eq(ak_file_write(cl, 0, "a", big, sizeof(big), 0644, 0, &e), 0);
	ck_assert_int_eq(ak_file_stat(cl, 0, "a", &st, &e), -EREMOTEIO);
	ck_assert_int_eq(ak_refusal(cl, &code), AK_CODE_FILE);
	ck_assert_int_eq(code, ELOOP);
	ck_assert_int_eq(open_fds(), before);
	over();
}
END_TEST

/* a CHANGED with @n entries, in a memory file or not */
static void fake_changed(struct fake *x, uint32_t n, uint32_t claimed, bool memfd, uint32_t err)
{
	static uint8_t data[AK_FILE_INLINE];
	struct ak_changed m = { .outcome = err ? AK_CHANGES_KEPT : AK_CHANGES_OPEN, .id = "c-abcdef", .total = claimed, .nprotected = 1,
				.nconflicts = err ? 1 : 0, .err = err, .text = err ? "nothing was applied" : "", .hint = err ? "hint" : "",
				.entries = claimed };
	int fd = -1;

	for (uint32_t i = 0; i < n; i++) {
		struct ak_change c = { .op = AK_CHANGE_ADDED, .flags = i ? 0 : AK_CHANGE_PROTECTED, .mode = 0100644, .size = i, .path = i ? "b" : "a" };

		m.data_len += (uint32_t)ak_change_encode(&c, data + m.data_len, sizeof(data) - m.data_len);
	}
	if (memfd) {
		m.flags |= AK_CHANGED_DATA_FD;
		fd = ak_memfd_sealed("c", data, m.data_len);
	} else {
		m.bytes = data;
		m.bytes_len = m.data_len;
	}
	fake_send(x, AK_OP_CHANGED, x->f.seq, ak_changed_encode(&m, x->out, sizeof(x->out)), &fd, memfd ? 1 : 0);
}

static void has_changes(struct fake *x)
{
	struct ak_changes_req c;
	struct ak_finish f;

	fake_expect(x, AK_OP_CHANGES);
	FAKE_CHECK(ak_changes_req_decode(x->f.payload, x->f.len, &c) == 0 && c.sandbox == 3 && c.limit == 7);
	fake_changed(x, 2, 2, false, 0);
	fake_expect(x, AK_OP_CHANGES);
	fake_changed(x, 2, 2, true, 0);
	fake_expect(x, AK_OP_FINISH);
	FAKE_CHECK(ak_finish_decode(x->f.payload, x->f.len, &f) == 0 && f.action == AK_FINISH_APPLY && f.flags == AK_FINISH_FORCE);
	fake_changed(x, 2, 2, false, EBUSY);
	fake_expect(x, AK_OP_FINISH);
	fake_refuse(x, AK_CODE_NO_CHANGES, ENOENT, "no copy", "");
	fake_expect(x, AK_OP_CHANGES);
	fake_changed(x, 1, 2, false, 0);	/* fewer than it says */
	fake_expect_end(x);
}

START_TEST(changes)
{
	struct ak_change_set s;
	struct ak_change c;
	size_t pos = 0;
	int before;

	with(has_changes);
	before = open_fds();
	ck_assert_msg(ak_changes(cl, 3, 7, &s, &e) == 0, "%s", e.msg);
	ck_assert(s.outcome == AK_CHANGES_OPEN && strcmp(s.id, "c-abcdef") == 0 && s.total == 2 && s.nprotected == 1 && !s.more && !s.why.code);
	ck_assert_int_eq(ak_change_next(s.data, s.len, &pos, &c), 1);
	ck_assert(strcmp(c.path, "a") == 0 && c.flags == AK_CHANGE_PROTECTED && strcmp(ak_change_op_name(c.op), "added") == 0);
	ck_assert_int_eq(ak_change_next(s.data, s.len, &pos, &c), 1);
	ck_assert_int_eq(ak_change_next(s.data, s.len, &pos, &c), 0);
	ak_change_set_release(&s);
	ck_assert_msg(ak_changes(cl, 0, 0, &s, &e) == 0 && s.entries == 2, "%s", e.msg);
	ak_change_set_release(&s);
	ck_assert_int_eq(ak_finish(cl, 0, AK_FINISH_APPLY, AK_FINISH_FORCE, &s, &e), 0);
	ck_assert(s.outcome == AK_CHANGES_KEPT && s.why.code == EBUSY && s.nconflicts == 1 && strcmp(s.why.msg, "nothing was applied") == 0);
	ak_change_set_release(&s);
	ck_assert_int_eq(ak_finish(cl, 0, AK_FINISH_KEEP, 0, &s, &e), -EREMOTEIO);
	ck_assert_int_eq(ak_refusal(cl, NULL), AK_CODE_NO_CHANGES);
	ck_assert_int_eq(ak_changes(cl, 0, 0, &s, &e), -EBADMSG);
	ck_assert_int_eq(open_fds(), before);
	over();
}
END_TEST

static void late(struct fake *x)
{
	uint32_t seq;

	fake_expect(x, AK_OP_KILL);
	seq = x->f.seq;
	fake_expect(x, AK_OP_SIGNAL);
	fake_send(x, AK_OP_OK, seq, 0, NULL, 0);	/* an answer nobody waits for any more */
	fake_ok(x);
	fake_expect_end(x);
}

START_TEST(an_answer_that_comes_too_late_is_dropped)
{
	with(late);
	ck_assert_int_eq(ak_kill(cl, 1, &e), -ETIMEDOUT);
	ck_assert_int_eq(ak_signal(cl, 1, 15, &e), 0);
	ck_assert(!ak_pending(cl));
	over();
}
END_TEST

START_TEST(a_program_that_cannot_be_started)
{
	const char *const argv[] = { "/nonexistent/ak", "serve", NULL }, *const mute[] = { "true", NULL };
	int before = open_fds();

	ck_assert_int_eq(ak_spawn(argv, NULL, &cl, &e), -ENOENT);
	ck_assert_ptr_nonnull(strstr(e.msg, "/nonexistent/ak"));
	ck_assert_int_eq(ak_spawn(mute, NULL, &cl, &e), -ECONNRESET);
	ck_assert_int_eq(open_fds(), before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);	/* nothing is left to wait for */
	ak_close(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("libak");
	TCase *t = tcase_create("libak");

	tcase_add_test(t, greeting_tells_the_facts);
	tcase_add_test(t, a_peer_of_another_kind_is_told_from_a_dead_one);
	tcase_add_test(t, what_is_no_connection_is_refused);
	tcase_add_test(t, a_command_and_its_result);
	tcase_add_test(t, a_large_script_goes_as_a_memory_file);
	tcase_add_test(t, too_much_is_refused_here);
	tcase_add_test(t, answers_are_never_mixed);
	tcase_add_test(t, a_refusal_is_an_answer);
	tcase_add_test(t, a_pty_belongs_to_who_gets_the_event);
	tcase_add_test(t, captured_output_comes_both_ways);
	tcase_add_test(t, a_malformed_answer_ends_the_connection);
	tcase_add_test(t, the_answer_must_fit_the_question);
	tcase_add_test(t, a_dead_executor_is_told);
	tcase_add_test(t, jobs);
	tcase_add_test(t, files);
	tcase_add_test(t, changes);
	tcase_add_test(t, an_answer_that_comes_too_late_is_dropped);
	tcase_add_test(t, a_program_that_cannot_be_started);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
