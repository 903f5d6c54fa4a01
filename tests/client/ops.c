/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operation of a serving executor through libak, and how it refuses. Usage: ops AK WORKSPACE [OPTION...]: options name another
 * backend than native, and what only that promises is left out. Tests only.
 */
#include "tests/client/drive.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <termios.h>

#include "executor/shared/ak_chan.h"

#define BIG (300u << 10)

/* ---- a program that comes with its request: this one ---- */

#define SAY "--say"

/* What it can tell of itself inside. Return: exit code */
static int say(int argc, char *argv[])
{
	printf("%s %d %s dumpable %d\n", argv[0], argc, argv[argc - 1], prctl(PR_GET_DUMPABLE));
	for (int fd = 3; fd < 100; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("descriptor %d\n", fd);
	return 9;
}

static void refused_program(struct drive *d, int program, enum ak_code code, const char *what)
{
	struct ak_request q = { .kind = AK_EXEC_PROGRAM, .program = program, .argv = (const char *[]){ "x", NULL } };
	struct ran x = run_request(d, &q);

	want(d, x.r == -EREMOTEIO && ak_refusal(d->cl, NULL) == code, "%s: %d %s", what, x.r, d->err.msg);
	ran_free(&x);
}

/* @root: root's right to read everything holds inside (local, and root is the caller): then it can be read, and is dumpable */
static void programs(struct drive *d, bool root)
{
	const char *const said = root ? "the-name 3 last dumpable 1\n" : "the-name 3 last dumpable 0\n";
	struct ak_request q = { .kind = AK_EXEC_PROGRAM, .argv = (const char *[]){ "the-name", SAY, "last", NULL } };
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), plain = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING), text, p[2];
	uint32_t job;
	struct ran x;

	t(d, "program:comes-with-its-request");
	q.program = ak_program("ops", self, &d->err);
	want(d, q.program >= 0, "%s", d->err.msg);
	x = run_request(d, &q);
	want(d, x.res.exit_code == 9 && strcmp(x.out[0], said) == 0, "code %u '%s' %s %s", x.res.exit_code,
	     x.out[0], x.text, d->err.msg);
	ran_free(&x);

	t(d, "program:beside-descriptors-of-any-number");
	want(d, pipe2(p, O_CLOEXEC) == 0, "pipe");
	for (unsigned n = 3; n < 40; n += 9) {
		char line[80];
		struct ak_extra extra = { p[0], n };

		q.extra = &extra;
		q.nextra = 1;
		(void)snprintf(line, sizeof(line), "%sdescriptor %u\n", said, n);
		x = run_request(d, &q);
		want(d, x.res.exit_code == 9 && strcmp(x.out[0], line) == 0, "%u: '%s' %s", n, x.out[0], x.text);
		ran_free(&x);
	}
	q.nextra = 0;

	t(d, "program:sealed-or-refused");
	want(d, write(plain, "#!/bin/sh\n", 10) == 10, "write");
	refused_program(d, plain, AK_CODE_STREAM, "not sealed");
	refused_program(d, self, AK_CODE_STREAM, "a file");
	refused_program(d, p[0], AK_CODE_STREAM, "a pipe");
	want(d, fcntl(q.program, F_ADD_SEALS, F_SEAL_WRITE) < 0 && fchmod(q.program, 0600) < 0 && pwrite(q.program, "x", 1, 0) < 0,
	     "it can be changed afterwards");
	want(d, ak_exec_job(d->cl, &q, &job, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_BAD_VALUE, "a job: %s", d->err.msg);

	t(d, "program:none-is-told");
	text = ak_memfd_sealed("text", "no program", 10);
	q.program = (close(q.program), text);
	x = run_request(d, &q);
	want(d, x.r == 0 && x.res.stage == AK_STAGE_EXEC && strstr(x.text, "run the given program"), "%d code %u '%s'", x.r, x.res.exit_code, x.text);
	ran_free(&x);
	want(d, ak_program("x", p[0], &d->err) == -ENOEXEC, "a pipe as a program");
	want(d, ftruncate(plain, 0) == 0 && ak_program("x", plain, &d->err) == -ENOEXEC, "an empty program");
	want(d, ftruncate(plain, AK_PROGRAM_MAX + 1) == 0 && ak_program("x", plain, &d->err) == -EFBIG, "a huge program");
	x = run_sh(d, "echo alive");
	want(d, strcmp(x.out[0], "alive\n") == 0, "afterwards: '%s'", x.out[0]);
	ran_free(&x);
	(void)(close(self) + close(plain) + close(text) + close(p[0]) + close(p[1]));
}

