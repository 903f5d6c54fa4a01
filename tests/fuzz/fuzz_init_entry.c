/* SPDX-License-Identifier: Apache-2.0 */
/* Law: records of a folder that decode encode back to the same bytes, and no name leads out of the folder. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_init_serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t again[AK_INIT_PATH_MAX + 64];
	size_t pos = 0, before = 0;
	struct init_entry e;
	int r;

	while ((r = init_entry_next(data, size, &pos, &e)) == 1) {
		long n = init_entry_encode(&e, again, sizeof(again));

		expect(n == (long)(pos - before) && memcmp(again, data + before, (size_t)n) == 0);
		expect(e.name[0] && e.name[0] != '/' && strcmp(e.name, "..") != 0 && strncmp(e.name, "../", 3) != 0 && !strstr(e.name, "/../"));
		before = pos;
	}
	expect(pos == before && (r < 0 || pos == size));
	return 0;
}
