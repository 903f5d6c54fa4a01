/* SPDX-License-Identifier: Apache-2.0 */
/* Plans the root: the host's system folders or those of --rootfs, /proc, /dev, private tmpfs. Process:
 * executor. Privilege: none. */
#include "executor/plan_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_path.h"

#define SHM_BYTES (64 * MIB)
#define RUN_BYTES (16 * MIB)
#define RUN_INODES 8192u
#define VAR_TMP_BYTES (256 * MIB)
#define COVER_BYTES MIB /* a folder of an overlay that had to be covered */

/* Top folders of the host that make up a system. A symbolic link is made again, so that /bin/sh stays one
 * path. */
static const char *const system_dirs[] = {"/usr",   "/bin",   "/sbin",	 "/lib",
					  "/lib32", "/lib64", "/libx32", "/libo32"};

/* Software outside /usr; here a symbolic link is followed, since it may lead anywhere */
static const char *const extra_dirs[] = {"/opt", "/nix"};

/* Ours in every root, whatever a rootfs has under these names */
static const char *const own_names[] = {"proc", "dev", "sys", "tmp", "run"};

/* The private tmpfs mounts but the home */
static const struct {
	const char *dst;
	mode_t mode;
	uint64_t bytes;
	uint64_t inodes;
} tmpfs_table[] = {
	{"/tmp", 01777, PLAN_TMP_BYTES, PLAN_INODES},
	{"/var/tmp", 01777, VAR_TMP_BYTES, PLAN_INODES},
	{"/run", 0755, RUN_BYTES, RUN_INODES},
};

static void add_dir(struct plan_ctx *c, const char *dst, mode_t mode)
{
	mount_add(&c->sys, &(struct plan_mount){.kind = PM_DIR, .dst = (char *)dst, .mode = mode});
}

static void add_link(struct plan_ctx *c, const char *dst, const char *text)
{
	mount_add(&c->sys, &(struct plan_mount){.kind = PM_SYMLINK, .src = (char *)text, .dst = (char *)dst});
}

static void add_system(struct plan_ctx *c, const char *src, const char *dst, uint32_t flags)
{
	mount_add(&c->sys, &(struct plan_mount){.kind = PM_BIND,
						.flags = PMF_RO | PMF_SYSTEM | flags,
						.src = (char *)src,
						.dst = (char *)dst});
}

/* One entry of a folder: a bind, or a link made again. Sockets, pipes and devices are left out. */
static void add_entry(struct plan_ctx *c, const char *src, const char *dst)
{
	char text[PATH_MAX] AK_UNINIT;
	ssize_t n = readlink(src, text, sizeof(text) - 1);
	struct stat st;

	if (n > 0) {
		text[n] = '\0';
		add_link(c, dst, text);
	} else if (errno != EINVAL || lstat(src, &st) < 0) {
		return;
	} else if (S_ISDIR(st.st_mode)) {
		add_system(c, src, dst, 0);
	} else if (S_ISREG(st.st_mode)) {
		add_system(c, src, dst, PMF_FILE);
	}
}

static void host_root(struct plan_ctx *c)
{
	char real[PATH_MAX] AK_UNINIT;
	struct stat st;

	for (size_t i = 0; i < sizeof(system_dirs) / sizeof(system_dirs[0]); i++)
		add_entry(c, system_dirs[i], system_dirs[i]);
	for (size_t i = 0; i < sizeof(extra_dirs) / sizeof(extra_dirs[0]); i++) {
		if (lstat(extra_dirs[i], &st) == 0 && S_ISDIR(st.st_mode))
			add_system(c, extra_dirs[i], extra_dirs[i], PMF_OPTIONAL);
		else if (realpath(extra_dirs[i], real) && stat(real, &st) == 0 && S_ISDIR(st.st_mode))
			add_system(c, real, extra_dirs[i], PMF_OPTIONAL);
	}
	if (c->h->ngroups > 0 && !c->h->root) {
		plan_group_only(c, "/opt");
		plan_group_only(c, "/usr/local");
	}
	add_dir(c, "/sys", 0555);
	add_dir(c, "/home", 0755);
	add_dir(c, "/mnt", 0755);
	add_dir(c, "/srv", 0755);
	add_dir(c, "/var", 0755);
	add_link(c, "/var/run", "/run");
	add_link(c, "/var/lock", "/run/lock");
}

static int compare_dst(const void *a, const void *b)
{
	return strcmp(((const struct plan_mount *)a)->dst, ((const struct plan_mount *)b)->dst);
}

static bool is_own_name(const char *name)
{
	for (size_t i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++) {
		if (strcmp(name, own_names[i]) == 0)
			return true;
	}
	return false;
}

