/* SPDX-License-Identifier: Apache-2.0 */
/* Reads git configurations for keys that start programs, and for who commits. Process: ak-policy. Privilege: none. */
#ifndef AK_SECCOMP_GITKEYS_H
#define AK_SECCOMP_GITKEYS_H

#include <stddef.h>

#include "executor/shared/ak_git_ident.h"

#define GITKEYS_MAX 256u	/* different keys of one configuration that are looked at */
#define GITKEYS_NAME 128u	/* bytes of a key's name */

struct gitkeys {
	struct {
		char name[GITKEYS_NAME];	/* as git names it: section.Sub.key, section and key in small letters; cut with "..." */
		unsigned long long value;	/* a sum over its value */
	} key[GITKEYS_MAX];
	size_t n;
};

/**
 * gitkeys_read() - every setting in @text that makes git start a program, or read another configuration
 * @ret:	zeroed
 *
 * As git reads it: sections with and without a quoted name, any case, comments, quotes, continued lines. What git would refuse
 * ends nothing here: the next line is looked at. A value that says only yes or no starts nothing.
 * Source: git-config(1), "Syntax" and "Variables".
 */
void gitkeys_read(const char *text, size_t len, struct gitkeys *ret);

/* [include] path = @text: what that file says counts from here on */
typedef void gitident_include(void *arg, const char *text);

/**
 * gitident_read() - user.name and user.email, the last ones said; what is no line of text, or too long, counts as not said
 * @ret:	of an earlier text, or zeroed
 * @include:	called for each include, in order; NULL: none is followed
 */
void gitident_read(const char *text, size_t len, struct git_ident *ret, gitident_include *include, void *arg);

/** gitkeys_new() - is key @i of @now not in @old, or with another value? */
int gitkeys_new(const struct gitkeys *old, const struct gitkeys *now, size_t i);

#endif
