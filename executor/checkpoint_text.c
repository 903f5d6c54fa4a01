/* SPDX-License-Identifier: Apache-2.0 */
/* The text of `ak checkpoint diff`, made as diff_run.h says. Process and privilege: see cmd_checkpoint.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/cmd_checkpoint.h"
#include "executor/cmd_diff_stage.h"
#include "executor/diff_run.h"
#include "executor/named.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/ckpt_compare.h"
#include "executor/workspace/journal.h"
#include "executor/workspace/protected_change.h"

/* one difference as a change, and where its sides are */
struct text {
	struct checkpoint *c;
	const struct ckpt_difference *d;
	struct change *v;	/* the same, in the same order */
	bool live;		/* the new side is the workspace, not a checkpoint */
};

static const struct ckpt_entry *entry_of(const struct text *t, const struct change *ch, enum stage_side side)
{
	const struct ckpt_difference *d = &t->d[ch - t->v];

	return side == STAGE_NEW ? d->now : d->old;
}

static uint32_t side_mode(void *arg, const struct change *ch, enum stage_side side)
{
	const struct ckpt_entry *e = entry_of(arg, ch, side);

	return e ? e->id.mode : 0;
}

static int side_file(void *arg, const struct change *ch, enum stage_side side, struct ws_ident *ret)
{
	const struct text *t = arg;
	const struct ckpt_entry *e = entry_of(t, ch, side);
	int fd;

	if (side == STAGE_NEW && t->live) {
		const char *name;
		AK_AUTO_FD dir = ws_open_parent(t->c->root, ch->path, &name);

		return dir < 0 ? -ENOENT : ws_open_file(dir, name, ret);
	}
	if (e->flags & CKPT_LEFT)
		return -EACCES;
	fd = ckpt_object_open(&t->c->store.objects, e->hash);
	if (fd >= 0)
		*ret = e->id;
	return fd;
}

static int side_link(void *arg, const struct change *ch, enum stage_side side, char *buf)
{
	const struct ckpt_entry *e = entry_of(arg, ch, side);

	return e->link ? snprintf(buf, WS_PATH_MAX + 1, "%s", e->link) : -ENOENT;
}

static uint8_t op_of(enum ckpt_op op)
{
	switch (op) {
	case CKPT_ADDED:
		return CHANGE_ADDED;
	case CKPT_DELETED:
		return CHANGE_DELETED;
	case CKPT_MODE:
		return CHANGE_MODE;
	case CKPT_TYPE:
		return CHANGE_TYPE;
	default:
		return CHANGE_MODIFIED;
	}
}

static struct change change_of(const struct ckpt_difference *d)
{
	static const struct ws_ident nothing;
	struct change ch = { .path = (char *)d->path, .op = op_of(d->op), .old = d->old ? d->old->id : nothing,
			     .now = d->now ? d->now->id : nothing };
	bool folder = (!ch.old.mode || S_ISDIR(ch.old.mode)) && (!ch.now.mode || S_ISDIR(ch.now.mode));

	if (protected_change(ch.path, folder) >= PROTECTED_BLOCK)
		ch.flags |= CHANGE_PROTECTED;
	return ch;
}

/* the folder of the copies, as it is called */
static char *where(const struct checkpoint *c)
{
	char self[40], real[PATH_MAX] AK_UNINIT, *path = NULL;
	ssize_t n;

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", c->store.dir);
	n = readlink(self, real, sizeof(real) - 1);
	if (n <= 0 || n >= (ssize_t)sizeof(real) - 1)
		return NULL;
	real[n] = '\0';
	return asprintf(&path, "%s/" STAGE, real) < 0 ? NULL : path;
}

/* notes first, then what diff says of the copies */
static int show(struct text *t, size_t n, char *const env[], struct ak_err *err)
{
	const struct stage_source src = { t, side_mode, side_file, side_link, false };
	struct ak_buf notes = { 0 };
	char *path = NULL;
	size_t files = 0;
	int r = stage_make(t->c->store.dir, t->v, n, &src, NULL, &notes, &files, err);

	if (r == 0 && notes.len > 0)
		r = named_print(notes.data, notes.len);
	ak_buf_release(&notes);
	if (r == 0 && files > 0) {
		path = where(t->c);
		r = path ? diff_run(path, env, err) : ak_err_set(err, ENAMETOOLONG, "the state folder's path");
		free(path);
	}
	if (ws_remove(t->c->store.dir, STAGE, r < 0 ? NULL : err) < 0 && r >= 0)
		r = -EIO;
	return r;
}

int checkpoint_text(struct checkpoint *c, const struct ckpt_difference *d, size_t n, bool live, char *const env[], struct ak_err *err)
{
	struct text t = { .c = c, .d = d, .live = live, .v = calloc(n ? n : 1, sizeof(*t.v)) };
	int r;

	if (!t.v)
		return ak_err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		t.v[i] = change_of(&d[i]);
	r = show(&t, n, env, err);
	free(t.v);
	return r;
}
