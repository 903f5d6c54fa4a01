/* SPDX-License-Identifier: Apache-2.0 */
/* Law: a transcript that is read can be sent once its open calls are answered, or history_check() says why not; nothing leaks. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/transcript.h"
#include "executor/shared/ak_err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct transcript_head head = { 0 };
	struct history h = { 0 };
	struct ak_err err = { 0 };
	int rc = transcript_parse((const char *)data, size, &head, &h, &err);

	if (rc == 0) {
		assert(head.workspace && head.model && head.system);
		assert(history_answer(&h, TRANSCRIPT_OPEN_CALL) == 0);
		if (h.n && history_check(&h, &err) < 0)
			assert(err.msg[0]);
	} else {
		assert(err.msg[0]);
	}
	history_release(&h);
	transcript_head_release(&head);
	return 0;
}
