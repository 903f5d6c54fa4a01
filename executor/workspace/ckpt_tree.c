/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a tree in memory: adding, finding, freeing. Pure; process: the commands around checkpoints. */
#include "executor/workspace/ckpt_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"

#define BLOCK_BYTES (1u << 20)

struct ckpt_block {
	struct ckpt_block *next;
	size_t used, cap;
	char bytes[];
};

static void *keep(struct ckpt_tree *t, const void *p, size_t n)
{
	struct ckpt_block *b = t->blocks;
	void *at;

	if (!b || b->cap - b->used < n) {
		size_t cap = n > BLOCK_BYTES ? n : BLOCK_BYTES;

		b = malloc(sizeof(*b) + cap);
		if (!b)
			return NULL;
		*b = (struct ckpt_block){.next = t->blocks, .cap = cap};
		t->blocks = b;
	}
	at = memcpy(b->bytes + b->used, p, n);
	b->used += n;
	return at;
}

void ckpt_tree_reserve(struct ckpt_tree *t, size_t n)
{
	struct ckpt_entry *e = t->e || n > SIZE_MAX / sizeof(*e) ? NULL : malloc(n * sizeof(*e));

	if (e) {
		t->e = e;
		t->cap = n;
	}
}

struct ckpt_entry *ckpt_tree_add(struct ckpt_tree *t, const struct ckpt_entry *e)
{
	struct ckpt_entry copy = *e;

	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 256;
		struct ckpt_entry *v = reallocarray(t->e, cap, sizeof(*v));

		if (!v)
			return NULL;
		t->e = v;
		t->cap = cap;
	}
	copy.path = keep(t, e->path, strlen(e->path) + 1);
	if (e->link)
		copy.link = keep(t, e->link, strlen(e->link) + 1);
	if (e->xattrs)
		copy.xattrs = keep(t, e->xattrs, e->xattrs_len);
	if (!copy.path || (e->link && !copy.link) || (e->xattrs && !copy.xattrs))
		return NULL;
	t->e[t->n] = copy;
	return &t->e[t->n++];
}

static size_t hash_path(const char *path)
{
	uint64_t h = 14695981039346656037ULL;

	for (; *path; path++)
		h = (h ^ (unsigned char)*path) * 1099511628211ULL;
	return (size_t)(h ^ h >> 32);
}

static size_t hash_ino(uint64_t dev, uint64_t ino)
{
	uint64_t h = (ino * 0x9e3779b97f4a7c15ULL) ^ (dev * 0xff51afd7ed558ccdULL);

	return (size_t)(h ^ h >> 29);
}

static void index_one(struct ckpt_tree *t, size_t i)
{
	const struct ckpt_entry *e = &t->e[i];
	size_t p = hash_path(e->path) & (t->slots - 1), k = hash_ino(e->id.dev, e->id.ino) & (t->slots - 1);

	while (t->by_path[p])
		p = (p + 1) & (t->slots - 1);
	while (t->by_ino[k])
		k = (k + 1) & (t->slots - 1);
	t->by_path[p] = t->by_ino[k] = (uint32_t)i + 1;
}

int ckpt_tree_index(struct ckpt_tree *t)
{
	size_t slots = 64;

	while (slots < t->n * 4)
		slots *= 2;
	free(t->by_path);
	free(t->by_ino);
	t->by_path = calloc(slots, sizeof(*t->by_path));
	t->by_ino = calloc(slots, sizeof(*t->by_ino));
	t->slots = slots;
	if (!t->by_path || !t->by_ino)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		index_one(t, i);
	return 0;
}

int ckpt_tree_index_last(struct ckpt_tree *t)
{
	if (t->n * 2 > t->slots)
		return ckpt_tree_index(t);
	index_one(t, t->n - 1);
	return 0;
}

struct ckpt_entry *ckpt_tree_find(const struct ckpt_tree *t, const char *path)
{
	if (!t->slots)
		return NULL;
	for (size_t p = hash_path(path) & (t->slots - 1); t->by_path[p]; p = (p + 1) & (t->slots - 1)) {
		struct ckpt_entry *e = &t->e[t->by_path[p] - 1];

		if (strcmp(e->path, path) == 0)
			return e;
	}
	return NULL;
}

const struct ckpt_entry *ckpt_tree_find_ino(const struct ckpt_tree *t, uint64_t dev, uint64_t ino)
{
	if (!t->slots)
		return NULL;
	for (size_t p = hash_ino(dev, ino) & (t->slots - 1); t->by_ino[p]; p = (p + 1) & (t->slots - 1)) {
		const struct ckpt_entry *e = &t->e[t->by_ino[p] - 1];

		if (e->id.ino == ino && e->id.dev == dev)
			return e;
	}
	return NULL;
}

void ckpt_tree_release(struct ckpt_tree *t)
{
	free(t->e);
	free(t->by_path);
	free(t->by_ino);
	free(t->file);
	for (struct ckpt_block *b = t->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	*t = (struct ckpt_tree){0};
}

/* each: length of the value (4 bytes, in this machine's order), name, NUL, value */
void ckpt_xattr_add(struct ak_buf *out, const char *name, const void *value, uint32_t len)
{
	ak_buf_add(out, &len, sizeof(len));
	ak_buf_add(out, name, strlen(name) + 1);
	ak_buf_add(out, value, len);
}

bool ckpt_xattr_next(const struct ckpt_entry *e, uint32_t *pos, struct ckpt_xattr *ret)
{
	uint32_t left = e->xattrs_len - *pos, len;
	const unsigned char *p, *end;

	if (!e->xattrs || left < sizeof(len) + 1)
		return false;
	p = e->xattrs + *pos;
	memcpy(&len, p, sizeof(len));
	end = memchr(p + sizeof(len), '\0', left - sizeof(len));
	if (!end || len > left - (uint32_t)(end + 1 - p))
		return false;
	*ret = (struct ckpt_xattr){.name = (const char *)p + sizeof(len), .value = end + 1, .len = len};
	*pos += (uint32_t)(end + 1 - p) + len;
	return true;
}
