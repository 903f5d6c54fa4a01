/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the parts of executor/ns/cgroup* together for one run. Process: executor. Privilege: the caller's. */
#include "executor/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "executor/hostinfo.h"
#include "executor/limits_advice.h"
#include "executor/ns/cgroup_file.h"
#include "executor/ns/cgroup_scope.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

void limits_init(struct limits *l)
{
	l->place.dir = l->place.aside = -1;
	l->group = (struct cgroup)CGROUP_NONE;
	l->keeper = (struct cgroup_keeper)CGROUP_KEEPER_NONE;
}

static void fill_search(struct limits *l, const struct exec_opts *o, const struct hostinfo *h)
{
	l->search.given = hostinfo_env(h, CGROUP_ENV);
	l->search.root = h->root;
	l->search.want = (o->memory_bytes.max ? 0u : CGROUP_MEMORY) | (o->pids.max ? 0u : CGROUP_PIDS) |
			 (o->cpu_milli.max ? 0u : CGROUP_CPU);
}

static int enforce(struct limits *l, bool group, uint32_t have, const struct exec_opts *o, struct plan *p, struct ak_err *err)
{
	char why[CGROUP_TEXT_MAX], advice[LIMITS_ADVICE_MAX];
	struct plan_groups g = { .group = group, .have = have, .why = why, .advice = advice };

	limits_why(&l->search, have, why, sizeof(why));
	limits_advice(&l->search, have, advice, sizeof(advice));
	return plan_enforce(p, o, &g, err);
}

/* did the user ask for a limit that the best place so far does not hold? */
static bool asked_for_more(const struct cgroup_search *s, const struct exec_opts *o)
{
	uint32_t asked = (o->memory_bytes.given ? CGROUP_MEMORY : 0u) | (o->pids.given ? CGROUP_PIDS : 0u) |
			 (o->cpu_milli.given ? CGROUP_CPU : 0u);
	uint32_t can = s->best >= 0 ? s->trial[s->best].can : 0;

	return (asked & s->want & ~can) != 0;
}

/* the manager of a systemd session, for an ordinary user who gave a limit */
static bool may_ask_manager(const struct limits *l, const struct exec_opts *o)
{
	const struct cgroup_search *s = &l->search;

	return !s->root && !s->off && !s->hybrid && s->mount[0] && asked_for_more(s, o);
}

static struct cgroup_trial *note_scope(struct cgroup_search *s, const struct ak_err *err)
{
	struct cgroup_trial *t = &s->trial[s->n < CGROUP_CANDIDATES_MAX ? s->n : CGROUP_CANDIDATES_MAX - 1];

	if (s->n < CGROUP_CANDIDATES_MAX)
		s->n++;
	else
		ak_fd_close(&t->dir);
	*t = (struct cgroup_trial){ .kind = CGROUP_SCOPE, .dir = -1, .code = err->code };
	snprintf(t->why, sizeof(t->why), "%.300s", err->msg);
	return t;
}

/* get into a scope and look again: then the own group is one that holds nothing but ak */
static int ask_manager(struct limits *l, const struct hostinfo *h, struct ak_err *err)
{
	struct ak_err e = { 0 };
	char unit[64];

	if (cgroup_scope_enter(hostinfo_env(h, "XDG_RUNTIME_DIR"), unit, sizeof(unit), &e) < 0) {
		(void)note_scope(&l->search, &e);
		return 0;
	}
	cgroup_search_release(&l->search);
	l->search.why[0] = '\0';
	l->scope = true;
	return cgroup_look(&l->search, err);
}

int limits_look(struct limits *l, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, struct ak_err *err)
{
	struct cgroup_search *s = &l->search;
	struct ak_err e = { 0 };
	char why[200];
	int r;

	fill_search(l, o, h);
	r = cgroup_look(s, err);
	if (r < 0)
		return r;
	if (may_ask_manager(l, o)) {
		if (cgroup_scope_possible(hostinfo_env(h, "XDG_RUNTIME_DIR"), why, sizeof(why))) {
			plan_warn(p, "the systemd user manager is asked for a group when the command starts; what it gives is known then");
			return enforce(l, true, s->want, o, p, err);
		}
		(void)ak_err_set(&e, ENOENT, "%s", why);
		(void)note_scope(s, &e);
	}
	return enforce(l, s->best >= 0, s->best >= 0 ? s->trial[s->best].can & s->want : 0, o, p, err);
}

/* ak-init is in the group with the command, whose number of processes the user gives */
static struct cgroup_limits limits_of(const struct exec_opts *o)
{
	return (struct cgroup_limits){
		.memory_bytes = o->memory_bytes.max ? 0 : o->memory_bytes.value,
		.pids = o->pids.max ? 0 : o->pids.value + 1,
		.cpu_milli = o->cpu_milli.max ? 0 : o->cpu_milli.value,
	};
}

