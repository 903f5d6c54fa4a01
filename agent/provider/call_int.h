/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of provider_call(): one attempt, and what is learnt from its failure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROVIDER_CALL_INT_H
#define AK_AGENT_PROVIDER_CALL_INT_H

#include "agent/provider/call.h"
#include "executor/shared/ak_err.h"

struct ak_buf;

/**
 * struct attempt - one request and its answer
 * @fault:	why there is no reply; FAULT_NONE: @reply is filled
 * @used:	what the failed attempt is known to have used
 * @err:	one line without the provider's name
 */
struct attempt {
	struct completion reply;
	struct provider_fault fault;
	struct retry_hint hint;
	struct usage used;
	bool has_used;
	uint64_t ttfb_ms;
	struct ak_err err;
};

/**
 * attempt_http() - send @body to the wire format's path and accumulate the answer
 * @total_ms:	0: no limit
 */
void attempt_http(struct provider *p, const struct provider_ops *ops, const struct ak_buf *body, bool stream,
		  const struct call_hooks *hooks, uint64_t total_ms, struct attempt *at);

/** provider_ops_now() - the wire format to use, with what was learnt. NULL: WIRE_REPLAY. */
const struct provider_ops *provider_ops_now(const struct provider *p);
/** quirk_learn() - does a refused request tell something to leave out? Return: true when it has to be built anew. */
bool quirk_learn(struct provider *p, const struct provider_fault *f);
/** quirks_of_host() - what is known of a host beforehand */
unsigned quirks_of_host(const struct provider_target *t);

/** attempt_final() - the one line about a final fault, with the provider's name and what can be done about it */
void attempt_final(const struct provider *p, const struct provider_fault *f, const char *why, struct ak_err *err);

#endif
