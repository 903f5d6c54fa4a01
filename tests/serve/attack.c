/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that try to outlive their call, to break what keeps them, or to keep the next one from running. The tricks are programs
 * of this file, run inside by its own binary: serve/attack [EXEC OPTIONS] (the binary must lie in the workspace)
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/shared/ak_clock.h"
#include "tests/serve/say.h"

/* ---- tricks: run inside ---- */

static int forever(void)
{
	while (pause() != 0)
		;
	return 0;
}

/* A daemon, away from its group and session, that ignores what can be ignored and holds stdout */
static int trick_daemon(void)
{
	for (int n = 1; n < 65; n++)
		(void)signal(n, SIG_IGN);
	if (fork() == 0 && setsid() > 0 && fork() == 0)
		return forever();
	return 0;
}

static int trick_stopped(void)
{
	if (fork() == 0 && setsid() > 0) {
		(void)raise(SIGSTOP);
		return forever();
	}
	return 0;
}

/* It forks and exits, and so does its child, and so on: nobody stays where he was seen */
static int trick_chain(void)
{
	if (fork() == 0) {
		(void)setsid();
		for (;;) {
			if (fork() != 0)
				_exit(0);
		}
	}
	return 0;
}

static int trick_bomb(void)
{
	if (fork() == 0) {
		(void)setsid();
		for (;;) {
			if (fork() == 0)
				(void)setsid();
		}
	}
	(void)usleep(300000);
	return 0;
}

/* Orphans gather below a process that says it is a reaper itself */
static int trick_subreaper(void)
{
	if (fork() == 0) {
		(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
		for (int i = 0; i < 5; i++) {
			if (fork() == 0) {
				if (setsid() > 0 && fork() == 0)
					return forever();
				_exit(0);
			}
		}
		return forever();
	}
	return 0;
}

static void *thread(void *arg)
{
	(void)arg;
	(void)forever();
	return NULL;
}

/* Shown as a zombie, yet a thread of it runs */
static int trick_zombie(void)
{
	if (fork() == 0) {
		pthread_t t;

		(void)setsid();
		(void)pthread_create(&t, NULL, thread, NULL);
		pthread_exit(NULL);
	}
	(void)usleep(100000);
	return 0;
}

/* A name that looks like the fields behind it */
static int trick_name(void)
{
	if (fork() == 0) {
		(void)setsid();
		(void)prctl(PR_SET_NAME, ") S 1 1 (", 0, 0, 0);
		return forever();
	}
	return 0;
}

static int trick_grandchild(void)
{
	/* dies last: the parents end one after the other while we are looked for */
	for (int i = 0; i < 40; i++) {
		if (fork() == 0) {
			(void)setsid();
			(void)usleep((unsigned)(40 - i) * 500);
			continue;
		}
		_exit(0);
	}
	return forever();
}

static bool traced(pid_t pid)
{
	char path[64], buf[2048], *at;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	(void)close(fd);
	if (n <= 0)
		return false;
	buf[n] = 0;
	at = strstr(buf, "TracerPid:\t");
	return at && at[11] != '0';
}

/* It leaves a child that a process of another command traces: when it is dead, only the tracer can make it go */
static int trick_held(void)
{
	char name[64];
	pid_t pid = fork();

	if (pid == 0) {
		(void)setsid();
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		(void)snprintf(name, sizeof(name), "held.%d", getpid());
		(void)close(open(name, O_CREAT | O_WRONLY, 0600));
		return forever();
	}
	for (int i = 0; i < 2000 && !traced(pid); i++)
		(void)usleep(10000);
	return !traced(pid);
}

/* Takes hold of all of them, and never asks how they are */
static int trick_holder(void)
{
	while (getppid() > 0) {
		DIR *d = opendir(".");
		struct dirent *e;

		while (d && (e = readdir(d))) {
			if (strncmp(e->d_name, "held.", 5) != 0)
				continue;
			(void)ptrace(PTRACE_SEIZE, (pid_t)strtol(e->d_name + 5, NULL, 10), NULL, NULL);
			(void)unlink(e->d_name);
		}
		if (d)
			(void)closedir(d);
		(void)usleep(10000);
	}
	return 1;
}

static int peek(const char *what)
{
	char path[64], buf[64];
	pid_t keeper = getppid();
	const pid_t whom[] = { 1, keeper };
	int open_to_us = 0;

	for (int i = 0; i < 2; i++) {
		int fd;

		(void)snprintf(path, sizeof(path), "/proc/%d/%s", whom[i], what);
		fd = open(path, O_RDONLY);
		if (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
			open_to_us = 1;
		if (strcmp(what, "ptrace") == 0 && ptrace(PTRACE_SEIZE, whom[i], NULL, NULL) == 0)
			open_to_us = 1;
	}
	return open_to_us;
}

static int trick(const char *name)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} tricks[] = {
		{ "daemon", trick_daemon },	  { "stopped", trick_stopped }, { "chain", trick_chain },   { "bomb", trick_bomb },
		{ "subreaper", trick_subreaper }, { "zombie", trick_zombie },	{ "name", trick_name },	    { "grandchild", trick_grandchild },
		{ "held", trick_held },		  { "holder", trick_holder },
	};

	for (size_t i = 0; i < sizeof(tricks) / sizeof(tricks[0]); i++) {
		if (strcmp(name, tricks[i].name) == 0)
			return tricks[i].run();
	}
	return peek(name);
}

