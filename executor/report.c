/* SPDX-License-Identifier: Apache-2.0 */
/* The result object ak-exec/1. Process: executor. Privilege: none. */
#include "executor/report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "executor/backend.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/relay.h"
#include "executor/report_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_msg.h"

#define ESCAPED_MAX 6	      /* longest escape of one byte: \u0001 */
#define OBJECT_MAX (1u << 20) /* everything but the command's output */

/* The plan, unless it was not finished: then nothing in it has been done */
static const struct plan *plan_of(const struct report *r)
{
	if (r->error && r->stage && (strcmp(r->stage, "usage") == 0 || strcmp(r->stage, "plan") == 0))
		return NULL;
	return r->plan;
}

static const char *status_name(enum run_status s)
{
	switch (s) {
	case RUN_EXITED:
		return "exited";
	case RUN_SIGNALED:
		return "signaled";
	case RUN_TIMED_OUT:
		return "timed_out";
	case RUN_OOM_KILLED:
		return "oom_killed";
	case RUN_CPU_TIME:
		return "cpu_time_exceeded";
	case RUN_OUTPUT_CLOSED:
		return "output_closed";
	case RUN_DISK:
		return "signaled";
	case RUN_FAILED:
		break;
	}
	return "failed";
}

static const char *stage_name(unsigned stage)
{
	switch (stage) {
	case INIT_STAGE_CONFINE:
		return "confine";
	case INIT_STAGE_CWD:
		return "cwd";
	case INIT_STAGE_EXEC:
		return "exec";
	default:
		return "setup";
	}
}

struct report_error report_error_of(const struct report *r)
{
	if (r->error)
		return (struct report_error){r->stage ? r->stage : "setup", r->error->code, r->error->msg,
					     r->error->hint};
	if (r->run && r->run->fail_stage != 0)
		return (struct report_error){stage_name(r->run->fail_stage), r->run->fail_code,
					     r->run->fail_text, r->run->fail_hint};
	if (r->run && r->run->status == RUN_FAILED)
		return (struct report_error){r->stage ? r->stage : "relay", 0,
					     "the sandbox ended without saying how the command ended", ""};
	return (struct report_error){0};
}

/* "SIGKILL", "SIGRTMIN+3"; null when no signal ended the command */
static void put_signal(struct ak_json *j, int signo)
{
	const char *abbreviation = signo > 0 ? sigabbrev_np(signo) : NULL;
	char name[32];

	if (signo <= 0) {
		ak_json_null(j, "signal");
		return;
	}
	if (abbreviation)
		(void)snprintf(name, sizeof(name), "SIG%s", abbreviation);
	else if (signo == SIGRTMIN)
		(void)snprintf(name, sizeof(name), "SIGRTMIN");
	else if (signo > SIGRTMIN && signo <= SIGRTMAX)
		(void)snprintf(name, sizeof(name), "SIGRTMIN+%d", signo - SIGRTMIN);
	else
		(void)snprintf(name, sizeof(name), "SIG%d", signo);
	ak_json_str(j, "signal", name);
}

static const char *const stream_keys[2][5] = {
	{"stdout", "stdout_encoding", "stdout_bytes", "stdout_dropped", "stdout_head_bytes"},
	{"stderr", "stderr_encoding", "stderr_bytes", "stderr_dropped", "stderr_head_bytes"},
};

static void put_output(struct ak_json *j, const struct report *r)
{
	static const struct capture empty = {0};
	struct report_output out[2];

	for (int i = 0; i < 2; i++)
		report_output_of(r->run ? &r->run->out[i] : &empty, &out[i]);
	for (int i = 0; r->with_output && i < 2; i++) {
		if (out[i].utf8)
			ak_json_strv(j, stream_keys[i][0], out[i].v, 3);
		else
			ak_json_base64v(j, stream_keys[i][0], out[i].v, 3);
	}
	for (int i = 0; r->with_output && i < 2; i++)
		ak_json_str(j, stream_keys[i][1], out[i].utf8 ? "utf-8" : "base64");
	for (int i = 0; i < 2; i++) {
		if (!r->run || r->run->counted[i])
			ak_json_u64(j, stream_keys[i][2], r->run ? r->run->out[i].total : 0);
		else
			ak_json_null(j, stream_keys[i][2]);
	}
	for (int i = 0; i < 2; i++)
		ak_json_u64(j, stream_keys[i][3],
			    r->with_output || !r->run ? out[i].dropped : r->run->out[i].dropped);
	for (int i = 0; r->with_output && i < 2; i++) {
		if (out[i].dropped > 0)
			ak_json_u64(j, stream_keys[i][4], out[i].head_len);
	}
}

