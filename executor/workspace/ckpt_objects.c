/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps file contents under their SHA-256. Process: the commands around checkpoints. Privilege: the caller's. */
#include "executor/workspace/ckpt_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_fd.h"

#define TMP "tmp-object"
#define CLONE_FROM CKPT_BLOCK_BYTES /* smaller files are read once and written once: cheaper than a clone */

int ckpt_objects_open(struct ckpt_objects *o, int dir)
{
	*o = (struct ckpt_objects){.dir = dir, .block = malloc(CKPT_BLOCK_BYTES)};
	if (o->block)
		return 0;
	ckpt_objects_close(o);
	return -ENOMEM;
}

void ckpt_objects_close(struct ckpt_objects *o)
{
	ak_fd_close(&o->dir);
	free(o->block);
	o->block = NULL;
}

void ckpt_hash_text(const unsigned char hash[static CKPT_HASH_BYTES], char ret[static 2 * CKPT_HASH_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < CKPT_HASH_BYTES; i++) {
		ret[2 * i] = digits[hash[i] >> 4];
		ret[2 * i + 1] = digits[hash[i] & 15];
	}
	ret[2 * CKPT_HASH_BYTES] = '\0';
}

/* "ab/cdef..." */
static void object_name(const unsigned char *hash, char ret[2 * CKPT_HASH_BYTES + 2])
{
	char text[2 * CKPT_HASH_BYTES + 1];

	ckpt_hash_text(hash, text);
	(void)snprintf(ret, 2 * CKPT_HASH_BYTES + 2, "%.2s/%s", text, text + 2);
}

