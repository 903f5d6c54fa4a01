/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at the caller's descriptors 0, 1 and 2 and makes what the command gets in their place.
 * Process: executor. Privilege: none, but for streams_chown().
 *
 * A descriptor carries more than its direction: through /proc/self/fd a command can open the file behind it
 * again with more rights, rewrite it, or change its mode. So only descriptors behind which there is nothing
 * to gain are passed: a one-way anonymous pipe and /dev/null. For all others the command gets a pipe of ours.
 */
#include "executor/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "executor/opts.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_weaken.h"

#define PIPEFS_MAGIC 0x50495045		/* linux/magic.h */
#define STREAM_PIPE_BYTES (1 << 20)	/* of an output pipe; what fs.pipe-max-size lets everybody have */

static const char *const stream_names[3] = { "standard input", "standard output", "standard error" };

int streams_fix_stdio(unsigned *ret_closed, struct ak_err *err)
{
	unsigned closed = 0;

	for (int i = 0; i < 3; i++) {
		if (fcntl(i, F_GETFD) >= 0)
			continue;
		closed |= 1u << i;
		/* the lowest free number is i, since all below are open by now */
		if (open("/dev/null", i == 0 ? O_RDONLY : O_WRONLY) != i)
			return ak_err_sys(err, errno ? errno : EBADF, "open /dev/null as %s",
					  stream_names[i]);
	}
	*ret_closed = closed;
	return 0;
}

/* What is needed of one of the caller's descriptors to judge it */
struct outer {
	struct stat st;
	int flags;	/* F_GETFL */
	bool fits;	/* its access mode has the direction we need */
	bool tty;
};

static int look(int fd, struct outer *ret, struct ak_err *err)
{
	struct outer o = { 0 };
	int acc, want = fd == 0 ? O_RDONLY : O_WRONLY;

	o.flags = fcntl(fd, F_GETFL);
	if (o.flags < 0 || fstat(fd, &o.st) < 0)
		return ak_err_sys(err, errno, "look at %s", stream_names[fd]);
	if (S_ISDIR(o.st.st_mode) || (o.flags & O_PATH)) {
		ak_err_set(err, EINVAL, "%s is %s", stream_names[fd],
			   S_ISDIR(o.st.st_mode) ? "a directory" : "a path-only descriptor");
		ak_err_hint(err, "redirect it to a file, a pipe or /dev/null");
		return -EINVAL;
	}
	acc = o.flags & O_ACCMODE;
	o.fits = acc == want || acc == O_RDWR;
	o.tty = S_ISCHR(o.st.st_mode) && isatty(fd);
	*ret = o;
	return 0;
}

static enum stream_kind kind_of(const struct outer *o)
{
	switch (o->st.st_mode & S_IFMT) {
	case S_IFIFO:
		return STREAM_KIND_PIPE;
	case S_IFSOCK:
		return STREAM_KIND_SOCK;
	case S_IFCHR:
		return o->tty ? STREAM_KIND_TTY : STREAM_KIND_OTHER;
	default:
		return STREAM_KIND_FILE;
	}
}

static bool passable(int fd, const struct outer *o)
{
	struct statfs fs;

	if (S_ISCHR(o->st.st_mode))
		return o->st.st_rdev == makedev(1, 3);
	if (AK_WEAK(ak_weaken_mask(), AK_WEAK_STREAMS) && S_ISREG(o->st.st_mode))
		return true;
	/*
	 * the file system tells an anonymous pipe from a FIFO with a name, behind which there is a file with
	 * a mode
	 */
	return S_ISFIFO(o->st.st_mode) && (o->flags & O_ACCMODE) != O_RDWR && fstatfs(fd, &fs) == 0 &&
	       fs.f_type == PIPEFS_MAGIC;
}

bool stream_passable(int fd, bool output)
{
	struct outer o = { .flags = fcntl(fd, F_GETFL) };

	if (o.flags < 0 || (o.flags & O_PATH) || fstat(fd, &o.st) < 0)
		return false;
	if (S_ISFIFO(o.st.st_mode) && (o.flags & O_ACCMODE) != (output ? O_WRONLY : O_RDONLY))
		return false;
	return (S_ISFIFO(o.st.st_mode) || S_ISCHR(o.st.st_mode)) && passable(fd, &o);
}

static enum stream_mode classify(const struct exec_opts *opt, int fd, const struct outer *o)
{
	if (opt->tty)
		return STREAM_PTY;
	if (fd > 0 && opt->json)
		return STREAM_CAPTURE;
	if (!o)
		return STREAM_NULL;
	if (fd == 0 && o->tty && !opt->stdin_always)
		return STREAM_NULL;
	if (!o->fits)
		return STREAM_NULL;
	if (fd > 0 && opt->max_output_bytes != UINT64_MAX)
		return STREAM_RELAY;
	return passable(fd, o) ? STREAM_PASS : STREAM_RELAY;
}

/*
 * A terminal's blocking mode is shared with the shell and every job on it, so it is not ours to change; a
 * second opening has a mode of its own. Not for the master side, where opening means making a new terminal.
 * Failing is fine.
 */