/* ---- outside ---- */

static uint32_t processes(struct drv *d)
{
	/* spares come and go; what is left must come down to them and to keepers that wait */
	(void)drv_settle(d);
	return d->stats.processes;
}

static void next_works(struct drv *d, const char *name)
{
	char text[128];
	uint32_t n = processes(d);
	struct call *c = drv_sh(d, "echo fine");

	(void)snprintf(text, sizeof(text), "%s-nothing-left", name);
	say(n <= 1 + 3 * AK_INIT_SPARES, "BLOCKED", text, "%u processes", n);
	(void)snprintf(text, sizeof(text), "%s-none-seen", name);
	want(drv_sh(d, "cat /proc/[0-9]*/comm | grep -cx -e attack -e sleep"), text, 1, "0\n");
	(void)snprintf(text, sizeof(text), "%s-next-works", name);
	want(c, text, 0, "fine\n");
}

/* The call ends at once with its own code, its flag says what was swept, nothing stays */
static void outlive(struct drv *d, const char *name)
{
	char text[128];
	const char *argv[] = { "./attack", "--trick", name, NULL };
	const uint64_t from = ak_now_ns();
	struct call *c = drv_run(d, &(struct spec){ .argv = argv });
	const double ms = (double)(ak_now_ns() - from) / 1e6;

	(void)snprintf(text, sizeof(text), "%s-is-ended", name);
	/* on a machine that is busy it may take longer than init waits with the result, which says so then; it ends all the same */
	say(drv_code(c) == 0 && (c->end.flags & INIT_EXITED_SWEPT) && (ms > 1500 || !(c->end.flags & INIT_EXITED_LEFT)) && ms < 30000, "BLOCKED", text,
	    "code %d, flags %x, %.0f ms", drv_code(c), c->end.flags, ms);
	(void)fprintf(stderr, "%s: %.0f ms\n", name, ms);
	drv_free(c);
	next_works(d, name);
}

static void killed(struct drv *d, const char *name, const char *text_inside)
{
	const char *argv[] = { "sh", "-c", text_inside, NULL };
	struct call *c = drv_exec(d, &(struct spec){ .argv = argv });
	char text[128];
	uint64_t from;
	double ms;

	for (int i = 0; i < 600 && c->len[0] == 0; i++)
		(void)drv_pump(d, 50);
	(void)usleep(100000);	/* so that it gets a little further */
	from = ak_now_ns();
	(void)drv_send(d, &(struct init_req){ .type = INIT_REQ_KILL, .id = c->id }, NULL, 0);
	(void)drv_wait(d, c, 30000);
	ms = (double)(ak_now_ns() - from) / 1e6;
	(void)snprintf(text, sizeof(text), "%s-killed", name);
	say(drv_code(c) == 137 && (c->end.flags & INIT_EXITED_KILLED) && ms < 30000, "BLOCKED", text, "code %d, flags %x, %.0f ms", drv_code(c),
	    c->end.flags, ms);
	drv_free(c);
	next_works(d, text);
}

