/* SPDX-License-Identifier: Apache-2.0 */
/* Are two files beneath two folders the same in bytes and attributes? Any process; privilege: the caller's. */
#ifndef AK_WORKSPACE_COMPARE_H
#define AK_WORKSPACE_COMPARE_H

#include <stdint.h>

#include "executor/workspace/fsat.h"

enum { COMPARE_SAME = 0, COMPARE_OTHER = 1 };

/**
 * compare_files() - regular files and symbolic links by content and user.* attributes; modes, times and owners do not count
 * @dir, @name, @id:	one of them; @name is not followed
 * @root, @path, @other:	the other, beneath @root
 * @max:	bytes of a file that are compared; a longer one of the same length is COMPARE_OTHER
 * A special file is never opened and is COMPARE_SAME as another of its type and number. A file that the caller may not read counts
 * as COMPARE_OTHER. Return: COMPARE_*, or a negative errno.
 */
int compare_files(int dir, const char *name, const struct ws_ident *id, int root, const char *path,
		  const struct ws_ident *other, uint64_t max);

/**
 * compare_attributes() - the user.* attributes of two regular files, but those of overlayfs itself
 * @old, @now:	open for reading; negative: there is no such file
 * @tell:	called for each that is not the same: "added", "changed" or "removed"; a value that cannot be read counts as changed
 * Return: 0; -ENOMEM; or why the names cannot be read. A file system without attributes has none.
 */
int compare_attributes(int old, int now, void (*tell)(void *arg, const char *name, const char *what), void *arg);

#endif
