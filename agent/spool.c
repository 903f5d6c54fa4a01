/* SPDX-License-Identifier: Apache-2.0 */
/* Files for what is too long for the model: redacted while they are written, 0600, within a quota. Process: agent. */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"
#include "executor/shared/ak_parse.h"

#define FOLDER "spool"
#define CUT_NOTE "\n[cut here: the session's quota of stored output is used up]\n"

/* Name of our own making: NNNNNN.txt. Its number, or 0 */
static unsigned number_of(const char *name)
{
	char digits[7];
	uint64_t n;

	if (strlen(name) != 10 || strcmp(name + 6, ".txt") != 0)
		return 0;
	memcpy(digits, name, 6);
	digits[6] = '\0';
	return ak_parse_u64(digits, 1, 999999, &n) == 0 ? (unsigned)n : 0;
}

/* What lies there already, of an earlier run of the session */
static int count_files(struct spool_dir *d, struct ak_err *err)
{
	int fd = fcntl(d->fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		int code = errno;

		ak_fd_close(&fd);
		return ak_err_sys(err, code, "read the folder %s", FOLDER);
	}
	while ((e = readdir(dir))) {
		unsigned n = number_of(e->d_name);
		struct stat st;

		if (n == 0 || fstatat(d->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		d->next = n >= d->next ? n + 1 : d->next;
		d->quota -= (uint64_t)st.st_size < d->quota ? (uint64_t)st.st_size : d->quota;
	}
	(void)closedir(dir);
	return 0;
}

int spool_dir_open(struct spool_dir *d, int session_fd, uint64_t quota, struct ak_err *err)
{
	struct spool_dir new = { .fd = -1, .quota = quota, .next = 1 };
	int rc;

	if (session_fd < 0) {
		*d = new;
		return 0;
	}
	if (mkdirat(session_fd, FOLDER, 0700) < 0 && errno != EEXIST) {
		rc = ak_err_sys(err, errno, "make the folder %s", FOLDER);
		ak_no_space(err, AK_STATE_NO_SPACE);
		return rc;
	}
	new.fd = openat(session_fd, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (new.fd < 0)
		return ak_err_sys(err, errno, "open the folder %s", FOLDER);
	rc = count_files(&new, err);
	if (rc < 0) {
		ak_fd_close(&new.fd);
		return rc;
	}
	*d = new;
	return 0;
}

void spool_dir_close(struct spool_dir *d)
{
	ak_fd_close(&d->fd);
}

static void give_up(struct spool *s, int code)
{
	s->failed = true;
	if (s->dir->refused == 0)
		s->dir->refused = code;
}

void spool_begin(struct spool *s, struct spool_dir *d)
{
	/* the window of the redaction is large and needs no zeros */
	memset(s, 0, offsetof(struct spool, redact));
	s->dir = d;
	s->fd = -1;
	redact_init(&s->redact, &s->buf);
	if (d->fd < 0 || d->next > SPOOL_FILES_MAX || d->quota == 0) {
		s->failed = true;
		if (d->fd >= 0)
			give_up(s, EDQUOT);
		return;
	}
	(void)snprintf(s->name, sizeof(s->name), FOLDER "/%06u.txt", d->next);
	s->fd = openat(d->fd, s->name + sizeof(FOLDER), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->fd < 0)
		give_up(s, errno);
	else
		d->next++;
}

/* Writes what is clear so far */
static void drain(struct spool *s)
{
	size_t n = s->buf.len;
	int rc;

	if (s->failed || s->cut || n == 0)
		goto out;
	if (n > s->dir->quota) {
		n = s->dir->quota;
		s->cut = true;
	}
	rc = ak_write_all(s->fd, s->buf.data, n);
	if (rc < 0) {
		give_up(s, -rc);
		goto out;
	}
	s->dir->quota -= n;
	s->written += n;
	if (s->cut) {
		(void)ak_write_all(s->fd, CUT_NOTE, sizeof(CUT_NOTE) - 1);
		s->dir->refused = s->dir->refused ? s->dir->refused : EDQUOT;
	}
out:
	s->buf.len = 0;
}

void spool_feed(struct spool *s, const char *p, size_t n)
{
	if (s->failed || s->cut)
		return;
	while (n > 0) {
		size_t part = n < AK_BUF_BLOCK ? n : AK_BUF_BLOCK;

		redact_feed(&s->redact, p, part);
		drain(s);
		p += part;
		n -= part;
	}
}

const char *spool_end(struct spool *s, bool keep)
{
	bool kept;

	redact_finish(&s->redact);
	if (s->buf.failed)
		give_up(s, ENOMEM);
	drain(s);
	ak_buf_release(&s->buf);
	kept = keep && s->fd >= 0 && !s->failed;
	if (s->fd >= 0 && !kept) {
		/* what was cut off by a full disk would be taken for the whole */
		(void)unlinkat(s->dir->fd, s->name + sizeof(FOLDER), 0);
		s->dir->quota += s->written;
	}
	ak_fd_close(&s->fd);
	return kept ? s->name : NULL;
}
