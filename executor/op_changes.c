/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests about the copy of the workspace. Process: executor. Privilege: none.
 *
 * Safe to serve because they name nothing: there is one copy, made from the command line. What comes back are names of paths below
 * the workspace. That it may be taken over into the workspace was decided by the command line, and so were the protected names
 * that may be in it.
 */
#include <errno.h>

#include "executor/cow_stay.h"
#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"

static int refused(struct request *q, enum ak_code code, int eno, const char *text)
{
	conn_refuse_text(q->s, q->c, q->f->seq, code, eno, "%s", text);
	return -1;
}

/* Return: 0, or -1 after a refusal */
static int check(struct request *q, uint32_t sandbox)
{
	const struct copy *c = &q->s->copy;
	const struct box *b = box_find(q->s, c->box);

	q->s->busy_ns = ak_now_ns();
	if (!q->s->o->changes)
		return refused(q, AK_CODE_NO_CHANGES, ENOENT,
			       "this executor was not started with --write cow: there is no copy of the workspace");
	/* a sandbox that has ended by itself leaves its changes to those who know it */
	if ((sandbox && sandbox != (c->box ? c->box : c->last)) || (b && b->owner && b->owner != q->c))
		return refused(q, AK_CODE_NO_SANDBOX, ENOENT, "this sandbox has no copy of the workspace, or there is no such sandbox");
	if (c->state == COPY_FINISHING)
		return refused(q, AK_CODE_BUSY, EBUSY, "the changes are being dealt with already");
	if (c->state == COPY_LOST)
		return refused(q, AK_CODE_NO_CHANGES, ECHILD, "the changes cannot be reached any more; what there is is kept");
	return 0;
}

int op_changes(struct request *q)
{
	struct copy *c = &q->s->copy;
	struct ak_changes_req m;

	if (ak_changes_req_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	if (check(q, m.sandbox) < 0)
		return 0;
	if (c->nlooks == SERVE_LOOKS_MAX) {
		(void)refused(q, AK_CODE_TOO_MANY, EAGAIN, "too many are looking at the changes already");
		return 0;
	}
	c->looks[c->nlooks++] = (struct look){ .to = { q->c, q->f->seq }, .limit = m.limit };
	copy_next(q->s);
	return 0;
}

int op_finish(struct request *q)
{
	struct server *s = q->s;
	struct ak_finish m;
	struct box *b;

	if (ak_finish_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	if (check(q, m.sandbox) < 0)
		return 0;
	if (m.action == AK_FINISH_APPLY && !s->o->may_apply) {
		(void)refused(q, AK_CODE_NOT_ALLOWED, EPERM,
			      "changes may not be taken over by a client here: the executor was started without --apply always");
		return 0;
	}
	if (m.action == AK_FINISH_RESTORE && s->named) {
		(void)refused(q, AK_CODE_NOT_ALLOWED, EPERM, "a named sandbox ends for good: it cannot go back to a checkpoint");
		return 0;
	}
	if (m.action == AK_FINISH_RESTORE && s->copy.state == COPY_KEPT) {
		(void)refused(q, AK_CODE_NO_CHANGES, EBUSY, "the changes are kept as a changeset already: apply or discard them");
		return 0;
	}
	b = box_find(s, s->copy.box);
	if (b && b->running && !(m.flags & AK_FINISH_FORCE)) {
		conn_refuse_text(s, q->c, q->f->seq, AK_CODE_BUSY, EBUSY, "%u commands run", b->running);
		return 0;
	}
	s->copy.state = COPY_FINISHING;
	s->copy.finish = (struct waiter){ q->c, q->f->seq };
	s->copy.action = m.action;
	s->copy.number = m.point;
	if (b)
		box_end(s, b, ECANCELED, "its changes are being dealt with");
	copy_next(s);
	return 0;
}

int op_checkpoint(struct request *q)
{
	struct server *s = q->s;
	struct ak_checkpoint m;
	const struct box *b;

	if (ak_checkpoint_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	if (check(q, m.sandbox) < 0)
		return 0;
	b = box_find(s, s->copy.box);
	if (s->copy.state == COPY_KEPT || s->copy.point_due) {
		(void)refused(q, AK_CODE_BUSY, EBUSY,
			      s->copy.point_due ? "a checkpoint is being made already" : "the changes are kept as a changeset already");
		return 0;
	}
	if (b && b->running && !(m.flags & AK_CHECKPOINT_LIVE)) {
		conn_refuse_text(s, q->c, q->f->seq, AK_CODE_BUSY, EBUSY, "%u commands run", b->running);
		return 0;
	}
	s->copy.point = (struct waiter){ q->c, q->f->seq };
	s->copy.point_due = true;
	copy_next(s);
	return 0;
}
