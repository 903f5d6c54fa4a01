/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a large tool argument costs: one call whose argument comes in pieces of 1 KB, through the event stream parser and the
 * accumulator of each wire format. Prints time per byte for 1, 2, 5 and 10 MB (linear: it stays the same) and the memory beyond the
 * start as a multiple of the argument (wanted: at most 3). Each run is a process of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/provider/provider.h"
#include "agent/sse.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_parse.h"

#define PIECE 1024u
#define MB (1u << 20)

struct bench {
	enum wire_api api;
	size_t size;
	bool whole; /* responses: with the three events that have the argument again, as OpenAI sends them */
	struct sse sse;
	struct acc *acc;
	double busy; /* seconds in the parser and the accumulator, not in making the stream */
};

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static size_t peak_bytes(void)
{
	char *text;
	size_t len;
	size_t kb = 0;
	char *at;

	if (ak_read_file("/proc/self/status", 65536, &text, &len) < 0)
		return 0;
	at = strstr(text, "VmHWM:");
	if (at)
		kb = strtoul(at + 6, NULL, 10);
	free(text);
	return kb * 1024;
}

static int on_event(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	return acc_event(ctx, ev, err);
}

/* One event around a text that has to be escaped */
static void event(struct bench *b, const char *head, const char *text, size_t n, const char *tail)
{
	struct ak_buf out = { 0 };
	struct ak_json j;
	double start;

	ak_buf_str(&out, "data: ");
	ak_buf_str(&out, head);
	if (text) {
		ak_json_init(&j, &out);
		ak_json_strn(&j, NULL, text, n);
	}
	ak_buf_str(&out, tail);
	ak_buf_str(&out, "\n\n");
	start = now();
	if (out.failed || sse_feed(&b->sse, out.data, out.len, NULL) < 0)
		abort();
	b->busy += now() - start;
	ak_buf_release(&out);
}

/* The argument's text from @at on: a command with line ends and quotes in it, as JSON */
static size_t piece(const struct bench *b, size_t at, char *buf)
{
	static const char line[] = "echo \\\"a line of a long script\\\" >> file; make -j2 all || exit 1;\\n";
	size_t n = 0;

	if (at == 0)
		n = (size_t)snprintf(buf, PIECE, "{\"command\":\"");
	while (n < PIECE && at + n < b->size) {
		buf[n] = line[(at + n) % (sizeof(line) - 1)];
		n++;
	}
	return n;
}

static void deltas(struct bench *b, const char *head, const char *tail)
{
	char buf[PIECE];

	for (size_t at = 0; at < b->size; at += PIECE)
		event(b, head, buf, piece(b, at, buf), tail);
	/* the text begins its pattern anew behind the first piece's head, so whole escapes are not certain: close on a space */
	event(b, head, " \"}", 3, tail);
}

static void feed(struct bench *b, const char *p, size_t n)
{
	double start = now();

	if (sse_feed(&b->sse, p, n, NULL) < 0)
		abort();
	b->busy += now() - start;
}

/* One event that has the whole argument again, in the pieces a connection gives */
static void again(struct bench *b, const char *head, const char *tail)
{
	char buf[PIECE];

	feed(b, "data: ", 6);
	feed(b, head, strlen(head));
	feed(b, "\"", 1);
	for (size_t at = 0; at < b->size; at += PIECE) {
		struct ak_buf out = { 0 };
		struct ak_json j;

		ak_json_init(&j, &out);
		ak_json_strn(&j, NULL, buf, piece(b, at, buf));
		if (out.failed)
			abort();
		feed(b, out.data + 1, out.len - 2);
		ak_buf_release(&out);
	}
	feed(b, " \\\"}\"", 5);
	feed(b, tail, strlen(tail));
	feed(b, "\n", 1); /* the worst place for a cut: the event is whole and not handed out */
	feed(b, "\n", 1);
}

#define ITEM "{\"type\":\"function_call\",\"id\":\"f\",\"call_id\":\"c\",\"name\":\"bash\",\"arguments\":"

