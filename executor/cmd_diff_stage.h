/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of what was changed, side by side, for a diff program to look at in a sandbox. Process: `ak diff` (the child that is the
 * workspace's owner), `ak checkpoint diff`. Privilege: the caller's.
 */
#ifndef AK_CMD_DIFF_STAGE_H
#define AK_CMD_DIFF_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_buf;
struct ak_err;
struct change;
struct ws_ident;

#define STAGE "diff"			/* the folder for them; STAGE/a: before, STAGE/b: after */
#define STAGE_FILE_MAX (16ull << 20)	/* bytes of one file whose text is compared */
#define STAGE_TOTAL_MAX (1ull << 30)	/* of all */

enum stage_side { STAGE_OLD, STAGE_NEW };

/* where the two sides of a change come from; each function says -ENOENT for what is gone by now, or a negative errno */
struct stage_source {
	void *arg;
	/* type and mode on that side; 0: nothing is there */
	uint32_t (*mode)(void *arg, const struct change *ch, enum stage_side side);
	/* a regular file, open for reading: descriptor, and its identity */
	int (*file)(void *arg, const struct change *ch, enum stage_side side, struct ws_ident *ret);
	/* text of a link into WS_PATH_MAX + 1 bytes: its length */
	int (*link)(void *arg, const struct change *ch, enum stage_side side, char *buf);
	/* what file() opens has the attributes of that side, too */
	bool attributes;
};

/**
 * stage_attributes() - the attributes that a change makes other ones: see compare_attributes()
 * A file that cannot be opened, and what is no regular file, has none.
 */
void stage_attributes(const struct stage_source *src, const struct change *ch, void (*tell)(void *arg, const char *name, const char *what),
		      void *arg);

/**
 * stage_make() - make the copies
 * @dir:	folder in which the folder STAGE is made, of ak's own; borrowed
 * @v, @n:	what was changed
 * @paths:	what to show of it; NULL: all
 * @notes:	gets a line for each change that a diff of texts cannot show: modes, types, attributes, folders, special and large files
 * @ret_files:	how many files there are to compare
 * An earlier, interrupted stage is removed first. Return: 0 or negative errno.
 */
int stage_make(int dir, const struct change *v, size_t n, const struct stage_source *src, char *const *paths, struct ak_buf *notes,
	       size_t *ret_files, struct ak_err *err);

#endif
