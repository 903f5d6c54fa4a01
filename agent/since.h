/* SPDX-License-Identifier: Apache-2.0 */
/* What has changed in the copy of the workspace since a moment, by two lists of its changes. Process: agent. Privilege: none. */
#ifndef AK_AGENT_SINCE_H
#define AK_AGENT_SINCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_buf.h"

struct ak_change_set;

#define SINCE_NAMES_MAX 50u

/**
 * struct since_files - when a path was written last; @mtime NULL: not known
 * @mtime:	Return: 0 with *@ret, nanoseconds since 1970; negative: not known
 */
struct since_files {
	int (*mtime)(void *ctx, const char *path, int64_t *ret);
	void *ctx;
};

/**
 * struct since - since_release()
 * @n:		paths that have changed since then
 * @unsure:	there may be others: a list was cut, or it is not known when a file was written
 * @names:	the first SINCE_NAMES_MAX of them, "\nmodified a"; owned
 */
struct since {
	uint64_t n;
	bool unsure;
	struct ak_buf names;
};

/**
 * since_compare() - paths that are in only one of the lists, or are another thing in each, or were written
 * since
 * @then, @now:	changes of the same copy against its workspace; entries as of ak_changes()
 * @then_ns:	when @then was made, of the clock that files get their times from
 * A path of @then that is not changed any more counts as well. A file of the same size with a time that was
 * set by hand is not seen. Return: 0; -ENOMEM; -EBADMSG (entries that are none).
 */
int since_compare(const struct ak_change_set *then, int64_t then_ns, const struct ak_change_set *now,
		  const struct since_files *files, struct since *ret);
void since_release(struct since *s);

#endif
