/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command in a running sandbox costs: request to EXITED, against fork + exec + wait of the same command by the same process,
 * interleaved. serve-lat [ROUNDS [EXEC OPTIONS]]; prints medians in microseconds and their ratio.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/shared/ak_clock.h"
#include "tests/serve/drv.h"

#define MAX 20000

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t one_fork(void)
{
	const uint64_t from = ak_now_ns();
	pid_t pid = fork();

	if (pid == 0) {
		char name[] = "/bin/true";
		char *argv[] = { name, NULL };

		execv(name, argv);
		_exit(127);
	}
	(void)waitpid(pid, NULL, 0);
	return ak_now_ns() - from;
}

/* Parts of the last one: to its start in init, its life, from its end to the answer */
static uint64_t parts[3];

static uint64_t one_exec(struct drv *d, const struct init_req *q)
{
	static uint8_t buf[AK_INIT_REP_MAX];
	const uint64_t from = ak_now_ns();
	struct init_rep m;
	ssize_t n;

	if (drv_send(d, q, NULL, 0) < 0)
		exit(1);
	n = recv(d->sb.ctl, buf, sizeof(buf), 0);
	if (n <= 0 || init_rep_decode(buf, (size_t)n, &m) < 0 || m.type != INIT_REP_EXITED || m.wstatus) {
		(void)fprintf(stderr, "lat: unexpected answer\n");
		exit(1);
	}
	parts[0] = m.start_ns - from;
	parts[1] = m.end_ns - m.start_ns;
	parts[2] = ak_now_ns() - m.end_ns;
	return ak_now_ns() - from;
}

static uint64_t median(uint64_t *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

int main(int argc, char *argv[])
{
	static uint64_t fork_ns[MAX], exec_ns[MAX], part_ns[3][MAX];
	static struct drv d;
	static uint8_t body[4096];
	const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
	const char *const args[] = { "/bin/true", NULL };
	const char *const none[] = { NULL };
	struct init_exec e = { .cwd = "", .argv = (const char **)(uintptr_t)args, .argc = 1,
			       .envp = (const char **)(uintptr_t)none, .unset = (const char **)(uintptr_t)none };
	struct init_req q = { .type = INIT_REQ_EXEC, .id = 1, .body = body };
	const int pause_us = getenv("PAUSE") ? (int)strtol(getenv("PAUSE"), NULL, 10) : 0;
	long n;

	drv_start(&d, argc > 2 ? argc - 2 : 0, argv + 2);
	n = init_exec_encode(&e, body, sizeof(body));
	if (n < 0 || rounds < 1 || rounds > MAX)
		return 2;
	q.body_len = (uint32_t)n;
	for (int i = 0; i < rounds; i++) {
		fork_ns[i] = one_fork();
		if (pause_us)
			(void)usleep((unsigned)pause_us);
		exec_ns[i] = one_exec(&d, &q);
		q.id++;
		for (int k = 0; k < 3; k++)
			part_ns[k][i] = parts[k];
		if (pause_us)
			(void)usleep((unsigned)pause_us);
	}
	printf("fork+exec %.1f us, in the sandbox %.1f us, ratio %.2f\n", (double)median(fork_ns, rounds) / 1000,
	       (double)median(exec_ns, rounds) / 1000, (double)median(exec_ns, rounds) / (double)median(fork_ns, rounds));
	printf("of these: to the start %.1f us, start to end %.1f us, end to answer %.1f us\n", (double)median(part_ns[0], rounds) / 1000,
	       (double)median(part_ns[1], rounds) / 1000, (double)median(part_ns[2], rounds) / 1000);
	return drv_stop(&d) < 0;
}
