/* SPDX-License-Identifier: Apache-2.0 */
/* Exact replacement of text; see edit_text.h. Pure. Process: agent. Privilege: none. */
#include "agent/edit_text.h"

#include <errno.h>
#include <string.h>

#include "executor/shared/ak_buf.h"

#define NEAR_BYTES_MAX (1u << 20) /* of a file that is searched for a near miss */

static size_t count_of(const char *text, size_t len, const char *what, size_t n)
{
	size_t count = 0;

	for (const char *p = text, *end = text + len; (p = memmem(p, (size_t)(end - p), what, n)) != NULL; p += n)
		count++;
	return count;
}

/* lines, and all of them end with CR LF */
static bool is_crlf(const char *text, size_t len)
{
	size_t lf = count_of(text, len, "\n", 1);

	return lf > 0 && count_of(text, len, "\r\n", 2) == lf;
}

/* lone newlines as CR LF */
static void with_cr(const char *s, struct ak_buf *out)
{
	char before = '\0';

	for (; *s; before = *s++) {
		if (*s == '\n' && before != '\r')
			ak_buf_str(out, "\r");
		ak_buf_add(out, s, 1);
	}
}

static bool white(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* does @old stand at @p, runs of white space taken for equal? */
static bool nearly(const char *p, const char *end, const char *old)
{
	while (*old) {
		if (white(*old)) {
			while (white(*old))
				old++;
			if (*old && (p == end || !white(*p)))
				return false;
			while (p < end && white(*p))
				p++;
			continue;
		}
		if (p == end || *p != *old)
			return false;
		p++;
		old++;
	}
	return true;
}

static uint64_t near_line(const char *text, size_t len, const char *old)
{
	const char *end = text + (len < NEAR_BYTES_MAX ? len : NEAR_BYTES_MAX);
	uint64_t line = 1;
	size_t tries = 0;

	while (white(*old))
		old++;
	if (!*old)
		return 0;
	for (const char *p = text; p < end; p++) {
		if (*p == *old && tries++ < NEAR_BYTES_MAX / 16 && nearly(p, end, old))
			return line;
		line += *p == '\n';
	}
	return 0;
}

static int replace(const char *text, size_t len, const char *old, size_t nold, const char *new, size_t nnew, bool all, struct ak_buf *out,
		   struct edit_found *ret)
{
	const char *p = text, *end = text + len, *hit;

	ret->count = count_of(text, len, old, nold);
	if (ret->count == 0)
		return -ENOENT;
	if (ret->count > 1 && !all)
		return -ENOTUNIQ;
	while ((hit = memmem(p, (size_t)(end - p), old, nold)) != NULL) {
		ak_buf_add(out, p, (size_t)(hit - p));
		ak_buf_add(out, new, nnew);
		p = hit + nold;
	}
	ak_buf_add(out, p, (size_t)(end - p));
	if (!out->failed)
		return 0;
	ak_buf_release(out);
	return -ENOMEM;
}

int edit_text(const char *text, size_t len, const char *old, const char *new, bool all, struct ak_buf *out, struct edit_found *ret)
{
	struct ak_buf o = { 0 }, n = { 0 };
	int rc;

	*ret = (struct edit_found){ 0 };
	if (!*old || strcmp(old, new) == 0)
		return -EINVAL;
	if (!is_crlf(text, len)) {
		rc = replace(text, len, old, strlen(old), new, strlen(new), all, out, ret);
	} else {
		with_cr(old, &o);
		with_cr(new, &n);
		rc = o.failed || n.failed ? -ENOMEM : replace(text, len, o.data, o.len, n.data ? n.data : "", n.len, all, out, ret);
		ak_buf_release(&o);
		ak_buf_release(&n);
	}
	if (rc == -ENOENT)
		ret->near_line = near_line(text, len, old);
	return rc;
}
