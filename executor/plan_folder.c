/* SPDX-License-Identifier: Apache-2.0 */
/* Plans no more than the workspace, for a backend that shows it by other means. Process: executor. Privilege: none. */
#include "executor/plan_priv.h"

#include <errno.h>
#include <stdlib.h>

int plan_folder(const struct exec_opts *o, const struct hostinfo *h, struct plan *ret, struct ak_err *err)
{
	struct ak_err own = {0};
	/* nothing in it can be hidden, so naming it does not make a home or a shared folder acceptable */
	struct exec_opts strict = *o;
	struct plan_ctx c = {.o = &strict, .h = h, .p = ret, .err = err ? err : &own, .weak = ak_weaken_mask()};
	int r;

	strict.workspace_given = false;
	strict.workdir = NULL;
	*ret = (struct plan){.rootfs_fd = -1, .write = o->write};
	r = plan_workspace_find(&c);
	if (r == -EPERM && o->workspace_given)
		ak_err_hint(c.err, "this backend can hide nothing in a workspace: go to a project folder, or leave --backend out");
	if (r == 0)
		r = plan_workspace(&c);
	if (r == 0 && c.cand.error < 0)
		r = ak_err_set(c.err, -c.cand.error, "workspace \"%s\": too many protected names, or no memory", ret->workspace);
	if (r == 0) {
		ret->mounts = c.cand.v;
		ret->nmounts = c.cand.n;
		c.cand = (struct mount_list){0};
	}
	mount_list_release(&c.cand);
	plan_homes_release(&c);
	return r;
}
