/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files below a folder held by descriptor, where an untrusted party may change every name meanwhile. Any process;
 * privilege: what the caller has. Shared by changesets and checkpoints.
 *
 * Invariant: a path here is relative, has no empty, "." or ".." component, and is resolved with openat2(2) beneath the folder
 * and without following any symbolic link or leaving the mount it starts on. A last component is only ever handed to a
 * *at() call that does not follow it, relative to a descriptor of its folder.
 */
#ifndef AK_WORKSPACE_FSAT_H
#define AK_WORKSPACE_FSAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ak_err;

#define WS_PATH_MAX 4095u	/* bytes of a relative path: what one system call takes */
#define WS_NAME_MAX 255u

/**
 * struct ws_ident - what tells whether a file is still the one that was seen
 * All zero: there is no such file. @mode has the type bits, so it is never zero otherwise.
 */
struct ws_ident {
	uint32_t mode, uid, gid, nlink;
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;	/* since 1970 */
	uint64_t blocks;		/* 512 bytes each; not part of the identity */
	uint64_t rdev;
};

/** ws_path_ok() - is @path what this module takes? Not empty, at most WS_PATH_MAX bytes. */
bool ws_path_ok(const char *path);

/**
 * ws_stat() - identity of @name in folder @dir, not followed
 * Return: 0 (a missing file too: *@ret is all zero then), or a negative errno.
 */
int ws_stat(int dir, const char *name, struct ws_ident *ret);
int ws_fstat(int fd, struct ws_ident *ret);

/** ws_stat_beneath() - the same for a path beneath @root; a missing or replaced parent folder counts as a missing file */
int ws_stat_beneath(int root, const char *path, struct ws_ident *ret);

/**
 * ws_same() - are the two the same unchanged file? Device, inode, type, mode, owner, size, mtime and ctime are compared;
 * of folders all but size and times, which change with what is in them.
 */
bool ws_same(const struct ws_ident *a, const struct ws_ident *b);

/** ws_open_dir() - the folder @path beneath @root, to read; "" is @root itself. Return: descriptor or negative errno. */
int ws_open_dir(int root, const char *path);

/**
 * ws_open_parent() - the folder that holds @path
 * @ret_name:	points at the last component within @path
 * Return: descriptor (O_PATH | O_DIRECTORY) or negative errno (-ENOENT, -ENOTDIR, -ELOOP, -EXDEV).
 */
int ws_open_parent(int root, const char *path, const char **ret_name);

/**
 * ws_open_file() - open the regular file @name in @dir, to read, and say what it is
 * A FIFO or device is never opened (it is looked at first, and again on the descriptor).
 * Return: descriptor, -EINVAL for anything but a regular file, or a negative errno.
 */
int ws_open_file(int dir, const char *name, struct ws_ident *ret);

/**
 * ws_read_link() - text of the symbolic link @name in @dir
 * @buf:	WS_PATH_MAX + 1 bytes; NUL-terminated
 * Return: length or negative errno.
 */
int ws_read_link(int dir, const char *name, char *buf);

/** ws_safe_mode() - 07777 of @mode without set-user-id and set-group-id bits; a folder keeps set-group-id */
uint32_t ws_safe_mode(uint32_t mode);

/**
 * ws_remove() - remove @name in @dir, with all that is in it, whatever its depth; a missing one is fine
 * Follows nothing and stays on the file system of @dir. Folders that their owner may not read are opened up first. Needs three
 * descriptors whatever the depth: deep folders are first moved to the top of what is removed. Interrupted, it can be called again.
 * What cannot be removed (somebody else's, a mount) stays, with the folders that it is in, moved up or not; the rest goes.
 * @err:	says which name, of the first that stays
 */
int ws_remove(int dir, const char *name, struct ak_err *err);

/** ws_empty() - the same for everything in folder @dir, which stays */
int ws_empty(int dir, struct ak_err *err);

#endif