static void commands(struct drive *d)
{
	const char *env[] = { "A=1", "HOME", NULL }, *argv[] = { "sh", "-c", "echo $A-${HOME-none}; pwd; cat", NULL };
	const char *no[] = { "no-such-command", NULL };
	struct ak_request q = { .argv = argv, .env = env, .cwd = "/tmp" };
	struct ran x;
	int p[2];

	t(d, "exec:argv-env-cwd");
	x = run_request(d, &q);
	want(d, x.r == 0 && strcmp(x.out[0], "1-none\n/tmp\n") == 0 && x.res.exit_code == 0, "out '%s' err '%s' %s", x.out[0], x.out[1], d->err.msg);
	ran_free(&x);

	t(d, "exec:exit-code-and-stderr");
	x = run_sh(d, "echo oops >&2; exit 7");
	want(d, x.res.exit_code == 7 && x.res.status == AK_STATUS_EXITED && strcmp(x.out[1], "oops\n") == 0 && !x.len[0], "code %u '%s'",
	     x.res.exit_code, x.out[1]);
	want(d, x.res.duration_ns > 0 && x.res.memory_peak_bytes > 0, "duration %llu peak %llu", (unsigned long long)x.res.duration_ns,
	     (unsigned long long)x.res.memory_peak_bytes);
	ran_free(&x);

	t(d, "exec:killed-by-signal");
	x = run_sh(d, "kill -SEGV $$");
	want(d, x.res.status == AK_STATUS_SIGNALED && x.res.signal == SIGSEGV && x.res.exit_code == 139, "status %u signal %u", x.res.status,
	     x.res.signal);
	ran_free(&x);

	t(d, "exec:not-found-is-127");
	q = (struct ak_request){ .argv = no };
	x = run_request(d, &q);
	want(d, x.r == 0 && x.res.exit_code == 127 && x.res.stage == AK_STAGE_EXEC && x.text[0], "code %u stage %u '%s' %s", x.res.exit_code,
	     x.res.stage, x.text, d->err.msg);
	ran_free(&x);

	t(d, "exec:stdin-from-a-pipe");
	want(d, pipe2(p, O_CLOEXEC) == 0 && write(p[1], "hello", 5) == 5, "pipe");
	(void)close(p[1]);
	q = (struct ak_request){ .argv = (const char *[]){ "cat", NULL }, .stream = { AK_STREAM_FD }, .fd = { p[0] } };
	x = run_request(d, &q);
	(void)close(p[0]);
	want(d, strcmp(x.out[0], "hello") == 0, "'%s' %s", x.out[0], d->err.msg);
	ran_free(&x);

	t(d, "exec:stdin-is-dev-null-unless-given");
	x = run_sh(d, "cat; readlink /proc/self/fd/0");
	want(d, strstr(x.out[0], "/dev/null") != NULL, "'%s'", x.out[0]);
	ran_free(&x);

	t(d, "exec:merged-output-keeps-its-order");
	q = (struct ak_request){ .argv = (const char *[]){ "sh", "-c", "echo a; echo b >&2; echo c", NULL }, .flags = AK_EXEC_MERGE,
				 .stream = { 0, AK_STREAM_CAPTURE, 0 } };
	x = run_request(d, &q);
	want(d, strcmp(x.out[0], "a\nb\nc\n") == 0, "'%s' %s", x.out[0], d->err.msg);
	ran_free(&x);
}

static void output(struct drive *d)
{
	struct ak_request q = { .argv = (const char *[]){ "sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x; echo end", NULL } };
	struct ran x;

	t(d, "exec:output-over-the-inline-size");
	x = run_request(d, &q);
	want(d, x.len[0] == 5000004 && x.out[0][0] == 'x' && strcmp(x.out[0] + 5000000, "end\n") == 0, "%zu bytes %s", x.len[0], d->err.msg);
	ran_free(&x);

	t(d, "exec:output-cap-keeps-head-and-tail");
	q.max_output = 1000;
	q.stream[1] = q.stream[2] = AK_STREAM_NULL;
	x = run_request(d, &q);
	want(d, x.len[0] == 1000 && x.res.out[0].total == 5000004 && x.res.out[0].dropped == 4999004 && strcmp(x.out[0] + 996, "end\n") == 0,
	     "%zu bytes, dropped %llu %s", x.len[0], (unsigned long long)x.res.out[0].dropped, d->err.msg);
	want(d, x.res.limit[AK_LIMIT_OUTPUT].by == AK_BY_AK && x.res.limit[AK_LIMIT_OUTPUT].hit == AK_HIT_YES, "limit not told");
	ran_free(&x);

	t(d, "exec:grandchild-with-stdout-does-not-delay");
	double t0 = now_s();
	x = run_sh(d, "sleep 30 & echo gone");
	want(d, strcmp(x.out[0], "gone\n") == 0 && now_s() - t0 < 20, "'%s' after %.1f s", x.out[0], now_s() - t0);
	ran_free(&x);
	x = run_sh(d, "ps ax 2>/dev/null | grep -c '[s]leep 30' || true");
	want(d, number(x.out[0]) == 0, "it still runs: %s", x.out[0]);
	ran_free(&x);
}

