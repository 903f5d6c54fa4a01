/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a copied workspace. Process and privilege: see points.h. */
#include "executor/workspace/points.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"
#include "executor/shared/ak_parse.h"
#include "executor/workspace/layer_copy.h"
#include "executor/workspace/scan.h"
#include "executor/workspace/walk.h"

#define POINTS "points"
#define POINT_NEW "new"
#define UPPER "upper"
#define UPPER_NEW "upper.new"
#define EXCHANGE 2u	/* RENAME_EXCHANGE, linux/fs.h */

/* the state folder's disk: a quota of our own says so itself. Return: @r */
static int no_room(int r, struct ak_err *err)
{
	if (r == -ENOSPC)
		ak_no_space(err, AK_STATE_NO_SPACE);
	return r;
}

static int new_folder(int at, const char *name, struct ak_err *err)
{
	int r = ws_remove(at, name, err);
	int fd;

	if (r < 0)
		return r;
	if (mkdirat(at, name, 0700) < 0)
		return no_room(ak_err_sys(err, errno, "make a folder for a checkpoint"), err);
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? ak_err_sys(err, errno, "open the folder of a checkpoint") : fd;
}

static void name_of(uint32_t number, char ret[static 16])
{
	(void)snprintf(ret, 16, "%u", number);
}

static int open_point(const struct points *p, uint32_t number)
{
	char name[16];

	name_of(number, name);
	return p->dir < 0 ? -1 : openat(p->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void drop_oldest(struct points *p)
{
	char name[16];

	while (p->last - p->first >= POINTS_MAX) {
		name_of(p->first++, name);
		(void)ws_remove(p->dir, name, NULL);	/* goes with the changeset at the latest */
	}
}

static void note_number(struct points *p, const char *name)
{
	uint64_t n;

	if (ak_parse_u64(name, 1, UINT32_MAX - 1, &n) < 0)
		return;
	p->last = n > p->last ? (uint32_t)n : p->last;
	p->first = !p->first || n < p->first ? (uint32_t)n : p->first;
}

/* a file that several checkpoints share counts once */
static int add_bytes(void *arg, const struct ws_entry *e, struct ak_err *err)
{
	struct points *p = arg;
	struct stat st;

	(void)err;
	if (fstatat(e->dir, e->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 0)
		p->bytes += (uint64_t)st.st_blocks * 512 / st.st_nlink;
	return WS_GO_ON;
}

static int passed_over(void *arg, const char *path, int code, struct ak_err *err)
{
	(void)arg;
	(void)path;
	(void)code;
	(void)err;
	return 0;
}

int points_open(struct points *p, const struct changeset *cs, struct ak_err *err)
{
	struct ak_dir d;
	const char *name;
	unsigned char type;

	p->dir = openat(cs->dir, POINTS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->dir < 0)
		return errno == ENOENT ? 0 : ak_err_sys(err, errno, "open the checkpoints of changeset %s", cs->id);
	d = (struct ak_dir){ .fd = openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	while (d.fd >= 0 && ak_dir_next(&d, &name, &type))
		note_number(p, name);
	ak_fd_close(&d.fd);
	(void)ws_remove(p->dir, POINT_NEW, NULL);
	return ws_walk(p->dir, "", add_bytes, passed_over, p, err);
}

int points_save(struct points *p, const struct changeset *cs, uint64_t max_bytes, uint64_t *ret_entries, struct ak_err *err)
{
	AK_AUTO_FD before = p->last ? open_point(p, p->last) : -1;
	struct layer_before b = { .dir = before, .seen = &p->seen, .at_ns = p->at_ns };
	struct journal seen = { 0 };
	struct layer_copied c = { .seen = &seen };
	int64_t now = scan_now();
	AK_AUTO_FD to = -1;
	char name[16];
	int r;

	if (max_bytes && p->bytes >= max_bytes)
		return ak_err_set(err, EDQUOT, "the checkpoints hold more than --disk allows");
	c.max_bytes = max_bytes ? max_bytes - p->bytes : 0;
	if (p->dir < 0)
		p->dir = new_folder(cs->dir, POINTS, err);
	if (p->dir < 0)
		return p->dir;
	name_of(p->last + 1, name);
	to = new_folder(p->dir, POINT_NEW, err);
	if (to < 0)
		return to;
	r = no_room(layer_copy(cs->upper, to, &b, &c, err), err);
	/* under its number it is whole */
	if (r == 0 && renameat(p->dir, POINT_NEW, p->dir, name) < 0)
		r = ak_err_sys(err, errno, "put a checkpoint in its place");
	if (r < 0) {
		(void)ws_remove(p->dir, POINT_NEW, NULL);
		journal_release(&seen);
		return r;
	}
	journal_release(&p->seen);
	p->seen = seen;
	p->at_ns = now;
	p->last++;
	p->bytes += c.bytes;
	p->first = p->first ? p->first : p->last;
	drop_oldest(p);
	*ret_entries = c.entries;
	return 0;
}

/* @to is what UPPER_NEW is and UPPER will be. Return: 0 with what was the layer under UPPER_NEW */
static int change_places(int layer, int *to, struct changeset *cs, struct ak_err *err)
{
	if (unlinkat(cs->dir, "journal", 0) < 0 && errno != ENOENT)
		return ak_err_sys(err, errno, "forget the journal of changeset %s", cs->id);
	if (syscall(SYS_renameat2, layer, UPPER_NEW, layer, UPPER, EXCHANGE) < 0)
		return ak_err_sys(err, errno, "put the layer of changeset %s back", cs->id);
	ak_fd_close(&cs->upper);
	cs->upper = ak_fd_take(to);
	return 0;
}

int points_restore(const struct points *p, struct changeset *cs, uint32_t number, struct ak_err *err)
{
	AK_AUTO_FD from = open_point(p, number);
	AK_AUTO_FD layer = openat(cs->dir, "layer", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct layer_copied c = { 0 };
	AK_AUTO_FD to = -1;
	int r;

	if (!number || number < p->first || number > p->last || from < 0)
		return ak_err_set(err, ENOENT, "there is no checkpoint %u", number);
	if (layer < 0)
		return ak_err_sys(err, errno, "open the layer of changeset %s", cs->id);
	to = new_folder(layer, UPPER_NEW, err);
	if (to < 0)
		return to;
	r = no_room(layer_copy(from, to, NULL, &c, err), err);
	if (r == 0)
		r = change_places(layer, &to, cs, err);
	/* what was there before, or what could not be finished; else it goes with the changeset */
	(void)ws_remove(layer, UPPER_NEW, NULL);
	return r;
}

int points_drop(struct points *p, const struct changeset *cs, struct ak_err *err)
{
	journal_release(&p->seen);
	ak_fd_close(&p->dir);
	p->first = p->last + 1;	/* a number never means two */
	p->bytes = 0;
	return ws_remove(cs->dir, POINTS, err);
}
