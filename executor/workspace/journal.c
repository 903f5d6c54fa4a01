/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a changeset in memory and as bytes. Pure; any process, no privilege. */
#include "executor/workspace/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_wire.h"

#define RECORD_FIXED 192u	/* a record without its path */
#define SUM_BYTES 8u
#define FNV_START 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

#define WITH_BY 0x80u	/* in the bytes only, with the flags: what it is protected by stands behind the path */

static const char magic[8] = "AKJRNL1\n";

const char *change_op_name(unsigned op)
{
	static const char *const names[CHANGE_OPS] = { NULL, "added", "modified", "deleted", "mode", "type" };

	return op < CHANGE_OPS ? names[op] : NULL;
}

int journal_add(struct journal *j, const struct change *c, struct ak_err *err)
{
	size_t len = strlen(c->path) + 1;
	struct change copy = *c;

	if (j->n >= JOURNAL_CHANGES_MAX)
		return ak_err_set(err, E2BIG, "more than %u changes", JOURNAL_CHANGES_MAX);
	if (j->bytes + len + RECORD_FIXED > JOURNAL_BYTES_MAX)
		return ak_err_set(err, E2BIG, "the names of the changes need more than %u bytes", JOURNAL_BYTES_MAX);
	if (j->n == j->cap) {
		size_t cap = j->cap ? j->cap * 2 : 64;
		struct change *v = reallocarray(j->v, cap, sizeof(*v));

		if (!v)
			return ak_err_set(err, ENOMEM, "not enough memory for the changes");
		j->v = v;
		j->cap = cap;
	}
	copy.path = malloc(len);
	if (!copy.path)
		return ak_err_set(err, ENOMEM, "not enough memory for the changes");
	memcpy(copy.path, c->path, len);
	copy.by = NULL;
	copy.old.blocks = copy.now.blocks = 0;
	j->v[j->n++] = copy;
	j->bytes += len + RECORD_FIXED;
	if (c->by && journal_set_by(j, j->n - 1, c->by) < 0)
		return ak_err_set(err, ENOMEM, "not enough memory for the changes");
	return 0;
}

int journal_set_by(struct journal *j, size_t i, const char *by)
{
	size_t len = strlen(by) + 1;
	char *copy;

	if (!ws_path_ok(by) || j->bytes + len + 4 > JOURNAL_BYTES_MAX)
		return 0;
	copy = malloc(len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, by, len);
	free(j->v[i].by);
	j->v[i].by = copy;
	j->bytes += len + 4;
	return 0;
}

static void drop_one(struct change *c)
{
	free(c->path);
	free(c->by);
}

int journal_order(const char *a, const char *b)
{
	for (;; a++, b++) {
		/* the separator is the lowest of all bytes, the end lower still */
		int x = *a == '\0' ? 0 : *a == '/' ? 1 : (unsigned char)*a + 1;
		int y = *b == '\0' ? 0 : *b == '/' ? 1 : (unsigned char)*b + 1;

		if (x != y || x == 0)
			return x - y;
	}
}

static int by_path(const void *a, const void *b)
{
	return journal_order(((const struct change *)a)->path, ((const struct change *)b)->path);
}

static bool sorted(const struct journal *j)
{
	for (size_t i = 1; i < j->n; i++)
		if (journal_order(j->v[i - 1].path, j->v[i].path) >= 0)
			return false;
	return true;
}

/* of equal paths the first is kept: qsort may change their order, so the place decides */
static int by_path_and_place(const void *a, const void *b)
{
	int r = by_path(a, b);
	const struct change *x = a, *y = b;

	return r ? r : x->now.blocks < y->now.blocks ? -1 : x->now.blocks > y->now.blocks;
}

void journal_sort(struct journal *j)
{
	size_t kept = 0;

	if (sorted(j))
		return;
	for (size_t i = 0; i < j->n; i++)
		j->v[i].now.blocks = i;
	qsort(j->v, j->n, sizeof(j->v[0]), by_path_and_place);
	for (size_t i = 0; i < j->n; i++) {
		j->v[i].now.blocks = 0;
		if (kept > 0 && strcmp(j->v[kept - 1].path, j->v[i].path) == 0)
			drop_one(&j->v[i]);
		else
			j->v[kept++] = j->v[i];
	}
	j->n = kept;
}

struct change *journal_find(const struct journal *j, const char *path)
{
	struct change key = { .path = (char *)path };

	return j->n ? bsearch(&key, j->v, j->n, sizeof(j->v[0]), by_path) : NULL;
}

void journal_drop(struct journal *j, bool (*drop)(const struct change *c, void *arg), void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->n; i++) {
		if (drop(&j->v[i], arg))
			drop_one(&j->v[i]);
		else
			j->v[kept++] = j->v[i];
	}
	j->n = kept;
}

/* length of the outermost folder ".git" in a path, as it is written; 0: none */
static size_t git_folder(const char *path)
{
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 4 && strncasecmp(p, ".git", n) == 0)
			return (size_t)(p - path) + n;
		p += n + (p[n] == '/');
	}
	return 0;
}

size_t journal_whole(const struct journal *j, size_t i, unsigned *ret_op)
{
	size_t n = j->v[i].flags & CHANGE_WHOLE ? git_folder(j->v[i].path) : 0;

	/* the folder itself stands before what is in it; where it is a folder again it did not change itself */
	if (n > 0)
		*ret_op = j->v[i].path[n] == '\0' && j->v[i].op != CHANGE_MODE ? j->v[i].op : CHANGE_MODIFIED;
	return n;
}

bool journal_follows(const struct journal *j, size_t i)
{
	unsigned op;
	size_t n = journal_whole(j, i, &op);

	return n > 0 && i > 0 && journal_whole(j, i - 1, &op) == n && memcmp(j->v[i].path, j->v[i - 1].path, n) == 0;
}

