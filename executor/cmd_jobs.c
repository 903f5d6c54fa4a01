/* SPDX-License-Identifier: Apache-2.0 */
/* `ak jobs` and `ak kill`: background jobs of a named sandbox. Process: a client. Privilege: the caller's. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "executor/cmd_named.h"
#include "executor/named.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define KILL_AFTER_MS 2000u	/* from SIGTERM to SIGKILL, as with --timeout */
#define KILLED_MS 10000u

static const char jobs_usage[] = "usage: ak jobs NAME [--json]\n"
				 "List the background jobs of a named sandbox, running and ended ones.\n";
static const char kill_usage[] = "usage: ak kill NAME JOB\n"
				 "End a background job: SIGTERM, and after 2 seconds SIGKILL for everything it has started.\n";

static const char *status_name(const struct ak_job *job)
{
	static const char *const names[AK_STATUS_END] = {
		[AK_STATUS_EXITED] = "exited",		 [AK_STATUS_SIGNALED] = "signaled",
		[AK_STATUS_TIMED_OUT] = "timed_out",	 [AK_STATUS_OOM_KILLED] = "oom_killed",
		[AK_STATUS_CPU_TIME] = "cpu_time_exceeded", [AK_STATUS_OUTPUT_CLOSED] = "output_closed",
		[AK_STATUS_FAILED] = "failed",
	};

	if (job->running)
		return "running";
	return job->status < AK_STATUS_END ? names[job->status] : "failed";
}

struct listing {
	struct ak_buf out;
	struct ak_json json;
	size_t n;
};

static void job_text(void *arg, const struct ak_job *job)
{
	struct listing *l = arg;
	char title[AK_TITLE_MAX + 1], code[16] = "-";

	if (l->n++ == 0)
		ak_buf_printf(&l->out, "%-8s%-18s%-6s%-12s%-12s%s\n", "JOB", "STATUS", "CODE", "SECONDS", "BYTES", "COMMAND");
	if (!job->running)
		(void)snprintf(code, sizeof(code), "%u", job->exit_code);
	(void)snprintf(title, sizeof(title), "%s", job->title);
	ak_text_clean(title);
	ak_buf_printf(&l->out, "%-8u%-18s%-6s%-12" PRIu64 "%-12" PRIu64 "%s\n", job->cmd, status_name(job), code,
		      job->runtime_ms / 1000, job->log_bytes, title);
}

static void job_json(void *arg, const struct ak_job *job)
{
	struct listing *l = arg;
	struct ak_json *j = &l->json;

	ak_json_obj(j, NULL);
	ak_json_u64(j, "job", job->cmd);
	ak_json_str(j, "status", status_name(job));
	if (job->running)
		ak_json_null(j, "exit_code");
	else
		ak_json_u64(j, "exit_code", job->exit_code);
	ak_json_milli(j, "started", job->started_ms);
	ak_json_milli(j, "duration", job->runtime_ms);
	ak_json_u64(j, "log_bytes", job->log_bytes);
	ak_json_str(j, "command", job->title);
	ak_json_obj_end(j);
}

static int list_json(struct ak_client *cl, struct listing *l, struct ak_err *err)
{
	int r;

	ak_json_init(&l->json, &l->out);
	ak_json_obj(&l->json, NULL);
	ak_json_str(&l->json, "schema", "ak-jobs/1");
	ak_json_arr(&l->json, "jobs");
	r = ak_job_list(cl, 0, job_json, l, err);
	ak_json_arr_end(&l->json);
	ak_json_obj_end(&l->json);
	ak_buf_str(&l->out, "\n");
	return r;
}

int cmd_jobs(int argc, char *const argv[], char *const env[])
{
	bool json = false;
	const struct cmd_flag flags[] = { { "--json", NULL, &json }, { NULL, NULL, NULL } };
	const char *words[CMD_WORDS_MAX];
	struct named n = NAMED_NONE;
	struct listing l = { 0 };
	struct ak_err err = { 0 };
	int code, r = cmd_words(argc, argv, jobs_usage, flags, 1, words, &err);

	if (r != 0)
		return r == 1 ? 0 : named_usage(&err);
	if (runtime_check_name(words[0], &err) < 0)
		return named_usage(&err);
	r = named_open(&n, words[0], env, &err);
	if (r == 0)
		r = json ? list_json(n.cl, &l, &err) : ak_job_list(n.cl, 0, job_text, &l, &err);
	if (r == 0 && l.out.failed)
		r = ak_err_set(&err, ENOMEM, "out of memory");
	code = r < 0 ? named_fail(&err) : l.out.len ? named_print(l.out.data, l.out.len) : 0;
	ak_buf_release(&l.out);
	named_release(&n);
	return code;
}

/* Return: 1 when the job has ended, 0 when it still runs, negative errno. */
static int wait_job(struct ak_client *cl, uint32_t job, uint64_t timeout_ms, struct ak_err *err)
{
	struct ak_done done = { 0 };
	int r = ak_job_wait(cl, job, timeout_ms, &done, err);

	if (r == -EREMOTEIO && ak_refusal(cl, NULL) == AK_CODE_TIMEOUT)
		return 0;
	if (r < 0)
		return r;
	ak_done_release(&done);
	return 1;
}

static int end_job(struct ak_client *cl, uint32_t job, struct ak_err *err)
{
	int r = ak_signal(cl, job, SIGTERM, err);

	if (r == 0)
		r = wait_job(cl, job, KILL_AFTER_MS, err);
	if (r != 0)
		return r < 0 ? r : 0;
	/* it may end by itself at this moment; the wait tells */
	(void)ak_kill(cl, job, NULL);
	r = wait_job(cl, job, KILLED_MS, err);
	return r == 0 ? ak_err_set(err, ETIMEDOUT, "job %u has not ended yet", job) : r < 0 ? r : 0;
}

int cmd_kill_job(int argc, char *const argv[], char *const env[])
{
	const struct cmd_flag flags[] = { { NULL, NULL, NULL } };
	const char *words[CMD_WORDS_MAX];
	struct named n = NAMED_NONE;
	struct ak_err err = { 0 };
	uint32_t job;
	int r = cmd_words(argc, argv, kill_usage, flags, 2, words, &err);

	if (r != 0)
		return r == 1 ? 0 : named_usage(&err);
	if (runtime_check_name(words[0], &err) < 0 || cmd_job_id(words[1], &job, &err) < 0)
		return named_usage(&err);
	r = named_open(&n, words[0], env, &err);
	if (r == 0)
		r = end_job(n.cl, job, &err);
	named_release(&n);
	return r < 0 ? named_fail(&err) : 0;
}
