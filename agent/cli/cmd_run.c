/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ak run`, the agent's half: everything is made ready in an order in which the cheapest refusal comes first, then the loop runs,
 * then the sandbox ends, and the result is written whatever happened. Process: agent. Privilege: none.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/attach.h"
#include "agent/cli/commands.h"
#include "agent/cli/run_int.h"
#include "agent/confine.h"
#include "agent/prompt.h"
#include "agent/session_about.h"
#include "agent/session_model.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_parse.h"

#define CONNECT_MS 20000u
#define ANSWER_MS 600000u /* for the first byte of a reply: large prompts take long */
#define IDLE_MS 300000u	  /* between two pieces of it */
#define MAX_TOKENS_KNOWN 32000u
#define MAX_TOKENS_UNKNOWN 8192u
#define SYSTEM_MAX (256u << 10) /* bytes of --system-prompt-file: it is in the transcript's first line */

/* what ends a stage that failed: @r->result says it. Return: -1 */
static int fail(struct run *r, enum run_end how)
{
	r->result.end = how;
	return -1;
}

static int fail_cancelled(struct run *r)
{
	int what = cancel_take(&r->cancel);

	if (what <= 0)
		return fail(r, RUN_SANDBOX);
	r->result.signal = what;
	return fail(r, RUN_INTERRUPTED);
}

/* ---- stages ---- */

/* ak's own word: the sandbox's options are wrong, or it cannot be made here */
static int hear_executor(struct run *r, char *argv[])
{
	r->workspace = argv[3];
	r->session_id = argv[4];
	r->kept = argv[5];
	if (strcmp(argv[0], "ok") == 0)
		return 0;
	(void)ak_err_set(&r->result.err, EINVAL, "%s", argv[1]);
	ak_err_hint(&r->result.err, "%s", argv[2]);
	return fail(r, strcmp(argv[0], "usage") == 0 ? RUN_USAGE : strcmp(argv[0], "refused") == 0 ? RUN_ERROR : RUN_SANDBOX);
}

/* before anything else is asked for: without the session the rest is of no use */
static int resume(struct run *r)
{
	if (!r->opts.resume && !r->opts.go_on)
		return 0;

	struct ak_err *err = &r->result.err;
	const char *id = *r->session_id ? r->session_id : r->opts.resume;
	int rc = id ? session_open(r->env, id, &r->session, err) : session_last(r->env, r->workspace, &r->session, err);

	if (rc == 0)
		rc = transcript_load(&r->transcript, r->session.dir, &r->head, &r->hist, err);
	if (rc < 0)
		return fail(r, rc == -EINVAL || rc == -ENOENT ? RUN_USAGE : RUN_ERROR);
	if (strcmp(r->head.workspace, r->workspace) != 0) {
		(void)ak_err_set(err, EINVAL, "run: the session %s belongs to another workspace, %s", r->session.id, r->head.workspace);
		ak_err_hint(err, "say -C %s", r->head.workspace);
		return fail(r, RUN_USAGE);
	}
	r->resumed = true;
	return 0;
}

/* which model, and where. What the session used counts least: @ret_taken: it was taken from there */
static int resolve(struct run *r, struct provider_target *ret, bool *ret_taken)
{
	struct provider_wish *wish = &r->wish;
	struct ak_err *err = &r->result.err;
	const struct run_list *l = &r->opts.providers;
	int rc = 0;

	*wish = (struct provider_wish){ .model = r->opts.model, .base_url = r->opts.base_url, .api = r->opts.api, .own = &r->own };
	for (size_t i = 0; i + 1 < l->n && rc == 0; i += 2)
		rc = providers_add(&r->own, l->v[i + 1], l->v[i], err);
	if (rc < 0)
		return rc;
	if (r->resumed)
		rc = session_model_wish(&r->head, wish, err);
	*ret_taken = rc != 0;
	return rc < 0 ? rc : provider_resolve(wish, r->env, ret, err);
}

static int open_provider(struct run *r)
{
	struct provider_target target = { 0 };
	struct ak_err *err = &r->result.err;
	bool taken = false;
	int rc = resolve(r, &target, &taken);

	if (rc == 0)
		rc = provider_open(&r->provider, &target, r->env, r->opts.replay, r->opts.plain_http, err);
	if (rc < 0 && taken)
		(void)ak_err_wrap(err, "run: the session %s goes on with its model, %s (%s)", r->session.id, r->head.model, r->head.provider);
	if (rc == -EACCES) {
		r->result.fault = FAULT_AUTH;
		return fail(r, RUN_PROVIDER);
	}
	if (rc < 0)
		return fail(r, rc == -ENOMEM ? RUN_ERROR : RUN_USAGE);
	r->opened = true;
	provider_wipe_env(r->env);
	r->provider.cancel_fd = r->cancel.fd;
	r->provider.connect_ms = CONNECT_MS;
	r->provider.head_ms = ANSWER_MS;
	r->provider.idle_ms = IDLE_MS;
	r->provider.ca_file = r->opts.ca_file;
	return 0;
}

static int load_prices(struct run *r)
{
	struct ak_err *err = &r->result.err;
	struct provider *p = &r->provider;

	if (prices_load(&r->prices, r->env, err) < 0)
		return fail(r, RUN_USAGE);
	if (r->opts.price && prices_set(&r->prices, p->target.model, r->opts.price, err) < 0)
		return fail(r, RUN_USAGE);
	p->price = prices_find(&r->prices, p->target.name, p->target.model);
	(void)prices_today(p->today);
	return budget_need_price(&r->opts.limits, p->price, p->target.model, err) < 0 ? fail(r, RUN_USAGE) : 0;
}

static int read_system(struct run *r)
{
	const char *path = r->opts.system_prompt_file;
	struct ak_err *err = &r->result.err;
	size_t len = 0;
	int rc = path ? ak_read_file(path, SYSTEM_MAX, &r->system_file, &len) : 0;

	if (rc < 0) {
		(void)ak_err_sys(err, -rc, "run: --system-prompt-file: %s", path);
		return fail(r, RUN_USAGE);
	}
	if (r->system_file && (strlen(r->system_file) != len || !ak_utf8_valid(r->system_file, len))) {
		(void)ak_err_set(err, EINVAL, "run: --system-prompt-file: %s is no text in UTF-8", path);
		return fail(r, RUN_USAGE);
	}
	if (r->system_file)
		r->opts.system_prompt = r->system_file;
	return 0;
}

static int read_task(struct run *r)
{
	bool ignored = false;
	int rc = prompt_read(r->opts.prompt, &r->cancel, &r->task, &ignored, &r->result.err);

	if (ignored)
		run_out_warn(&r->out, "warning: nothing came from the pipe on standard input within 3 s; it is ignored");
	if (rc == -EINTR)
		return fail_cancelled(r);
	return rc < 0 ? fail(r, RUN_USAGE) : 0;
}

/* in the task's turn; before the agent is confined, with the caller's rights */
static int read_attached(struct run *r)
{
	const struct run_list *l = &r->opts.attach;
	int rc = attach_files(l->v, l->n, &r->attached, &r->result.err);

	attach_note(l->v, l->n, &r->task);
	return rc < 0 ? fail(r, rc == -ENOMEM ? RUN_ERROR : RUN_USAGE) : 0;
}

/* nothing can be done in a workspace that the sandbox's user may not enter, and that is better said before anybody is asked */
static int enter_workspace(struct run *r)
{
	struct ak_file_reply st;
	struct ak_err why = { 0 };
	int eno = 0, rc = ak_file_stat(r->xc.cl, r->xc.sandbox, ".", &st, &why);

	if (rc != -EREMOTEIO || ak_refusal(r->xc.cl, &eno) != AK_CODE_FILE || eno != EACCES)
		return rc == -EREMOTEIO ? 0 : rc;
	(void)ak_err_set(&r->result.err, EACCES, "workspace \"%s\": Permission denied (EACCES)", r->workspace);
	ak_err_hint(&r->result.err, "the sandbox's user must be allowed to enter the folder and those above it");
	return -EACCES;
}

static int open_sandbox(struct run *r)
{
	struct ak_err *err = &r->result.err;
	int rc = xc_open(&r->xc, err);

	if (rc == 0 && r->opts.apply != RUN_APPLY_DEFAULT && r->xc.write != AK_WRITE_COW) {
		(void)ak_err_set(err, EINVAL, "run: --apply: there is nothing to apply without --write cow");
		return fail(r, RUN_USAGE);
	}
	/* a container is made for the first call that needs it */
	if (rc == 0 && r->xc.backend != AK_BACKEND_DOCKER)
		rc = xc_sandbox_create(&r->xc, err);
	if (rc == 0 && r->xc.sandbox)
		rc = enter_workspace(r);
	if (rc < 0 && cancel_came(&r->cancel))
		return fail_cancelled(r);
	return rc < 0 ? fail(r, RUN_SANDBOX) : 0;
}

static int begin(struct run *r)
{
	struct ak_err *err = &r->result.err;

	if (session_new(r->env, r->opts.ephemeral, r->session_id, &r->session, err) < 0)
		return fail(r, RUN_ERROR);
	prompt_system(&r->opts, &r->xc, &r->system);
	if (r->structured.text)
		ak_buf_printf(&r->system, "\n%s%s\n", structured_prompt(), r->structured.text);
	r->head.workspace = strdup(r->workspace);
	r->head.system = r->system.failed ? NULL : strdup(r->system.data ? r->system.data : "");
	if (!r->head.workspace || !r->head.system || session_model_keep(&r->head, &r->wish, &r->provider.target) < 0) {
		(void)ak_err_set(err, ENOMEM, "run: not enough memory for a session");
		return fail(r, RUN_ERROR);
	}
	return transcript_create(&r->transcript, r->session.dir, &r->head, err) < 0 ? fail(r, RUN_ERROR) : 0;
}

/* so that the next run finds what this one has used */
static int go_on(struct run *r)
{
	struct ak_err *err = &r->result.err;
	int rc = session_model_keep(&r->head, &r->wish, &r->provider.target);

	if (rc < 0) {
		(void)ak_err_set(err, ENOMEM, "run: not enough memory for a session");
		return fail(r, RUN_ERROR);
	}
	if (rc == 1 && transcript_uses(&r->transcript, &r->head, err) < 0)
		run_out_warn(&r->out, "warning: %s", err->msg);
	return 0;
}

/* from now on the executor can name it, and keeps what tools replace in a workspace that is written directly */
static int name_session(struct run *r)
{
	struct ak_touched t = { 0 };
	struct ak_err *err = &r->result.err;
	int rc = ak_session(r->xc.cl, r->session.id, r->session.dir >= 0 ? AK_SESSION_STORED : 0, &t, err);

	if (rc == -EREMOTEIO) {
		run_out_warn_err(&r->out, "write_file and edit_file write nothing in this run, since nothing can be kept for rollback: ", err);
		*err = (struct ak_err){ 0 };
		return 0;
	}
	if (rc < 0)
		return cancel_came(&r->cancel) ? fail_cancelled(r) : fail(r, RUN_SANDBOX);
	r->keeps = r->xc.write == AK_WRITE_DIRECT;
	r->pending = t.pending;
	if (t.pending)
		run_out_note(&r->out, "%" PRIu64 " file(s) that the tools of this session changed can be rolled back", t.pending);
	return 0;
}

/* is there a list of files that tools of this session have changed in the workspace itself? */
static void look_for_direct(struct run *r)
{
	char path[80];
	struct stat st;

	if (!r->resumed || r->xc.write == AK_WRITE_DIRECT || r->session.dir < 0 || stat(r->workspace, &st) < 0)
		return;
	(void)snprintf(path, sizeof(path), "../../" AK_SESSION_TOUCHED "/u%u/%s/" AK_SESSION_TOUCHED_LIST, st.st_uid, r->session.id);
	r->direct_left = fstatat(r->session.dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
	if (r->direct_left)
		run_out_note(&r->out, "a run of this session with --write direct did not come to its end: what its tools changed in the workspace can be "
			     "rolled back in one with --write direct, not in this one");
}

static int open_session(struct run *r)
{
	struct ak_err *err = &r->result.err;
	int rc = r->resumed ? go_on(r) : begin(r);

	if (rc < 0)
		return rc;
	rc = name_session(r);
	if (rc < 0)
		return rc;
	look_for_direct(r);
	if (spool_dir_open(&r->spools, r->session.dir, SPOOL_QUOTA, err) < 0 ||
	    trace_open(&r->trace, r->session.dir, r->session.id, r->opts.verbose_trace, err) < 0)
		return fail(r, RUN_ERROR);
	session_about_open(&r->about, r->session.dir, r->workspace, r->provider.target.model, r->task.data ? r->task.data : "");
	session_about_turn(&r->about, &r->result, &r->budget, AK_SESSION_NOT_ENDED);
	points_note_in(&r->points, r->session.dir, (uint32_t)r->about.before.runs, *r->kept);
	return 0;
}

/* may the project's own instructions be read? They are in the sandbox; a container is made for them */
static bool has_instructions(struct run *r)
{
	struct ak_err err = { 0 };

	if (r->opts.no_instructions || r->opts.bare)
		return false;
	if (r->xc.sandbox || xc_sandbox_create(&r->xc, &err) == 0)
		return true;
	run_out_warn(&r->out, "warning: %s sandbox unavailable: %s; the project's instructions are not read", xc_backend_name(r->xc.backend),
		     err.msg);
	return false;
}

/* the model remembers a workspace: what became of it since */
static void tell_kept(struct run *r, struct ak_buf *text)
{
	bool discarded = r->session.dir >= 0 && unlinkat(r->session.dir, AK_SESSION_DISCARDED, 0) == 0;

	if (*r->kept && r->xc.write == AK_WRITE_COW)
		ak_buf_str(text, "(The workspace is the copy that you worked on: what you changed is in it, and was not taken over yet.)\n\n");
	else if (*r->kept)
		ak_buf_printf(text, "(What you changed before is kept as changeset %s, and is not in this workspace.)\n\n", r->kept);
	else if (discarded)
		ak_buf_str(text, "(The user has discarded what you changed in your last run: it is not in the workspace any more.)\n\n");
}

/* what the model is told once, before the first message of a session that goes on */
static void tell_resumed(struct run *r, struct ak_buf *text)
{
	if (!r->resumed || r->told)
		return;
	r->told = true;
	if (r->pending)
		ak_buf_printf(text, "(The last run of this session did not come to its end. %" PRIu64 " file(s) that write_file and edit_file have "
			      "changed in it can be taken back with rollback.)\n\n", r->pending);
	if (r->direct_left)
		ak_buf_str(text, "(A run of this session that wrote the workspace directly did not come to its end. What it changed is in the "
				 "workspace; rollback does not take it back in this run.)\n\n");
	tell_kept(r, text);
}

int run_say(struct run *r, const char *task, size_t len)
{
	struct ak_buf text = { .max = PROMPT_MAX + (1u << 20) };
	struct msg m = r->attached;
	struct ak_err *err = &r->result.err;
	int rc = 0;

	r->attached = (struct msg){ 0 };
	m.role = MSG_USER;
	if (r->front)
		session_about_task(&r->about, task);
	tell_resumed(r, &text);
	if (r->hist.n > 0)
		ak_buf_add(&text, task, len);
	else
		rc = prompt_first(task, r->session.id, has_instructions(r), &r->xc, &text, err);
	if (r->front && r->task.len) {	/* what was attached, by name */
		ak_buf_add(&text, r->task.data, r->task.len);
		ak_buf_release(&r->task);
	}
	if (rc == 0)
		rc = text.failed ? -ENOMEM : msg_set_text(&m, text.data, text.len);
	if (rc == 0 && transcript_add(&r->transcript, &m, err) < 0)
		run_out_warn_err(&r->out, "", err);
	if (rc == 0)
		rc = history_join(&r->hist, &m);
	msg_release(&m);
	ak_buf_release(&text);
	if (rc == 0)
		return 0;
	if (rc == -ENOMEM)
		(void)ak_err_set(err, ENOMEM, "run: not enough memory for the prompt");
	return fail(r, rc == -ECONNRESET ? RUN_SANDBOX : RUN_ERROR);
}

static int open_gate(struct run *r)
{
	int rc;

	r->gate = (struct gate){ .xc = &r->xc, .provider = &r->provider, .budget = &r->budget, .cancel = &r->cancel,
				  .env = &r->tools };
	rc = gate_open(&r->gate, &r->opts, r->session.id, r->xc.backend == AK_BACKEND_NATIVE && r->xc.write != AK_WRITE_DIRECT,
		       &r->result.err);
	return rc < 0 ? fail(r, rc == -ENOMEM ? RUN_ERROR : RUN_USAGE) : 0;
}

static uint64_t max_tokens(const struct run *r)
{
	const struct price *p = r->provider.price;
	uint64_t most = p && p->max_output ? p->max_output : 0;

	if (r->opts.max_response_tokens)
		return most && r->opts.max_response_tokens > most ? most : r->opts.max_response_tokens;
	return most == 0 ? MAX_TOKENS_UNKNOWN : most < MAX_TOKENS_KNOWN ? most : MAX_TOKENS_KNOWN;
}

static int fill_loop(struct run *r)
{
	struct loop *l = &r->loop;

	r->tools = (struct tool_env){ .xc = &r->xc, .spools = &r->spools, .tool_timeout_ms = r->opts.tool_timeout_ms,
				      .max_tool_timeout_ms = r->opts.max_tool_timeout_ms, .points = &r->points, .keeps = r->keeps,
				      .deadline_ms = budget_deadline_ms(&r->budget) };
	/* without it, the two tools that need it say so */
	(void)tool_search_load(&r->tools, NULL);
	*l = (struct loop){ .provider = &r->provider, .budget = &r->budget, .hist = &r->hist, .transcript = &r->transcript,
			    .env = &r->tools, .cancel = &r->cancel, .out = &r->out, .trace = &r->trace, .about = &r->about, .points = &r->points, .result = &r->result,
			    .plan = gate_plan, .approve = gate_call, .order = gate_order, .approve_ctx = &r->gate,
			    .system = r->head.system, .effort = r->opts.effort,
			    .output_schema = r->structured.text, .session_id = r->session.id, .max_tokens = max_tokens(r) };
	context_init(&l->context, r->opts.context, r->provider.price, r->provider.target.api == WIRE_REPLAY);
	if (loop_init(l, r->xc.write, &r->result.err) < 0)
		return fail(r, RUN_ERROR);
	return 0;
}

static void say_start(struct run *r)
{
	struct run_start s = { .model = r->provider.target.model, .provider = r->provider.target.name,
			       .api = wire_api_name(r->provider.target.api), .approval = gate_name(&r->gate), .xc = &r->xc,
			       .tools = r->loop.tools, .ntools = r->loop.ntools, .resumed = r->resumed, .stored = r->session.dir >= 0 };

	run_out_start(&r->out, r->session.id, &s);
}

/* the last thing before anything comes from the network */
static int confine(struct run *r)
{
	struct confine c = { .dir = r->session.dir, .ca_file = r->opts.ca_file, .terminal = r->front != NULL };
	int lack = confine_apply(&c, &r->result.err);

	if (lack < 0)
		return fail(r, RUN_ERROR);
	if (lack & CONFINE_NO_LANDLOCK)
		run_out_warn(&r->out, "warning: this kernel has no Landlock: the agent process itself could open the caller's files");
	return 0;
}

static int stages(struct run *r, char *argv[])
{
	if (hear_executor(r, argv) < 0 || (r->front && r->front->check(r) < 0) || resume(r) < 0 || open_provider(r) < 0 || load_prices(r) < 0)
		return -1;
	if (gate_check(&r->opts, &r->result.err) < 0 ||
	    (r->opts.output_schema && structured_open(&r->structured, r->opts.output_schema, &r->result.err) < 0))
		return fail(r, RUN_USAGE);
	if (read_system(r) < 0 || (!r->front && read_task(r) < 0) || read_attached(r) < 0 || open_sandbox(r) < 0 || open_session(r) < 0 ||
	    open_gate(r) < 0 || fill_loop(r) < 0)
		return -1;
	say_start(r);
	if ((r->front ? r->front->open(r) : run_say(r, r->task.data, r->task.len)) < 0)
		return -1;
	return confine(r);
}

/* ---- the end ---- */

static void tear_down(struct run *r)
{
	loop_release(&r->loop);
	if (r->tools.xc)	/* filled */
		ak_fd_close(&r->tools.search);
	trace_close(&r->trace);
	session_about_close(&r->about);
	points_close(&r->points);
	spool_dir_close(&r->spools);
	transcript_close(&r->transcript);
	transcript_head_release(&r->head);
	history_release(&r->hist);
	session_close(&r->session);
	gate_close(&r->gate);
	xc_close(&r->xc);
	prices_release(&r->prices);
	if (r->opened)
		provider_close(&r->provider);
	providers_release(&r->own);
	cancel_close(&r->cancel);
	structured_release(&r->structured);
	ak_buf_release(&r->task);
	msg_release(&r->attached);
	ak_buf_release(&r->system);
	free(r->system_file);
	run_result_release(&r->result);
	run_out_close(&r->out);
}

/* Return: may they be taken over? */
static bool want_apply(struct run *r)
{
	struct ak_change_set s = { 0 };
	char text[160];
	bool ask = r->opts.apply == RUN_APPLY_ASK || (r->opts.apply == RUN_APPLY_DEFAULT && gate_terminal());
	bool yes = false;

	if (r->result.end != RUN_DONE || r->opts.apply == RUN_APPLY_NEVER)
		return false;
	if (!ask)
		return true;
	if (!gate_terminal() || ak_changes(r->xc.cl, r->xc.sandbox, 1, &s, NULL) < 0)
		return false;
	(void)snprintf(text, sizeof(text), "%" PRIu64 " change(s) in the copy of the workspace: take them over?", s.total);
	yes = s.total == 0 || gate_yes(&r->cancel, text);
	ak_change_set_release(&s);
	return yes;
}

static void tell_changes(struct run *r, bool apply)
{
	const struct ak_change_set *s = &r->result.changes;

	if (s->outcome == AK_CHANGES_APPLIED) {
		run_out_note(&r->out, "%" PRIu64 " change(s) taken over into the workspace", s->total);
		if (*s->why.msg)
			run_out_warn(&r->out, "warning: %s", s->why.msg);
	}
	if (s->outcome != AK_CHANGES_KEPT)
		return;
	if (apply && r->result.end == RUN_DONE) {
		r->result.end = RUN_KEPT;
		r->result.err = s->why;
	}
	run_out_warn(&r->out, "%" PRIu64 " change(s) are kept as %s: ak diff %s, ak apply %s, ak discard %s", s->total, s->id, s->id, s->id,
		     s->id);
}

/* a run that came to its end has made what is wanted; after any other one, rollback stays possible for who goes on with the session */
static void forget_touched(struct run *r)
{
	struct ak_touched t;

	if (r->keeps && r->result.end == RUN_DONE)
		(void)ak_rollback(r->xc.cl, AK_ROLLBACK_FORGET, &t, NULL);
}

/* no sandbox is left: which protected names have changed, where they were written directly. The executor tells people itself */
static void look_at_protected(struct run *r)
{
	if (!r->xc.cl || r->xc.write != AK_WRITE_DIRECT || ak_changes(r->xc.cl, 0, 0, &r->result.changes, NULL) < 0)
		return;
	r->result.direct = true;
	r->result.has_changes = r->result.changes.nprotected > 0;
}

/* the sandbox ends here, too */
static void finish_changes(struct run *r)
{
	bool apply = want_apply(r);
	struct ak_err err = { 0 };
	int rc = ak_finish(r->xc.cl, r->xc.sandbox, apply ? AK_FINISH_APPLY : AK_FINISH_KEEP, AK_FINISH_FORCE, &r->result.changes, &err);

	if (rc == 0) {
		r->xc.sandbox = 0;
		r->result.has_changes = true;
		tell_changes(r, apply);
	} else if (r->result.end != RUN_SANDBOX) {
		run_out_warn_err(&r->out, "what became of the changes is not known (see ak sessions list): ", &err);
		if (r->result.end == RUN_DONE) {
			r->result.err = err;
			(void)fail(r, RUN_ERROR);
		}
	}
}

/* "run: ..." of the parts that both commands have */
static void name_command(struct ak_err *err, const char *name)
{
	struct ak_err was = *err;

	if (strncmp(was.msg, "run: ", 5) != 0)
		return;
	(void)ak_err_set(err, was.code, "%s: %s", name, was.msg + 5);
	ak_err_hint(err, "%s", was.hint);
}

static int finish(struct run *r)
{
	struct run_about about = { .session_id = r->session.id[0] ? r->session.id : NULL, .model = r->provider.target.model,
				   .provider = r->provider.target.name,
				   .price_as_of = r->provider.price ? r->prices.as_of : NULL };
	struct ak_err err = { 0 };
	int code;

	if (r->result.end == RUN_DONE && r->opts.fail_on_denied && r->result.ndenials > 0) {
		r->result.end = RUN_DENIED;
		(void)ak_err_set(&r->result.err, EACCES, "%zu call(s) were denied", r->result.ndenials);
	}
	/* nothing may be left when the result says that it is over */
	if (r->xc.cl && r->xc.write == AK_WRITE_COW)
		finish_changes(r);
	forget_touched(r);
	if (xc_sandbox_destroy(&r->xc, &err) < 0 && r->result.end != RUN_SANDBOX && !cancel_came(&r->cancel))
		run_out_warn(&r->out, "warning: the sandbox did not end: %s", err.msg);
	look_at_protected(r);
	r->result.duration_ms = tool_now_ms() - r->start_ms;
	r->result.limits_hit = r->tools.limits_hit;
	code = run_exit_code(&r->result);
	session_about_turn(&r->about, &r->result, &r->budget, (uint32_t)code);
	if (r->front)
		name_command(&r->result.err, r->front->name);
	if (run_out_result(&r->out, &r->result, &about) < 0 && code == 0)
		code = 1;
	/* if we die from here on, ak writes no second one; if it is gone, nobody does */
	if (r->xc.cl)
		(void)ak_shutdown(r->xc.cl, true, NULL);
	return code;
}

/* @argv[6]: how many texts of settings come before the words. Return: where the words begin; -1 */
static int words_at(int argc, char *argv[])
{
	uint64_t n;

	return argc < 7 || ak_parse_u64(argv[6], 0, (uint64_t)argc - 7, &n) < 0 ? -1 : 7 + (int)n;
}

static int begin_run(struct run *r, int argc, char *argv[])
{
	struct ak_err *err = &r->result.err;
	int at = words_at(argc, argv);
	int said = run_opts_settings(argv + 7, (size_t)at - 7, &r->opts, err);
	int opened, rc;

	if (r->front)
		r->front->settings(&r->opts);
	/* the words are read in any case: they say in which form the result is wanted */
	rc = run_opts_parse(argc - at, argv + at, &r->opts, said < 0 ? NULL : err);
	rc = said < 0 ? said : rc;

	/* the words may be wrong, but they say in which form */
	opened = run_out_open(&r->out, &r->opts, rc < 0 ? NULL : err);
	if (rc < 0 && strcmp(argv[0], "ok") != 0)
		(void)hear_executor(r, argv);
	else if (rc < 0 || opened < 0)
		(void)fail(r, RUN_USAGE);
	return rc < 0 ? rc : opened;
}

static int print_help(struct run *r)
{
	const char *help = r->front ? r->front->help() : run_opts_help();
	int code = ak_write_all(STDOUT_FILENO, help, strlen(help)) < 0;

	tear_down(r);
	free(r);
	return code;
}

static void work(struct run *r, char *argv[])
{
	budget_start(&r->budget, &r->opts.limits, r->start_ms);
	if (stages(r, argv) < 0)
		return;
	if (r->front) {
		r->front->work(r);
	} else {
		loop_run(&r->loop);
		structured_finish(&r->structured, &r->loop);
	}
}

int run_main(int argc, char *argv[], char *envp[], const struct run_front *front)
{
	struct run *r;
	int code;

	if (words_at(argc, argv) < 0) {
		static const char text[] = "ak: ak-agent is started by ak (see ak run --help)\n";

		(void)ak_write_all(STDERR_FILENO, text, sizeof(text) - 1);
		return 2;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return 1;
	r->env = envp;
	r->front = front;
	r->start_ms = tool_now_ms();
	r->session.dir = r->transcript.fd = r->spools.fd = r->trace.fd = r->about.fd = r->points.fd = r->out.file = -1;
	r->cancel = (struct cancel){ -1, -1, -1 };
	(void)signal(SIGPIPE, SIG_IGN);
	run_opts_init(&r->opts);
	if (cancel_open(&r->cancel, &r->result.err) < 0) {
		(void)fail(r, RUN_ERROR);
	} else if (begin_run(r, argc, argv) == 0) {
		if (r->opts.help)
			return print_help(r);
		work(r, argv);
	}
	code = finish(r);
	if (front)
		front->close(r);
	tear_down(r);
	free(r);
	return code;
}

int cmd_run(int argc, char *argv[], char *envp[])
{
	return run_main(argc, argv, envp, NULL);
}
