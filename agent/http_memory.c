/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl's memory holds keys (headers, send buffers): it is wiped when freed. Process: agent. Privilege: none. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http_int.h"
#include "agent/http_weaken.h"

static void wiping_free(void *p)
{
	if (!p)
		return;
	explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

static void *wiping_realloc(void *p, size_t n)
{
	size_t old = p ? malloc_usable_size(p) : 0;
	void *q = malloc(n);

	if (q && p) {
		memcpy(q, p, old < n ? old : n);
		wiping_free(p);
	}
	return q;
}

CURLcode http_memory_init(void)
{
	if (http_weak("wipe"))
		return curl_global_init(CURL_GLOBAL_DEFAULT);
	return curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, wiping_free, wiping_realloc, strdup, calloc);
}
