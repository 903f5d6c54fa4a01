/* SPDX-License-Identifier: Apache-2.0 */
/* bash: a shell text in the sandbox's session, or as a background job. Process: agent. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/json.h"
#include "agent/limits_note.h"
#include "agent/tool.h"
#include "executor/shared/ak_err.h"

#define KILL_AFTER_MS 2000u

static int start_job(struct tool_run *r, struct ak_request *rq)
{
	struct ak_err err = { 0 };
	uint32_t job = 0;
	int rc;

	rq->kind = AK_EXEC_SHELL;
	rq->flags = AK_EXEC_JOB;
	rc = ak_exec_job(r->env->xc->cl, rq, &job, &err);
	if (rc < 0)
		return tool_failed(r, rc, NULL, &err);
	return tool_say(r, false, "Started job %" PRIu32 ". The tool job shows its output (logs), waits for it (wait) and ends it (kill).", job);
}

static void set_time(struct tool_run *r, uint64_t wish_s)
{
	struct tool_env *env = r->env;

	r->timeout_ms = wish_s ? (wish_s < UINT64_MAX / 1000 ? wish_s * 1000 : UINT64_MAX) : env->tool_timeout_ms;
	r->clamped = r->timeout_ms > env->max_tool_timeout_ms;
	if (r->clamped)
		r->timeout_ms = env->max_tool_timeout_ms;
}

/* what is left of the run's own time is less than the tool's: it ends with the run */
static uint64_t time_left(const struct tool_run *r)
{
	uint64_t now = tool_now_ms();
	uint64_t left = r->env->deadline_ms > now ? r->env->deadline_ms - now : 1;

	return r->env->deadline_ms && left < r->timeout_ms ? left : r->timeout_ms;
}

static int bash_start(struct tool_run *r)
{
	const char *command = json_str(json_get(r->args, "command"));
	const char *argv[] = { command, NULL };
	struct ak_request rq = { .kind = AK_EXEC_SESSION, .argv = argv, .flags = AK_EXEC_TIMEOUT_SET, .kill_after_ms = KILL_AFTER_MS,
				 .stream = { AK_STREAM_NULL, AK_STREAM_CAPTURE, AK_STREAM_CAPTURE } };
	struct ak_err err = { 0 };
	uint64_t wish_s = 0;
	int rc;

	(void)json_opt_u64(r->args, "timeout", &wish_s, NULL);
	set_time(r, wish_s);
	rc = tool_sandbox(r, &rq.sandbox);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (json_true(json_get(r->args, "background"))) {
		memset(rq.stream, 0, sizeof(rq.stream));
		return start_job(r, &rq);
	}
	r->timeout_ms = time_left(r);
	rq.timeout_ms = r->timeout_ms;
	rc = ak_exec_start(r->env->xc->cl, &rq, &r->tag, &err);
	if (rc < 0)
		return tool_failed(r, rc, NULL, &err);
	r->state = TOOL_RUNNING;
	return 0;
}

/* ---- the result ---- */

#define PIECES_MAX 16u

struct parts {
	struct tool_piece v[PIECES_MAX];
	size_t n;
	char notes[4][160];
	size_t nnotes;
};

static void add(struct parts *p, const void *bytes, size_t n)
{
	if (n > 0 && p->n < PIECES_MAX)
		p->v[p->n++] = (struct tool_piece){ bytes, n };
}

static void add_line(struct parts *p, const char *text)
{
	if (p->n > 0)
		add(p, "\n", 1);
	add(p, text, strlen(text));
}

static size_t without_newlines(const uint8_t *b, size_t n)
{
	while (n > 0 && b[n - 1] == '\n')
		n--;
	return n;
}

