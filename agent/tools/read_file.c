/* SPDX-License-Identifier: Apache-2.0 */
/* read_file: lines of a text, whatever the file turns out to be. Process: agent. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/tool.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define CHUNK (1u << 20)
#define LOOK 8192u		/* bytes that are looked at for NUL */
#define TEXT_MAX (4u << 20)	/* bytes of lines that are collected; far more than is shown */

/* where in the file we are, and what has been found */
struct reading {
	uint64_t from, to;	/* lines wanted: from <= line < to, counted from 1 */
	uint64_t line;		/* the one that the next byte belongs to */
	uint64_t shown;		/* lines in @text */
	struct ak_buf text;
	bool full;		/* what is wanted is there, and the file goes on */
	bool binary, utf16;
	uint64_t size;
};

static void look(struct reading *g, const uint8_t *p, size_t n)
{
	size_t part = n < LOOK ? n : LOOK;

	g->utf16 = n >= 2 && ((p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff));
	g->binary = memchr(p, '\0', part) != NULL;
}

/* lines of one chunk */
static void take(struct reading *g, const uint8_t *p, size_t n)
{
	while (n > 0) {
		const uint8_t *nl = memchr(p, '\n', n);
		size_t len = nl ? (size_t)(nl - p) + 1 : n;

		if (g->line >= g->to || g->text.len > TEXT_MAX) {
			g->full = true;
			return;
		}
		if (g->line >= g->from) {
			ak_buf_add(&g->text, p, len);
			g->shown += nl != NULL;
		}
		g->line += nl != NULL;
		p += len;
		n -= len;
	}
}

/* Return: 0; 1: told; -ENOMEM, -ECONNRESET */
static int read_lines(struct tool_run *r, uint32_t box, const char *path, const char *shown, struct reading *g)
{
	uint64_t at = 0;

	while (!g->full && at < TOOL_READ_MAX) {
		struct ak_bytes b = { 0 };
		struct ak_err err = { 0 };
		int rc = ak_file_read(r->env->xc->cl, box, path, at, CHUNK, &b, &err);
		bool more = b.more;

		if (rc < 0) {
			rc = tool_failed(r, rc, shown, &err);
			return rc < 0 ? rc : 1;
		}
		g->size = b.st.size;
		if (at == 0)
			look(g, b.data, b.len);
		if (!g->binary && !g->utf16)
			take(g, b.data, b.len);
		at += b.len;
		rc = b.len == 0 || !more || g->binary || g->utf16;
		ak_bytes_release(&b);
		if (rc)
			return g->text.failed ? -ENOMEM : 0;
	}
	g->full = true;
	return g->text.failed ? -ENOMEM : 0;
}

static int tell(struct tool_run *r, const char *shown, struct reading *g)
{
	if (g->utf16)
		return tool_say(r, true, "%s is UTF-16 text, %" PRIu64 " bytes; iconv in bash makes UTF-8 of it", shown, g->size);
	if (g->binary)
		return tool_say(r, true, "%s is a binary file, %" PRIu64 " bytes; use bash to look at it (file, xxd)", shown, g->size);
	if (g->size == 0)
		return tool_say(r, false, "(empty file)");
	if (g->text.len == 0)
		return tool_say(r, true, "%s has no line %" PRIu64 "; it has %" PRIu64, shown, g->from, g->line);
	if (!ak_utf8_valid(g->text.data, g->text.len))
		ak_buf_str(&g->text, "\n[some bytes are not UTF-8 and are shown as \xef\xbf\xbd]");
	if (g->full)
		ak_buf_printf(&g->text, "%s[lines %" PRIu64 " to %" PRIu64 " of a file of %" PRIu64 " bytes; the rest follows with offset %" PRIu64 "]",
			      g->text.data[g->text.len - 1] == '\n' ? "" : "\n", g->from, g->from + (g->shown ? g->shown - 1 : 0), g->size,
			      g->from + g->shown);
	return g->text.failed ? -ENOMEM : tool_finish(r, false, &(struct tool_piece){ g->text.data, g->text.len }, 1);
}

static int read_start(struct tool_run *r)
{
	const char *shown = json_str(json_get(r->args, "path"));
	uint64_t limit = TOOL_LINES;
	struct reading g = { .from = 1, .line = 1, .text.max = 2u * TEXT_MAX + CHUNK };
	uint32_t box = 0;
	char *path = NULL;
	int rc = tool_place(r, shown, &path, &box);

	(void)json_opt_u64(r->args, "offset", &g.from, NULL);
	(void)json_opt_u64(r->args, "limit", &limit, NULL);
	g.to = limit < UINT64_MAX - g.from ? g.from + limit : UINT64_MAX;
	if (rc == 0)
		rc = read_lines(r, box, path, shown, &g);
	if (rc == 0)
		rc = tell(r, shown, &g);
	ak_buf_release(&g.text);
	free(path);
	return rc < 0 ? rc : 0;
}

const struct tool tool_read_file = {
	.name = "read_file",
	.description = "Show lines of a text file as they are. Long output is cut in the middle: ask for fewer lines then.",
	.schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
		  "\"offset\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"first line, from 1\"},"
		  "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"number of lines, 2000 if not given\"}},"
		  "\"required\":[\"path\"],\"additionalProperties\":false}",
	.start = read_start,
};