/* a command says by a file that it has come so far */
static bool appears(struct drive *d, const char *path)
{
	struct ak_file_reply st;
	double t0 = now_s();

	while (ak_file_stat(d->cl, d->box, path, &st, NULL) != 0) {
		if (now_s() - t0 > 30)
			return false;
		nap_ms(10);
	}
	return true;
}

static void times(struct drive *d)
{
	struct ak_request q = { .argv = (const char *[]){ "sleep", "30", NULL }, .flags = AK_EXEC_TIMEOUT_SET, .timeout_ms = 200 };
	struct ak_event ev;
	struct ran x;
	uint32_t tag;
	double t0 = now_s();

	t(d, "exec:timeout");
	x = run_request(d, &q);
	want(d, x.res.status == AK_STATUS_TIMED_OUT && x.res.exit_code == 124 && x.res.limit[AK_LIMIT_TIMEOUT].hit == AK_HIT_YES,
	     "status %u code %u %s", x.res.status, x.res.exit_code, d->err.msg);
	want(d, now_s() - t0 < 20, "%.1f s", now_s() - t0);
	ran_free(&x);

	t(d, "exec:kill-after-a-timeout-that-is-ignored");
	q = (struct ak_request){ .argv = (const char *[]){ "sh", "-c", "trap '' TERM; while :; do sleep 1; done", NULL },
				 .flags = AK_EXEC_TIMEOUT_SET, .timeout_ms = 200, .kill_after_ms = 300 };
	t0 = now_s();
	x = run_request(d, &q);
	want(d, x.res.status == AK_STATUS_TIMED_OUT && x.res.signal == SIGKILL && now_s() - t0 < 20, "status %u signal %u %.1f s", x.res.status,
	     x.res.signal, now_s() - t0);
	ran_free(&x);

	t(d, "signal:reaches-the-command");
	q = (struct ak_request){ .sandbox = d->box, .argv = (const char *[]){ "sh", "-c", "trap 'exit 42' USR1; echo up >up; while :; do sleep 0.1; done", NULL },
				 .stream = { 0, AK_STREAM_CAPTURE, 0 } };
	want(d, ak_exec_start(d->cl, &q, &tag, &d->err) == 0 && ak_next(d->cl, &ev, 30000, &d->err) == 1 && ev.type == AK_EVENT_STARTED, "start: %s",
	     d->err.msg);
	want(d, appears(d, "up"), "it never said that it is ready");
	want(d, ak_signal(d->cl, ev.cmd, SIGUSR1, &d->err) == 0, "signal: %s", d->err.msg);
	want(d, ak_next(d->cl, &ev, 30000, &d->err) == 1 && ev.type == AK_EVENT_DONE && ev.done.r.exit_code == 42, "end: type %d code %u", ev.type,
	     ev.done.r.exit_code);
	ak_event_release(&ev);

	t(d, "kill:ends-the-command-and-what-it-started");
	q.argv = (const char *[]){ "sh", "-c", "setsid sleep 77 & trap '' TERM; echo up >up2; while :; do sleep 1; done", NULL };
	want(d, ak_exec_start(d->cl, &q, &tag, &d->err) == 0 && ak_next(d->cl, &ev, 30000, &d->err) == 1 && ev.type == AK_EVENT_STARTED, "start");
	want(d, appears(d, "up2"), "it never said that it is ready");
	want(d, ak_kill(d->cl, ev.cmd, &d->err) == 0, "kill: %s", d->err.msg);
	want(d, ak_next(d->cl, &ev, 30000, &d->err) == 1 && ev.type == AK_EVENT_DONE && ev.done.r.signal == SIGKILL, "end: signal %u", ev.done.r.signal);
	ak_event_release(&ev);
	x = run_sh(d, "ps ax | grep -c '[s]leep 77' || true");
	want(d, number(x.out[0]) == 0, "a process of it still runs: %s", x.out[0]);
	ran_free(&x);
}