void journal_release(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++)
		drop_one(&j->v[i]);
	free(j->v);
	*j = (struct journal){ 0 };
}

static uint64_t sum_of(const uint8_t *p, size_t n)
{
	uint64_t h = FNV_START;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * FNV_PRIME;
	return h;
}

static void put_ident(struct ak_wr *w, const struct ws_ident *id)
{
	ak_wr_u32(w, id->mode);
	ak_wr_u32(w, id->uid);
	ak_wr_u32(w, id->gid);
	ak_wr_u32(w, id->nlink);
	ak_wr_u64(w, id->dev);
	ak_wr_u64(w, id->ino);
	ak_wr_u64(w, id->size);
	ak_wr_u64(w, (uint64_t)id->mtime_ns);
	ak_wr_u64(w, (uint64_t)id->ctime_ns);
	ak_wr_u64(w, id->rdev);
}

static void get_ident(struct ak_rd *r, struct ws_ident *id)
{
	id->mode = ak_rd_u32(r);
	id->uid = ak_rd_u32(r);
	id->gid = ak_rd_u32(r);
	id->nlink = ak_rd_u32(r);
	id->dev = ak_rd_u64(r);
	id->ino = ak_rd_u64(r);
	id->size = ak_rd_u64(r);
	id->mtime_ns = (int64_t)ak_rd_u64(r);
	id->ctime_ns = (int64_t)ak_rd_u64(r);
	id->rdev = ak_rd_u64(r);
}

void journal_encode(const struct journal *j, struct ak_buf *out)
{
	size_t start = out->len;
	uint8_t buf[2 * (WS_PATH_MAX + 5) + RECORD_FIXED] AK_UNINIT;
	struct ak_wr w;

	ak_buf_add(out, magic, sizeof(magic));
	ak_wr_init(&w, buf, sizeof(buf));
	ak_wr_u64(&w, j->n);
	ak_buf_add(out, buf, w.len);
	for (size_t i = 0; i < j->n; i++) {
		const struct change *c = &j->v[i];

		ak_wr_init(&w, buf, sizeof(buf));
		ak_wr_u8(&w, c->op);
		ak_wr_u8(&w, (uint8_t)(c->flags | (c->by ? WITH_BY : 0)));
		ak_wr_str(&w, c->path);
		if (c->by)
			ak_wr_str(&w, c->by);
		put_ident(&w, &c->old);
		put_ident(&w, &c->now);
		if (ak_wr_done(&w) < 0)
			out->failed = true;	/* a path that ws_path_ok() would not take */
		ak_buf_add(out, buf, w.len);
	}
	if (out->failed)
		return;
	ak_wr_init(&w, buf, sizeof(buf));
	ak_wr_u64(&w, sum_of((const uint8_t *)out->data + start, out->len - start));
	ak_buf_add(out, buf, w.len);
}

/* what an op means for the two sides */
static bool sides_fit(const struct change *c)
{
	bool old = c->old.mode != 0, now = c->now.mode != 0;

	switch (c->op) {
	case CHANGE_ADDED:
		return !old && now;
	case CHANGE_DELETED:
		return old && !now;
	case CHANGE_TYPE:
		return old && now && (c->old.mode & S_IFMT) != (c->now.mode & S_IFMT);
	default:
		return old && now && (c->old.mode & S_IFMT) == (c->now.mode & S_IFMT);
	}
}

static int get_change(struct ak_rd *r, struct journal *j)
{
	struct change c = { .op = ak_rd_u8(r), .flags = ak_rd_u8(r) };

	bool with_by = c.flags & WITH_BY;

	c.flags &= (uint8_t)~WITH_BY;
	c.path = (char *)ak_rd_str(r);
	c.by = with_by ? (char *)ak_rd_str(r) : NULL;
	get_ident(r, &c.old);
	get_ident(r, &c.now);
	if (r->failed || !c.path || !ws_path_ok(c.path) || c.op < CHANGE_ADDED || c.op >= CHANGE_OPS ||
	    (c.flags & ~CHANGE_FLAGS) || !sides_fit(&c))
		return -EBADMSG;
	if (with_by && (!c.by || !ws_path_ok(c.by) || !(c.flags & (CHANGE_PROTECTED | CHANGE_LISTED))))
		return -EBADMSG;
	if (j->n > 0 && journal_order(j->v[j->n - 1].path, c.path) >= 0)
		return -EBADMSG;
	return journal_add(j, &c, NULL) < 0 ? -ENOMEM : 0;
}

int journal_decode(const void *buf, size_t len, struct journal *ret)
{
	struct journal j = { 0 };
	struct ak_rd r;
	uint64_t n;
	int e = 0;

	if (len < sizeof(magic) + SUM_BYTES || len > JOURNAL_BYTES_MAX + 64u || memcmp(buf, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	ak_rd_init(&r, (const uint8_t *)buf + len - SUM_BYTES, SUM_BYTES);
	if (ak_rd_u64(&r) != sum_of(buf, len - SUM_BYTES))
		return -EBADMSG;
	ak_rd_init(&r, (const uint8_t *)buf + sizeof(magic), len - sizeof(magic) - SUM_BYTES);
	n = ak_rd_u64(&r);
	if (n > JOURNAL_CHANGES_MAX)
		return -EBADMSG;
	for (uint64_t i = 0; e == 0 && i < n; i++)
		e = get_change(&r, &j);
	if (e == 0)
		e = ak_rd_done(&r);
	if (e < 0) {
		journal_release(&j);
		return e;
	}
	*ret = j;
	return 0;
}
