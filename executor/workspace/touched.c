/* SPDX-License-Identifier: Apache-2.0 */
/* First-touch copies of files, on disk, and taking them back. Process: whoever serves the tools. Privilege: the caller's. */
#include "executor/workspace/touched.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"
#include "executor/shared/ak_session_file.h"
#include "executor/workspace/ckpt_make.h"
#include "executor/workspace/ckpt_store.h"

#define LIST AK_SESSION_TOUCHED_LIST
#define LIST_NEW "list.new"
#define TOLD_BYTES 320u	/* names of what could not be taken back, within AK_ERR_MSG_MAX */
#define MARK 0x6b746f75u
#define TMP "making"	/* names what a rollback makes in the workspace, before it is made */
#define TMP_DIGITS 16u
#define TMP_BYTES 64u

/* in the list, followed by the path and the link's text, both with their NUL */
struct record {
	uint32_t mark, mode;
	uint32_t uid, gid;
	uint64_t size;
	int64_t mtime_ns;
	uint32_t path_len, link_len;	/* 0: no link */
	unsigned char hash[CKPT_HASH_BYTES];
};

static int add(struct ckpt_tree *files, const struct ckpt_entry *e, struct ak_err *err)
{
	if (!ckpt_tree_add(files, e) || ckpt_tree_index_last(files) < 0)
		return ak_err_set(err, ENOMEM, "out of memory");
	return 0;
}

/* Return: bytes of the record at @p, 0 when it is not whole, or a negative errno */
static long read_record(struct touched *t, const char *p, size_t left, struct ak_err *err)
{
	struct ckpt_entry e = {.same_as = CKPT_NO_LINK};
	struct record r;
	size_t n;
	int bad;

	if (left < sizeof(r))
		return 0;
	memcpy(&r, p, sizeof(r));
	n = sizeof(r) + (size_t)r.path_len + r.link_len;
	if (r.mark != MARK || r.path_len < 2)
		return ak_err_set(err, EBADMSG, "the list of touched files is damaged");
	if (n > left)
		return 0;
	e.path = p + sizeof(r);
	e.link = r.link_len ? p + sizeof(r) + r.path_len : NULL;
	if (strnlen(e.path, r.path_len) != r.path_len - 1 || !ws_path_ok(e.path) ||
	    (e.link && strnlen(e.link, r.link_len) != r.link_len - 1) || S_ISLNK(r.mode) != (e.link != NULL))
		return ak_err_set(err, EBADMSG, "the list of touched files is damaged");
	e.id = (struct ws_ident){.mode = r.mode, .uid = r.uid, .gid = r.gid, .size = r.size, .mtime_ns = r.mtime_ns};
	memcpy(e.hash, r.hash, sizeof(e.hash));
	if (ckpt_tree_find(&t->files, e.path))
		return (long)n;
	bad = add(&t->files, &e, err);
	return bad < 0 ? bad : (long)n;
}

static int read_list(struct touched *t, struct ak_err *err)
{
	struct ckpt_store s = {.dir = t->dir};
	char *text = NULL;
	size_t len = 0, at = 0;
	long n = ckpt_store_read(&s, LIST, TOUCHED_LIST_BYTES, &text, &len);

	if (n == -ENOENT)
		return 0;
	if (n < 0)
		return ak_err_sys(err, (int)-n, "read the list of touched files");
	while ((n = read_record(t, text + at, len - at, err)) > 0)
		at += (size_t)n;
	free(text);
	if (n < 0)
		return (int)n;
	/* what a crash cut off must not stand before the next record */
	if (at < len && ftruncate(t->list, (off_t)at) < 0)
		return ak_err_sys(err, errno, "cut the list of touched files");
	return 0;
}

