/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the OpenAI Responses format; see struct provider_ops. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROVIDER_RESPONSES_H
#define AK_AGENT_PROVIDER_RESPONSES_H

#include "agent/provider/provider.h"

int responses_build(const struct provider_req *rq, struct ak_buf *out, struct ak_err *err);
int responses_event(struct acc *a, const char *type, const struct cJSON *ev, struct ak_err *err);
int responses_body(struct acc *a, const struct cJSON *doc, struct ak_err *err);
int responses_fill(struct acc *a, struct completion *c, struct ak_err *err);

#endif