static void signals(struct drv *d)
{
	const char *argv[] = { "sh", "-c", "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.05; done", NULL };
	struct call *c = drv_exec(d, &(struct spec){ .argv = argv });

	while (c->len[0] == 0 && drv_pump(d, 100))
		;
	(void)drv_send(d, &(struct init_req){ .type = INIT_REQ_SIGNAL, .id = c->id, .signo = SIGTERM }, NULL, 0);
	(void)drv_wait(d, c, 30000);
	want(c, "signal-reaches-the-group", 5, "up\nbye\n");
	c = drv_exec(d, &(struct spec){ .argv = (const char *const[]){ "sh", "-c", "kill -STOP $$; exit 6", NULL } });
	(void)usleep(200000);
	(void)drv_send(d, &(struct init_req){ .type = INIT_REQ_SIGNAL, .id = c->id, .signo = SIGTERM }, NULL, 0);
	(void)drv_wait(d, c, 30000);
	want(c, "signal-ends-a-stopped-one", 143, "");
	(void)drv_send(d, &(struct init_req){ .type = INIT_REQ_SIGNAL, .id = 4000000000u, .signo = SIGTERM }, NULL, 0);
	want(drv_sh(d, "echo fine"), "signal-to-nobody-is-nothing", 0, "fine\n");
}

/* What keeps the commands can be attacked by them, as they have its uid; the sandbox lives on, and the result says so */
static void keepers(struct drv *d)
{
	static const char stop_all[] = "i=0; while [ $((i+=1)) -lt 60 ]; do for p in /proc/[0-9]*; do q=${p#/proc/}; test $q = $$ || kill -STOP $q; done 2>/dev/null; done; echo done; sleep 300";
	struct call *c = drv_sh(d, "setsid sh -c 'sleep 300 & sleep 300' & kill -9 $PPID; sleep 5; echo not reached");

	say(drv_code(c) == 137 && (c->end.flags & INIT_EXITED_LOST) && c->len[0] == 0, "BLOCKED", "keeper-killed-is-told", "code %d, flags %x, out %s",
	    drv_code(c), c->end.flags, c->data[0]);
	drv_free(c);
	next_works(d, "keeper-killed");
	c = drv_sh(d, "kill -9 -1; sleep 5");
	say(drv_code(c) == 137, "BLOCKED", "everybody-killed-is-told", "code %d", drv_code(c));
	drv_free(c);
	next_works(d, "everybody-killed");
	c = drv_exec(d, &(struct spec){ .argv = (const char *const[]){ "sh", "-c", stop_all, NULL } });
	say(drv_file(d, (struct init_req){ .op = INIT_FILE_STAT, .path = "." }, -1) == 0, "ALLOWED", "everybody-stopped-files-work", "%s", d->file_text);
	while (c->len[0] == 0 && drv_pump(d, 100))
		;
	want(drv_sh(d, "echo fine"), "everybody-stopped-another-works", 0, "fine\n");
	(void)drv_send(d, &(struct init_req){ .type = INIT_REQ_KILL, .id = c->id }, NULL, 0);
	(void)drv_wait(d, c, 30000);
	say(drv_code(c) == 137, "BLOCKED", "who-stops-everybody-is-killed", "code %d", drv_code(c));
	drv_free(c);
	next_works(d, "everybody-stopped");
	killed(d, "keeper-stopped", "echo up; kill -STOP $PPID; sleep 300");
	for (int i = 0; i < 3; i++)
		drv_free(drv_sh(d, "for n in 1 2 3 4 5 6 10 12 13 15 17 34 64; do kill -$n 1 $PPID; kill -$n -1; done 2>/dev/null"));
	next_works(d, "all-signals");
}

/* Their processes cannot be ended while somebody holds them. That is told in time, and costs the sandbox no place for a command */
static void held_round(struct drv *d, unsigned *ret_left, unsigned *ret_wrong)
{
	const char *const held[] = { "./attack", "--trick", "held", NULL }, *const holder[] = { "./attack", "--trick", "holder", NULL };
	struct call *c[40], *h = drv_exec(d, &(struct spec){ .argv = holder });

	for (unsigned i = 0; i < 40; i++)
		c[i] = drv_exec(d, &(struct spec){ .argv = held });
	for (unsigned i = 0; i < 40; i++) {
		(void)drv_wait(d, c[i], 60000);
		*ret_left += drv_code(c[i]) == 0 && (c[i]->end.flags & INIT_EXITED_LEFT);
		*ret_wrong += drv_code(c[i]) != 0;
		drv_free(c[i]);
	}
	(void)drv_send(d, &(struct init_req){ .type = INIT_REQ_KILL, .id = h->id }, NULL, 0);
	(void)drv_wait(d, h, 20000);
	drv_free(h);
}

