/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one call many times: what a call costs under filters, and what a flood of refused ones does.
 * usage: loop getppid|openat|keyctl COUNT [THREADS]; prints "CALL COUNT ns NS wrong WRONG": the time of one call, and how often the
 * answer was not what it has to be (EPERM for keyctl, success for the others). loop foreign: one call of another architecture.
 * Privilege: none.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64

static const struct call {
	const char *name;
	int nr;
	int want; /* errno; 0: success */
} calls[] = {
	{ "getppid", SYS_getppid, 0 },
	{ "openat", SYS_openat, 0 },
	{ "keyctl", SYS_keyctl, EPERM },
};

struct job {
	pthread_t thread;
	const struct call *call;
	unsigned long count, wrong;
};

static long once(const struct call *c)
{
	long r;

	if (c->nr == SYS_openat) {
		r = syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (r >= 0)
			close((int)r);
		return r;
	}
	return syscall(c->nr, -1);
}

static void *run(void *arg)
{
	struct job *j = arg;

	for (unsigned long i = 0; i < j->count; i++) {
		long r = once(j->call);

		j->wrong += j->call->want ? r != -1 || errno != j->call->want : r < 0;
	}
	return NULL;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* getpid(2) as programs of the x32 ABI call it; returns only where nothing is filtered */
static int foreign(void)
{
#if defined(__x86_64__)
	printf("foreign %ld\n", syscall(SYS_getpid | 0x40000000));
	return 0;
#else
	printf("no such call here\n");
	return 77;
#endif
}

static int usage(void)
{
	fprintf(stderr, "usage: loop getppid|openat|keyctl COUNT [THREADS] | foreign\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct job jobs[THREADS_MAX];
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, wrong = 0;
	size_t threads = argc > 3 ? strtoul(argv[3], NULL, 10) : 1, c = 0;
	double start;

	if (argc == 2 && strcmp(argv[1], "foreign") == 0)
		return foreign();
	while (argc > 1 && c < sizeof(calls) / sizeof(calls[0]) && strcmp(calls[c].name, argv[1]) != 0)
		c++;
	if (argc < 3 || argc > 4 || c == sizeof(calls) / sizeof(calls[0]) || !count || !threads || threads > THREADS_MAX)
		return usage();
	start = now_ns();
	for (size_t i = 0; i < threads; i++) {
		jobs[i] = (struct job){ .call = &calls[c], .count = count / threads };
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]) != 0) {
			perror("pthread_create");
			return 1;
		}
	}
	for (size_t i = 0; i < threads; i++) {
		pthread_join(jobs[i].thread, NULL);
		wrong += jobs[i].wrong;
	}
	printf("%s %lu ns %.1f wrong %lu\n", calls[c].name, count / threads * threads, (now_ns() - start) / (double)(count / threads * threads), wrong);
	return wrong != 0;
}
