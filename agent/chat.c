/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation of `ak chat`; its commands are in chat_commands.c. Process: agent. Privilege: none. */
#include "agent/chat.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/chat_history.h"
#include "agent/chat_int.h"
#include "agent/chat_words.h"
#include "agent/cli/run_int.h"
#include "agent/line.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define PROMPT "ak> "

/* ---- opening and closing ---- */

static void remember(void *ctx, const char *text)
{
	(void)line_remember(ctx, text);
}

int chat_open(struct chat *c, struct run *r)
{
	struct ak_err *err = &r->result.err;

	chat_view_init(&c->view, r->opts.quiet);
	r->out.view = &c->view.view;
	if (line_open(&r->cancel, &c->line, err) < 0) {
		r->result.end = RUN_ERROR;
		return -1;
	}
	if (!r->opts.ephemeral) {
		struct ak_err why = { 0 };

		c->history = chat_history_open(r->env, &why);
		if (c->history < 0 || chat_history_load(c->history, remember, c->line, &why) < 0)
			run_out_warn(&r->out, "warning: %s; lines are not kept for the next chat", why.msg);
	}
	run_out_note(&r->out, "/help lists the commands; a line that ends with \\ goes on; Ctrl-C stops the model, Ctrl-D ends");
	return 0;
}

void chat_close(struct chat *c)
{
	line_close(c->line);
	c->line = NULL;
	ak_fd_close(&c->history);
}

/* ---- one message ---- */

/* all but what is counted over the whole chat */
static void clear_result(struct run_result *to)
{
	uint64_t turns = to->turns, calls = to->tool_calls;

	run_result_release(to);
	*to = (struct run_result){ .turns = turns, .tool_calls = calls };
}

/* a message is a run of its own: budgets begin anew, what is left of the last one goes */
static void begin(struct chat *c, struct run *r)
{
	clear_result(&r->result);
	session_about_next(&r->about, &r->budget);
	budget_start(&r->budget, &r->opts.limits, tool_now_ms());
	r->tools.deadline_ms = budget_deadline_ms(&r->budget);
	gate_resized(&r->gate);
	chat_view_begin(&c->view);
}

/* @cut: text of an answer was shown that did not come to its end. Return: false: the chat ends with it */
static bool tell_end(struct run *r, bool cut)
{
	struct run_result *res = &r->result;
	char reason[BUDGET_REASON];

	switch (res->end) {
	case RUN_DONE:
		if (res->which != BUDGET_OK && budget_exceeded(&r->budget, tool_now_ms(), reason) != BUDGET_OK)
			run_out_warn(&r->out, "with this answer a limit is exceeded: %s (the next message starts anew)", reason);
		return true;
	case RUN_INTERRUPTED:
		if (res->signal != SIGINT)
			return false;
		run_out_warn(&r->out, "interrupted%s", cut ? "; what the model was saying is not part of the conversation" : "");
		return true;
	case RUN_SANDBOX:
		return false;
	case RUN_BUDGET:
		run_out_warn(&r->out, "%s", res->text ? res->text : "Stopped: budget exceeded.");
		return true;
	default:
		run_out_warn(&r->out, "%s%s%s%s", res->err.msg[0] ? res->err.msg : run_subtype(res), res->err.hint[0] ? " (" : "",
			     res->err.hint, res->err.hint[0] ? ")" : "");
		return true;
	}
}

/* keys that were pressed once more while the turn ended. Return: false: there is something else, which ends the chat */
static bool forget_interrupts(struct run *r)
{
	while (cancel_came(&r->cancel)) {
		int what = cancel_take(&r->cancel);

		if (what == SIGINT)
			continue;
		r->result.signal = what > 0 ? what : 0;
		r->result.end = what > 0 ? RUN_INTERRUPTED : RUN_SANDBOX;
		return false;
	}
	return true;
}

/* Return: false: the chat ends */
static bool ask(struct chat *c, struct run *r, const char *text, size_t len)
{
	bool cut;

	begin(c, r);
	if (run_say(r, text, len) < 0)
		return r->result.end != RUN_SANDBOX && tell_end(r, false);
	c->messages++;
	loop_run(&r->loop);
	cut = c->view.shown;
	chat_view_end(&c->view);
	usage_add(&c->total, &r->budget.total);
	return tell_end(r, cut) && forget_interrupts(r);
}

/* ---- lines ---- */

static void keep_line(struct chat *c, struct run *r, const char *text, size_t len)
{
	struct ak_err err = { 0 };
	int rc;

	if (len <= CHAT_HISTORY_ENTRY_MAX)
		(void)line_remember(c->line, text);
	rc = chat_history_add(c->history, text, len, &err);
	if (rc < 0 && !c->history_locked)
		run_out_warn(&r->out, "warning: %s; %s kept for the next chat", err.msg,
			     rc == -EWOULDBLOCK ? "until it lets go lines are not" : "lines are not");
	if (rc < 0 && rc != -EWOULDBLOCK)
		ak_fd_close(&c->history);
	c->history_locked = rc == -EWOULDBLOCK;
}

/* Return: false: the chat ends */
static bool take_line(struct chat *c, struct run *r, const char *text, size_t len)
{
	char *arg = NULL;
	size_t word = 0;
	enum chat_command cmd = chat_parse(text, &arg, &word);
	bool on;

	keep_line(c, r, text, len);
	if (cmd == CHAT_MESSAGE)
		on = ask(c, r, text, len);
	else
		on = chat_command(c, r, cmd, text, word, arg ? arg : "");
	free(arg);
	return on;
}

/* nothing went wrong: what became of the last message does not count any more */
void chat_end_well(struct run *r)
{
	clear_result(&r->result);
	r->result.end = RUN_DONE;
}

/* Return: false: the chat ends, and the result says why */
static bool next(struct chat *c, struct run *r, struct ak_buf *text)
{
	int signo = 0;

	switch (line_read(c->line, PROMPT, text, &signo)) {
	case LINE_TEXT:
		return true;
	case LINE_EOF:
		chat_end_well(r);
		return false;
	case LINE_GONE:
		signo = SIGHUP;
		break;
	case LINE_MEMORY:
		r->result.end = RUN_ERROR;
		(void)ak_err_set(&r->result.err, ENOMEM, "chat: not enough memory for a line");
		return false;
	case LINE_CANCELLED:
		break;
	}
	chat_end_well(r);
	r->result.end = signo > 0 ? RUN_INTERRUPTED : RUN_SANDBOX;
	r->result.signal = signo;
	if (signo > 0)
		(void)ak_err_set(&r->result.err, EINTR, "interrupted by signal %d", signo);
	else
		(void)ak_err_set(&r->result.err, ECONNRESET, "the executor is gone");
	return false;
}

void chat_work(struct chat *c, struct run *r)
{
	struct ak_buf text = { .max = LINE_MAX_BYTES };
	bool on = !r->opts.prompt || take_line(c, r, r->opts.prompt, strlen(r->opts.prompt));

	while (on) {
		text.len = 0;
		text.failed = false;
		on = next(c, r, &text);
		if (on && !chat_blank(text.data ? text.data : "", text.len))
			on = take_line(c, r, text.data, text.len);
	}
	ak_buf_release(&text);
	free(r->result.text);
	r->result.text = NULL;
	r->result.usage = c->total;
}
