/* SPDX-License-Identifier: Apache-2.0 */
/* A runner that starts nothing: it writes down each command line and answers by a list of rows. */
#ifndef AK_TEST_FAKE_RUNNER_H
#define AK_TEST_FAKE_RUNNER_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/runner.h"
#include "executor/shared/ak_err.h"

#define FAKE_CALLS_MAX 64

struct fake_answer {
	const char *first;	/* words after "docker" that the call must start with, joined by spaces; NULL: the end */
	int code;
	const char *out, *err;
	int error;		/* errno: the program cannot be started */
	bool timed_out;
};

struct fake_runner {
	const struct fake_answer *answers;	/* the first row that fits answers; none: code 0 */
	size_t n;
	char line[FAKE_CALLS_MAX][2048];	/* words joined by "|" */
	uint64_t timeout_ms[FAKE_CALLS_MAX];
};

static inline const struct fake_answer *fake_find(const struct fake_runner *f, const char *line)
{
	for (const struct fake_answer *a = f->answers; a && a->first; a++)
		if (strncmp(line, a->first, strlen(a->first)) == 0)
			return a;
	return NULL;
}

static inline int fake_run(void *ctx, const struct runner_call *c, struct runner_result *ret, struct ak_err *err)
{
	struct fake_runner *f = ctx;
	char *line = f->line[f->n];
	const struct fake_answer *a;

	if (f->n >= FAKE_CALLS_MAX)
		abort();
	line[0] = '\0';
	for (size_t i = 1; c->argv[i]; i++) {
		size_t n = strlen(line);

		(void)snprintf(line + n, sizeof(f->line[0]) - n, "%s%s", i > 1 ? "|" : "", c->argv[i]);
	}
	f->timeout_ms[f->n++] = c->timeout_ms;
	a = fake_find(f, line);
	if (a && a->error)
		return ak_err_sys(err, a->error, "start docker");
	*ret = (struct runner_result){.code = a ? a->code : 0, .timed_out = a && a->timed_out};
	ret->out = strdup(a && a->out ? a->out : "");
	ret->err = strdup(a && a->err ? a->err : "");
	ret->out_len = strlen(ret->out);
	ret->err_len = strlen(ret->err);
	if (c->hooks && c->hooks->err_bytes)
		c->hooks->err_bytes(c->ctx, (const uint8_t *)ret->err, ret->err_len);
	return 0;
}

/* how many calls start with @first */
static inline unsigned fake_count(const struct fake_runner *f, const char *first)
{
	unsigned n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += strncmp(f->line[i], first, strlen(first)) == 0;
	return n;
}

#endif
