/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations of serve mode, in a process of their own for each: a file system, a pipe or a lock that blocks, blocks only that
 * process. It has the rights of the commands: their uid, their mounts, their Landlock domain, no capability.
 *
 * A path is looked up below one of the places of the configuration, by openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS:
 * links are followed as far as they stay below that place. Nothing of procfs or sysfs is served, and only folders and regular
 * files are opened; FIFOs, sockets and devices never are.
 */
#ifndef AK_INIT_FILES_H
#define AK_INIT_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "executor/init/box.h"

/* One operation; every function returns 0 or a negative errno */
struct fileop {
	const struct box *b;
	const struct init_req *q;
	int data;		/* descriptor of the request; -1 */
	struct worker_mem *m;
	const char *hint;	/* static: for the errno that is returned */
	bool nolinks;		/* a path with a link in it is refused, -ELOOP */
};

/* A name and the folder that it is in */
struct place {
	int dir;		/* O_PATH; -1: @name is a root itself */
	char name[256];		/* NAME_MAX and the NUL; no '/', not "." or ".." */
};

/** fileop_open() - open what a path leads to. @nofollow: of a link at its end the link. Return: descriptor (O_PATH). */
int fileop_open(struct fileop *f, const char *path, bool nofollow, struct stat *ret);
/** fileop_place() - the folder of a path's last name. @parents: make missing folders. @follow: through links at its end */
int fileop_place(struct fileop *f, const char *path, bool parents, bool follow, struct place *ret);
#define FILEOP_FD_PATH 32
/** fileop_fd_path() - a descriptor of ours as a path */
void fileop_fd_path(int fd, char ret[FILEOP_FD_PATH]);
/** fileop_reopen() - a regular file or folder that is open as O_PATH, for reading. Return: descriptor. */
int fileop_reopen(int fd, int flags);
/** fileop_below() - open a folder's own subfolder @name, never through a link. @xdev: other mounts too. Return: descriptor for reading. */
int fileop_below(const struct fileop *f, int dir, const char *name, bool xdev);
/** fileop_fill() - what the answer says of a file */
void fileop_fill(struct fileop *f, const struct stat *st);
uint32_t fileop_kind(mode_t mode);
/** fileop_write_all() - to the data descriptor. */
int fileop_write_all(int fd, const void *buf, size_t n);

/* the operations */
int fileop_read(struct fileop *f);
int fileop_write(struct fileop *f);
int fileop_stat(struct fileop *f);
int fileop_mkdir(struct fileop *f);
int fileop_rename(struct fileop *f);
int fileop_list(struct fileop *f);
int fileop_walk(struct fileop *f);
int fileop_remove(struct fileop *f);

#endif
