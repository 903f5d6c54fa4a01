/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws of ignore rules: whatever file and path, they end; a name matches itself with every byte escaped; the same rules twice say
 * the same; a last rule decides. Input: path, newline, rules.
 */
#include "agent/search/ignore.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/search/glob.h"

#define LAW(x)                                                                                                         \
	do {                                                                                                           \
		if (!(x))                                                                                              \
			abort();                                                                                       \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nl = memchr(data, '\n', size);
	size_t n = nl ? (size_t)(nl - data) : 0;
	struct ignore g = {0};
	char path[128];
	char escaped[256];
	char *rules;
	bool dir, file;

	if (n == 0 || n >= sizeof(path) || memchr(data, '\0', n) || data[0] == '/' || data[n - 1] == '/' || memmem(data, n, "//", 2))
		return 0;
	memcpy(path, data, n);
	path[n] = '\0';
	for (size_t i = 0; i < n; i++) {
		escaped[2 * i] = '\\';
		escaped[2 * i + 1] = path[i];
	}
	escaped[2 * n] = '\0';
	LAW(glob_match(escaped, path));
	rules = malloc(size - n);
	LAW(rules);
	memcpy(rules, nl + 1, size - n - 1);
	LAW(ignore_add(&g, rules, size - n - 1, 0) == 0);
	file = ignore_match(&g, path, false);
	dir = ignore_match(&g, path, true);
	LAW(ignore_add(&g, rules, size - n - 1, 0) == 0);
	LAW(ignore_match(&g, path, false) == file && ignore_match(&g, path, true) == dir);
	ignore_cut(&g, g.n / 2);
	LAW(ignore_match(&g, path, false) == file);
	LAW(ignore_add(&g, "**", 2, 0) == 0 && ignore_match(&g, path, false));
	LAW(ignore_add(&g, "!*", 2, 0) == 0 && !ignore_match(&g, path, true));
	free(rules);
	ignore_release(&g);
	return 0;
}
