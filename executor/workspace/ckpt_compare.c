/* SPDX-License-Identifier: Apache-2.0 */
/* Compares trees, entry by entry. Pure; process: the commands around checkpoints. */
#include "executor/workspace/ckpt_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "executor/workspace/copy.h"

static bool same_type(const struct ckpt_entry *a, const struct ckpt_entry *b)
{
	return (a->id.mode & S_IFMT) == (b->id.mode & S_IFMT);
}

bool ckpt_same_bytes(const struct ckpt_entry *a, const struct ckpt_entry *b)
{
	if (!same_type(a, b))
		return false;
	if (S_ISREG(a->id.mode))
		return a->id.size == b->id.size && memcmp(a->hash, b->hash, CKPT_HASH_BYTES) == 0;
	if (S_ISLNK(a->id.mode))
		return a->link && b->link && strcmp(a->link, b->link) == 0;
	return a->id.rdev == b->id.rdev;
}

bool ckpt_same_rights(const struct ckpt_entry *a, const struct ckpt_entry *b)
{
	/* the mode of a link is nobody's choice */
	return (S_ISLNK(a->id.mode) || (a->id.mode & 07777) == (b->id.mode & 07777)) && a->id.uid == b->id.uid && a->id.gid == b->id.gid;
}

static bool has_xattr(const struct ckpt_entry *e, const struct ckpt_xattr *want)
{
	struct ckpt_xattr x;
	uint32_t pos = 0;

	while (ckpt_xattr_next(e, &pos, &x)) {
		if (strcmp(x.name, want->name) == 0)
			return x.len == want->len && memcmp(x.value, want->value, x.len) == 0;
	}
	return false;
}

bool ckpt_same_xattrs(const struct ckpt_entry *a, const struct ckpt_entry *b)
{
	struct ckpt_xattr x;
	uint32_t pos = 0;

	if (a->xattrs_len != b->xattrs_len)
		return false;
	while (ckpt_xattr_next(a, &pos, &x)) {
		if (!has_xattr(b, &x))
			return false;
	}
	return true;
}

size_t ckpt_overlay_lost(const struct ckpt_tree *want, const struct ckpt_tree *now, const char *const *paths)
{
	size_t n = 0;

	for (size_t i = 0; i < want->n; i++) {
		const struct ckpt_entry *e = &want->e[i], *is = NULL;
		struct ckpt_xattr x;
		uint32_t pos = 0;

		while (e->same_as == CKPT_NO_LINK && ckpt_xattr_next(e, &pos, &x)) {
			if (!ws_xattr_overlay(x.name) || !ckpt_in_scope(paths, e->path))
				continue;
			is = is ? is : ckpt_tree_find(now, e->path);
			n += is && !has_xattr(is, &x);
		}
	}
	return n;
}

enum ckpt_op ckpt_op_of(const struct ckpt_entry *a, const struct ckpt_entry *b)
{
	if (!a || !b)
		return a ? CKPT_DELETED : CKPT_ADDED;
	if (!same_type(a, b))
		return CKPT_TYPE;
	if ((a->flags | b->flags) & CKPT_LEFT)
		return CKPT_SAME;
	if (!ckpt_same_bytes(a, b))
		return CKPT_MODIFIED;
	if (!ckpt_same_rights(a, b))
		return CKPT_MODE;
	if (!ckpt_same_xattrs(a, b) || (!S_ISDIR(a->id.mode) && a->id.mtime_ns != b->id.mtime_ns))
		return CKPT_META;
	return CKPT_SAME;
}

const char *ckpt_op_name(enum ckpt_op op)
{
	static const char *const names[] = {"same", "added", "modified", "deleted", "mode", "type", "same"};

	return names[op];
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct ckpt_difference *)a)->path, ((const struct ckpt_difference *)b)->path);
}

long ckpt_compare(const struct ckpt_tree *old, const struct ckpt_tree *now, struct ckpt_difference **ret)
{
	struct ckpt_difference *list = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < old->n + now->n; i++) {
		bool first = i < now->n;
		const struct ckpt_entry *b = first ? &now->e[i] : NULL;
		const struct ckpt_entry *a = first ? ckpt_tree_find(old, b->path) : &old->e[i - now->n];
		enum ckpt_op op;

		if (!first && ckpt_tree_find(now, a->path))
			continue;
		op = ckpt_op_of(a, b);
		if (op == CKPT_SAME || op == CKPT_META)
			continue;
		if (n == cap) {
			struct ckpt_difference *v = reallocarray(list, cap ? cap * 2 : 64, sizeof(*v));

			if (!v) {
				free(list);
				return -ENOMEM;
			}
			list = v;
			cap = cap ? cap * 2 : 64;
		}
		list[n++] = (struct ckpt_difference){first ? b->path : a->path, op, a, b};
	}
	if (n > 0)
		qsort(list, n, sizeof(*list), by_path);
	*ret = list;
	return (long)n;
}

bool ckpt_in_scope(const char *const *paths, const char *path)
{
	if (!paths || !paths[0])
		return true;
	for (; *paths; paths++) {
		size_t n = strlen(*paths);

		if (n == 0 || (strncmp(*paths, path, n) == 0 && (path[n] == '\0' || path[n] == '/')))
			return true;
	}
	return false;
}
