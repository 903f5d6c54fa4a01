/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of paths. Pure; any process, no privilege. Names come from hostile commands, which could choose many that hash alike: the
 * hash starts with random bytes of this process, and a set never holds more than its walk has folders.
 */
#include "executor/workspace/path_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* SipHash-like mixing would be more than is needed here: a multiplication keyed by AT_RANDOM */
static uint64_t hash_of(const char *path)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t h = 0x9e3779b97f4a7c15ull, key = 1;

	if (random)
		memcpy(&key, random, sizeof(key));
	h ^= key;
	for (; *path; path++) {
		h = (h ^ (unsigned char)*path) * ((key << 1) | 0x100000001b3ull);
		h ^= h >> 29;
	}
	return h ^ (h >> 32);
}

static size_t slot_of(char *const *v, size_t cap, const char *path)
{
	size_t i = (size_t)hash_of(path) & (cap - 1);

	while (v[i] && strcmp(v[i], path) != 0)
		i = (i + 1) & (cap - 1);
	return i;
}

static bool grow(struct path_set *s)
{
	size_t cap = s->cap ? s->cap * 2 : 64;
	char **v = calloc(cap, sizeof(*v));

	if (!v)
		return false;
	for (size_t i = 0; i < s->cap; i++)
		if (s->v[i])
			v[slot_of(v, cap, s->v[i])] = s->v[i];
	free(s->v);
	s->v = v;
	s->cap = cap;
	return true;
}

bool path_set_add(struct path_set *s, const char *path)
{
	size_t i;

	if (s->n * 2 >= s->cap && !grow(s))
		return false;
	i = slot_of(s->v, s->cap, path);
	if (s->v[i])
		return true;
	s->v[i] = strdup(path);
	if (!s->v[i])
		return false;
	s->n++;
	return true;
}

bool path_set_has(const struct path_set *s, const char *path)
{
	return s->cap > 0 && s->v[slot_of(s->v, s->cap, path)];
}

void path_set_release(struct path_set *s)
{
	for (size_t i = 0; i < s->cap; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct path_set){ 0 };
}
