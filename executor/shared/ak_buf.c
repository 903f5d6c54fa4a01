/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer with a maximum. Any process, no privilege. */
#include "executor/shared/ak_buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_fd.h"

#define BUF_FIRST 256u

void ak_buf_release(struct ak_buf *b)
{
	free(b->data);
	*b = (struct ak_buf){.max = b->max};
}

void ak_buf_flush(struct ak_buf *b)
{
	if (!b->failed && b->sink > 0 && ak_write_all(b->sink, b->data, b->len) < 0)
		b->failed = true;
	b->len = 0;
}

/* Room for @n more bytes and the final NUL; false latches the failure */
static bool reserve(struct ak_buf *b, size_t n)
{
	size_t max = b->max ? b->max : AK_BUF_MAX;

	if (b->failed)
		return false;
	if (max < b->len || n > max - b->len || b->len + n == SIZE_MAX) {
		b->failed = true;
		return false;
	}

	size_t need = b->len + n + 1;

	if (need <= b->cap)
		return true;

	size_t cap = b->cap ? b->cap : BUF_FIRST;

	while (cap < need && cap <= SIZE_MAX / 2)
		cap *= 2;
	if (cap < need)
		cap = need;

	char *data = realloc(b->data, cap);

	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void ak_buf_add(struct ak_buf *b, const void *p, size_t n)
{
	if (!reserve(b, n))
		return;
	if (n > 0)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
	if (b->sink > 0 && b->len >= AK_BUF_BLOCK)
		ak_buf_flush(b);
}

void ak_buf_str(struct ak_buf *b, const char *s)
{
	ak_buf_add(b, s, strlen(s));
}

void ak_buf_printf(struct ak_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	if (!reserve(b, (size_t)n))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}