static int open_tty_again(int fd)
{
	char path[32];
	unsigned n;

	if (ioctl(fd, TIOCGPTN, &n) == 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, (fd == 0 ? O_RDONLY : O_WRONLY) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/*
 * Our end is non-blocking, the command's is not; stdin from a file keeps a read end to count what was left in
 * the pipe
 */
static int make_pipe(struct stream *s, int fd, struct ak_err *err)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return ak_err_sys(err, errno, "make a pipe for %s", stream_names[fd]);
	s->child = p[fd == 0 ? 0 : 1];
	s->inner = p[fd == 0 ? 1 : 0];
	if (fcntl(s->inner, F_SETFL, O_NONBLOCK) < 0)
		return ak_err_sys(err, errno, "make the pipe for %s non-blocking", stream_names[fd]);
	/* a terminal is no faster for it, and what waits in the pipe still comes after Ctrl-C */
	if (fd > 0 && s->kind != STREAM_KIND_TTY)
		/* refused over the user's quota: slower, not wrong */
		(void)fcntl(s->inner, F_SETPIPE_SZ, STREAM_PIPE_BYTES);
	if (fd == 0 && s->kind == STREAM_KIND_FILE) {
		s->keep = fcntl(s->child, F_DUPFD_CLOEXEC, 3);
		if (s->keep < 0)
			return ak_err_sys(err, errno, "duplicate the pipe for %s", stream_names[fd]);
	}
	return 0;
}

static int make_child_end(struct stream *s, int fd, const struct outer *o, struct ak_err *err)
{
	bool backwards = o && !o->fits;	/* the command shall get EBADF, as it would without ak */
	int flags = (fd == 0) != backwards ? O_RDONLY : O_WRONLY;

	switch (s->mode) {
	case STREAM_PASS:
		s->child = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (s->child < 0)
			return ak_err_sys(err, errno, "duplicate %s", stream_names[fd]);
		return 0;
	case STREAM_NULL:
		s->child = open("/dev/null", flags | O_CLOEXEC);
		if (s->child < 0)
			return ak_err_sys(err, errno, "open /dev/null");
		return 0;
	case STREAM_PTY:
		return 0;
	default:
		return make_pipe(s, fd, err);
	}
}

/* Do 1 and 2 write to the same place, so that the order between them is visible there? */
static bool same_target(const struct outer *a, const struct outer *b)
{
	long r;

	if (a->tty && b->tty)
		return a->st.st_rdev == b->st.st_rdev;
	if (a->st.st_dev != b->st.st_dev || a->st.st_ino != b->st.st_ino)
		return false;
	if (S_ISFIFO(a->st.st_mode))
		return true;
	r = syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 1, 2);
	if (r >= 0)
		return r == 0;
	/* no kcmp here: two openings of one file would overwrite each other anyway */
	return a->flags == b->flags;
}

static int merge_stderr(struct streams *s, const struct outer o[3], struct ak_err *err)
{
	struct stream *out = &s->s[1], *e = &s->s[2];

	if (out->mode != STREAM_RELAY || e->mode != STREAM_RELAY || !same_target(&o[1], &o[2]))
		return 0;
	e->merged = true;
	e->child = fcntl(out->child, F_DUPFD_CLOEXEC, 3);
	if (e->child < 0)
		return ak_err_sys(err, errno, "duplicate the pipe for standard output");
	return 0;
}

static void stream_init(struct stream *s)
{
	*s = (struct stream){
		.mode = STREAM_NULL, .outer = -1, .child = -1, .inner = -1, .keep = -1, .nb = -1,
	};
}

int streams_open(const struct exec_opts *o, unsigned closed, struct streams *ret, struct ak_err *err)
{
	struct outer outer[3] = { 0 };
	int r;

	for (int i = 0; i < 3; i++)
		stream_init(&ret->s[i]);
	for (int i = 0; i < 3; i++) {
		struct stream *s = &ret->s[i];
		bool open = !(closed & (1u << i));

		if (open) {
			r = look(i, &outer[i], err);
			if (r < 0)
				return r;
			s->outer = i;
			s->kind = kind_of(&outer[i]);
			s->outer_tty = outer[i].tty;
		}
		s->mode = classify(o, i, open ? &outer[i] : NULL);
		if (s->outer_tty && (s->mode == STREAM_RELAY || (s->mode == STREAM_PTY && i < 2)))
			s->nb = open_tty_again(i);
		if (i == 2) {
			r = merge_stderr(ret, outer, err);
			if (r < 0)
				return r;
		}
		r = s->merged ? 0 : make_child_end(s, i, open ? &outer[i] : NULL, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int streams_chown(struct streams *s, uid_t uid, gid_t gid)
{
	for (int i = 0; i < 3; i++) {
		const struct stream *x = &s->s[i];
		mode_t bit = i == 0 ? 0040 : 0020;
		struct stat st;

		if (x->child < 0 || fstat(x->child, &st) < 0 || !S_ISFIFO(st.st_mode) || st.st_uid == uid)
			continue;
		if (fchown(x->child, (uid_t)-1, gid) < 0 || fchmod(x->child, (st.st_mode & 0777) | bit) < 0)
			return -errno;
	}
	return 0;
}

void streams_close_child_ends(struct streams *s)
{
	for (int i = 0; i < 3; i++)
		ak_fd_close(&s->s[i].child);
}

void streams_release(struct streams *s)
{
	for (int i = 0; i < 3; i++) {
		ak_fd_close(&s->s[i].child);
		ak_fd_close(&s->s[i].inner);
		ak_fd_close(&s->s[i].keep);
		ak_fd_close(&s->s[i].nb);
	}
}
