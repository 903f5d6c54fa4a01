/* SPDX-License-Identifier: Apache-2.0 */
/* The hash by which a trace tells arguments apart without holding them. Process: agent. Privilege: none. */
#include "agent/trace.h"

#include <openssl/sha.h>
#include <stdio.h>

#include "agent/json.h"
#include "agent/trace_int.h"
#include "executor/shared/ak_buf.h"

void trace_args_text(const char *args, size_t len, struct ak_buf *out)
{
	struct cJSON *doc = NULL;

	if (json_parse(args, len, JSON_REPAIR, NULL, &doc, NULL) == 0)
		json_print(doc, JSON_SORTED, out);
	else
		ak_buf_add(out, args, len);
	json_free(doc);
}

void trace_sha_hex(const char *p, size_t n, char *buf)
{
	unsigned char hash[SHA256_DIGEST_LENGTH];

	(void)SHA256((const unsigned char *)p, n, hash);
	for (size_t i = 0; i < (TRACE_SHA - 1) / 2; i++)
		(void)snprintf(buf + 2 * i, 3, "%02x", hash[i]);
}

char *trace_args_sha(const char *args, size_t len, char *buf)
{
	struct ak_buf b = { 0 };

	trace_args_text(args, len, &b);
	trace_sha_hex(b.data ? b.data : "", b.len, buf);
	ak_buf_release(&b);
	return buf;
}
