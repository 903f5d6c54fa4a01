/* SPDX-License-Identifier: Apache-2.0 */
/* Commands in a sandbox that stays: what each gets, what it may not, many at once, thousands in turn. serve/exec [EXEC OPTIONS] */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/shared/ak_clock.h"
#include "tests/serve/say.h"

#define MANY 10000

static const char *const t_true[] = { "/bin/true", NULL };

static void basics(struct drv *d)
{
	const char *const nothing[] = { "no-such-command", NULL }, *const dir[] = { "/tmp", NULL };
	struct call *c;

	want(drv_sh(d, "echo out; echo err >&2; exit 7"), "exit-code-and-output", 7, "out\n");
	want(drv_sh(d, "kill -TERM $$"), "ended-by-a-signal", 143, "");
	want(drv_sh(d, "cat; readlink /proc/self/fd/0"), "stdin-is-null", 0, "/dev/null\n");
	want(drv_sh(d, "umask; ulimit -c"), "umask", 0, "0022\n0\n");
	want(drv_sh(d, "ls /proc/self/fd | tr '\\n' ' '"), "only-three-descriptors", 0, "0 1 2 3 ");
	want(drv_sh(d, "grep -E '^Sig(Ign|Blk)' /proc/self/status | grep -c 0000000000000000"), "clean-signals", 0, "2\n");
	want(drv_sh(d, "read -r a b c p g s x </proc/$$/stat; test $$ = $g && test $$ = $s"), "own-session-and-group", 0, "");
	want(drv_sh(d, "grep -E '^(NoNewPrivs|Seccomp|Seccomp_filters|CapEff|CapBnd):' /proc/self/status | tr -d '\\n\\t'"), "confined", 0,
	     "CapEff:0000000000000000CapBnd:0000000000000000NoNewPrivs:1Seccomp:2Seccomp_filters:2");
	want_failed(drv_run(d, &(struct spec){ .argv = nothing }), "not-found", 127, INIT_STAGE_EXEC, "command not found");
	want_failed(drv_run(d, &(struct spec){ .argv = dir }), "not-executable", 126, INIT_STAGE_EXEC, "is a directory");
	c = drv_run(d, &(struct spec){ .argv = t_true, .cwd = "/nowhere" });
	want_failed(c, "cwd-missing", 125, INIT_STAGE_CWD, "/nowhere");
	c = drv_run(d, &(struct spec){ .argv = (const char *const[]){ "pwd", NULL }, .cwd = "/usr" });
	want(c, "cwd", 0, "/usr\n");
	c = drv_run(d, &(struct spec){ .argv = (const char *const[]){ "sh", "-c", "echo $$", NULL }, .flags = INIT_EXEC_STARTED });
	say(c && c->pid && strtoul(c->data[0], NULL, 10) == c->pid, "ALLOWED", "started-with-its-pid", "%u, %s", c ? c->pid : 0, c ? c->data[0] : "");
	drv_free(c);
}

static void environment(struct drv *d)
{
	const char *const show[] = { "sh", "-c", "echo \"$A|$B|${TERM-none}|${HOME-none}\"", NULL };
	const char *const env[] = { "A=1", "B=x y", "A=2", "HOME=/h", NULL }, *const unset[] = { "TERM", "NOT_THERE", NULL };

	want(drv_run(d, &(struct spec){ .argv = show, .env = env, .unset = unset }), "environment-set-and-unset", 0, "2|x y|none|/h\n");
	want(drv_run(d, &(struct spec){ .argv = (const char *const[]){ "sh", "-c", "echo \"$A|$B\"", NULL } }), "environment-does-not-stay", 0, "|\n");
	want(drv_run(d, &(struct spec){ .argv = (const char *const[]){ "true", NULL }, .env = (const char *const[]){ "PATH=/nowhere", NULL } }),
	     "path-of-the-command-counts", 1127, NULL);
}

/* 300 kB of arguments come as a file, and a small request may, too */
static void large(struct drv *d)
{
	static char big[100000];
	const char *argv[] = { "sh", "-c", "printf %s \"$1$2$3\" | wc -c", "sh", big, big, big, NULL };

	memset(big, 'x', sizeof(big) - 1);
	want(drv_run(d, &(struct spec){ .argv = argv }), "large-arguments", 0, "299997\n");
	want(drv_run(d, &(struct spec){ .argv = (const char *const[]){ "echo", "file", NULL }, .memfd = true }), "arguments-as-a-file", 0, "file\n");
}

