/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scribe of an executor that serves: carries out its orders on the layer. Process: child of the executor. Privilege: the
 * workspace's owner, in a user namespace that maps nobody else.
 *
 * While a sandbox has the layer it is only read: what a command changes during a look may be in it or not. What changes layer or
 * workspace comes when that sandbox has ended, and with it its mount.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "executor/cow_scribe.h"
#include "executor/cow_stay.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_chan.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_msg.h"
#include "executor/workspace/apply.h"
#include "executor/workspace/apply_text.h"
#include "executor/workspace/changeset_again.h"
#include "executor/workspace/copy.h"
#include "executor/workspace/points.h"
#include "executor/workspace/protected_place.h"
#include "executor/workspace/scan.h"

#define LOOK_TRIES 5u		/* a command may remove what is being looked at */
#define LOOK_AGAIN_NS 20000000
#define HELD_BACK (CHANGE_PROTECTED | CHANGE_LISTED)

_Static_assert((int)AK_CHANGE_TYPE == (int)CHANGE_TYPE && (int)AK_CHANGE_MODIFIED == (int)CHANGE_MODIFIED &&
	       (int)AK_CHANGE_PROTECTED == (int)CHANGE_PROTECTED && (int)AK_CHANGE_LISTED == (int)CHANGE_LISTED &&
	       (int)AK_CHANGE_WHOLE == (int)CHANGE_WHOLE &&
	       (int)AK_CHANGE_CONFLICT > (int)CHANGE_FLAGS && WS_PATH_MAX < AK_PATH_MAX, "one numbering");

/* one order being carried out */
struct work {
	struct cow *c;
	struct protected_place *place;
	struct points *points;
	const struct stay_order *order;
	struct stay_answer a;
	struct journal j;
	struct apply apply;
	int data;	/* owned; -1 */
};

static int look(struct work *w, unsigned tries)
{
	static const struct timespec moment = { .tv_nsec = LOOK_AGAIN_NS };
	int r;

	for (;;) {
		w->a.failed = (struct ak_err){ 0 };
		r = scan_layer(w->c->cs.upper, w->c->lower, w->place, w->c->cs.meta.start_ns, &w->j, &w->a.failed);
		if (r == 0)
			return changeset_remember(&w->c->cs, &w->j, &w->a.failed);
		if ((r != -ENOENT && r != -ESTALE && r != -ENOTDIR) || --tries == 0)
			return r;
		journal_release(&w->j);
		(void)nanosleep(&moment, NULL);
	}
}

/* ---- what is told ---- */

static uint32_t flags_of(const struct work *w, size_t i)
{
	uint32_t flags = w->j.v[i].flags;

	return w->apply.state && w->apply.state[i] == APPLY_CONFLICT ? flags | AK_CHANGE_CONFLICT : flags;
}

static bool stands_out(uint32_t flags)
{
	return flags & (HELD_BACK | AK_CHANGE_CONFLICT);
}

static void count(struct work *w, size_t *ret_out)
{
	w->a.total = w->j.n;
	for (size_t i = 0; i < w->j.n; i++) {
		uint32_t flags = flags_of(w, i);

		w->a.nprotected += (flags & AK_CHANGE_PROTECTED) != 0;
		w->a.nconflicts += (flags & AK_CHANGE_CONFLICT) != 0;
		*ret_out += stands_out(flags);
	}
}

static bool put_entry(struct work *w, size_t i, struct ak_buf *out)
{
	const struct change *c = &w->j.v[i];
	struct ak_change m = { .op = c->op, .flags = flags_of(w, i), .mode = c->now.mode & 0177777, .size = c->now.mode ? c->now.size : 0,
			       .path = c->path };
	uint8_t buf[AK_PATH_MAX + 64];
	long n = ak_change_encode(&m, buf, sizeof(buf));

	if (n < 0 || out->len + (size_t)n > AK_CHANGES_BYTES_MAX)
		return false;
	ak_buf_add(out, buf, (size_t)n);
	w->a.entries++;
	return true;
}

/* in their order; where not all find room, what stands out comes first */
static int put_entries(struct work *w)
{
	struct ak_buf b = { .max = AK_CHANGES_BYTES_MAX };
	size_t room = w->order->limit ? w->order->limit : AK_CHANGES_MAX, out = 0, rest;
	int r = 0;

	count(w, &out);
	out = out < room ? out : room;
	rest = room - out;
	for (size_t i = 0; i < w->j.n && out + rest > 0; i++) {
		size_t *of = stands_out(flags_of(w, i)) ? &out : &rest;

		if (*of > 0 && !put_entry(w, i, &b))
			break;
		*of -= *of > 0;
	}
	if (b.failed)
		r = -ENOMEM;
	else if (b.len)
		w->data = r = ak_memfd_sealed("ak-changes", b.data, b.len);
	w->a.data_len = r < 0 ? 0 : (uint32_t)b.len;
	if (r < 0) {
		w->data = -1;
		w->a.entries = 0;
		(void)ak_err_sys(&w->a.failed, -r, "pass on the list of changes");
	}
	ak_buf_release(&b);
	return r < 0 ? r : 0;
}

/* ---- the end ---- */

static void renew(struct work *w)
{
	struct ws_ident top;
	struct ak_err err = { 0 };
	int r = ws_fstat(w->c->lower, &top);

	if (r == 0)
		r = points_drop(w->points, &w->c->cs, &err);
	if (r == 0)
		r = changeset_renew(&w->c->cs, &top, &err);
	w->a.usable = r == 0;
	/* what was taken over may have named further hooks */
	git_hooks_find(&w->place->hooks, w->c->cs.meta.workspace);
}

