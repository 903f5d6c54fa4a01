/* SPDX-License-Identifier: Apache-2.0 */
/* A kept changeset that is worked on once more. Process and privilege: see changeset_again.h. */
#include "executor/workspace/changeset_again.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_no_space.h"

int changeset_again(const struct changeset *cs, struct ak_err *err)
{
	int r = 0;

	if (changeset_has(cs, "applying")) {
		(void)ak_err_set(err, EBUSY, "the changes %s were taken over in part", cs->id);
		ak_err_hint(err, "`ak apply %s` goes on with that, `ak discard %s` throws the rest away", cs->id, cs->id);
		return -EBUSY;
	}
	/* a run that was killed has left none; what an earlier one knew counts then */
	if (renameat(cs->dir, "journal", cs->dir, CHANGESET_BEFORE) < 0 && errno != ENOENT)
		r = ak_err_sys(err, errno, "open the changeset %s again", cs->id);
	ak_no_space(r < 0 ? err : NULL, AK_STATE_NO_SPACE_KEPT_FMT, cs->id);
	return r;
}

int changeset_remember(const struct changeset *cs, struct journal *j, struct ak_err *err)
{
	struct journal before = { 0 };
	int r = changeset_has(cs, CHANGESET_BEFORE) ? changeset_load_as(cs, CHANGESET_BEFORE, &before, err) : -ENOENT;

	if (r == -ENOENT || r == -EBADMSG)
		return 0;
	for (size_t i = 0; r == 0 && i < j->n; i++) {
		struct change *c = &j->v[i];
		const struct change *b = c->old.mode ? NULL : journal_find(&before, c->path);

		if (!b || !b->old.mode)
			continue;
		c->old = b->old;
		c->op = (c->now.mode & S_IFMT) == (b->old.mode & S_IFMT) ? CHANGE_MODIFIED : CHANGE_TYPE;
	}
	journal_release(&before);
	return r;
}
