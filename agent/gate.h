/* SPDX-License-Identifier: Apache-2.0 */
/* The approver of a run, made from its options. Process: agent. Privilege: none. */
#ifndef AK_AGENT_GATE_H
#define AK_AGENT_GATE_H

#include <stdbool.h>

#include "agent/approve.h"

struct ak_err;
struct cJSON;
struct run_opts;

/** struct gate - headless: what would have to be asked is denied */
struct gate {
	enum approve_policy policy;
};

/** gate_open() - Return: 0; -EINVAL (a rule or a policy that cannot be had) */
int gate_open(struct gate *g, const struct run_opts *o, struct ak_err *err);
/** gate_default() - the policy where none was given: auto if nothing of the host's can be changed at once, ask otherwise */
void gate_default(struct gate *g, const struct run_opts *o, bool harmless);
void gate_close(struct gate *g);
/** gate_name() - the policy in force */
const char *gate_name(const struct gate *g);
/** gate_call() - as approve_call(); @ctx is a struct gate */
int gate_call(void *ctx, const char *tool, const struct cJSON *args, struct approve_answer *ret);

#endif