static void descriptors(struct drv *d)
{
	const char *const bash[] = { "bash", "-c", "cat; cat <&3; cat <&9; cat <&1000", NULL };
	const int to[] = { 9, 3, 1000 };
	int in[2], extra[3][2], give[3];

	for (int i = 0; i < 3; i++) {
		if (pipe2(extra[i], O_CLOEXEC) < 0 || write(extra[i][1], &"abc"[i], 1) != 1)
			return;
		(void)close(extra[i][1]);
		give[i] = extra[i][0];
	}
	if (pipe2(in, O_CLOEXEC) < 0 || write(in[1], "in", 2) != 2)
		return;
	(void)close(in[1]);
	want(drv_run(d, &(struct spec){ .argv = bash, .flags = INIT_EXEC_STDIN, .in = in[0], .extra = give, .extra_to = to, .nextra = 3 }),
	     "stdin-and-extra-descriptors", 0, "inbac");
	for (int i = 0; i < 3; i++)
		(void)close(give[i]);
	(void)close(in[0]);
}

static void limits(struct drv *d)
{
	const char *const show[] = { "sh", "-c", "ulimit -n; ulimit -f", NULL };
	const struct init_rlimit lower[] = { { RLIMIT_NOFILE, 64, 64 }, { RLIMIT_FSIZE, 1024, 2048 } };
	const struct init_rlimit raise[] = { { RLIMIT_NOFILE, 1u << 30, 1u << 30 } };
	const struct init_rlimit nproc[] = { { RLIMIT_NPROC, 5, 5 } };
	const char *const four[] = { "bash", "-c", "for i in 1 2 3 4; do sleep 5 & done; jobs -p | wc -l", NULL };
	const char *const many[] = { "bash", "-c", "for i in {1..20}; do sleep 5 & done", NULL };

	want(drv_run(d, &(struct spec){ .argv = show, .rlimits = lower, .nrlimits = 2 }), "limits-lowered", 0, "64\n2\n");
	want_failed(drv_run(d, &(struct spec){ .argv = show, .rlimits = raise, .nrlimits = 1 }), "limits-not-raised", 125, INIT_STAGE_CONFINE,
		    "nofile: it can only be lowered");
	/* four beside the shell: our helpers are not counted against the command; far more than that are refused */
	want(drv_run(d, &(struct spec){ .argv = four, .rlimits = nproc, .nrlimits = 1 }), "limit-of-processes-without-our-own", 0, "4\n");
	want(drv_run(d, &(struct spec){ .argv = many, .rlimits = nproc, .nrlimits = 1 }), "limit-of-processes-holds", 254, NULL);
}

/* Ends when @hold is closed. Return: what keeps it there, for stdin of commands */
static int make_hold(int *hold)
{
	int p[2] = { -1, -1 };

	(void)!pipe2(p, O_CLOEXEC);
	*hold = p[1];
	return p[0];
}

static bool any_done(struct call *const *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (c[i] && c[i]->done)
			return true;
	return false;
}

/* Every command says its own number on both streams, all at the same time; then one too many. They last until that one is refused. */
static void parallel(struct drv *d)
{
	struct call *c[AK_INIT_COMMANDS_MAX + 1];
	bool good = true;
	size_t refused = 0;
	int hold, in = make_hold(&hold);

	for (unsigned i = 0; i <= AK_INIT_COMMANDS_MAX; i++) {
		char text[128];
		const char *argv[] = { "sh", "-c", text, NULL };

		(void)snprintf(text, sizeof(text), "read x; echo out %u; echo err %u >&2; exit %u", i, i, i);
		c[i] = drv_exec(d, &(struct spec){ .argv = argv, .flags = INIT_EXEC_STDIN, .in = in });
	}
	(void)close(in);
	for (int i = 0; i < 1200 && !any_done(c, AK_INIT_COMMANDS_MAX + 1); i++)
		(void)drv_pump(d, 50);
	(void)close(hold);
	for (unsigned i = 0; i <= AK_INIT_COMMANDS_MAX; i++) {
		char out[32], err[32];

		good &= drv_wait(d, c[i], 60000);
		(void)snprintf(out, sizeof(out), "out %u\n", i);
		(void)snprintf(err, sizeof(err), "err %u\n", i);
		if (drv_code(c[i]) == 1125 && c[i]->end.code == EAGAIN)
			refused++;
		else
			good &= drv_code(c[i]) == (int)i && strcmp(c[i]->data[0], out) == 0 && strcmp(c[i]->data[1], err) == 0;
		drv_free(c[i]);
	}
	say(good, "ALLOWED", "64-at-a-time-never-mixed", "a result was wrong");
	say(refused == 1, "ALLOWED", "the-65th-is-refused", "%zu were", refused);
	want(drv_run(d, &(struct spec){ .argv = t_true }), "and-the-next-works", 0, "");
}

