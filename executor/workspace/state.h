/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state folder: where changesets and checkpoints live between runs. Process: executor. Privilege: the caller's.
 *
 *   STATE/                  ${XDG_STATE_HOME:-~/.local/state}/ak, 0700, the caller's own; never visible in a sandbox
 *     sessions/c-XXXX/      one changeset of a cow run (see changeset.h)
 *     sessions/.new-XXXX/   one that is being made
 *     touched/uUID/s-XXXX/  what file tools changed in a direct run (see touched.h); of the workspace's owner
 *     checkpoints/          store of `ak checkpoint` (see checkpoint.h)
 *     seccomp/ run/         others' folders
 *
 * Every folder here is made 0700 and must be a folder, the caller's, closed to others and not reached through a link of its own
 * name; it is opened once and everything else goes by descriptor.
 */
#ifndef AK_WORKSPACE_STATE_H
#define AK_WORKSPACE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;
struct hostinfo;

/**
 * state_open() - the folder STATE/@sub
 * @make:	make what is missing; else a missing folder is -ENOENT with no text
 * Return: descriptor or a negative errno: -ENOENT, -EPERM (somebody else's), -EACCES (open to others), -ELOOP, -ENOTDIR.
 */
int state_open(const struct hostinfo *h, const char *sub, bool make, struct ak_err *err);

/**
 * state_refused_fs() - the kind of file system by statfs(2)'s f_type, if it cannot hold an overlay's upper layer
 * Return: its name; NULL: it is not known not to. Pure.
 */
const char *state_refused_fs(uint32_t magic);

/**
 * state_check_fs() - can an overlay's upper layer, or anything that needs attributes and atomic renames, live in @dir?
 * @shown:	the folder as the user knows it
 * Return: 0; -EOPNOTSUPP naming the kind of file system, with the way out (XDG_STATE_HOME).
 */
int state_check_fs(int dir, const char *shown, struct ak_err *err);

#define STATE_NEW_PREFIX ".new-"
#define STATE_NEW_MAX 12	/* bytes of such a name */
#define STATE_NEW_SECONDS 600	/* after which one that is still called so is taken for what a crash left */

/**
 * state_new_dir() - a folder (0700) in @dir that is not there yet for anybody else: ".new-4f2a91"
 * Whoever sweeps @dir sees a folder of another kind only when it is whole: it is filled and locked first, then state_name_dir() gives it
 * its name.
 * Return: descriptor of the new folder or negative errno.
 */
int state_new_dir(int dir, char ret[static STATE_NEW_MAX], struct ak_err *err);

/**
 * state_name_dir() - give the folder @made of state_new_dir(), which is not empty, a fresh name such as "c-4f2a91"
 * @prefix:	"c-" or the like
 * @ret:	at least strlen(@prefix) + 7 bytes
 * Return: 0 or negative errno: it is still called @made.
 */
int state_name_dir(int dir, const char *made, const char *prefix, char *ret, size_t cap, struct ak_err *err);

/** state_new_left() - is @name a folder of state_new_dir() that nothing happened to for @seconds? Whether it is locked: not asked. */
bool state_new_left(int dir, const char *name, long seconds);

/** state_id_ok() - could @id be a name that state_name_dir() made with @prefix? What the user types is asked this first. */
bool state_id_ok(const char *id, const char *prefix);

#endif
