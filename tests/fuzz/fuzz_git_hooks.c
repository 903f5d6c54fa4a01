/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws of looking for core.hooksPath in any bytes: it comes to an end, goes forward, values are texts that fit, and a key that is put
 * behind everything else on a line of its own is found.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/workspace/git_hooks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool all(const char *text, size_t len, const char *want)
{
	size_t pos = 0, last = 0;
	char value[64];
	bool found = false;

	while (git_hooks_value(text, len, &pos, value, sizeof(value))) {
		if (pos <= last || pos > len || !memchr(value, '\0', sizeof(value)) || !*value)
			abort();
		last = pos;
		found = found || strcmp(value, want) == 0;
	}
	if (pos != len)
		abort();
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char key[] = "\n[core]\n\thooksPath = put/there\n";
	char *text = malloc(size + sizeof(key));

	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	(void)all(text, size, "");
	memcpy(text + size, key, sizeof(key) - 1);
	if (!all(text, size + sizeof(key) - 1, "put/there"))
		abort();
	free(text);
	return 0;
}
