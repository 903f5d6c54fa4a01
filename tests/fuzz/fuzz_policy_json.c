/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text from outside. Laws: strict text is also relaxed text with the same values; every index stays inside; texts end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/json_read.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct json_doc *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		const struct json_node *n = &d->nodes[i];
		uint32_t count = 0;
		uint64_t v;

		LAW(n->next < d->n && n->first < d->n && n->line >= 1 && n->col >= 1);
		LAW((n->kind != JSON_STRING && n->kind != JSON_NUMBER) || strlen(n->text) <= JSON_BYTES_MAX);
		for (const struct json_node *e = json_first(d, n); e; e = json_next(d, e)) {
			LAW((e->key != NULL) == (n->kind == JSON_OBJECT));
			LAW(!e->key || json_get(d, n, e->key) == e);	/* no key twice */
			count++;
		}
		LAW(count == n->count);
		(void)json_u64(n, &v);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_error err;
	struct json_doc strict, relaxed;
	int rc = json_read((const char *)data, size, 0, &strict, &err);

	LAW(rc == 0 || err.text[0]);
	if (rc == 0) {
		walk(&strict);
		LAW(json_read((const char *)data, size, JSON_RELAXED, &relaxed, &err) == 0 && relaxed.n == strict.n);
		json_release(&relaxed);
	}
	json_release(&strict);
	return 0;
}
