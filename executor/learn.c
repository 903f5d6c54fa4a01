/* SPDX-License-Identifier: Apache-2.0 */
/* From what a run called to a profile. Process: executor. Privilege: see learn.h. */
#include "executor/learn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/companion.h"
#include "executor/observing.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/shared/ak_learned.h"

#define PROFILE_MAX (256u << 10)

_Static_assert(sizeof(((struct ak_learned *)0)->used) == AK_INIT_LEARNED_BYTES, "init tells as many as ak-policy takes");
_Static_assert(AK_LEARNED_NUMBERS == DENIALS_NUMBERS, "refusals are counted for the same numbers");

int learn_check(const struct exec_opts *o, struct ak_err *err)
{
	const struct {
		bool given;
		const char *option;
	} refused[] = {
		{ o->json, "--json" }, { o->explain, "--explain" }, { o->in != NULL, "--in" }, { o->detach, "--detach" },
		{ o->report != NULL, "--report" }, { o->backend != BACKEND_NATIVE, "--backend" },
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (refused[i].given)
			return ak_err_set(err, EINVAL, "seccomp learn: %s means nothing here", refused[i].option);
	if (!o->seccomp_file)
		return 0;
	(void)ak_err_set(err, EINVAL, "seccomp learn: --seccomp %s is a profile of your own", o->seccomp_file);
	ak_err_hint(err, "what is learned is a part of default or of strict");
	return -EINVAL;
}

int learn_open(struct learn *l, struct ak_err *err)
{
	l->policy = companion_open("ak-policy", err);
	if (l->policy < 0)
		return l->policy;
	l->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (l->out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return ak_err_sys(err, errno, "keep standard output for the profile");
	return 0;
}

static void gather(const struct observing *ob, struct ak_learned *ret)
{
	*ret = (struct ak_learned){ 0 };
	memcpy(ret->used, ob->learned, sizeof(ret->used));
	for (uint32_t i = 0; i < AK_LEARNED_NUMBERS; i++) {
		const struct denial_count *c = &ob->denials.calls[i];

		if (c->count && !c->by_floor)
			ret->refused[i] = c->err;
	}
}

int learn_write(const struct learn *l, const struct exec_opts *o, const struct observing *ob, struct ak_err *err)
{
	const char *argv[] = { "ak-policy", "learn", o->seccomp, NULL };
	struct ak_learned data;
	char *text = NULL;
	size_t len = 0;
	int rc;

	if (!ob->have_learned)
		return ak_err_set(err, EPROTO, "seccomp learn: the command came to no end of its own, so there is no profile");
	gather(ob, &data);
	rc = companion_run_fd(l->policy, argv, &data, sizeof(data), PROFILE_MAX, &text, &len, err);
	if (rc < 0)
		return rc;
	rc = ak_write_all(l->out, text, len);
	free(text);
	return rc < 0 ? ak_err_sys(err, -rc, "write the profile to standard output") : 0;
}

void learn_release(struct learn *l)
{
	ak_fd_close(&l->out);
	ak_fd_close(&l->policy);
}
