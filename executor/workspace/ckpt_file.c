/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a checkpoint: a head, the entries, a sum. Pure; process: the commands around checkpoints.
 *
 * Numbers stand in this machine's order: the state folder stays on its machine, and a file of another one has another mark.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/ckpt_tree.h"

#define MARK 0x31747063616b6b61ULL	/* "akkacpt1" where the little end comes first */
#define VERSION 1u

/* of the file; texts follow each record, padded to 8 bytes */
struct head {
	uint64_t mark;
	uint32_t version, size_of_record;
	uint64_t made_ns, count;
	char note[CKPT_NOTE_MAX + 8];
	char before[CKPT_ID_MAX + 1];
};

struct record {
	uint64_t dev, ino, size, rdev;
	int64_t mtime_ns, ctime_ns;
	uint32_t mode, uid, gid, nlink;
	uint32_t path_len, link_len;	/* with their NUL; 0: none */
	uint32_t xattrs_len, same_as;
	unsigned char hash[CKPT_HASH_BYTES];
	uint32_t flags, spare;
};

#define SUM_FIRST 14695981039346656037ULL
#define BLOCK_BYTES (64u << 10)	/* that are written at once */

/* Goes on with a sum; eight bytes at a time: a file of some megabytes is summed for each save */
static uint64_t sum_on(uint64_t h, const char *p, size_t n)
{
	uint64_t v;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	for (; n > 0; p++, n--)
		h = (h ^ (unsigned char)*p) * 1099511628211ULL;
	return h;
}

uint64_t ckpt_file_sum(const char *p, size_t n)
{
	return sum_on(SUM_FIRST, p, n);
}

static void pad(struct ak_buf *out)
{
	static const char zero[8];

	ak_buf_add(out, zero, -out->len & 7);
}

static void put_head(const struct ckpt_tree *t, struct ak_buf *out)
{
	struct head h = {.mark = MARK, .version = VERSION, .size_of_record = sizeof(struct record), .made_ns = t->made_ns, .count = t->n};

	_Static_assert(sizeof(struct head) % 8 == 0 && sizeof(struct record) % 8 == 0, "the sum goes by eight bytes");
	memcpy(h.note, t->note, sizeof(t->note));
	memcpy(h.before, t->before, sizeof(t->before));
	ak_buf_add(out, &h, sizeof(h));
}

static void put_entry(const struct ckpt_entry *e, struct ak_buf *out)
{
	struct record r = {.dev = e->id.dev, .ino = e->id.ino, .size = e->id.size, .rdev = e->id.rdev, .mtime_ns = e->id.mtime_ns,
			   .ctime_ns = e->id.ctime_ns, .mode = e->id.mode, .uid = e->id.uid, .gid = e->id.gid,
			   .nlink = e->id.nlink, .path_len = (uint32_t)strlen(e->path) + 1,
			   .link_len = e->link ? (uint32_t)strlen(e->link) + 1 : 0, .xattrs_len = e->xattrs ? e->xattrs_len : 0,
			   .same_as = e->same_as, .flags = e->flags};

	memcpy(r.hash, e->hash, sizeof(r.hash));
	ak_buf_add(out, &r, sizeof(r));
	ak_buf_add(out, e->path, r.path_len);
	if (e->link)
		ak_buf_add(out, e->link, r.link_len);
	if (e->xattrs)
		ak_buf_add(out, e->xattrs, r.xattrs_len);
	pad(out);
}

void ckpt_tree_encode(const struct ckpt_tree *t, struct ak_buf *out)
{
	size_t first = out->len;
	uint64_t sum;

	put_head(t, out);
	for (size_t i = 0; i < t->n; i++)
		put_entry(&t->e[i], out);
	sum = out->failed ? 0 : ckpt_file_sum(out->data + first, out->len - first);
	ak_buf_add(out, &sum, sizeof(sum));
}

/* what is in @out goes to the file, and into the sum */
static int put_block(struct ak_buf *out, int fd, uint64_t *sum, size_t *total)
{
	int r = out->failed ? -ENOMEM : ak_write_all(fd, out->data, out->len);

	if (r < 0)
		return r;
	*sum = sum_on(*sum, out->data, out->len);
	*total += out->len;
	out->len = 0;
	return *total > CKPT_FILE_BYTES - sizeof(*sum) ? -EFBIG : 0;
}

int ckpt_tree_write(const struct ckpt_tree *t, int fd)
{
	uint64_t sum = SUM_FIRST;
	struct ak_buf b = {0};
	size_t total = 0;
	int r = 0;

	put_head(t, &b);
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		put_entry(&t->e[i], &b);
		if (b.len >= BLOCK_BYTES || b.failed)
			r = put_block(&b, fd, &sum, &total);
	}
	if (r == 0)
		r = put_block(&b, fd, &sum, &total);
	if (r == 0)
		r = ak_write_all(fd, &sum, sizeof(sum));
	ak_buf_release(&b);
	return r;
}

struct reader {
	const char *p;
	size_t left;
	bool bad;
};

static const char *take(struct reader *r, size_t n)
{
	const char *p = r->p;

	if (r->bad || n > r->left) {
		r->bad = true;
		return NULL;
	}
	r->p += n;
	r->left -= n;
	return p;
}

