/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times commands against each other: every round starts each of them once, in turning order, so that all see
 *the same machine. Time is CLOCK_MONOTONIC from posix_spawn to the end of wait4; with -p also of everything
 *read from the command's stdout. lat [-n ROUNDS] [-w WARM-UP] [-f FILE] [-p] [-j] NAME CMD ARG... [::: NAME
 *CMD ARG...]... -f FILE	is open for reading as descriptor 9 of each command (bwrap --seccomp 9) One
 *line a command: name, median, p10, p90, least (ms), ratio of the median to the first command's, failures,
 *peak RSS (kB).
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CMDS_MAX 16
#define ROUNDS_MAX 10000
#define FILTER_FD 9

extern char **environ;

struct cmd {
	char *name;
	char **argv;
	double *ms;
	long failures;
	long rss_kb;
};

struct bench {
	struct cmd cmds[CMDS_MAX];
	int ncmds;
	int rounds, warm;
	const char *filter;
	bool pipe, json;
	char *buf;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void drain(struct bench *b, int fd)
{
	while (read(fd, b->buf, 1 << 20) > 0)
		;
}

/* one start; Return: ms, or -1 on a failure of the command */
static double once(struct bench *b, struct cmd *c)
{
	posix_spawn_file_actions_t fa;
	int out[2] = {-1, -1}, st = 0, filter = -1;
	struct rusage ru;
	pid_t pid;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	if (b->pipe && !pipe2(out, O_CLOEXEC))
		posix_spawn_file_actions_adddup2(&fa, out[1], 1);
	else
		posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	if (b->filter) {
		filter = open(b->filter, O_RDONLY | O_CLOEXEC);
		posix_spawn_file_actions_adddup2(&fa, filter, FILTER_FD);
	}
	double start = now_ms();
	int err = posix_spawnp(&pid, c->argv[0], &fa, NULL, c->argv, environ);
	if (b->pipe) {
		close(out[1]);
		drain(b, out[0]);
	}
	while (!err && wait4(pid, &st, 0, &ru) < 0 && errno == EINTR)
		;
	double ms = now_ms() - start;
	if (b->pipe)
		close(out[0]);
	if (filter >= 0)
		close(filter);
	posix_spawn_file_actions_destroy(&fa);
	if (err || st)
		return -1;
	if (ru.ru_maxrss > c->rss_kb)
		c->rss_kb = ru.ru_maxrss;
	return ms;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double at(const struct cmd *c, int n, double q)
{
	int i = (int)(q * (n - 1) + 0.5);

	return n ? c->ms[i] : 0;
}

static void run(struct bench *b)
{
	for (int r = -b->warm; r < b->rounds; r++) {
		for (int i = 0; i < b->ncmds; i++) {
			struct cmd *c =
				&b->cmds[(i + (r & 1 ? b->ncmds - 1 - 2 * i : 0) + b->ncmds) % b->ncmds];
			double ms = once(b, c);

			usleep(2000);
			if (r < 0)
				continue;
			if (ms < 0)
				c->failures++;
			else
				c->ms[r - c->failures] = ms;
		}
	}
}

static void print(struct bench *b)
{
	double first = 0;

	for (int i = 0; i < b->ncmds; i++) {
		struct cmd *c = &b->cmds[i];
		int n = b->rounds - (int)c->failures;

		qsort(c->ms, n, sizeof(*c->ms), by_value);
		if (i == 0)
			first = at(c, n, 0.5);
		double ratio = first > 0 ? at(c, n, 0.5) / first : 0;
		printf(b->json ? "{\"name\":\"%s\",\"median_ms\":%.3f,\"p10_ms\":%.3f,\"p90_ms\":%.3f,\"min_"
				 "ms\":%.3f,\"ratio\":%.3f,"
				 "\"failures\":%ld,\"rss_kb\":%ld}\n"
			       : "%-10s median %.3f p10 %.3f p90 %.3f min %.3f ms  x%.3f  failures %ld  rss "
				 "%ld kB\n",
		       c->name, at(c, n, 0.5), at(c, n, 0.1), at(c, n, 0.9), at(c, n, 0), ratio, c->failures,
		       c->rss_kb);
	}
}

static int usage(void)
{
	fprintf(stderr,
		"usage: lat [-n ROUNDS] [-w WARM-UP] [-f FILE] [-p] [-j] NAME CMD... [::: NAME CMD...]...\n");
	return 2;
}

/* split the rest of the command line at ":::" */
static bool take_commands(struct bench *b, char **argv)
{
	while (*argv) {
		if (b->ncmds == CMDS_MAX || !argv[1])
			return false;
		b->cmds[b->ncmds++] = (struct cmd){
			.name = argv[0], .argv = argv + 1, .ms = calloc(b->rounds, sizeof(double))};
		while (*argv && strcmp(*argv, ":::"))
			argv++;
		if (*argv)
			*argv++ = NULL;
	}
	return b->ncmds > 0;
}

int main(int argc, char **argv)
{
	struct bench b = {.rounds = 80, .warm = 5};
	int opt;

	while ((opt = getopt(argc, argv, "+n:w:f:pj")) != -1) {
		switch (opt) {
		case 'n':
			b.rounds = (int)strtol(optarg, NULL, 10);
			break;
		case 'w':
			b.warm = (int)strtol(optarg, NULL, 10);
			break;
		case 'f':
			b.filter = optarg;
			break;
		case 'p':
			b.pipe = true;
			break;
		case 'j':
			b.json = true;
			break;
		default:
			return usage();
		}
	}
	if (b.rounds < 1 || b.rounds > ROUNDS_MAX || b.warm < 0 || !take_commands(&b, argv + optind))
		return usage();
	b.buf = malloc(1 << 20);
	run(&b);
	print(&b);
	return 0;
}
