/* SPDX-License-Identifier: Apache-2.0 */
/* Law: a message that decodes encodes back to the same bytes, and its texts hold no control byte. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_init_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(int ok)
{
	if (!ok)
		abort();
}

static void check_text(const char *s)
{
	expect(s != NULL);
	for (; *s; s++)
		expect((unsigned char)*s >= 0x20 && *s != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t again[AK_INIT_MSG_MAX];
	struct init_msg m;

	memset(&m, 0xa5, sizeof(m));
	if (init_msg_decode(data, size, &m) < 0) {
		expect(m.type == 0xa5a5a5a5u && m.signo == 0xa5a5a5a5u);
		return 0;
	}
	if (m.type == INIT_MSG_FAILED) {
		check_text(m.text);
		check_text(m.hint);
	}
	expect(init_msg_encode(&m, again, size) == (long)size);
	expect(memcmp(again, data, size) == 0);
	return 0;
}