static void sessions(struct drive *d)
{
	static const char *const bad[] = { "exit 5", "echo 'unclosed", "exec true", "set -e; false; echo no", "kill -9 $$", "cat <<EOF\nopen",
					   "if true; then", "return 3", "trap 'exit 9' EXIT" };
	char *big = malloc(BIG + 64);
	struct ran x;

	t(d, "session:cwd-and-exports-carry-over");
	x = run_session(d, "mkdir -p /tmp/s && cd /tmp/s && export V='a b' W=2; X=hidden; f() { echo fun; }; if [ -n \"$BASH_VERSION\" ]; then export -f f; fi");
	want(d, x.r == 0 && x.res.exit_code == 0, "first: %u '%s' %s", x.res.exit_code, x.out[1], d->err.msg);
	ran_free(&x);
	x = run_session(d, "pwd; echo \"$V$W\"");
	want(d, strcmp(x.out[0], "/tmp/s\na b2\n") == 0, "second: '%s' '%s'", x.out[0], x.out[1]);
	ran_free(&x);

	t(d, "session:no-call-breaks-the-next");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		x = run_session(d, bad[i]);
		ran_free(&x);
		x = run_session(d, "echo \"$V\"; pwd");
		want(d, strcmp(x.out[0], "a b\n/tmp/s\n") == 0, "after \"%s\": '%s' '%s'", bad[i], x.out[0], x.out[1]);
		ran_free(&x);
	}

	t(d, "session:script-of-300-kB");
	memset(big, '#', BIG);
	(void)snprintf(big + BIG, 64, "\necho long");
	x = run_session(d, big);
	want(d, strcmp(x.out[0], "long\n") == 0, "'%s' '%s' %s", x.out[0], x.out[1], d->err.msg);
	ran_free(&x);
	free(big);

	t(d, "session:reset-forgets");
	struct ak_request q = { .argv = (const char *[]){ "echo \"<$V>\"; pwd", NULL }, .kind = AK_EXEC_SESSION, .flags = AK_EXEC_RESET };

	x = run_request(d, &q);
	want(d, strncmp(x.out[0], "<>\n", 3) == 0 && strstr(x.out[0], ak_hello_facts(d->cl)->facts.workspace), "'%s'", x.out[0]);
	ran_free(&x);
}

static void count_jobs(void *arg, const struct ak_job *job)
{
	unsigned *n = arg;

	n[0]++;
	n[1] += job->running;
}

