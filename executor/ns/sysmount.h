/* SPDX-License-Identifier: Apache-2.0 */
/* The mount API by descriptor: thin wrappers over the calls glibc 2.36 has no functions for. Process: set-up child. */
#ifndef AK_NS_SYSMOUNT_H
#define AK_NS_SYSMOUNT_H

#include <linux/mount.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/kabi.h"

/* struct open_how of linux/openat2.h, whose header clashes with fcntl.h on some libcs */
struct ak_open_how {
	uint64_t flags, mode, resolve;
};

/**
 * sys_openat2_how() - openat2(2); by single steps where it is refused with ENOSYS, as under a filter of ak's
 * Return: the descriptor, or -1 and errno.
 */
int sys_openat2_how(int dirfd, const char *path, const struct ak_open_how *how);
/** sys_openat2_steps() - the same, always by steps, for tests. Return: the descriptor or negative errno. */
int sys_openat2_steps(int dirfd, const char *path, const struct ak_open_how *how);

static inline int sys_openat2(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct ak_open_how how = { .flags = flags, .resolve = resolve };

	return sys_openat2_how(dirfd, path, &how);
}

static inline int sys_open_tree(int dirfd, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dirfd, path, flags);
}

static inline int sys_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags)
{
	return (int)syscall(SYS_move_mount, from, from_path, to, to_path, flags);
}

static inline int sys_mount_setattr(int dirfd, const char *path, unsigned flags, struct mount_attr *attr)
{
	return (int)syscall(SYS_mount_setattr, dirfd, path, flags, attr, sizeof(*attr));
}

static inline int sys_fsopen(const char *name, unsigned flags)
{
	return (int)syscall(SYS_fsopen, name, flags);
}

static inline int sys_fsconfig(int fd, unsigned cmd, const char *key, const char *value)
{
	return (int)syscall(SYS_fsconfig, fd, cmd, key, value, 0);
}

static inline int sys_fsmount(int fd, unsigned flags, unsigned attr)
{
	return (int)syscall(SYS_fsmount, fd, flags, attr);
}

static inline int sys_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}

#endif
