/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer made of the protocol's own encoders that plays an executor: a child process at the other end of a socketpair, which
 * greets and then follows a script. What libak and the relay do with every kind of answer is tried against it.
 */
#ifndef AK_TESTS_FAKE_EXECUTOR_H
#define AK_TESTS_FAKE_EXECUTOR_H

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/shared/ak_chan.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_msg.h"

struct fake {
	int fd;			/* the executor's end, in the child */
	struct ak_frame f;	/* the request read last */
	uint8_t in[AK_MSG_MAX];
	uint8_t out[AK_PAYLOAD_MAX];
};

typedef void fake_script(struct fake *x);

/* in the child: a check that fails ends it with a code that fake_end() sees */
#define FAKE_CHECK(cond)                                                                                                          \
	do {                                                                                                                      \
		if (!(cond))                                                                                                      \
			_exit(99);                                                                                                \
	} while (0)

static inline void fake_send(struct fake *x, uint16_t op, uint32_t seq, long len, const int *fds, size_t nfds)
{
	FAKE_CHECK(len >= 0 && ak_chan_send(x->fd, op, seq, x->out, (size_t)len, fds, nfds, 0) == 0);
}

/* The next request, which must be @op */
static inline void fake_expect(struct fake *x, uint16_t op)
{
	FAKE_CHECK(ak_chan_recv(x->fd, x->in, &x->f, 0) == 1 && x->f.op == op);
}

/* Is it the end of the connection? */
static inline void fake_expect_end(struct fake *x)
{
	int r = ak_chan_recv(x->fd, x->in, &x->f, 0);

	FAKE_CHECK(r == 0 || r < 0);
}

static inline struct ak_facts fake_facts(void)
{
	struct ak_facts f = { .landlock_abi = 6, .uid = 1000, .gid = 1000, .root = "host", .workspace = "/ws", .cwd = "/ws",
			      .user = "me", .home = "/home/me" };

	f.limit[AK_LIMIT_MEMORY] = (struct ak_limit){ .by = AK_BY_CGROUP, .value = 512u << 20 };
	f.limit[AK_LIMIT_PIDS] = (struct ak_limit){ .by = AK_BY_RLIMIT, .hit = AK_HIT_UNKNOWN, .value = 256 };
	f.limit[AK_LIMIT_CPUS] = (struct ak_limit){ .by = AK_BY_NONE, .value = 1000 };
	f.nwarnings = 1;
	f.warning[0] = "a warning of the sandbox";
	return f;
}

static inline void fake_greet(struct fake *x)
{
	struct ak_hello_reply m = { .version = AK_PROTO_VERSION, .pid = (uint32_t)getpid(), .program = "9.9", .sandbox = 1,
				    .name = "box", .ttl_ms = 1000, .pool = 2, .pool_ready = 1, .running = 3, .jobs = 1,
				    .created_ms = 5, .facts = fake_facts() };
	struct ak_hello h;

	fake_expect(x, AK_OP_HELLO);
	FAKE_CHECK(ak_hello_decode(x->f.payload, x->f.len, &h) == 0 && h.version == AK_PROTO_VERSION);
	fake_send(x, AK_OP_HELLO_REPLY, x->f.seq, ak_hello_reply_encode(&m, x->out, sizeof(x->out)), NULL, 0);
}

static inline void fake_ok(struct fake *x)
{
	fake_send(x, AK_OP_OK, x->f.seq, 0, NULL, 0);
}

static inline void fake_refuse(struct fake *x, enum ak_code code, uint32_t e, const char *text, const char *hint)
{
	struct ak_refused m = { .code = (uint32_t)code, .err = e, .text = text, .hint = hint };

	fake_send(x, AK_OP_REFUSED, x->f.seq, ak_refused_encode(&m, x->out, sizeof(x->out)), NULL, 0);
}

static inline void fake_started(struct fake *x, uint32_t seq, uint32_t cmd, int pty)
{
	struct ak_started m = { .sandbox = 1, .cmd = cmd, .pid = 7, .pty = pty >= 0 };

	fake_send(x, AK_OP_STARTED, seq, ak_started_encode(&m, x->out, sizeof(x->out)), &pty, pty >= 0 ? 1 : 0);
}

static inline void fake_result(struct fake *x, uint32_t seq, const struct ak_result *m, const int *fds, size_t nfds)
{
	fake_send(x, AK_OP_RESULT, seq, ak_result_encode(m, x->out, sizeof(x->out)), fds, nfds);
}

/* Starts a fake that greets (unless @bare) and runs @script. Return: its pid; the client's end in *@ret. */
static inline pid_t fake_start(fake_script *script, int bare, int *ret)
{
	int pair[2];
	pid_t pid;

	if (ak_chan_pair(pair, NULL) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		struct fake *x = calloc(1, sizeof(*x));

		FAKE_CHECK(x);
		(void)close(pair[0]);
		x->fd = pair[1];
		if (!bare)
			fake_greet(x);
		script(x);
		_exit(0);
	}
	(void)close(pair[1]);
	*ret = pair[0];
	return pid;
}

/* Return: 0 when every check of the script held. */
static inline int fake_end(pid_t pid)
{
	int status = -1;

	(void)waitpid(pid, &status, 0);
	return status;
}

#endif
