/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of traces share. Process: agent. Privilege: none. */
#ifndef AK_AGENT_TRACE_INT_H
#define AK_AGENT_TRACE_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_buf;
struct trace;
struct trace_turn;

/** trace_args_text() - arguments as they are hashed: compact JSON with sorted names, or the bytes where they are no JSON */
void trace_args_text(const char *args, size_t len, struct ak_buf *out);
/** trace_sha_hex() - the first twelve digits of SHA-256, and NUL, into TRACE_SHA bytes */
void trace_sha_hex(const char *p, size_t n, char *buf);
/** trace_record() - one record and its newline; @verbose: with texts, redacted */
void trace_record(const struct trace *t, const struct trace_turn *turn, uint64_t now_ms, bool verbose, struct ak_buf *out);

#endif
