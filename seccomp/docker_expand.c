/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons as sets of masked equalities, and which arguments are int. Pure. Process: ak-policy. Privilege: none. */
#include <string.h>

#include "seccomp/docker.h"

static uint64_t bits_mask(unsigned bits)
{
	return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

/*
 * x < k: the bits of x agree with those of k from the top down to some bit that is 1 in k and 0 in x. So one alternative for
 * each 1 of k. x > k likewise with 0 and 1 exchanged.
 */
static size_t ordered(uint64_t k, unsigned bits, bool greater, struct docker_masked *ret)
{
	size_t n = 0;

	for (unsigned i = bits; i-- > 0;) {
		uint64_t bit = 1ull << i;
		uint64_t mask = bits_mask(bits) & ~(bit - 1);

		if (((k & bit) != 0) == greater)
			continue;
		ret[n++] = (struct docker_masked){ mask, (k ^ bit) & mask };
	}
	return n;
}

static size_t not_equal(uint64_t k, unsigned bits, struct docker_masked *ret)
{
	for (unsigned i = 0; i < bits; i++)
		ret[i] = (struct docker_masked){ 1ull << i, (k ^ (1ull << i)) & (1ull << i) };
	return bits;
}

size_t docker_expand(const struct docker_arg *a, unsigned bits, struct docker_masked ret[64])
{
	uint64_t all = bits_mask(bits);
	uint64_t k = a->value & all;

	switch (a->op) {
	case DOCKER_EQ:
		ret[0] = (struct docker_masked){ all, k };
		return 1;
	case DOCKER_MASKED_EQ:
		/* a datum with bits outside of the mask is never met, whatever the argument */
		if (a->value_two & all & ~k)
			return 0;
		ret[0] = (struct docker_masked){ k, a->value_two & k };
		return 1;
	case DOCKER_NE:
		return not_equal(k, bits, ret);
	case DOCKER_LT:
		return ordered(k, bits, false, ret);
	case DOCKER_GT:
		return ordered(k, bits, true, ret);
	case DOCKER_LE:
		if (k == all) {
			ret[0] = (struct docker_masked){ 0, 0 };
			return 1;
		}
		return ordered(k + 1, bits, false, ret);
	case DOCKER_GE:
		if (k == 0) {
			ret[0] = (struct docker_masked){ 0, 0 };
			return 1;
		}
		return ordered(k - 1, bits, true, ret);
	}
	return 0;
}

bool docker_arg_is_int(const char *call, unsigned index)
{
	/* source: the SYSCALL_DEFINE lines of Linux */
	static const struct { const char *call; uint8_t args; } ints[] = {
		{ "fcntl", 1u << 0 | 1u << 1 },	{ "ioctl", 1u << 0 | 1u << 1 },
		{ "keyctl", 1u << 0 },		{ "personality", 1u << 0 },
		{ "prctl", 1u << 0 },		{ "quotactl", 1u << 0 },
		{ "setns", 1u << 0 | 1u << 1 },	{ "socket", 7 },
		{ "socketpair", 7 },		{ "socketcall", 1u << 0 },
	};

	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++)
		if (strcmp(ints[i].call, call) == 0)
			return (ints[i].args >> index & 1) != 0;
	return false;
}