/* Many ends that init sees at once: it answers a few at a time, and nothing but itself reminds it of the rest */
static void ends_together(struct drv *d)
{
	const char *const argv[] = { "cat", NULL };
	struct call *c[40];
	unsigned lost = 0;
	int hold, in = make_hold(&hold);

	for (unsigned i = 0; i < 40; i++)
		c[i] = drv_exec(d, &(struct spec){ .argv = argv, .flags = INIT_EXEC_STARTED | INIT_EXEC_STDIN, .in = in });
	(void)close(in);
	for (unsigned i = 0; i < 40; i++)
		for (int k = 0; k < 600 && !c[i]->pid; k++)
			(void)drv_pump(d, 50);
	(void)kill(d->sb.pid, SIGSTOP);
	(void)close(hold);
	(void)usleep(1500000);	/* as many as end now, end at once for init */
	(void)kill(d->sb.pid, SIGCONT);
	for (unsigned i = 0; i < 40; i++) {
		lost += !drv_wait(d, c[i], lost ? 100 : 60000) || drv_code(c[i]) != 0;
		drv_free(c[i]);
	}
	say(lost == 0, "ALLOWED", "ends-seen-at-once-are-all-told", "%u were not", lost);
}

/* Nobody reads the replies while 64 commands end and files are asked for: init neither blocks nor loses one */
static void no_reader(struct drv *d)
{
	struct call *c[AK_INIT_COMMANDS_MAX];
	bool good = true;

	for (unsigned i = 0; i < AK_INIT_COMMANDS_MAX; i++)
		c[i] = drv_exec(d, &(struct spec){ .argv = t_true, .flags = INIT_EXEC_STARTED, .no_output = true });
	(void)usleep(1500000);
	for (unsigned i = 0; i < AK_INIT_COMMANDS_MAX; i++) {
		if (!drv_wait(d, c[i], 60000) || drv_code(c[i]) != 0) {
			(void)fprintf(stderr, "no reader: %u: code %d, %s\n", i, drv_code(c[i]), c[i]->text);
			good = false;
		}
		drv_free(c[i]);
	}
	say(good, "ALLOWED", "replies-wait-for-a-slow-reader", "one was lost or wrong");
}

static void thousands(struct drv *d, unsigned many)
{
	struct init_rep before;
	unsigned bad = 0;
	uint64_t from;

	for (int i = 0; i < 300; i++)
		drv_free(drv_run(d, &(struct spec){ .argv = t_true }));
	(void)drv_settle(d);
	before = d->stats;
	from = ak_now_ns();
	for (unsigned i = 0; i < many; i++) {
		struct call *c = drv_run(d, &(struct spec){ .argv = t_true, .no_output = true });

		bad += drv_code(c) != 0;
		drv_free(c);
	}
	(void)fprintf(stderr, "%u commands, %.2f ms each\n", many, (double)(ak_now_ns() - from) / 1e6 / many);
	(void)drv_settle(d);
	say(bad == 0, "ALLOWED", "thousands-in-turn", "%u failed", bad);
	/* both times the same is prepared; one more may be on its way */
	say(d->stats.fds <= before.fds + 3 && d->stats.processes <= before.processes + 3 && d->stats.rss_bytes <= before.rss_bytes + 65536,
	    "ALLOWED", "nothing-grows", "descriptors %u to %u, processes %u to %u, memory %llu to %llu", before.fds, d->stats.fds,
	    before.processes, d->stats.processes, (unsigned long long)before.rss_bytes, (unsigned long long)d->stats.rss_bytes);
	(void)fprintf(stderr, "descriptors %u, processes %u, memory of init %llu kB, before %llu kB\n", d->stats.fds, d->stats.processes,
		      (unsigned long long)d->stats.rss_bytes / 1024, (unsigned long long)before.rss_bytes / 1024);
}

