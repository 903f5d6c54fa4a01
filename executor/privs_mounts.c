/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root mode: clones of the mount sources, idmapped so that files keep their owner on disk. Process: executor, before it
 * leaves host root. Privilege: CAP_SYS_ADMIN on the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/ns/userns.h"
#include "executor/plan.h"
#include "executor/privs.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

/* one namespace descriptor is kept from row to row, since most sources have the same owner */
struct idmap_cache {
	bool valid;
	struct id_map uid, gid;
	int fd;
};

static bool same_map(struct id_map a, struct id_map b)
{
	return a.inside == b.inside && a.outside == b.outside && a.count == b.count;
}

static int cached_userns(struct idmap_cache *c, struct id_map uid, struct id_map gid, struct ak_err *err)
{
	int fd;

	if (c->valid && same_map(c->uid, uid) && same_map(c->gid, gid))
		return c->fd;
	fd = userns_make(uid, gid, err);
	if (fd < 0)
		return fd;
	ak_fd_close(&c->fd);
	*c = (struct idmap_cache){ true, uid, gid, fd };
	return fd;
}

static int clone_source(const char *src)
{
	AK_AUTO_FD at = sys_openat2(AT_FDCWD, src, O_PATH | O_CLOEXEC, AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_NO_MAGICLINKS);
	int fd;

	if (at < 0)
		return -errno;
	fd = sys_open_tree(at, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
	return fd < 0 ? -errno : fd;
}

static int explain_open(int code, const struct plan_mount *m, struct ak_err *err)
{
	(void)ak_err_sys(err, code, "%s%sopen %s", m->opt ? m->opt : "", m->opt ? ": " : "", m->src);
	if (code == EPERM)
		ak_err_hint(err, "%s", PRIVS_NOT_HOST_ROOT);
	return -code;
}

static int explain_idmap(int code, const char *src, struct ak_err *err)
{
	(void)ak_err_sys(err, code, "%s is on a file system that cannot map ids, so its files would not belong to its owner", src);
	ak_err_hint(err, "run ak as the ordinary user who owns the files, or keep host uid 0 inside with --identity root");
	return -code;
}

static int set_idmap(int mnt, int userns)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)userns };

	return sys_mount_setattr(mnt, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) < 0 ? -errno : 0;
}

/* the owner of the top folder becomes the sandbox's user; everybody else stays a stranger */
static int idmap_to_owner(const struct privs *p, const struct plan *plan, struct plan_mount *m, struct idmap_cache *cache,
			  struct ak_err *err)
{
	struct stat st;
	int ns, r;

	if (fstat(m->src_fd, &st) < 0)
		return ak_err_sys(err, errno, "stat %s", m->src);
	ns = cached_userns(cache, (struct id_map){ st.st_uid, p->uid_base + plan->uid, 1 },
			   (struct id_map){ st.st_gid, p->gid_base + plan->gid, 1 }, err);
	if (ns < 0)
		return ns;
	r = set_idmap(m->src_fd, ns);
	/* read-only: what everybody may read can still be read */
	if (r < 0 && (m->flags & PMF_RO))
		return 0;
	return r < 0 ? explain_idmap(-r, m->src, err) : 0;
}

static int prepare_row(const struct privs *p, struct plan *plan, struct plan_mount *m, struct idmap_cache *cache, struct ak_err *err)
{
	if (m->kind != PM_BIND || (m->flags & (PMF_SYSTEM | PMF_PROTECT)))
		return 0;
	m->src_fd = clone_source(m->src);
	if (m->src_fd < 0) {
		int code = -m->src_fd;

		m->src_fd = -1;
		if (m->flags & PMF_OPTIONAL)
			return 0;
		return explain_open(code, m, err);
	}
	return m->flags & PMF_IDMAP ? idmap_to_owner(p, plan, m, cache, err) : 0;
}

/* the overlay's lower layer keeps its ids, moved into the slot: root's files there are uid 0 inside and nobody outside */
static int prepare_rootfs(const struct privs *p, struct plan *plan, struct idmap_cache *cache, struct ak_err *err)
{
	int ns, r;

	plan->rootfs_fd = clone_source(plan->rootfs);
	if (plan->rootfs_fd < 0) {
		r = plan->rootfs_fd;
		plan->rootfs_fd = -1;
		return ak_err_sys(err, -r, "--rootfs: open %s", plan->rootfs);
	}
	ns = cached_userns(cache, (struct id_map){ 0, p->uid_base, PRIVS_OWN_ID }, (struct id_map){ 0, p->gid_base, PRIVS_OWN_ID }, err);
	if (ns < 0)
		return ns;
	r = set_idmap(plan->rootfs_fd, ns);
	return r < 0 ? explain_idmap(-r, plan->rootfs, err) : 0;
}

/* belongs to the workspace's owner too, so it gets the same map: files in it are his on disk, whatever the slot */
static int prepare_layer(const struct privs *p, struct plan *plan, struct idmap_cache *cache, struct ak_err *err)
{
	struct plan_mount layer = { .src = plan->cow_layer, .src_fd = clone_source(plan->cow_layer) };

	if (layer.src_fd < 0)
		return ak_err_sys(err, -layer.src_fd, "--write cow: open %s", plan->cow_layer);
	plan->cow_layer_fd = layer.src_fd;
	return idmap_to_owner(p, plan, &layer, cache, err);
}

int privs_prepare_mounts(const struct privs *p, struct plan *plan, struct ak_err *err)
{
	struct idmap_cache cache = { .fd = -1 };
	int r = 0;

	if (plan->root == PLAN_ROOT_OVERLAY)
		r = prepare_rootfs(p, plan, &cache, err);
	for (size_t i = 0; r == 0 && i < plan->nmounts; i++)
		r = prepare_row(p, plan, &plan->mounts[i], &cache, err);
	if (r == 0 && plan->cow_layer)
		r = prepare_layer(p, plan, &cache, err);
	ak_fd_close(&cache.fd);
	return r;
}
