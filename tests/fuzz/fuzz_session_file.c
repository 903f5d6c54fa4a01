/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent says of a session, as the executor reads it. Laws: what decodes encodes back to the same bytes; a failure touches nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_session_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ak_session_about a = { .runs = 4711 };
	uint8_t *buf;
	long n;

	if (ak_session_about_decode(data, size, &a) < 0) {
		if (a.runs != 4711 || a.workspace)
			abort();
		return 0;
	}
	buf = malloc(size);
	n = buf ? ak_session_about_encode(&a, buf, size) : -1;
	if (n < 0 || (size_t)n != size || memcmp(buf, data, size) != 0)
		abort();
	free(buf);
	return 0;
}