static void put_times(struct ak_json *j, const struct report *r)
{
	const struct run_result *run = r->run;

	if (run && run->start_ns > 0 && run->end_ns >= run->start_ns)
		ak_json_milli(j, "duration_ms", (run->end_ns - run->start_ns) / 1000);
	else
		ak_json_null(j, "duration_ms");
	if (r->setup_ns > 0)
		ak_json_milli(j, "setup_ms", r->setup_ns / 1000);
	else
		ak_json_null(j, "setup_ms");
}

static void u64_or_null(struct ak_json *j, const char *key, uint64_t v, bool known)
{
	if (known)
		ak_json_u64(j, key, v);
	else
		ak_json_null(j, key);
}

static uint64_t timeval_ms(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000 + (uint64_t)tv.tv_usec / 1000;
}

static void put_usage(struct ak_json *j, const struct report *r)
{
	/* what a warden uses is not what a container uses */
	const struct run_result *run = r->backend && !r->backend->usage ? NULL : r->run;
	uint64_t peak = run ? (uint64_t)run->usage.ru_maxrss * 1024 : 0; /* in KiB: getrusage(2) */

	uint64_t user = run ? timeval_ms(run->usage.ru_utime) : 0, system = run ? timeval_ms(run->usage.ru_stime) : 0;
	uint64_t pids = run ? run->pids_peak : 0;
	const struct cgroup_usage *g = run && run->grouped ? &run->group : NULL;

	if (run && run->mem_peak_bytes > peak)
		peak = run->mem_peak_bytes;
	if (g && g->memory)
		peak = g->memory_peak_bytes;
	if (g && g->cpu) {
		user = g->cpu_user_us / 1000;
		system = g->cpu_system_us / 1000;
	}
	if (g && g->pids)
		pids = g->pids_peak > 0 ? g->pids_peak - 1 : 0;	/* without init */
	ak_json_obj(j, "usage");
	u64_or_null(j, "cpu_user_ms", user, run != NULL);
	u64_or_null(j, "cpu_system_ms", system, run != NULL);
	u64_or_null(j, "memory_peak_bytes", peak, peak > 0);
	u64_or_null(j, "pids_peak", pids, pids > 0);
	ak_json_obj_end(j);
}

void report_limit(struct ak_json *j, const char *key, uint64_t value, bool thousandths, const char *by, enum hit hit)
{
	ak_json_obj(j, key);
	if (!by)
		ak_json_null(j, "value");
	else if (thousandths)
		ak_json_milli(j, "value", value);
	else
		ak_json_u64(j, "value", value);
	ak_json_str(j, "enforced_by", by);
	if (hit == HIT_UNKNOWN)
		ak_json_null(j, "hit");
	else
		ak_json_bool(j, "hit", by && hit == HIT_YES);
	ak_json_obj_end(j);
}

static enum hit hit_if(bool yes)
{
	return yes ? HIT_YES : HIT_NO;
}

/* Limits that appear only when they were asked for */
static void put_extra_limits(struct ak_json *j, const struct exec_opts *o, const struct run_result *run)
{
	if (o->cpu_time_ms > 0)
		report_limit(j, "cpu_time", o->cpu_time_ms, true, "ak", hit_if(run && run->cpu_time_hit));
	if (o->nofile > 0)
		report_limit(j, "nofile", o->nofile, false, "rlimit", HIT_UNKNOWN);
	if (o->fsize_bytes > 0)
		report_limit(j, "fsize", o->fsize_bytes, false, "rlimit",
			  run && run->signal == SIGXFSZ ? HIT_YES : HIT_UNKNOWN);
	if (o->disk_bytes > 0)
		report_limit(j, "disk", o->disk_bytes, false, "ak",
			  o->write == WRITE_COW ? hit_if(run && run->disk_hit) : HIT_UNKNOWN);
	if (o->max_output_bytes != UINT64_MAX)
		report_limit(j, "output", o->max_output_bytes, false, "ak",
			  hit_if(run && (run->out[0].dropped > 0 || run->out[1].dropped > 0)));
}

/* The limits of a command of a named sandbox, as its executor tells them; their units are those of enum ak_limit_kind */
static const struct {
	const char *key;
	bool thousandths;	/* also of milliseconds: time limits are told in seconds */
	bool always;
} limit_keys[AK_LIMITS] = {
	[AK_LIMIT_MEMORY] = {"memory", false, true},
	[AK_LIMIT_PIDS] = {"pids", false, true},
	[AK_LIMIT_CPUS] = {"cpus", true, true},
	[AK_LIMIT_TIMEOUT] = {"timeout", true, true},
	[AK_LIMIT_CPU_TIME] = {"cpu_time", true, false},
	[AK_LIMIT_NOFILE] = {"nofile", false, false},
	[AK_LIMIT_FSIZE] = {"fsize", false, false},
	[AK_LIMIT_OUTPUT] = {"output", false, false},
	[AK_LIMIT_DISK] = {"disk", false, false},
};

