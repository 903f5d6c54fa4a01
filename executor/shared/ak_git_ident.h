/* SPDX-License-Identifier: Apache-2.0 */
/* Who commits, between the executor and ak-policy: files in, a name and a mail address out. Pure; any process, no privilege, allocates nothing. */
#ifndef AK_SHARED_AK_GIT_IDENT_H
#define AK_SHARED_AK_GIT_IDENT_H

#include <stdbool.h>
#include <stddef.h>

#define GIT_IDENT_MAX 256u		/* bytes of either, with NUL */
#define GIT_IDENT_FILES_MAX 14u		/* looked at, with those that are not there */
#define GIT_IDENT_PATH_MAX 4096u	/* of one of them, with NUL */
#define GIT_IDENT_ANSWER (2u * GIT_IDENT_MAX + GIT_IDENT_FILES_MAX * GIT_IDENT_PATH_MAX)

struct git_ident {
	char name[GIT_IDENT_MAX], email[GIT_IDENT_MAX];
};

/* @text NULL: there is no such file. @root: read for itself, in the order of the list; else only where one that is read includes it */
struct git_ident_file {
	const char *path;
	const char *text;
	size_t len;
	bool root;
};

/* everything is borrowed */
struct git_ident_files {
	const char *home;	/* what "~/" stands for */
	size_t n;
	struct git_ident_file v[GIT_IDENT_FILES_MAX];
};

/** git_ident_text_ok() - may @text be either: short, and nothing in it that is no character of a line? */
int git_ident_text_ok(const char *text, size_t len);
/** git_ident_path_ok() - may @text be the path of a file that is wanted? */
int git_ident_path_ok(const char *text, size_t len);
/** git_ident_files_find() - Return: NULL where no file of this path was looked at */
const struct git_ident_file *git_ident_files_find(const struct git_ident_files *f, const char *path);

/** git_ident_files_encode() - Return: bytes; -ENOBUFS */
long git_ident_files_encode(const struct git_ident_files *f, void *buf, size_t cap);
/** git_ident_files_decode() - its inverse; texts point into @buf. Return: 0; -EBADMSG, and @ret is untouched. */
int git_ident_files_decode(const void *buf, size_t len, struct git_ident_files *ret);

/**
 * git_ident_decode() - two lines, name and mail, either may be empty; behind them a line for each file that is wanted as well
 * @ret_more:	the first of those lines, in @text: see git_ident_more()
 * Return: 0; -EBADMSG, and nothing is changed.
 */
int git_ident_decode(const char *text, size_t len, struct git_ident *ret, const char **ret_more);
/** git_ident_more() - take the path of a line that git_ident_decode() has checked. @end: of the text. Return: false behind the last. */
bool git_ident_more(const char **at, const char *end, char ret[static GIT_IDENT_PATH_MAX]);

#endif