/* one captured stream; Return: was there anything? */
static bool add_stream(struct parts *p, const struct ak_done *d, unsigned i, const char *title)
{
	const uint8_t *head, *tail;
	size_t nh, nt;

	ak_done_output(d, i, &head, &nh, &tail, &nt);
	nt = without_newlines(tail, nt);
	if (nt == 0)
		nh = without_newlines(head, nh);
	if (nh + nt == 0)
		return false;
	if (title)
		add_line(p, title);
	if (p->n > 0)
		add(p, "\n", 1);
	add(p, head, nh);
	if (d->r.out[i].dropped > 0) {
		char *note = p->notes[p->nnotes++];

		(void)snprintf(note, sizeof(p->notes[0]), "\n... [%" PRIu64 " bytes over the output limit were dropped] ...\n",
			       d->r.out[i].dropped);
		add(p, note, strlen(note));
	}
	add(p, tail, nt);
	return true;
}

/* why it ended, where the code alone does not tell; "" else */
static void ending(const struct tool_run *r, const struct ak_result *res, char *text, size_t size)
{
	r->env->limits_hit |= limits_note(res, text, size);
	if (text[0])
		return;
	switch (res->status) {
	case AK_STATUS_TIMED_OUT:
		(void)snprintf(text, size, "[timed out after %" PRIu64 "s]", (r->timeout_ms + 999) / 1000);
		break;
	case AK_STATUS_SIGNALED:
		(void)snprintf(text, size, "[killed by signal %" PRIu32 "]", res->signal);
		break;
	default:
		break;
	}
}

static int tell(struct tool_run *r, const struct ak_done *d)
{
	const struct ak_result *res = &d->r;
	struct parts p = { .n = 0 };
	char why[LIMITS_NOTE_MAX], code[40], clamped[80];
	bool said;

	if (res->status == AK_STATUS_FAILED && res->duration_ns == 0) {
		r->exit_code = 127;
		return tool_say(r, true, "%s: %s\n[exit code 127]", tool_unavailable(r), res->text);
	}
	tool_ended(r, res);
	(void)add_stream(&p, d, 0, NULL);
	said = add_stream(&p, d, 1, "[stderr]");
	ending(r, res, why, sizeof(why));
	if (why[0]) {
		if (!said)
			add_line(&p, "[stderr]");
		add_line(&p, why);
	}
	if (res->status == AK_STATUS_FAILED)
		add_line(&p, res->text);
	if (res->exit_code != 0) {
		(void)snprintf(code, sizeof(code), "[exit code %" PRIu32 "]", res->exit_code);
		add_line(&p, code);
	}
	if (r->clamped) {
		(void)snprintf(clamped, sizeof(clamped), "[timeout lowered to %" PRIu64 "s, the maximum]",
			       r->env->max_tool_timeout_ms / 1000);
		add_line(&p, clamped);
	}
	if (p.n == 0)
		add_line(&p, "(no output)");
	return tool_finish(r, res->exit_code != 0, p.v, p.n);
}

static int bash_event(struct tool_run *r, struct ak_event *ev)
{
	switch (ev->type) {
	case AK_EVENT_STARTED:
		r->cmd = ev->cmd;
		return 0;
	case AK_EVENT_DONE:
		return tell(r, &ev->done);
	case AK_EVENT_REFUSED:
		r->exit_code = 127;
		if (ev->code == AK_CODE_DEAD || ev->code == AK_CODE_NO_SANDBOX)
			r->env->sandbox_dead = true;
		return tool_say(r, true, "%s: %s\n[exit code 127]", tool_unavailable(r), ev->err.msg);
	}
	return 0;
}

const struct tool tool_bash = {
	.name = "bash",
	.description = "Run a shell command in the sandbox. The working folder, exported variables and functions carry over to the next "
		       "call. The result is stdout, then stderr, then the exit code if it is not 0. With background the command goes on "
		       "as a job, which starts in the workspace, and the result is the job's number.",
	.schema = "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\",\"description\":\"text for bash\"},"
		  "\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"seconds\"},"
		  "\"background\":{\"type\":\"boolean\",\"description\":\"start it as a job and do not wait\"}},"
		  "\"required\":[\"command\"],\"additionalProperties\":false}",
	.start = bash_start,
	.event = bash_event,
};
