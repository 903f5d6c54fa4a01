/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a run. Process: agent. Privilege: none. */
#include "agent/points.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "agent/approve.h"
#include "agent/exec_client.h"
#include "agent/json.h"
#include "agent/msg.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_session_file.h"

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

static void note(const struct points *p, uint32_t id, uint64_t turn)
{
	unsigned char record[AK_SESSION_POINT_BYTES];

	ak_session_point_encode(&(struct ak_session_point){ .point = id, .run = p->run, .turn = turn }, record);
	if (p->fd >= 0)
		(void)!write(p->fd, record, sizeof(record)); /* the list lacks a turn then */
}

/* the run begins on what runs before it have changed */
static int take_base(struct points *p, struct exec_client *xc, struct ak_err *err)
{
	struct timespec t = { 0 };

	if (!p->again || p->n > 0)
		return 0;
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &t);
	p->base_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	ak_change_set_release(&p->base);
	return ak_changes(xc->cl, 0, 0, &p->base, err);
}

int points_save(struct points *p, struct exec_client *xc, const struct msg *m, uint64_t turn, struct ak_err *err)
{
	struct ak_checkpointed c = { 0 };
	int rc;

	if (xc->write != AK_WRITE_COW || p->failed || p->n == POINTS_MAX || !may_change(m))
		return 0;
	rc = take_base(p, xc, err);
	if (rc == 0)
		rc = ak_checkpoint(xc->cl, 0, AK_CHECKPOINT_LIVE, &c, err);
	if (rc < 0) {
		p->failed = -rc;
		return rc == -ECONNRESET ? 0 : rc; /* that the executor is gone will be noticed soon enough */
	}
	p->v[p->n].turn = turn;
	p->v[p->n++].id = c.point;
	note(p, c.point, turn);
	return 0;
}

void points_note_in(struct points *p, int dir, uint32_t run, bool again)
{
	p->run = run;
	p->again = again;
	p->fd = dir < 0 ? -1
			: openat(dir, AK_SESSION_POINTS,
				 O_WRONLY | O_CREAT | O_APPEND | (again ? 0 : O_TRUNC) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

void points_close(struct points *p)
{
	ak_fd_close(&p->fd);
	ak_change_set_release(&p->base);
}

uint32_t points_find(const struct points *p, uint64_t turn)
{
	for (size_t i = 0; i < p->n; i++)
		if (turn == 0 || p->v[i].turn == turn)
			return p->v[i].id;
	return 0;
}
