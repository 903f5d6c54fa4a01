/* SPDX-License-Identifier: Apache-2.0 */
/* Which options mean something on which command line. Process: executor. Privilege: none. */
#include "executor/args_int.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "executor/opts.h"
#include "executor/shared/ak_err.h"

#define NAMES_MAX 400u	/* the rest of the line stays readable */

/* What to say about options on command line @here, where they mean nothing: their names, then @what */
struct refusal {
	unsigned here;
	unsigned there;		/* the option's row holds one of these */
	const char *what;
	const char *hint;
};

/* the first row that fits */
static const struct refusal refusals[] = {
	{ARG_RUN, ARG_CREATE, "belongs to `ak create`", "a sandbox of one command ends with it"},
	{ARG_RUN, ARG_IN | ARG_JOB, "needs --in NAME", "`ak create NAME` makes the sandbox"},
	{ARG_IN, ARG_RUN | ARG_CREATE, "cannot be given with --in: the sandbox exists already",
	 "what shapes a sandbox is said to `ak create`"},
	{ARG_JOB, ARG_IN, "cannot be given with --detach: a job runs without its caller", "`ak logs` shows its output"},
	{ARG_JOB, ARG_RUN | ARG_CREATE, "cannot be given with --in: the sandbox exists already",
	 "what shapes a sandbox is said to `ak create`"},
	{ARG_CREATE, ARG_RUN | ARG_IN | ARG_JOB, "says how one command runs, and `ak create` runs none",
	 "give it to `ak exec --in NAME`"},
};

static void add_name(char *names, size_t size, const char *name)
{
	size_t len = strlen(names), n = strlen(name);

	if (len + n + 3 > size)
		return;
	if (len > 0) {
		names[len++] = ',';
		names[len++] = ' ';
	}
	memcpy(names + len, name, n + 1);
}

static const struct refusal *find(unsigned here, const struct arg_def *d)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if ((refusals[i].here & here) && (refusals[i].there & d->where))
			return &refusals[i];
	}
	return NULL;
}

int args_check_where(struct args *a)
{
	const struct refusal *why = NULL;
	char names[NAMES_MAX] = "";
	const struct arg_def *d;

	for (size_t i = 0; (d = arg_row(i)) != NULL; i++) {
		const struct refusal *r;

		if (!(a->given & (UINT64_C(1) << i)) || (d->where & a->where))
			continue;
		r = find(a->where, d);
		if (!why)
			why = r;
		if (r == why)
			add_name(names, sizeof(names), d->name);
	}
	if (!why)
		return 0;
	(void)ak_err_set(a->err, EINVAL, "%s %s", names, why->what);
	ak_err_hint(a->err, "%s", why->hint);
	return -EINVAL;
}
