/* SPDX-License-Identifier: Apache-2.0 */
/* Law: a configuration that decodes encodes back to the same bytes; one that does not leaves the result
 * untouched. */
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

/* counts, flags and pointers are nothing */
static void check_nothing(const struct init_config *c)
{
	static const struct init_config none;

	expect(memcmp(c, &none, offsetof(struct init_config, rlimits)) == 0);
}

static void check_same_bytes(const struct init_config *c, const uint8_t *data, size_t size)
{
	uint8_t *again = malloc(size);

	expect(again != NULL);
	expect(init_config_encode(c, again, size) == (long)size);
	expect(memcmp(again, data, size) == 0);
	if (size > 0)
		expect(init_config_encode(c, again, size - 1) < 0);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	long n = init_config_counts(data, size);
	size_t slots = n < 0 ? 2 : (size_t)n + 2;
	const char **strv = malloc(slots * sizeof(*strv));
	struct init_config c;

	expect(strv != NULL);
	memset(&c, 0xa5, sizeof(c));
	if (init_config_decode(data, size, strv, slots, &c) == 0) {
		expect(n >= 0 && (long)c.argc + (long)c.envc == n && (c.argc > 0 || (c.flags & INIT_SERVE)));
		expect(!c.argv[c.argc] && !c.envp[c.envc]);
		check_same_bytes(&c, data, size);
	} else {
		check_nothing(&c);
	}
	free(strv);
	return 0;
}
