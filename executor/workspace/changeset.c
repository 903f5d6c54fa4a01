/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of one changeset: making, opening, locking, removing. Process: executor. Privilege: the caller's. */
#include "executor/workspace/changeset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "executor/lock_holder.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"
#include "executor/shared/ak_parse.h"
#include "executor/shared/ak_wire.h"
#include "executor/workspace/changeset_again.h"
#include "executor/workspace/scan.h"
#include "executor/workspace/state.h"

#define META_MAX 8192u
#define META_VERSION 1u
#define META "meta"
#define META_NEW "meta.new"
#define LOCK "lock"
#define JOURNAL "journal"
#define JOURNAL_NEW "journal.new"
#define APPLYING "applying"
#define NSEC 1000000000LL
#define LOCK_TRIES 20u
#define LOCK_TRIES_STAYS 5u	/* of them for a process that does not end */
#define LOCK_WAIT_NS 50000000

static const char magic[8] = "AKCHGS1\n";

static long encode_meta(const struct changeset_meta *m, uint8_t *buf, size_t cap)
{
	struct ak_wr w;

	ak_wr_init(&w, buf, cap);
	for (size_t i = 0; i < sizeof(magic); i++)
		ak_wr_u8(&w, (uint8_t)magic[i]);
	ak_wr_u32(&w, META_VERSION);
	ak_wr_str(&w, m->workspace);
	ak_wr_u64(&w, m->dev);
	ak_wr_u64(&w, m->ino);
	ak_wr_u64(&w, (uint64_t)m->start_ns);
	ak_wr_u32(&w, m->uid);
	ak_wr_u32(&w, m->gid);
	ak_wr_str(&w, m->command);
	return ak_wr_done(&w);
}

int changeset_decode_meta(const void *buf, size_t len, struct changeset_meta *ret)
{
	struct changeset_meta m = { 0 };
	const char *workspace, *command;
	struct ak_rd r;

	ak_rd_init(&r, buf, len);
	for (size_t i = 0; i < sizeof(magic); i++)
		if (ak_rd_u8(&r) != (uint8_t)magic[i])
			return -EBADMSG;
	if (ak_rd_u32(&r) != META_VERSION)
		return -EBADMSG;
	workspace = ak_rd_str(&r);
	m.dev = ak_rd_u64(&r);
	m.ino = ak_rd_u64(&r);
	m.start_ns = (int64_t)ak_rd_u64(&r);
	m.uid = ak_rd_u32(&r);
	m.gid = ak_rd_u32(&r);
	command = ak_rd_str(&r);
	if (ak_rd_done(&r) < 0 || !workspace || !command || workspace[0] != '/' || strlen(workspace) > WS_PATH_MAX ||
	    strlen(command) > CHANGESET_COMMAND_MAX)
		return -EBADMSG;
	(void)snprintf(m.workspace, sizeof(m.workspace), "%s", workspace);
	(void)snprintf(m.command, sizeof(m.command), "%s", command);
	*ret = m;
	return 0;
}

static int write_new(int dir, const char *name, const void *p, size_t n)
{
	AK_AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : ak_write_all(fd, p, n);
}

