/* SPDX-License-Identifier: Apache-2.0 */
/* Copies for `ak diff` and `ak checkpoint diff`. Process and privilege: see cmd_diff_stage.h. */
#include "executor/cmd_diff_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/changes.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/apply.h"
#include "executor/workspace/compare.h"
#include "executor/workspace/copy.h"

struct stage {
	int dir;
	const struct stage_source *src;
	int side[2];	/* STAGE/a and STAGE/b; owned */
	uint64_t bytes;
	struct ak_buf *notes;
	size_t files;
};

static void note(struct stage *s, const struct change *ch, const char *what)
{
	ak_buf_printf(s->notes, "%s%s: ", ch->flags & CHANGE_PROTECTED ? "[protected] " : "", what);
	changes_path(s->notes, ch->path);
	changes_by(s->notes, ch);
	ak_buf_str(s->notes, "\n");
}

static const char *kind(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "folder";
	case S_IFLNK:
		return "symbolic link";
	case S_IFIFO:
		return "FIFO";
	case S_IFSOCK:
		return "socket";
	default:
		return "device";
	}
}

/* what a diff of texts does not say */
static void notes_of(struct stage *s, const struct change *ch)
{
	if (ch->flags & CHANGE_PROTECTED && (S_ISREG(ch->old.mode) || S_ISREG(ch->now.mode)))
		note(s, ch, change_op_name(ch->op));
	if (ch->flags & CHANGE_SPECIAL)
		note(s, ch, "special file, never applied");
	else if (ch->op == CHANGE_TYPE)
		ak_buf_printf(s->notes, "%s becomes %s: ", kind(ch->old.mode), kind(ch->now.mode));
	else if (S_ISDIR(ch->now.mode) && ch->op == CHANGE_ADDED)
		note(s, ch, "new folder");
	else if (S_ISDIR(ch->old.mode) && ch->op == CHANGE_DELETED)
		note(s, ch, "deleted folder");
	else if (S_ISREG(ch->now.mode) && ch->op == CHANGE_ADDED && ch->now.mode & 0111)
		note(s, ch, ch->now.size ? "new executable file" : "new executable file, empty");
	else if (S_ISREG(ch->now.mode) && ch->op == CHANGE_ADDED && ch->now.size == 0)
		note(s, ch, "new file, empty");
	else if (S_ISREG(ch->old.mode) && ch->op == CHANGE_DELETED && ch->old.size == 0)
		note(s, ch, "deleted file, empty");
	if (ch->op == CHANGE_TYPE && !(ch->flags & CHANGE_SPECIAL)) {
		changes_path(s->notes, ch->path);
		ak_buf_str(s->notes, "\n");
	}
	if (ch->old.mode && ch->now.mode && ch->op != CHANGE_TYPE && !S_ISLNK(ch->now.mode) &&
	    (ch->old.mode & 07777) != ws_safe_mode(ch->now.mode)) {
		ak_buf_printf(s->notes, "mode %04o -> %04o: ", ch->old.mode & 07777, ws_safe_mode(ch->now.mode));
		changes_path(s->notes, ch->path);
		ak_buf_str(s->notes, "\n");
	}
}

/* the folders above @path. Return: descriptor of the last one or negative errno */
static int make_parents(int side, const char *path, const char **ret_name)
{
	char part[WS_PATH_MAX + 1] AK_UNINIT;
	const char *slash = path;

	while ((slash = strchr(slash, '/'))) {
		size_t n = (size_t)(slash - path);

		memcpy(part, path, n);
		part[n] = '\0';
		if (mkdirat(side, part, 0700) < 0 && errno != EEXIST)
			return -errno;
		slash++;
	}
	return ws_open_parent(side, path, ret_name);
}

