/* SPDX-License-Identifier: Apache-2.0 */
/* One full and one least sample of every message. Tests only. */
#ifndef AK_TESTS_MSG_SAMPLES_H
#define AK_TESTS_MSG_SAMPLES_H

#include <string.h>

#include "executor/shared/ak_msg.h"

static const char *const sample_argv[] = { "sh", "-c", "echo \xc3\xa4", "" };
static const char *const sample_env[] = { "A=1", "B" };
static const uint8_t sample_bytes[] = { 1, 0, 255, 'x' };

static inline struct ak_facts sample_facts(void)
{
	struct ak_facts f = { .backend = AK_BACKEND_LOCAL, .user_ns = 1, .net = AK_NET_HOST, .write = AK_WRITE_COW, .changes = "c-123456", .identity = AK_IDENTITY_RANGE, .seccomp = AK_SECCOMP_STRICT,
			      .landlock_abi = 7, .uid = 1000, .gid = 1001, .root = "host", .workspace = "/w", .cwd = "/w/x", .user = "u",
			      .home = "/h", .nwarnings = 2, .warning = { "one", "two" } };

	for (unsigned i = 0; i < AK_LIMITS; i++)
		f.limit[i] = (struct ak_limit){ .by = AK_BY_AK, .hit = AK_HIT_UNKNOWN, .value = i + 1 };
	return f;
}

static inline struct ak_exec_body sample_body(void)
{
	return (struct ak_exec_body){ .cwd = "/tmp", .argv = { .vec = sample_argv, .count = 4 }, .env = { .vec = sample_env, .count = 2 } };
}

