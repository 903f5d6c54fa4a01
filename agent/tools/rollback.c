/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollback: the copy of the workspace as it was before a turn, whoever has changed it; of a workspace that is written directly, the files
 * that write_file and edit_file have changed. Process: agent. Privilege: none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/json.h"
#include "agent/points.h"
#include "agent/since.h"
#include "agent/tool.h"
#include "executor/shared/ak_err.h"

#define NOTHING "Nothing to roll back \xe2\x80\x94 no files have been modified."

static int mtime_of(void *ctx, const char *path, int64_t *ret)
{
	const struct exec_client *xc = ctx;
	struct ak_file_reply st;
	int rc = xc->sandbox ? ak_file_stat(xc->cl, xc->sandbox, path, &st, NULL) : -ENOENT;

	if (rc == 0)
		*ret = st.mtime_ns;
	return rc;
}

/* what is still there of the runs before this one, and was not taken over */
static void put_earlier(const struct tool_run *r, uint64_t total, struct ak_buf *b)
{
	if (r->env->points->again && total)
		ak_buf_printf(b, " %" PRIu64 " change(s) of earlier runs of this session, not taken over yet, stay.", total);
}

static int say(struct tool_run *r, struct ak_buf *b)
{
	int rc = b->failed ? -ENOMEM : tool_finish(r, false, &(struct tool_piece){ b->data, b->len }, 1);

	ak_buf_release(b);
	return rc;
}

static int tell(struct tool_run *r, uint64_t turn, const struct since *s, const struct ak_change_set *after)
{
	struct ak_buf b = { 0 };

	if (turn)
		ak_buf_printf(&b, "Rolled back to the state before turn %" PRIu64 "; %" PRIu64 " file(s) are changed now.", turn, after->total);
	else if (s->unsure)
		ak_buf_str(&b, "Rolled back to the state at the start of this run.");
	else if (s->n)
		ak_buf_printf(&b, "Rolled back %" PRIu64 " file(s) to their pre-edit state.", s->n);
	else
		ak_buf_str(&b, NOTHING);
	if (turn == 0)
		put_earlier(r, after->total, &b);
	ak_buf_str(&b, " The shell was started anew, and background jobs have ended.");
	if (s->n)
		ak_buf_printf(&b, "\nWhat had been changed until then:%s", s->names.data ? s->names.data : "");
	if (s->n > SINCE_NAMES_MAX)
		ak_buf_printf(&b, "\n... and %" PRIu64 " more", s->n - SINCE_NAMES_MAX);
	return say(r, &b);
}

static int say_nothing(struct tool_run *r, uint64_t total)
{
	struct ak_buf b = { 0 };

	ak_buf_str(&b, NOTHING);
	put_earlier(r, total, &b);
	return say(r, &b);
}

/* the run has begun nothing that could change anything */
static int nothing(struct tool_run *r)
{
	struct ak_change_set now = { 0 };
	int rc;

	if (r->env->points->again)
		(void)ak_changes(r->env->xc->cl, 0, 1, &now, NULL);
	rc = say_nothing(r, now.total);
	ak_change_set_release(&now);
	return rc;
}

static int restore(struct tool_run *r, uint64_t turn, uint32_t point, const struct since *s)
{
	struct ak_change_set after = { 0 };
	struct ak_err err = { 0 };
	int rc = ak_restore(r->env->xc->cl, 0, point, AK_FINISH_FORCE, &after, &err);

	/* whatever came of it, the sandbox has ended */
	r->env->xc->sandbox = 0;
	r->env->sandbox_dead = true;
	rc = rc < 0 ? tool_failed(r, rc, NULL, &err) : tell(r, turn, s, &after);
	ak_change_set_release(&after);
	return rc;
}

static int go_back(struct tool_run *r, uint64_t turn, uint32_t point)
{
	const struct points *p = r->env->points;
	struct ak_change_set before = { 0 };
	struct since_files files = { mtime_of, r->env->xc };
	struct since s = { 0 };
	struct ak_err err = { 0 };
	int rc = ak_changes(r->env->xc->cl, 0, 0, &before, &err);

	if (rc < 0)
		return tool_failed(r, rc, NULL, &err);
	/* a run on the workspace itself begins with no changes */
	rc = since_compare(&p->base, p->again ? p->base_ns : 0, &before, &files, &s);
	if (rc == 0 && !p->again) {
		s.n = before.total; /* of all, also of those that are not named */
		s.unsure = false;
	}
	if (rc < 0)
		rc = -ENOMEM;
	else if (turn == 0 && s.n == 0 && before.total == 0 && !s.unsure)
		rc = say_nothing(r, 0);
	else
		rc = restore(r, turn, point, &s);
	since_release(&s);
	ak_change_set_release(&before);
	return rc;
}

static int take_back(struct tool_run *r, uint64_t turn)
{
	struct ak_touched t = { 0 };
	struct ak_err err = { 0 };
	int rc;

	if (turn)
		return tool_say(r, true, "the workspace is written directly: rollback takes back all that write_file and edit_file have changed, "
				"so leave out to");
	if (!r->env->keeps)
		return tool_say(r, true, "nothing is kept to roll back to in this run");
	rc = ak_rollback(r->env->xc->cl, 0, &t, &err);
	if (rc < 0)
		return tool_failed(r, rc, NULL, &err);
	if (t.pending == 0)
		return tool_say(r, false, NOTHING);
	return tool_say(r, false, "Rolled back %" PRIu64 " file(s) to their pre-edit state.", t.count);
}

static int rollback_start(struct tool_run *r)
{
	uint64_t turn = 0;
	uint32_t point;

	(void)json_opt_u64(r->args, "to", &turn, NULL);
	if (!r->env->alone)
		return tool_say(r, true, "%s", r->env->xc->write == AK_WRITE_DIRECT ? "call rollback alone in its turn"
									     : "rollback ends everything that runs: call it alone in its turn");
	if (r->env->xc->write == AK_WRITE_DIRECT)
		return take_back(r, turn);
	point = points_find(r->env->points, turn);
	if (point == 0 && turn)
		return tool_say(r, true, "there is no state before turn %" PRIu64 " to go back to", turn);
	if (point == 0)
		return nothing(r);
	return go_back(r, turn, point);
}

const struct tool tool_rollback = {
	.name = "rollback",
	.description = "Undo every change in the workspace since the run began, whatever has made it; with to: since the turn of that "
		       "number began. Ends everything that runs in the sandbox.",
	.schema = "{\"type\":\"object\",\"properties\":{\"to\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"number of a turn\"}},"
		  "\"additionalProperties\":false}",
	.direct_description = "Undo what write_file and edit_file have changed in the workspace since the run began: the files are as they were "
			      "before, new ones are removed. What commands have changed stays.",
	.writable_only = true,
	.start = rollback_start,
};
