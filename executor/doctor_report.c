/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of `ak doctor` that need a look around: idmapped mounts, Landlock, memory files.
 * Privilege: the caller's. */
#include "executor/doctor_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "executor/ns/landlock.h"
#include "executor/ns/sysmount.h"
#include "executor/ns/userns.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_parse.h"

static int try_idmap(const struct doctor_ctx *ctx, struct trial *t)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP};
	AK_AUTO_FD tree = -1;
	const struct id_map u = {0, ctx->range_uid, 1}, g = {0, ctx->range_gid, 1};
	struct ak_err err = {0};
	AK_AUTO_FD ns = userns_make(u, g, &err);

	if (ns < 0)
		return trial_err(t, &err);
	tree = sys_open_tree(AT_FDCWD, ".", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0)
		return trial_fail(t, "open_tree of the current directory");
	attr.userns_fd = (uint64_t)ns;
	if (sys_mount_setattr(tree, "", AT_EMPTY_PATH, &attr) < 0)
		return trial_fail(t, "mount_setattr with MOUNT_ATTR_IDMAP");
	return 0;
}

/* As root, in the host's own user namespace: only the owner of a file system may idmap it. */
void check_idmap(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	struct trial t;

	if (doctor_try(ctx, 0, try_idmap, &t) == 0) {
		row_set(row, DOCTOR_OK, 0, "the current directory can be a writable workspace of root");
		return;
	}
	row_trial_failed(ctx, row, 0, &t, "the current directory cannot be a writable workspace of root",
			 "use a workspace on ext4, xfs, btrfs or tmpfs (Linux 6.3 for tmpfs), --write none, "
			 "or --identity root, or "
			 "run ak as an ordinary user");
}

void check_landlock(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	/* what each ABI added; the text of the last one the kernel has is shown */
	static const char *const lacks[] = {
		"",
		"moves between folders, truncate, TCP, device ioctl, signal scopes",
		"truncate, TCP, device ioctl, signal scopes",
		"TCP, device ioctl, signal scopes",
		"device ioctl, signal scopes",
		"signal and abstract socket scopes"};
	struct trial t;

	if (doctor_try(ctx, 0, try_landlock, &t) < 0) {
		row_trial_failed(ctx, row, 0, &t, "no second lock on files, TCP and signals",
				 "a kernel with CONFIG_SECURITY_LANDLOCK and \"landlock\" in lsm= (Linux "
				 "5.13 or newer)");
		return;
	}
	if (t.value < (int)(sizeof(lacks) / sizeof(lacks[0])))
		row_set(row, DOCTOR_OK, 0, "ABI %d; not covered by it: %s", t.value,
			lacks[t.value > 0 ? t.value : 0]);
	else
		row_set(row, DOCTOR_OK, 0,
			"ABI %d: files, TCP, device ioctl, signal and abstract socket scopes", t.value);
}

/* --isolation landlock: what it needs, and what it lacks with this kernel */
void check_plain(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	struct trial t;

	if (ctx->root) {
		row_set(row, DOCTOR_INFO, 0, "--isolation landlock is not for root: run ak as an ordinary user for it");
		return;
	}
	if (doctor_try(ctx, 0, try_landlock, &t) < 0) {
		row_trial_failed(ctx, row, 0, &t, "--isolation landlock does not work",
				 "a kernel with CONFIG_SECURITY_LANDLOCK and \"landlock\" in lsm= (Linux 5.13 or newer)");
		return;
	}
	row_set(row, DOCTOR_OK, 0,
		"--isolation landlock works, where namespaces are forbidden; weaker: processes are visible, stat, chmod and the like are not "
		"covered%s",
		t.value < LANDLOCK_ABI_SCOPES ? ", and signals reach the caller's other processes" : "");
}

void check_memfd(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	struct trial t;

	if (doctor_try(ctx, 0, try_memfd_exec, &t) == 0) {
		row_set(row, DOCTOR_OK, 0,
			"ak-init starts from a sealed memory file, which nothing can overwrite");
		return;
	}
	row_trial_failed(
		ctx, row, 0, &t, "ak-init cannot be started from a sealed memory file",
		ctx->facts.memfd_noexec == 2
			? "vm.memfd_noexec is 2: as root on the host, sysctl -w vm.memfd_noexec=1"
			: "a security module or seccomp filter refuses to execute a memfd: allow it for ak");
}
