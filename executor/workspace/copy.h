/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of single files by descriptor, and putting one in place beneath a folder: a temporary name, then one rename. Any
 * process; privilege: the caller's. Shared by changesets and checkpoints.
 */
#ifndef AK_WORKSPACE_COPY_H
#define AK_WORKSPACE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/workspace/fsat.h"

struct ak_err;

#define WS_XATTRS_MAX 64u		/* user.* attributes of one file that are kept */
#define WS_XATTR_BYTES_MAX (64u << 10)	/* of one value: the kernel's own limit */

/**
 * ws_copy_data() - make @to hold the bytes of @from
 * @to:		empty, open for writing
 * Shares blocks where the file system can (FICLONE), else copies within the kernel, else reads and writes; holes stay holes.
 * Return: 0, -EFBIG (longer than @max), -ENOSPC, -EIO ...; @to is incomplete then.
 */
int ws_copy_data(int from, int to, uint64_t max);

/*
 * The attributes by which overlayfs marks files when it is mounted with "userxattr". In a lower layer they hold too: a file with
 * "metacopy" cannot be opened (EIO), an empty one with "whiteout" is not there. What a command itself sets under such a name, the overlay
 * keeps in the upper layer as "user.overlay.overlay.NAME". Source: Documentation/filesystems/overlayfs.rst.
 */
#define WS_XATTR_OVERLAY "user.overlay."
/* what is said where some were not written: their number, "" or "s" */
#define WS_XATTR_DROPPED_FMT "%zu attribute%s user.overlay.* left out: a later cow run would not see such a file, or not read it"

/**
 * ws_copy_xattrs() - take over extended attributes in the user namespace, but those that mean something to overlayfs
 * @dropped:	grows by the number of those that a command had set, as an overlay's upper layer has them; may be NULL
 * Return: 0; -E2BIG over WS_XATTRS_MAX; -EOPNOTSUPP when @to's file system has none and there are some.
 */
int ws_copy_xattrs(int from, int to, size_t *dropped);

/** ws_xattr_kept() - is an extended attribute taken over? */
bool ws_xattr_kept(const char *name);

/** ws_xattr_overlay() - does it mean something to overlayfs? */
bool ws_xattr_overlay(const char *name);

/**
 * struct ws_file - what ws_install() puts in place
 * @src:	descriptor of a regular file, open for reading; -1 where @link is set
 * @link:	text of a symbolic link, or NULL
 * @mode:	07777 bits of a regular file; set-id bits are dropped
 * @uid, @gid:	owner; -1: leave as it comes
 * @mtime_ns:	-1: leave as it comes
 * @dropped:	see ws_copy_xattrs(); may be NULL
 * @old:	what must still be there (all zero: nothing); checked directly before the rename. NULL: anything but a folder
 */
struct ws_file {
	int src;
	const char *link;
	uint32_t mode;
	int64_t uid, gid;
	int64_t mtime_ns;
	size_t *dropped;
	const struct ws_ident *old;
};

/**
 * ws_install() - put a file at @name in @dir, whole or not at all
 * @tmp:	name for the time until the rename, in @dir; the caller removes it after a crash, so it must be able to know it
 * @ret:	identity of what is there now; may be NULL
 * Return: 0, -ESTALE (@old no longer holds; nothing changed), -EISDIR, -ENOSPC, ...; @tmp is gone also after a failure.
 */
int ws_install(int dir, const char *name, const char *tmp, const struct ws_file *f, struct ws_ident *ret);

#endif
