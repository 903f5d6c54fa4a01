/* SPDX-License-Identifier: Apache-2.0 */
/* What a run shows. Process: agent. Privilege: none. */
#include "agent/run_out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/exec_client.h"
#include "agent/money.h"
#include "agent/provider/provider.h"
#include "agent/show.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"

#define NOTE_MAX 240u

/* a link is not followed, and a pipe whose other end nobody reads is not waited for. Emptied once it is known what it is */
static int open_last(struct run_out *o, const char *path, struct ak_err *err)
{
	struct stat st;

	o->file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
	if (o->file < 0 && errno == ELOOP)
		return ak_err_set(err, ELOOP, "run: --output-last-message: %s is a link: name the file itself", path);
	if (o->file < 0 && errno != ENXIO)
		return ak_err_sys(err, errno, "run: --output-last-message: open %s", path);
	if (o->file < 0 || fstat(o->file, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))) {
		ak_fd_close(&o->file);
		return ak_err_set(err, EINVAL, "run: --output-last-message: %s is no regular file: name one, or a new one", path);
	}
	return S_ISREG(st.st_mode) && ftruncate(o->file, 0) < 0 ? ak_err_sys(err, errno, "run: --output-last-message: empty %s", path) : 0;
}

int run_out_open(struct run_out *o, const struct run_opts *opts, struct ak_err *err)
{
	*o = (struct run_out){ .format = opts->format, .quiet = opts->quiet, .tty_out = isatty(STDOUT_FILENO) == 1, .file = -1 };
	if (!opts->output_last_message)
		return 0;
	return open_last(o, opts->output_last_message, err);
}

void run_out_close(struct run_out *o)
{
	ak_fd_close(&o->file);
}

/* ---- lines ---- */

static void say(const struct run_out *o, const char *text)
{
	struct ak_buf b = { 0 };
	char line[NOTE_MAX + 64];

	if (o->view)
		o->view->line(o->view->ctx);
	(void)snprintf(line, sizeof(line), "%s", text);
	ak_text_clean(line);
	ak_buf_str(&b, "ak: ");
	show_text(line, strlen(line), SHOW_LINE, &b, NULL); /* a provider's words may be in it, or a model's */
	ak_buf_str(&b, "\n");
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);
	ak_buf_release(&b);
}

