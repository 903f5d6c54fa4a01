/* SPDX-License-Identifier: Apache-2.0 */
/* What has changed between two lists of changes. Process: agent. Privilege: none. */
#include "agent/since.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/libak.h"

struct list {
	struct ak_change *v; /* by path; their paths point into the set */
	size_t n;
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct ak_change *)a)->path, ((const struct ak_change *)b)->path);
}

static int read_list(const struct ak_change_set *s, struct list *ret)
{
	struct ak_change c = {0};
	size_t pos = 0, n = 0;
	int r = 0;

	ret->v = calloc((size_t)s->entries + 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	while (n < s->entries && (r = ak_change_next(s->data, s->len, &pos, &c)) == 1)
		ret->v[n++] = c;
	ret->n = n;
	qsort(ret->v, n, sizeof(*ret->v), by_path);
	return r < 0 ? r : 0;
}

static void add(struct since *s, const char *what, const char *path)
{
	if (s->n++ < SINCE_NAMES_MAX)
		ak_buf_printf(&s->names, "\n%s %s", what, path);
}

/* the entries are the same: has it been written all the same? A folder's own time is that of what is in it */
static bool written(const struct ak_change *c, int64_t then_ns, const struct since_files *files,
		    struct since *s)
{
	int64_t at;

	if (!c->mode || S_ISDIR(c->mode))
		return false;
	if (files->mtime && files->mtime(files->ctx, c->path, &at) == 0)
		return at >= then_ns;
	s->unsure = true;
	return false;
}

static void compare(const struct list *then, int64_t then_ns, const struct list *now,
		    const struct since_files *files, struct since *s)
{
	size_t i = 0, k = 0;

	while (i < then->n || k < now->n) {
		const struct ak_change *a = i < then->n ? &then->v[i] : NULL,
				       *b = k < now->n ? &now->v[k] : NULL;
		int c = !a ? 1 : !b ? -1 : strcmp(a->path, b->path);

		if (c < 0) /* it is what the workspace has: a new one is gone, another one is back */
			add(s,
			    a->op == AK_CHANGE_ADDED	 ? "deleted"
			    : a->op == AK_CHANGE_DELETED ? "added"
							 : "modified",
			    a->path);
		else if (c > 0)
			add(s, ak_change_op_name(b->op), b->path);
		else if (a->op != b->op || a->mode != b->mode || (a->size != b->size && !S_ISDIR(b->mode)))
			add(s,
			    a->mode && !b->mode	  ? "deleted"
			    : !a->mode && b->mode ? "added"
						  : "modified",
			    b->path);
		else if (written(b, then_ns, files, s))
			add(s, "modified", b->path);
		i += c <= 0;
		k += c >= 0;
	}
}

int since_compare(const struct ak_change_set *then, int64_t then_ns, const struct ak_change_set *now,
		  const struct since_files *files, struct since *ret)
{
	struct list a = {0}, b = {0};
	int r = read_list(then, &a);

	*ret = (struct since){.unsure = then->more || now->more};
	if (r == 0)
		r = read_list(now, &b);
	if (r == 0)
		compare(&a, then_ns, &b, files, ret);
	free(a.v);
	free(b.v);
	return r == 0 && ret->names.failed ? -ENOMEM : r;
}

void since_release(struct since *s)
{
	ak_buf_release(&s->names);
	*s = (struct since){0};
}
