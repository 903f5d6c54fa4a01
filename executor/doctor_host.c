/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the host around a sandbox: id range, groups, security modules, cgroups, sysctls. Privilege: the
 * caller's. */
#include "executor/doctor_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/privs.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

#define DOCTOR_FILE_MAX (1u << 20)
#define DOCTOR_LINE_MAX 4096u

struct subid_line {
	const char *owner;
	size_t owner_len;
	uint32_t first, count;
};

static bool field_u32(const char **line, size_t *len, uint32_t *ret)
{
	const char *f;
	char text[16];
	size_t n;
	uint64_t v;

	if (!ak_field(line, len, ':', &f, &n) || n == 0 || n >= sizeof(text))
		return false;
	memcpy(text, f, n);
	text[n] = '\0';
	if (ak_parse_u64(text, 0, UINT32_MAX, &v) < 0)
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* OWNER:FIRST:COUNT; lines of another form are passed over, as the shadow tools do (subuid(5)) */
static bool subid_next(struct ak_lines *l, struct subid_line *ret)
{
	const char *line;
	size_t len;

	while (ak_lines_next(l, &line, &len)) {
		if (!ak_field(&line, &len, ':', &ret->owner, &ret->owner_len) || ret->owner_len == 0)
			continue;
		if (field_u32(&line, &len, &ret->first) && field_u32(&line, &len, &ret->count) &&
		    ret->count > 0)
			return true;
	}
	return false;
}

static bool owned_by(const struct subid_line *s, const char *owner)
{
	return strlen(owner) == s->owner_len && memcmp(owner, s->owner, s->owner_len) == 0;
}

int doctor_subid_find(const char *text, size_t len, const char *owner, uint32_t *ret_first,
		      uint32_t *ret_count)
{
	struct subid_line s;
	struct ak_lines l;
	int rc = -ENOENT;

	ak_lines_init(&l, text, len, DOCTOR_LINE_MAX);
	while (subid_next(&l, &s)) {
		if (!owned_by(&s, owner))
			continue;
		rc = -ERANGE;
		if (s.first == 0 || s.count < PRIVS_SLOT_IDS || (uint64_t)s.first + s.count > UINT32_MAX)
			continue;
		*ret_first = s.first;
		*ret_count = s.count;
		return 0;
	}
	return rc;
}

bool doctor_subid_overlap(const char *text, size_t len, const char *owner, uint32_t first, uint64_t count,
			  char *name, size_t n)
{
	struct subid_line s;
	struct ak_lines l;

	ak_lines_init(&l, text, len, DOCTOR_LINE_MAX);
	while (subid_next(&l, &s)) {
		if (owned_by(&s, owner))
			continue;
		if (s.first >= first + count || first >= (uint64_t)s.first + s.count)
			continue;
		snprintf(name, n, "%.*s", (int)s.owner_len, s.owner);
		return true;
	}
	return false;
}

/* The range of "ak" in one of the two files, else the built-in one. @ret_other: another owner that shares ids
 * with it, or "". */
static void range_of(const char *path, uint32_t *ret_first, uint32_t *ret_count, char *ret_other, size_t n)
{
	char *text = NULL;
	size_t len = 0;

	*ret_first = PRIVS_DEFAULT_BASE;
	*ret_count = PRIVS_SLOT_IDS * PRIVS_SLOTS_MAX;
	ret_other[0] = '\0';
	if (ak_read_file(path, DOCTOR_FILE_MAX, &text, &len) < 0)
		return;
	(void)doctor_subid_find(text, len, "ak", ret_first, ret_count);
	(void)doctor_subid_overlap(text, len, "ak", *ret_first, *ret_count, ret_other, n);
	free(text);
}

uint32_t doctor_range(const char *path)
{
	uint32_t first, count;
	char other[64];

	range_of(path, &first, &count, other, sizeof(other));
	return first + (count / PRIVS_SLOT_IDS - 1) * PRIVS_SLOT_IDS;
}

/* Whether the range can be used is tried by try_host_root(); here is where it comes from, and who else was
 * given it. */
void check_range(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	static const char *const paths[] = {"/etc/subuid", "/etc/subgid"};
	uint32_t first = 0, count = 0;
	char other[64];

	(void)ctx;
	for (size_t i = 0; i < 2; i++) {
		range_of(paths[i], &first, &count, other, sizeof(other));
		if (!other[0])
			continue;
		row_set(row, DOCTOR_WARN, 0,
			"ids from %u on, used by sandboxes of root, also belong to \"%s\" in %s", first,
			other, paths[i]);
		row_fix(row, "give \"ak\" a range of its own in /etc/subuid and /etc/subgid");
		return;
	}
	row_set(row, DOCTOR_OK, 0, "host ids from %u on, for %u sandboxes at a time%s", first,
		count / PRIVS_SLOT_IDS,
		first == PRIVS_DEFAULT_BASE ? " (built in)" : " (from /etc/subuid and /etc/subgid)");
}

int try_host_root(const struct doctor_ctx *ctx, struct trial *t)
{
	struct ak_err err = {0};
	struct privs p = {.lock = -1};

	(void)ctx;
	if (privs_reserve(&p, &err) < 0 || privs_enter(&p, NULL, &err) < 0)
		return trial_err(t, &err);
	if (setuid(0) == 0) {
		errno = EPERM;
		return trial_fail(t, "host root could be taken back");
	}
	return 0;
}

static void groups_as_root(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	struct trial t;

	if (doctor_try(ctx, 0, try_drop_groups, &t) == 0) {
		row_set(row, DOCTOR_OK, 0, "supplementary groups are dropped before a command starts");
		return;
	}
	row_set(row, DOCTOR_FAIL, t.code,
		"supplementary groups cannot be dropped: this root has no CAP_SETGID");
	row_fix(row, "give the container CAP_SETGID and CAP_SETUID, or run ak as an ordinary user");
}

void check_groups(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	gid_t groups[1024];
	char list[200] = "";
	int n = getgroups(1024, groups), extra = 0;

	if (ctx->root) {
		groups_as_root(ctx, row);
		return;
	}
	for (int i = 0; i < n; i++) {
		size_t at = strlen(list);

		if (groups[i] == ctx->gid)
			continue;
		extra++;
		snprintf(list + at, sizeof(list) - at, "%s%u", extra > 1 ? " " : "", (unsigned)groups[i]);
	}
	if (extra == 0) {
		row_set(row, DOCTOR_OK, 0, "no supplementary groups that a command would keep");
		return;
	}
	row_set(row, DOCTOR_WARN, 0,
		"an ordinary user cannot drop supplementary groups (%s): a command keeps them, although they "
		"show as the overflow group",
		list);
	row_fix(row, "start ak as root or from an account without extra groups where files of those groups "
		     "matter");
}

void check_apparmor(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	if (ctx->facts.apparmor_userns != 1) {
		row_set(row, DOCTOR_SKIP, 0, "%s", "");
		return;
	}
	row_set(row, DOCTOR_INFO, 0,
		"kernel.apparmor_restrict_unprivileged_userns is 1: user namespaces of unconfined programs "
		"get "
		"no rights; the checks above tell whether ak is affected");
	row_fix(row, "if they fail: load an AppArmor profile for ak that has \"userns,\" (Ubuntu: a file in "
		     "/etc/apparmor.d)");
}

void check_ns_limits(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	for (size_t i = 0; i < DOCTOR_NS_COUNT; i++) {
		long max = ctx->facts.ns_max[i];

		if (max < 0 || max >= 64)
			continue;
		row_set(row, DOCTOR_WARN, max == 0 ? ENOSPC : 0,
			"user.%s is %ld: no more sandboxes than that at a time",
			doctor_ns_table[i].max_sysctl, max);
		row_fix(row, "as root on the host: sysctl -w user.%s=10000", doctor_ns_table[i].max_sysctl);
		return;
	}
	row_set(row, DOCTOR_OK, 0, "user.max_*_namespaces leave room (user: %ld, net: %ld)",
		ctx->facts.ns_max[0], ctx->facts.ns_max[3]);
}

/* fs.protected_*: the host's own guard against planted links and files in shared folders such as /tmp */
void check_protected(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	static const char *const names[] = {"symlinks", "hardlinks", "fifos", "regular"};
	char path[64], off[80] = "", set[160] = "", *text;
	size_t len;

	(void)ctx;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/sys/fs/protected_%s", names[i]);
		text = NULL;
		if (ak_read_file(path, 64, &text, &len) == 0 && len > 0 && text[0] == '0') {
			snprintf(off + strlen(off), sizeof(off) - strlen(off), " %s", names[i]);
			snprintf(set + strlen(set), sizeof(set) - strlen(set), " fs.protected_%s=1",
				 names[i]);
		}
		free(text);
	}
	if (!off[0]) {
		row_set(row, DOCTOR_OK, 0, "fs.protected_symlinks, hardlinks, fifos and regular are on");
		return;
	}
	row_set(row, DOCTOR_WARN, 0, "the kernel's guard against planted links and files is off for:%s", off);
	row_fix(row, "as root on the host: sysctl -w%s", set);
}
