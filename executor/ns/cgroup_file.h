/* SPDX-License-Identifier: Apache-2.0 */
/* One file of a cgroup, by the descriptor of its directory. Process: executor, keeper. Privilege: the caller's. */
#ifndef AK_NS_CGROUP_FILE_H
#define AK_NS_CGROUP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * cgroup_read() - the start of a file as text
 * @dir:	descriptor of the group; opened for reading, or O_PATH
 * @buf:	filled and NUL-terminated; "" on failure
 * Return: bytes read, without the NUL; negative errno.
 */
long cgroup_read(int dir, const char *name, char *buf, size_t size);

/** cgroup_read_u64() - a file with one number; "max" is UINT64_MAX. Return: 0, -EINVAL, or the errno of open or read. */
int cgroup_read_u64(int dir, const char *name, uint64_t *ret);

/** cgroup_read_key() - the value of "KEY VALUE" in a flat keyed file. Return: 0, -ENOENT (no file or no such key), errno. */
int cgroup_read_key(int dir, const char *name, const char *key, uint64_t *ret);

/** cgroup_write() - write @text in one call. Return: 0 or negative errno. */
int cgroup_write(int dir, const char *name, const char *text);

/** cgroup_write_u64() - the same for a number */
int cgroup_write_u64(int dir, const char *name, uint64_t value);

/**
 * cgroup_procs() - who is in a group
 * @ret_others:	processes other than the caller
 * @ret_self:	the caller is one of them
 * Looks at the first 4 KiB of the list. Return: 0 or negative errno.
 */
int cgroup_procs(int dir, unsigned *ret_others, bool *ret_self);

/** cgroup_nsdelegate() - Return: whether a namespace is a boundary of delegation here: cgroups(7), mount option nsdelegate. */
bool cgroup_nsdelegate(void);

#endif