static const char *by_name(uint8_t by)
{
	static const char *const names[AK_BY_END] = {NULL, "none", "cgroup", "rlimit", "ak", "docker"};

	return by < AK_BY_END ? names[by] : NULL;
}

static void put_far_limits(struct ak_json *j, const struct report *r)
{
	static const enum hit hits[AK_HIT_END] = {HIT_NO, HIT_YES, HIT_UNKNOWN};
	const struct ak_limit *rows = r->far ? r->far->limit : r->facts->limit;
	const struct run_result *run = r->run;

	ak_json_obj(j, "limits");
	for (int i = 0; i < AK_LIMITS; i++) {
		const struct ak_limit *l = &rows[i];

		if (i != AK_LIMIT_OUTPUT && (limit_keys[i].always || l->by != AK_BY_UNSET))
			report_limit(j, limit_keys[i].key, l->value, limit_keys[i].thousandths, by_name(l->by),
				  l->hit < AK_HIT_END ? hits[l->hit] : HIT_UNKNOWN);
	}
	/* its bytes go through this process */
	if (r->opts && r->opts->max_output_bytes != UINT64_MAX)
		report_limit(j, limit_keys[AK_LIMIT_OUTPUT].key, r->opts->max_output_bytes, false, "ak",
			  hit_if(run && (run->out[0].dropped > 0 || run->out[1].dropped > 0)));
	ak_json_obj_end(j);
}

/* Without a plan nothing was enforced, whatever was asked for */
static void put_limits(struct ak_json *j, const struct report *r)
{
	const struct plan *p = plan_of(r);
	const struct exec_opts *o = p ? r->opts : NULL;
	const struct run_result *run = r->run;

	if (r->facts) {
		put_far_limits(j, r);
		return;
	}
	if (report_backend_known(r)) {
		report_backend_limits(j, r);
		return;
	}
	ak_json_obj(j, "limits");
	report_limit(j, "memory", o ? o->memory_bytes.value : 0, false, p ? plan_by_name(p->memory_by) : NULL,
		  hit_if(run && run->memory_hit));
	/* a refused fork leaves no trace but in a group */
	report_limit(j, "pids", o ? o->pids.value : 0, false, p ? plan_by_name(p->pids_by) : NULL,
		  p && p->pids_by == PLAN_BY_RLIMIT ? HIT_UNKNOWN : hit_if(run && run->pids_hit));
	report_limit(j, "cpus", o ? o->cpu_milli.value : 0, true, p ? plan_by_name(p->cpus_by) : NULL,
		  hit_if(run && run->cpus_hit));
	report_limit(j, "timeout", o ? o->timeout_ms : 0, true, o && o->timeout_ms > 0 ? "ak" : NULL,
		  hit_if(run && run->timeout_hit));
	if (o)
		put_extra_limits(j, o, run);
	ak_json_obj_end(j);
}

static void put_namespaces(struct ak_json *j, bool any, bool net)
{
	static const char *const names[] = {"user", "mount", "pid", "net", "ipc", "uts", "cgroup"};

	ak_json_arr(j, "namespaces");
	for (size_t i = 0; any && i < sizeof(names) / sizeof(names[0]); i++) {
		if (net || strcmp(names[i], "net") != 0)
			ak_json_str(j, NULL, names[i]);
	}
	ak_json_arr_end(j);
}

static const char *identity_name(enum plan_identity id)
{
	switch (id) {
	case PLAN_ID_RANGE:
		return "range";
	case PLAN_ID_ROOT:
		return "root";
	case PLAN_ID_SAME:
		break;
	}
	return "same-uid";
}

