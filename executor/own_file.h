/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens files that nobody but the caller or root has put where they are. Process: executor. Privilege: the
 * caller's.
 *
 * For configuration found by HOME and its like, which root may have from somebody else (sudo that keeps
 * HOME): a link there, put by the other, must not lead to a file that only root may read.
 */
#ifndef AK_OWN_FILE_H
#define AK_OWN_FILE_H

/**
 * own_file_open() - a regular file for reading
 * Each symbolic link on the way, the folder that holds the file, and the file belong to the caller or to
 * root; so links of one's own work. Without such a file it costs one call. Return: descriptor, the caller's
 * to close; -ENOENT, -ENOTDIR: there is none; -EPERM: something on the way is another's; -EINVAL: no regular
 * file; -ELOOP, -ENAMETOOLONG and what openat(2) gives.
 */
int own_file_open(const char *path);

#endif
