/* SPDX-License-Identifier: Apache-2.0 */
/* The approver of a run, and who it asks: a person, a model, the sandbox. Process: agent. Privilege: none. */
#include "agent/gate.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "agent/budget.h"
#include "agent/cancel.h"
#include "agent/exec_client.h"
#include "agent/json.h"
#include "agent/provider/call.h"
#include "agent/rules.h"
#include "agent/run_opts.h"
#include "agent/tool.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

/* ---- a person ---- */

bool gate_terminal(void)
{
	return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

/* one line, without its newline. Return: false at the end of input, or when interrupted, which @cancel says */
static bool read_line(const struct cancel *cancel, char *buf, size_t size)
{
	size_t n = 0;
	char c;

	for (;;) {
		struct pollfd p[2] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = cancel->fd, .events = POLLIN } };

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return false;
		if (p[1].revents)
			return false;
		if (!p[0].revents)
			continue;
		if (read(STDIN_FILENO, &c, 1) != 1)
			return false;
		if (c == '\n')
			break;
		if (n + 1 < size)
			buf[n++] = c;
	}
	buf[n] = '\0';
	return true;
}

static void print(const char *text, size_t len)
{
	(void)ak_write_all(STDERR_FILENO, text, len);
}

/* what was typed before the question was there is no answer to it */
static void forget_typed(void)
{
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
}

bool gate_yes(const struct cancel *cancel, const char *question)
{
	char line[16];

	forget_typed();
	print("ak: ", 4);
	print(question, strlen(question));
	print(" [y/n] ", 7);
	return read_line(cancel, line, sizeof(line)) && (strcmp(line, "y") == 0 || strcmp(line, "yes") == 0);
}

static void show(const struct approve_question *q, bool whole)
{
	struct ak_buf b = { 0 };

	ak_buf_printf(&b, "ak: %s in %s: %s\n", q->tool, q->folder, q->why);
	ak_buf_add(&b, whole ? q->shown : q->brief, whole ? q->shown_len : q->brief_len);
	if (b.len && b.data[b.len - 1] != '\n')
		ak_buf_str(&b, "\n");
	for (size_t i = 0; i < q->n_notes; i++)
		ak_buf_printf(&b, "ak: note: %s\n", q->notes[i]);
	ak_buf_printf(&b, "ak: run it? [y]es, [n]o%s%s ", q->may_remember ? ", [a]lways in this session" : "",
		      q->hidden_bytes && !whole ? ", [s]how all of it" : "");
	if (!b.failed)
		print(b.data, b.len);
	ak_buf_release(&b);
}

static enum approve_reply ask_person(void *ctx, const struct approve_question *q, bool *ret_opened)
{
	const struct gate *g = ctx;
	bool whole = q->hidden_bytes == 0, yes, always;
	char line[16];

	for (;;) {
		forget_typed();
		show(q, whole);
		if (!read_line(g->cancel, line, sizeof(line)))
			return cancel_came(g->cancel) ? APPROVE_NO_ANSWER : APPROVE_NO;
		*ret_opened = whole;
		yes = strcmp(line, "y") == 0 || strcmp(line, "yes") == 0;
		always = q->may_remember && (strcmp(line, "a") == 0 || strcmp(line, "always") == 0);
		if (strcmp(line, "n") == 0 || strcmp(line, "no") == 0)
			return APPROVE_NO;
		if (whole && (yes || always))
			return yes ? APPROVE_YES : APPROVE_YES_SESSION;
		/* a yes counts once all of it was seen */
		whole = whole || yes || always || strcmp(line, "s") == 0;
	}
}

/* ---- a model ---- */

static int ask_judge(void *ctx, const char *system, const char *user, struct ak_buf *ret, struct ak_err *err)
{
	struct gate *g = ctx;
	struct provider *p = g->provider;
	struct history h = { 0 };
	struct completion c = { 0 };
	struct call_report rep;
	struct call_hooks hooks = { .deadline_ms = budget_deadline_ms(g->budget) };
	struct budget_call bc = { .price = p->price, .today = p->today, .model = p->target.model,
				  .prompt_tokens = (strlen(system) + strlen(user)) / 2 + 64, .max_tokens = GATE_JUDGE_TOKENS };
	struct provider_req rq = { .system = system, .stream = true };
	char reason[BUDGET_REASON];
	int rc;

	if (budget_before_call(g->budget, &bc, tool_now_ms(), &rq.max_tokens, reason) != BUDGET_OK)
		return ak_err_set(err, EDQUOT, "%s", reason);
	rc = history_add_user(&h, user);
	if (rc == 0) {
		rq.msgs = h.v;
		rq.nmsgs = h.n;
		rc = provider_call(p, &rq, &hooks, &c, &rep, err);
		budget_add(g->budget, &rep.lost);
	}
	if (rc == 0) {
		budget_add(g->budget, &c.usage);
		if (c.stop == STOP_END_TURN && c.msg.text)
			ak_buf_add(ret, c.msg.text, c.msg.text_len);
		else
			rc = ak_err_set(err, EIO, "the judge gave no answer");
	}
	completion_release(&c);
	history_release(&h);
	return rc;
}

