/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for a place where sandboxes may have their cgroups, and takes it. Process: executor. Privilege: the caller's.
 *
 * cgroup_look() only reads, so that --explain and `ak doctor` can tell without changing anything; cgroup_take() turns the best
 * place into one that is ready: controllers are passed down, and if ak is alone in the place it moves aside.
 */
#ifndef AK_NS_CGROUP_FIND_H
#define AK_NS_CGROUP_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/ns/cgroup_place.h"

struct ak_err;

#define CGROUP_ENV "AK_CGROUP"
#define CGROUP_ENV_NONE "none"	/* value of AK_CGROUP: use no cgroup */
#define CGROUP_TEXT_MAX 320

/* one place that was looked at */
struct cgroup_trial {
	enum cgroup_kind kind;
	int dir;		/* owned; -1: could not be opened */
	uint32_t on;		/* controllers it passes down already */
	uint32_t can;		/* those it could pass down (@on included); 0 where nothing can be done here */
	bool usable;		/* groups can be made here */
	bool aside;		/* ak itself is the only process in it and has to move aside to get more than @on */
	int code;		/* errno of what is in the way; 0: nothing */
	char path[CGROUP_PATH_MAX];	/* in the file system where it is known, else in the hierarchy */
	char why[CGROUP_TEXT_MAX];	/* what is in the way or missing; "" */
};

struct cgroup_search {
	/* in */
	const char *given;	/* value of AK_CGROUP; borrowed; NULL or "": not set */
	bool root;		/* host root */
	uint32_t want;		/* enum cgroup_ctl: what the limits of this run need */
	bool all;		/* look at every place, also after one that gives all, and where the hierarchy has nothing */
	/* out */
	struct cgroup_trial trial[CGROUP_CANDIDATES_MAX];	/* @n of them; the rest is zero */
	size_t n;
	int best;		/* index; -1: none */
	bool off;		/* AK_CGROUP=none */
	bool nothing;		/* cgroup_glance() has seen that no place is of use */
	bool hybrid;		/* controllers are in v1 hierarchies, cgroup v2 has none that we use */
	char mount[CGROUP_PATH_MAX];	/* of cgroup2; "": none seen */
	char why[CGROUP_TEXT_MAX];	/* why nothing at all can be used, or why the best place lacks something; one line */
};

/* a place that is ready for cgroup_make(); all descriptors are owned */
struct cgroup_place {
	enum cgroup_kind kind;
	int dir;		/* -1: none */
	uint32_t have;		/* controllers that groups made in it get */
	uint32_t taken;		/* of those, what was switched on by us and must be off before we move back */
	int aside;		/* the group we moved to; -1: not moved */
	char aside_name[48];
	char path[CGROUP_PATH_MAX];
};

#define CGROUP_PLACE_NONE { .dir = -1, .aside = -1 }

/**
 * cgroup_glance() - is it plain at once that no group can be had? Before cgroup_look(), which then does not look again
 * @given:	value of AK_CGROUP; NULL: not set
 * Return: true: it is; false: it may be, cgroup_look() will tell.
 */
bool cgroup_glance(struct cgroup_search *s, const char *given);

/**
 * cgroup_look() - look at all places, change nothing
 * @s:	"in" fields set, the rest zero; release with cgroup_search_release() in any case
 *
 * The best place is the first that gives all of @want, else the one that gives most. AK_CGROUP, where set, is the only one.
 * Return: 0 (maybe without a place); negative errno when AK_CGROUP names something that cannot be used: -ENOENT, -ENOTDIR,
 * -EINVAL (relative, not cgroup v2, threaded), -EACCES, -EROFS, -EBUSY (holds processes; frozen).
 */
int cgroup_look(struct cgroup_search *s, struct ak_err *err);
void cgroup_search_release(struct cgroup_search *s);

/** cgroup_choose() - set @best: the first usable place that gives most of @want; -1 when none gives anything */
void cgroup_choose(struct cgroup_search *s);

/**
 * cgroup_take() - make the best place ready; what cannot be had after all is recorded and the next best is tried
 * @ret:	CGROUP_PLACE_NONE before; release with cgroup_place_leave()
 * Return: 1 with a place, 0 without; negative errno as above, only for AK_CGROUP.
 */
int cgroup_take(struct cgroup_search *s, struct cgroup_place *ret, struct ak_err *err);

/**
 * cgroup_place_leave() - go back to the group we came from, if we moved, and close the place
 * Every group made in it must be gone: what is left there keeps us aside. Return: 0; -EBUSY and others: we are still aside.
 */
int cgroup_place_leave(struct cgroup_place *p);

/** cgroup_place_forget() - somebody else moves us back: close only */
void cgroup_place_forget(struct cgroup_place *p);

/** cgroup_kind_name() - "own group" and so on, for people */
const char *cgroup_kind_name(enum cgroup_kind kind);

#endif
