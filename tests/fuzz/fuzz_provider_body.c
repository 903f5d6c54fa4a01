/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of error statuses and lists of models. Laws: one safe line and a fault; a list is by name and its ids are strings. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/provider/models.h"
#include "agent/provider/provider.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void safe(const char *text)
{
	size_t n = strlen(text);

	LAW(n == 0 || ak_utf8_valid(text, n));
	for (size_t i = 0; i < n; i++)
		LAW((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = { 200, 301, 400, 401, 403, 404, 413, 429, 500, 503, 529 };
	struct models m = { 0 };
	struct ak_err err = { 0 };
	int rc;

	if (size > 65536)
		return 0;
	for (size_t i = 1; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct provider_fault f;

		provider_fault_body(statuses[i], (const char *)data, size, &f);
		LAW(f.fault != FAULT_NONE && f.status == statuses[i]);
		safe(f.message);
		safe(f.type);
		safe(f.request_id);
	}
	rc = models_parse((const char *)data, size, &m, &err);
	LAW(rc == 0 || ((rc == -EBADMSG || rc == -E2BIG) && err.msg[0] != '\0' && m.n == 0));
	for (size_t i = 1; i < m.n; i++)
		LAW(strcmp(m.v[i - 1].id, m.v[i].id) <= 0);
	models_release(&m);
	return 0;
}
