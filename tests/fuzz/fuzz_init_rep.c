/* SPDX-License-Identifier: Apache-2.0 */
/* Law: a reply of serve mode that decodes encodes back to the same bytes; one that does not leaves the result untouched. */
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
	static uint8_t again[AK_INIT_REP_MAX];
	struct init_rep m;

	memset(&m, 0xa5, sizeof(m));
	if (init_rep_decode(data, size, &m) < 0) {
		expect(m.type == 0xa5a5a5a5u && m.id == 0xa5a5a5a5u);
		return 0;
	}
	expect(init_rep_encode(&m, again, size) == (long)size);
	expect(memcmp(again, data, size) == 0);
	for (const char *p = m.text; p && *p; p++)
		expect((unsigned char)*p >= 0x20 && *p != 0x7f);
	for (const char *p = m.hint; p && *p; p++)
		expect((unsigned char)*p >= 0x20 && *p != 0x7f);
	return 0;
}
