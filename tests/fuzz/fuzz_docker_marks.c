/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard error of `docker exec`. Laws: how the stream is cut changes nothing; no byte of the command's is lost, added or moved:
 * what was before, what passed and the marks together are as long as the stream, unless bytes came after the end.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/docker/docker_marks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MARK "ak-0"

static void expect(bool ok)
{
	if (!ok)
		abort();
}

/* Return: bytes passed on, in @out, which has room for @size + DOCKER_HELD_MAX */
static size_t feed(struct docker_marks *m, const uint8_t *in, size_t size, size_t step, uint8_t *out)
{
	uint8_t *block = malloc(step + DOCKER_HELD_MAX);
	size_t n = 0;

	expect(block != NULL);
	*m = (struct docker_marks){.mark = MARK};
	for (size_t at = 0; at < size; at += step) {
		size_t k = size - at < step ? size - at : step;
		size_t made = docker_marks_feed(m, in + at, k, block);

		expect(made <= k + DOCKER_HELD_MAX && n + made <= size);
		memcpy(out + n, block, made);
		n += made;
	}
	n += docker_marks_end(m, out + n);
	free(block);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = {1, 2, 5, 64};
	static struct docker_marks whole, cut;
	uint8_t *a, *b;
	size_t n, marks;

	if (size > 65536)
		return 0;
	a = malloc(size + DOCKER_HELD_MAX);
	b = malloc(size + DOCKER_HELD_MAX);
	expect(a && b);
	n = feed(&whole, data, size, size ? size : 1, a);
	expect(n <= size && whole.nbefore <= DOCKER_BEFORE_MAX && whole.before[whole.nbefore] == '\0');
	expect(!whole.ended || (whole.started && whole.code <= 255));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		expect(feed(&cut, data, size, steps[i], b) == n && memcmp(a, b, n) == 0);
		expect(cut.started == whole.started && cut.ended == whole.ended && cut.code == whole.code &&
		       cut.nbefore == whole.nbefore && memcmp(cut.before, whole.before, whole.nbefore) == 0);
	}
	marks = whole.started ? strlen("\001" MARK ":s\n") : 0;
	if (!whole.ended && size <= DOCKER_BEFORE_MAX)
		expect(whole.nbefore + marks + n == size);
	free(a);
	free(b);
	return 0;
}
