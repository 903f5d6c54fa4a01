/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seccomp filters compiled at build time (seccomp/compile.c, libseccomp, binary tree) and embedded as arrays.
 * Nothing here links libseccomp. Process: executor (which only passes the bytes on). Privilege: none.
 */
#ifndef AK_SECCOMP_FILTERS_H
#define AK_SECCOMP_FILTERS_H

#include <stddef.h>
#include <stdint.h>

struct seccomp_filter {
	const char *name;
	const uint8_t *insns;	/* count * 8 bytes: struct sock_filter, native byte order */
	uint32_t count;
};

/** seccomp_profile() - "default", "strict" or "nested"; Return: NULL for an unknown name. Lives for ever. */
const struct seccomp_filter *seccomp_profile(const char *name);

/** seccomp_call_name() - name of a system call of this machine; Return: NULL when the number has none. Lives for ever. */
const char *seccomp_call_name(uint32_t nr);

enum seccomp_floor_kind {
	SECCOMP_FLOOR_USER,	/* rootless: refuses set-user-id mode bits */
	SECCOMP_FLOOR_ROOT,	/* root caller: refuses set-user-id and set-group-id mode bits */
	SECCOMP_FLOOR_SETID,	/* nothing writable maps to host ids: mode bits are free */
	/* --nesting: namespaces, the mount tree and a new session keyring are allowed */
	SECCOMP_FLOOR_NESTED,	/* refuses set-user-id and set-group-id mode bits */
	SECCOMP_FLOOR_NESTED_SETID,	/* mode bits are free */
	/* --isolation landlock: no UNIX socket with a name, no objects of the machine; both kinds of mode bits refused */
	SECCOMP_FLOOR_PLAIN,	/* no socket at all */
	SECCOMP_FLOOR_PLAIN_NET,	/* internet sockets */
};

/** seccomp_floor() - the floor, which no profile lifts. Lives for ever. */
const struct seccomp_filter *seccomp_floor(enum seccomp_floor_kind kind);

#endif