static int put_file(struct stage *s, const struct change *ch, enum stage_side side)
{
	struct ws_ident id;
	const char *to = NULL;
	AK_AUTO_FD from = s->src->file(s->src->arg, ch, side, &id);
	AK_AUTO_FD to_dir = -1;
	AK_AUTO_FD fd = -1;
	int r;

	if (from < 0) {
		note(s, ch, from == -ENOENT ? "is not there any more" : "cannot be read");
		return 0;
	}
	if (id.size > STAGE_FILE_MAX || s->bytes + id.size > STAGE_TOTAL_MAX) {
		note(s, ch, "too large to be shown");
		return 0;
	}
	to_dir = make_parents(s->side[side], ch->path, &to);
	if (to_dir < 0 || !to)
		return to_dir < 0 ? to_dir : -EINVAL;
	fd = openat(to_dir, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : ws_copy_data(from, fd, STAGE_FILE_MAX);
	s->bytes += id.size;
	s->files += r == 0;
	return r;
}

/* diff(1) stops at a link that is on one side only, so links are among the notes */
static int put_link(struct stage *s, const struct change *ch, enum stage_side side)
{
	char text[WS_PATH_MAX + 1] AK_UNINIT;
	int n = s->src->link(s->src->arg, ch, side, text);

	if (n == -ENOENT) {
		note(s, ch, "is not there any more");
		return 0;
	}
	if (n < 0)
		return n;
	ak_buf_printf(s->notes, "%s%s symbolic link: ", ch->flags & CHANGE_PROTECTED ? "[protected] " : "",
		      side == STAGE_NEW ? "new" : "old");
	changes_path(s->notes, ch->path);
	ak_buf_str(s->notes, " -> ");
	changes_path(s->notes, text);
	ak_buf_str(s->notes, "\n");
	return 0;
}

static int put(struct stage *s, const struct change *ch, enum stage_side side)
{
	uint32_t mode = s->src->mode(s->src->arg, ch, side);

	return S_ISREG(mode) ? put_file(s, ch, side) : S_ISLNK(mode) ? put_link(s, ch, side) : 0;
}

void stage_attributes(const struct stage_source *src, const struct change *ch, void (*tell)(void *arg, const char *name, const char *what),
		      void *arg)
{
	struct ws_ident id;
	AK_AUTO_FD old = -1;
	AK_AUTO_FD now = -1;

	if (!src->attributes || !S_ISREG(ch->now.mode) || ch->op == CHANGE_MODE)
		return;
	now = src->file(src->arg, ch, STAGE_NEW, &id);
	if (S_ISREG(src->mode(src->arg, ch, STAGE_OLD)))
		old = src->file(src->arg, ch, STAGE_OLD, &id);
	if (now >= 0)
		(void)compare_attributes(old, now, tell, arg);
}

struct noting {
	struct stage *s;
	const struct change *ch;
};

static void note_attribute(void *arg, const char *name, const char *what)
{
	const struct noting *n = arg;

	ak_buf_printf(n->s->notes, "%sattribute %s, ", n->ch->flags & CHANGE_PROTECTED ? "[protected] " : "", what);
	changes_path(n->s->notes, name);
	ak_buf_str(n->s->notes, ": ");
	changes_path(n->s->notes, n->ch->path);
	ak_buf_str(n->s->notes, "\n");
}

/* a path that is a folder on one side and a file on the other cannot be compared; the notes have said so */
static int stage_one(struct stage *s, const struct change *ch)
{
	int r;

	notes_of(s, ch);
	stage_attributes(s->src, ch, note_attribute, &(struct noting){ s, ch });
	if (ch->op == CHANGE_MODE || (ch->flags & CHANGE_SPECIAL))
		return 0;
	r = put(s, ch, STAGE_OLD);
	return r == 0 ? put(s, ch, STAGE_NEW) : r;
}

static int open_sides(struct stage *s)
{
	static const char *const names[] = { STAGE "/a", STAGE "/b" };
	int dir = s->dir;

	if (mkdirat(dir, STAGE, 0700) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		if (mkdirat(dir, names[i], 0700) < 0)
			return -errno;
		s->side[i] = openat(dir, names[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (s->side[i] < 0)
			return -errno;
	}
	return 0;
}

int stage_make(int dir, const struct change *v, size_t n, const struct stage_source *src, char *const *paths, struct ak_buf *notes,
	       size_t *ret_files, struct ak_err *err)
{
	struct stage s = { .dir = dir, .src = src, .side = { -1, -1 }, .notes = notes };
	int r = ws_remove(dir, STAGE, err);

	if (r < 0)
		return r;
	r = open_sides(&s);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (!paths || apply_match(paths, v[i].path))
			r = stage_one(&s, &v[i]);
	ak_fd_close(&s.side[0]);
	ak_fd_close(&s.side[1]);
	if (r == 0 && notes->failed)
		r = -ENOMEM;
	*ret_files = s.files;
	if (r < 0) {
		(void)ak_err_sys(err, -r, "copy what is to be compared");
		(void)ws_remove(dir, STAGE, NULL);
	}
	return r;
}
