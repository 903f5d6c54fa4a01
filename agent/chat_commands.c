/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of `ak chat`: what begins with a slash. Process: agent. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/chat.h"
#include "agent/chat_int.h"
#include "agent/cli/run_int.h"
#include "agent/json.h"
#include "agent/money.h"
#include "agent/show.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_parse.h"

static void put(const struct ak_buf *b)
{
	if (b->len && !b->failed)
		(void)ak_write_all(STDOUT_FILENO, b->data, b->len);
}

/* Return: false: it is told */
static bool has_copy(struct run *r, const char *name)
{
	if (r->xc.write == AK_WRITE_COW)
		return true;
	run_out_warn(&r->out, "%s: the workspace is no copy here (--write %s), so there is no changeset to look at", name,
		     xc_write_name(r->xc.write));
	return false;
}

/* Return: does the chat go on? */
static bool failed(struct run *r, const char *name, int rc, const struct ak_err *err)
{
	if (rc == -ECONNRESET || cancel_came(&r->cancel)) {
		int what = cancel_take(&r->cancel);

		if (rc != -ECONNRESET && what == SIGINT)
			return true;
		r->result.end = what > 0 ? RUN_INTERRUPTED : RUN_SANDBOX;
		r->result.signal = what > 0 ? what : 0;
		(void)ak_err_set(&r->result.err, ECONNRESET, what > 0 ? "interrupted by a signal" : "the executor is gone");
		return false;
	}
	run_out_warn(&r->out, "%s: %s%s%s%s", name, err->msg, err->hint[0] ? " (" : "", err->hint, err->hint[0] ? ")" : "");
	return true;
}

/* ---- /help, /tools, /cost ---- */

static void help(void)
{
	struct ak_buf b = { 0 };
	const struct chat_row *row;

	for (size_t i = 0; (row = chat_row_at(i)) != NULL; i++)
		ak_buf_printf(&b, "  %-9s %-6s  %s\n", row->name, row->arg ? row->arg : "", row->text);
	ak_buf_str(&b, "A line that ends with \\ goes on in the next one, as does Alt-Enter; a paste is one message. Begin with a space to send a\n"
		       "message that looks like a command. Ctrl-C stops the model, or drops what was typed; in an empty line it ends the chat.\n");
	put(&b);
	ak_buf_release(&b);
}

static void list_tools(const struct run *r)
{
	struct ak_buf b = { 0 };

	for (size_t i = 0; i < r->loop.ntools; i++) {
		const struct tool_def *t = &r->loop.tools[i];
		bool gated = approve_gated(t->name, NULL);

		ak_buf_printf(&b, "  %-12s%s %.*s\n", t->name, gated ? " [gated]" : "        ", (int)strcspn(t->description, "."), t->description);
	}
	ak_buf_printf(&b, "Approval of what is gated: %s\n", gate_name(&r->gate));
	put(&b);
	ak_buf_release(&b);
}

static void tell_cost(const struct chat *c, const struct run *r)
{
	const struct usage *u = &c->total;
	uint64_t ms = tool_now_ms() - r->start_ms;
	char cost[MONEY_TEXT] = "unknown";
	struct ak_buf b = { 0 };

	if (u->cost_source != COST_NONE)
		(void)money_format(u->cost_picousd, 4, cost);
	else if (c->messages == 0)
		(void)snprintf(cost, sizeof(cost), "0.00");
	ak_buf_printf(&b, "  %" PRIu64 " message%s, %" PRIu64 " turn%s, %" PRIu64 " tool call%s, %" PRIu64 ".%" PRIu64 " s\n", c->messages,
		      c->messages == 1 ? "" : "s", r->result.turns, r->result.turns == 1 ? "" : "s", r->result.tool_calls,
		      r->result.tool_calls == 1 ? "" : "s", ms / 1000, ms % 1000 / 100);
	ak_buf_printf(&b, "  %" PRIu64 " tokens in (%" PRIu64 " of them from the cache), %" PRIu64 " out, $%s%s\n", u->prompt_total,
		      u->cache_read, u->output, cost, u->estimated ? " (estimated)" : "");
	put(&b);
	ak_buf_release(&b);
}

/* ---- /clear ---- */

static void clear(struct run *r)
{
	struct ak_err err = { 0 };

	history_release(&r->hist);
	r->loop.meter = (struct prompt_meter){ 0 };
	if (transcript_cleared(&r->transcript, &err) < 0)
		run_out_warn_err(&r->out, "", &err);
	run_out_warn(&r->out, "the conversation begins anew; the workspace and the shell stay as they are");
}

/* ---- /diff ---- */

static void put_change(const struct ak_change *c, struct ak_buf *b)
{
	ak_buf_printf(b, "  %-8s ", ak_change_op_name(c->op));
	show_text(c->path, strlen(c->path), SHOW_LINE, b, NULL);
	if (c->mode && (c->mode & 0170000) == 0100000)
		ak_buf_printf(b, ", %" PRIu64 " bytes", c->size);
	if (c->flags & AK_CHANGE_PROTECTED)
		ak_buf_str(b, " [protected]");
	ak_buf_str(b, "\n");
}