/* taken over; what was made in the layer, but never comes into a workspace, is said */
static void applied(struct work *w)
{
	struct ak_buf b = { 0 };

	w->a.outcome = AK_CHANGES_APPLIED;
	if (apply_special(&w->j, &b) > 0 && w->c->dropped)
		ak_buf_str(&b, "; ");
	if (w->c->dropped)
		ak_buf_printf(&b, WS_XATTR_DROPPED_FMT, w->c->dropped, w->c->dropped == 1 ? "" : "s");
	w->c->dropped = 0;
	if (b.len && !b.failed)
		(void)snprintf(w->a.why.msg, sizeof(w->a.why.msg), "%s", b.data);
	ak_buf_release(&b);
}

/* Return: 0, or why nothing is known or can be written: all is kept then */
static int finish(struct work *w)
{
	int r = look(w, 1);

	if (r == 0 && w->j.n > 0)
		r = changeset_store(&w->c->cs, &w->j, &w->a.failed);
	if (r < 0)
		return r;
	w->a.outcome = w->j.n ? AK_CHANGES_KEPT : AK_CHANGES_NONE;
	if (w->order->action == AK_FINISH_DISCARD && w->j.n)
		w->a.outcome = AK_CHANGES_DISCARDED;
	if (w->order->action == AK_FINISH_APPLY && w->j.n && scribe_take_over(w->c, w->place->prefix, &w->j, &w->apply, &w->a.why) == 0)
		applied(w);
	r = put_entries(w);
	if (w->a.outcome != AK_CHANGES_KEPT)
		renew(w);
	return r;
}

static int point(struct work *w, uint64_t max_bytes)
{
	int r = points_save(w->points, &w->c->cs, max_bytes, &w->a.in_layer, &w->a.failed);

	w->a.point = r == 0 ? w->points->last : 0;
	w->a.bytes = w->points->bytes;
	return r;
}

/* what is there first becomes a checkpoint too; so going back is never the last word, and must not fail for want of room */
static int restore(struct work *w)
{
	int r;

	w->a.usable = true;
	if (changeset_has(&w->c->cs, "applying"))
		return ak_err_set(&w->a.failed, EBUSY, "the changes were taken over in part: apply or discard them");
	r = point(w, 0);
	if (r == 0)
		r = points_restore(w->points, &w->c->cs, w->order->point, &w->a.failed);
	if (r == 0)
		r = look(w, 1);
	return r == 0 ? put_entries(w) : r;
}

static int close_it(struct work *w)
{
	int r = 0;

	if (!changeset_empty(&w->c->cs))
		r = look(w, 1);
	if (r == 0 && w->j.n > 0)
		r = changeset_store(&w->c->cs, &w->j, &w->a.failed);
	if (r == 0 && w->j.n > 0)
		(void)put_entries(w);	/* a help for who tells the user */
	w->a.outcome = r == 0 && w->j.n == 0 ? AK_CHANGES_NONE : AK_CHANGES_KEPT;
	if (w->a.outcome == AK_CHANGES_NONE)
		(void)changeset_remove(w->c->sessions, &w->c->cs, NULL);	/* what is left the next run sweeps up */
	return r;
}

static void carry_out(struct work *w)
{
	int r = 0;

	switch (w->order->op) {
	case STAY_MEASURE:
		w->a.bytes = scribe_layer_bytes(w->c);
		break;
	case STAY_LOOK:
		r = look(w, LOOK_TRIES);
		if (r == 0)
			r = put_entries(w);
		break;
	case STAY_FINISH:
		r = w->order->action == AK_FINISH_RESTORE ? restore(w) : finish(w);
		break;
	case STAY_POINT:
		r = point(w, w->c->disk_bytes);
		break;
	default:
		r = close_it(w);
	}
	if (r < 0 && !w->a.failed.code)
		(void)ak_err_sys(&w->a.failed, -r, "read the changes");
}

static bool send_answer(struct work *w, int sock)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl;
	struct iovec iov = { .iov_base = &w->a, .iov_len = sizeof(w->a) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (w->data >= 0) {
		memset(&ctl, 0, sizeof(ctl));
		ctl.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&ctl.align), &w->data, sizeof(int));
		h.msg_control = &ctl;
		h.msg_controllen = sizeof(ctl);
	}
	return sendmsg(sock, &h, MSG_NOSIGNAL) == (ssize_t)sizeof(w->a);
}

/* Return: false when it was the last one */
static bool serve_one(const struct work *all, int sock, const struct ak_err *cannot)
{
	struct stay_order order;
	ssize_t n = recv(sock, &order, sizeof(order), 0);
	struct work w = { .c = all->c, .place = all->place, .points = all->points, .order = &order, .data = -1 };
	bool more;

	if (n < 0 && errno == EINTR)
		return true;
	if (n != (ssize_t)sizeof(order))
		return false;
	w.a.op = order.op;
	if (cannot->code) {
		w.a.failed = *cannot;
		w.a.bytes = UINT64_MAX;
		w.a.outcome = AK_CHANGES_KEPT;
	} else {
		carry_out(&w);
	}
	more = send_answer(&w, sock) && order.op != STAY_CLOSE;
	ak_fd_close(&w.data);
	apply_release(&w.apply);
	journal_release(&w.j);
	return more;
}

_Noreturn void stay_main(struct cow *c, int sock)
{
	struct protected_place place AK_UNINIT;
	struct points points = POINTS_NONE;
	struct work all = { .c = c, .place = &place, .points = &points };
	struct ak_err cannot = { 0 };

	if (scribe_alone(c, &place, &sock, 1, &cannot) == 0)
		(void)points_open(&points, &c->cs, NULL);	/* those of runs before this one; without them it begins with none */
	while (serve_one(&all, sock, &cannot))
		;
	_exit(0);
}
