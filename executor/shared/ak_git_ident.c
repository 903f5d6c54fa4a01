/* SPDX-License-Identifier: Apache-2.0 */
/* A name and a mail address in two lines. Any process, no privilege, allocates nothing. */
#include "executor/shared/ak_git_ident.h"

#include <errno.h>
#include <string.h>

int git_ident_text_ok(const char *text, size_t len)
{
	if (len >= GIT_IDENT_MAX)
		return 0;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return 0;
	return 1;
}

int git_ident_decode(const char *text, size_t len, struct git_ident *ret)
{
	struct git_ident id = { "", "" };
	const char *first = memchr(text, '\n', len);
	size_t n = first ? (size_t)(first - text) : 0;
	const char *second = first ? memchr(first + 1, '\n', len - n - 1) : NULL;
	size_t m = second ? (size_t)(second - first - 1) : 0;

	if (!second || n + m + 2 != len || !git_ident_text_ok(text, n) || !git_ident_text_ok(first + 1, m))
		return -EBADMSG;
	memcpy(id.name, text, n);
	memcpy(id.email, first + 1, m);
	*ret = id;
	return 0;
}
