/* SPDX-License-Identifier: Apache-2.0 */
/* The approver of a run. Process: agent. Privilege: none. */
#include "agent/gate.h"

#include <errno.h>
#include <string.h>

#include "agent/json.h"
#include "agent/run_opts.h"
#include "executor/shared/ak_err.h"

int gate_open(struct gate *g, const struct run_opts *o, struct ak_err *err)
{
	g->policy = o->policy;
	if (o->plan || o->allow.n || o->deny.n)
		return ak_err_set(err, EINVAL, "run: --plan, --allow and --deny are not available in this version");
	if (o->policy_given && o->policy == APPROVE_SMART)
		return ak_err_set(err, EINVAL, "run: --approval smart is not available in this version");
	return 0;
}

void gate_default(struct gate *g, const struct run_opts *o, bool harmless)
{
	if (!o->policy_given)
		g->policy = harmless ? APPROVE_AUTO_ALLOW : APPROVE_ALWAYS_ASK;
}

void gate_close(struct gate *g)
{
	(void)g;
}

const char *gate_name(const struct gate *g)
{
	static const char *const names[] = { "ask", "auto", "deny-mutations", "smart" };

	return names[g->policy];
}

static bool gated(const char *tool, const struct cJSON *args)
{
	static const char *const free_ones[] = { "read_file", "list_dir", "file_info", "find_files", "search_text", NULL };

	for (size_t i = 0; free_ones[i]; i++)
		if (strcmp(tool, free_ones[i]) == 0)
			return false;
	return strcmp(tool, "job") != 0 || json_is_str(json_get(args, "action"), "kill");
}

int gate_call(void *ctx, const char *tool, const struct cJSON *args, struct approve_answer *ret)
{
	const struct gate *g = ctx;

	*ret = (struct approve_answer){ .verdict = APPROVE_ALLOW, .by = APPROVE_BY_UNGATED, .gated = gated(tool, args) };
	if (!ret->gated)
		return 0;
	ret->by = g->policy == APPROVE_ALWAYS_ASK ? APPROVE_BY_NOBODY : APPROVE_BY_POLICY;
	if (g->policy == APPROVE_AUTO_ALLOW)
		return 0;
	ret->verdict = APPROVE_DENY;
	ret->text = g->policy == APPROVE_DENY_MUTATIONS ? APPROVE_DENIED : APPROVE_NOBODY;
	return 0;
}
