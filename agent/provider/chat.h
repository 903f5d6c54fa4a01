/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the OpenAI Chat Completions format; see struct provider_ops. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROVIDER_CHAT_H
#define AK_AGENT_PROVIDER_CHAT_H

#include "agent/provider/provider.h"

int chat_build(const struct provider_req *rq, struct ak_buf *out, struct ak_err *err);
int chat_event(struct acc *a, const char *type, const struct cJSON *ev, struct ak_err *err);
int chat_body(struct acc *a, const struct cJSON *doc, struct ak_err *err);
int chat_fill(struct acc *a, struct completion *c, struct ak_err *err);

/** chat_take_calls() - fragments of tool calls, as delta.tool_calls has them. Return: 0; -EBADMSG; -E2BIG; -ENOMEM. */
int chat_take_calls(struct acc *a, const struct cJSON *list, struct ak_err *err);
/** chat_put_calls() - check every call, and write the member tool_calls. Return: 0, -ENOMEM. */
int chat_put_calls(struct acc *a, struct completion *c, bool *comma, struct ak_buf *out);
/** chat_take_details() - the pieces of delta.reasoning_details. Return: 0; -E2BIG; -ENOMEM. */
int chat_take_details(struct acc *a, const struct cJSON *list, struct ak_err *err);
/** chat_put_details() - write the member reasoning_details, if there are any. A failure latches in @out. */
void chat_put_details(struct acc *a, bool *comma, struct ak_buf *out);

#endif