/* Every entry of @src below @dst, in the order of their names; @top: leave out the names that are ours */
static int add_entries(struct plan_ctx *c, const char *src, const char *dst, bool top)
{
	size_t first = c->sys.n, count = 0;
	char from[PATH_MAX] AK_UNINIT, to[PATH_MAX] AK_UNINIT;
	DIR *dir = opendir(src);
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    (top && is_own_name(e->d_name)))
			continue;
		if (++count > PLAN_EXPAND_MAX ||
		    snprintf(from, sizeof(from), "%s/%s", strcmp(src, "/") ? src : "", e->d_name) >=
			    PATH_MAX ||
		    snprintf(to, sizeof(to), "%s/%s", top ? "" : dst, e->d_name) >= PATH_MAX) {
			closedir(dir);
			return -E2BIG;
		}
		add_entry(c, from, to);
	}
	closedir(dir);
	qsort(c->sys.v + first, c->sys.n - first, sizeof(c->sys.v[0]), compare_dst);
	return 0;
}

/* What --rootfs names, resolved, or "/" when a test takes the root view away */
static int find_rootfs(struct plan_ctx *c)
{
	const char *dir = AK_WEAK(c->weak, AK_WEAK_ROOTVIEW) ? "/" : c->o->rootfs;
	char real[PATH_MAX] AK_UNINIT;
	struct stat st;
	int r = plan_resolve(c, "--rootfs", dir, real);

	if (r == -ELOOP && c->err->code)
		return r;
	c->p->rootfs = r == 0 ? strdup(real) : NULL;
	if (!c->p->rootfs) {
		ak_err_sys(c->err, r < 0 ? -r : ENOMEM, "--rootfs \"%s\"", dir);
		ak_err_hint(c->err, "give a folder that holds an unpacked root file system, or \"host\"");
		return -c->err->code;
	}
	if (stat(c->p->rootfs, &st) < 0 || !S_ISDIR(st.st_mode))
		return ak_err_set(c->err, ENOTDIR, "--rootfs \"%s\": is not a folder", dir);
	if (strcmp(c->p->rootfs, "/") == 0 && !AK_WEAK(c->weak, AK_WEAK_ROOTVIEW)) {
		ak_err_set(c->err, EPERM, "--rootfs \"%s\": is the host's own root, with everything in it",
			   dir);
		ak_err_hint(c->err, "--rootfs host shows the host's system folders only");
		return -EPERM;
	}
	if (strcmp(c->p->rootfs, c->h->state_dir) == 0 || ak_path_below(c->p->rootfs, c->h->config_dir) ||
	    ak_path_below(c->p->rootfs, c->h->runtime_dir))
		return ak_err_set(c->err, EPERM, "--rootfs \"%s\": is a folder of ak's own, which is never shown inside", dir);
	if (access(c->p->rootfs, R_OK | X_OK) < 0) {
		ak_err_sys(c->err, errno, "--rootfs \"%s\"", dir);
		ak_err_hint(c->err, "the folder must be readable by the caller (ls -ld %s)", dir);
		return -c->err->code;
	}
	return 0;
}

static int rootfs_root(struct plan_ctx *c)
{
	int r = find_rootfs(c);

	if (r < 0)
		return r;
	if (c->o->rootfs_write == ROOTFS_WRITE_TMP) {
		c->p->root = PLAN_ROOT_OVERLAY;
		c->p->root_size_bytes = c->memory_bytes < PLAN_TMP_BYTES ? c->memory_bytes : PLAN_TMP_BYTES;
		return 0;
	}
	r = add_entries(c, c->p->rootfs, "/", true);
	if (r == -E2BIG) {
		ak_err_set(c->err, E2BIG, "--rootfs \"%s\": more than %u entries at its top", c->p->rootfs,
			   PLAN_EXPAND_MAX);
		ak_err_hint(c->err, "is it a root file system? --rootfs-write tmp has no such limit");
		return r;
	}
	if (r < 0)
		return ak_err_sys(c->err, -r, "read --rootfs \"%s\"", c->p->rootfs);
	add_dir(c, "/sys", 0555);
	return 0;
}

static bool rootfs_has_dir(const struct plan_ctx *c, const char *path)
{
	char full[PATH_MAX] AK_UNINIT;
	struct stat st;

	return snprintf(full, sizeof(full), "%s%s", c->p->rootfs, path) < PATH_MAX && lstat(full, &st) == 0 &&
	       S_ISDIR(st.st_mode);
}

