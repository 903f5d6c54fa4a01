/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a run. Process: agent. Privilege: none. */
#include "agent/points.h"

#include <errno.h>
#include <stdbool.h>

#include "agent/approve.h"
#include "agent/exec_client.h"
#include "agent/json.h"
#include "agent/msg.h"
#include "executor/shared/ak_err.h"

static bool may_change(const struct msg *m)
{
	bool any = false;

	for (size_t i = 0; !any && i < m->ncalls; i++) {
		struct cJSON *args = NULL;

		any = json_parse(m->calls[i].args, m->calls[i].args_len, 0, NULL, &args, NULL) < 0 ||
		      approve_gated(m->calls[i].name, args);
		json_free(args);
	}
	return any;
}

int points_save(struct points *p, struct exec_client *xc, const struct msg *m, uint64_t turn, struct ak_err *err)
{
	struct ak_checkpointed c = { 0 };
	int rc;

	if (xc->write != AK_WRITE_COW || p->failed || p->n == POINTS_MAX || !may_change(m))
		return 0;
	rc = ak_checkpoint(xc->cl, 0, AK_CHECKPOINT_LIVE, &c, err);
	if (rc < 0) {
		p->failed = -rc;
		return rc == -ECONNRESET ? 0 : rc; /* that the executor is gone will be noticed soon enough */
	}
	p->v[p->n].turn = turn;
	p->v[p->n++].id = c.point;
	return 0;
}

uint32_t points_find(const struct points *p, uint64_t turn)
{
	for (size_t i = 0; i < p->n; i++)
		if (turn == 0 || p->v[i].turn == turn)
			return p->v[i].id;
	return 0;
}
