/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of the replay provider. Law: what parses plays to its end, and each reply keeps the promises of a server's. */
#include "agent/provider/replay.h"

#include <errno.h>

#include "agent/provider/call_int.h"
#include "tests/fuzz/acc_law.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct msg m = { .role = MSG_USER, .text = (char *)"x", .text_len = 1 };
	struct provider_req rq = { .model = "m", .msgs = &m, .nmsgs = 1 };
	struct ak_err err = { 0 };
	struct replay *r = NULL;
	int rc = size > 65536 ? -EBADMSG : replay_parse((const char *)data, size, "fuzz", &r, &err);

	LAW(rc == 0 || (rc == -EBADMSG && !r));
	for (int i = 0; rc == 0 && i < 100; i++) {
		struct attempt at;

		replay_next(r, &rq, NULL, &at);
		LAW(at.fault.fault == FAULT_NONE || at.err.msg[0] != '\0' || at.fault.message[0] == '\0');
		if (at.fault.fault != FAULT_NONE)
			continue;
		law_calls(&at.reply.msg);
		completion_release(&at.reply);
	}
	replay_free(r);
	return 0;
}
