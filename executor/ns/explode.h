/* SPDX-License-Identifier: Apache-2.0 */
/* Makes room for a mount point inside a folder that is read-only. Process: set-up child. */
#ifndef AK_NS_EXPLODE_H
#define AK_NS_EXPLODE_H

struct mnt_ctx;

#define EXPLODE_ENTRIES_MAX 4096

/**
 * mount_explode() - cover a read-only folder by a tmpfs that shows its entries again
 * @at:		O_PATH descriptor of the folder; replaced by one of the tmpfs on success
 *
 * Folders and files are bound read-only, links are made again, other kinds are left out. Nothing is written to the folder
 * itself. The tmpfs stays writable until mount_finish(). Return: 0; -E2BIG (over EXPLODE_ENTRIES_MAX entries, or over
 * MOUNT_EXPLODED_MAX folders), or the errno of the step.
 */
int mount_explode(struct mnt_ctx *c, int *at);

#endif
