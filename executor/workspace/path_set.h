/* SPDX-License-Identifier: Apache-2.0 */
/* A set of paths, by hashing. Pure; any process, no privilege. */
#ifndef AK_WORKSPACE_PATH_SET_H
#define AK_WORKSPACE_PATH_SET_H

#include <stdbool.h>
#include <stddef.h>

struct path_set {
	char **v;	/* open addressing; NULL: free */
	size_t n, cap;	/* cap is a power of two, or 0 */
};

/** path_set_add() - copy @path into the set. Return: false when memory ran out. */
bool path_set_add(struct path_set *s, const char *path);
bool path_set_has(const struct path_set *s, const char *path);
void path_set_release(struct path_set *s);

static inline size_t path_set_count(const struct path_set *s)
{
	return s->n;
}

#endif