static bool there(const struct ckpt_objects *o, const char *name, uint64_t size)
{
	struct stat st;

	return fstatat(o->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size;
}

static int make_tmp(const struct ckpt_objects *o)
{
	int fd;

	(void)unlinkat(o->dir, TMP, 0);	/* the store is locked: of a crash */
	fd = openat(o->dir, TMP, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	return fd < 0 ? -errno : fd;
}

/* the finished temporary file gets its name, unless the object is there already */
static int finish(struct ckpt_objects *o, const unsigned char *hash, uint64_t size)
{
	char name[2 * CKPT_HASH_BYTES + 2];
	int r = 0;

	object_name(hash, name);
	if (there(o, name, size)) {
		(void)unlinkat(o->dir, TMP, 0);
		return 0;
	}
	if (renameat(o->dir, TMP, o->dir, name) < 0) {
		char folder[3] = {name[0], name[1], '\0'};

		if (errno != ENOENT || (mkdirat(o->dir, folder, 0700) < 0 && errno != EEXIST) ||
		    renameat(o->dir, TMP, o->dir, name) < 0)
			r = -errno;
	}
	if (r < 0) {
		(void)unlinkat(o->dir, TMP, 0);
		return r;
	}
	if (o->nfresh < CKPT_FRESH_MAX)
		memcpy(o->fresh[o->nfresh], hash, CKPT_HASH_BYTES);
	if (o->nfresh <= CKPT_FRESH_MAX)
		o->nfresh++;
	o->bytes_new += size;
	o->count_new++;
	return 0;
}

static int write_at(int fd, const char *p, size_t n, off_t at)
{
	while (n > 0) {
		ssize_t k = pwrite(fd, p, n, at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? -errno : -EIO;
		p += k;
		n -= (size_t)k;
		at += k;
	}
	return 0;
}

static ssize_t read_at(int fd, char *p, size_t n, off_t at)
{
	ssize_t k;

	do
		k = pread(fd, p, n, at);
	while (k < 0 && errno == EINTR);
	return k < 0 ? -errno : k;
}

static bool all_zero(const char *p, size_t n)
{
	return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/*
 * The sum of a file. Whole blocks of zeros are not fed in, as a file may be a terabyte of hole; where they are is, and how many.
 * A file without one has its plain SHA-256.
 */
struct summer {
	SHA2_CTX data, zeros;
	bool any_zeros;
	uint64_t run_at, run;	/* the blocks of zeros that were just seen */
};

static void sum_begin(struct summer *s)
{
	*s = (struct summer){0};
	SHA256Init(&s->data);
	SHA256Init(&s->zeros);
}

static void sum_end_run(struct summer *s)
{
	if (s->run == 0)
		return;
	SHA256Update(&s->zeros, (uint8_t *)&s->run_at, sizeof(s->run_at));
	SHA256Update(&s->zeros, (uint8_t *)&s->run, sizeof(s->run));
	s->run = 0;
	s->any_zeros = true;
}

static void sum_zeros(struct summer *s, uint64_t at, uint64_t len)
{
	if (s->run == 0)
		s->run_at = at;
	s->run += len;
}

static void sum_data(struct summer *s, const char *p, size_t n)
{
	sum_end_run(s);
	SHA256Update(&s->data, (const uint8_t *)p, n);
}

static void sum_final(struct summer *s, unsigned char ret[CKPT_HASH_BYTES])
{
	unsigned char both[2][CKPT_HASH_BYTES];

	sum_end_run(s);
	SHA256Final(both[0], &s->data);
	SHA256Final(both[1], &s->zeros);
	memcpy(ret, both[0], CKPT_HASH_BYTES);
	if (s->any_zeros) {
		SHA256Init(&s->data);
		SHA256Update(&s->data, both[0], sizeof(both));
		SHA256Final(ret, &s->data);
	}
}

/* Return: bytes, fewer than a block only at the end of the file, or a negative errno */
static ssize_t read_block(int fd, char *p, off_t at)
{
	size_t n = 0;

	while (n < CKPT_BLOCK_BYTES) {
		ssize_t k = read_at(fd, p + n, CKPT_BLOCK_BYTES - n, at + (off_t)n);

		if (k < 0)
			return k;
		if (k == 0)
			break;
		n += (size_t)k;
	}
	return (ssize_t)n;
}

/* whole blocks of hole at @at */
static uint64_t hole_at(int fd, off_t at)
{
	off_t data = lseek(fd, at, SEEK_DATA);
	struct stat st;

	if (data < 0 && errno == ENXIO && fstat(fd, &st) == 0)
		data = st.st_size;
	return data > at ? (uint64_t)(data - at) / CKPT_BLOCK_BYTES * CKPT_BLOCK_BYTES : 0;
}

/* Sums @fd, and copies it to @to (-1: only sums). Return: 0 with the size, or a negative errno. */
static int sum_and_copy(struct ckpt_objects *o, int fd, int to, struct summer *sum, uint64_t *ret_size)
{
	for (off_t at = 0;;) {
		uint64_t hole = hole_at(fd, at);
		ssize_t n;
		int r = 0;

		if (hole > 0) {
			sum_zeros(sum, (uint64_t)at, hole);
			at += (off_t)hole;
		}
		n = read_block(fd, o->block, at);
		if (n <= 0) {
			*ret_size = (uint64_t)at;
			if (n < 0 || to < 0)
				return (int)n;
			return ftruncate(to, at) < 0 ? -errno : 0;
		}
		if (n == CKPT_BLOCK_BYTES && all_zero(o->block, (size_t)n)) {
			sum_zeros(sum, (uint64_t)at, (uint64_t)n);
		} else {
			sum_data(sum, o->block, (size_t)n);
			r = to < 0 ? 0 : write_at(to, o->block, (size_t)n, at);
		}
		if (r < 0)
			return r;
		at += n;
	}
}

/* a large file: a clone of it, else a copy, becomes the temporary file while it is summed */
static int put_large(struct ckpt_objects *o, int fd, unsigned char *ret_hash, uint64_t *ret_size)
{
	AK_AUTO_FD tmp = make_tmp(o);
	struct summer sum;
	int r;

	if (tmp < 0)
		return tmp;
	sum_begin(&sum);
	if (ioctl(tmp, FICLONE, fd) == 0)
		r = sum_and_copy(o, tmp, -1, &sum, ret_size);
	else
		r = sum_and_copy(o, fd, tmp, &sum, ret_size);
	if (r < 0) {
		(void)unlinkat(o->dir, TMP, 0);
		return r;
	}
	sum_final(&sum, ret_hash);
	return finish(o, ret_hash, *ret_size);
}

static int put_small(struct ckpt_objects *o, size_t len, unsigned char *ret_hash)
{
	char name[2 * CKPT_HASH_BYTES + 2];
	AK_AUTO_FD tmp = -1;
	SHA2_CTX sum;
	int r;

	SHA256Init(&sum);
	SHA256Update(&sum, (uint8_t *)o->block, len);
	SHA256Final(ret_hash, &sum);
	object_name(ret_hash, name);
	if (there(o, name, len))
		return 0;
	tmp = make_tmp(o);
	r = tmp < 0 ? tmp : write_at(tmp, o->block, len, 0);
	if (r < 0) {
		(void)unlinkat(o->dir, TMP, 0);
		return r;
	}
	return finish(o, ret_hash, len);
}

int ckpt_object_put(struct ckpt_objects *o, int fd, unsigned char ret_hash[static CKPT_HASH_BYTES], uint64_t *ret_size)
{
	size_t len = 0;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size >= CLONE_FROM)
		return put_large(o, fd, ret_hash, ret_size);
	while (len < CKPT_BLOCK_BYTES) {
		ssize_t n = read_at(fd, o->block + len, CKPT_BLOCK_BYTES - len, (off_t)len);

		if (n < 0)
			return (int)n;
		if (n == 0) {
			*ret_size = len;
			return put_small(o, len, ret_hash);
		}
		len += (size_t)n;
	}
	return put_large(o, fd, ret_hash, ret_size);	/* it grew */
}

int ckpt_object_open(const struct ckpt_objects *o, const unsigned char hash[static CKPT_HASH_BYTES])
{
	char name[2 * CKPT_HASH_BYTES + 2];
	int fd;

	object_name(hash, name);
	fd = openat(o->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int ckpt_object_sum(struct ckpt_objects *o, int fd, unsigned char ret_hash[static CKPT_HASH_BYTES], uint64_t *ret_size)
{
	struct summer sum;
	int r;

	sum_begin(&sum);
	r = sum_and_copy(o, fd, -1, &sum, ret_size);
	if (r == 0)
		sum_final(&sum, ret_hash);
	return r;
}

int ckpt_objects_flush(struct ckpt_objects *o)
{
	int r = 0;

	if (o->nfresh > CKPT_FRESH_MAX) {
		r = syncfs(o->dir) < 0 ? -errno : 0;
	} else {
		for (unsigned i = 0; r == 0 && i < o->nfresh; i++) {
			AK_AUTO_FD fd = ckpt_object_open(o, o->fresh[i]);

			r = fd < 0 ? fd : fdatasync(fd) < 0 ? -errno : 0;
		}
	}
	o->nfresh = 0;
	return r;
}

int ckpt_object_check(struct ckpt_objects *o, const unsigned char hash[static CKPT_HASH_BYTES], uint64_t size)
{
	AK_AUTO_FD fd = ckpt_object_open(o, hash);
	unsigned char is[CKPT_HASH_BYTES];
	uint64_t len = 0;
	int r = fd < 0 ? fd : ckpt_object_sum(o, fd, is, &len);

	if (r < 0)
		return r;
	return len == size && memcmp(is, hash, sizeof(is)) == 0 ? 0 : -EBADMSG;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Return: is it the name of an object in folder @folder? */
static bool parse_name(const char *folder, const char *name, unsigned char hash[CKPT_HASH_BYTES])
{
	char text[2 * CKPT_HASH_BYTES + 1];

	if (strlen(folder) != 2 || strlen(name) != 2 * CKPT_HASH_BYTES - 2)
		return false;
	(void)snprintf(text, sizeof(text), "%s%s", folder, name);
	for (size_t i = 0; i < CKPT_HASH_BYTES; i++) {
		int a = digit(text[2 * i]), b = digit(text[2 * i + 1]);

		if (a < 0 || b < 0)
			return false;
		hash[i] = (unsigned char)(a << 4 | b);
	}
	return true;
}

static long sweep_folder(int dir, const char *folder, bool (*wanted)(void *, const unsigned char *), void *arg)
{
	struct ak_dir d = {.fd = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
	unsigned char hash[CKPT_HASH_BYTES], type;
	const char *name;
	long n = 0;

	if (d.fd < 0)
		return -errno;
	while (ak_dir_next(&d, &name, &type)) {
		if (parse_name(folder, name, hash) && wanted(arg, hash))
			continue;
		if (unlinkat(d.fd, name, 0) == 0)
			n++;
	}
	ak_dir_close(&d);
	(void)unlinkat(dir, folder, AT_REMOVEDIR);	/* only when it is empty */
	return n;
}

long ckpt_objects_sweep(struct ckpt_objects *o, bool (*wanted)(void *arg, const unsigned char *hash), void *arg)
{
	static const char digits[] = "0123456789abcdef";
	long n = 0, k;

	(void)unlinkat(o->dir, TMP, 0);
	for (unsigned i = 0; i < 256; i++) {
		char folder[3] = {digits[i >> 4], digits[i & 15], '\0'};

		k = sweep_folder(o->dir, folder, wanted, arg);
		if (k < 0 && k != -ENOENT)
			return k;
		n += k > 0 ? k : 0;
	}
	return n;
}
