// SPDX-License-Identifier: Apache-2.0
// What the suites of the test machine run inside and outside of sandboxes: programs that use up memory, processes and time,
// and a reader of results. Emulation is slow, so these are one small static program instead of scripts. Every bomb ends by itself.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (1u << 20)
#define BOMB_MAX_S 300u /* no bomb lives longer; far longer than any test waits for it to be gone */

static _Noreturn void die(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void nap(double s)
{
	struct timespec t = {.tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9)};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static long number(const char *s)
{
	return strtol(s, NULL, 10);
}

static size_t size_of(const char *s)
{
	char *end;
	size_t n = strtoull(s, &end, 10);

	return *end == 'g' ? n << 30 : *end == 'm' ? n << 20 : *end == 'k' ? n << 10 : n;
}

static void touch_pages(char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 4096)
		p[i] = 1;
}

/* mem SIZE [SECONDS]: use memory, hold it, end well */
static int do_mem(char **a)
{
	size_t n = size_of(a[0]);
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	touch_pages(p, n);
	printf("got %zu\n", n);
	fflush(stdout);
	if (a[1])
		nap(atof(a[1]));
	return 0;
}

static int write_all(int fd, size_t n)
{
	static char block[BLOCK];
	size_t done = 0;

	while (done < n) {
		ssize_t w = write(fd, block, n - done < BLOCK ? n - done : BLOCK);

		if (w < 0) {
			printf("wrote %zu: %s\n", done, strerror(errno));
			return 1;
		}
		done += (size_t)w;
	}
	printf("wrote %zu\n", done);
	return 0;
}

/* fill FILE SIZE: write a file, then read it back */
static int do_fill(char **a)
{
	static char block[BLOCK];
	int fd = open(a[0], O_CREAT | O_TRUNC | O_RDWR, 0600);
	size_t got = 0;
	ssize_t r;

	if (fd < 0)
		die(a[0]);
	if (write_all(fd, size_of(a[1])) || lseek(fd, 0, SEEK_SET))
		return 1;
	while ((r = read(fd, block, BLOCK)) > 0)
		got += (size_t)r;
	printf("read %zu\n", got);
	return got != size_of(a[1]);
}

/* memfd SIZE: memory that no process has mapped */
static int do_memfd(char **a)
{
	int fd = memfd_create("bomb", MFD_CLOEXEC);

	if (fd < 0)
		die("memfd_create");
	return write_all(fd, size_of(a[0]));
}

/* sysv SIZE: a System V segment, left behind on purpose */
static int do_sysv(char **a)
{
	size_t n = size_of(a[0]);
	int id = shmget(IPC_PRIVATE, n, IPC_CREAT | 0600);
	char *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	if (p == (void *)-1)
		die("shm");
	touch_pages(p, n);
	printf("got %zu\n", n);
	return 0;
}

/* forks N [SECONDS]: start sleeping children until N are there or the kernel refuses */
static int do_forks(char **a)
{
	long n = number(a[0]), i;
	double s = a[1] ? atof(a[1]) : 0;

	for (i = 0; i < n; i++) {
		pid_t p = fork();

		if (p < 0)
			break;
		if (p == 0) {
			nap(s + BOMB_MAX_S);
			_exit(0);
		}
	}
	printf("forked %ld: %s\n", i, i < n ? strerror(errno) : "all");
	fflush(stdout);
	nap(s);
	return 0;
}

