/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's own seccomp profile: read, compiled by ak-policy or taken from the cache, looked at. The executor parses no JSON.
 * Process: executor, before privilege falls. Privilege: the caller's.
 */
#ifndef AK_SECCOMP_USER_H
#define AK_SECCOMP_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;
struct hostinfo;
struct plan;

/**
 * seccomp_user_load() - put the filter of a profile file into a plan
 * @path:	as the user named it
 * @keep:	write what was compiled to the cache; false: change nothing (--explain)
 * @plan:	gets filter, filter_count, canary_skip, and the profile's remarks as warnings
 *
 * Cache: STATE/seccomp/HASH, which holds the whole profile and is compared with it byte for byte; an entry of another version of
 * ak, kernel release or machine, or one that does not decode, is made anew. A cache that cannot be written is none.
 * Return: 0; -EINVAL (no regular file, or ak-policy refused it: the text names the place), -E2BIG (over 1 MiB), -ENOENT and
 * what open(2) gives, what companion_run() gives.
 */
int seccomp_user_load(const char *path, bool keep, const struct hostinfo *h, struct plan *plan, struct ak_err *err);

/**
 * seccomp_user_read() - the text of a profile file
 * @who:	begins each message: the option or command that named it
 * @ret:	malloc'ed, not NUL-terminated
 * Return: 0, or as seccomp_user_load().
 */
int seccomp_user_read(const char *who, const char *path, char **ret, size_t *ret_len, struct ak_err *err);

/** seccomp_user_canaries() - bit n set: init's self-test n would end the process under this filter, so it is left out */
uint32_t seccomp_user_canaries(const uint8_t *insns, uint32_t count);

#endif