void run_out_note(struct run_out *o, const char *fmt, ...)
{
	char text[NOTE_MAX];
	va_list ap;

	if (o->quiet) {
		if (o->view)
			o->view->line(o->view->ctx);
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(o, text);
}

void run_out_warn(struct run_out *o, const char *fmt, ...)
{
	char text[NOTE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(o, text);
}

void run_out_warn_err(struct run_out *o, const char *what, const struct ak_err *err)
{
	run_out_warn(o, "warning: %s%s", what, err->msg);
	if (err->hint[0])	/* a line of its own: the two are too long for one */
		run_out_warn(o, "  %s", err->hint);
}

static void put_out(struct run_out *o, const struct ak_buf *b)
{
	struct ak_err err = { 0 };
	int rc = o->failed ? 0 : b->failed ? -ENOMEM : ak_write_all(STDOUT_FILENO, b->data, b->len);

	if (rc == 0)
		return;
	o->failed = -rc;
	(void)ak_err_sys(&err, -rc, "run: write to standard output");
	run_out_warn(o, "%s", err.msg);
}

/* ---- stream-json ---- */

static void stamp(char *buf, size_t size)
{
	struct timespec t = { 0 };
	struct tm tm;
	size_t n;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	buf[0] = '\0';
	if (!gmtime_r(&t.tv_sec, &tm))
		return;
	n = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(buf + n, size - n, ".%03ldZ", t.tv_nsec / 1000000);
}

static void open_event(struct run_out *o, struct ak_json *j, struct ak_buf *b)
{
	ak_json_init(j, b);
	ak_json_obj(j, NULL);
	(void)o;
}

/* the members every line has */
static void close_event(struct run_out *o, struct ak_json *j, struct ak_buf *b)
{
	char ts[40];

	stamp(ts, sizeof(ts));
	ak_json_str(j, "ts", ts);
	ak_json_u64(j, "seq", o->seq++);
	ak_json_obj_end(j);
	ak_buf_str(b, "\n");
	put_out(o, b);
	ak_buf_release(b);
}

static void put_session(struct run_out *o, struct ak_json *j)
{
	ak_json_str(j, "session_id", o->session_id[0] ? o->session_id : NULL);
}

static void put_isolation(struct ak_json *j, const struct exec_client *x)
{
	ak_json_obj(j, "isolation");
	ak_json_str(j, "backend", xc_backend_name(x->backend));
	if (x->backend == AK_BACKEND_NATIVE) {
		ak_json_str(j, "seccomp", xc_seccomp_name(x->seccomp));
		ak_json_u64(j, "landlock_abi", x->landlock_abi);
	} else {
		ak_json_str(j, "seccomp", x->backend == AK_BACKEND_DOCKER ? "docker" : NULL);
		ak_json_null(j, "landlock_abi");
	}
	ak_json_str(j, "network", xc_net_name(x->net));
	ak_json_str(j, "root", x->root);
	ak_json_str(j, "workspace", xc_write_name(x->write));
	ak_json_str(j, "identity", xc_identity_name(x->identity));
	ak_json_obj_end(j);
}

void run_out_start(struct run_out *o, const char *session_id, const struct run_start *s)
{
	struct ak_buf b = { 0 };
	struct ak_json j;

	(void)snprintf(o->session_id, sizeof(o->session_id), "%s", session_id);
	o->stored = s->stored;
	run_out_note(o, "session %s%s, model %s (%s), workspace %s (%s), approval %s", session_id, s->resumed ? " goes on" : "", s->model,
		     s->provider, s->xc->workspace, xc_write_name(s->xc->write), s->approval);
	for (size_t i = 0; i < s->xc->nwarnings; i++)
		run_out_note(o, "sandbox: %s", s->xc->warnings[i]);
	if (o->format != RUN_STREAM_JSON)
		return;
	open_event(o, &j, &b);
	ak_json_str(&j, "type", "system");
	ak_json_str(&j, "subtype", "init");
	put_session(o, &j);
	ak_json_str(&j, "version", AK_VERSION);
	ak_json_str(&j, "model", s->model);
	ak_json_str(&j, "provider", s->provider);
	ak_json_str(&j, "api", s->api);
	ak_json_str(&j, "cwd", s->xc->workspace);
	ak_json_str(&j, "approval", s->approval);
	ak_json_bool(&j, "resumed", s->resumed);
	ak_json_arr(&j, "tools");
	for (size_t i = 0; i < s->ntools; i++)
		ak_json_str(&j, NULL, s->tools[i].name);
	ak_json_arr_end(&j);
	put_isolation(&j, s->xc);
	close_event(o, &j, &b);
}

static void put_text_block(struct ak_json *j, const char *text, size_t len)
{
	ak_json_obj(j, NULL);
	ak_json_str(j, "type", "text");
	ak_json_strn(j, "text", text, len);
	ak_json_obj_end(j);
}

static void put_message(struct ak_json *j, const struct msg *m)
{
	ak_json_obj(j, "message");
	ak_json_str(j, "role", m->role == MSG_USER ? "user" : "assistant");
	ak_json_arr(j, "content");
	for (size_t i = 0; i < m->nresults; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "tool_result");
		ak_json_str(j, "tool_use_id", m->results[i].call_id);
		ak_json_strn(j, "content", m->results[i].text, m->results[i].text_len);
		ak_json_bool(j, "is_error", m->results[i].is_error);
		ak_json_obj_end(j);
	}
	if (m->text && m->text_len)
		put_text_block(j, m->text, m->text_len);
	for (size_t i = 0; i < m->ncalls; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "tool_use");
		ak_json_str(j, "id", m->calls[i].id);
		ak_json_str(j, "name", m->calls[i].name);
		ak_json_raw(j, "input", m->calls[i].args, m->calls[i].args_len);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
	ak_json_obj_end(j);
}

static void put_turn(struct run_out *o, const char *type, const struct msg *m)
{
	struct ak_buf b = { 0 };
	struct ak_json j;

	open_event(o, &j, &b);
	ak_json_str(&j, "type", type);
	put_session(o, &j);
	put_message(&j, m);
	close_event(o, &j, &b);
}

void run_out_assistant(struct run_out *o, const struct msg *m, uint64_t turn, const struct usage *u)
{
	char cost[MONEY_TEXT] = "unknown";

	if (o->view) {
		o->view->assistant(o->view->ctx, m, turn, u);
		return;
	}
	if (u->cost_source != COST_NONE)
		(void)money_format(u->cost_picousd, 4, cost);
	run_out_note(o, "turn %" PRIu64 ": %" PRIu64 " tokens in, %" PRIu64 " out, $%s%s", turn, u->prompt_total, u->output, cost,
		     u->estimated ? " (estimated)" : "");
	if (m->ncalls && m->text && m->text_len)
		run_out_note(o, "  %.*s", (int)(m->text_len < 200 ? m->text_len : 200), m->text);
	for (size_t i = 0; i < m->ncalls; i++)
		run_out_note(o, "  %s %.*s", m->calls[i].name, (int)(m->calls[i].args_len < 160 ? m->calls[i].args_len : 160),
			     m->calls[i].args);
	if (o->format == RUN_STREAM_JSON)
		put_turn(o, "assistant", m);
}

void run_out_call_started(struct run_out *o, const struct tool_call *c, const struct cJSON *args)
{
	if (o->view)
		o->view->call_started(o->view->ctx, c, args);
}

void run_out_call_ended(struct run_out *o, const struct tool_call *c, const struct tool_run *r)
{
	if (o->view)
		o->view->call_ended(o->view->ctx, c, r);
}

void run_out_results(struct run_out *o, const struct msg *m)
{
	for (size_t i = 0; i < m->nresults && !o->view; i++) {
		const struct tool_result *r = &m->results[i];
		size_t n = strcspn(r->text, "\n");

		if (r->is_error)
			run_out_note(o, "  error: %.*s", (int)(n < 160 ? n : 160), r->text);
	}
	if (o->format == RUN_STREAM_JSON)
		put_turn(o, "user", m);
}

/* ---- the end ---- */

/* a terminal obeys control characters, and turns text around; a file gets the text as it is */
static void put_final(struct run_out *o, const char *text, struct ak_buf *b)
{
	size_t n = strlen(text);

	if (o->tty_out)
		show_text(text, n, SHOW_PROSE, b, NULL);
	else
		ak_buf_add(b, text, n);
	if (n == 0 || text[n - 1] != '\n')
		ak_buf_str(b, "\n");
}

static void say_end(struct run_out *o, const struct run_result *r)
{
	char cost[MONEY_TEXT] = "unknown";

	if (r->err.msg[0])
		run_out_warn(o, "%s%s%s%s", r->err.msg, r->err.hint[0] ? " (" : "", r->err.hint, r->err.hint[0] ? ")" : "");
	if (r->usage.cost_source != COST_NONE)
		(void)money_format(r->usage.cost_picousd, 4, cost);
	if (o->session_id[0])
		run_out_note(o, "%s: %" PRIu64 " turns, %" PRIu64 " tool calls, $%s, %" PRIu64 ".%" PRIu64 " s%s%s", run_status(r),
			     r->turns, r->tool_calls, cost, r->duration_ms / 1000, r->duration_ms % 1000 / 100,
			     o->stored ? "; go on with --resume " : "", o->stored ? o->session_id : "");
}

static void write_file(struct run_out *o, const struct run_result *r)
{
	struct ak_err err = { 0 };
	int rc = o->file < 0 || !r->text ? 0 : ak_write_all(o->file, r->text, strlen(r->text));

	if (rc < 0) {
		(void)ak_err_sys(&err, -rc, "run: --output-last-message");
		run_out_warn(o, "%s", err.msg);
		if (!o->failed)
			o->failed = -rc;
	}
}

int run_out_result(struct run_out *o, const struct run_result *r, const struct run_about *a)
{
	struct ak_buf b = { 0 };
	struct ak_json j;

	say_end(o, r);
	write_file(o, r);
	if (o->format == RUN_TEXT) {
		if (r->text)
			put_final(o, r->text, &b);
		if (b.len)
			put_out(o, &b);
		ak_buf_release(&b);
		return -o->failed;
	}
	open_event(o, &j, &b);
	run_result_json(&j, r, a);
	close_event(o, &j, &b);
	return -o->failed;
}