static void jobs(struct drive *d)
{
	struct ak_request q = { .sandbox = d->box, .argv = (const char *[]){ "sh", "-c", "for i in 1 2 3; do echo line$i; echo e$i >&2; done; while [ ! -e go ]; do sleep 0.05; done; exit 6", NULL } };
	struct ak_log_data log = { 0 };
	struct ak_done done;
	uint32_t job = 0, other = 0;
	unsigned n[2] = { 0 };
	int r;

	t(d, "job:start-log-wait");
	want(d, ak_exec_job(d->cl, &q, &job, &d->err) == 0, "start: %s", d->err.msg);
	r = ak_job_wait(d->cl, job, 10, &done, &d->err);
	want(d, r == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_TIMEOUT, "wait a little: %d %s", r, d->err.msg);
	want(d, ak_file_write(d->cl, d->box, "go", "", 0, 0644, 0, &d->err) == 0, "write: %s", d->err.msg);
	want(d, ak_job_wait(d->cl, job, UINT64_MAX, &done, &d->err) == 0 && done.r.exit_code == 6, "wait: %s", d->err.msg);
	ak_done_release(&done);
	want(d, ak_job_log(d->cl, job, 0, &log, &d->err) == 0 && log.bytes_len == 27 && !memcmp(log.bytes, "line1\ne1\nline2\n", 15), "log: %u bytes",
	     log.bytes_len);
	want(d, ak_job_log(d->cl, job, 6, &log, &d->err) == 0 && log.offset == 6 && log.bytes_len == 21 && log.total == 27, "log from 6: %u",
	     log.bytes_len);
	want(d, ak_job_log(d->cl, job, 27, &log, &d->err) == 0 && log.bytes_len == 0 && !log.running, "log at its end");

	t(d, "job:log-keeps-head-and-tail");
	q.argv = (const char *[]){ "sh", "-c", "echo first; head -c 12000000 /dev/zero | tr '\\0' y; echo last", NULL };
	want(d, ak_exec_job(d->cl, &q, &job, &d->err) == 0 && ak_job_wait(d->cl, job, UINT64_MAX, &done, &d->err) == 0, "run: %s", d->err.msg);
	ak_done_release(&done);
	want(d, ak_job_log(d->cl, job, 0, &log, &d->err) == 0 && !memcmp(log.bytes, "first\n", 6) && log.total == 12000011, "head");
	want(d, ak_job_log(d->cl, job, 3000000, &log, &d->err) == 0 && log.offset == 12000011 - AK_JOB_LOG_MAX / 2, "gap: %llu",
	     (unsigned long long)log.offset);
	want(d, ak_job_log(d->cl, job, 12000006, &log, &d->err) == 0 && log.bytes_len == 5 && !memcmp(log.bytes, "last\n", 5), "tail");

	t(d, "job:kill-and-list");
	q.argv = (const char *[]){ "sleep", "100", NULL };
	want(d, ak_exec_job(d->cl, &q, &other, &d->err) == 0, "start: %s", d->err.msg);
	want(d, ak_job_list(d->cl, 0, count_jobs, n, &d->err) == 0 && n[0] == 3 && n[1] == 1, "list: %u, %u run", n[0], n[1]);
	want(d, ak_kill(d->cl, other, &d->err) == 0 && ak_job_wait(d->cl, other, 30000, &done, &d->err) == 0 && done.r.signal == SIGKILL, "kill: %s",
	     d->err.msg);
	ak_done_release(&done);
	want(d, ak_kill(d->cl, other, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_NO_COMMAND, "kill again: %s", d->err.msg);

	t(d, "job:not-found-is-no-job");
	q.argv = (const char *[]){ "no-such-thing", NULL };
	r = ak_exec_job(d->cl, &q, &other, &d->err);
	if (r == 0) {	/* known only after it was let go */
		want(d, ak_job_wait(d->cl, other, 30000, &done, &d->err) == 0 && done.r.exit_code == 127, "code %u", done.r.exit_code);
		ak_done_release(&done);
	} else {
		want(d, r == -ECHILD, "%d %s", r, d->err.msg);
	}
}

static void files(struct drive *d)
{
	size_t n = 3u << 20, pos = 0;
	char *big = malloc(n);
	struct ak_bytes b = { 0 };
	struct ak_file_reply st;
	struct ak_entry e;
	struct ran x;
	unsigned seen = 0;
	int eno;

	t(d, "file:write-read-small");
	want(d, ak_file_write(d->cl, d->box, "dir/a.txt", "hello\n", 6, 0640, AK_FILE_PARENTS, &d->err) == 0, "write: %s", d->err.msg);
	want(d, ak_file_read(d->cl, d->box, "dir/a.txt", 0, 0, &b, &d->err) == 0 && b.len == 6 && !memcmp(b.data, "hello\n", 6) && !b.more, "read: %s",
	     d->err.msg);
	want(d, (b.st.mode & 0777) == 0640 && b.st.kind == AK_KIND_FILE, "mode %o", b.st.mode);
	ak_bytes_release(&b);
	want(d, ak_file_read(d->cl, d->box, "dir/a.txt", 1, 3, &b, &d->err) == 0 && b.len == 3 && !memcmp(b.data, "ell", 3) && b.more, "part: %zu", b.len);
	ak_bytes_release(&b);

	t(d, "file:large-by-memfd");
	for (size_t i = 0; i < n; i++)
		big[i] = (char)(i * 7 + i / 251);
	want(d, ak_file_write(d->cl, d->box, "big", big, n, 0644, 0, &d->err) == 0, "write: %s", d->err.msg);
	want(d, ak_file_read(d->cl, d->box, "big", 0, 0, &b, &d->err) == 0 && b.len == n && !memcmp(b.data, big, n), "read: %s %zu", d->err.msg, b.len);
	ak_bytes_release(&b);
	free(big);

	t(d, "file:stat-list-walk-rename-remove");
	want(d, ak_file_mkdir(d->cl, d->box, "dir/sub", 0755, false, &d->err) == 0, "mkdir: %s", d->err.msg);
	want(d, ak_file_stat(d->cl, d->box, "dir/sub", &st, &d->err) == 0 && st.kind == AK_KIND_DIR, "stat");
	want(d, ak_file_rename(d->cl, d->box, "dir/a.txt", "dir/sub/b.txt", true, &d->err) == 0, "rename: %s", d->err.msg);
	want(d, ak_file_list(d->cl, d->box, "dir", false, 0, &b, &d->err) == 0 && b.st.entries == 1, "list: %u %s", b.st.entries, d->err.msg);
	ak_bytes_release(&b);
	want(d, ak_file_list(d->cl, d->box, ".", true, 0, &b, &d->err) == 0, "walk: %s", d->err.msg);
	while (b.data && ak_entry_next(b.data, b.len, &pos, &e) == 1)
		seen += !strcmp(e.name, "dir") || !strcmp(e.name, "dir/sub") || !strcmp(e.name, "dir/sub/b.txt");
	want(d, seen == 3, "walk saw %u of 3", seen);
	ak_bytes_release(&b);
	want(d, ak_file_remove(d->cl, d->box, "dir", false, &d->err) == -EREMOTEIO && ak_refusal(d->cl, &eno) == AK_CODE_FILE && eno == ENOTEMPTY,
	     "remove of a full folder: %s", d->err.msg);
	want(d, ak_file_remove(d->cl, d->box, "dir", true, &d->err) == 0, "remove: %s", d->err.msg);
	want(d, ak_file_stat(d->cl, d->box, "dir", &st, &d->err) == -EREMOTEIO && ak_refusal(d->cl, &eno) == AK_CODE_FILE && eno == ENOENT, "gone");

	t(d, "file:links-out-and-fifos-are-refused");
	x = run_sh(d, "ln -s /etc/passwd out; ln -s / root; mkfifo fifo; echo keep > plain; ln -s plain in");
	ran_free(&x);
	want(d, ak_file_read(d->cl, d->box, "out", 0, 0, &b, &d->err) == -EREMOTEIO, "a link out of the workspace was followed");
	want(d, ak_file_read(d->cl, d->box, "root/etc/passwd", 0, 0, &b, &d->err) == -EREMOTEIO, "a folder link out was followed");
	want(d, ak_file_read(d->cl, d->box, "fifo", 0, 0, &b, &d->err) == -EREMOTEIO, "a FIFO was opened");
	want(d, ak_file_read(d->cl, d->box, "/etc/passwd", 0, 0, &b, &d->err) == -EREMOTEIO, "a path outside was read");
	want(d, ak_file_read(d->cl, d->box, "../../../etc/passwd", 0, 0, &b, &d->err) == -EREMOTEIO, "a path above was read");
	want(d, ak_file_write(d->cl, d->box, "/etc/x", "x", 1, 0644, 0, &d->err) == -EREMOTEIO, "a path outside was written");
}

static void refusals(struct drive *d)
{
	struct ak_create how = { .pids = 1u << 30 };
	struct ak_request q = { .argv = (const char *[]){ "true", NULL }, .sandbox = 4711 };
	struct ak_done done;
	uint32_t id;
	int fd;

	t(d, "refuse:wider-than-the-policy");
	want(d, ak_create(d->cl, &how, &id, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_NOT_ALLOWED && strstr(d->err.msg, "pids"),
	     "%s", d->err.msg);
	t(d, "refuse:no-such-sandbox");
	want(d, ak_exec(d->cl, &q, &done, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_NO_SANDBOX, "%s", d->err.msg);
	t(d, "refuse:streams-that-are-no-pipes");
	q.sandbox = d->box;
	for (int i = 0; i < 3; i++) {
		static const char *const paths[] = { "/etc/passwd", "/dev/zero", "/proc/self/exe" };

		fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		q.stream[0] = AK_STREAM_FD;
		q.fd[0] = fd;
		want(d, ak_exec(d->cl, &q, &done, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_STREAM, "%s: %s", paths[i], d->err.msg);
		(void)close(fd);
	}
	t(d, "refuse:pipe-in-the-wrong-direction");
	int p[2];

	want(d, pipe2(p, O_CLOEXEC) == 0, "pipe");
	q.fd[0] = p[1];
	want(d, ak_exec(d->cl, &q, &done, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_STREAM, "%s", d->err.msg);
	(void)close(p[0]);
	(void)close(p[1]);
	q.stream[0] = AK_STREAM_NULL;

	t(d, "refuse:name-rules-and-name-taken");
	how = (struct ak_create){ .name = "-x" };
	want(d, ak_create(d->cl, &how, &id, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_BAD_VALUE, "%s", d->err.msg);
	how.name = "one";
	want(d, ak_create(d->cl, &how, &id, &d->err) == 0, "%s", d->err.msg);
	want(d, ak_create(d->cl, &how, &id, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_NAME_TAKEN, "%s", d->err.msg);

	t(d, "refuse:unknown-command-and-job");
	want(d, ak_signal(d->cl, 99999, SIGTERM, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_NO_COMMAND, "%s", d->err.msg);

	t(d, "refuse:nothing-has-changed");
	struct ran x = run_sh(d, "echo fine");

	want(d, strcmp(x.out[0], "fine\n") == 0, "'%s' %s", x.out[0], d->err.msg);
	ran_free(&x);
}

static void narrow(struct drive *d)
{
	struct ak_create how = { .flags = AK_NARROW_WRITE_NONE | AK_NARROW_NO_JOBS, .pids = 20, .nofile = 64, .timeout_ms = 15000,
				 .nunset = 1, .unset = { "PATH" } };
	struct ak_request q = { .argv = (const char *[]){ "/bin/sh", "-c", "touch x 2>/dev/null && echo wrote; echo $((1)) > /tmp/ok && echo tmp; ulimit -n", NULL } };
	struct ak_request job = { .argv = (const char *[]){ "/bin/true", NULL } };
	struct ak_done done;
	struct ran x;
	uint32_t id = 0, j;

	t(d, "narrow:what-was-given-up-is-gone");
	want(d, ak_create(d->cl, &how, &id, &d->err) == 0, "%s", d->err.msg);
	q.sandbox = job.sandbox = id;
	x = run_request(d, &q);
	want(d, strcmp(x.out[0], "tmp\n64\n") == 0 && x.res.status == AK_STATUS_EXITED, "'%s' '%s' status %u %s", x.out[0], x.out[1], x.res.status,
	     d->err.msg);
	ran_free(&x);
	want(d, ak_exec_job(d->cl, &job, &j, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_NOT_ALLOWED, "job: %s", d->err.msg);
	q.flags = AK_EXEC_TIMEOUT_SET;
	q.timeout_ms = 15001;
	want(d, ak_exec(d->cl, &q, &done, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_NOT_ALLOWED, "timeout: %s", d->err.msg);
	want(d, ak_destroy(d->cl, id, &d->err) == 0, "destroy: %s", d->err.msg);
	want(d, ak_destroy(d->cl, id, &d->err) == -EREMOTEIO, "destroyed twice");

	t(d, "narrow:timeout");
	how = (struct ak_create){ .timeout_ms = 300 };
	want(d, ak_create(d->cl, &how, &id, &d->err) == 0, "%s", d->err.msg);
	q = (struct ak_request){ .sandbox = id, .argv = (const char *[]){ "sleep", "60", NULL } };
	x = run_request(d, &q);
	want(d, x.res.status == AK_STATUS_TIMED_OUT, "status %u %s", x.res.status, d->err.msg);
	ran_free(&x);
	want(d, ak_destroy(d->cl, id, &d->err) == 0, "destroy: %s", d->err.msg);
}

static void terminal(struct drive *d)
{
	struct ak_request q = { .sandbox = d->box, .argv = (const char *[]){ "sh", "-c", "tty; stty size; read x; echo got $x; stty size", NULL },
				.stream = { AK_STREAM_PTY, AK_STREAM_PTY, AK_STREAM_PTY }, .rows = 33, .cols = 99 };
	char buf[4096] = "";
	size_t n = 0;
	struct ak_event ev;
	uint32_t tag;
	int pty;

	t(d, "tty:pty-of-the-sandbox-and-resize");
	want(d, ak_exec_start(d->cl, &q, &tag, &d->err) == 0 && ak_next(d->cl, &ev, 30000, &d->err) == 1 && ev.type == AK_EVENT_STARTED && ev.pty >= 0,
	     "start: %s", d->err.msg);
	pty = ev.pty;
	ev.pty = -1;
	while (n < sizeof(buf) - 1 && !strstr(buf, "99")) {
		struct pollfd p = { .fd = pty, .events = POLLIN };
		ssize_t k = poll(&p, 1, 30000) > 0 ? read(pty, buf + n, sizeof(buf) - 1 - n) : -1;

		if (k <= 0)
			break;
		n += (size_t)k;
		buf[n] = '\0';
	}
	want(d, strstr(buf, "/dev/pts/") && strstr(buf, "33 99"), "'%s'", buf);
	want(d, ak_resize(d->cl, ev.cmd, 44, 111, &d->err) == 0, "resize: %s", d->err.msg);
	want(d, write(pty, "abc\n", 4) == 4, "write");
	while (n < sizeof(buf) - 1 && !strstr(buf, "44 111")) {
		ssize_t k = read(pty, buf + n, sizeof(buf) - 1 - n);

		if (k <= 0)
			break;
		n += (size_t)k;
		buf[n] = '\0';
	}
	want(d, strstr(buf, "got abc") && strstr(buf, "44 111"), "'%s'", buf);
	want(d, ak_next(d->cl, &ev, 30000, &d->err) == 1 && ev.type == AK_EVENT_DONE && ev.done.r.exit_code == 0, "end: %u", ev.done.r.exit_code);
	ak_event_release(&ev);
	(void)close(pty);
}

static void fresh(struct drive *d)
{
	struct ak_request q = { .flags = AK_EXEC_FRESH, .argv = (const char *[]){ "sh", "-c", "ls -A /tmp; touch /tmp/mark; echo $$", NULL } };
	struct ran x;

	t(d, "fresh:a-sandbox-of-its-own-each-time");
	for (int i = 0; i < 6; i++) {
		x = run_request(d, &q);
		want(d, x.r == 0 && x.res.exit_code == 0 && !strstr(x.out[0], "mark") && x.res.sandbox != d->box, "run %d: '%s' '%s' %s", i, x.out[0],
		     x.out[1], d->err.msg);
		ran_free(&x);
		q.stream[1] = q.stream[2] = AK_STREAM_NULL;
	}
}

static void keep_list(void *arg, const struct ak_sandboxes *l)
{
	*(struct ak_sandboxes *)arg = *l;
}

static void dead(struct drive *d)
{
	struct ak_sandboxes list = { 0 };
	struct ak_request q = { .argv = (const char *[]){ "sleep", "60", NULL } };
	struct ak_event ev;
	struct ran x;
	uint32_t id = 0, tag;
	struct ak_done done;

	t(d, "dead:init-killed-under-a-command");
	want(d, ak_create(d->cl, NULL, &id, &d->err) == 0, "%s", d->err.msg);
	q.sandbox = id;
	want(d, ak_exec_start(d->cl, &q, &tag, &d->err) == 0 && ak_next(d->cl, &ev, 30000, &d->err) == 1, "start: %s", d->err.msg);
	want(d, ak_list(d->cl, keep_list, &list, &d->err) == 0, "list: %s", d->err.msg);
	for (uint32_t i = 0; i < list.count; i++)
		if (list.sandbox[i].id == id)
			want(d, kill((pid_t)list.sandbox[i].pid, SIGKILL) == 0, "kill init %u", list.sandbox[i].pid);
	want(d, ak_next(d->cl, &ev, 30000, &d->err) == 1 && ev.type == AK_EVENT_DONE && ev.done.r.status == AK_STATUS_FAILED && ev.done.r.exit_code == 125,
	     "end: type %d", ev.type);
	ak_event_release(&ev);
	want(d, ak_exec(d->cl, &q, &done, &d->err) == -EREMOTEIO, "a dead sandbox took a command");
	x = run_sh(d, "echo others live");
	want(d, x.res.exit_code == 0 && x.len[0] > 0, "%s", d->err.msg);
	ran_free(&x);
}

/* what is asked behind a SHUTDOWN is refused, also what would have been nobody's: the executor must end */
static void shutdown_last(struct drive *d)
{
	struct ak_request q = { .flags = AK_EXEC_FRESH | AK_EXEC_JOB, .argv = (const char *[]){ "sleep", "1000", NULL } };
	struct ak_request busy = { .sandbox = d->box, .argv = (const char *[]){ "sleep", "1000", NULL } };
	uint8_t buf[AK_PAYLOAD_MAX];
	struct ak_event ev;
	uint32_t tag;
	pid_t pid = (pid_t)executor_pid(d);
	double t0;

	t(d, "shutdown:busy-then-forced-with-more-behind-it");
	want(d, ak_exec_start(d->cl, &busy, &tag, &d->err) == 0 && ak_next(d->cl, &ev, 30000, &d->err) == 1, "start: %s", d->err.msg);
	want(d, ak_shutdown(d->cl, false, &d->err) == -EREMOTEIO && ak_refusal(d->cl, NULL) == AK_CODE_BUSY, "busy: %s", d->err.msg);
	/* the frames go out one behind the other, as a hostile client would have it */
	long n = ak_shutdown_encode(&(struct ak_shutdown){ 1 }, buf, sizeof(buf));

	want(d, ak_chan_send(ak_poll_fd(d->cl), AK_OP_SHUTDOWN, 70000, buf, (size_t)n, NULL, 0, 0) == 0, "send");
	want(d, ak_exec_start(d->cl, &q, &tag, &d->err) == 0, "send");
	t0 = now_s();
	while (kill(pid, 0) == 0 && waitpid(pid, NULL, WNOHANG) == 0 && now_s() - t0 < 30)
		nap_ms(10);
	want(d, now_s() - t0 < 30, "the executor did not end");
}

/* another backend: what it is made by is fixed, and says who it is */
static void held(struct drive *d)
{
	struct ak_create how = { .memory_bytes = 64u << 20 };
	uint8_t backend = ak_hello_facts(d->cl)->facts.backend;
	struct ak_request q = { .argv = (const char *[]){ "sh", "-c", "echo fresh", NULL }, .flags = AK_EXEC_FRESH };
	struct ran x;
	uint32_t id;

	t(d, "held:narrower-is-refused");
	want(d, backend == AK_BACKEND_DOCKER || backend == AK_BACKEND_LOCAL, "backend %u", backend);
	want(d, ak_create(d->cl, &how, &id, &d->err) == -EREMOTEIO && strstr(d->err.msg, "memory"), "%s", d->err.msg);
	t(d, "held:another-one-and-its-end");
	want(d, ak_create(d->cl, NULL, &id, &d->err) == 0 && id != d->box, "%s", d->err.msg);
	want(d, ak_destroy(d->cl, id, &d->err) == 0, "%s", d->err.msg);
	t(d, "held:fresh");
	x = run_request(d, &q);
	want(d, x.r == 0 && strcmp(x.out[0], "fresh\n") == 0, "'%s' %s", x.out[0], d->err.msg);
	ran_free(&x);
}

int main(int argc, char *argv[])
{
	static const char *const pool[] = { "--pool", "2", NULL };
	struct drive d = { .ak = argv[1], .ws = argv[2] };
	const char *only = getenv("OPS");	/* "files": nothing else */
	const char *const *more = argc > 3 ? (const char *const *)argv + 3 : pool;

	if (argc > 1 && strcmp(argv[1], SAY) == 0)
		return say(argc, argv);
	if (argc < 3)
		return 2;
	(void)signal(SIGPIPE, SIG_IGN);
	t(&d, "spawn-and-create");
	if (!want(&d, drive_box(&d, more) == 0, "%s (%s)", d.err.msg, d.err.hint)) {
		t_end(&d);
		return 1;
	}
	if (strcmp(only ? only : "", "files") == 0) {
		files(&d);
		shutdown_last(&d);
		t_end(&d);
		ak_close(d.cl);
		return d.failed ? 1 : 0;
	}
	commands(&d);
	programs(&d, ak_hello_facts(d.cl)->facts.backend == AK_BACKEND_LOCAL && geteuid() == 0);
	output(&d);
	times(&d);
	sessions(&d);
	jobs(&d);
	terminal(&d);
	if (more == pool) {
		fresh(&d);
		narrow(&d);
		refusals(&d);
		dead(&d);
	} else {
		held(&d);
	}
	files(&d);
	shutdown_last(&d);
	t_end(&d);
	ak_close(d.cl);
	return d.failed ? 1 : 0;
}
