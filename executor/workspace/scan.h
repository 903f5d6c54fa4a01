/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the upper layer of an overlay and says what it changes in the folder below it. Process: executor, or a child of it that
 * is the owner of the workspace (owner.h). Privilege: none beyond that.
 *
 * What lies in the layer was made by hostile commands: names of any bytes, any depth, any number. It is looked at by descriptors
 * only, nothing is opened but folders and, to compare their bytes, regular files.
 */
#ifndef AK_WORKSPACE_SCAN_H
#define AK_WORKSPACE_SCAN_H

#include <stdint.h>

struct ak_err;
struct journal;
struct protected_place;

#define SCAN_COMPARE_MAX (1ull << 30)	/* bytes of one file that are compared; a larger one of equal size counts as modified */

/**
 * scan_layer() - all changes of an upper layer, sorted
 * @upper, @lower:	the layer's top and the workspace; borrowed
 * @place:	where the workspace is; gets the hooks of repositories in it
 * @start_ns:	when the run began: what was changed below since then is marked CHANGE_TOUCHED
 * @ret:	filled; release with journal_release() also after a failure
 *
 * Whiteouts (char 0:0) and opaque folders (user.overlay.opaque) become deletions of everything they cover, one by one. Files that
 * were copied up but have the same bytes, mode and attributes are no changes; neither are times alone, and owners.
 * A folder ".git" that is gone, replaced, or became something else is protected as a whole, with all that was in it: to take only the
 * ordinary part of that would leave half a repository.
 * Source: Documentation/filesystems/overlayfs.rst, "whiteouts and opaque directories".
 * Return: 0; -E2BIG (JOURNAL_*, WS_WALK_*), -ENAMETOOLONG (a path that no system call takes), -EACCES, -EIO ... named.
 */
int scan_layer(int upper, int lower, struct protected_place *place, int64_t start_ns, struct journal *ret, struct ak_err *err);

/**
 * scan_now() - the present time, not before the time of any file that has been written
 * A file that is written in the rest of this tick (4 ms as a rule) may have an earlier one.
 */
int64_t scan_now(void);

#endif
