/* SPDX-License-Identifier: Apache-2.0 */
/* The state folder: opening, checking, making. Process: executor. Privilege: the caller's. */
#include "executor/workspace/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/runtime_int.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"

#define ID_TRIES 100
#define ID_HEX 6

/* file systems that cannot hold an upper layer, by statfs(2); others are tried */
static const struct {
	uint32_t magic;
	const char *name;
} refused_fs[] = {
	{ 0x794c7630, "overlayfs" }, { 0x6969, "NFS" },	    { 0xff534d42, "CIFS" }, { 0xfe534d42, "SMB" },
	{ 0x65735546, "FUSE" },	     { 0x01021997, "9p" },  { 0x4d44, "FAT" },	    { 0x2011bab0, "exFAT" },
	{ 0x00c36400, "Ceph" },	     { 0x5346414f, "AFS" }, { 0x9660, "ISO 9660" }, { 0x73717368, "squashfs" },
	{ 0xf15f, "eCryptfs" },
};

const char *state_refused_fs(uint32_t magic)
{
	for (size_t i = 0; i < sizeof(refused_fs) / sizeof(refused_fs[0]); i++)
		if (refused_fs[i].magic == magic)
			return refused_fs[i].name;
	return NULL;
}

int state_check_fs(int dir, const char *shown, struct ak_err *err)
{
	static const char attribute[] = "user.ak.probe";
	AK_AUTO_FD fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	const char *name;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return ak_err_sys(err, errno, "look at the file system of %s", shown);
	name = state_refused_fs((uint32_t)fs.f_type);
	if (!name && (fsetxattr(fd, attribute, "1", 1, 0) == 0 || errno == ENOSPC || errno == EDQUOT)) {
		(void)fremovexattr(fd, attribute);
		return 0;
	}
	if (name)
		(void)ak_err_set(err, EOPNOTSUPP, "%s is on %s, which cannot hold the changes of --write cow", shown, name);
	else
		(void)ak_err_set(err, EOPNOTSUPP, "%s is on a file system without user attributes, which --write cow needs", shown);
	ak_err_hint(err, "set XDG_STATE_HOME to a folder on a local disk (ext4, xfs, btrfs), or use --write direct");
	return -EOPNOTSUPP;
}

/* the folder's owner is what is wrong: which variable says where it is. Return: @r */
static int not_yours(int r, struct ak_err *err)
{
	if (r == -EPERM)
		ak_err_hint(err, "set XDG_STATE_HOME to a folder of yours, or unset it");
	return r;
}

/* nothing new finds room there. Return: @r */
static int no_room(int r, struct ak_err *err)
{
	ak_no_space(err, AK_STATE_NO_SPACE);
	return r;
}

int state_open(const struct hostinfo *h, const char *sub, bool make, struct ak_err *err)
{
	char shown[4096];
	AK_AUTO_FD top = -1;
	int made = make ? hostinfo_make_path(h->state_dir) : 0;

	if (!make && access(h->state_dir, F_OK) < 0 && errno == ENOENT)
		return -ENOENT;
	top = runtime_open_dir(AT_FDCWD, h->state_dir, h->state_dir, err);
	if (top == -ENOENT && made < 0)
		return no_room(ak_err_sys(err, -made, "make the state folder %s", h->state_dir), err);
	if (top < 0)
		return not_yours(top, err);
	(void)snprintf(shown, sizeof(shown), "%s/%s", h->state_dir, sub);
	if (make && mkdirat(top, sub, 0700) < 0 && errno != EEXIST)
		return no_room(ak_err_sys(err, errno, "make %s", shown), err);
	if (!make && faccessat(top, sub, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return -ENOENT;
	return not_yours(runtime_open_dir(top, sub, shown, err), err);
}

static int fresh_name(const char *prefix, char *ret, size_t cap, struct ak_err *err)
{
	uint32_t random;
	int n;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return ak_err_sys(err, errno, "getrandom");
	n = snprintf(ret, cap, "%s%0*x", prefix, ID_HEX, random & 0xffffff);
	return n < 0 || (size_t)n >= cap ? ak_err_set(err, EINVAL, "no room for an id") : 0;
}

int state_new_dir(int dir, char ret[static STATE_NEW_MAX], struct ak_err *err)
{
	for (int i = 0; i < ID_TRIES; i++) {
		int fd, r = fresh_name(STATE_NEW_PREFIX, ret, STATE_NEW_MAX, err);

		if (r < 0)
			return r;
		if (mkdirat(dir, ret, 0700) < 0) {
			if (errno == EEXIST)
				continue;
			return no_room(ak_err_sys(err, errno, "make a folder in the state folder"), err);
		}
		fd = openat(dir, ret, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return fd < 0 ? ak_err_sys(err, errno, "open a folder in the state folder") : fd;
	}
	return ak_err_set(err, EEXIST, "no free id found in the state folder");
}

int state_name_dir(int dir, const char *made, const char *prefix, char *ret, size_t cap, struct ak_err *err)
{
	for (int i = 0; i < ID_TRIES; i++) {
		int r = fresh_name(prefix, ret, cap, err);

		if (r < 0)
			return r;
		if (faccessat(dir, ret, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		/* a folder replaces only an empty one: of two that take one name at once, the later one fails */
		if (renameat(dir, made, dir, ret) == 0)
			return 0;
		if (errno != EEXIST && errno != ENOTEMPTY)
			return no_room(ak_err_sys(err, errno, "name a folder in the state folder"), err);
	}
	return ak_err_set(err, EEXIST, "no free id found in the state folder");
}

bool state_new_left(int dir, const char *name, long seconds)
{
	struct timespec now;
	struct stat st;

	if (!state_id_ok(name, STATE_NEW_PREFIX) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    clock_gettime(CLOCK_REALTIME, &now) < 0)
		return false;
	return now.tv_sec - st.st_ctim.tv_sec > seconds;
}

bool state_id_ok(const char *id, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(id, prefix, n) == 0 && strlen(id + n) == ID_HEX && strspn(id + n, "0123456789abcdef") == ID_HEX;
}
