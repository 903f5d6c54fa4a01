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
#include "agent/tool.h"
#include "executor/shared/ak_err.h"

#define NAMES_MAX 50u
#define NOTHING "Nothing to roll back \xe2\x80\x94 no files have been modified."

static void put_names(const struct ak_change_set *s, const char *title, struct ak_buf *b)
{
	struct ak_change c = { 0 };
	size_t pos = 0, n = 0;

	while (n < NAMES_MAX && ak_change_next(s->data, s->len, &pos, &c) == 1) {
		ak_buf_printf(b, "%s%s %s", n++ ? "\n" : title, ak_change_op_name(c.op), c.path);
	}
	if (n < s->total)
		ak_buf_printf(b, "\n... and %" PRIu64 " more", s->total - n);
}

static int tell(struct tool_run *r, uint64_t turn, const struct ak_change_set *before, const struct ak_change_set *after)
{
	struct ak_buf b = { 0 };
	int rc;

	if (turn == 0)
		ak_buf_printf(&b, "Rolled back %" PRIu64 " file(s) to their pre-edit state.", before->total);
	else
		ak_buf_printf(&b, "Rolled back to the state before turn %" PRIu64 "; %" PRIu64 " file(s) are changed now.", turn, after->total);
	ak_buf_str(&b, " The shell was started anew, and background jobs have ended.");
	put_names(before, "\nWhat had been changed until then:\n", &b);
	rc = b.failed ? -ENOMEM : tool_finish(r, false, &(struct tool_piece){ b.data, b.len }, 1);
	ak_buf_release(&b);
	return rc;
}

static int go_back(struct tool_run *r, uint64_t turn, uint32_t point)
{
	struct ak_change_set before = { 0 }, after = { 0 };
	struct ak_client *cl = r->env->xc->cl;
	struct ak_err err = { 0 };
	int rc = ak_changes(cl, 0, 0, &before, &err);

	if (rc < 0)
		return tool_failed(r, rc, NULL, &err);
	if (before.total == 0 && turn == 0) {
		ak_change_set_release(&before);
		return tool_say(r, false, NOTHING);
	}
	rc = ak_restore(cl, 0, point, AK_FINISH_FORCE, &after, &err);
	/* whatever came of it, the sandbox has ended */
	r->env->xc->sandbox = 0;
	r->env->sandbox_dead = true;
	rc = rc < 0 ? tool_failed(r, rc, NULL, &err) : tell(r, turn, &before, &after);
	ak_change_set_release(&before);
	ak_change_set_release(&after);
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
		return tool_say(r, false, NOTHING);
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
