/* SPDX-License-Identifier: Apache-2.0 */
/* ak-result/1 by the executor; see run_end.h. Process: executor. Privilege: none. */
#include "executor/run_end.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "executor/cow_stay.h"
#include "executor/report.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_msg.h"
#include "lib/libak.h"

#define EXIT_ERROR 1

int run_end_code(const struct run_end *e)
{
	return e->signo ? 128 + e->signo : EXIT_ERROR;
}

static void put_error(struct ak_json *j, const struct run_end *e)
{
	ak_json_obj(j, "error");
	ak_json_str(j, "code", e->signo ? "interrupted" : "agent_died");
	ak_json_str(j, "message", e->err.msg);
	if (e->err.hint[0])
		ak_json_str(j, "hint", e->err.hint);
	ak_json_obj_end(j);
}

static void put_paths(struct ak_json *j, const struct cow_close *c, bool protected)
{
	struct ak_change m = { 0 };
	size_t pos = 0;

	ak_json_arr(j, protected ? "protected" : "files");
	while (c->data && ak_change_next(c->data, c->len, &pos, &m) == 1) {
		if (!protected || (m.flags & AK_CHANGE_PROTECTED)) {
			ak_json_obj(j, NULL);
			ak_json_str(j, "path", m.path);
			ak_json_str(j, "op", ak_change_op_name(m.op));
			ak_json_obj_end(j);
		}
	}
	ak_json_arr_end(j);
}

static void put_changes(struct ak_json *j, const struct run_end *e)
{
	const struct cow_close *c = e->changes;

	if (!c) {
		report_put_protected(j, e->protected);
		return;
	}
	ak_json_obj(j, "changes");
	ak_json_str(j, "id", c->kept ? c->id : NULL);
	ak_json_str(j, "outcome", c->kept ? "kept" : "none");
	ak_json_u64(j, "total", c->total);
	put_paths(j, c, false);
	put_paths(j, c, true);
	ak_json_obj_end(j);
}

/* of ak-result/1, those that only the agent knows */
static void put_unknown(struct ak_json *j, const char *const *keys)
{
	for (; *keys; keys++)
		ak_json_null(j, *keys);
}

static void put_time(struct ak_json *j)
{
	struct timespec t = { 0 };
	struct tm tm;
	char text[40] = "";
	size_t n;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	if (!gmtime_r(&t.tv_sec, &tm))
		return;
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(text + n, sizeof(text) - n, ".%03ldZ", t.tv_nsec / 1000000);
	ak_json_str(j, "ts", text);
}

static void put_object(struct ak_json *j, const struct run_end *e)
{
	static const char *const model[] = { "model", "provider", "num_turns", "num_tool_calls", NULL };
	static const char *const cost[] = { "stop_reason", "total_cost_usd", "cost_source", "price_as_of", NULL };
	static const char *const rest[] = { "usage", "permission_denials", NULL };
	static const char *const limits[] = { "limits_hit", NULL };

	ak_json_obj(j, NULL);
	ak_json_str(j, "type", "result");
	ak_json_str(j, "subtype", e->signo ? "error_interrupted" : "error");
	ak_json_str(j, "schema", "ak-result/1");
	ak_json_str(j, "status", e->signo ? "interrupted" : "failed");
	ak_json_bool(j, "is_error", true);
	ak_json_i64(j, "exit_code", run_end_code(e));
	ak_json_null(j, "result");
	put_error(j, e);
	ak_json_str(j, "session_id", e->session[0] ? e->session : NULL);
	put_unknown(j, model);
	ak_json_u64(j, "duration_ms", (ak_now_ns() - e->start_ns) / 1000000);
	put_unknown(j, cost);
	ak_json_bool(j, "budget_exceeded", false);
	put_unknown(j, rest);
	put_changes(j, e);
	put_unknown(j, limits);
	ak_json_null(j, "structured_output");
	put_time(j);
	ak_json_obj_end(j);
}

/* in pieces that a pipe with any room takes at once */
static int write_soon(int fd, const char *p, size_t n)
{
	uint64_t end = ak_now_ns() + RUN_END_WAIT_MS * 1000000ull;

	while (n > 0) {
		struct pollfd f = { .fd = fd, .events = POLLOUT };
		uint64_t now = ak_now_ns();
		int ready = poll(&f, 1, now < end ? (int)((end - now) / 1000000) + 1 : 0);
		ssize_t w;

		if (ready == 0)
			return -ETIMEDOUT;
		w = ready < 0 ? -1 : write(fd, p, n < PIPE_BUF ? n : PIPE_BUF);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return w < 0 ? -errno : -EIO;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

int run_end_write(const struct run_end *e)
{
	struct ak_buf b = { 0 };
	struct ak_json j;
	int r;

	if (e->form == RUN_OUTPUT_TEXT)
		return 0;
	ak_buf_str(&b, "\n");
	ak_json_init(&j, &b);
	put_object(&j, e);
	ak_buf_str(&b, "\n");
	r = b.failed ? -ENOMEM : write_soon(e->out, b.data, b.len);
	ak_buf_release(&b);
	return r;
}