/* Reads the terminal until @word stands in it or half a minute is over */
static bool sees(struct drv *d, struct call *c, char *buf, size_t cap, const char *word)
{
	const uint64_t until = ak_now_ns() + 30000000000u;
	size_t n = strlen(buf);

	while (!strstr(buf, word) && ak_now_ns() < until) {
		ssize_t got;

		(void)drv_pump(d, 10);
		if (c->pty < 0)
			continue;
		(void)fcntl(c->pty, F_SETFL, O_NONBLOCK);
		got = read(c->pty, buf + n, cap - 1 - n);
		if (got > 0) {
			n += (size_t)got;
			buf[n] = 0;
		}
	}
	return strstr(buf, word) != NULL;
}

static void terminal(struct drv *d)
{
	const char *const argv[] = { "bash", "--norc", "-i", NULL };
	struct call *c = drv_exec(d, &(struct spec){ .argv = argv, .flags = INIT_EXEC_TTY });
	struct winsize size = { .ws_row = 50, .ws_col = 132 };
	char buf[16384] = "";
	bool good = c && sees(d, c, buf, sizeof(buf), "$ ");

	good &= c && write(c->pty, "stty size; tty\n", 15) == 15 && sees(d, c, buf, sizeof(buf), "24 80") && sees(d, c, buf, sizeof(buf), "/dev/pts/");
	say(good, "ALLOWED", "terminal", "%s", buf);
	buf[0] = 0;
	good = c && ioctl(c->pty, TIOCSWINSZ, &size) == 0 && write(c->pty, "stty size\n", 10) == 10 && sees(d, c, buf, sizeof(buf), "50 132");
	say(good, "ALLOWED", "terminal-resized-by-its-master", "%s", buf);
	buf[0] = 0;
	good = c && write(c->pty, "sleep 100\n", 10) == 10 && usleep(300000) == 0 && write(c->pty, "\003", 1) == 1 &&
	       write(c->pty, "echo $((6*7))\n", 14) == 14 && sees(d, c, buf, sizeof(buf), "42");
	say(good, "ALLOWED", "terminal-interrupt-reaches-the-foreground", "%s", buf);
	(void)!write(c->pty, "exit 5\n", 7);
	(void)drv_wait(d, c, 30000);
	want(c, "terminal-exit-code", 5, "");
}

/* init goes when the executor does, and all that runs with it */
static void end_of_file(struct drv *d)
{
	struct call *c = drv_exec(d, &(struct spec){ .argv = (const char *const[]){ "sh", "-c", "trap '' TERM HUP; echo up; setsid sleep 300 & sleep 300", NULL } });
	int ms;

	for (int i = 0; i < 600 && c->len[0] == 0; i++)
		(void)drv_pump(d, 50);
	ms = drv_stop(d);
	say(ms >= 0, "ALLOWED", "gone-with-the-executor", "%d ms", ms);
	(void)fprintf(stderr, "gone with the executor: %d ms\n", ms);
}

/* A request that is none ends init; so do descriptors that were not announced */
static void nonsense(int argc, char *argv[])
{
	static struct drv d;
	const struct init_req q = { .type = INIT_REQ_STATS, .id = 1 };
	int zero = 0;

	drv_start(&d, argc, argv);
	(void)send(d.sb.ctl, "nonsense", 8, MSG_NOSIGNAL);
	while (drv_pump(&d, 1000))
		;
	say(d.dead && drv_stop(&d) >= 0, "ALLOWED", "nonsense-ends-it", "still there");
	drv_start(&d, argc, argv);
	(void)drv_send(&d, &q, &zero, 1);
	while (drv_pump(&d, 1000))
		;
	say(d.dead && drv_stop(&d) >= 0, "ALLOWED", "descriptors-not-announced-end-it", "still there");
}

int main(int argc, char *argv[])
{
	const char *many = getenv("MANY");
	static struct drv d;

	drv_start_with(&d, argc - 1, argv + 1, getenv("LATE") != NULL, false);
	basics(&d);
	environment(&d);
	large(&d);
	descriptors(&d);
	limits(&d);
	/* what says nothing new under other filters and without a protection, and takes long */
	if (getenv("FEW")) {
		end_of_file(&d);
		return 0;
	}
	terminal(&d);
	ends_together(&d);
	no_reader(&d);
	parallel(&d);
	thousands(&d, many ? (unsigned)strtoul(many, NULL, 10) : MANY);
	say(d.bad == 0, "ALLOWED", "every-message-was-expected", "%zu were not", d.bad);
	end_of_file(&d);
	nonsense(argc - 1, argv + 1);
	return 0;
}
