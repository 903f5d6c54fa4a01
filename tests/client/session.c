/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a shell text of a session costs in a sandbox like the agent's, asked for as its tool bash does but by nobody else: the floor
 * for a turn of `ak run`. Usage: session AK WORKSPACE ROUNDS TEXT [OPTION...]: options of ak serve. Prints the mean of all rounds but
 * the first in milliseconds, as the turns of a run are counted, and the median; proves nothing.
 */
#include "tests/client/drive.h"

#define ROUNDS_MAX 20000

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static bool once(struct drive *d, const char *text)
{
	const char *argv[] = { text, NULL };
	struct ak_request q = { .sandbox = d->box, .kind = AK_EXEC_SESSION, .argv = argv, .flags = AK_EXEC_TIMEOUT_SET, .timeout_ms = 60000,
				.kill_after_ms = 2000, .stream = { AK_STREAM_NULL, AK_STREAM_CAPTURE, AK_STREAM_CAPTURE } };
	struct ak_done done;
	bool ok;

	if (ak_exec(d->cl, &q, &done, &d->err) < 0) {
		fprintf(stderr, "session: %s\n", d->err.msg);
		return false;
	}
	ok = done.r.status == AK_STATUS_EXITED;
	ak_done_release(&done);
	return ok;
}

int main(int argc, char *argv[])
{
	static double ms[ROUNDS_MAX];
	struct drive d = { .ak = argv[1], .ws = argv[2] };
	long rounds = argc > 4 ? strtol(argv[3], NULL, 10) : 0;
	double sum = 0;

	if (rounds < 1 || rounds >= ROUNDS_MAX)
		return 2;
	if (drive_box(&d, (const char *const *)argv + 5) < 0) {
		fprintf(stderr, "session: %s (%s)\n", d.err.msg, d.err.hint);
		return 1;
	}
	for (long i = 0; i <= rounds; i++) {
		double start = now_s();

		if (!once(&d, argv[4]))
			return 1;
		ms[i] = (now_s() - start) * 1e3;
		sum += i ? ms[i] : 0;
	}
	qsort(ms + 1, (size_t)rounds, sizeof(ms[0]), by_value);
	printf("%.3f %.3f\n", sum / (double)rounds, ms[1 + rounds / 2]);
	ak_close(d.cl);
	return 0;
}
