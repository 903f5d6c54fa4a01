/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a changeset on disk: the journal, with a right sum at its end or as they are, and the meta file. Law: what decodes
 * encodes back to the same bytes, and a failure leaves the result untouched.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/workspace/changeset.h"
#include "executor/workspace/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void journal_law(const uint8_t *data, size_t size)
{
	struct journal j = { .cap = 4711 };
	struct ak_buf b = { 0 };

	if (journal_decode(data, size, &j) < 0) {
		if (j.cap != 4711 || j.n != 0)
			abort();
		return;
	}
	journal_encode(&j, &b);
	if (b.failed || b.len != size || memcmp(b.data, data, size) != 0)
		abort();
	for (size_t i = 0; i < j.n; i++)
		if (journal_find(&j, j.v[i].path) != &j.v[i])
			abort();
	ak_buf_release(&b);
	journal_release(&j);
}

/* as journal.c makes it: without it hardly anything would come past the sum */
static void with_sum(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 8);
	uint64_t h = 0xcbf29ce484222325ull;

	if (!copy)
		return;
	memcpy(copy, data, size);
	for (size_t i = 0; i < size; i++)
		h = (h ^ data[i]) * 0x100000001b3ull;
	for (int i = 0; i < 8; i++)
		copy[size + (size_t)i] = (uint8_t)(h >> (8 * i));
	journal_law(copy, size + 8);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct changeset_meta m;

	memset(&m, 0x5a, sizeof(m));
	if (changeset_decode_meta(data, size, &m) < 0) {
		if (m.uid != 0x5a5a5a5a)
			abort();
	} else if (m.workspace[0] != '/' || strlen(m.command) > CHANGESET_COMMAND_MAX) {
		abort();
	}
	journal_law(data, size);
	if (size < 1u << 20)
		with_sum(data, size);
	return 0;
}
