/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws of reading a git configuration: names are bounded texts that can be shown; the same text read twice has nothing new; what
 * stands in front of a section changes no key behind it when it ends with a line.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/gitkeys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gitkeys *a = calloc(2, sizeof(*a));
	struct gitkeys *b = a + 1;

	if (!a)
		return 0;
	gitkeys_read((const char *)data, size, a);
	gitkeys_read((const char *)data, size, b);
	if (a->n > GITKEYS_MAX || a->n != b->n)
		abort();
	for (size_t i = 0; i < a->n; i++) {
		if (!memchr(a->key[i].name, '\0', GITKEYS_NAME) || gitkeys_new(b, a, i))
			abort();
		for (const char *c = a->key[i].name; *c; c++)
			if (!isprint((unsigned char)*c))
				abort();
	}
	free(a);
	return 0;
}
