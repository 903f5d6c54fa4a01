/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/self/cgroup, /proc/self/mountinfo and flat keyed files. The first byte chooses; laws are at each check.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/ns/cgroup_place.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The group that was read is the first candidate, each one is above the one before, and the last is the top or a unit */
static void check_candidates(const char *own, bool root)
{
	struct cgroup_candidate c[CGROUP_CANDIDATES_MAX];
	size_t n = cgroup_candidates(own, root, c);

	LAW(n >= 1 && n <= CGROUP_CANDIDATES_MAX && strcmp(c[0].path, own) == 0 && c[0].kind == CGROUP_OWN);
	for (size_t i = 1; i < n; i++) {
		size_t len = strlen(c[i].path);

		LAW(c[i].path[0] == '/' && len < strlen(c[i - 1].path) && memcmp(c[i].path, c[i - 1].path, len) == 0);
		LAW(c[i].kind == CGROUP_ABOVE || c[i].kind == CGROUP_ROOT);
	}
	LAW(!root || strcmp(c[n - 1].path, "/") == 0);
}

/* What is read is a path of the text, and never one outside of the namespace */
static void check_own(const char *text, size_t len)
{
	char own[CGROUP_PATH_MAX] = "untouched";
	int r = cgroup_own_path(text, len, own);

	LAW(r <= 0 && (r == 0) == (own[0] == '/'));
	if (r < 0) {
		LAW(strcmp(own, "untouched") == 0);
		return;
	}
	LAW(strlen(own) <= len && memmem(text, len, own, strlen(own)) != NULL);
	LAW(strncmp(own, "/../", 4) != 0 && strcmp(own, "/..") != 0);
	check_candidates(own, false);
	check_candidates(own, true);
}

/* A mount has two absolute paths; its own root lies at its mount point, and nothing outside of it is below */
static void check_mount(const char *text, size_t len)
{
	struct cgroup_mount m = { .point = "untouched" };
	char path[CGROUP_PATH_MAX];

	if (cgroup_find_mount(text, len, &m) < 0) {
		LAW(strcmp(m.point, "untouched") == 0);
		return;
	}
	LAW(m.point[0] == '/' && m.root[0] == '/');
	LAW(cgroup_below_mount(&m, m.root, path) == 0 && strcmp(path, m.point) == 0);
	if (strcmp(m.root, "/") != 0)
		LAW(cgroup_below_mount(&m, "/", path) == -ENOENT);
}

/* A number that is found stands in the text behind its key */
static void check_keys(const char *text, size_t len)
{
	uint64_t v = 77;

	if (!cgroup_key_u64(text, len, "oom", &v))
		LAW(v == 77);
	else
		LAW(memmem(text, len, "oom ", 4) != NULL);
	LAW((cgroup_ctl_mask(text, len) & ~(uint32_t)CGROUP_ALL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;

	if (size < 1)
		return 0;
	switch (data[0] % 3) {
	case 0:
		check_own(text, size - 1);
		break;
	case 1:
		check_mount(text, size - 1);
		break;
	default:
		check_keys(text, size - 1);
		break;
	}
	return 0;
}
