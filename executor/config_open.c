/* SPDX-License-Identifier: Apache-2.0 */
/* Opens config files, each with the distrust it deserves. Process: executor. Privilege: the caller's. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "executor/config.h"
#include "executor/ns/sysmount.h"
#include "executor/own_file.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define NULL_DEVICE makedev(1, 3)	/* Linux: Documentation/admin-guide/devices.txt */

#define OTHER_FILE "--config FILE names another one, --config /dev/null none"

static int not_yours(const char *path, uid_t uid, struct ak_err *err)
{
	(void)ak_err_set(err, EPERM, "%s belongs to uid %u, neither to you nor to root", path, (unsigned)uid);
	ak_err_hint(err, OTHER_FILE);
	return -EPERM;
}

static int not_regular(const char *path, struct ak_err *err)
{
	return ak_err_set(err, EINVAL, "%s is not a regular file", path);
}

/* The user's where HOME has it, which may be another's. Return: as open_file() */
static int open_own(const struct config_source *s, struct ak_err *err)
{
	int fd = own_file_open(s->path);
	struct stat st;

	switch (fd) {
	case -ENOENT:
	case -ENOTDIR:
		return -ENOENT;
	case -EINVAL:
		return not_regular(s->path, err);
	case -ELOOP:
		return ak_err_set(err, ELOOP, "%s leads through too many symbolic links", s->path);
	case -EPERM:
		/* on the way to nothing: root may have a HOME whose owner's .config is a link */
		if (stat(s->path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
			return -ENOENT;
		if (stat(s->path, &st) == 0 && st.st_uid != 0 && st.st_uid != geteuid())
			return not_yours(s->path, st.st_uid, err);
		(void)ak_err_set(err, EPERM, "%s: its folder, or a symbolic link on the way, belongs neither to you nor to root", s->path);
		ak_err_hint(err, OTHER_FILE);
		return -EPERM;
	default:
		return fd < 0 ? ak_err_sys(err, -fd, "open %s", s->path) : fd;
	}
}

/* Return: a descriptor; -ENOENT: there is none, which is said only where the user named one */
static int open_file(const struct config_source *s, int dir, bool named, struct ak_err *err)
{
	uint64_t resolve = s->layer == AK_CFG_WORKSPACE ? AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_NO_MAGICLINKS
			   : named			? AK_RESOLVE_NO_SYMLINKS
							: 0;
	const char *name = s->layer == AK_CFG_WORKSPACE ? CONFIG_WORKSPACE_NAME : s->path;
	int fd = sys_openat2(dir, name, FLAGS, resolve);

	if (fd >= 0)
		return fd;
	if (!named && (errno == ENOENT || errno == ENOTDIR))
		return -ENOENT;
	if (errno == ELOOP || errno == EXDEV) {
		int e = errno;

		(void)ak_err_set(err, e, "%s leads through a symbolic link, and is not read", s->path);
		ak_err_hint(err, "%s", named ? "name the file itself by its real path: a sandbox may have left the link"
					     : "a config file of the workspace must lie in the workspace itself");
		return -e;
	}
	if (errno == EACCES && s->layer == AK_CFG_WORKSPACE && faccessat(dir, ".", X_OK, AT_EACCESS) < 0) {
		size_t n = strlen(s->path), tail = sizeof(CONFIG_WORKSPACE_NAME);

		(void)ak_err_set(err, EACCES, "workspace \"%.*s\": Permission denied (EACCES)", n > tail ? (int)(n - tail) : 1,
				 n > tail ? s->path : ".");
		ak_err_hint(err, "it cannot be entered: give yourself the right to (chmod u+x), or name another folder with -C");
		return -EACCES;
	}
	return ak_err_sys(err, errno, "open %s", s->path);
}

/* Whose word it is: the policy's is root's, the user's the caller's or root's. The workspace's is nobody's, and only tightens */
static int check_owner(const struct config_source *s, const struct stat *st, struct ak_err *err)
{
	bool mine = st->st_uid == 0 || (s->layer == AK_CFG_USER && st->st_uid == geteuid());

	if (s->layer == AK_CFG_WORKSPACE || (mine && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0))
		return 0;
	if (!mine && s->layer == AK_CFG_USER)
		return not_yours(s->path, st->st_uid, err);
	if (!mine) {
		(void)ak_err_set(err, EPERM, "%s belongs to uid %u, not to root", s->path, (unsigned)st->st_uid);
		ak_err_hint(err, "chown root it");
		return -EPERM;
	}
	(void)ak_err_set(err, EPERM, "%s can be written by others (mode %03o)", s->path, (unsigned)st->st_mode & 0777);
	ak_err_hint(err, "run: chmod go-w %s", s->path);
	return -EPERM;
}

static int read_text(int fd, struct config_source *s, struct ak_err *err)
{
	char *text = malloc(AK_CFG_SOURCE_MAX + 1);
	size_t n = 0;

	while (text && n <= AK_CFG_SOURCE_MAX) {
		ssize_t k = read(fd, text + n, AK_CFG_SOURCE_MAX + 1 - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			int e = errno;

			free(text);
			return ak_err_sys(err, e, "read %s", s->path);
		}
		if (k == 0)
			break;
		n += (size_t)k;
	}
	if (!text || n > AK_CFG_SOURCE_MAX) {
		bool memory = !text;

		free(text);
		return memory ? ak_err_set(err, ENOMEM, "out of memory")
			      : ak_err_set(err, EFBIG, "%s is longer than %u bytes", s->path, AK_CFG_SOURCE_MAX);
	}
	s->text = text;
	s->len = n;
	return 0;
}

int config_open(struct config_source *s, int dir, bool named, struct ak_err *err)
{
	AK_AUTO_FD fd = s->layer == AK_CFG_USER && !named ? open_own(s, err) : open_file(s, dir, named, err);
	struct stat st;
	int e;

	if (fd == -ENOENT && !named)
		return 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at %s", s->path);
	if (named && S_ISCHR(st.st_mode) && st.st_rdev == NULL_DEVICE)
		return 0;
	if (!S_ISREG(st.st_mode))
		return not_regular(s->path, err);
	e = check_owner(s, &st, err);
	return e < 0 ? e : read_text(fd, s, err);
}
