/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who commits, by the files of a git configuration and those that they include. Opens none: what is missing is asked for. Pure.
 * Process: ak-policy. Privilege: none.
 */
#ifndef AK_SECCOMP_GITIDENT_H
#define AK_SECCOMP_GITIDENT_H

#include <stddef.h>

#include "executor/shared/ak_git_ident.h"

#define GITIDENT_DEPTH_MAX 10u	/* of files that include each other, as git has it */
#define GITIDENT_READS_MAX 64u	/* files that are read in all, one again each time that it is included */

/* Files that are included, and are not among those that were given */
struct gitident_wanted {
	char path[GIT_IDENT_FILES_MAX][GIT_IDENT_PATH_MAX];
	size_t n;
};

/**
 * gitident_files() - user.name and user.email, as git comes to them
 * @wanted:	zeroed; with more than none of them, name and mail are not the last word
 *
 * [include] path = PATH stands for the text of that file, where it is: PATH is absolute, "~/" and what follows, or relative to the
 * folder of the file that says it. [includeIf], "~somebody/" and "%(prefix)/" are not followed. What is over a maximum is not read.
 * Source: git-config(1), "Includes".
 */
void gitident_files(const struct git_ident_files *in, struct git_ident *ret, struct gitident_wanted *wanted);

/**
 * gitident_path() - where an include leads
 * @from:	the file that says it
 * Return: 0; -1: nowhere, or it is too long.
 */
int gitident_path(const char *home, const char *from, const char *text, char ret[static GIT_IDENT_PATH_MAX]);

#endif
