/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, locks, writes and reads the store of a workspace's checkpoints. Process: the commands around them. */
#include "executor/workspace/ckpt_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"
#include "executor/workspace/state.h"

#define KEY_HEX 24
#define TMP "tmp-file"
#define STAT "stat"
#define JOURNAL "journal"

static void key_of(const char *workspace, char ret[KEY_HEX + 1])
{
	unsigned char hash[CKPT_HASH_BYTES];
	char text[2 * CKPT_HASH_BYTES + 1];
	SHA2_CTX sum;

	SHA256Init(&sum);
	SHA256Update(&sum, (const uint8_t *)workspace, strlen(workspace));
	SHA256Final(hash, &sum);
	ckpt_hash_text(hash, text);
	memcpy(ret, text, KEY_HEX);
	ret[KEY_HEX] = '\0';
}

static int open_folder(int dir, const char *name, bool make)
{
	int fd;

	if (make && mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The process that holds it has written its number there */
static int lock(struct ckpt_store *s, struct ak_err *err)
{
	char pid[16] = "";
	int fd = openat(s->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	s->lock = fd;
	for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (tries < CKPT_LOCK_SECONDS * 20) {
			(void)usleep(50000);
			continue;
		}
		if (pread(fd, pid, sizeof(pid) - 1, 0) < 0)
			pid[0] = '\0';
		pid[strspn(pid, "0123456789")] = '\0';
		(void)ak_err_set(err, EBUSY, "another `ak checkpoint` (process %s) works on this workspace", *pid ? pid : "unknown");
		ak_err_hint(err, "wait for its end, or end it: what it has begun can be done again");
		return -EBUSY;
	}
	(void)snprintf(pid, sizeof(pid), "%d\n", getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, strlen(pid), 0) < 0)
		return 0;	/* only for the message above */
	return 0;
}

/* what a crash left: nobody else works here */
static void drop_unfinished(struct ckpt_store *s)
{
	(void)unlinkat(s->dir, TMP, 0);
	(void)ws_remove(s->dir, "diff", NULL);
}

static int open_parts(struct ckpt_store *s, const char *workspace, bool make, struct ak_err *err)
{
	char *line = NULL;
	int r = lock(s, err), fd;

	if (r < 0)
		return r;
	drop_unfinished(s);
	fd = open_folder(s->dir, "objects", make);
	r = fd < 0 ? fd : ckpt_objects_open(&s->objects, fd);
	if (r == 0 && make && faccessat(s->dir, "workspace", F_OK, 0) < 0) {
		r = asprintf(&line, "%s\n", workspace) < 0 ? -ENOMEM : 0;
		if (r == 0)
			r = ckpt_store_write(s, "workspace", line, strlen(line));
		free(line);
	}
	return r;
}

int ckpt_store_open(const struct hostinfo *h, const char *workspace, bool make, struct ckpt_store *ret, struct ak_err *err)
{
	struct ckpt_store s = CKPT_STORE_NONE;
	AK_AUTO_FD all = state_open(h, "checkpoints", make, err);
	char key[KEY_HEX + 1];
	int r;

	if (err)
		err->code = all < 0 && all != -ENOENT ? err->code : 0;
	key_of(workspace, key);
	r = all < 0 ? all : open_folder(all, key, make);
	if (r >= 0) {
		s.dir = r;
		r = open_parts(&s, workspace, make, err);
	}
	if (r == 0) {
		*ret = s;
		return 0;
	}
	ckpt_store_close(&s);
	if (r == -ENOENT) {
		(void)ak_err_set(err, ENOENT, "there is no checkpoint of %.300s", workspace);
		ak_err_hint(err, "`ak checkpoint save` makes one; -C names another workspace");
	} else if (err && err->code == 0) {
		(void)ak_err_sys(err, -r, "open the checkpoints of %.300s in %.300s", workspace, h->state_dir);
		ak_no_space(err, CKPT_NO_SPACE);
	}
	return r;
}

void ckpt_store_close(struct ckpt_store *s)
{
	ckpt_objects_close(&s->objects);
	ak_fd_close(&s->lock);
	ak_fd_close(&s->dir);
}

static int open_tmp(struct ckpt_store *s)
{
	int fd = openat(s->dir, TMP, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* what was written to @fd, with the result @r, becomes the file @name */
static int put_tmp(struct ckpt_store *s, int fd, int r, const char *name)
{
	if (r == 0 && (fdatasync(fd) < 0 || renameat(s->dir, TMP, s->dir, name) < 0))
		r = -errno;
	if (r < 0)
		drop_unfinished(s);
	return r;
}

int ckpt_store_write(struct ckpt_store *s, const char *name, const void *data, size_t len)
{
	AK_AUTO_FD fd = open_tmp(s);

	return put_tmp(s, fd, fd < 0 ? fd : ak_write_all(fd, data, len), name);
}

int ckpt_store_read(struct ckpt_store *s, const char *name, size_t max, char **ret, size_t *ret_len)
{
	AK_AUTO_FD fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t n = 0;
	struct stat st;
	char *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > max)
		return -EBADMSG;
	p = malloc((size_t)st.st_size + 1);
	if (!p)
		return -ENOMEM;
	while (n < (size_t)st.st_size) {
		ssize_t k = read(fd, p + n, (size_t)st.st_size - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			free(p);
			return k < 0 ? -errno : -EBADMSG;
		}
		n += (size_t)k;
	}
	p[n] = '\0';
	*ret = p;
	*ret_len = n;
	return 0;
}

static int new_id(struct ckpt_store *s, char ret[static CKPT_ID_MAX + 1])
{
	for (int i = 0; i < 100; i++) {
		uint32_t v;

		if (getrandom(&v, sizeof(v), 0) != (ssize_t)sizeof(v))
			return -EIO;
		(void)snprintf(ret, CKPT_ID_MAX + 1, CKPT_PREFIX "%06x", v & 0xffffff);
		if (faccessat(s->dir, ret, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
			return 0;
	}
	return -EEXIST;
}

static int write_tree(struct ckpt_store *s, const struct ckpt_tree *t, const char *name)
{
	AK_AUTO_FD fd = open_tmp(s);

	return put_tmp(s, fd, fd < 0 ? fd : ckpt_tree_write(t, fd), name);
}

int ckpt_store_save(struct ckpt_store *s, const struct ckpt_tree *t, char ret_id[static CKPT_ID_MAX + 1], struct ak_err *err)
{
	char id[CKPT_ID_MAX + 1];
	int r = new_id(s, id);

	if (r == 0)
		r = ckpt_objects_flush(&s->objects);
	if (r == 0)
		r = write_tree(s, t, id);
	if (r < 0) {
		(void)ak_err_sys(err, -r, "write the checkpoint");
		ak_no_space(err, CKPT_NO_SPACE);
		return r;
	}
	/* it is the tree as last seen, too */
	if (linkat(s->dir, id, s->dir, TMP, 0) < 0 || renameat(s->dir, TMP, s->dir, STAT) < 0)
		ckpt_store_put_stat(s, t);
	memcpy(ret_id, id, sizeof(id));
	return 0;
}

static int load(struct ckpt_store *s, const char *name, struct ckpt_tree *ret)
{
	char *file = NULL;
	size_t len = 0;
	int r = ckpt_store_read(s, name, CKPT_FILE_BYTES, &file, &len);

	return r < 0 ? r : ckpt_tree_decode(file, len, ret);
}

static int check_id(const char *id, struct ak_err *err)
{
	if (state_id_ok(id, CKPT_PREFIX))
		return 0;
	(void)ak_err_set(err, EINVAL, "\"%.60s\" is no checkpoint", id);
	ak_err_hint(err, "`ak checkpoint list` shows them; their names look like %s4f2a91", CKPT_PREFIX);
	return -EINVAL;
}

static int explain(int r, const char *id, struct ak_err *err)
{
	if (r == -ENOENT) {
		(void)ak_err_set(err, ENOENT, "there is no checkpoint %s of this workspace", id);
		ak_err_hint(err, "`ak checkpoint list` shows them; -C names another workspace");
	} else if (r == -EBADMSG || r == -EPROTONOSUPPORT) {
		(void)ak_err_set(err, -r, r == -EBADMSG ? "checkpoint %s is damaged" : "checkpoint %s was made by another version of ak", id);
		ak_err_hint(err, "the workspace was not touched; `ak checkpoint rm %s` removes it", id);
	} else if (r < 0) {
		(void)ak_err_sys(err, -r, "read checkpoint %s", id);
	}
	return r;
}

int ckpt_store_load(struct ckpt_store *s, const char *id, struct ckpt_tree *ret, struct ak_err *err)
{
	struct ckpt_tree t = {0};
	int r = check_id(id, err);

	if (r < 0)
		return r;
	r = load(s, id, &t);
	if (r == 0)
		r = ckpt_tree_check(&t);
	if (r < 0)
		ckpt_tree_release(&t);
	else
		*ret = t;
	return explain(r, id, err);
}

int ckpt_store_remove(struct ckpt_store *s, const char *id, struct ak_err *err)
{
	int r = check_id(id, err);

	if (r == 0 && unlinkat(s->dir, id, 0) < 0)
		r = explain(-errno, id, err);
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct ckpt_row *x = a, *y = b;

	if (x->made_ns != y->made_ns)
		return x->made_ns < y->made_ns ? -1 : 1;
	return strcmp(x->id, y->id);
}

static void fill_row(struct ckpt_store *s, struct ckpt_row *row)
{
	struct ckpt_tree t = {0};

	row->damaged = load(s, row->id, &t) < 0;
	if (row->damaged)
		return;
	row->made_ns = t.made_ns;
	row->entries = t.n - 1;
	memcpy(row->note, t.note, sizeof(row->note));
	memcpy(row->before, t.before, sizeof(row->before));
	for (size_t i = 0; i < t.n; i++)
		row->bytes += S_ISREG(t.e[i].id.mode) && t.e[i].same_as == CKPT_NO_LINK ? t.e[i].id.size : 0;
	ckpt_tree_release(&t);
}

long ckpt_store_count(struct ckpt_store *s)
{
	struct ak_dir d = {.fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	unsigned char type;
	const char *name;
	long n = 0;

	while (d.fd >= 0 && ak_dir_next(&d, &name, &type))
		n += state_id_ok(name, CKPT_PREFIX);
	ak_dir_close(&d);
	return n;
}

long ckpt_store_list(struct ckpt_store *s, struct ckpt_row **ret, struct ak_err *err)
{
	struct ckpt_row *rows = calloc(CKPT_MAX + 1, sizeof(*rows));
	struct ak_dir d = {.fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	unsigned char type;
	const char *name;
	size_t n = 0;

	if (!rows || d.fd < 0) {
		free(rows);
		ak_dir_close(&d);
		return ak_err_sys(err, rows ? errno : ENOMEM, "list the checkpoints");
	}
	while (n <= CKPT_MAX && ak_dir_next(&d, &name, &type)) {
		if (!state_id_ok(name, CKPT_PREFIX))
			continue;
		(void)snprintf(rows[n].id, sizeof(rows[n].id), "%.*s", (int)CKPT_ID_MAX, name);
		n++;
	}
	ak_dir_close(&d);
	for (size_t i = 0; i < n; i++)
		fill_row(s, &rows[i]);
	if (n > 0)
		qsort(rows, n, sizeof(*rows), by_time);
	*ret = rows;
	return (long)n;
}

/* every hash that some checkpoint has, sorted */
struct wanted {
	unsigned char (*hash)[CKPT_HASH_BYTES];
	size_t n, cap;
};

static int by_hash(const void *a, const void *b)
{
	return memcmp(a, b, CKPT_HASH_BYTES);
}

static bool is_wanted(void *arg, const unsigned char *hash)
{
	const struct wanted *w = arg;

	return w->n > 0 && bsearch(hash, w->hash, w->n, CKPT_HASH_BYTES, by_hash) != NULL;
}

static int want_all(struct wanted *w, const struct ckpt_tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!S_ISREG(t->e[i].id.mode) || (t->e[i].flags & CKPT_LEFT))
			continue;
		if (w->n == w->cap) {
			size_t cap = w->cap ? w->cap * 2 : 1024;
			void *v = reallocarray(w->hash, cap, CKPT_HASH_BYTES);

			if (!v)
				return -ENOMEM;
			w->hash = v;
			w->cap = cap;
		}
		memcpy(w->hash[w->n++], t->e[i].hash, CKPT_HASH_BYTES);
	}
	return 0;
}

/* equal ones are kept once, so that what all checkpoints share is not counted for each */
static void sort_wanted(struct wanted *w)
{
	size_t n = 0;

	if (w->n == 0)
		return;
	qsort(w->hash, w->n, CKPT_HASH_BYTES, by_hash);
	for (size_t i = 1; i < w->n; i++) {
		if (memcmp(w->hash[n], w->hash[i], CKPT_HASH_BYTES) != 0)
			memmove(w->hash[++n], w->hash[i], CKPT_HASH_BYTES);
	}
	w->n = n + 1;
}

long ckpt_store_sweep(struct ckpt_store *s, struct ak_err *err)
{
	struct ckpt_row *rows = NULL;
	struct wanted w = {0};
	long n = ckpt_store_list(s, &rows, err), r = n < 0 ? n : 0;

	for (long i = 0; rows && r == 0 && i < n; i++) {
		struct ckpt_tree t = {0};

		if (rows[i].damaged)
			continue;
		r = load(s, rows[i].id, &t);
		if (r == 0)
			r = want_all(&w, &t);
		sort_wanted(&w);
		ckpt_tree_release(&t);
	}
	if (r == 0 && n > 0) {	/* what the tree as last seen has need not be read again, so it stays */
		struct ckpt_tree t = {0};

		ckpt_store_load_stat(s, &t);
		r = want_all(&w, &t);
		sort_wanted(&w);
		ckpt_tree_release(&t);
	} else if (r == 0) {
		(void)unlinkat(s->dir, STAT, 0);
	}
	if (r == 0)
		r = ckpt_objects_sweep(&s->objects, is_wanted, &w);
	if (r < 0 && n >= 0)
		(void)ak_err_sys(err, (int)-r, "remove contents that no checkpoint has");
	free(rows);
	free(w.hash);
	return r;
}

void ckpt_store_load_stat(struct ckpt_store *s, struct ckpt_tree *ret)
{
	(void)load(s, STAT, ret);	/* damaged: everything is read again */
}

void ckpt_store_put_stat(struct ckpt_store *s, const struct ckpt_tree *t)
{
	if (write_tree(s, t, STAT) < 0)
		(void)unlinkat(s->dir, STAT, 0);
}

void ckpt_store_journal(struct ckpt_store *s, struct ckpt_journal *ret)
{
	char *text = NULL, *space;
	size_t len = 0;

	*ret = (struct ckpt_journal){0};
	if (ckpt_store_read(s, JOURNAL, 100, &text, &len) < 0 || !text)
		return;
	text[strcspn(text, "\n")] = '\0';
	space = strchr(text, ' ');
	if (space) {
		*space++ = '\0';
		if (state_id_ok(text, CKPT_PREFIX) && state_id_ok(space, CKPT_PREFIX)) {
			(void)snprintf(ret->id, sizeof(ret->id), "%s", text);
			(void)snprintf(ret->before, sizeof(ret->before), "%s", space);
		}
	}
	free(text);
}

int ckpt_store_begin(struct ckpt_store *s, const struct ckpt_journal *j, struct ak_err *err)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%s %s\n", j->id, j->before);
	int r = ckpt_store_write(s, JOURNAL, text, (size_t)n);

	/* contents and checkpoints are on the disk already: ckpt_store_save() */
	if (r == 0 && fsync(s->dir) < 0)
		r = -errno;
	if (r < 0)
		(void)ak_err_sys(err, -r, "write down what is going to be restored");
	ak_no_space(r < 0 ? err : NULL, CKPT_NO_SPACE);
	return r;
}

void ckpt_store_end(struct ckpt_store *s)
{
	(void)unlinkat(s->dir, JOURNAL, 0);
}
