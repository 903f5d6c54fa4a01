/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of one provider: where they come from, which one is used next. Values appear in no message; they are wiped
 * when freed. Process: agent. Privilege: none.
 */
#ifndef AK_AGENT_KEYS_H
#define AK_AGENT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;
struct keys;

#define KEYS_MAX 32u		/* keys of one pool */
#define KEYS_VALUE_MAX 4096u	/* bytes of one key */

enum key_scheme {
	KEY_API,	/* the provider's own header (x-api-key), or Bearer where it has none */
	KEY_BEARER,	/* Authorization: Bearer, always (ANTHROPIC_AUTH_TOKEN) */
};

/* A variable to look for. A table of these ends with a NULL name. */
struct key_var {
	const char *name;	/* "OPENAI_API_KEY"; its numbered forms NAME_1 to NAME_32 are looked at, too */
	enum key_scheme scheme;
};

/* Borrowed from the pool */
struct key {
	const char *value;	/* visible ASCII, 1 to KEYS_VALUE_MAX bytes */
	enum key_scheme scheme;
	const char *name;	/* for messages: "OPENAI_API_KEY_2", "OPENAI_API_KEY (2 of 3)", "api_key_file (1 of 2)" */
};

/** keys_new() - an empty pool. Return: 0, -ENOMEM. */
int keys_new(struct keys **ret, struct ak_err *err);
/** keys_free() - wipe and free; NULL does nothing */
void keys_free(struct keys *k);

/**
 * keys_add_env() - take the keys of the first variable of @vars that has any, with its numbered forms
 * @env:	the environment, "NAME=value" rows up to NULL
 *
 * A value is a list with commas; white space around each key is dropped, and so are empty ones and repetitions. NAME comes
 * before NAME_1, NAME_2 and so on; gaps are allowed.
 * Return: the number of keys added, 0 when no variable is set; -EINVAL (a key with a space, a control character or a byte
 * over 126, or too long: @err names the variable, not the value); -E2BIG (over KEYS_MAX); -ENOMEM. Nothing is added then.
 */
int keys_add_env(struct keys *k, const struct key_var *vars, char *const env[], struct ak_err *err);

/**
 * keys_add_file() - keys of a file, one a line or with commas; lines that start with # are comments
 * At most 64 KiB. Must be a regular file of the caller's or root's that no other user can read or write.
 * Return: the number of keys added; -EPERM (owner or mode); -ENOENT and others of open(2); -EINVAL, -E2BIG, -ENOMEM as
 * keys_add_env(); -EFBIG; -ENODATA (no key in it, or only keys that are in the pool).
 */
int keys_add_file(struct keys *k, const char *path, enum key_scheme scheme, struct ak_err *err);

/**
 * keys_wipe_env() - overwrite the values of @vars and their numbered forms in @env with zeros, where they stand
 * So they leave /proc/self/environ and are passed on to no other program. The names stay, with empty values.
 */
void keys_wipe_env(const struct key_var *vars, char *env[]);
/** keys_wipe_all() - the same with every variable that is called NAME_API_KEY or NAME_API_KEY_1 and so on, whoever it is for */
void keys_wipe_all(char *env[]);

size_t keys_count(const struct keys *k);

/** keys_current() - the key to use now. Return: false when there is none: the pool is empty, or all were refused. */
bool keys_current(const struct keys *k, struct key *ret);

/**
 * keys_limited() - the current key hit a rate limit
 * @now_ms:	monotonic
 * @wait_ms:	how long it is limited
 *
 * The next key in turn that is not limited becomes the current one; when all are, the one that is free first.
 * Return: 0 when the new current key may be used at once, else milliseconds until it may.
 */
uint64_t keys_limited(struct keys *k, uint64_t now_ms, uint64_t wait_ms);

/** keys_refused() - the current key is wrong or has no credit: never used again. Return: true when another one is left. */
bool keys_refused(struct keys *k);

#endif
