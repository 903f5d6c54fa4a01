/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which homes there are to protect: HOME is what the caller says, which under sudo or in CI is not where keys lie and where a
 * later run of ak looks for its configuration. Process: executor. Privilege: none.
 */
#include "executor/plan_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_home(struct plan_ctx *c, char *home)
{
	if (!home)
		return;
	for (size_t i = 0; i < c->nhomes; i++) {
		if (strcmp(c->homes[i], home) == 0) {
			free(home);
			return;
		}
	}
	c->homes[c->nhomes++] = home;
}

static int add_own(struct plan_ctx *c, const char *home, const char *below)
{
	char *path = NULL;

	if (asprintf(&path, "%s%s", home, below) < 0)
		return ak_err_set(c->err, ENOMEM, "not enough memory for the plan");
	c->own[c->nown++] = path;
	return 0;
}

int plan_homes(struct plan_ctx *c, uid_t owner)
{
	const char *const dirs[] = {c->h->state_dir, c->h->config_dir, c->h->runtime_dir};
	int r = 0;

	take_home(c, strdup(c->h->home));
	if (c->nhomes == 0)
		return ak_err_set(c->err, ENOMEM, "not enough memory for the plan");
	take_home(c, c->h->passwd_home ? strdup(c->h->passwd_home) : NULL);
	if (owner != c->h->uid)
		take_home(c, hostinfo_home_of(owner));
	for (size_t i = 0; i < 3 && r == 0; i++)
		r = add_own(c, dirs[i], "");
	for (size_t i = 1; i < c->nhomes && r == 0; i++) {
		r = add_own(c, c->homes[i], "/.local/state/ak");
		if (r == 0)
			r = add_own(c, c->homes[i], "/.config/ak");
	}
	return r;
}

void plan_homes_release(struct plan_ctx *c)
{
	for (size_t i = 0; i < c->nhomes; i++)
		free(c->homes[i]);
	for (size_t i = 0; i < c->nown; i++)
		free(c->own[i]);
	c->nhomes = 0;
	c->nown = 0;
}