/* ---- the sandbox: where does a path lead? ---- */

static int resolve(void *ctx, const char *path, struct ak_buf *ret)
{
	const char *argv[] = { "readlink", "-m", "--", path, NULL };
	size_t before = ret->len;
	int rc = gate_output(ctx, AK_EXEC_ARGV, argv, ret);

	return rc < 0 ? rc : ret->len == before || ret->data[before] != '/' ? -EIO : 0;
}

/* ---- the gate ---- */

int gate_check(const struct run_opts *o, struct ak_err *err)
{
	struct rules r = { 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < o->allow.n; i++)
		rc = rules_add(&r, false, o->allow.v[i], err);
	for (size_t i = 0; rc == 0 && i < o->deny.n; i++)
		rc = rules_add(&r, true, o->deny.v[i], err);
	rules_release(&r);
	return rc;
}

static unsigned columns(void)
{
	struct winsize w = { 0 };

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

int gate_open(struct gate *g, const struct run_opts *o, const char *session, bool harmless, struct ak_err *err)
{
	struct approve_options a = { .plan = o->plan, .workspace = g->xc->workspace, .session = session };
	int rc;

	g->policy = o->policy_given ? o->policy : harmless ? APPROVE_AUTO_ALLOW : APPROVE_ALWAYS_ASK;
	g->allows = o->allow.n > 0;
	g->denies = o->deny.n > 0;
	g->plan = o->plan;
	g->person = gate_terminal();
	a.policy = g->policy;
	if (g->person) {
		a.width = columns();
		a.person = (struct approve_person){ ask_person, g };
	}
	if (g->policy == APPROVE_SMART)
		a.judge = (struct approve_judge){ ask_judge, g };
	a.files = (struct approve_files){ resolve, g };
	rc = approver_new(&a, &g->approver, err);
	for (size_t i = 0; rc == 0 && i < o->allow.n; i++)
		rc = approver_rule(g->approver, false, o->allow.v[i], err);
	for (size_t i = 0; rc == 0 && i < o->deny.n; i++)
		rc = approver_rule(g->approver, true, o->deny.v[i], err);
	return rc;
}

void gate_close(struct gate *g)
{
	approver_free(g->approver);
	g->approver = NULL;
}

void gate_resized(struct gate *g)
{
	if (g->person)
		approver_width(g->approver, columns());
}

const char *gate_name(const struct gate *g)
{
	return approve_policy_name(g->policy);
}

static bool any_gated(const struct msg *turn)
{
	bool any = false;

	for (size_t i = 0; !any && i < turn->ncalls; i++) {
		struct cJSON *args = NULL;

		any = json_parse(turn->calls[i].args, turn->calls[i].args_len, 0, NULL, &args, NULL) < 0 ||
		      approve_gated(turn->calls[i].name, args);
		json_free(args);
	}
	return any;
}

int gate_plan(void *ctx, const struct msg *turn)
{
	struct gate *g = ctx;
	struct approve_answer a = { 0 };
	struct ak_buf text = { 0 };
	int rc;

	if (!approve_plan_pending(g->approver) || !any_gated(turn))
		return 0;
	if (turn->text)
		ak_buf_add(&text, turn->text, turn->text_len);
	for (size_t i = 0; i < turn->ncalls; i++)
		ak_buf_printf(&text, "\n%s %s", turn->calls[i].name, turn->calls[i].args);
	rc = text.failed ? -ENOMEM : approve_plan(g->approver, text.data ? text.data : "", text.len, &a);
	ak_buf_release(&text);
	return rc;
}

int gate_call(void *ctx, const char *tool, const struct cJSON *args, struct approve_answer *ret)
{
	struct gate *g = ctx;
	int rc = approve_gated(tool, args) ? gate_folder(g) : 0;

	if (rc == 0)
		rc = approve_call(g->approver, tool, args, ret);
	if (rc == 0 && strcmp(tool, "bash") == 0 && ret->verdict == APPROVE_ALLOW && !json_true(json_get(args, "background"))) {
		g->moved = true;
		rc = approver_folder(g->approver, NULL); /* until it is looked for */
	}
	return rc;
}

enum loop_order gate_order(void *ctx, const char *tool, const struct cJSON *args)
{
	const struct gate *g = ctx;

	if (!approve_gated(tool, args))
		return g->denies ? LOOP_AFTER_CHANGES : LOOP_ANY_TIME;
	return g->policy == APPROVE_AUTO_ALLOW && !g->allows && !g->denies && !g->plan ? LOOP_ANY_TIME : LOOP_AFTER_ALL;
}
