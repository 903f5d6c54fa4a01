/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pins the folders above what is covered or read-only. A folder of a writable bind could be renamed and made again without the
 * cover, for this run or the next; a mount point cannot (EBUSY). Process: executor. Privilege: none.
 */
#include "executor/plan_priv.h"

#include <string.h>

#include "executor/shared/ak_attr.h"

static bool pinned(const struct plan_ctx *c, const char *path)
{
	for (size_t i = 0; i < c->pins.n; i++)
		if (strcmp(c->pins.v[i].dst, path) == 0)
			return true;
	return false;
}

/* every folder strictly between @dst and the writable bind it lies in becomes a mount of itself */
static void pin_above(struct plan_ctx *c, const char *dst)
{
	char path[PATH_MAX] AK_UNINIT;
	const struct plan_mount *m;
	char *slash = strrchr(dst, '/');
	size_t n = (size_t)(slash - dst);

	if (n == 0 || n >= sizeof(path))
		return;
	memcpy(path, dst, n);
	path[n] = '\0';
	m = view_mount(c, path);
	if (!m || m->kind != PM_BIND || (m->flags & PMF_RO))
		return;
	for (char *p = path + strlen(m->dst); *p; ) {
		char *end = strchr(p + 1, '/');

		if (end)
			*end = '\0';
		if (!pinned(c, path))
			mount_add(&c->pins, &(struct plan_mount){ .kind = PM_BIND, .src = path, .dst = path,
								   .flags = PMF_PROTECT | PMF_TARGET_EXISTS | PMF_OPTIONAL });
		if (!end)
			return;
		*end = '/';
		p = end;
	}
}

int plan_pins(struct plan_ctx *c)
{
	for (size_t i = 0; i < c->placed.n; i++) {
		const struct plan_mount *m = &c->placed.v[i];

		if ((m->flags & PMF_RO) && (m->flags & (PMF_USER | PMF_PROTECT)))
			pin_above(c, m->dst);
	}
	for (size_t i = 0; i < c->hides.n; i++)
		pin_above(c, c->hides.v[i].dst);
	return 0;
}