static void add_private(struct plan_ctx *c)
{
	for (size_t i = 0; i < sizeof(tmpfs_table) / sizeof(tmpfs_table[0]); i++) {
		uint64_t bytes = tmpfs_table[i].bytes;

		/* in an overlay /var/tmp is writable already; elsewhere it must be there to be mounted over
		 */
		if (!c->host_view && strcmp(tmpfs_table[i].dst, "/var/tmp") == 0 &&
		    (c->p->root == PLAN_ROOT_OVERLAY || !rootfs_has_dir(c, "/var") ||
		     !rootfs_has_dir(c, "/var/tmp")))
			continue;
		mount_add(&c->cand, &(struct plan_mount){
					    .kind = PM_TMPFS,
					    .dst = (char *)tmpfs_table[i].dst,
					    .mode = tmpfs_table[i].mode,
					    .inodes = tmpfs_table[i].inodes,
					    .size_bytes = bytes < c->memory_bytes ? bytes : c->memory_bytes});
	}
	mount_add(&c->cand, &(struct plan_mount){.kind = PM_DIR, .dst = (char *)"/run/lock", .mode = 01777});
}

int plan_root_view(struct plan_ctx *c)
{
	int r = 0;

	if (c->o->rootfs_write != ROOTFS_WRITE_NONE && c->host_view) {
		ak_err_set(c->err, EINVAL, "--rootfs-write tmp: needs --rootfs DIR");
		ak_err_hint(c->err, "the host's system folders are always read-only");
		return -EINVAL;
	}
	if (AK_WEAK(c->weak, AK_WEAK_ROOTVIEW) || !c->host_view) {
		c->host_view = false;
		r = rootfs_root(c);
	} else {
		host_root(c);
		r = plan_root_etc(c);
	}
	if (r < 0)
		return r;
	mount_add(&c->sys, &(struct plan_mount){.kind = PM_PROC, .dst = (char *)"/proc", .mode = 0555});
	mount_add(&c->sys, &(struct plan_mount){.kind = PM_DEV,
						.dst = (char *)"/dev",
						.mode = 0755,
						.size_bytes = SHM_BYTES < c->memory_bytes ? SHM_BYTES
											  : c->memory_bytes});
	add_private(c);
	return 0;
}

static int entries_failed(struct plan_ctx *c, const char *src, int r)
{
	if (r == -E2BIG)
		return ak_err_set(c->err, E2BIG,
				  "\"%s\" has too many entries (over %u) to mount something new in it", src,
				  PLAN_EXPAND_MAX);
	return ak_err_sys(c->err, -r, "read \"%s\"", src);
}

int plan_root_expand(struct plan_ctx *c, const struct plan_mount *m)
{
	size_t i = (size_t)(m - c->sys.v);
	char *src = c->sys.v[i].src, *dst = strdup(c->sys.v[i].dst);
	int r = -ENOMEM;

	c->sys.v[i].src = NULL;
	c->sys.v[i].kind = PM_DIR;
	c->sys.v[i].flags = 0;
	c->sys.v[i].mode = 0755;
	if (dst)
		r = add_entries(c, src, dst, false);
	if (r < 0)
		entries_failed(c, src, r);
	free(src);
	free(dst);
	return r;
}

/* The deepest folder above @path that the rootfs has: @ret is its name inside, @full on the host */
static bool deepest_folder(const struct plan_ctx *c, const char *path, char *ret, char *full, struct stat *st)
{
	if (snprintf(ret, PATH_MAX, "%s", path) >= PATH_MAX)
		return false;
	for (char *slash; (slash = strrchr(ret, '/')) && slash != ret;) {
		*slash = '\0';
		if (snprintf(full, PATH_MAX, "%s%s", c->p->rootfs, ret) < PATH_MAX && lstat(full, st) == 0)
			return S_ISDIR(st->st_mode);
	}
	return false;
}

/*
 * The top of an overlay belongs to its upper layer, so anything can be made there. Deeper folders keep the
 * owner they have on the host, and one whose id is not mapped cannot be written to, not even by copying it up
 * (EOVERFLOW).
 */
int plan_root_cover(struct plan_ctx *c, const char *path)
{
	char inside[PATH_MAX] AK_UNINIT, full[PATH_MAX] AK_UNINIT;
	struct stat st;
	int r;

	if (!deepest_folder(c, path, inside, full, &st) ||
	    (c->p->identity != PLAN_ID_RANGE && st.st_uid == c->h->uid && st.st_gid == c->h->gid))
		return 0;
	mount_add(&c->sys, &(struct plan_mount){.kind = PM_TMPFS,
						.dst = inside,
						.mode = 0755,
						.size_bytes = COVER_BYTES,
						.inodes = PLAN_EXPAND_MAX * 2});
	r = add_entries(c, full, inside, false);
	return r < 0 ? entries_failed(c, full, r) : 1;
}
