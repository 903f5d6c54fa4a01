/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a trace: whole lines or none. Process: agent. Privilege: none.
 *
 * Every writer holds a shared lock; only who is alone cuts anything off, so that no line of another one is taken for broken. Each
 * record is one write(2) with O_APPEND. What a full disk let through in part is taken back; where that fails as well, the
 * next record starts a new line, so that at most one line is broken.
 */
#include "agent/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/trace_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"

#define PIECE 65536u

/* Where the last whole line ends */
static int whole_lines(int fd, off_t size, off_t *ret)
{
	char buf[PIECE];
	off_t at = size;

	while (at > 0) {
		size_t want = at < (off_t)sizeof(buf) ? (size_t)at : sizeof(buf);
		ssize_t n = pread(fd, buf, want, at - (off_t)want);
		const char *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)want)
			return n < 0 ? -errno : -EIO;
		end = memrchr(buf, '\n', want);
		if (end) {
			*ret = at - (off_t)want + (end - buf) + 1;
			return 0;
		}
		at -= (off_t)want;
	}
	*ret = 0;
	return 0;
}

static bool alone(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static int repair(int fd, struct ak_err *err)
{
	struct stat st;
	off_t end = 0;
	int rc = fstat(fd, &st) < 0 ? -errno : whole_lines(fd, st.st_size, &end);

	if (rc < 0)
		return ak_err_sys(err, -rc, "read %s", TRACE_FILE);
	if (end < st.st_size && ftruncate(fd, end) < 0)
		return ak_err_sys(err, errno, "cut the broken last line off %s", TRACE_FILE);
	return 0;
}

static int open_file(int session_fd, struct ak_err *err)
{
	int fd = openat(session_fd, TRACE_FILE, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	struct stat st;
	int rc;

	if (fd < 0) {
		rc = ak_err_sys(err, errno, "open %s", TRACE_FILE);
		ak_no_space(err, AK_STATE_NO_SPACE);
		return rc;
	}
	if (fstat(fd, &st) < 0)
		rc = ak_err_sys(err, errno, "look at %s", TRACE_FILE);
	else if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		rc = ak_err_set(err, EINVAL, "%s is not a regular file of its own", TRACE_FILE);
	else if ((st.st_mode & 077) && fchmod(fd, 0600) < 0)
		rc = ak_err_sys(err, errno, "close %s to others", TRACE_FILE);
	else
		rc = alone(fd) ? repair(fd, err) : 0;
	(void)flock(fd, LOCK_SH | LOCK_NB);
	if (rc < 0)
		ak_fd_close(&fd);
	return rc < 0 ? rc : fd;
}

int trace_open(struct trace *t, int session_fd, const char *session_id, bool verbose, struct ak_err *err)
{
	struct trace new = { .fd = -1, .verbose = verbose };

	(void)snprintf(new.session_id, sizeof(new.session_id), "%s", session_id);
	if (session_fd >= 0) {
		int fd = open_file(session_fd, err);

		if (fd < 0)
			return fd;
		new.fd = fd;
	}
	*t = new;
	return 0;
}

/* All of it, or nothing and the errno */
static int append(struct trace *t, const struct ak_buf *b)
{
	struct stat st;
	ssize_t n;
	int code;

	if (fstat(t->fd, &st) < 0)
		return -errno;
	do {
		n = write(t->fd, b->data, b->len);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)b->len) {
		t->torn = false;
		return 0;
	}
	code = n < 0 ? errno : ENOSPC;
	if (n > 0) {
		t->torn = !alone(t->fd) || ftruncate(t->fd, st.st_size) < 0;
		(void)flock(t->fd, LOCK_SH | LOCK_NB);
	}
	return -code;
}

int trace_turn(struct trace *t, const struct trace_turn *turn, uint64_t now_ms, struct ak_err *err)
{
	struct ak_buf b = { .max = TRACE_LINE_MAX };
	int rc;

	if (t->fd < 0)
		return 0;
	if (t->torn)
		ak_buf_str(&b, "\n");
	trace_record(t, turn, now_ms, t->verbose, &b);
	if (b.failed && t->verbose) {
		b.failed = false;
		b.len = 0;
		if (t->torn)
			ak_buf_str(&b, "\n");
		trace_record(t, turn, now_ms, false, &b);
	}
	rc = b.failed ? -ENOMEM : append(t, &b);
	ak_buf_release(&b);
	if (rc == 0) {
		t->failed = 0;
		return 0;
	}
	t->lost++;
	if (t->failed)
		return 0;
	t->failed = -rc;
	(void)ak_err_sys(err, -rc, "write %s; the run goes on, its telemetry has a gap", TRACE_FILE);
	ak_no_space(err, AK_STATE_NO_SPACE);
	return rc;
}

void trace_close(struct trace *t)
{
	ak_fd_close(&t->fd);
}
