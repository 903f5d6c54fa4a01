/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a named sandbox. Law: what reads is written again as something that reads to the same. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/runtime_facts.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_facts f = { .pid = 1 }, g = { 0 };
	struct ak_err err = { 0 };
	struct ak_buf b = { .max = 1u << 20 };
	int r = runtime_facts_read((const char *)data, size, &f, &err);

	LAW(r == 0 || (r == -EBADMSG && f.pid == 1 && !f.workspace && err.msg[0]));
	if (r < 0)
		return 0;
	LAW(f.workspace && f.workspace[0] == '/' && f.version[0] && strlen(f.version) <= RUNTIME_VERSION_MAX);
	runtime_facts_write(&f, &b);
	LAW(!b.failed && runtime_facts_read(b.data, b.len, &g, &err) == 0);
	LAW(f.pid == g.pid && f.pool == g.pool && f.ttl_ms == g.ttl_ms && f.created_s == g.created_s && f.uid == g.uid && f.gid == g.gid);
	LAW(strcmp(f.version, g.version) == 0 && strcmp(f.workspace, g.workspace) == 0);
	runtime_facts_release(&f);
	runtime_facts_release(&g);
	ak_buf_release(&b);
	return 0;
}
