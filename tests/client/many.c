/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thousands of commands one after the other, and many at once: nothing grows and no result is mixed up with another.
 * Usage: many AK WORKSPACE SEQUENTIAL PARALLEL. Tests only.
 */
#include "tests/client/drive.h"

#define ROUNDS 5	/* of the parallel part */

struct growth {
	int fds, below;
	long rss_kib, data_kib;
};

static struct growth look(const struct drive *d)
{
	unsigned pid = executor_pid(d);

	return (struct growth){ count_fds(pid), count_below(pid), proc_status(pid, "VmRSS:"), proc_status(pid, "VmData:") };
}

/* init, what it prepares ahead with a keeper each, and as many keepers that wait: all there ever is when nothing runs */
#define IDLE_PROCESSES 10

/* what is closed and ended behind an answer may take a moment; @fds: -1 for any number */
static struct growth look_settled(const struct drive *d, int fds)
{
	struct growth g = look(d);
	double t0 = now_s();

	while (now_s() - t0 < 20 && (g.below > IDLE_PROCESSES || (fds >= 0 && g.fds > fds))) {
		nap_ms(20);
		g = look(d);
	}
	return g;
}

/* the resident size is counted by each processor for itself and told to within some 256 KiB (mm_counter); the data size is exact */
static void no_growth(struct drive *d, const struct growth *a, const struct growth *b)
{
	want(d, b->fds <= a->fds, "descriptors grew from %d to %d", a->fds, b->fds);
	want(d, b->below <= IDLE_PROCESSES, "%d processes are left", b->below);
	want(d, b->data_kib <= a->data_kib + 256, "memory grew from %ld to %ld KiB", a->data_kib, b->data_kib);
	want(d, b->rss_kib <= a->rss_kib + 512, "resident memory grew from %ld to %ld KiB", a->rss_kib, b->rss_kib);
	printf("NOTE\tdescriptors %d -> %d, processes %d -> %d, memory %ld -> %ld KiB, data %ld -> %ld KiB\n", a->fds, b->fds, a->below, b->below,
	       a->rss_kib, b->rss_kib, a->data_kib, b->data_kib);
}

/* init's own, over all */
static int init_fds(struct drive *d)
{
	struct ran x = run_sh(d, "ls /proc/1/fd 2>/dev/null | wc -l");
	int n = (int)number(x.out[0]);

	ran_free(&x);
	return n;
}

static void sequential(struct drive *d, long n)
{
	struct growth before, after;
	double t0;

	t(d, "many:sequential-commands-do-not-grow");
	for (int i = 0; i < 50; i++) {
		struct ran x = run_sh(d, "echo warm");

		ran_free(&x);
	}
	(void)init_fds(d);
	before = look_settled(d, -1);
	t0 = now_s();
	for (long i = 0; i < n && !d->why[0]; i++) {
		char text[64], expect[32];
		struct ran x;

		(void)snprintf(text, sizeof(text), "echo %ld; exit %ld", i, i % 7);
		(void)snprintf(expect, sizeof(expect), "%ld\n", i);
		x = run_sh(d, text);
		want(d, x.r == 0 && strcmp(x.out[0], expect) == 0 && x.res.exit_code == (uint32_t)(i % 7), "command %ld: '%s' code %u %s %s", i,
		     x.out[0] ? x.out[0] : "", x.res.exit_code, x.text, d->err.msg);
		ran_free(&x);
	}
	printf("NOTE\t%ld commands in %.1f s\n", n, now_s() - t0);
	after = look_settled(d, before.fds);
	no_growth(d, &before, &after);
}

static void start_one(struct drive *d, unsigned i, uint32_t *tag)
{
	char text[160];
	const char *argv[] = { "sh", "-c", text, NULL };
	struct ak_request q = { .sandbox = d->box, .argv = argv, .flags = AK_EXEC_NO_STARTED, .stream = { 0, AK_STREAM_CAPTURE, AK_STREAM_CAPTURE } };

	(void)snprintf(text, sizeof(text), "i=%u; n=0; while [ $n -lt 20 ]; do echo $i; n=$((n+1)); done; echo e$i >&2; exit $((i %% 50))", i);
	want(d, ak_exec_start(d->cl, &q, tag, &d->err) == 0, "start %u: %s", i, d->err.msg);
}

static void check_one(struct drive *d, unsigned i, struct ak_event *ev)
{
	char line[16], err[16];
	struct ran x = { 0 };
	size_t len;

	if (!want(d, ev->type == AK_EVENT_DONE, "command %u: refused: %s", i, ev->err.msg))
		return;
	ran_take(&x, &ev->done);
	len = (size_t)snprintf(line, sizeof(line), "%u\n", i);
	(void)snprintf(err, sizeof(err), "e%u\n", i);
	want(d, x.res.exit_code == i % 50 && x.len[0] == 20 * len && strcmp(x.out[1], err) == 0, "command %u: code %u, %zu bytes, '%s' %s", i,
	     x.res.exit_code, x.len[0], x.out[1], x.text);
	for (size_t k = 0; k < x.len[0] && !d->why[0]; k += len)
		want(d, strncmp(x.out[0] + k, line, len) == 0, "command %u has another one's output", i);
	ran_free(&x);
}

/* @n at once, and each gets its own */
static void one_round(struct drive *d, unsigned n, uint32_t *tag)
{
	for (unsigned i = 0; i < n; i++)
		start_one(d, i, &tag[i]);
	for (unsigned k = 0; k < n && !d->why[0]; k++) {
		struct ak_event ev;
		unsigned i = 0;

		if (!want(d, ak_next(d->cl, &ev, 60000, &d->err) == 1, "no end of command: %s", d->err.msg))
			break;
		while (i < n && tag[i] != ev.tag)
			i++;
		if (want(d, i < n, "an answer to nothing"))
			check_one(d, i, &ev);
		ak_event_release(&ev);
	}
}

static void parallel(struct drive *d, unsigned n)
{
	struct growth before, after;
	uint32_t *tag = calloc(n, sizeof(*tag));

	t(d, "many:parallel-commands-are-not-mixed");
	one_round(d, n, tag);	/* so much at a time wants memory, once */
	before = look_settled(d, -1);
	for (int round = 0; round < ROUNDS && !d->why[0]; round++)
		one_round(d, n, tag);
	after = look_settled(d, before.fds);
	no_growth(d, &before, &after);
	free(tag);
}

int main(int argc, char *argv[])
{
	struct drive d = { .ak = argv[1], .ws = argv[2] };

	if (argc != 5)
		return 2;
	t(&d, "many:spawn");
	if (!want(&d, drive_box(&d, NULL) == 0, "%s (%s)", d.err.msg, d.err.hint)) {
		t_end(&d);
		return 1;
	}
	sequential(&d, number(argv[3]));
	parallel(&d, (unsigned)number(argv[4]));
	t_end(&d);
	ak_close(d.cl);
	return d.failed ? 1 : 0;
}
