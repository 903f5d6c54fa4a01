/* SPDX-License-Identifier: Apache-2.0 */
/* Lines about changes that cannot be taken over. Pure; process: executor or its child. */
#include "executor/workspace/apply_text.h"

#include <errno.h>
#include <stdio.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/workspace/apply.h"
#include "executor/workspace/journal.h"
#include "executor/workspace/visible.h"

/* a ".git" that is not what it was is named instead of all that was in it */
static void add_name(const struct apply *a, size_t i, struct ak_buf *out)
{
	char path[WS_PATH_MAX + 1] AK_UNINIT;
	unsigned op;
	size_t n = journal_whole(a->j, i, &op);

	(void)snprintf(path, sizeof(path), "%.*s", n > 0 ? (int)n : (int)WS_PATH_MAX, a->j->v[i].path);
	visible_quote(out, path);
	if (a->j->v[i].by && a->state[i] == APPLY_PROTECTED) {
		ak_buf_str(out, " (by ");
		visible_quote(out, a->j->v[i].by);
		ak_buf_str(out, ")");
	}
}

static void add_names(const struct apply *a, enum apply_state state, struct ak_buf *out)
{
	size_t shown = 0, count = state == APPLY_PROTECTED ? apply_held(a) : a->n[state];

	for (size_t i = 0; i < a->j->n && shown < APPLY_NAMES_SHOWN; i++) {
		if (a->state[i] != state || (state == APPLY_PROTECTED && journal_follows(a->j, i) && a->state[i - 1] == state))
			continue;
		ak_buf_str(out, shown++ ? ", " : " ");
		add_name(a, i, out);
	}
	if (count > shown)
		ak_buf_printf(out, " and %zu more", count - shown);
}

int apply_refuse(const struct apply *a, const char *id, struct ak_err *err)
{
	size_t conflicts = a->n[APPLY_CONFLICT], held = apply_held(a);
	struct ak_buf b = { 0 };
	int code = conflicts ? EBUSY : EPERM;

	ak_buf_str(&b, "nothing was applied:");
	if (conflicts) {
		ak_buf_printf(&b, " %zu path%s changed outside meanwhile:", conflicts, conflicts == 1 ? " was" : "s were");
		add_names(a, APPLY_CONFLICT, &b);
	}
	if (held) {
		ak_buf_printf(&b, "%s %zu protected name%s:", conflicts ? ";" : "", held, held == 1 ? "" : "s");
		add_names(a, APPLY_PROTECTED, &b);
	}
	(void)ak_err_set(err, code, "%s", b.failed ? "nothing was applied" : b.data);
	ak_buf_release(&b);
	ak_err_hint(err, "the changes are kept: `ak diff %s` shows them, `ak apply %s` takes them (%s)", id, id,
		    conflicts ? "--force takes those in conflict too" : "--allow-protected NAME takes a protected one too");
	return -code;
}

size_t apply_special(const struct journal *j, struct ak_buf *out)
{
	size_t n = 0, shown = 0;

	for (size_t i = 0; i < j->n; i++)
		n += (j->v[i].flags & CHANGE_SPECIAL) != 0;
	if (n == 0)
		return 0;
	ak_buf_printf(out, "%zu special file%s not taken over:", n, n == 1 ? " was" : "s were");
	for (size_t i = 0; i < j->n && shown < APPLY_NAMES_SHOWN; i++) {
		if (!(j->v[i].flags & CHANGE_SPECIAL))
			continue;
		ak_buf_str(out, shown++ ? ", " : " ");
		visible_quote(out, j->v[i].path);
	}
	if (n > shown)
		ak_buf_printf(out, " and %zu more", n - shown);
	return n;
}
