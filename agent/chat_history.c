/* SPDX-License-Identifier: Apache-2.0 */
/* The file of typed lines. Process: agent. Privilege: none. */
#include "agent/chat_history.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/redact.h"
#include "agent/session.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define LOCK_TRIES 20u
#define LOCK_PAUSE_MS 10 /* between two */

/* ---- lines ---- */

void chat_history_encode(const char *text, size_t len, struct ak_buf *out)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n')
			ak_buf_str(out, "\\n");
		else if (c == '\\')
			ak_buf_str(out, "\\\\");
		else if (c >= 0x20 ? c != 0x7f : c == '\t')
			ak_buf_add(out, &text[i], 1);
	}
}

size_t chat_history_decode(char *line, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = line[i];

		if (c == '\\' && i + 1 < len) {
			c = line[++i];
			c = c == 'n' ? '\n' : c;
		}
		line[n++] = c;
	}
	return n;
}

/* ---- the file ---- */

/* the last @max bytes, from the start of a line on. Return: 0 */
static int read_tail(int fd, size_t max, struct ak_buf *out, struct ak_err *err)
{
	struct stat st;
	char buf[16384];
	off_t at;
	bool cut;

	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at the history");
	cut = st.st_size > (off_t)max;
	at = cut ? st.st_size - (off_t)max - 1 : 0; /* the byte before says whether a line starts there */
	for (;;) {
		ssize_t n = pread(fd, buf, sizeof(buf), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ak_err_sys(err, errno, "read the history");
		/* somebody else may be adding to it */
		if (n == 0 || out->len + (size_t)n > 2 * max)
			break;
		ak_buf_add(out, buf, (size_t)n);
		at += n;
	}
	if (cut && out->len > 0 && !out->failed) {
		char *nl = memchr(out->data, '\n', out->len);
		size_t gone = nl ? (size_t)(nl - out->data) + 1 : out->len;

		memmove(out->data, out->data + gone, out->len - gone);
		out->len -= gone;
	}
	return out->failed ? ak_err_set(err, ENOMEM, "no memory for the history") : 0;
}

/* held for one write only; who holds it longer is not waited for. Return: 0; -EWOULDBLOCK; errno of flock(2) */
static int lock(int fd, struct ak_err *err)
{
	for (unsigned tries = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
		int e = errno;

		if (e == EINTR)
			continue;
		if (e != EWOULDBLOCK)
			return ak_err_sys(err, e, "lock " CHAT_HISTORY_FILE);
		if (tries == LOCK_TRIES)
			return ak_err_set(err, e, CHAT_HISTORY_FILE " in the state folder is locked by another program");
		(void)poll(NULL, 0, LOCK_PAUSE_MS);
	}
	return 0;
}

/* what others write meanwhile waits for the lock */
static int shorten(int fd, struct ak_err *err)
{
	struct ak_buf b = { .max = 4 * CHAT_HISTORY_MAX };
	struct stat st;
	int rc = 0;

	rc = lock(fd, err);
	if (rc < 0)
		return rc;
	if (fstat(fd, &st) < 0)
		rc = ak_err_sys(err, errno, "look at the history");
	if (rc == 0 && st.st_size > (off_t)CHAT_HISTORY_MAX) {
		rc = read_tail(fd, CHAT_HISTORY_MAX / 2, &b, err);
		if (rc == 0 && ftruncate(fd, 0) < 0)
			rc = ak_err_sys(err, errno, "shorten the history");
		if (rc == 0 && b.len)
			rc = ak_write_all(fd, b.data, b.len);
	}
	(void)flock(fd, LOCK_UN);
	ak_buf_release(&b);
	return rc;
}

int chat_history_open(char *const env[], struct ak_err *err)
{
	AK_AUTO_FD state = session_state(env, err);
	AK_AUTO_FD fd = -1;
	struct stat st;
	int rc = 0;

	if (state < 0)
		return state;
	fd = openat(state, CHAT_HISTORY_FILE, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return ak_err_sys(err, errno, "open " CHAT_HISTORY_FILE " in the state folder");
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || ((st.st_mode & 0077) && fchmod(fd, 0600) < 0))
		return ak_err_set(err, EPERM, CHAT_HISTORY_FILE " in the state folder is no file of yours");
	if (st.st_size > (off_t)CHAT_HISTORY_MAX)
		rc = shorten(fd, err);
	/* the next one may shorten it */
	return rc == 0 || rc == -EWOULDBLOCK ? ak_fd_take(&fd) : rc;
}

int chat_history_load(int fd, void (*each)(void *ctx, const char *text), void *ctx, struct ak_err *err)
{
	struct ak_buf b = { .max = 4 * CHAT_HISTORY_MAX };
	int rc = read_tail(fd, CHAT_HISTORY_MAX, &b, err);
	size_t lines = 0, skip;
	char *at = b.data, *end, *nl;

	if (rc < 0 || !at) {
		ak_buf_release(&b);
		return rc;
	}
	end = at + b.len;
	for (size_t i = 0; i < b.len; i++)
		lines += at[i] == '\n';
	skip = lines > CHAT_HISTORY_LINES ? lines - CHAT_HISTORY_LINES : 0;
	/* a last line without its end was torn */
	while (at < end && (nl = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		size_t n = (size_t)(nl - at);

		if (skip > 0) {
			skip--;
		} else if (n > 0 && n <= 2 * CHAT_HISTORY_ENTRY_MAX && !memchr(at, '\0', n)) {
			at[chat_history_decode(at, n)] = '\0';
			each(ctx, at);
		}
		at = nl + 1;
	}
	ak_buf_release(&b);
	return 0;
}

int chat_history_add(int fd, const char *text, size_t len, struct ak_err *err)
{
	struct ak_buf clear = { 0 }, line = { 0 };
	int rc;

	if (fd < 0 || len == 0 || len > CHAT_HISTORY_ENTRY_MAX)
		return 0;
	(void)redact_text(text, len, &clear);
	if (clear.data)
		chat_history_encode(clear.data, clear.len, &line);
	ak_buf_str(&line, "\n");
	rc = clear.failed || line.failed ? ak_err_set(err, ENOMEM, "no memory for the history") : lock(fd, err);
	if (rc == 0) {
		rc = ak_write_all(fd, line.data, line.len);
		if (rc < 0)
			(void)ak_err_sys(err, -rc, "keep a line in the history");
		(void)flock(fd, LOCK_UN);
	}
	ak_buf_release(&clear);
	ak_buf_release(&line);
	return rc;
}
