/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of `ak doctor` about cgroups: each place is tried by making and removing a group there. Privilege: the caller's. */
#include "executor/doctor_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/limits_advice.h"
#include "executor/ns/cgroup.h"
#include "executor/ns/cgroup_find.h"
#include "executor/ns/cgroup_scope.h"
#include "executor/ns/userns.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static void begin(const struct doctor_ctx *ctx, struct cgroup_search *s, bool given)
{
	*s = (struct cgroup_search){ .root = ctx->root, .want = CGROUP_ALL, .given = given ? getenv(CGROUP_ENV) : NULL, .all = true };
	for (size_t i = 0; i < CGROUP_CANDIDATES_MAX; i++)
		s->trial[i].dir = -1;
}

static bool given(void)
{
	const char *v = getenv(CGROUP_ENV);

	return v && v[0] && strcmp(v, CGROUP_ENV_NONE) != 0;
}

/* a process is born in the group and ends. Return: 0 or negative errno */
static int try_birth(const struct cgroup *g, struct ak_err *err)
{
	int pidfd = -1;
	siginfo_t si;
	pid_t pid = userns_clone(0, g->dir, &pidfd, err);

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return (int)pid;
	while (waitid(P_PIDFD, (id_t)pidfd, &si, WEXITED) < 0 && errno == EINTR)
		;
	ak_fd_close(&pidfd);
	return 0;
}

/* what `ak exec` does: make the place ready, a group with limits, a process born in it, and all of it away again */
static int try_whole(struct cgroup_search *s, uint32_t *ret_have, char *path, size_t size, struct ak_err *err)
{
	const struct cgroup_limits limits = { .memory_bytes = 64u << 20, .pids = 16, .cpu_milli = 1000 };
	struct cgroup_place place = CGROUP_PLACE_NONE;
	struct cgroup g = CGROUP_NONE;
	int r = cgroup_take(s, &place, err), e;

	if (r <= 0)
		return r;
	snprintf(path, size, "%s", place.path);
	r = cgroup_make(place.dir, place.have, &limits, &g, err);
	if (r == 0) {
		*ret_have = g.have;
		r = try_birth(&g, err);
		e = cgroup_remove(&g);
		if (r == 0 && e < 0)
			r = ak_err_sys(err, -e, "remove the group again");
	}
	(void)cgroup_place_leave(&place);
	return r < 0 ? r : 1;
}

static void whole_failed(const struct cgroup_search *s, uint32_t have, int code, struct doctor_row *row)
{
	char why[CGROUP_TEXT_MAX], advice[LIMITS_ADVICE_MAX], names[64];

	limits_why(s, have, why, sizeof(why));
	limits_advice(s, have, advice, sizeof(advice));
	cgroup_ctl_names(CGROUP_ALL & ~have, names, sizeof(names));
	row_set(row, DOCTOR_WARN, code, "no group holds %s limits: %.220s; memory is watched, processes are limited by rlimit, a share "
		"of the CPUs is refused", names, why);
	row_fix(row, "%s", advice);
}

void check_cgroup(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	char path[CGROUP_PATH_MAX] = "", names[64];
	struct cgroup_search s;
	struct ak_err err = { 0 };
	uint32_t have = 0;
	int r;

	begin(ctx, &s, true);
	r = cgroup_look(&s, &err);
	if (r == 0)
		r = try_whole(&s, &have, path, sizeof(path), &err);
	cgroup_ctl_names(have, names, sizeof(names));
	if (r < 0) {
		row_set(row, DOCTOR_WARN, -r, "%.380s", err.msg);
		row_fix(row, "%s", err.hint);
	} else if (have == CGROUP_ALL) {
		row_set(row, DOCTOR_OK, 0, "%s limits are held by groups made in %.200s", names, path);
	} else {
		whole_failed(&s, have, r > 0 ? 0 : s.n > 0 ? s.trial[0].code : 0, row);
	}
	cgroup_search_release(&s);
}

/* --- one place --- */