/* bomb SECONDS: every process forks as fast as it can, in sessions of their own; the first one ends after SECONDS */
static int do_bomb(char **a)
{
	pid_t first = getpid();
	double end = now() + atof(a[0]), last = now() + BOMB_MAX_S;

	signal(SIGTERM, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	while (now() < (getpid() == first ? end : last)) {
		pid_t p = fork();

		if (p == 0)
			setsid();
		else if (p < 0)
			sched_yield();
	}
	return 0;
}

/* forkrate N: how many of N children could be started one after the other, as somebody else on the machine would */
static int do_forkrate(char **a)
{
	long n = number(a[0]), good = 0;

	for (long i = 0; i < n; i++) {
		pid_t p = fork();

		if (p == 0)
			_exit(0);
		if (p > 0 && waitpid(p, NULL, 0) == p)
			good++;
	}
	printf("%ld of %ld\n", good, n);
	return good != n;
}

static double busy_until;

static void *busy(void *arg)
{
	while (now() < busy_until)
		;
	return arg;
}

/* spin THREADS SECONDS: busy threads of one process */
static int do_spin(char **a)
{
	pthread_t t;
	struct rusage u;
	double start = now();

	busy_until = start + atof(a[1]);
	for (int i = 1; i < number(a[0]); i++)
		if (pthread_create(&t, NULL, busy, NULL))
			die("pthread_create");
	busy(NULL);
	getrusage(RUSAGE_SELF, &u);
	double cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	printf("percent %.0f\n", 100 * cpu / (now() - start));
	return 0;
}

/* spinproc CHILDREN SECONDS: busy children of one process, which waits for them */
static int do_spinproc(char **a)
{
	long n = number(a[0]);

	busy_until = now() + atof(a[1]);
	for (int i = 0; i < n; i++) {
		pid_t p = fork();

		if (p < 0)
			die("fork");
		if (p == 0) {
			busy(NULL);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

/* crash [SIGNAL]: as a faulty program does, with the largest core limit it can get */
static int do_crash(char **a)
{
	int sig = a[0] ? (int)number(a[0]) : SIGSEGV;
	struct rlimit l;

	getrlimit(RLIMIT_CORE, &l);
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_CORE, &l);
	l.rlim_cur = l.rlim_max = RLIM_INFINITY;
	setrlimit(RLIMIT_CORE, &l);
	kill(getpid(), sig);
	return 0;
}

/* inodes FOLDER MAX: empty files until the kernel refuses */
static int do_inodes(char **a)
{
	char name[4096];

	for (long i = 0; i < number(a[1]); i++) {
		snprintf(name, sizeof(name), "%s/f%ld", a[0], i);
		int fd = open(name, O_CREAT | O_WRONLY, 0600);

		if (fd < 0) {
			printf("made %ld: %s\n", i, strerror(errno));
			return 0;
		}
		close(fd);
	}
	printf("made all\n");
	return 0;
}

/* ---- js FILE KEY...: one value of a JSON document; strings without quotes, everything else as it stands ---- */
static const char *skip_ws(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

static const char *skip_value(const char *p);

static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

static const char *skip_group(const char *p)
{
	for (p = skip_ws(p + 1); *p && *p != '}' && *p != ']'; p = skip_ws(p))
		p = *p == ',' || *p == ':' ? p + 1 : skip_value(p);
	return *p ? p + 1 : p;
}

static const char *skip_value(const char *p)
{
	p = skip_ws(p);
	if (*p == '"')
		return skip_string(p);
	if (*p == '{' || *p == '[')
		return skip_group(p);
	return p + strcspn(p, ",]} \t\r\n");
}

static const char *member(const char *p, const char *key)
{
	size_t n = strlen(key);

	p = skip_ws(p);
	if (*p != '{')
		return NULL;
	for (p = skip_ws(p + 1); *p == '"'; p = skip_ws(p)) {
		const char *name = p + 1, *end = skip_string(p);
		int found = (size_t)(end - name) == n + 1 && memcmp(name, key, n) == 0;

		p = skip_ws(end);
		if (*p != ':')
			return NULL;
		p = skip_ws(p + 1);
		if (found)
			return p;
		p = skip_ws(skip_value(p));
		if (*p == ',')
			p++;
	}
	return NULL;
}

static int do_js(char **a)
{
	static char text[BLOCK];
	int fd = open(a[0], O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *p = text, *end;

	if (n < 0)
		die(a[0]);
	for (a++; *a && p; a++)
		p = member(p, *a);
	if (!p || !*p) {
		puts("(no such key)");
		return 1;
	}
	end = skip_value(p);
	if (*p == '"')
		printf("%.*s\n", (int)(end - p - 2), p + 1);
	else
		printf("%.*s\n", (int)(end - p), p);
	return 0;
}

/* log WORD...: a core handler; appends its arguments to /run/core.log */
static int do_log(char **a)
{
	int fd = open("/run/core.log", O_CREAT | O_APPEND | O_WRONLY, 0600);

	for (; *a; a++)
		dprintf(fd, "%s ", *a);
	dprintf(fd, "\n");
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **a);
} commands[] = {
	{"mem", 1, do_mem}, {"fill", 2, do_fill}, {"memfd", 1, do_memfd}, {"sysv", 1, do_sysv},
	{"forks", 1, do_forks}, {"bomb", 1, do_bomb}, {"forkrate", 1, do_forkrate}, {"spin", 2, do_spin},
	{"spinproc", 2, do_spinproc}, {"crash", 0, do_crash}, {"inodes", 2, do_inodes}, {"js", 1, do_js}, {"log", 0, do_log},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0 && argc - 2 >= commands[i].args)
			return commands[i].run(argv + 2);
	fprintf(stderr, "vmtool: unknown command or too few arguments\n");
	return 2;
}
