/* SPDX-License-Identifier: Apache-2.0 */
/* What to do when a disk is full. Pure; any process, no privilege. */
#ifndef AK_SHARED_AK_NO_SPACE_H
#define AK_SHARED_AK_NO_SPACE_H

struct ak_err;

/* of the state folder: for what is new, and for a changeset (its id) that holds something already */
#define AK_STATE_NO_SPACE                                                                                                      \
	"free space on the disk of the state folder (XDG_STATE_HOME, else ~/.local/state), or set XDG_STATE_HOME to a folder " \
	"on another disk"
#define AK_STATE_NO_SPACE_KEPT_FMT                                                                                             \
	"free space on the disk of the state folder (XDG_STATE_HOME, else ~/.local/state): nothing is lost, the changes are "  \
	"kept there as %s"

/**
 * ak_no_space() - give @err this advice when it says that a disk is full (ENOSPC, EDQUOT) and has none yet
 * @err:	may be NULL
 */
void ak_no_space(struct ak_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