static void put_far_isolation(struct ak_json *j, const struct ak_facts *f)
{
	static const char *const identities[AK_IDENTITY_END] = {"same-uid", "range", "root"};

	static const char *const filters[AK_SECCOMP_END] = {"default", "strict", "docker", NULL};

	ak_json_obj(j, "isolation");
	if (f->backend == AK_BACKEND_NATIVE) {
		ak_json_str(j, "backend", "native");
		put_namespaces(j, true, f->net != AK_NET_HOST);
	} else {
		report_backend_far(j, f);
	}
	ak_json_str(j, "seccomp", f->seccomp < AK_SECCOMP_END ? filters[f->seccomp] : NULL);
	u64_or_null(j, "landlock_abi", f->landlock_abi, f->landlock_abi > 0);
	ak_json_str(j, "network", f->net == AK_NET_HOST ? "host" : "none");
	ak_json_str(j, "root", f->root);
	ak_json_str(j, "workspace", f->write == AK_WRITE_NONE ? "none" : f->write == AK_WRITE_COW ? "cow" : "direct");
	ak_json_str(j, "identity", f->identity < AK_IDENTITY_END ? identities[f->identity] : NULL);
	ak_json_obj_end(j);
}

static void put_isolation(struct ak_json *j, const struct report *r)
{
	const struct plan *p = plan_of(r);

	if (r->facts) {
		put_far_isolation(j, r->facts);
		return;
	}
	if (report_backend_known(r)) {
		report_backend_isolation(j, r);
		return;
	}
	ak_json_obj(j, "isolation");
	ak_json_str(j, "backend", r->opts ? backend_name(r->opts->backend) : "native");
	put_namespaces(j, p && !p->plain, p && p->net != NET_HOST);
	ak_json_str(j, "seccomp", p ? p->seccomp : NULL);
	u64_or_null(j, "landlock_abi", (uint64_t)r->landlock_abi, p && r->landlock_abi > 0);
	ak_json_str(j, "network", !p ? NULL : p->net == NET_HOST ? "host" : "none");
	ak_json_str(j, "root", !p ? NULL : p->rootfs ? p->rootfs : "host");
	ak_json_str(j, "workspace", !p ? NULL : p->write == WRITE_NONE ? "none" : p->write == WRITE_COW ? "cow" : "direct");
	ak_json_str(j, "identity", p ? identity_name(p->identity) : NULL);
	if (p && p->nesting)
		ak_json_bool(j, "nesting", true);
	ak_json_obj_end(j);
}

static void put_warnings(struct ak_json *j, const struct report *r)
{
	const struct plan *p = r->plan;

	ak_json_arr(j, "warnings");
	if (r->opts && r->opts->lowered)
		ak_json_str(j, NULL, r->opts->lowered);
	for (size_t i = 0; p && i < p->nwarnings; i++)
		ak_json_str(j, NULL, p->warnings[i]);
	for (size_t i = 0; r->backend && i < r->backend->nwarnings; i++)
		ak_json_str(j, NULL, r->backend->warning[i]);
	for (size_t i = 0; r->facts && i < r->facts->nwarnings; i++)
		ak_json_str(j, NULL, r->facts->warning[i]);
	for (size_t i = 0; r->facts && r->far && i < r->far->nwarnings; i++)
		ak_json_str(j, NULL, r->far->warning[i]);
	ak_json_arr_end(j);
}

static void put_error(struct ak_json *j, struct report_error e)
{
	if (!e.stage) {
		ak_json_null(j, "error");
		return;
	}
	ak_json_obj(j, "error");
	ak_json_str(j, "stage", e.stage);
	ak_json_str(j, "errno", e.code > 0 ? ak_errno_name(e.code) : NULL);
	ak_json_str(j, "message", e.message);
	ak_json_str(j, "hint", e.hint[0] ? e.hint : NULL);
	ak_json_obj_end(j);
}

/* A buffer without a maximum of its own gets one that holds the output however much of it must be escaped */
static void make_room(const struct report *r, struct ak_buf *out)
{
	if (out->max != 0)
		return;
	out->max = out->len + OBJECT_MAX;
	for (int i = 0; r->with_output && r->run && i < 2; i++)
		out->max += ESCAPED_MAX * (r->run->out[i].head_len + r->run->out[i].tail_len);
	out->max += report_cow_bytes(r);
}

void report_json(const struct report *r, struct ak_buf *out)
{
	struct ak_json j;

	make_room(r, out);
	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "schema", "ak-exec/1");
	ak_json_str(&j, "status", status_name(r->run ? r->run->status : RUN_FAILED));
	ak_json_i64(&j, "exit_code", r->run && !r->failed ? r->run->exit_code : 125);
	put_signal(&j, r->run ? r->run->signal : 0);
	put_output(&j, r);
	put_times(&j, r);
	put_usage(&j, r);
	put_limits(&j, r);
	put_isolation(&j, r);
	report_put_denied(&j, r);
	if (!report_put_cow(&j, r))
		report_put_protected(&j, r->protected);
	put_warnings(&j, r);
	put_error(&j, report_error_of(r));
	ak_json_obj_end(&j);
	ak_buf_str(out, "\n");
}