/* 1: the group is made; 0: none could be */
static int make_group(struct limits *l, const struct exec_opts *o, struct ak_err *err)
{
	const struct cgroup_limits want = limits_of(o);
	struct ak_err e = { 0 };
	int r = cgroup_take(&l->search, &l->place, err);

	if (r <= 0)
		return r;
	r = cgroup_make(l->place.dir, l->place.have, &want, &l->group, &e);
	if (r == 0)
		return 1;
	(void)cgroup_place_leave(&l->place);
	limits_note_failed(&l->search, l->place.kind, l->place.path, &e);
	if (l->place.kind != CGROUP_GIVEN)
		return 0;
	if (err)
		*err = e;
	return ak_err_wrap(err, CGROUP_ENV ": %.200s cannot be used", l->place.path);
}

/*
 * A group cannot be made below one that holds processes, so root's sandboxes may lie above or beside ak's own group: limits that
 * somebody has set there do not bind them.
 */
static void warn_outside(const struct limits *l, struct plan *p)
{
	const struct cgroup_search *s = &l->search;
	uint64_t max;

	for (size_t i = 0; i < s->n && l->group.dir >= 0 && strcmp(s->trial[i].path, l->place.path) != 0; i++)
		if (s->trial[i].dir >= 0 && cgroup_read_u64(s->trial[i].dir, "memory.max", &max) == 0 && max != UINT64_MAX)
			plan_warn(p, "the sandbox's cgroup is not below %s: the memory limit there (%llu bytes) does not hold it",
				  s->trial[i].path, (unsigned long long)max);
}

/*
 * Root gives up the right to remove the group; and where ak has moved aside, a SIGKILL must not leave the own group in a state in
 * which nobody can be put into it. Elsewhere what a SIGKILL leaves is an empty group, which the next run removes.
 */
static bool needs_keeper(const struct limits *l, const struct plan *p)
{
	return l->group.dir >= 0 && (p->identity == PLAN_ID_RANGE || (l->place.aside >= 0 && !l->scope));
}

int limits_start(struct limits *l, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, struct ak_err *err)
{
	int r;

	fill_search(l, o, h);
	r = cgroup_look(&l->search, err);
	if (r == 0 && may_ask_manager(l, o))
		r = ask_manager(l, h, err);
	if (r == 0)
		r = make_group(l, o, err);
	if (r >= 0)
		r = enforce(l, r > 0, r > 0 ? l->group.have : 0, o, p, err);
	if (r == 0)
		warn_outside(l, p);
	if (r == 0 && needs_keeper(l, p))
		r = cgroup_keeper_start(&l->group, &l->place, &l->keeper, err);
	if (r < 0)
		(void)limits_end(l);
	return r;
}

/* why sandboxes that stay get no group although there is a place; NULL: they do */
static const char *not_serving(const struct limits *l, const struct plan *p)
{
	if (p->identity == PLAN_ID_RANGE)
		return "sandboxes that stay have none when ak gives host root up";
	if (l->search.best >= 0 && l->search.trial[l->search.best].aside)
		return "ak would have to move out of its own group for as long as the sandbox stays";
	return NULL;
}

int limits_serving(struct limits *l, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, bool take, struct ak_err *err)
{
	struct cgroup_search *s = &l->search;
	struct plan_groups none = { .advice = "" };
	uint32_t have = 0;
	int r;

	fill_search(l, o, h);
	r = cgroup_look(s, err);
	if (r < 0)
		return r;
	none.why = not_serving(l, p);
	if (none.why)
		return plan_enforce(p, o, &none, err);
	if (s->best >= 0 && !take)
		have = s->trial[s->best].can & s->want;
	if (s->best >= 0 && take)
		r = cgroup_take(s, &l->place, err);
	if (r < 0)
		return r;
	if (l->place.aside >= 0) {	/* the next best was of that kind */
		(void)cgroup_place_leave(&l->place);
		none.why = "ak would have to move out of its own group for as long as the sandbox stays";
		return plan_enforce(p, o, &none, err);
	}
	if (l->place.dir >= 0)
		have = l->place.have;
	if (p->identity != PLAN_ID_ROOT)
		have &= ~(uint32_t)CGROUP_PIDS;
	return enforce(l, take ? l->place.dir >= 0 : s->best >= 0, have, o, p, err);
}

int limits_end(struct limits *l)
{
	int r = 0;

	if (l->keeper.pid > 0) {
		r = cgroup_keeper_end(&l->keeper);
		cgroup_close(&l->group);
		if (l->place.aside >= 0)	/* the keeper has moved us back */
			cgroup_place_forget(&l->place);
	} else if (l->group.dir >= 0) {
		r = cgroup_remove(&l->group);
	}
	if (l->scope)	/* the manager removes it all when we are gone: no need to move back */
		cgroup_place_forget(&l->place);
	if (l->place.dir >= 0) {
		int e = cgroup_place_leave(&l->place);

		r = r < 0 ? r : e;
	}
	cgroup_search_release(&l->search);
	return r;
}
