/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the request builders: what the three formats share. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROVIDER_BUILD_INT_H
#define AK_AGENT_PROVIDER_BUILD_INT_H

#include "agent/provider/provider.h"
#include "executor/shared/ak_json_out.h"

#define TOOL_NAME_MAX 64u

/** build_check() - may this be asked at all? Return: 0, or -EINVAL naming what is wrong. */
int build_check(const struct provider_req *rq, struct ak_err *err);
/** build_tool_order() - the tools by name. Return: 0 with a malloc'ed list (NULL for none), -EINVAL (a name twice), -ENOMEM. */
int build_tool_order(const struct provider_req *rq, const struct tool_def ***ret, struct ak_err *err);
/** build_text() - text from outside: what is not UTF-8, and NUL, becomes U+FFFD */
void build_text(struct ak_json *j, const char *key, const char *text, size_t n);
/** build_data_url() - "data:TYPE;base64,DATA" */
void build_data_url(struct ak_json *j, const char *key, const struct msg_image *image);
/** build_has_text() - is there more than white space? Empty text is refused by some servers. */
bool build_has_text(const struct msg *m);
/** build_end() - Return: 0, or -ENOMEM when the buffer failed. */
int build_end(const struct ak_buf *out, struct ak_err *err);

#endif