static bool diff(struct run *r)
{
	struct ak_change_set s = { 0 };
	struct ak_change c = { 0 };
	struct ak_buf b = { 0 };
	struct ak_err err = { 0 };
	size_t pos = 0, n = 0;
	int rc;

	if (!has_copy(r, "/diff"))
		return true;
	rc = ak_changes(r->xc.cl, 0, 0, &s, &err);
	if (rc < 0)
		return failed(r, "/diff", rc, &err);
	while (ak_change_next(s.data, s.len, &pos, &c) == 1) {
		put_change(&c, &b);
		n++;
	}
	if (n < s.total)
		ak_buf_printf(&b, "  ... and %" PRIu64 " more\n", s.total - n);
	ak_buf_printf(&b, "  %" PRIu64 " change%s in the copy of the workspace", s.total, s.total == 1 ? "" : "s");
	if (s.nprotected)
		ak_buf_printf(&b, ", %" PRIu64 " protected", s.nprotected);
	ak_buf_str(&b, "\n");
	put(&b);
	ak_buf_release(&b);
	ak_change_set_release(&s);
	return true;
}

/* ---- /rollback ---- */

/* what the model has seen of the workspace is not true any more */
static void tell_model(struct run *r, const char *arg)
{
	struct msg m = { .role = MSG_USER };
	struct ak_err err = { 0 };
	char text[240];

	if (r->hist.n == 0)
		return;
	if (r->xc.write == AK_WRITE_DIRECT)
		(void)snprintf(text, sizeof(text), "(The user has taken back what write_file and edit_file have changed in this chat.)");
	else
		(void)snprintf(text, sizeof(text), "(The user has rolled the workspace back to its state before %s%.20s. The shell was started "
			       "anew, and background jobs have ended.)", *arg ? "turn " : "this chat began", arg);
	if (msg_set_text(&m, text, strlen(text)) == 0) {
		if (transcript_add(&r->transcript, &m, &err) < 0)
			run_out_warn_err(&r->out, "", &err);
		(void)history_join(&r->hist, &m);
	}
	msg_release(&m);
}

static bool rollback(struct run *r, const char *arg)
{
	struct tool_run t = { .tool = &tool_rollback, .env = &r->tools, .exit_code = -1 };
	struct ak_buf b = { 0 };
	struct cJSON *args = NULL;
	struct ak_err err = { 0 };
	uint64_t turn = 0;
	char text[48] = "{}";
	int rc;

	if (r->xc.write == AK_WRITE_NONE) {
		run_out_warn(&r->out, "/rollback: nothing can be changed here (--write none)");
		return true;
	}
	if (*arg && ak_parse_u64(arg, 1, UINT64_C(1) << 53, &turn) < 0) {
		run_out_warn(&r->out, "/rollback: \"%.40s\" is no number of a turn (say /rollback, or /rollback 3)", arg);
		return true;
	}
	if (turn)
		(void)snprintf(text, sizeof(text), "{\"to\":%" PRIu64 "}", turn);
	rc = json_parse(text, strlen(text), 0, NULL, &args, &err);
	t.args = args;
	r->tools.alone = true;
	if (rc == 0)
		rc = t.tool->start(&t);
	if (rc == 0 && t.text.data) {
		show_text(t.text.data, t.text.len, SHOW_PROSE, &b, NULL);
		ak_buf_str(&b, "\n");
		put(&b);
		if (!t.is_error && (strncmp(t.text.data, "Rolled back", 11) == 0 || strstr(t.text.data, "The shell was started anew")))
			tell_model(r, arg);
	}
	ak_buf_release(&b);
	tool_run_release(&t);
	json_free(args);
	if (rc < 0 && err.code == 0)
		(void)ak_err_set(&err, -rc, rc == -ENOMEM ? "not enough memory" : "the executor is gone");
	return rc < 0 ? failed(r, "/rollback", rc, &err) : true;
}

/* ---- all of them ---- */

static void unknown(struct run *r, const char *line, size_t word)
{
	run_out_warn(&r->out, "%.*s is no command here: /help lists them (a space before it makes it a message)", (int)(word < 40 ? word : 40), line);
}

bool chat_command(struct chat *c, struct run *r, enum chat_command cmd, const char *line, size_t word, const char *arg)
{
	if (*arg && cmd != CHAT_ROLLBACK && cmd != CHAT_UNKNOWN) {
		run_out_warn(&r->out, "%.*s takes nothing behind it: \"%.40s\"", (int)word, line, arg);
		return true;
	}
	switch (cmd) {
	case CHAT_CLEAR:
		clear(r);
		return true;
	case CHAT_COST:
		tell_cost(c, r);
		return true;
	case CHAT_DIFF:
		return diff(r);
	case CHAT_HELP:
		help();
		return true;
	case CHAT_ROLLBACK:
		return rollback(r, arg);
	case CHAT_TOOLS:
		list_tools(r);
		return true;
	case CHAT_EXIT:
		chat_end_well(r);
		return false;
	default:
		unknown(r, line, word);
		return true;
	}
}
