/* SPDX-License-Identifier: Apache-2.0 */
/* Which entries of a tree are in which folder of it. Pure; process: the commands around checkpoints. */
#include "executor/workspace/ckpt_below.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "executor/workspace/ckpt_tree.h"

/* is @path directly in the folder whose path has @n bytes? */
static bool is_in(const char *path, const char *folder, size_t n)
{
	if (strncmp(path, folder, n) != 0 || (n > 0 && path[n] != '/'))
		return false;
	return strchr(path + n + (n > 0), '/') == NULL;
}

/* as the walk does: the entries of a folder, then its folders in their order. Return: entries that were reached */
static size_t follow(const struct ckpt_tree *t, struct ckpt_below *b, uint32_t *stack)
{
	size_t depth = 0, at = 1;

	stack[depth++] = 0;
	while (depth > 0) {
		uint32_t f = stack[--depth];
		const char *path = t->e[f].path;
		size_t n = strlen(path);

		b->order[b->folders++] = f;
		b->first[f] = (uint32_t)at;
		while (at < t->n && is_in(t->e[at].path, path, n))
			at++;
		b->end[f] = (uint32_t)at;
		for (size_t i = at; i-- > b->first[f];) {
			if (S_ISDIR(t->e[i].id.mode))
				stack[depth++] = (uint32_t)i;
		}
	}
	return at;
}

int ckpt_below_init(const struct ckpt_tree *t, struct ckpt_below *ret)
{
	struct ckpt_below b = {.first = calloc(t->n + 1, sizeof(uint32_t)), .end = calloc(t->n + 1, sizeof(uint32_t)),
			       .order = calloc(t->n + 1, sizeof(uint32_t))};
	uint32_t *stack = malloc((t->n + 1) * sizeof(*stack));
	int r = !b.first || !b.end || !b.order || !stack ? -ENOMEM : t->n == 0 || follow(t, &b, stack) != t->n ? -EINVAL : 0;

	free(stack);
	if (r < 0)
		ckpt_below_release(&b);
	else
		*ret = b;
	return r;
}

void ckpt_below_release(struct ckpt_below *b)
{
	free(b->first);
	free(b->end);
	free(b->order);
	*b = (struct ckpt_below){0};
}
