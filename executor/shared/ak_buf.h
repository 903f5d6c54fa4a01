/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer with a maximum. Any process, no privilege. */
#ifndef AK_SHARED_AK_BUF_H
#define AK_SHARED_AK_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct ak_buf {
	char *data;	/* NUL-terminated whenever not NULL */
	size_t len;
	size_t cap;
	size_t max;	/* bytes at most; 0: AK_BUF_MAX */
	bool failed;	/* latched: out of memory, over the maximum, or the sink cannot be written */
	int sink;	/* 0: none; else a descriptor above 0 that full blocks are written to: @len is then what is left */
};

#define AK_BUF_BLOCK (64u << 10)

#define AK_BUF_MAX (64u << 20)

/** ak_buf_release() - free the bytes; the buffer is empty afterwards, keeps its maximum and may be used again */
void ak_buf_release(struct ak_buf *b);
/** ak_buf_flush() - write what is left to the sink */
void ak_buf_flush(struct ak_buf *b);
/** ak_buf_add() - append @n bytes whole, or nothing and latch `failed`; after a failure every addition does nothing */
void ak_buf_add(struct ak_buf *b, const void *p, size_t n);
/** ak_buf_str() - append a string, as ak_buf_add() does */
void ak_buf_str(struct ak_buf *b, const char *s);
/** ak_buf_printf() - append formatted text, as ak_buf_add() does; arguments must not point into the buffer */
void ak_buf_printf(struct ak_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