static inline void sample_hello(struct ak_hello *m) { *m = (struct ak_hello){ 1, "client" }; }
static inline void sample_hello_reply(struct ak_hello_reply *m)
{
	*m = (struct ak_hello_reply){ .version = 1, .pid = 7, .program = "0.1", .sandbox = 3, .name = "box", .ttl_ms = 9, .pool = 2,
				      .pool_ready = 1, .running = 4, .jobs = 5, .created_ms = 6, .facts = sample_facts() };
}
static inline void sample_create(struct ak_create *m)
{
	*m = (struct ak_create){ "n", AK_NARROW_FLAGS_ALL, 1, 2, 3, 4, 5, 6, 7, 8, 2, { "A", "B" } };
}
static inline void sample_created(struct ak_created *m) { *m = (struct ak_created){ 9, sample_facts() }; }
static inline void sample_exec_body(struct ak_exec_body *m) { *m = sample_body(); }
static inline void sample_exec(struct ak_exec *m)
{
	*m = (struct ak_exec){ .sandbox = 1, .kind = AK_EXEC_SESSION, .stream = { AK_STREAM_FD, AK_STREAM_CAPTURE, AK_STREAM_NULL },
			       .flags = AK_EXEC_MERGE | AK_EXEC_TIMEOUT_SET | AK_EXEC_RESET, .timeout_ms = 1, .kill_after_ms = 2, .cpu_time_ms = 3,
			       .max_output = 4, .session = 5, .rows = 6, .cols = 7, .nrlimits = 1, .rlimit = { { 7, 64 } }, .nextra = 2,
			       .extra = { 3, 9 }, .body = sample_body() };
}
static inline void sample_started(struct ak_started *m) { *m = (struct ak_started){ 1, 2, 3, 1 }; }
static inline void sample_shutdown(struct ak_shutdown *m) { *m = (struct ak_shutdown){ 1 }; }
static inline void sample_cmd_ref(struct ak_cmd_ref *m) { *m = (struct ak_cmd_ref){ 5 }; }
static inline void sample_sandbox_ref(struct ak_sandbox_ref *m) { *m = (struct ak_sandbox_ref){ 5 }; }
static inline void sample_signal(struct ak_signal *m) { *m = (struct ak_signal){ 5, 64 }; }
static inline void sample_resize(struct ak_resize *m) { *m = (struct ak_resize){ 5, 65535, 80 }; }
static inline void sample_wait_req(struct ak_wait_req *m) { *m = (struct ak_wait_req){ 5, UINT64_MAX }; }
static inline void sample_result(struct ak_result *m)
{
	struct ak_facts f = sample_facts();

	*m = (struct ak_result){ .cmd = 1, .sandbox = 2, .status = AK_STATUS_OOM_KILLED, .exit_code = 137, .signal = 9, .setup_ns = 3,
				 .duration_ns = 4, .user_us = 5, .system_us = 6, .memory_peak_bytes = 7, .pids_peak = 8,
				 .stage = AK_STAGE_RELAY, .err = 2, .text = "text", .hint = "hint", .nwarnings = 1, .warning = { "w" },
				 .out = { { .counted = 1, .total = 10, .dropped = 6, .head_len = 2, .tail_len = 2, .bytes = sample_bytes, .bytes_len = 4 },
					  { .counted = 1, .memfd = 1, .total = 99, .head_len = 50, .tail_len = 49 } } };
	memcpy(m->limit, f.limit, sizeof(m->limit));
}
static inline void sample_jobs(struct ak_jobs *m)
{
	*m = (struct ak_jobs){ .count = 2, .job = { { 1, 2, 1, 0, 0, 4, 5, 6, "sleep 1" }, { 9, 2, 0, AK_STATUS_SIGNALED, 137, 4, 5, 6, "x" } } };
}
static inline void sample_job_log(struct ak_job_log *m) { *m = (struct ak_job_log){ 1, 2, 3 }; }
static inline void sample_log_data(struct ak_log_data *m) { *m = (struct ak_log_data){ 1, 1, 2, 3, sample_bytes, 4 }; }
static inline void sample_file(struct ak_file *m)
{
	*m = (struct ak_file){ 1, AK_FILE_WRITE, AK_FILE_PARENTS, "a/b", "", 0, 0, 0644, sample_bytes, 4 };
}
static inline void sample_file_reply(struct ak_file_reply *m)
{
	*m = (struct ak_file_reply){ AK_REPLY_MORE, AK_KIND_FILE, 0644, 4, -1, 0, 1, 4, sample_bytes, 4 };
}
static inline void sample_entry(struct ak_entry *m) { *m = (struct ak_entry){ AK_KIND_DIR, 0755, 1, -2, "d/e" }; }
static inline struct ak_sandbox sample_sandbox(void)
{
	return (struct ak_sandbox){ 1, "n", 2, AK_SANDBOX_POOLED, 3, 4, 5, 6 };
}
static inline void sample_sandboxes(struct ak_sandboxes *m)
{
	*m = (struct ak_sandboxes){ .count = 1, .sandbox = { sample_sandbox() } };
}
static inline void sample_stat(struct ak_stat *m)
{
	*m = (struct ak_stat){ .sandbox = sample_sandbox(), .facts = sample_facts(), .memory_bytes = 1, .memory_peak_bytes = 2, .pids = 3 };
}
static inline void sample_refused(struct ak_refused *m) { *m = (struct ak_refused){ AK_CODE_BUSY, 16, "busy", "wait" }; }
static inline void sample_changes_req(struct ak_changes_req *m) { *m = (struct ak_changes_req){ 5, AK_CHANGES_MAX }; }
static inline void sample_finish(struct ak_finish *m) { *m = (struct ak_finish){ 5, AK_FINISH_RESTORE, AK_FINISH_FLAGS_ALL, 7 }; }
static inline void sample_checkpoint(struct ak_checkpoint *m) { *m = (struct ak_checkpoint){ 5, AK_CHECKPOINT_FLAGS_ALL }; }
static inline void sample_session(struct ak_session *m) { *m = (struct ak_session){ AK_SESSION_STORED, "s-0123456789ab" }; }
static inline void sample_rollback(struct ak_rollback *m) { *m = (struct ak_rollback){ AK_ROLLBACK_FORGET }; }
static inline void sample_touched(struct ak_touched *m) { *m = (struct ak_touched){ 5, 6 }; }
static inline void sample_checkpointed(struct ak_checkpointed *m) { *m = (struct ak_checkpointed){ 5, 6, 7 }; }
static inline void sample_changed(struct ak_changed *m)
{
	*m = (struct ak_changed){ .flags = AK_CHANGED_MORE, .outcome = AK_CHANGES_KEPT, .id = "c-123456", .total = 9, .nprotected = 2,
				  .nconflicts = 1, .point = 3, .err = 16, .text = "nothing was applied", .hint = "hint", .entries = 1, .data_len = 4,
				  .bytes = sample_bytes, .bytes_len = 4 };
}
static inline void sample_change(struct ak_change *m)
{
	*m = (struct ak_change){ AK_CHANGE_MODIFIED, AK_CHANGE_FLAGS_ALL, 0100644, 7, "d/e" };
}

#endif
