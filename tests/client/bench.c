/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command in a running sandbox costs through the client library, beside fork+exec of the same command by the same process,
 * interleaved. Usage: bench AK WORKSPACE ROUNDS [COMMAND]. Prints medians and ratios; proves nothing.
 */
#include "tests/client/drive.h"

#define ROUNDS_MAX 20000

static char *const *command;

static bool fork_exec(bool with_pipe)
{
	int p[2] = { -1, -1 }, status = 1;
	char buf[4096];
	pid_t pid;

	if (with_pipe && pipe2(p, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		if (with_pipe && (dup2(p[1], 1) < 0 || dup2(p[1], 2) < 0))
			_exit(127);
		execv(command[0], command);
		_exit(127);
	}
	if (with_pipe) {
		(void)close(p[1]);
		while (read(p[0], buf, sizeof(buf)) > 0)
			;
		(void)close(p[0]);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static bool through_ak(struct drive *d, bool capture, uint32_t flags)
{
	struct ak_request q = { .sandbox = d->box, .argv = (const char *const *)command, .flags = flags };
	struct ak_done done;
	bool ok;

	if (capture)
		q.stream[1] = q.stream[2] = AK_STREAM_CAPTURE;
	if (ak_exec(d->cl, &q, &done, &d->err) < 0) {
		fprintf(stderr, "bench: %s\n", d->err.msg);
		return false;
	}
	ok = done.r.exit_code == 0;
	if (!ok)
		fprintf(stderr, "bench: code %u %s\n", done.r.exit_code, done.r.text);
	ak_done_release(&done);
	return ok;
}

enum { FORK, RUNNING, FORK_PIPE, RUNNING_PIPE, FRESH, WAYS };

static bool once(struct drive *d, int way)
{
	switch (way) {
	case FORK:
		return fork_exec(false);
	case RUNNING:
		return through_ak(d, false, 0);
	case FORK_PIPE:
		return fork_exec(true);
	case RUNNING_PIPE:
		return through_ak(d, true, 0);
	default:
		return through_ak(d, false, AK_EXEC_FRESH);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char *argv[])
{
	static const char *const names[WAYS] = { "fork+exec", "running sandbox", "fork+exec, piped", "running, captured", "fresh from the pool" };
	static const int beside[WAYS] = { FORK, FORK, FORK_PIPE, FORK_PIPE, FORK };
	static const char *const more[] = { "--pool", "4", NULL };
	static char *const plain[] = { (char *)"/bin/true", NULL };
	static double ms[WAYS][ROUNDS_MAX];
	struct drive d = { .ak = argv[1], .ws = argv[2] };
	int rounds = argc > 3 ? (int)number(argv[3]) : 300;

	if (argc < 3 || rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	command = argc > 4 ? argv + 4 : plain;
	if (drive_box(&d, more) < 0) {
		fprintf(stderr, "bench: %s (%s)\n", d.err.msg, d.err.hint);
		return 1;
	}
	nap_ms(300);	/* the pool fills */
	for (int i = -10; i < rounds; i++) {
		for (int k = 0; k < WAYS; k++) {
			int way = (k + (i < 0 ? 0 : i)) % WAYS;
			double t0;

			if (way == FRESH)
				nap_ms(12);	/* one that is prepared, not one that is being made */
			t0 = now_s();
			if (!once(&d, way))
				return 1;
			if (i >= 0)
				ms[way][i] = (now_s() - t0) * 1e3;
		}
	}
	for (int k = 0; k < WAYS; k++)
		qsort(ms[k], (size_t)rounds, sizeof(double), by_value);
	for (int k = 0; k < WAYS; k++)
		printf("%-20s median %.3f ms  p10 %.3f  p90 %.3f  least %.3f  x%.2f\n", names[k], ms[k][rounds / 2], ms[k][rounds / 10],
		       ms[k][rounds - 1 - rounds / 10], ms[k][0], ms[k][rounds / 2] / ms[beside[k]][rounds / 2]);
	ak_close(d.cl);
	return 0;
}