/* a name in the workspace that nobody uses, on the disk before it is; of this rollback only */
static int name_tmp(struct touched *t)
{
	AK_AUTO_FD fd = openat(t->dir, TMP, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	uint64_t v;
	int r;

	if (fd < 0 || getrandom(&v, sizeof(v), 0) != (ssize_t)sizeof(v))
		return fd < 0 ? -errno : -EIO;
	(void)snprintf(t->tmp, sizeof(t->tmp), ".ak-%016" PRIx64 ".tmp", v);
	r = ak_write_all(fd, t->tmp, strlen(t->tmp));
	return r < 0 ? r : fdatasync(fd) < 0 || fsync(t->dir) < 0 ? -errno : 0;
}

static bool is_tmp_name(const char *s, size_t len)
{
	return len == 4 + TMP_DIGITS + 4 && strncmp(s, ".ak-", 4) == 0 && strspn(s + 4, "0123456789abcdef") == TMP_DIGITS &&
	       strcmp(s + 4 + TMP_DIGITS, ".tmp") == 0;
}

/* what a rollback that was killed has left beside one of the files: by the name that it wrote down, nothing else */
static void clear_left(struct touched *t)
{
	struct ckpt_store s = {.dir = t->dir};
	char *text = NULL;
	size_t len = 0;

	if (ckpt_store_read(&s, TMP, TMP_BYTES, &text, &len) < 0)
		return;
	for (size_t i = 0; is_tmp_name(text, len) && i < t->files.n; i++) {
		const char *name;
		AK_AUTO_FD dir = ws_open_parent(t->root, t->files.e[i].path, &name);

		if (dir >= 0)
			(void)unlinkat(dir, text, 0);
	}
	free(text);
	(void)unlinkat(t->dir, TMP, 0);
}

int touched_open(int dir, int root, struct touched *ret, struct ak_err *err)
{
	struct touched t = TOUCHED_NONE;
	int objects = -1, r;

	t.root = root;
	t.dir = dir;
	t.list = openat(dir, LIST, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (t.list >= 0 && (mkdirat(dir, "objects", 0700) == 0 || errno == EEXIST))
		objects = openat(dir, "objects", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = objects < 0 ? ak_err_sys(err, errno, "open the copies of touched files") : ckpt_objects_open(&t.objects, objects);
	if (r == 0)
		r = read_list(&t, err);
	if (r < 0) {
		ak_no_space(err, AK_STATE_NO_SPACE);
		touched_close(&t);
		return r;
	}
	clear_left(&t);
	*ret = t;
	return 0;
}

void touched_close(struct touched *t)
{
	ckpt_tree_release(&t->files);
	ckpt_objects_close(&t->objects);
	ak_fd_close(&t->list);
	ak_fd_close(&t->dir);
}

/* Return: 0 or a negative errno; the list may end with a part of the record then */
static int append(int list, const struct ckpt_entry *e)
{
	struct record r = {.mark = MARK, .mode = e->id.mode, .uid = e->id.uid, .gid = e->id.gid, .size = e->id.size,
			   .mtime_ns = e->id.mtime_ns, .path_len = (uint32_t)strlen(e->path) + 1,
			   .link_len = e->link ? (uint32_t)strlen(e->link) + 1 : 0};
	size_t n = sizeof(r) + (size_t)r.path_len + r.link_len;
	char *buf = malloc(n);
	int bad = -ENOMEM;

	if (buf) {
		memcpy(r.hash, e->hash, sizeof(r.hash));
		memcpy(buf, &r, sizeof(r));
		memcpy(buf + sizeof(r), e->path, r.path_len);
		if (e->link)
			memcpy(buf + sizeof(r) + r.path_len, e->link, r.link_len);
		bad = ak_write_all(list, buf, n);
	}
	free(buf);
	return bad;
}

/* on the disk when it returns: the copy, then the record */
static int write_record(struct touched *t, const struct ckpt_entry *e)
{
	off_t end = lseek(t->list, 0, SEEK_END);
	int bad = end < 0 ? -errno : ckpt_objects_flush(&t->objects);

	if (bad < 0)
		return bad;
	bad = append(t->list, e);
	if (bad == 0 && fdatasync(t->list) < 0)
		bad = -errno;
	if (bad < 0 && ftruncate(t->list, end) < 0)
		bad = -EIO;
	return bad;
}

/* what is at the path now; mode 0: nothing */
static int look(struct touched *t, const char *path, char link[WS_PATH_MAX + 1], struct ckpt_entry *e)
{
	const char *name;
	AK_AUTO_FD dir = ws_open_parent(t->root, path, &name);
	AK_AUTO_FD fd = -1;
	int r;

	if (dir == -ENOENT)
		return 0;	/* not even its folder */
	r = dir < 0 ? dir : ws_stat(dir, name, &e->id);
	if (r < 0 || !e->id.mode)
		return r;
	if (S_ISLNK(e->id.mode)) {
		r = ws_read_link(dir, name, link);
		e->link = link;
		return r < 0 ? r : 0;
	}
	if (!S_ISREG(e->id.mode))
		return -EINVAL;
	fd = ws_open_file(dir, name, &e->id);
	return fd < 0 ? fd : ckpt_object_put(&t->objects, fd, e->hash, &e->id.size);
}

int touched_record(struct touched *t, const char *path, struct ak_err *err)
{
	struct ckpt_entry e = {.path = path, .same_as = CKPT_NO_LINK};
	char link[WS_PATH_MAX + 1];
	int r;

	if (!ws_path_ok(path))
		return ak_err_set(err, EINVAL, "\"%.200s\" is no path in the workspace", path);
	if (ckpt_tree_find(&t->files, path))
		return 0;
	if (t->files.n >= TOUCHED_MAX)
		return ak_err_set(err, EDQUOT, "more than %u files were changed by tools", TOUCHED_MAX);
	r = look(t, path, link, &e);
	if (r == 0)
		r = write_record(t, &e);
	if (r < 0) {
		(void)ak_err_sys(err, -r, "keep \"%.200s\" before it is changed", path);
		ak_no_space(err, AK_STATE_NO_SPACE);
		return r;
	}
	return add(&t->files, &e, err);
}

size_t touched_pending(const struct touched *t)
{
	return t->files.n;
}

/* folders above @path that are gone */
static int make_folders(struct touched *t, const char *path)
{
	char part[WS_PATH_MAX + 1];

	for (const char *s = path; (s = strchr(s, '/')) != NULL; s++) {
		const char *name;
		AK_AUTO_FD dir = -1;

		memcpy(part, path, (size_t)(s - path));
		part[s - path] = '\0';
		dir = ws_open_parent(t->root, part, &name);
		if (dir < 0)
			return dir;
		if (mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Return: 1 put back or removed, 0 there was nothing to do, or a negative errno */
static int take_back(struct touched *t, const struct ckpt_entry *e)
{
	const char *name;
	AK_AUTO_FD dir = ws_open_parent(t->root, e->path, &name);
	struct ckpt_entry now = {.same_as = CKPT_NO_LINK};
	int r;

	if (!e->id.mode && (dir == -ENOENT || dir == -ENOTDIR || dir == -ELOOP))
		return 0;
	if (dir == -ENOENT) {
		r = make_folders(t, e->path);
		dir = r < 0 ? r : ws_open_parent(t->root, e->path, &name);
	}
	r = dir < 0 ? dir : ws_stat(dir, name, &now.id);
	if (r < 0)
		return r;
	if (S_ISDIR(now.id.mode))
		return e->id.mode ? -EISDIR : 0;
	if (!e->id.mode)
		return !now.id.mode ? 0 : unlinkat(dir, name, 0) < 0 ? -errno : 1;
	if (faccessat(dir, t->tmp, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;	/* not ours */
	if (S_ISREG(e->id.mode)) {
		struct ckpt_store s = {.objects = t->objects};

		r = ckpt_object_check(&t->objects, e->hash, e->id.size);
		if (r == 0)
			r = ckpt_make_tmp(&s, e, dir, t->tmp, -1, NULL, true);
	} else {
		r = ckpt_make_tmp(NULL, e, dir, t->tmp, -1, NULL, false);
	}
	if (r < 0 && r != -EPERM)	/* another's file comes back as the caller's */
		return r;
	r = ckpt_put_tmp(dir, t->tmp, name, now.id.mode ? &now : NULL);
	return r < 0 ? r : 1;
}

static bool nothing_is_wanted(void *arg, const unsigned char *hash)
{
	(void)arg;
	(void)hash;
	return false;
}

/* until nothing more can be: one path may be in the way of another. @ret: per file 1, 0, or the negative errno. Return: how many are back */
static size_t take_all(struct touched *t, int *ret)
{
	size_t count = 0, before, failed;

	for (size_t i = 0; i < t->files.n; i++)
		ret[i] = -EAGAIN;
	do {
		before = count;
		failed = 0;
		for (size_t i = t->files.n; i-- > 0;) {	/* the last one first, as it was done */
			if (ret[i] < 0)
				ret[i] = take_back(t, &t->files.e[i]);
			else
				continue;
			count += ret[i] == 1;
			failed += ret[i] < 0;
		}
	} while (failed > 0 && count > before);
	return count;
}

static int forget(struct touched *t, struct ak_err *err)
{
	if (t->files.n > 0 && (fsync(t->root) < 0 || ftruncate(t->list, 0) < 0 || fdatasync(t->list) < 0))
		return ak_err_sys(err, errno, "forget the touched files");
	ckpt_tree_release(&t->files);
	(void)ckpt_objects_sweep(&t->objects, nothing_is_wanted, NULL);	/* else they go with the session */
	return 0;
}

/* from now on only those are kept that are not back; their copies stay with the others' until all are */
static int keep_rest(struct touched *t, const int *done)
{
	AK_AUTO_FD list = openat(t->dir, LIST_NEW, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct ckpt_tree rest = { 0 };
	int r = list < 0 ? -errno : 0;

	for (size_t i = 0; r == 0 && i < t->files.n; i++) {
		if (done[i] == 1)
			continue;
		r = append(list, &t->files.e[i]);
		if (r == 0)
			r = add(&rest, &t->files.e[i], NULL);
	}
	if (r == 0 && (fdatasync(list) < 0 || fsync(t->root) < 0 || renameat(t->dir, LIST_NEW, t->dir, LIST) < 0 || fsync(t->dir) < 0))
		r = -errno;
	if (r < 0) {	/* all stay: what is back is put back once more */
		ckpt_tree_release(&rest);
		return r;
	}
	ckpt_tree_release(&t->files);
	t->files = rest;
	ak_fd_close(&t->list);
	t->list = ak_fd_take(&list);
	return 0;
}

static int tell_rest(const struct touched *t, const int *done, size_t count, struct ak_err *err)
{
	char names[TOLD_BYTES] = "";
	size_t at = 0, failed = 0, told = 0;
	int first = 0;

	for (size_t i = 0; i < t->files.n; i++) {
		int n;

		if (done[i] >= 0)
			continue;
		first = first ? first : -done[i];
		if (failed++ != told)
			continue;
		n = snprintf(names + at, sizeof(names) - at, "%s\"%.200s\": %s", at ? ", " : "", t->files.e[i].path, strerror(-done[i]));
		if (n < 0 || at + (size_t)n >= sizeof(names)) {
			names[at] = '\0';
			continue;
		}
		at += (size_t)n;
		told++;
	}
	if (failed == 0)
		return 0;
	if (told < failed)
		(void)ak_err_set(err, first, "take back %zu file(s): %s and %zu more; %zu others were rolled back", failed, names, failed - told, count);
	else
		(void)ak_err_set(err, first, "take back %zu file(s): %s; %zu others were rolled back", failed, names, count);
	ak_err_hint(err, "remove what is in the way and roll back again: their old state is still kept");
	return -first;
}

int touched_rollback(struct touched *t, size_t *ret_count, struct ak_err *err)
{
	int *done = calloc(t->files.n + 1, sizeof(*done));
	int r;

	*ret_count = 0;
	r = !done ? -ENOMEM : t->files.n > 0 ? name_tmp(t) : 0;
	if (r < 0) {
		free(done);
		(void)ak_err_sys(err, -r, "begin to take back files");
		ak_no_space(err, "free space on the disk of the state folder (XDG_STATE_HOME, else ~/.local/state) and roll back again: their old state is kept there");
		return r;
	}
	*ret_count = take_all(t, done);
	r = tell_rest(t, done, *ret_count, err);
	if (r == 0)
		r = forget(t, err);
	else
		(void)keep_rest(t, done);
	(void)unlinkat(t->dir, TMP, 0);
	free(done);
	return r;
}

void touched_text(size_t pending, size_t count, char *buf, size_t size)
{
	if (pending == 0)
		(void)snprintf(buf, size, "%s", TOUCHED_NOTHING);
	else
		(void)snprintf(buf, size, "Rolled back %zu file(s) to their pre-edit state.", count);
}
