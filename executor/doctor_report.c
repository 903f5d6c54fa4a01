/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of `ak doctor` that need a look around: cgroup v2, idmapped mounts, Landlock, memory files.
 * Privilege: the caller's. */
#include "executor/doctor_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/ns/userns.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_parse.h"

#define DOCTOR_FILE_MAX (1u << 20)

/* The mount point of cgroup2 in mountinfo: field 5 of the line whose type, after " - ", is cgroup2. */
static bool cgroup2_mount(char *ret, size_t n)
{
	const char *line, *f, *dash;
	char *text = NULL;
	size_t len, flen;
	struct ak_lines l;
	bool found = false;

	if (ak_read_file("/proc/self/mountinfo", DOCTOR_FILE_MAX, &text, &len) < 0)
		return false;
	ak_lines_init(&l, text, len, 8192);
	while (!found && ak_lines_next(&l, &line, &len)) {
		dash = memmem(line, len, " - cgroup2 ", 11);
		for (int i = 0; dash && i < 5 && ak_field(&line, &len, ' ', &f, &flen); i++) {
			if (i != 4)
				continue;
			snprintf(ret, n, "%.*s", (int)flen, f);
			found = true;
		}
	}
	free(text);
	return found;
}

/* This process's group: the line "0::PATH" of /proc/self/cgroup */
static bool cgroup2_path(char *ret, size_t n)
{
	const char *line;
	char *text = NULL;
	size_t len;
	struct ak_lines l;
	bool found = false;

	if (ak_read_file("/proc/self/cgroup", DOCTOR_FILE_MAX, &text, &len) < 0)
		return false;
	ak_lines_init(&l, text, len, 8192);
	while (!found && ak_lines_next(&l, &line, &len)) {
		if (len < 4 || memcmp(line, "0::/", 4) != 0)
			continue;
		snprintf(ret, n, "%.*s", (int)(len - 3), line + 3);
		found = true;
	}
	free(text);
	return found;
}

/* Reported only: this version does not use cgroups. access(2) instead of a trial, so that the host's tree
 * stays untouched. */
void check_cgroup(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	char mnt[512], path[1024], dir[1600], file[1700], *text = NULL;
	size_t len;

	(void)ctx;
	if (!cgroup2_mount(mnt, sizeof(mnt)) || !cgroup2_path(path, sizeof(path))) {
		row_set(row, DOCTOR_INFO, 0, "no cgroup v2 here; limits are kept by rlimits and by watching");
		return;
	}
	snprintf(dir, sizeof(dir), "%s%s", mnt, strcmp(path, "/") == 0 ? "" : path);
	snprintf(file, sizeof(file), "%s/cgroup.controllers", dir);
	if (ak_read_file(file, 4096, &text, &len) == 0 && len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	row_set(row, DOCTOR_INFO, 0,
		"cgroup v2 at %.200s (%s; controllers: %.120s); not used by this version: limits are kept by "
		"rlimits and by watching",
		dir, access(dir, W_OK) == 0 ? "writable" : "not writable", text && text[0] ? text : "none");
	free(text);
}

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
