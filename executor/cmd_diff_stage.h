/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of what a changeset changed, side by side, for a diff program to look at in a sandbox. Process: the child that is the
 * workspace's owner. Privilege: the owner's.
 */
#ifndef AK_CMD_DIFF_STAGE_H
#define AK_CMD_DIFF_STAGE_H

#include <stddef.h>
#include <stdint.h>

struct ak_buf;
struct ak_err;
struct changes;

#define STAGE "diff"			/* folder in the changeset's own; STAGE/a: before, STAGE/b: after */
#define STAGE_FILE_MAX (16ull << 20)	/* bytes of one file whose text is compared */
#define STAGE_TOTAL_MAX (1ull << 30)	/* of all */

/**
 * stage_make() - make the copies
 * @paths:	what to show; NULL: all
 * @notes:	gets a line for each change that a diff of texts cannot show: modes, types, folders, special and large files
 * @ret_files:	how many files there are to compare
 * An earlier, interrupted stage is removed first. Return: 0 or negative errno.
 */
int stage_make(const struct changes *c, char *const *paths, struct ak_buf *notes, size_t *ret_files, struct ak_err *err);

#endif
