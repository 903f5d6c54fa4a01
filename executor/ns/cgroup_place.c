/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates for a sandbox's cgroup, and the line formats of cgroup files. Process: executor. Privilege: none. */
#include "executor/ns/cgroup_place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "executor/shared/ak_parse.h"

#define LINE_BYTES 8192u
#define CPU_PERIOD_US 100000u
#define CPU_PERIOD_LONG_US 1000000u	/* the longest: kernel/sched/core.c, max_cfs_quota_period */
#define CPU_QUOTA_MIN_US 1000u		/* min_cfs_quota_period */
#define HIGH_SHARE 64u
#define HIGH_GAP_MAX (16u << 20)

static const struct {
	const char *name;
	uint32_t bit;
} controllers[] = { { "memory", CGROUP_MEMORY }, { "pids", CGROUP_PIDS }, { "cpu", CGROUP_CPU } };

#define NCONTROLLERS (sizeof(controllers) / sizeof(controllers[0]))

static bool is_path(const char *s, size_t n)
{
	return n > 0 && s[0] == '/';
}

int cgroup_own_path(const char *text, size_t len, char ret[CGROUP_PATH_MAX])
{
	struct ak_lines l;
	const char *line;
	size_t n;

	ak_lines_init(&l, text, len, LINE_BYTES);
	while (ak_lines_next(&l, &line, &n)) {
		if (n < 3 || memcmp(line, "0::", 3) != 0)
			continue;
		line += 3;
		n -= 3;
		if (!is_path(line, n))
			return -EINVAL;
		if (n >= 3 && memcmp(line, "/..", 3) == 0 && (n == 3 || line[3] == '/'))
			return -EXDEV;
		if (n >= CGROUP_PATH_MAX)
			return -ENAMETOOLONG;
		memcpy(ret, line, n);
		ret[n] = '\0';
		return 0;
	}
	return l.error == -EMSGSIZE ? -ENAMETOOLONG : -ENOENT;
}

static bool octal(const char *s, size_t n)
{
	for (size_t i = 0; i < 3; i++)
		if (i >= n || s[i] < '0' || s[i] > '7')
			return false;
	return s[0] <= '3';
}

/* proc(5): blanks and backslashes are written as \ and three octal digits */
static int unescape(const char *s, size_t n, char ret[CGROUP_PATH_MAX])
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (c == '\\' && octal(s + i + 1, n - i - 1)) {
			c = (char)((s[i + 1] - '0') * 64 + (s[i + 2] - '0') * 8 + (s[i + 3] - '0'));
			i += 3;
		}
		if (k + 1 >= CGROUP_PATH_MAX || c == '\0')
			return -ENAMETOOLONG;
		ret[k++] = c;
	}
	ret[k] = '\0';
	return 0;
}

/* "32 31 0:28 ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE SUPER" */
static bool mount_fields(const char *line, size_t n, const char *f[2], size_t fn[2], bool *ret_cgroup2)
{
	const char *x;
	size_t xn;
	bool type = false;

	for (int i = 0; ak_field(&line, &n, ' ', &x, &xn); i++) {
		if (i == 3 || i == 4) {
			f[i - 3] = x;
			fn[i - 3] = xn;
		} else if (type) {
			*ret_cgroup2 = xn == 7 && memcmp(x, "cgroup2", 7) == 0;
			return true;
		}
		type = i > 5 && xn == 1 && x[0] == '-';
	}
	return false;
}

int cgroup_find_mount(const char *text, size_t len, struct cgroup_mount *ret)
{
	struct ak_lines l;
	const char *line, *f[2];
	size_t n, fn[2];
	bool cgroup2 = false;
	int r = -ENOENT;

	ak_lines_init(&l, text, len, LINE_BYTES);
	while (ak_lines_next(&l, &line, &n)) {
		struct cgroup_mount m;

		if (!mount_fields(line, n, f, fn, &cgroup2) || !cgroup2 || !is_path(f[0], fn[0]) || !is_path(f[1], fn[1]))
			continue;
		if (unescape(f[0], fn[0], m.root) < 0 || unescape(f[1], fn[1], m.point) < 0) {
			r = r == 0 ? 0 : -ENAMETOOLONG;
			continue;
		}
		if (r != 0 || strcmp(m.root, "/") == 0)
			*ret = m;
		r = 0;
		if (strcmp(ret->root, "/") == 0)
			break;
	}
	return r;
}

/* the part of @path below @top, "" for itself; NULL when it is not below */
static const char *rest_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	if (strcmp(top, "/") == 0)
		return strcmp(path, "/") == 0 ? "" : path;
	if (strncmp(path, top, n) != 0 || (path[n] != '\0' && path[n] != '/'))
		return NULL;
	return path + n;
}

