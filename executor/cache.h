/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ak-policy said about a file, kept below ak's state folder so that it need not be asked again. Process: executor.
 * Privilege: the caller's. Nothing here judges what it reads: who uses an entry compares it with what it was made from.
 */
#ifndef AK_CACHE_H
#define AK_CACHE_H

#include <stddef.h>

/**
 * cache_get() - the bytes of an entry
 * @state:	ak's state folder; NULL: there is no cache
 * @kind:	folder of the cache in it, "config" or "seccomp"
 * @name:	one component
 * @max:	more bytes than these are no entry
 * @ret:	malloc'ed; untouched on failure
 * The folder must be the caller's and open to nobody else, the entry a regular file and no link.
 * Return: 0; -ENOENT, -EPERM (the folder), -EINVAL (no regular file), -E2BIG, -ENOMEM and what open(2) and read(2) give.
 */
int cache_get(const char *state, const char *kind, const char *name, size_t max, char **ret, size_t *ret_len);

/**
 * cache_put() - keep bytes, in place of what was there; the folders are made where they are missing
 * Best effort: without it the next run asks again. Whoever reads meanwhile sees the old bytes or the new ones.
 */
void cache_put(const char *state, const char *kind, const char *name, const void *bytes, size_t len);

/** cache_drop() - remove a kind's folder with its entries, if it is the caller's and open to nobody else; best effort */
void cache_drop(const char *state, const char *kind);

/**
 * cache_read_whole() - what is left to read of a descriptor
 * Return: 0; -E2BIG (more than @max), -ENOMEM, what read(2) gives. @ret is malloc'ed, and untouched on failure.
 */
int cache_read_whole(int fd, size_t max, char **ret, size_t *ret_len);

#endif
