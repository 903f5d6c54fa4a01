/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints how many times a millisecond this machine's time stamp counter counts. The emulator gives the counter of the host to its guest, and a
 * guest that measures it while the host is busy may be wrong by a factor: its clock runs ahead then, and every limit in it ends
 * too soon. No privilege.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define CLOSE_NS 2000	/* a reading that took longer was interrupted */
#define TRIES 100000
#define BETWEEN_NS 50000000

struct reading {
	int64_t ns;
	uint64_t ticks;
};

static int64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct reading read_both(void)
{
	struct reading r = { 0 };

	for (int i = 0; i < TRIES; i++) {
		const int64_t before = now();

		r.ticks = __rdtsc();
		r.ns = now();
		if (r.ns - before < CLOSE_NS)
			break;
	}
	return r;
}

int main(void)
{
	const struct timespec between = { .tv_nsec = BETWEEN_NS };
	const struct reading a = read_both();
	struct reading b;

	(void)nanosleep(&between, NULL);
	b = read_both();
	return printf("%.0f\n", (double)(b.ticks - a.ticks) / (double)(b.ns - a.ns) * 1e6) < 0;
}