static void held(struct drv *d)
{
	unsigned left = 0, wrong = 0;

	held_round(d, &left, &wrong);
	say(left == 40 && wrong == 0, "ALLOWED", "what-cannot-be-ended-is-told", "%u of 40, %u wrong", left, wrong);
	next_works(d, "held");
	held_round(d, &left, &wrong);
	say(left == 80 && wrong == 0, "ALLOWED", "what-could-not-be-ended-takes-no-place", "%u of 80, %u wrong", left, wrong);
	next_works(d, "held-again");
}

static void peeking(struct drv *d)
{
	static const char *const what[] = { "mem", "environ", "maps", "auxv", "ptrace" };
	char name[64];

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		const char *argv[] = { "./attack", "--trick", what[i], NULL };
		struct call *c = drv_run(d, &(struct spec){ .argv = argv });

		(void)snprintf(name, sizeof(name), "init-and-keeper-%s", what[i]);
		say(drv_code(c) == 0, "BLOCKED", name, "code %d", drv_code(c));
		drv_free(c);
	}
}

/* A job fills the limit of processes between calls: the next call runs or is refused in clear words; when the job is ended all is well */
static void fill_limit(struct drv *d)
{
	const char *argv[] = { "bash", "-c", "while :; do sleep 300 & done 2>/dev/null", NULL };
	struct call *job = drv_exec(d, &(struct spec){ .argv = argv }), *c;
	bool good = true;
	int ran = 0, refused = 0;

	(void)usleep(1500000);
	for (int i = 0; i < 6; i++) {
		c = drv_run(d, &(struct spec){ .argv = (const char *const[]){ "/bin/true", NULL } });
		good &= drv_code(c) == 0 || (drv_code(c) == 1125 && strstr(c->text, "limit of processes"));
		if (drv_code(c) == 0)
			ran++;
		else
			refused++;
		if (!good)
			(void)fprintf(stderr, "fill: %d %s\n", drv_code(c), c->text);
		drv_free(c);
	}
	say(good && ran > 0, "BLOCKED", "limit-filled-by-a-job", "ran %d, refused %d", ran, refused);
	(void)fprintf(stderr, "limit filled: ran %d, refused %d\n", ran, refused);
	(void)drv_send(d, &(struct init_req){ .type = INIT_REQ_KILL, .id = job->id }, NULL, 0);
	(void)drv_wait(d, job, 60000);
	say(drv_code(job) == 137, "BLOCKED", "job-at-the-limit-killed", "code %d", drv_code(job));
	drv_free(job);
	next_works(d, "limit-filled");
}

/* init has the address space of nobody: a command that is ended for its memory takes no other along */
static void memory(struct drv *d)
{
	const struct init_rlimit as[] = { { 9 /* RLIMIT_AS */, 64u << 20, 64u << 20 } };
	const char *argv[] = { "sh", "-c", "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done", NULL };
	struct call *c = drv_run(d, &(struct spec){ .argv = argv, .rlimits = as, .nrlimits = 1 });

	say(c && c->done && drv_code(c) != 0, "BLOCKED", "memory-exhausted", "code %d", drv_code(c));
	drv_free(c);
	next_works(d, "memory-exhausted");
}

int main(int argc, char *argv[])
{
	static const char *const names[] = { "daemon", "stopped", "chain", "subreaper", "zombie", "name", "grandchild", "bomb" };
	static struct drv d;

	if (argc == 3 && strcmp(argv[1], "--trick") == 0)
		return trick(argv[2]);
	drv_start(&d, argc - 1, argv + 1);
	want(drv_sh(&d, "echo fine"), "before", 0, "fine\n");
	if (getenv("FEW")) {	/* for the controls, which must not let a bomb live */
		outlive(&d, "daemon");
		peeking(&d);
		return drv_stop(&d) < 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		outlive(&d, names[i]);
	signals(&d);
	killed(&d, "tree", "echo up; trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM; sleep 300' & (setsid sleep 300 &) ; sleep 300");
	killed(&d, "bomb", "echo up; sleep 300 & ./attack --trick bomb; wait");
	killed(&d, "stopped", "echo up; kill -STOP $$");
	keepers(&d);
	held(&d);
	peeking(&d);
	fill_limit(&d);
	memory(&d);
	say(d.bad == 0, "ALLOWED", "every-message-was-expected", "%zu were not", d.bad);
	say(drv_stop(&d) >= 0, "ALLOWED", "stopped", "it was not");
	return 0;
}