int cgroup_below_mount(const struct cgroup_mount *m, const char *path, char ret[CGROUP_PATH_MAX])
{
	const char *rest = rest_below(path, m->root);
	char out[CGROUP_PATH_MAX];

	if (!rest)
		return -ENOENT;
	if (snprintf(out, sizeof(out), "%s%s", strcmp(m->point, "/") == 0 ? "" : m->point, rest) >= (int)sizeof(out))
		return -ENAMETOOLONG;
	if (!out[0])
		memcpy(out, "/", 2);
	memcpy(ret, out, sizeof(out));
	return 0;
}

static bool is_unit(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && !strchr(dot, '/') && (strcmp(dot, ".service") == 0 || strcmp(dot, ".scope") == 0);
}

/* cut the last name off. Return: false when @path is the top */
static bool up(char *path)
{
	char *slash = strrchr(path, '/');

	if (strcmp(path, "/") == 0 || !slash)
		return false;
	slash[slash == path ? 1 : 0] = '\0';
	return true;
}

size_t cgroup_candidates(const char *own, bool root, struct cgroup_candidate *ret)
{
	char path[CGROUP_PATH_MAX];
	size_t n = 0;
	bool more = own != NULL && snprintf(path, sizeof(path), "%s", own) < (int)sizeof(path);

	while (more && n < CGROUP_CANDIDATES_MAX - 1 && strcmp(path, "/") != 0) {
		ret[n] = (struct cgroup_candidate){ .kind = n == 0 ? CGROUP_OWN : CGROUP_ABOVE };
		memcpy(ret[n++].path, path, sizeof(path));
		if (!root && is_unit(path))
			return n;
		(void)up(path);
	}
	/* an unknown own group: only root may look for another place */
	if (!own && !root)
		return 0;
	ret[n] = (struct cgroup_candidate){ .kind = own && n == 0 ? CGROUP_OWN : CGROUP_ROOT, .path = "/" };
	return n + 1;
}

uint32_t cgroup_ctl_mask(const char *text, size_t len)
{
	const char *f;
	size_t n;
	uint32_t mask = 0;

	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	while (ak_field(&text, &len, ' ', &f, &n))
		for (size_t i = 0; i < NCONTROLLERS; i++)
			if (strlen(controllers[i].name) == n && memcmp(controllers[i].name, f, n) == 0)
				mask |= controllers[i].bit;
	return mask;
}

static void join(uint32_t mask, const char *between, char sign, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < NCONTROLLERS; i++) {
		int n;

		if (!(mask & controllers[i].bit))
			continue;
		n = snprintf(buf + at, size - at, "%s%.*s%s", at ? between : "", sign ? 1 : 0, &sign, controllers[i].name);
		if (n < 0 || (size_t)n >= size - at)
			return;
		at += (size_t)n;
	}
}

void cgroup_ctl_names(uint32_t mask, char *buf, size_t size)
{
	if (mask & CGROUP_ALL)
		join(mask, ", ", '\0', buf, size);
	else
		snprintf(buf, size, "none");
}

void cgroup_ctl_enable_text(uint32_t mask, char sign, char *buf, size_t size)
{
	join(mask, " ", sign, buf, size);
}

bool cgroup_key_u64(const char *text, size_t len, const char *key, uint64_t *ret)
{
	struct ak_lines l;
	const char *line;
	size_t n, k = strlen(key);

	ak_lines_init(&l, text, len, LINE_BYTES);
	while (ak_lines_next(&l, &line, &n)) {
		char num[24];

		if (n <= k + 1 || memcmp(line, key, k) != 0 || line[k] != ' ' || n - k - 1 >= sizeof(num))
			continue;
		memcpy(num, line + k + 1, n - k - 1);
		num[n - k - 1] = '\0';
		return ak_parse_u64(num, 0, UINT64_MAX, ret) == 0;
	}
	return false;
}

void cgroup_cpu_text(uint64_t milli, char *buf, size_t size)
{
	uint64_t period = CPU_PERIOD_US, quota = milli * (CPU_PERIOD_US / 1000);

	if (quota < CPU_QUOTA_MIN_US) {
		period = CPU_PERIOD_LONG_US;
		quota = milli * (CPU_PERIOD_LONG_US / 1000);
	}
	snprintf(buf, size, "%" PRIu64 " %" PRIu64, quota, period);
}

uint64_t cgroup_high_bytes(uint64_t max_bytes)
{
	uint64_t gap = max_bytes / HIGH_SHARE;

	return max_bytes - (gap < HIGH_GAP_MAX ? gap : HIGH_GAP_MAX);
}

bool cgroup_name_ok(const char *name)
{
	size_t digits, random;

	if (strncmp(name, "ak-", 3) != 0)
		return false;
	name += 3;
	digits = strspn(name, "0123456789");
	if (digits == 0 || digits > 10 || name[digits] != '-')
		return false;
	name += digits + 1;
	random = strspn(name, "0123456789abcdef");
	return (random == CGROUP_NAME_RANDOM && name[random] == '\0') || strcmp(name, CGROUP_NAME_ASIDE) == 0;
}
