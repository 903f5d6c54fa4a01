/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and isolation of a command that a backend other than native has run. Process: executor. Privilege: none. */
#include "executor/report_int.h"

#include <string.h>

#include "executor/backend.h"
#include "executor/opts.h"
#include "executor/relay.h"
#include "executor/report.h"
#include "executor/shared/ak_msg.h"

bool report_backend_known(const struct report *r)
{
	const struct backend_facts *f = r->backend;

	return f && (f->isolated || (f->backend == BACKEND_LOCAL && !r->error));
}

/* "docker" where docker holds it, "none" where it was wanted and nothing does, NULL where it is lifted */
static const char *by(const struct limit_opt *o, bool held)
{
	if (o->max)
		return NULL;
	return held ? "docker" : "none";
}

void report_backend_limits(struct ak_json *j, const struct report *r)
{
	const struct backend_facts *f = r->backend;
	const struct exec_opts *o = r->opts;
	const struct run_result *run = r->run;
	bool timeout = o->timeout_ms > 0;

	/* docker does not say whether a limit was hit */
	ak_json_obj(j, "limits");
	report_limit(j, "memory", o->memory_bytes.value, false, by(&o->memory_bytes, f->memory_held),
		     f->memory_held ? HIT_UNKNOWN : HIT_NO);
	report_limit(j, "pids", o->pids.value, false, by(&o->pids, f->pids_held), f->pids_held ? HIT_UNKNOWN : HIT_NO);
	report_limit(j, "cpus", o->cpu_milli.value, true, by(&o->cpu_milli, f->cpus_held), f->cpus_held ? HIT_UNKNOWN : HIT_NO);
	report_limit(j, "timeout", o->timeout_ms, true, timeout ? "ak" : NULL, run && run->timeout_hit ? HIT_YES : HIT_NO);
	if (o->max_output_bytes != UINT64_MAX)
		report_limit(j, "output", o->max_output_bytes, false, "ak",
			     run && (run->out[0].dropped > 0 || run->out[1].dropped > 0) ? HIT_YES : HIT_NO);
	ak_json_obj_end(j);
}

/* What docker makes for every container. Its own cgroup namespace depends on the host, and is not counted on. */
static void put_docker(struct ak_json *j, bool user, bool net)
{
	static const char *const names[] = {"mount", "pid", "net", "ipc", "uts"};

	if (user)
		ak_json_str(j, NULL, "user");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], "net") != 0 || net)
			ak_json_str(j, NULL, names[i]);
	}
}

void report_backend_far(struct ak_json *j, const struct ak_facts *f)
{
	bool docker = f->backend == AK_BACKEND_DOCKER;

	ak_json_str(j, "backend", docker ? "docker" : "local");
	ak_json_arr(j, "namespaces");
	if (docker)
		put_docker(j, f->user_ns, f->net != AK_NET_HOST);
	ak_json_arr_end(j);
}

void report_backend_isolation(struct ak_json *j, const struct report *r)
{
	const struct backend_facts *f = r->backend;
	bool docker = f->backend == BACKEND_DOCKER;

	ak_json_obj(j, "isolation");
	ak_json_str(j, "backend", backend_name(f->backend));
	ak_json_arr(j, "namespaces");
	if (f->isolated)
		put_docker(j, f->user_namespace, strcmp(f->network, "host") != 0);
	ak_json_arr_end(j);
	ak_json_str(j, "seccomp", f->seccomp ? "docker" : NULL);
	ak_json_null(j, "landlock_abi");
	ak_json_str(j, "network", docker ? f->network : "host");
	ak_json_str(j, "root", docker ? f->image : "host");
	ak_json_str(j, "workspace", f->read_only ? "none" : "direct");
	ak_json_str(j, "identity", f->root ? "root" : "same-uid");
	ak_json_obj_end(j);
}
