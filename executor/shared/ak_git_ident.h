/* SPDX-License-Identifier: Apache-2.0 */
/* A name and a mail address, as ak-policy hands them to the executor. Pure; any process, no privilege, allocates nothing. */
#ifndef AK_SHARED_AK_GIT_IDENT_H
#define AK_SHARED_AK_GIT_IDENT_H

#include <stddef.h>

#define GIT_IDENT_MAX 256u		/* bytes of either, with NUL */
#define GIT_IDENT_ANSWER (2u * GIT_IDENT_MAX)

struct git_ident {
	char name[GIT_IDENT_MAX], email[GIT_IDENT_MAX];
};

/** git_ident_text_ok() - may @text be either: short, and nothing in it that is no character of a line? */
int git_ident_text_ok(const char *text, size_t len);

/**
 * git_ident_decode() - two lines, name and mail; either may be empty
 * Return: 0; -EBADMSG, and @ret is untouched.
 */
int git_ident_decode(const char *text, size_t len, struct git_ident *ret);

#endif
