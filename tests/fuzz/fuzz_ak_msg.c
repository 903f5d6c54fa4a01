/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws of every message of the protocol: what decodes encodes back to the same bytes; what does not leaves its output alone.
 * The first byte is the op, as tests/client/record.c writes it; others than ops choose the parts that have a decoder of their own.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t again[AK_EXEC_BODY_MAX];

static void expect(int ok)
{
	if (!ok)
		abort();
}

#define TRY(T)                                                                                   \
	static void try_##T(const uint8_t *data, size_t size)                                    \
	{                                                                                        \
		static struct ak_##T m;                                                          \
                                                                                                 \
		memset(&m, 0xa5, sizeof(m));                                                     \
		if (ak_##T##_decode(data, size, &m) < 0) {                                       \
			for (size_t i = 0; i < sizeof(m); i++)                                   \
				expect(((uint8_t *)&m)[i] == 0xa5);                              \
			return;                                                                  \
		}                                                                                \
		expect(ak_##T##_encode(&m, again, sizeof(again)) == (long)size);                 \
		expect(size == 0 || memcmp(again, data, size) == 0);                             \
	}                                                                                        \
	_Static_assert(1, "")
AK_MSG_EACH(TRY);

static void try_strings(const uint8_t *data, size_t size)
{
	struct ak_exec m;
	struct ak_strs_pos a = { 0 }, e = { 0 };
	uint32_t n = 0;

	if (ak_exec_decode(data, size, &m) < 0 || (m.flags & AK_EXEC_BODY_FD))
		return;
	while (ak_strs_next(&m.body.argv, &a))
		n++;
	expect(n == m.body.argv.count);
	for (n = 0; ak_strs_next(&m.body.env, &e);)
		n++;
	expect(n == m.body.env.count);
	expect(ak_exec_nfds(&m) <= AK_FDS_MAX);
}

static void try_entries(const uint8_t *data, size_t size)
{
	struct ak_entry e;
	size_t pos = 0, last = 0;

	while (ak_entry_next(data, size, &pos, &e) == 1) {
		expect(pos > last && pos <= size && e.name[0] && e.name[0] != '/');
		last = pos;
	}
	expect(pos == last);
}

static void try_changes(const uint8_t *data, size_t size)
{
	struct ak_change e;
	size_t pos = 0, last = 0;

	while (ak_change_next(data, size, &pos, &e) == 1) {
		expect(pos > last && pos <= size && e.path[0] && e.path[0] != '/' && e.op >= AK_CHANGE_ADDED);
		last = pos;
	}
	expect(pos == last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		uint8_t op;
		void (*fn)(const uint8_t *data, size_t size);
	} table[] = {
		{ AK_OP_HELLO, try_hello }, { AK_OP_CREATE, try_create }, { AK_OP_EXEC, try_exec }, { AK_OP_EXEC, try_strings },
		{ AK_OP_SIGNAL, try_signal }, { AK_OP_KILL, try_cmd_ref }, { AK_OP_RESIZE, try_resize }, { AK_OP_WAIT, try_wait_req },
		{ AK_OP_JOB_LIST, try_sandbox_ref }, { AK_OP_JOB_LOG, try_job_log }, { AK_OP_FILE, try_file },
		{ AK_OP_STAT, try_sandbox_ref }, { AK_OP_DESTROY, try_sandbox_ref }, { AK_OP_SHUTDOWN, try_shutdown },
		{ AK_OP_REFUSED, try_refused }, { AK_OP_HELLO_REPLY, try_hello_reply }, { AK_OP_CREATED, try_created },
		{ AK_OP_STARTED, try_started }, { AK_OP_RESULT, try_result }, { AK_OP_JOBS, try_jobs }, { AK_OP_LOG_DATA, try_log_data },
		{ AK_OP_FILE_REPLY, try_file_reply }, { AK_OP_SANDBOX, try_stat }, { AK_OP_SANDBOXES, try_sandboxes },
		{ AK_OP_CHANGES, try_changes_req }, { AK_OP_FINISH, try_finish }, { AK_OP_CHANGED, try_changed },
		{ AK_OP_CHECKPOINT, try_checkpoint }, { AK_OP_SESSION, try_session }, { AK_OP_ROLLBACK, try_rollback }, { AK_OP_TOUCHED, try_touched },
		{ AK_OP_CHECKPOINTED, try_checkpointed },
		/* parts */
		{ 200, try_exec_body }, { 201, try_entry }, { 201, try_entries }, { 202, try_change }, { 202, try_changes },
	};

	if (size == 0)
		return 0;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].op == data[0])
			table[i].fn(data + 1, size - 1);
	return 0;
}
