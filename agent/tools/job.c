/* SPDX-License-Identifier: Apache-2.0 */
/* job: background jobs of the sandbox: list, logs, wait, kill. Process: agent. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/json.h"
#include "agent/limits_note.h"
#include "agent/tool.h"
#include "executor/shared/ak_err.h"

struct listing {
	struct ak_buf text;
	uint32_t want; /* 0: all */
	size_t n;
};

static const char *status_name(uint8_t status)
{
	static const char *const names[AK_STATUS_END] = { "exited", "signaled", "timed out", "out of memory", "out of processor time",
							  "output closed", "failed" };

	return status < AK_STATUS_END ? names[status] : "ended";
}

static void put_job(void *arg, const struct ak_job *j)
{
	struct listing *l = arg;

	if (l->want && j->cmd != l->want)
		return;
	l->n++;
	if (j->running)
		ak_buf_printf(&l->text, "%s%" PRIu32 "  running, %" PRIu64 "s, %" PRIu64 " bytes of output: %s", l->n > 1 ? "\n" : "",
			      j->cmd, j->runtime_ms / 1000, j->log_bytes, j->title);
	else
		ak_buf_printf(&l->text, "%s%" PRIu32 "  %s, exit code %" PRIu32 ", after %" PRIu64 "s, %" PRIu64 " bytes of output: %s",
			      l->n > 1 ? "\n" : "", j->cmd, status_name(j->status), j->exit_code, j->runtime_ms / 1000, j->log_bytes,
			      j->title);
}

static int list(struct tool_run *r, uint32_t id)
{
	struct listing l = { .want = id };
	struct ak_err err = { 0 };
	int rc = ak_job_list(r->env->xc->cl, 0, put_job, &l, &err);

	if (rc < 0)
		rc = tool_failed(r, rc, NULL, &err);
	else if (l.n == 0 && id)
		rc = tool_say(r, true, "there is no job %" PRIu32, id);
	else if (l.n == 0)
		rc = tool_say(r, false, "(no jobs)");
	else
		rc = tool_finish(r, false, &(struct tool_piece){ l.text.data, l.text.len }, 1);
	ak_buf_release(&l.text);
	return rc;
}

/* everything that is kept of a job's output; the middle of a long one is gone */
static int logs(struct tool_run *r, uint32_t id)
{
	struct ak_buf text = { .max = AK_JOB_LOG_MAX + 4096u };
	struct ak_err err = { 0 };
	struct ak_log_data d = { 0 };
	uint64_t at = 0;
	int rc;

	while ((rc = ak_job_log(r->env->xc->cl, id, at, &d, &err)) == 0 && d.bytes_len > 0) {
		if (d.offset > at)
			ak_buf_printf(&text, "\n... [%" PRIu64 " bytes over the output limit were dropped] ...\n", d.offset - at);
		ak_buf_add(&text, d.bytes, d.bytes_len);
		at = d.offset + d.bytes_len;
	}
	if (rc < 0) {
		rc = tool_failed(r, rc, NULL, &err);
	} else {
		if (text.len == 0)
			ak_buf_str(&text, "(no output)");
		if (d.running)
			ak_buf_printf(&text, "\n[job %" PRIu32 " is still running]", id);
		rc = text.failed ? -ENOMEM : tool_finish(r, false, &(struct tool_piece){ text.data, text.len }, 1);
	}
	ak_buf_release(&text);
	return rc;
}

static int kill_job(struct tool_run *r, uint32_t id)
{
	struct ak_err err = { 0 };
	int rc = ak_kill(r->env->xc->cl, id, &err);

	return rc < 0 ? tool_failed(r, rc, NULL, &err) : tool_say(r, false, "Ended job %" PRIu32 ".", id);
}

static int wait_job(struct tool_run *r, uint32_t id)
{
	uint64_t now = tool_now_ms(), ms = r->env->tool_timeout_ms;
	struct ak_err err = { 0 };
	int rc;

	if (r->env->deadline_ms && (r->env->deadline_ms <= now || r->env->deadline_ms - now < ms))
		ms = r->env->deadline_ms > now ? r->env->deadline_ms - now : 1;
	r->timeout_ms = ms;
	rc = ak_wait_start(r->env->xc->cl, id, ms, &r->tag, &err);
	if (rc < 0)
		return tool_failed(r, rc, NULL, &err);
	r->state = TOOL_RUNNING;
	return 0;
}

static int job_event(struct tool_run *r, struct ak_event *ev)
{
	char note[LIMITS_NOTE_MAX];
	uint64_t id = 0;

	(void)json_opt_u64(r->args, "id", &id, NULL);
	if (ev->type == AK_EVENT_DONE) {
		r->env->limits_hit |= limits_note(&ev->done.r, note, sizeof(note));
		return tool_say(r, false, "Job %" PRIu64 " ended: %s, exit code %" PRIu32 ".%s%s", id, status_name(ev->done.r.status),
				ev->done.r.exit_code, note[0] ? "\n" : "", note);
	}
	if (ev->type == AK_EVENT_REFUSED && ev->code == AK_CODE_TIMEOUT)
		return tool_say(r, false, "Job %" PRIu64 " is still running after %" PRIu64 "s.", id, (r->timeout_ms + 999) / 1000);
	if (ev->type == AK_EVENT_REFUSED)
		return tool_say(r, true, "%s", ev->err.msg);
	return 0;
}

static int job_start(struct tool_run *r)
{
	const char *action = json_str(json_get(r->args, "action"));
	uint64_t id = 0;

	(void)json_opt_u64(r->args, "id", &id, NULL);
	if (strcmp(action, "list") == 0)
		return list(r, 0);
	if (id == 0 || id > UINT32_MAX)
		return tool_say(r, true, "Invalid arguments for 'job': id: a job's number is needed for %s", action);
	if (strcmp(action, "status") == 0)
		return list(r, (uint32_t)id);
	if (strcmp(action, "logs") == 0)
		return logs(r, (uint32_t)id);
	if (strcmp(action, "kill") == 0)
		return kill_job(r, (uint32_t)id);
	return wait_job(r, (uint32_t)id);
}

const struct tool tool_job = {
	.name = "job",
	.description = "Background jobs that bash has started: list them, show the status or the output of one, wait for its end, end it.",
	.schema = "{\"type\":\"object\",\"properties\":{\"action\":{\"enum\":[\"list\",\"status\",\"logs\",\"wait\",\"kill\"]},"
		  "\"id\":{\"type\":\"integer\",\"minimum\":1}},\"required\":[\"action\"],\"additionalProperties\":false}",
	.start = job_start,
	.event = job_event,
};
