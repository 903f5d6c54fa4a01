/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes a tree of any depth with a fixed number of descriptors. Any process; privilege: the caller's.
 *
 * What lies two levels below the folder that is emptied is moved up into it first, under a number, so that no path ever gets
 * longer than two names. Each step removes something or moves it up, so it ends, and can be begun again at any point. What cannot be
 * removed is passed over, and the first such name told, when nothing else is left.
 */
#include "executor/workspace/fsat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define PASSES_MAX 1000000u	/* over the top folder, so that whoever goes on making files cannot keep us for ever */
#define UP_TRIES 1000000u	/* numbers of an earlier, interrupted removal that are skipped at most */

struct remover {
	int top;
	uint64_t dev;
	uint64_t number;	/* of the next folder moved up */
	bool done;		/* this pass has removed something, or moved it up */
	int code;		/* of the first failure in it; 0: none */
	char name[WS_NAME_MAX + 1];	/* and where that was */
};

static void failed(struct remover *r, int code, const char *name)
{
	if (r->code)
		return;
	r->code = code;
	(void)snprintf(r->name, sizeof(r->name), "%s", name);
}

/* owner's bits of the folder @name, without following a link that was put there meanwhile */
static int open_up(int dir, const char *name)
{
	AK_AUTO_FD fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
	char path[32];

	if (fd < 0)
		return -errno;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, 0700) < 0 ? -errno : 0;
}

static int open_folder(int dir, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(dir, name, flags);

	if (fd < 0 && errno == EACCES && open_up(dir, name) == 0)
		fd = openat(dir, name, flags);
	return fd < 0 ? -errno : fd;
}

/* Return: 0, 1 for a folder, or a negative errno */
static int remove_leaf(int dir, const char *name)
{
	struct ws_ident id;
	int r;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	r = -errno;
	if (r == -EISDIR)
		return 1;
	return ws_stat(dir, name, &id) == 0 && S_ISDIR(id.mode) ? 1 : r;
}

static int move_up(struct remover *r, int dir, const char *name)
{
	char up[40];

	for (unsigned i = 0; i < UP_TRIES; i++) {
		(void)snprintf(up, sizeof(up), ".ak-rm-%llu", (unsigned long long)r->number++);
		if (renameat2(dir, name, r->top, up, RENAME_NOREPLACE) == 0 || errno == ENOENT)
			return 0;
		/* a folder that its owner may not write cannot get another parent */
		if (errno == EACCES && open_up(dir, name) == 0 && renameat2(dir, name, r->top, up, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int empty_child(struct remover *r, int fd)
{
	struct ak_dir d AK_UNINIT;
	struct ws_ident id;
	const char *name;
	unsigned char type;
	int e = ws_fstat(fd, &id);

	if (e < 0)
		return e;
	if (id.dev != r->dev)
		return -EXDEV;
	if ((id.mode & 0300) != 0300 && fchmod(fd, 0700) < 0)
		return -errno;
	d = (struct ak_dir){ .fd = fd };
	while (ak_dir_next(&d, &name, &type)) {
		e = remove_leaf(fd, name);
		if (e == 1)
			e = move_up(r, fd, name);
		if (e < 0)
			failed(r, -e, name);
		r->done = r->done || e == 0;
	}
	return 0;
}

static void remove_folder(struct remover *r, const char *name)
{
	AK_AUTO_FD fd = open_folder(r->top, name);
	int e = fd < 0 ? fd : empty_child(r, fd);

	if (e < 0)
		failed(r, -e, name);
	else if (unlinkat(r->top, name, AT_REMOVEDIR) == 0)
		r->done = true;
	else if (errno != ENOENT)
		failed(r, errno, name);
}

/* one pass over the top folder. Return: is it empty? */
static bool pass(struct remover *r)
{
	struct ak_dir d AK_UNINIT;
	const char *name;
	unsigned char type;
	bool seen = false;

	r->done = false;
	r->code = 0;
	d = (struct ak_dir){ .fd = openat(r->top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	if (d.fd < 0)
		failed(r, errno, ".");
	while (d.fd >= 0 && ak_dir_next(&d, &name, &type)) {
		int e = remove_leaf(r->top, name);

		seen = true;
		if (e < 0)
			failed(r, -e, name);
		else if (e == 1)
			remove_folder(r, name);
		r->done = r->done || e == 0;
	}
	ak_dir_close(&d);
	return !seen && !r->code;
}

int ws_empty(int dir, struct ak_err *err)
{
	struct remover r = { .top = dir };
	struct ws_ident id;
	int e = ws_fstat(dir, &id);

	if (e < 0)
		return ak_err_sys(err, -e, "remove \".\"");
	r.dev = id.dev;
	if ((id.mode & 0300) != 0300) {
		AK_AUTO_FD fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		(void)fchmod(fd, 0700);	/* the pass tells */
	}
	for (unsigned i = 0; !pass(&r); i++) {
		if (!r.done || i == PASSES_MAX)
			return ak_err_sys(err, r.code ? r.code : ENOTEMPTY, "remove \"%.200s\"", r.name);
	}
	return 0;
}

int ws_remove(int dir, const char *name, struct ak_err *err)
{
	AK_AUTO_FD fd = -1;
	int r = remove_leaf(dir, name);

	if (r <= 0)
		return r < 0 ? ak_err_sys(err, -r, "remove \"%.200s\"", name) : 0;
	fd = open_folder(dir, name);
	if (fd < 0)
		return ak_err_sys(err, -fd, "remove \"%.200s\"", name);
	r = ws_empty(fd, err);
	if (r == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		r = ak_err_sys(err, errno, "remove \"%.200s\"", name);
	return r;
}