/* a text of @n bytes with its NUL, and no other */
static const char *take_text(struct reader *r, uint32_t n)
{
	const char *p = n > 0 ? take(r, n) : NULL;

	if (p && strnlen(p, n) != n - 1)
		r->bad = true;
	return r->bad ? NULL : p;
}

static bool xattrs_ok(const struct ckpt_entry *e)
{
	struct ckpt_xattr x;
	uint32_t pos = 0;

	while (ckpt_xattr_next(e, &pos, &x)) {
		if (strncmp(x.name, "user.", 5) != 0)
			return false;
	}
	return pos == e->xattrs_len;
}

/* does it fit to the entries before it? */
static bool entry_ok(const struct ckpt_tree *t, const struct ckpt_entry *e)
{
	mode_t type = e->id.mode & S_IFMT;

	if (!e->path || (t->n == 0 ? e->path[0] != '\0' || !S_ISDIR(type) : !ws_path_ok(e->path)))
		return false;
	if (S_ISLNK(type) != (e->link != NULL) && !(e->flags & CKPT_LEFT))
		return false;
	if (e->same_as != CKPT_NO_LINK &&
	    (e->same_as >= t->n || (t->e[e->same_as].id.mode & S_IFMT) != type || S_ISDIR(type) || t->e[e->same_as].same_as != CKPT_NO_LINK))
		return false;
	return (!e->xattrs || xattrs_ok(e)) && e->id.mtime_ns > INT64_MIN / 2;
}

static bool read_entry(struct reader *r, struct ckpt_tree *t)
{
	const char *at = take(r, sizeof(struct record));
	struct ckpt_entry e = {.same_as = CKPT_NO_LINK};
	struct record rec;

	if (!at)
		return false;
	memcpy(&rec, at, sizeof(rec));
	e.id = (struct ws_ident){.mode = rec.mode, .uid = rec.uid, .gid = rec.gid, .nlink = rec.nlink, .dev = rec.dev, .ino = rec.ino,
				 .size = rec.size, .mtime_ns = rec.mtime_ns, .ctime_ns = rec.ctime_ns, .rdev = rec.rdev};
	memcpy(e.hash, rec.hash, sizeof(e.hash));
	e.same_as = rec.same_as;
	e.flags = (uint8_t)rec.flags;
	e.path = take_text(r, rec.path_len);
	e.link = take_text(r, rec.link_len);
	e.xattrs_len = rec.xattrs_len;
	e.xattrs = rec.xattrs_len ? (const unsigned char *)take(r, rec.xattrs_len) : NULL;
	(void)take(r, -((size_t)rec.path_len + rec.link_len + rec.xattrs_len) & 7);
	if (r->bad || !entry_ok(t, &e))
		return false;
	t->e[t->n++] = e;
	return true;
}

/* Each path once, and behind its parent folder: what a restore makes in this order can be made */
static bool paths_ok(const struct ckpt_tree *t)
{
	char parent[WS_PATH_MAX + 1];

	for (size_t i = 0; i < t->n; i++) {
		const char *slash = strrchr(t->e[i].path, '/');
		size_t n = slash ? (size_t)(slash - t->e[i].path) : 0;
		const struct ckpt_entry *up;

		if (ckpt_tree_find(t, t->e[i].path) != &t->e[i])
			return false;
		memcpy(parent, t->e[i].path, n);
		parent[n] = '\0';
		up = ckpt_tree_find(t, parent);
		if (i > 0 && (!up || up > &t->e[i] || !S_ISDIR(up->id.mode)))
			return false;
	}
	return true;
}

static int decode(const char *file, size_t len, struct ckpt_tree *t)
{
	struct reader r = {.p = file, .left = len};
	uint64_t sum;
	struct head h;

	if (len < sizeof(h) + sizeof(sum))
		return -EBADMSG;
	memcpy(&h, take(&r, sizeof(h)), sizeof(h));
	if (h.mark != MARK)
		return -EBADMSG;
	if (h.version != VERSION || h.size_of_record != sizeof(struct record))
		return -EPROTONOSUPPORT;
	r.left -= sizeof(sum);
	memcpy(&sum, file + len - sizeof(sum), sizeof(sum));
	if (sum != ckpt_file_sum(file, len - sizeof(sum)) || h.count == 0 || h.count > r.left / sizeof(struct record) ||
	    !memchr(h.note, '\0', sizeof(t->note)) || !memchr(h.before, '\0', sizeof(h.before)))
		return -EBADMSG;
	t->made_ns = h.made_ns;
	memcpy(t->note, h.note, sizeof(t->note));
	memcpy(t->before, h.before, sizeof(t->before));
	ckpt_tree_reserve(t, h.count);
	if (!t->e)
		return -ENOMEM;
	while (t->n < h.count) {
		if (!read_entry(&r, t))
			return -EBADMSG;
	}
	return r.left > 0 ? -EBADMSG : 0;
}

int ckpt_tree_check(struct ckpt_tree *t)
{
	return ckpt_tree_index(t) < 0 ? -ENOMEM : paths_ok(t) ? 0 : -EBADMSG;
}

int ckpt_tree_decode(char *file, size_t len, struct ckpt_tree *ret)
{
	struct ckpt_tree t = {.file = file};
	int r = decode(file, len, &t);

	if (r < 0)
		ckpt_tree_release(&t);
	else
		*ret = t;
	return r;
}
