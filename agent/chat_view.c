/* SPDX-License-Identifier: Apache-2.0 */
/* What `ak chat` shows. Process: agent. Privilege: none. */
#include "agent/chat_view.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/json.h"
#include "agent/money.h"
#include "agent/show.h"
#include "agent/tool.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"

#define COLUMNS 80u
#define LINE_BYTES 4096u /* of a text that are looked at for one line */

unsigned chat_view_columns(void)
{
	struct winsize w = { 0 };

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : COLUMNS;
}

void chat_view_cut(const char *text, size_t len, size_t columns, struct ak_buf *out)
{
	struct ak_buf shown = { 0 };
	size_t used = 0, i = 0;

	columns = columns < SHOW_WIDTH_MIN ? SHOW_WIDTH_MIN : columns;
	show_text(text, len < LINE_BYTES ? len : LINE_BYTES, SHOW_LINE, &shown, NULL);
	if (shown.data && show_columns(shown.data, shown.len) + (len > LINE_BYTES) <= columns) {
		ak_buf_add(out, shown.data, shown.len);
	} else if (shown.data) {
		while (i < shown.len) {
			size_t n = ak_utf8_seq(shown.data + i, shown.len - i);

			n = n ? n : 1;
			used += show_columns(shown.data + i, n);
			if (used > columns - 3)
				break;
			i += n;
		}
		ak_buf_add(out, shown.data, i);
		ak_buf_str(out, "...");
	}
	ak_buf_release(&shown);
}

/* ---- text ---- */

static void put(int fd, const struct ak_buf *b)
{
	if (b->len && !b->failed)
		(void)ak_write_all(fd, b->data, b->len);
}

static void say_text(struct chat_view *v, const char *text, size_t len)
{
	struct ak_buf b = { 0 };

	if (len == 0)
		return;
	show_text(text, len, SHOW_PROSE, &b, NULL);
	put(STDOUT_FILENO, &b);
	if (b.len)
		v->middle = b.data[b.len - 1] != '\n';
	v->shown = true;
	ak_buf_release(&b);
}

static void on_delta(void *ctx, enum delta_kind kind, const char *text)
{
	if (kind == DELTA_TEXT)
		say_text(ctx, text, strlen(text));
}

static void on_line(void *ctx)
{
	struct chat_view *v = ctx;

	if (v->middle)
		(void)ak_write_all(STDOUT_FILENO, "\n", 1);
	v->middle = false;
	v->shown = false; /* what follows a line of ours is another text */
}

static void put_time(struct ak_buf *b, uint64_t ms)
{
	ak_buf_printf(b, "%" PRIu64 ".%" PRIu64 " s", ms / 1000, ms % 1000 / 100);
}

static void on_assistant(void *ctx, const struct msg *m, uint64_t turn, const struct usage *u)
{
	struct chat_view *v = ctx;
	char cost[MONEY_TEXT] = "unknown";
	struct ak_buf b = { 0 };

	/* it came in one piece */
	if (!v->shown && m->text)
		say_text(v, m->text, m->text_len);
	on_line(v);
	if (u->cost_source != COST_NONE)
		(void)money_format(u->cost_picousd, 4, cost);
	ak_buf_printf(&b, "ak: turn %" PRIu64 ": %" PRIu64 " tokens in, %" PRIu64 " out, $%s%s, ", turn, u->prompt_total, u->output, cost,
		      u->estimated ? " (estimated)" : "");
	put_time(&b, tool_now_ms() - v->since_ms);
	ak_buf_str(&b, "\n");
	if (!v->quiet)
		put(STDERR_FILENO, &b);
	ak_buf_release(&b);
	v->since_ms = tool_now_ms();
}

/* ---- calls ---- */

/* what a call is about, in a word or two */
static const char *subject(const struct tool_call *c, const struct cJSON *args)
{
	static const char *const members[] = { "command", "path", "pattern", "action" };
	const char *text = NULL;

	for (size_t i = 0; !text && i < sizeof(members) / sizeof(members[0]); i++)
		text = json_str(json_get(args, members[i]));
	return text ? text : c->args;
}

static void on_started(void *ctx, const struct tool_call *c, const struct cJSON *args)
{
	struct chat_view *v = ctx;
	const char *about = subject(c, args);
	struct ak_buf b = { 0 };

	on_line(v);
	ak_buf_printf(&b, "ak:   %s: ", c->name);
	chat_view_cut(about, strlen(about), chat_view_columns() - b.len, &b);
	ak_buf_str(&b, "\n");
	if (!v->quiet)
		put(STDERR_FILENO, &b);
	ak_buf_release(&b);
}

static size_t lines_of(const char *text, size_t len)
{
	size_t n = len > 0;

	for (size_t i = 0; i + 1 < len; i++)
		n += text[i] == '\n';
	return n;
}

static void on_ended(void *ctx, const struct tool_call *c, const struct tool_run *r)
{
	struct chat_view *v = ctx;
	const char *text = r->text.data ? r->text.data : "";
	size_t first = strcspn(text, "\n"), lines = lines_of(text, r->text.len);
	struct ak_buf b = { 0 }, name = { 0 };

	on_line(v);
	/* a name that no tool has is the model's text */
	chat_view_cut(c->name, strlen(c->name), SHOW_WIDTH_MIN, &name);
	ak_buf_printf(&b, "ak:   %s %s", r->is_error ? "failed:" : "done:", name.data ? name.data : "");
	if (r->start_ms) {
		ak_buf_str(&b, ", ");
		put_time(&b, r->duration_ms ? r->duration_ms : tool_now_ms() - r->start_ms);
	}
	if (lines > 1)
		ak_buf_printf(&b, ", %zu lines", lines);
	ak_buf_str(&b, ": ");
	chat_view_cut(text, first, chat_view_columns() > b.len ? chat_view_columns() - b.len : 0, &b);
	ak_buf_str(&b, "\n");
	if (!v->quiet)
		put(STDERR_FILENO, &b);
	ak_buf_release(&b);
	ak_buf_release(&name);
	v->since_ms = tool_now_ms();
}

/* ---- the whole ---- */

void chat_view_init(struct chat_view *v, bool quiet)
{
	*v = (struct chat_view){ .view = { .delta = on_delta, .assistant = on_assistant, .call_started = on_started,
					   .call_ended = on_ended, .line = on_line },
				 .quiet = quiet };
	v->view.ctx = v;
}

void chat_view_begin(struct chat_view *v)
{
	v->middle = v->shown = false;
	v->since_ms = tool_now_ms();
}

void chat_view_end(struct chat_view *v)
{
	on_line(v);
}