static void stream(struct bench *b)
{
	switch (b->api) {
	case WIRE_ANTHROPIC:
		event(b, "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}", NULL, 0, "");
		event(b, "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"bash\",\"input\":{}}}",
		      NULL, 0, "");
		deltas(b, "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":", "}}");
		event(b, "{\"type\":\"content_block_stop\",\"index\":0}", NULL, 0, "");
		event(b, "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}", NULL, 0, "");
		event(b, "{\"type\":\"message_stop\"}", NULL, 0, "");
		break;
	case WIRE_CHAT:
		event(b, "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"type\":\"function\",\"function\":{\"name\":"
			 "\"bash\",\"arguments\":\"\"}}]}}]}", NULL, 0, "");
		deltas(b, "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":", "}}]}}]}");
		event(b, "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}", NULL, 0, "");
		event(b, "[DONE]", NULL, 0, "");
		break;
	default:
		event(b, "{\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}", NULL, 0, "");
		event(b, "{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"f\",\"call_id\":\"c\","
			 "\"name\":\"bash\",\"arguments\":\"\"}}", NULL, 0, "");
		deltas(b, "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":", "}");
		if (b->whole) {
			again(b, "{\"type\":\"response.function_call_arguments.done\",\"output_index\":0,\"arguments\":", "}");
			again(b, "{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":" ITEM, "}}");
			again(b, "{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[" ITEM,
			      "}],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}");
			break;
		}
		event(b, "{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}",
		      NULL, 0, "");
	}
}

/* One measurement, in a child: the numbers come back through a pipe */
static void child(struct bench *b, int fd)
{
	struct completion c = { 0 };
	struct provider_fault f;
	struct ak_err err = { 0 };
	size_t before = peak_bytes();
	double result[2];
	double start;

	if (acc_new(provider_ops_of(b->api), 0, NULL, NULL, &b->acc) < 0)
		abort();
	sse_init(&b->sse, 0, on_event, b->acc);
	stream(b);
	sse_release(&b->sse);
	start = now();
	if (acc_finish(b->acc, &c, &f, &err) < 0 || c.msg.ncalls != 1 || c.msg.calls[0].bad || c.msg.calls[0].args_len < b->size) {
		(void)fprintf(stderr, "acc_bench: %s\n", c.msg.ncalls && c.msg.calls[0].bad ? c.msg.calls[0].bad : err.msg);
		abort();
	}
	b->busy += now() - start;
	result[0] = b->busy;
	result[1] = (double)(peak_bytes() - before) / (double)c.msg.calls[0].args_len;
	if (write(fd, result, sizeof(result)) != (ssize_t)sizeof(result))
		abort();
	_exit(0);
}

static int measure(enum wire_api api, bool whole, size_t size, double ret[2])
{
	struct bench b = { .api = api, .size = size, .whole = whole };
	int fds[2];
	int status = -1;
	pid_t pid;

	if (pipe(fds) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		child(&b, fds[1]);
	(void)close(fds[1]);
	if (read(fds[0], ret, 2 * sizeof(*ret)) != (ssize_t)(2 * sizeof(*ret)))
		status = -2;
	(void)close(fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status == 0 ? 0 : -1;
}

int main(void)
{
	static const struct {
		enum wire_api api;
		bool whole;
		const char *name;
	} rows[] = {
		{ WIRE_ANTHROPIC, false, "anthropic" },
		{ WIRE_CHAT, false, "chat" },
		{ WIRE_RESPONSES, false, "responses, deltas only" },
		{ WIRE_RESPONSES, true, "responses, and 3 x whole" },
	};
	static const size_t sizes[] = { 1, 2, 5, 10 };

	(void)puts("== a tool argument in pieces of 1 KB: ns per byte, and memory beyond the start as a multiple of it (wanted: at most 3)");
	for (size_t a = 0; a < sizeof(rows) / sizeof(rows[0]); a++) {
		double first = 0;

		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			double r[2] = { 0 };
			double per;

			if (measure(rows[a].api, rows[a].whole, sizes[s] * MB, r) < 0)
				return 1;
			per = r[0] * 1e9 / (double)(sizes[s] * MB);
			first = s == 0 ? per : first;
			(void)printf("%-24s %3zu MB  %6.2f ns/byte (%.2f x 1 MB)  memory %.2f x\n", rows[a].name, sizes[s], per,
				     per / first, r[1]);
		}
	}
	return 0;
}
