/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Law of redaction: however a text is cut, the result is the same; text without marks and without hits is unchanged; what is
 * UTF-8 stays UTF-8; nothing grows by more than the marks; a known value is nowhere in the result. The first byte decides the cuts.
 */
#include "agent/redact.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_json_out.h"

#define LAW(x)                                                                                                         \
	do {                                                                                                           \
		if (!(x))                                                                                              \
			abort();                                                                                       \
	} while (0)

#define KNOWN "Kn0wnValue"

static unsigned long run(const uint8_t *p, size_t n, uint32_t cut, struct ak_buf *out)
{
	struct redact *r = malloc(sizeof(*r));
	unsigned long count;

	LAW(r);
	redact_init(r, out);
	LAW(redact_known(r, KNOWN, sizeof(KNOWN) - 1) == 0);
	for (size_t at = 0; at < n;) {
		size_t len = cut ? 1 + (cut >> 16) % 13 : n;
		char *copy;

		len = len < n - at ? len : n - at;
		copy = malloc(len);
		LAW(copy);
		memcpy(copy, p + at, len);
		redact_feed(r, copy, len);
		free(copy);
		at += len;
		cut = cut ? cut * 1103515245u + 12345u + (cut == 0) : 0;
	}
	redact_finish(r);
	count = r->count;
	free(r);
	LAW(!out->failed);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ak_buf whole = {0};
	struct ak_buf cut = {0};
	uint32_t seed = size > 0 ? (data[0] + 1u) * 2654435761u : 1;
	unsigned long count;

	if (size > 0) {
		data++;
		size--;
	}
	count = run(data, size, 0, &whole);
	LAW(run(data, size, seed | 1u, &cut) == count);
	LAW(whole.len == cut.len && (whole.len == 0 || memcmp(whole.data, cut.data, whole.len) == 0));
	LAW(count > 0 || (whole.len == size && (size == 0 || memcmp(whole.data, data, size) == 0)));
	LAW(whole.len <= size + count * (sizeof(REDACT_MARK) - 1));
	LAW(!ak_utf8_valid(data, size) || ak_utf8_valid(whole.data ? whole.data : "", whole.len));
	LAW(whole.len == 0 || !memmem(whole.data, whole.len, KNOWN, sizeof(KNOWN) - 1));
	ak_buf_release(&whole);
	ak_buf_release(&cut);
	return 0;
}
