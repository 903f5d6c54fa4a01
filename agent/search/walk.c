/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through a tree. Process: in the sandbox. Privilege: none. */
#include "agent/search/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/search/ignore.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

struct walk {
	struct ignore rules;
	char path[WALK_PATH_MAX];
	size_t len;
	unsigned depth;
	walk_fn *fn;
	void *ctx;
	struct walk_notes *notes;
};

struct entry {
	char *name;
	unsigned char type;
};

struct names {
	struct entry *v;
	size_t n, cap;
};

static void free_names(struct names *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].name);
	free(s->v);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static unsigned char type_of(int dir_fd, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type;
	return fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? DT_UNKNOWN : IFTODT(st.st_mode);
}

static int add_name(struct names *s, const char *name, unsigned char type)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 32;
		struct entry *v = realloc(s->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		s->v = v;
		s->cap = cap;
	}
	s->v[s->n] = (struct entry){ strdup(name), type };
	if (!s->v[s->n].name)
		return -ENOMEM;
	s->n++;
	return 0;
}

/* The names of a folder in their order. Return: 0, negative errno; -E2BIG: not all of them */
static int read_names(int fd, struct names *s)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	int rc = dir ? 0 : -errno;

	if (!dir)
		ak_fd_close(&copy);
	while (dir && rc == 0 && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		rc = s->n == WALK_NAMES_MAX ? -E2BIG : add_name(s, e->d_name, type_of(fd, e));
	}
	if (dir)
		(void)closedir(dir);
	if (s->n > 1)
		qsort(s->v, s->n, sizeof(*s->v), by_name);
	return rc;
}

/* The rules of the folder @fd, whose path is w->path. One that is no small regular file has none. */
static int read_rules(struct walk *w, int fd)
{
	AK_AUTO_FD file = openat(fd, ".gitignore", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct ak_buf b = { .max = IGNORE_FILE_MAX };
	struct stat st;
	char buf[4096];
	ssize_t n;
	int rc;

	if (file < 0 || fstat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	while ((n = read(file, buf, sizeof(buf))) > 0)
		ak_buf_add(&b, buf, (size_t)n);
	rc = b.failed ? 0 : ignore_add(&w->rules, b.data ? b.data : "", b.len, w->len ? w->len + 1 : 0);
	ak_buf_release(&b);
	return rc == -E2BIG ? 0 : rc;
}

/* A step down. false: the path is too long */
static bool down(struct walk *w, const char *name)
{
	size_t n = strlen(name);

	if (w->len + n + 2 > sizeof(w->path))
		return false;
	if (w->len > 0)
		w->path[w->len++] = '/';
	memcpy(w->path + w->len, name, n + 1);
	w->len += n;
	return true;
}

static void up(struct walk *w, size_t len)
{
	w->len = len;
	w->path[len] = '\0';
}

static int folder(struct walk *w, int fd);

static int one(struct walk *w, int fd, const struct entry *e)
{
	size_t len = w->len;
	int rc = 0;

	if (strcmp(e->name, ".git") == 0)
		return 0;
	if (!down(w, e->name)) {
		w->notes->deep++;
		return 0;
	}
	if (!ignore_match(&w->rules, w->path, e->type == DT_DIR)) {
		if (e->type == DT_DIR) {
			AK_AUTO_FD sub = openat(fd, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			if (sub < 0)
				w->notes->unreadable++;
			else
				rc = folder(w, sub);
		} else if (e->type == DT_REG || e->type == DT_LNK) {
			rc = w->fn(w->ctx, fd, e->name, w->path, e->type == DT_LNK);
		}
	}
	up(w, len);
	return rc;
}

static int folder(struct walk *w, int fd)
{
	struct names s = { 0 };
	size_t rules = w->rules.n;
	int rc;

	if (w->depth == WALK_DEPTH_MAX) {
		w->notes->deep++;
		return 0;
	}
	w->depth++;
	rc = read_rules(w, fd);
	if (rc == 0) {
		rc = read_names(fd, &s);
		w->notes->deep += rc == -E2BIG;
		w->notes->unreadable += rc < 0 && rc != -E2BIG && rc != -ENOMEM;
		rc = rc == -ENOMEM ? rc : 0;
	}
	for (size_t i = 0; i < s.n && rc == 0; i++)
		rc = one(w, fd, &s.v[i]);
	free_names(&s);
	ignore_cut(&w->rules, rules);
	w->depth--;
	return rc;
}

/* The next name of a path: copied to @name, and *@path moved behind it */
static int next_name(const char **path, char name[256], struct ak_err *err)
{
	size_t n = strcspn(*path, "/");

	if (n > 255)
		return ak_err_set(err, ENAMETOOLONG, "a name in the path is too long");
	memcpy(name, *path, n);
	name[n] = '\0';
	*path += n + ((*path)[n] == '/');
	return 0;
}

static int open_sub(int fd, const char *name, struct ak_err *err)
{
	int sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return sub < 0 ? ak_err_sys(err, errno, "%s", name) : sub;
}

int walk_open(int top_fd, const char *path, struct ak_err *err)
{
	AK_AUTO_FD fd = open_sub(top_fd, ".", err);
	char name[256];

	while (fd >= 0 && *path) {
		int rc = next_name(&path, name, err);
		int sub = rc < 0 ? rc : open_sub(fd, name, err);

		ak_fd_close(&fd);
		fd = sub;
	}
	return ak_fd_take(&fd);
}

/* The folder @start, whose rules and those above it are read. Return: its descriptor */
static int go_to(struct walk *w, int top_fd, const char *start, struct ak_err *err)
{
	AK_AUTO_FD fd = open_sub(top_fd, ".", err);
	char name[256];

	while (fd >= 0 && *start) {
		int rc = read_rules(w, fd);
		int sub;

		if (rc < 0)
			return ak_err_set(err, ENOMEM, "no memory");
		rc = next_name(&start, name, err);
		sub = rc < 0 ? rc : open_sub(fd, name, err);
		ak_fd_close(&fd);
		fd = sub;
		if (fd >= 0 && !down(w, name))
			return ak_err_set(err, ENAMETOOLONG, "the path is too long");
	}
	return ak_fd_take(&fd);
}

int walk(int top_fd, const char *start, walk_fn *fn, void *ctx, struct walk_notes *notes, struct ak_err *err)
{
	struct walk *w = calloc(1, sizeof(*w));
	int rc;

	*notes = (struct walk_notes){ 0 };
	if (!w)
		return ak_err_set(err, ENOMEM, "no memory");
	w->fn = fn;
	w->ctx = ctx;
	w->notes = notes;
	rc = go_to(w, top_fd, start, err);
	if (rc >= 0) {
		AK_AUTO_FD fd = rc;

		rc = folder(w, fd);
		if (rc < 0)
			(void)ak_err_sys(err, -rc, "search");
	}
	ignore_release(&w->rules);
	free(w);
	return rc;
}
