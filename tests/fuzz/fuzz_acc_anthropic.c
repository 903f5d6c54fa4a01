/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of the anthropic format; first byte 'B': the rest is a body that was not streamed. Laws: acc_law.h. */
#include "agent/provider/provider.h"

#include "tests/fuzz/acc_law.h"

static void body(const uint8_t *data, size_t size)
{
	struct ak_err err = { 0 };
	struct law_outcome o = { 0 };
	struct acc *a = NULL;

	LAW(acc_new(&provider_anthropic, 0, NULL, NULL, &a) == 0);
	(void)acc_body(a, (const char *)data, size, &err);
	o.rc = acc_finish(a, &o.c, &o.f, &err);
	LAW(o.rc == 0 || o.f.fault != FAULT_NONE);
	if (o.rc == 0) {
		law_calls(&o.c.msg);
		law_echo(&provider_anthropic, &o.c);
	}
	completion_release(&o.c);
	acc_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 65536)
		return 0;
	if (size > 0 && data[0] == 'B')
		body(data + 1, size - 1);
	else
		law_all(&provider_anthropic, data, size);
	return 0;
}
