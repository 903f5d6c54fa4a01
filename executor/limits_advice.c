/* SPDX-License-Identifier: Apache-2.0 */
/* Texts about missing cgroups. Process: executor. Privilege: none. */
#include "executor/limits_advice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "executor/shared/ak_err.h"

static const struct cgroup_trial *scope_of(const struct cgroup_search *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->trial[i].kind == CGROUP_SCOPE)
			return &s->trial[i];
	return NULL;
}

void limits_why(const struct cgroup_search *s, uint32_t have, char *buf, size_t size)
{
	char names[64];
	const char *why = s->why;
	const struct cgroup_trial *scope = scope_of(s);

	buf[0] = '\0';
	if ((s->want & ~have) == 0)
		return;
	cgroup_ctl_names(s->want & ~have, names, sizeof(names));
	if (s->best >= 0 && !why[0]) {
		const struct cgroup_trial *t = &s->trial[s->best];

		if (t->why[0])
			snprintf(buf, size, "%s %.120s: %.160s", cgroup_kind_name(t->kind), t->path, t->why);
		else
			snprintf(buf, size, "%s %.120s gives no %s controller", cgroup_kind_name(t->kind), t->path, names);
		return;
	}
	if (scope)
		snprintf(buf, size, "%.170s; %.130s", why[0] ? why : "no place for a group was found", scope->why);
	else
		snprintf(buf, size, "%.300s", why[0] ? why : "no place for a group was found");
}

/* was one of the places refused with this errno? */
static bool seen(const struct cgroup_search *s, int code)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->trial[i].code == code)
			return true;
	return false;
}

void limits_advice(const struct cgroup_search *s, uint32_t have, char *buf, size_t size)
{
	buf[0] = '\0';
	if ((s->want & ~have) == 0 || s->off)
		return;
	if (s->hybrid)
		snprintf(buf, size, "boot with cgroup_no_v1=all (or systemd.unified_cgroup_hierarchy=1)");
	else if (!s->mount[0] && s->n == 0)
		snprintf(buf, size, "mount cgroup v2 at /sys/fs/cgroup");
	else if (seen(s, EROFS))
		snprintf(buf, size, "in a container, let it write its cgroup (docker: --cgroupns=private with --privileged or a "
				    "writable /sys/fs/cgroup)");
	else if (!s->root)
		snprintf(buf, size, "run ak in a systemd session of this user (`loginctl enable-linger USER` and "
				    "XDG_RUNTIME_DIR=/run/user/UID), below `systemd-run --user --scope -p Delegate=yes`, or with a "
				    "group that root has delegated in " CGROUP_ENV);
	else if (seen(s, EBUSY))
		snprintf(buf, size, "start ak as the only process of its group, or name an empty group in " CGROUP_ENV);
}

void limits_note_failed(struct cgroup_search *s, enum cgroup_kind kind, const char *path, const struct ak_err *why)
{
	for (size_t i = 0; i < s->n; i++) {
		struct cgroup_trial *t = &s->trial[i];

		if (t->kind != kind || strcmp(t->path, path) != 0)
			continue;
		t->usable = false;
		t->code = why->code;
		snprintf(t->why, sizeof(t->why), "%.300s", why->msg);
	}
	s->best = -1;
	snprintf(s->why, sizeof(s->why), "%s %.100s: %.190s", cgroup_kind_name(kind), path, why->msg);
}
