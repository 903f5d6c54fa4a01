/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws: the output is what the policy allows and nothing else; it is the same however the input is cut; it fits the promised
 * room; filtering it again changes nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/term_filter.h"
#include "tests/unit/term_law.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool ok)
{
	if (!ok)
		abort();
}

static uint8_t *room(size_t size)
{
	uint8_t *p = malloc(4 * size + TERM_SEQ_MAX + 16 + TERM_END_MAX + 1);

	expect(p != NULL);
	return p;
}

/* Filters in blocks of @step bytes, with or without the end of the stream. Return: the output, NUL-terminated; to be freed. */
static uint8_t *filter(enum term_policy policy, const uint8_t *in, size_t size, size_t step, bool end, size_t *ret_len)
{
	uint8_t *out = room(size), *block = room(step);
	struct term_filter f;
	size_t n = 0, k;

	term_filter_init(&f, policy);
	for (size_t at = 0; at < size; at += k) {
		size_t made;

		k = size - at < step ? size - at : step;
		made = term_filter_run(&f, in + at, k, block);
		expect(made <= 4 * k + TERM_SEQ_MAX + 16);
		expect(n + made <= 4 * size + TERM_SEQ_MAX + 16);
		memcpy(out + n, block, made);
		n += made;
	}
	if (end)
		n += term_filter_end(&f, out + n);
	out[n] = '\0';
	free(block);
	*ret_len = n;
	return out;
}

static void check(enum term_policy policy, const uint8_t *data, size_t size)
{
	static const size_t steps[] = { 1, 2, 3, 7, 64 };
	size_t n, m;
	uint8_t *whole = filter(policy, data, size, size ? size : 1, true, &n), *other;

	expect(law_holds(whole, n, policy == TERM_INTERACTIVE));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		other = filter(policy, data, size, steps[i], true, &m);
		expect(m == n && memcmp(whole, other, n) == 0);
		free(other);
	}
	free(whole);
	whole = filter(policy, data, size, size ? size : 1, false, &n);
	other = filter(policy, whole, n, n ? n : 1, false, &m);
	expect(m == n && memcmp(whole, other, n) == 0);
	free(other);
	free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(TERM_STRICT, data, size);
	check(TERM_INTERACTIVE, data, size);
	return 0;
}
