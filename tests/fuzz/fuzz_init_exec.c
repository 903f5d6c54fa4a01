/* SPDX-License-Identifier: Apache-2.0 */
/* Law: a command of serve mode that decodes encodes back to the same bytes; one that does not leaves the result untouched. */
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
	long n = init_exec_counts(data, size);
	const char **strv = malloc((n < 0 ? 3u : (size_t)n) * sizeof(*strv));
	uint8_t *again = malloc(size ? size : 1);
	struct init_exec e;

	expect(strv && again);
	memset(&e, 0xa5, sizeof(e));
	if (init_exec_decode(data, size, strv, n < 0 ? 3u : (size_t)n, &e) == 0) {
		expect((long)e.argc + (long)e.envc + (long)e.unsetc + 3 == n && e.argc > 0);
		expect(!e.argv[e.argc] && !e.envp[e.envc] && !e.unset[e.unsetc]);
		expect(init_exec_encode(&e, again, size) == (long)size && memcmp(again, data, size) == 0);
		expect(init_exec_encode(&e, again, size - 1) < 0);
	} else {
		expect(e.argc == 0xa5a5a5a5u && e.nextra == 0xa5a5a5a5u);
	}
	free(again);
	free(strv);
	return 0;
}
