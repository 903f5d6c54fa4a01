/* SPDX-License-Identifier: Apache-2.0 */
/* Path text: lexical only, nothing touches the file system. Pure; any process, no privilege. */
#ifndef AK_SHARED_AK_PATH_H
#define AK_SHARED_AK_PATH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * ak_path_normalize() - absolute path without "//", "." , trailing slash, and with ".." resolved lexically
 * @base:	absolute; used when @path is relative; may be NULL when @path is absolute
 * Return: malloc'ed string; NULL with errno EINVAL (relative without base, empty), ENAMETOOLONG (4095 bytes), ENOMEM.
 */
char *ak_path_normalize(const char *base, const char *path);

/** ak_path_below() - is @path equal to @top or below it? Both normalised. */
bool ak_path_below(const char *path, const char *top);

/** ak_path_depth() - number of components of a normalised path; 0 for "/" */
unsigned ak_path_depth(const char *path);

#endif
