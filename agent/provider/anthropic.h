/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the Anthropic Messages format; see struct provider_ops. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROVIDER_ANTHROPIC_H
#define AK_AGENT_PROVIDER_ANTHROPIC_H

#include "agent/provider/provider.h"

#define ANTHROPIC_BREAKPOINTS_MAX 4u  /* cache_control marks of one request */
#define ANTHROPIC_LOOKBACK 20u	      /* blocks a mark looks back for what was written before */

int anthropic_build(const struct provider_req *rq, struct ak_buf *out, struct ak_err *err);
int anthropic_event(struct acc *a, const char *type, const struct cJSON *ev, struct ak_err *err);
int anthropic_body(struct acc *a, const struct cJSON *doc, struct ak_err *err);
int anthropic_fill(struct acc *a, struct completion *c, struct ak_err *err);

#endif