static int open_lock(int dir, bool make)
{
	return openat(dir, LOCK, O_RDWR | (make ? O_CREAT : 0) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

static int give(int dir, const struct changeset_meta *m)
{
	static const char *const names[] = { ".", LOCK, META, "layer", "layer/upper", "layer/work" };

	if (geteuid() != 0 || (m->uid == 0 && m->gid == 0))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (fchownat(dir, names[i], m->uid, m->gid, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
	return 0;
}

/*
 * The beginning, on the clock of file times. Since Linux 6.13 that is finer than the clock of ticks: a file that was looked at gets an
 * exact time with its next change, the others the time of the tick, but never an earlier one than an exact time that was given out. So
 * one is drawn here: what was changed before is older, what is changed from now on is not, and the beginning is the moment before. A
 * time that is no later than the tick's is none of these: on such a system what changes within the tick counts as before.
 * Source: Documentation/filesystems/multigrain-ts.rst.
 */
static void begin_now(struct changeset *cs)
{
	struct timespec tick = { 0 };
	struct ws_ident id;

	cs->meta.start_ns = scan_now();
	if (ws_fstat(cs->lock, &id) < 0 || fchmod(cs->lock, 0600) < 0 || ws_fstat(cs->lock, &id) < 0)
		return;
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &tick);
	cs->meta.start_ns = id.ctime_ns > tick.tv_sec * NSEC + tick.tv_nsec ? id.ctime_ns - 1 : id.ctime_ns;
}

static int fill(struct changeset *cs, const struct ws_ident *top)
{
	uint8_t buf[META_MAX] AK_UNINIT;
	long n;
	int r;

	cs->lock = open_lock(cs->dir, true);
	if (cs->lock < 0 || flock(cs->lock, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	begin_now(cs);
	n = encode_meta(&cs->meta, buf, sizeof(buf));
	if (n < 0)
		return (int)n;
	if (mkdirat(cs->dir, "layer", 0700) < 0 || mkdirat(cs->dir, "layer/work", 0700) < 0 ||
	    mkdirat(cs->dir, "layer/upper", 0700) < 0)
		return -errno;
	cs->upper = openat(cs->dir, "layer/upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = cs->upper < 0 ? -errno : write_new(cs->dir, META, buf, (size_t)n);
	if (r == 0)
		r = give(cs->dir, &cs->meta);
	/* last: the mode may close it to its owner */
	if (r == 0 && fchmod(cs->upper, ws_safe_mode(top->mode)) < 0)
		r = -errno;
	return r;
}

int changeset_create(int sessions, const struct changeset_meta *meta, const struct ws_ident *top, struct changeset *ret,
		     struct ak_err *err)
{
	struct changeset cs = CHANGESET_NONE;
	char made[STATE_NEW_MAX];
	int r;

	cs.meta = *meta;
	cs.dir = state_new_dir(sessions, made, err);
	if (cs.dir < 0)
		return cs.dir;
	r = fill(&cs, top);
	if (r < 0)
		(void)ak_err_sys(err, -r, "make a changeset in the state folder");
	else
		r = state_name_dir(sessions, made, CHANGESET_PREFIX, cs.id, sizeof(cs.id), err);
	if (r < 0) {
		ak_no_space(err, AK_STATE_NO_SPACE);
		(void)ws_remove(sessions, made, NULL);
		changeset_close(&cs);
		return r;
	}
	*ret = cs;
	return 0;
}

static int read_meta(int dir, struct changeset_meta *ret)
{
	uint8_t buf[META_MAX] AK_UNINIT;
	struct ws_ident id;
	AK_AUTO_FD fd = ws_open_file(dir, META, &id);
	ssize_t n;

	if (fd < 0)
		return fd == -ENOENT ? -EBADMSG : fd;
	n = read(fd, buf, sizeof(buf));
	if (n < 0)
		return -errno;
	return changeset_decode_meta(buf, (size_t)n, ret);
}

/* which journal there is; zeroes: none */
static struct timespec journal_time(const struct changeset *cs, ino_t *ret_ino)
{
	struct stat st = { 0 };

	if (fstatat(cs->dir, "journal", &st, AT_SYMLINK_NOFOLLOW) < 0)
		st = (struct stat){ 0 };
	*ret_ino = st.st_ino;
	return st.st_mtim;
}

static int in_use(const struct changeset *cs, pid_t by, struct ak_err *err)
{
	char process[32] = "";

	if (by)
		(void)snprintf(process, sizeof(process), " (process %d)", (int)by);
	(void)ak_err_set(err, EBUSY, "changeset %s is in use%s: its run, or another command on it, goes on", cs->id, process);
	ak_err_hint(err, "wait for it to end, or end it");
	return -EBUSY;
}

/* who was killed just now may not be gone yet; a process that stays gets a moment, as its run may be about to end */
static int take_lock(struct changeset *cs, unsigned tries, struct ak_err *err)
{
	static const struct timespec moment = { .tv_nsec = LOCK_WAIT_NS };
	pid_t by = 0;

	cs->lock = open_lock(cs->dir, true);
	if (cs->lock < 0)
		return ak_err_sys(err, errno, "lock the changeset %s", cs->id);
	for (unsigned tried = 1; flock(cs->lock, LOCK_EX | LOCK_NB) < 0; tried++) {
		if (errno != EWOULDBLOCK)
			return ak_err_sys(err, errno, "lock the changeset %s", cs->id);
		if (tried >= tries || tried >= LOCK_TRIES_STAYS) {
			by = lock_holder(cs->lock);
			by = lock_holder_stays(by) ? by : 0;
		}
		if (tried >= tries || by)
			return in_use(cs, by, err);
		(void)nanosleep(&moment, NULL);
	}
	return 0;
}

/* a run that ended while its lock was waited for has left changes that who wants to remove them cannot have seen */
static int take_to_remove(struct changeset *cs, struct ak_err *err)
{
	ino_t was, is;
	struct timespec before = journal_time(cs, &was), now;
	int r = take_lock(cs, LOCK_TRIES, err);

	if (r < 0)
		return r;
	now = journal_time(cs, &is);
	if (was == is && before.tv_sec == now.tv_sec && before.tv_nsec == now.tv_nsec)
		return 0;
	(void)ak_err_set(err, EBUSY, "changeset %s was in use: its run has ended just now", cs->id);
	ak_err_hint(err, "look at its changes with `ak diff %s`, then say it again", cs->id);
	return -EBUSY;
}

static int no_such(const char *id, struct ak_err *err)
{
	(void)ak_err_set(err, ENOENT, "there is no changeset \"%.80s\"", id);
	ak_err_hint(err, "`ak sessions list` shows those there are");
	return -ENOENT;
}

static int open_parts(struct changeset *cs, enum changeset_lock lock, struct ak_err *err)
{
	int r = lock == CHANGESET_REMOVE ? take_to_remove(cs, err)
		: lock != CHANGESET_LOOK ? take_lock(cs, lock == CHANGESET_WAIT ? LOCK_TRIES : 1, err)
					 : 0;

	if (r < 0)
		return r;
	r = read_meta(cs->dir, &cs->meta);
	if (r == 0) {
		cs->upper = openat(cs->dir, "layer/upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* its mode is the workspace's, which may be closed to its owner: O_PATH is enough to look */
		if (cs->upper < 0 && errno == EACCES)
			cs->upper = openat(cs->dir, "layer/upper", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (cs->upper < 0)
			r = -EBADMSG;
	}
	if (r == -EBADMSG) {
		(void)ak_err_set(err, EBADMSG, "changeset %s is incomplete: it cannot be read", cs->id);
		ak_err_hint(err, "`ak discard %s` removes what is left of it", cs->id);
	} else if (r < 0) {
		(void)ak_err_sys(err, -r, "read the changeset %s", cs->id);
	}
	return r;
}

int changeset_open(int sessions, const char *id, enum changeset_lock lock, struct changeset *ret, struct ak_err *err)
{
	struct changeset cs = CHANGESET_NONE;
	int r;

	*ret = cs;
	if (!state_id_ok(id, CHANGESET_PREFIX))
		return no_such(id, err);
	(void)snprintf(cs.id, sizeof(cs.id), "%s", id);
	cs.dir = openat(sessions, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (cs.dir < 0 && errno == ENOENT)
		return no_such(id, err);
	if (cs.dir < 0)
		return ak_err_sys(err, errno, "open the changeset %s", id);
	r = open_parts(&cs, lock, err);
	if (r < 0 && r != -EBADMSG) {
		changeset_close(&cs);
		return r;
	}
	*ret = cs;
	return r;
}

void changeset_close(struct changeset *cs)
{
	ak_fd_close(&cs->upper);
	ak_fd_close(&cs->lock);
	ak_fd_close(&cs->dir);
}

bool changeset_busy(const struct changeset *cs)
{
	AK_AUTO_FD fd = open_lock(cs->dir, false);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

bool changeset_has(const struct changeset *cs, const char *name)
{
	return faccessat(cs->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int changeset_open_workspace(const struct changeset *cs, struct ak_err *err)
{
	struct ws_ident id;
	AK_AUTO_FD fd = open(cs->meta.workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : ws_fstat(fd, &id);

	if (r < 0)
		return ak_err_sys(err, -r, "open the workspace %s of changeset %s", cs->meta.workspace, cs->id);
	/* the number of a device may be another one after a restart of the host; files are compared one by one anyway */
	if (id.ino == cs->meta.ino)
		return ak_fd_take(&fd);
	(void)ak_err_set(err, ESTALE, "%s is not the folder any more that changeset %s was made in", cs->meta.workspace, cs->id);
	ak_err_hint(err, "put the folder back to its path; or `ak discard %s`", cs->id);
	return -ESTALE;
}

/* it could not be written, but what it holds is there. Return: @r */
static int stays(const struct changeset *cs, int r, struct ak_err *err)
{
	ak_no_space(err, AK_STATE_NO_SPACE_KEPT_FMT, cs->id);
	return r;
}

int changeset_store(const struct changeset *cs, const struct journal *j, struct ak_err *err)
{
	struct ak_buf b = { .max = JOURNAL_BYTES_MAX + 64u };
	int r;

	journal_encode(j, &b);
	r = b.failed ? -ENOMEM : write_new(cs->dir, JOURNAL_NEW, b.data, b.len);
	ak_buf_release(&b);
	if (r == 0 && renameat(cs->dir, JOURNAL_NEW, cs->dir, JOURNAL) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(cs->dir, JOURNAL_NEW, 0);
	return r < 0 ? stays(cs, ak_err_sys(err, -r, "write the journal of changeset %s", cs->id), err) : 0;
}

int changeset_load(const struct changeset *cs, struct journal *ret, struct ak_err *err)
{
	return changeset_load_as(cs, JOURNAL, ret, err);
}

int changeset_load_as(const struct changeset *cs, const char *name, struct journal *ret, struct ak_err *err)
{
	struct ws_ident id;
	AK_AUTO_FD fd = ws_open_file(cs->dir, name, &id);
	uint8_t *buf;
	size_t len = 0;
	int r;

	if (fd == -ENOENT)
		return -ENOENT;
	if (fd < 0)
		return ak_err_sys(err, -fd, "open the journal of changeset %s", cs->id);
	if (id.size > JOURNAL_BYTES_MAX + 64u)
		return -EBADMSG;
	buf = malloc(id.size + 1);
	if (!buf)
		return ak_err_set(err, ENOMEM, "not enough memory for the journal of changeset %s", cs->id);
	while (len < id.size) {
		ssize_t n = read(fd, buf + len, id.size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	r = journal_decode(buf, len, ret);
	free(buf);
	return r == -ENOMEM ? ak_err_set(err, ENOMEM, "not enough memory for the journal of changeset %s", cs->id) : r;
}

int changeset_mark(const struct changeset *cs, bool on, struct ak_err *err)
{
	int r;

	if (on) {
		r = write_new(cs->dir, APPLYING, "", 0);
		return r < 0 ? stays(cs, ak_err_sys(err, -r, "mark the changeset %s", cs->id), err) : 0;
	}
	if (unlinkat(cs->dir, APPLYING, 0) < 0 && errno != ENOENT)
		return ak_err_sys(err, errno, "mark the changeset %s", cs->id);
	return 0;
}

/* the journal goes first: it must never tell of a layer that is not there any more */
int changeset_renew(struct changeset *cs, const struct ws_ident *top, struct ak_err *err)
{
	uint8_t buf[META_MAX] AK_UNINIT;
	int64_t start_ns = cs->meta.start_ns;
	long n;
	int r = 0;

	if ((unlinkat(cs->dir, JOURNAL, 0) < 0 && errno != ENOENT) || (unlinkat(cs->dir, APPLYING, 0) < 0 && errno != ENOENT) ||
	    (unlinkat(cs->dir, CHANGESET_BEFORE, 0) < 0 && errno != ENOENT))
		r = ak_err_sys(err, errno, "empty it");
	if (r == 0)
		r = ws_empty(cs->upper, err);
	if (r < 0)
		return ak_err_wrap(err, "changeset %s", cs->id);
	begin_now(cs);
	n = encode_meta(&cs->meta, buf, sizeof(buf));
	r = n < 0 ? (int)n : write_new(cs->dir, META_NEW, buf, (size_t)n);
	if (r == 0 && renameat(cs->dir, META_NEW, cs->dir, META) < 0)
		r = -errno;
	if (r == 0 && fchmod(cs->upper, ws_safe_mode(top->mode)) < 0)
		r = -errno;
	if (r < 0)
		cs->meta.start_ns = start_ns;
	if (r < 0) {
		(void)ak_err_sys(err, -r, "begin the changeset %s anew", cs->id);
		ak_no_space(err, AK_STATE_NO_SPACE);	/* what it held is dealt with */
	}
	return r;
}

int changeset_remove(int sessions, struct changeset *cs, struct ak_err *err)
{
	int r = 0;

	/* without its meta it is no changeset any more, only something to be removed */
	if (unlinkat(cs->dir, META, 0) < 0 && errno != ENOENT)
		r = ak_err_sys(err, errno, "remove it");
	if (r == 0)
		r = ws_empty(cs->dir, err);
	/* the workspace's owner may not do this in root's state folder: whoever looks next does it, see changeset_sweep() */
	if (r == 0 && unlinkat(sessions, cs->id, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != EACCES && errno != EPERM)
		r = ak_err_sys(err, errno, "remove it");
	return r < 0 ? ak_err_wrap(err, "changeset %s", cs->id) : 0;
}

/* what a removal or a crash has left: no meta, or nothing in the layer, and nobody at it */
static void sweep_one(int sessions, const char *id)
{
	struct changeset cs = CHANGESET_NONE;
	int r = changeset_open(sessions, id, CHANGESET_TRY, &cs, NULL);

	if ((r == -EBADMSG && !changeset_has(&cs, META)) ||
	    (r == 0 && !changeset_has(&cs, JOURNAL) && !changeset_has(&cs, APPLYING) && changeset_empty(&cs)))
		(void)changeset_remove(sessions, &cs, NULL);
	changeset_close(&cs);
}

/* what a crash has left of one that was being made */
static void sweep_new(int sessions, const char *name)
{
	AK_AUTO_FD dir = openat(sessions, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AK_AUTO_FD lock = dir < 0 ? -1 : open_lock(dir, false);

	if (dir >= 0 && (lock < 0 ? errno == ENOENT : flock(lock, LOCK_EX | LOCK_NB) == 0))
		(void)ws_remove(sessions, name, NULL);
}

void changeset_sweep(int sessions)
{
	struct ak_dir d AK_UNINIT;
	const char *name;
	unsigned char type;
	unsigned looked = 0;

	d.fd = openat(sessions, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d.pos = d.len = 0;
	while (d.fd >= 0 && looked < CHANGESET_SWEEP_MAX && ak_dir_next(&d, &name, &type)) {
		char path[CHANGESET_ID_MAX + 16];
		bool whole;

		if (state_new_left(sessions, name, STATE_NEW_SECONDS)) {
			looked++;
			sweep_new(sessions, name);
			continue;
		}
		if (!state_id_ok(name, CHANGESET_PREFIX))
			continue;
		(void)snprintf(path, sizeof(path), "%s/" META, name);
		whole = faccessat(sessions, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
		(void)snprintf(path, sizeof(path), "%s/" JOURNAL, name);
		if (whole && faccessat(sessions, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		looked++;
		sweep_one(sessions, name);
	}
	ak_fd_close(&d.fd);
}

bool changeset_empty(const struct changeset *cs)
{
	struct ak_dir d AK_UNINIT;
	const char *name;
	unsigned char type;
	bool empty;

	d.fd = openat(cs->upper, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d.pos = d.len = 0;
	if (d.fd < 0)
		return false;
	empty = !ak_dir_next(&d, &name, &type);
	ak_dir_close(&d);
	return empty;
}

struct found {
	char *id;
	struct timespec at;
};

static int newest_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->at.tv_sec != y->at.tv_sec)
		return x->at.tv_sec < y->at.tv_sec ? 1 : -1;
	if (x->at.tv_nsec != y->at.tv_nsec)
		return x->at.tv_nsec < y->at.tv_nsec ? 1 : -1;
	return strcmp(x->id, y->id);
}

/* Return: 0 or -ENOMEM */
static int collect(int sessions, struct ak_dir *d, struct found **v, size_t *n, size_t *more)
{
	const char *name;
	unsigned char type;

	while (ak_dir_next(d, &name, &type)) {
		char path[CHANGESET_ID_MAX + 8];
		struct found *grown;
		struct stat st;

		if (!state_id_ok(name, CHANGESET_PREFIX))
			continue;
		if (*n == CHANGESETS_MAX) {
			++*more;
			continue;
		}
		(void)snprintf(path, sizeof(path), "%s/" META, name);
		if (fstatat(sessions, path, &st, AT_SYMLINK_NOFOLLOW) < 0 && fstatat(sessions, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		grown = reallocarray(*v, *n + 1, sizeof(**v));
		if (!grown)
			return -ENOMEM;
		*v = grown;
		(*v)[*n] = (struct found){ strdup(name), st.st_mtim };
		if (!(*v)[*n].id)
			return -ENOMEM;
		++*n;
	}
	return 0;
}

int changeset_ids(int sessions, char ***ret, size_t *ret_more, struct ak_err *err)
{
	struct ak_dir d AK_UNINIT;
	struct found *v = NULL;
	size_t n = 0, more = 0;
	char **ids = NULL;
	int r;

	d.fd = openat(sessions, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d.pos = d.len = 0;
	if (d.fd < 0)
		return ak_err_sys(err, errno, "read the folder of changesets");
	r = collect(sessions, &d, &v, &n, &more);
	ak_dir_close(&d);
	if (r == 0)
		ids = calloc(n + 1, sizeof(*ids));
	if (ids && n > 0)
		qsort(v, n, sizeof(*v), newest_first);
	for (size_t i = 0; i < n; i++) {
		if (ids)
			ids[i] = v[i].id;
		else
			free(v[i].id);
	}
	free(v);
	if (!ids)
		return ak_err_set(err, ENOMEM, "not enough memory for the list of changesets");
	*ret = ids;
	*ret_more = more;
	return 0;
}

void changeset_ids_free(char **ids)
{
	for (size_t i = 0; ids && ids[i]; i++)
		free(ids[i]);
	free(ids);
}
