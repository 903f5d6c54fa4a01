/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of keys from inside. Process: agent. Privilege: none. */
#ifndef AK_AGENT_KEYS_INT_H
#define AK_AGENT_KEYS_INT_H

#include "agent/keys.h"

struct pool_key {
	char *value;	/* owned; wiped before it is freed */
	enum key_scheme scheme;
	bool refused;
	uint64_t free_at_ms;	/* monotonic; 0: never limited */
	char name[96];
};

struct keys {
	struct pool_key key[KEYS_MAX];
	size_t count;
	size_t current;
};

/** keys_add_list() - keys with commas between them; those before an error stay (keys_cut() takes them back). Return: 0 or error. */
int keys_add_list(struct keys *k, const char *list, size_t len, enum key_scheme scheme, const char *source,
		  struct ak_err *err);
/** keys_cut() - wipe the keys from number @count on */
void keys_cut(struct keys *k, size_t count);

#endif
