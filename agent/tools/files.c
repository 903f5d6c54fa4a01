/* SPDX-License-Identifier: Apache-2.0 */
/* write_file, list_dir, file_info: files as the sandbox's own init serves them. Process: agent. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/json.h"
#include "agent/tool.h"
#include "executor/shared/ak_err.h"

#define NEW_FILE_MODE 0644u

/* Marks that the text holds and the file does not: then a secret would be overwritten by its mask. Return: as tool_say(), 1: fine */
static int check_marks(struct tool_run *r, uint32_t box, const char *path, const char *shown, const char *text, size_t len)
{
	size_t marks = tool_marks(text, len);
	struct ak_bytes old = { 0 };
	size_t there = 0;

	if (marks == 0)
		return 1;
	if (ak_file_read(r->env->xc->cl, box, path, 0, AK_FILE_MAX, &old, NULL) == 0)
		there = tool_marks((const char *)old.data, old.len);
	ak_bytes_release(&old);
	if (there >= marks)
		return 1;
	return tool_say(r, true, "%s: the text holds " REDACT_MARK " where a secret was masked; nothing was written. Change the rest of "
			"the file with edit_file, or get the value from where it is kept", shown);
}

static int write_it(struct tool_run *r, uint32_t box, const char *path, const char *shown, const char *text, size_t len)
{
	struct ak_file_reply st = { 0 };
	struct ak_err err = { 0 };
	unsigned mode = NEW_FILE_MODE;
	int rc = check_marks(r, box, path, shown, text, len);

	if (rc != 1)
		return rc;
	if (ak_file_stat(r->env->xc->cl, box, path, &st, NULL) == 0 && st.kind == AK_KIND_FILE)
		mode = st.mode;
	rc = ak_file_write(r->env->xc->cl, box, path, text, len, mode, AK_FILE_PARENTS, &err);
	if (rc < 0)
		return tool_failed(r, rc, shown, &err);
	return tool_say(r, false, "Wrote %zu bytes to %s", len, shown);
}

static int write_start(struct tool_run *r)
{
	const char *shown = json_str(json_get(r->args, "path"));
	const char *text = json_str(json_get(r->args, "content"));
	size_t len = strlen(text);
	uint32_t box = 0;
	char *path = NULL;
	int rc;

	if (len > AK_FILE_MAX)
		return tool_say(r, true, "%s: %zu bytes are too many for one write", shown, len);
	if (shown[0] && shown[strlen(shown) - 1] == '/')
		return tool_say(r, true, "%s names a folder", shown);
	rc = tool_place(r, shown, &path, &box);
	if (rc == 0)
		rc = write_it(r, box, path, shown, text, len);
	free(path);
	return rc < 0 ? rc : 0;
}

const struct tool tool_write_file = {
	.name = "write_file",
	.description = "Write a whole file. Missing folders are made; an existing file is replaced and keeps its mode.",
	.schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"content\":{\"type\":\"string\"}},"
		  "\"required\":[\"path\",\"content\"],\"additionalProperties\":false}",
	.start = write_start,
};

/* ---- list_dir ---- */

struct name {
	const char *text; /* points into the data */
	uint32_t kind;
	uint64_t size;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* a name may hold anything but NUL and a slash: what would look like more than one entry is shown as ? */
static void put_name(struct ak_buf *b, const char *text)
{
	char clean[260];

	(void)snprintf(clean, sizeof(clean), "%s", text);
	ak_text_clean(clean);
	ak_buf_str(b, clean);
}

static void put_entry(struct ak_buf *b, const struct name *n)
{
	if (b->len > 0)
		ak_buf_str(b, "\n");
	put_name(b, n->text);
	if (n->kind == AK_KIND_DIR)
		ak_buf_str(b, "/");
	else if (n->kind == AK_KIND_LINK)
		ak_buf_str(b, "@");
	else if (n->kind == AK_KIND_FILE)
		ak_buf_printf(b, "  %" PRIu64, n->size);
	else
		ak_buf_str(b, "  (special file)");
}

static int tell_list(struct tool_run *r, const struct ak_bytes *data)
{
	struct name *v = calloc((size_t)data->st.entries + 1, sizeof(*v));
	struct ak_buf text = { 0 };
	struct ak_entry e = { 0 };
	size_t n = 0, pos = 0;
	int rc;

	if (!v)
		return -ENOMEM;
	while (n < data->st.entries && ak_entry_next(data->data, data->len, &pos, &e) == 1)
		v[n++] = (struct name){ e.name, e.kind, e.size };
	qsort(v, n, sizeof(*v), by_name);
	for (size_t i = 0; i < n && i < TOOL_LIST_MAX; i++)
		put_entry(&text, &v[i]);
	if (n > TOOL_LIST_MAX || data->more)
		ak_buf_printf(&text, "\n[%zu%s entries are not shown]", n > TOOL_LIST_MAX ? n - TOOL_LIST_MAX : 0, data->more ? " or more" : "");
	if (n == 0)
		ak_buf_str(&text, "(empty folder)");
	free(v);
	rc = text.failed ? -ENOMEM : tool_finish(r, false, &(struct tool_piece){ text.data, text.len }, 1);
	ak_buf_release(&text);
	return rc;
}

static int list_start(struct tool_run *r)
{
	const char *shown = json_str(json_get(r->args, "path"));
	struct ak_bytes data = { 0 };
	struct ak_err err = { 0 };
	uint32_t box = 0;
	char *path = NULL;
	int rc = tool_place(r, shown, &path, &box);

	if (rc == 0) {
		rc = ak_file_list(r->env->xc->cl, box, path, false, 0, &data, &err);
		rc = rc < 0 ? tool_failed(r, rc, shown, &err) : tell_list(r, &data);
		ak_bytes_release(&data);
	}
	free(path);
	return rc < 0 ? rc : 0;
}

const struct tool tool_list_dir = {
	.name = "list_dir",
	.description = "List a folder: names in order, with / behind folders, @ behind links, the size in bytes behind files.",
	.schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\". is the workspace\"}},"
		  "\"required\":[\"path\"],\"additionalProperties\":false}",
	.start = list_start,
};

/* ---- file_info ---- */

static int tell_info(struct tool_run *r, const char *shown, const struct ak_file_reply *st)
{
	static const char *const kinds[AK_KIND_END] = { "nothing", "file", "folder", "link", "special file" };
	time_t sec = (time_t)(st->mtime_ns / 1000000000);
	char when[40] = "unknown";
	struct tm tm;

	if (gmtime_r(&sec, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return tool_say(r, false, "%s: %s, %" PRIu64 " bytes, mode %04o, modified %s", shown,
			kinds[st->kind < AK_KIND_END ? st->kind : AK_KIND_OTHER], st->size, st->mode, when);
}

static int info_start(struct tool_run *r)
{
	const char *shown = json_str(json_get(r->args, "path"));
	struct ak_file_reply st = { 0 };
	struct ak_err err = { 0 };
	uint32_t box = 0;
	char *path = NULL;
	int rc = tool_place(r, shown, &path, &box);

	if (rc == 0) {
		rc = ak_file_stat(r->env->xc->cl, box, path, &st, &err);
		rc = rc < 0 ? tool_failed(r, rc, shown, &err) : tell_info(r, shown, &st);
	}
	free(path);
	return rc < 0 ? rc : 0;
}

const struct tool tool_file_info = {
	.name = "file_info",
	.description = "Kind, size, mode and time of a file or folder.",
	.schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"],"
		  "\"additionalProperties\":false}",
	.start = info_start,
};
