/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What file tools change in a workspace that is written directly. Process: executor. Privilege: none: its child has what is needed.
 *
 * A write waits until what it replaces is on the disk (touch_stay.h), then it goes the way of any file operation. The child gets one order at a
 * time, in the order of the requests, and nothing here waits for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "executor/touch_stay.h"

static void drop(struct touch_ask *a)
{
	ak_frame_release(&a->f);
	free(a->payload);
	*a = (struct touch_ask){ 0 };
}

static void pop(struct touch *t)
{
	drop(&t->ask[0]);
	t->n--;
	memmove(&t->ask[0], &t->ask[1], t->n * sizeof(t->ask[0]));
	t->asked = false;
}

void touch_forget(struct server *s, const struct conn *c)
{
	for (size_t i = 0; i < s->touch.n; i++)
		if (s->touch.ask[i].c == c)
			s->touch.ask[i].c = NULL;	/* what is being recorded stays recorded */
}

static void tell(struct server *s, const struct touch_ask *q, const struct touch_answer *a)
{
	struct ak_touched m = { .pending = a->pending, .count = a->count };

	if (a->failed.code)
		conn_refuse(s, q->c, q->f.seq, AK_CODE_CHANGES, &a->failed);
	else
		conn_reply(s, q->c, AK_OP_TOUCHED, q->f.seq, s->out, ak_touched_encode(&m, s->out, sizeof(s->out)), -1, -1);
}

/* it is on the disk: the write goes on */
static void recorded(struct server *s, struct touch_ask *q, const struct touch_answer *a)
{
	struct request rq = { .s = s, .c = q->c, .f = &q->f, .kept = a };

	if (a->failed.code)
		conn_refuse(s, q->c, q->f.seq, AK_CODE_TOUCHED, &a->failed);
	else if (q->c)
		(void)op_file(&rq);	/* it was decoded before */
}

static void lost(struct server *s)
{
	struct touch *t = &s->touch;
	struct touch_answer a = { .op = 0 };

	ev_forget(s, &t->ev);
	(void)ak_err_set(&a.failed, ECHILD, "the process that keeps files as they were before tools change them has ended");
	t->lost = true;
	t->cannot = a.failed;
	while (t->n > 0) {
		if (t->ask[0].o.op == TOUCH_RECORD)
			recorded(s, &t->ask[0], &a);
		else
			tell(s, &t->ask[0], &a);
		pop(t);
	}
}

static void next(struct server *s)
{
	struct touch *t = &s->touch;

	if (t->n == 0 || t->asked || t->lost)
		return;
	t->asked = true;
	if (touch_stay_ask(s->o->touched, &t->ask[0].o) < 0)
		lost(s);
}

static void on_answer(struct server *s, struct ev *ev, uint32_t events)
{
	struct touch *t = &s->touch;
	struct touch_answer a;
	int r = touch_stay_hear(s->o->touched, &a);

	(void)ev;
	(void)events;
	if (r < 0)
		lost(s);
	if (r <= 0 || t->n == 0)
		return;
	if (a.op == TOUCH_OPEN) {
		t->on = !a.failed.code;
		t->cannot = a.failed;
	}
	if (a.op == TOUCH_FORGET)
		t->on = false;
	if (a.op == TOUCH_RECORD)
		recorded(s, &t->ask[0], &a);
	else
		tell(s, &t->ask[0], &a);
	pop(t);
	next(s);
}

int touch_begin(struct server *s)
{
	return s->o->touched && s->o->touched->sock >= 0 ? ev_add(s, &s->touch.ev, s->o->touched->sock, EPOLLIN, on_answer, NULL) : 0;
}

void touch_close(struct server *s)
{
	while (s->touch.n > 0)
		pop(&s->touch);
	ev_forget(s, &s->touch.ev);
}

bool touch_refuse(struct request *q)
{
	const struct touch *t = &q->s->touch;
	struct ak_err err = t->cannot;

	if (t->on || !err.code)
		return false;
	(void)ak_err_wrap(&err, "nothing is written, since what was there cannot be kept for rollback");
	conn_refuse(q->s, q->c, q->f->seq, AK_CODE_TOUCHED, &err);
	return true;
}

int touch_ask(struct request *q, const struct touch_order *o)
{
	struct touch *t = &q->s->touch;
	struct touch_ask *a = &t->ask[t->n];
	struct ak_err err = { 0 };

	if (t->lost) {
		(void)ak_err_set(&err, ECHILD, "the process that keeps files as they were before tools change them has ended");
		conn_refuse(q->s, q->c, q->f->seq, AK_CODE_TOUCHED, &err);
		return 0;
	}
	if (t->n == TOUCH_ASKS_MAX) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_TOO_MANY, EAGAIN, "%u file operations run already", AK_FILES_MAX);
		return 0;
	}
	*a = (struct touch_ask){ .c = q->c, .o = *o, .f = *q->f, .payload = malloc(q->f->len + 1) };
	if (!a->payload) {
		*a = (struct touch_ask){ 0 };
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_INTERNAL, ENOMEM, "not enough memory for the file");
		return 0;
	}
	memcpy(a->payload, q->f->payload, q->f->len);
	a->f.payload = a->payload;
	q->f->nfds = 0;	/* its descriptors went along */
	t->n++;
	next(q->s);
	return 0;
}

/* ---- requests ---- */

int op_session(struct request *q)
{
	const struct serve_opts *so = q->s->o;
	struct touch_order o = { .op = TOUCH_OPEN };
	struct ak_touched none = { 0 };
	struct ak_session m;

	if (ak_session_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	if (so->seen) {
		(void)strncpy(so->seen->session, m.name, sizeof(so->seen->session) - 1);
		so->seen->stored = m.flags & AK_SESSION_STORED;
	}
	if (so->touched && so->touched->sock < 0) {
		q->s->touch.cannot = so->touched->cannot;
		conn_refuse(q->s, q->c, q->f->seq, AK_CODE_CHANGES, &so->touched->cannot);
		return 0;
	}
	if (!so->touched || q->s->touch.on) {
		conn_reply(q->s, q->c, AK_OP_TOUCHED, q->f->seq, q->s->out, ak_touched_encode(&none, q->s->out, sizeof(q->s->out)), -1, -1);
		return 0;
	}
	memcpy(o.session, m.name, AK_SESSION_NAME);
	o.flags = m.flags;
	return touch_ask(q, &o);
}

int op_rollback(struct request *q)
{
	struct touch_order o = { .op = TOUCH_ROLLBACK };
	struct ak_rollback m;

	if (ak_rollback_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	q->s->busy_ns = ak_now_ns();
	if (!q->s->touch.on) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_NO_CHANGES, ENOENT, "nothing is kept to roll back to");
		return 0;
	}
	if (m.flags & AK_ROLLBACK_FORGET)
		o.op = TOUCH_FORGET;
	return touch_ask(q, &o);
}