static void tell_usable(const struct cgroup_trial *t, struct doctor_row *row)
{
	const struct cgroup_limits none = { 0 };
	struct cgroup g = CGROUP_NONE;
	struct ak_err err = { 0 };
	char on[64], more[64];
	int r = cgroup_make(t->dir, 0, &none, &g, &err);

	if (r == 0) {
		r = try_birth(&g, &err);
		(void)cgroup_remove(&g);
	}
	if (r < 0) {
		row_set(row, DOCTOR_INFO, -r, "%.100s: %.280s", t->path, err.msg);
		return;
	}
	cgroup_ctl_names(t->on, on, sizeof(on));
	cgroup_ctl_names(t->can & ~t->on, more, sizeof(more));
	row_set(row, DOCTOR_INFO, t->code, "%.100s: a group was made, entered and removed; controllers on: %s; could be switched on: "
		"%s%s%s%.120s", t->path, on, more, t->aside ? ", after ak has moved aside" : "", t->why[0] ? "; " : "", t->why);
}

/* the first place of the kind that is usable, else the first */
static void check_kind(const struct doctor_ctx *ctx, enum cgroup_kind kind, struct doctor_row *row)
{
	const struct cgroup_trial *found = NULL;
	struct cgroup_search s;
	struct ak_err err = { 0 };
	int r;

	begin(ctx, &s, kind == CGROUP_GIVEN);
	r = cgroup_look(&s, &err);
	for (size_t i = 0; i < s.n; i++)
		if (s.trial[i].kind == kind && (!found || (!found->usable && s.trial[i].usable)))
			found = &s.trial[i];
	if (r < 0)
		row_set(row, DOCTOR_WARN, -r, "%.380s", err.msg);
	else if (found && found->usable)
		tell_usable(found, row);
	else if (found)
		row_set(row, DOCTOR_INFO, found->code, "%.100s: %.280s", found->path, found->why);
	if (r < 0)
		row_fix(row, "%s", err.hint);
	cgroup_search_release(&s);
}

void check_cgroup_given(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	const char *v = getenv(CGROUP_ENV);

	if (given())
		check_kind(ctx, CGROUP_GIVEN, row);
	else if (v && v[0])
		row_set(row, DOCTOR_INFO, 0, CGROUP_ENV "=" CGROUP_ENV_NONE ": groups are not used");
}

void check_cgroup_own(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	check_kind(ctx, CGROUP_OWN, row);
}

void check_cgroup_above(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	check_kind(ctx, CGROUP_ABOVE, row);
}

void check_cgroup_top(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	check_kind(ctx, CGROUP_ROOT, row);
}

/* --- the systemd user manager: in a child, which it moves; its value is the controllers that its scope would give --- */

static int try_scope(const struct doctor_ctx *ctx, struct trial *t)
{
	struct cgroup_search s;
	struct ak_err err = { 0 };
	char unit[64];

	if (cgroup_scope_enter(getenv("XDG_RUNTIME_DIR"), unit, sizeof(unit), &err) < 0)
		return trial_err(t, &err);
	begin(ctx, &s, false);
	(void)cgroup_look(&s, &err);
	t->value = s.best >= 0 ? (int)s.trial[s.best].can : 0;
	cgroup_search_release(&s);
	return 0;
}

void check_cgroup_systemd(const struct doctor_ctx *ctx, struct doctor_row *row)
{
	char why[200], names[64];
	struct trial t;

	if (!cgroup_scope_possible(getenv("XDG_RUNTIME_DIR"), why, sizeof(why))) {
		row_set(row, DOCTOR_INFO, ENOENT, "%s", why);
		return;
	}
	if (doctor_try(ctx, 0, try_scope, &t) < 0) {
		row_set(row, DOCTOR_INFO, t.code, "%s", t.what);
		return;
	}
	cgroup_ctl_names((uint32_t)t.value, names, sizeof(names));
	row_set(row, DOCTOR_INFO, 0, "gives a scope with the controllers %s; asked for where a limit is given that nothing else holds",
		names);
}
