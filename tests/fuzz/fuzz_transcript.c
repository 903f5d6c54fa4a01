/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Law: a transcript that is read can be sent once its open calls are answered, or history_check() says why not; what can be sent can be
 * sent when it is compacted; nothing leaks.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/compact.h"
#include "agent/transcript.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compacted(struct history *h)
{
	size_t turns = compact_plan(h);
	struct ak_buf text = { 0 };

	if (turns == 0)
		return;
	compact_render(h, turns, 4096, &text);
	compact_structural(h, turns, &text);
	assert(!text.failed && text.data);
	assert(compact_apply(h, turns, text.data, NULL) == 0);
	assert(history_check(h, NULL) == 0);
	ak_buf_release(&text);
}

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
		else if (h.n)
			compacted(&h);
	} else {
		assert(err.msg[0]);
	}
	history_release(&h);
	transcript_head_release(&head);
	return 0;
}
