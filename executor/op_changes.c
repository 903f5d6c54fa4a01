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
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/protected_scan.h"

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

/* Return: of how many of them there are entries; negative errno */
static int put_protected(const struct protected_report *p, struct ak_buf *out)
{
	uint8_t buf[AK_PATH_MAX + 64];
	int n = 0;

	for (size_t i = 0; p && i < p->n; i++) {
		struct ak_change m = { .op = p->list[i].op == PROTECTED_ADDED ? AK_CHANGE_ADDED : AK_CHANGE_MODIFIED,
				       .flags = AK_CHANGE_PROTECTED, .path = p->list[i].path };
		long len = ak_change_encode(&m, buf, sizeof(buf));

		if (len < 0 || out->len + (size_t)len > AK_CHANGES_BYTES_MAX)
			continue;
		ak_buf_add(out, buf, (size_t)len);
		n++;
	}
	return out->failed ? -ENOMEM : n;
}

/* without a copy: protected names that have changed; what else has is not observed */
static void tell_protected(struct request *q)
{
	const struct protected_report *p = q->s->o->protected(q->s->o->protected_arg);
	struct ak_buf b = { .max = AK_CHANGES_BYTES_MAX };
	int n = put_protected(p, &b), fd = n > 0 ? ak_memfd_sealed("ak-changes", b.data, b.len) : -1;
	struct ak_changed m = { .outcome = AK_CHANGES_NONE, .entries = n > 0 ? (uint32_t)n : 0, .data_len = n > 0 ? (uint32_t)b.len : 0,
				.flags = n > 0 ? AK_CHANGED_DATA_FD : 0u };

	m.total = m.nprotected = p ? p->n + p->more : 0;
	m.flags |= m.total > m.entries ? AK_CHANGED_MORE : 0u;
	ak_buf_release(&b);
	if (n < 0 || (n > 0 && fd < 0))
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_INTERNAL, ENOMEM, "not enough memory for the list of changes");
	else
		conn_reply(q->s, q->c, AK_OP_CHANGED, q->f->seq, q->s->out, ak_changed_encode(&m, q->s->out, sizeof(q->s->out)), fd, -1);
}

static bool any_box(const struct server *s)
{
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++)
		if (s->boxes[i])
			return true;
	return false;
}

int op_changes(struct request *q)
{
	struct copy *c = &q->s->copy;
	struct ak_changes_req m;

	if (ak_changes_req_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	if (!q->s->o->changes && q->s->o->protected) {
		q->s->busy_ns = ak_now_ns();
		if (any_box(q->s))	/* the look takes its time, and ends with what it has seen */
			(void)refused(q, AK_CODE_BUSY, EBUSY, "the workspace is written directly: what changed is looked for when no sandbox is left");
		else
			tell_protected(q);
		return 0;
	}
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
