/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first steps of setup.c for a child that has no plan yet, with system calls only. Process: set-up child. Privilege: all
 * capabilities of its user namespace, none on the host.
 */
#include "executor/ns/prework.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "executor/ns/mount.h"
#include "executor/ns/sigs.h"
#include "executor/ns/vclone.h"

#define CAPS_MAX 64	/* bits of a set; the first number beyond the last capability gives EINVAL */
#define MAP_TEXT 32	/* "4294967295 4294967295 1" */

static size_t put_number(char *to, unsigned n)
{
	char digits[10];
	size_t len = 0;

	do
		digits[len++] = (char)('0' + n % 10);
	while (n /= 10);
	for (size_t i = 0; i < len; i++)
		to[i] = digits[len - 1 - i];
	return len;
}

/* "ID ID 1" */
static size_t map_text(char ret[MAP_TEXT], unsigned id)
{
	size_t n = put_number(ret, id);

	ret[n++] = ' ';
	n += put_number(ret + n, id);
	ret[n++] = ' ';
	ret[n++] = '1';
	return n;
}

static long put(const char *path, const char *text, size_t len)
{
	long fd = vcall(SYS_openat, AT_FDCWD, (long)(uintptr_t)path, O_WRONLY | O_CLOEXEC, 0, 0);
	long r;

	if (fd < 0)
		return fd;
	r = vcall(SYS_write, fd, (long)(uintptr_t)text, (long)len, 0, 0);
	(void)vcall(SYS_close, fd, 0, 0, 0, 0);
	return r;
}

static long write_ids(unsigned uid, unsigned gid)
{
	static const char deny[] = "deny", score[] = OOM_SCORE_ADJ;
	char map[MAP_TEXT];
	long r = put("/proc/self/setgroups", deny, sizeof(deny) - 1);

	if (r >= 0)
		r = put("/proc/self/uid_map", map, map_text(map, uid));
	if (r >= 0)
		r = put("/proc/self/gid_map", map, map_text(map, gid));
	if (r >= 0)
		(void)put("/proc/self/oom_score_adj", score, sizeof(score) - 1);	/* refused only if it is higher already */
	return r;
}

static long join_keyring(void)
{
	long r = vcall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0);

	return r == -ENOSYS ? 0 : r;
}

/* up to the running kernel's last capability: capabilities(7). What is held stays held until caps_drop_rest() */
static long empty_bounding(void)
{
	long r = 0;

	for (long c = 0; r == 0 && c < CAPS_MAX; c++)
		r = vcall(SYS_prctl, PR_CAPBSET_DROP, c, 0, 0, 0);
	return r == -EINVAL ? 0 : r;
}

int prework_do(unsigned uid, unsigned gid, struct prework *ret)
{
	long r = write_ids(uid, gid);

	sigs_default();
	if (r >= 0)
		r = join_keyring();
	if (r >= 0)
		r = mount_early_root(&ret->root);
	if (r >= 0)
		r = mount_early_proc(ret->root, &ret->proc);
	if (r >= 0)
		r = mount_early_dev(ret->root, &ret->dev);
	if (r >= 0)
		r = empty_bounding();
	return r < 0 ? (int)r : 0;
}
