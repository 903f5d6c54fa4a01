/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a workspace for commands that make no sandbox. Process: the commands around checkpoints. Privilege: none. */
#include <stdlib.h>

#include "executor/hostinfo.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/plan_priv.h"
#include "executor/shared/ak_err.h"

int plan_find_workspace(const struct hostinfo *h, const char *dir, char **ret, struct ak_err *err)
{
	const struct exec_opts o = {.workspace = (char *)dir, .workspace_given = dir != NULL};
	struct plan p = {.rootfs_fd = -1};
	struct plan_ctx c = {.o = &o, .h = h, .p = &p, .err = err};
	int r = plan_workspace_find(&c);

	if (r == 0) {
		*ret = p.workspace;
		p.workspace = NULL;
	}
	plan_homes_release(&c);
	plan_release(&p);
	return r;
}
