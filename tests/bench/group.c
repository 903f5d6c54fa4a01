/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a group costs, step by step, with ak's own functions: look for the place, take it and make the group; a process born in it
 * against a plain one, in turns; read and remove. Usage: group PLACE [ROUNDS]; AK_CGROUP is not read. Prints medians in us.
 */
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/cgroup.h"
#include "executor/ns/cgroup_find.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

#define ROUNDS_MAX 20000

enum { LOOK, MAKE, PLAIN, BORN, AWAY, STEPS };

static double us[STEPS][ROUNDS_MAX];

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double since(uint64_t start)
{
	return (double)(ak_now_ns() - start) / 1000;
}

/* from clone3 until the child has run and is waited for */
static double birth(int cgroup)
{
	struct clone_args a = { .exit_signal = SIGCHLD };
	uint64_t start = ak_now_ns();
	long pid;

	if (cgroup >= 0) {
		a.flags = CLONE_INTO_CGROUP;
		a.cgroup = (uint64_t)cgroup;
	}
	pid = syscall(SYS_clone3, &a, sizeof(a));
	if (pid == 0)
		_exit(0);
	if (pid < 0) {
		perror("clone3");
		exit(1);
	}
	while (waitpid((pid_t)pid, NULL, 0) < 0)
		;
	return since(start);
}

static int once(const char *place_path, int i)
{
	const struct cgroup_limits limits = { .memory_bytes = 512u << 20, .pids = 257, .cpu_milli = 1000 };
	struct cgroup_search s = { .given = place_path, .root = geteuid() == 0, .want = CGROUP_ALL };
	struct cgroup_place place = CGROUP_PLACE_NONE;
	struct cgroup g = CGROUP_NONE;
	struct cgroup_usage u;
	struct ak_err err = { 0 };
	uint64_t start = ak_now_ns();

	if (cgroup_look(&s, &err) < 0 || cgroup_take(&s, &place, &err) != 1) {
		fprintf(stderr, "%s\n", err.msg[0] ? err.msg : s.why);
		return -1;
	}
	us[LOOK][i] = since(start);
	start = ak_now_ns();
	if (cgroup_make(place.dir, place.have, &limits, &g, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return -1;
	}
	us[MAKE][i] = since(start);
	us[i & 1 ? PLAIN : BORN][i] = birth(i & 1 ? -1 : g.dir);
	us[i & 1 ? BORN : PLAIN][i] = birth(i & 1 ? g.dir : -1);
	start = ak_now_ns();
	cgroup_usage(&g, &u);
	(void)cgroup_remove(&g);
	(void)cgroup_place_leave(&place);
	us[AWAY][i] = since(start);
	cgroup_search_release(&s);
	return 0;
}

int main(int argc, char *argv[])
{
	static const char *const names[] = { "look for and take the place", "make the group", "a plain process", "a process born in it",
					     "read and remove" };
	uint64_t rounds = 2000;
	double median[STEPS];
	int n;

	if (argc < 2 || (argc > 2 && ak_parse_u64(argv[2], 1, ROUNDS_MAX, &rounds) < 0)) {
		fprintf(stderr, "usage: group PLACE [ROUNDS]\n");
		return 2;
	}
	n = (int)rounds;
	for (int i = 0; i < n; i++)
		if (once(argv[1], i) < 0)
			return 1;
	for (int k = 0; k < STEPS; k++) {
		qsort(us[k], (size_t)n, sizeof(us[k][0]), by_value);
		median[k] = us[k][n / 2];
		printf("%-28s median %8.1f p10 %8.1f us\n", names[k], median[k], us[k][n / 10]);
	}
	printf("create and enter = %.3f ms (wanted: at most 0.3)\n",
	       (median[LOOK] + median[MAKE] + median[BORN] - median[PLAIN]) / 1000);
	return 0;
}
