/* SPDX-License-Identifier: Apache-2.0 */
/* Modes that are opened up for reading, and put back. Process: the commands around checkpoints. Privilege: the caller's. */
#include "executor/workspace/ckpt_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "executor/workspace/ckpt_store.h"

#define LIST "opened"

struct ckpt_opened_item {
	char *path;
	struct ws_ident id;
};

/* in the list, followed by the path and its NUL */
struct record {
	uint64_t dev, ino;
	uint32_t mode, path_len;
};

/* through /proc, since fchmod(2) takes no O_PATH descriptor and such a file cannot be opened otherwise; no link is followed */
int ckpt_set_mode(int dir, const char *name, const struct ws_ident *id, uint32_t mode)
{
	AK_AUTO_FD fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct ws_ident now;
	char path[40];
	int r = fd < 0 ? -errno : ws_fstat(fd, &now);

	if (r < 0)
		return r;
	if (now.dev != id->dev || now.ino != id->ino || (now.mode & S_IFMT) != (id->mode & S_IFMT))
		return -ESTALE;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, mode & 07777) < 0 ? -errno : 0;
}

int ckpt_put_back(int dir, const char *name, const struct ws_ident *id)
{
	return ckpt_set_mode(dir, name, id, id->mode);
}

static int write_down(struct ckpt_opened *o, const char *path, const struct ws_ident *id)
{
	struct record r = {.dev = id->dev, .ino = id->ino, .mode = id->mode, .path_len = (uint32_t)strlen(path) + 1};
	int e;

	if (o->list < 0)
		o->list = openat(o->store->dir, LIST, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (o->list < 0)
		return -errno;
	e = ak_write_all(o->list, &r, sizeof(r));
	return e < 0 ? e : ak_write_all(o->list, path, r.path_len);
}

int ckpt_open_up(struct ckpt_opened *o, int dir, const char *name, const char *path, const struct ws_ident *id)
{
	uint32_t want = S_ISDIR(id->mode) ? 0500 : 0400;
	int r = write_down(o, path, id);

	if (r == 0)
		r = ckpt_set_mode(dir, name, id, id->mode | want);
	if (r == 0 && S_ISDIR(id->mode)) {
		struct ckpt_opened_item *v = reallocarray(o->item, o->n + 1, sizeof(*v));
		char *copy = strdup(path);

		if (v)
			o->item = v;
		if (!v || !copy) {
			free(copy);
			(void)ckpt_set_mode(dir, name, id, id->mode);
			return -ENOMEM;
		}
		o->item[o->n].id = *id;
		o->item[o->n++].path = copy;
	}
	return r;
}

static void put_back_path(int root, const char *path, const struct ws_ident *id)
{
	const char *name;
	AK_AUTO_FD dir = ws_open_parent(root, path, &name);

	if (dir >= 0)
		(void)ckpt_put_back(dir, name, id);
}

void ckpt_put_back_all(struct ckpt_opened *o, int root)
{
	while (o->n > 0) {
		struct ckpt_opened_item *i = &o->item[--o->n];

		put_back_path(root, i->path, &i->id);
		free(i->path);
	}
	free(o->item);
	o->item = NULL;
	if (o->list >= 0)
		(void)unlinkat(o->store->dir, LIST, 0);
	ak_fd_close(&o->list);
}

/* Return: length of the record at @p; 0: it is not whole, and was never acted on */
static size_t read_record(const char *p, size_t left, struct record *ret)
{
	if (left < sizeof(*ret))
		return 0;
	memcpy(ret, p, sizeof(*ret));
	if (ret->path_len == 0 || ret->path_len > left - sizeof(*ret) || p[sizeof(*ret) + ret->path_len - 1] != '\0')
		return 0;
	return sizeof(*ret) + ret->path_len;
}

/* from the end of the list: a folder was opened up before what is in it */
static void recover(int root, const char *list, size_t len)
{
	size_t n = 0, *at = calloc(len / sizeof(struct record) + 1, sizeof(*at));
	struct record r;

	for (size_t pos = 0, k; at && (k = read_record(list + pos, len - pos, &r)) > 0; pos += k)
		at[n++] = pos;
	while (n > 0) {
		const char *p = list + at[--n];
		struct ws_ident id = {0};

		(void)read_record(p, len - at[n], &r);
		id.dev = r.dev;
		id.ino = r.ino;
		id.mode = r.mode;
		if (ws_path_ok(p + sizeof(r)))
			put_back_path(root, p + sizeof(r), &id);
	}
	free(at);
}

void ckpt_open_recover(int root, struct ckpt_store *store)
{
	char *list = NULL;
	size_t len = 0;

	if (ckpt_store_read(store, LIST, CKPT_OPENED_BYTES, &list, &len) == 0)
		recover(root, list, len);
	free(list);
	(void)unlinkat(store->dir, LIST, 0);
}
