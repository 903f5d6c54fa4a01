/* SPDX-License-Identifier: Apache-2.0 */
/* edit_file: an exact replacement in a file of the sandbox. Process: agent. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/edit_text.h"
#include "agent/json.h"
#include "agent/tool.h"
#include "executor/shared/ak_err.h"

static int tell_miss(struct tool_run *r, const char *shown, int rc, const struct edit_found *f)
{
	if (rc == -EINVAL)
		return tool_say(r, true, "%s: old is empty or equal to new; nothing was changed", shown);
	if (rc == -ENOTUNIQ)
		return tool_say(r, true, "%s: old stands there %zu times; nothing was changed. Give more of the text around it, or replace_all",
				shown, f->count);
	if (f->near_line)
		return tool_say(r, true, "%s: old was not found; nothing was changed. A text that differs in white space only is at line %" PRIu64,
				shown, f->near_line);
	return tool_say(r, true, "%s: old was not found; nothing was changed", shown);
}

static int edit(struct tool_run *r, uint32_t box, const char *path, const char *shown, const struct ak_bytes *file)
{
	const char *old = json_str(json_get(r->args, "old"));
	const char *new = json_str(json_get(r->args, "new"));
	struct ak_buf out = { 0 };
	struct edit_found found;
	struct ak_err err = { 0 };
	int rc;

	if (file->more || file->st.size > TOOL_EDIT_MAX)
		return tool_say(r, true, "%s has %" PRIu64 " bytes, too many to edit: use bash", shown, file->st.size);
	if (tool_marks(new, strlen(new)) > tool_marks(old, strlen(old)))
		return tool_say(r, true, "%s: new holds " REDACT_MARK " where a secret was masked; nothing was changed", shown);
	rc = edit_text((const char *)file->data, file->len, old, new, json_true(json_get(r->args, "replace_all")), &out, &found);
	if (rc == -ENOMEM)
		return rc;
	if (rc < 0)
		return tell_miss(r, shown, rc, &found);
	rc = ak_file_write(r->env->xc->cl, box, path, out.data ? out.data : "", out.len, file->st.mode, 0, &err);
	ak_buf_release(&out);
	if (rc < 0)
		return tool_failed(r, rc, shown, &err);
	return tool_say(r, false, "Replaced %zu occurrence(s) in %s.", found.count, shown);
}

static int edit_start(struct tool_run *r)
{
	const char *shown = json_str(json_get(r->args, "path"));
	struct ak_bytes file = { 0 };
	struct ak_err err = { 0 };
	uint32_t box = 0;
	char *path = NULL;
	int rc = tool_place(r, shown, &path, &box);

	if (rc == 0) {
		rc = ak_file_read(r->env->xc->cl, box, path, 0, TOOL_EDIT_MAX, &file, &err);
		rc = rc < 0 ? tool_failed(r, rc, shown, &err) : edit(r, box, path, shown, &file);
		ak_bytes_release(&file);
	}
	free(path);
	return rc < 0 ? rc : 0;
}

const struct tool tool_edit_file = {
	.name = "edit_file",
	.description = "Replace a text in a file. old must be exactly what stands there, white space too, and stand there once; with "
		       "replace_all every place is replaced.",
	.schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"old\":{\"type\":\"string\"},"
		  "\"new\":{\"type\":\"string\"},\"replace_all\":{\"type\":\"boolean\"}},\"required\":[\"path\",\"old\",\"new\"],"
		  "\"additionalProperties\":false}",
	.start = edit_start,
};
