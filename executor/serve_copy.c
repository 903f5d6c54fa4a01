/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copy of the workspace (--write cow) of a serving executor. Process: executor. Privilege: none: its scribe has what is needed.
 *
 * There is one layer, and one sandbox at a time has it: two overlays over one layer are undefined. It is the executor's, not the
 * sandbox's: a sandbox that died leaves it to the next, nothing is lost. FINISH first ends the sandbox; only then, with no mount left,
 * the scribe may change layer and workspace. The scribe gets one order at a time, and nothing here waits for it but copy_close();
 * freezing a sandbox for a checkpoint waits FREEZE_MS at most.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "executor/cow_stay.h"
#include "executor/ns/cgroup_file.h"
#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"

#define NS_PER_MS 1000000ull
#define FREEZE_MS 20u
#define MEASURE_MAX_NS (60000 * NS_PER_MS)

static const char *id_of(const struct server *s)
{
	return s->o->changes->c.cs.id;
}

/* ---- who has it ---- */

int copy_take(struct server *s, struct box *b, struct ak_err *err)
{
	struct copy *c = &s->copy;

	if (!s->o->changes)
		return ak_err_set(err, EINVAL, "--write cow: there is no copy of the workspace");
	if (c->state == COPY_FREE && !c->box) {
		c->box = b->id;
		return 0;
	}
	if (c->state == COPY_FREE || c->state == COPY_FINISHING) {
		(void)ak_err_set(err, EBUSY, "the copy of the workspace (--write cow) is in use%s", c->box ? " by another sandbox" : "");
		ak_err_hint(err, "end that one first, or ask for a read-only workspace");
	} else {
		(void)ak_err_set(err, EBUSY, "the changes in the copy of the workspace are kept as %s: no sandbox changes them any more", id_of(s));
		ak_err_hint(err, "apply or discard them first, or ask for a read-only workspace");
	}
	return -EBUSY;
}

void copy_leave(struct server *s, const struct box *b)
{
	if (!s->copy.box || s->copy.box != b->id)
		return;
	s->copy.last = b->id;
	s->copy.box = 0;	/* what waits for this is looked at after the turn */
}

bool copy_over(const struct server *s, const struct box *b)
{
	return s->copy.over && s->copy.box == b->id;
}

static void forget(struct waiter *w, const struct conn *c)
{
	if (w->c == c)
		w->c = NULL;
}

void copy_forget(struct server *s, const struct conn *c)
{
	forget(&s->copy.finish, c);	/* it is done all the same */
	forget(&s->copy.point, c);
	for (size_t i = 0; i < s->copy.nlooks; i++)
		forget(&s->copy.looks[i].to, c);
}

/* ---- what is told ---- */

static void tell(struct server *s, struct waiter to, const struct stay_answer *a, int fd)
{
	struct ak_changed m = { .outcome = (uint8_t)a->outcome, .id = id_of(s), .total = a->total, .nprotected = a->nprotected,
				.nconflicts = a->nconflicts, .point = a->point, .entries = a->entries, .data_len = a->data_len,
				.flags = (fd >= 0 ? AK_CHANGED_DATA_FD : 0u) | (a->total > a->entries ? AK_CHANGED_MORE : 0u),
				.err = a->why.code > 0 && a->why.code < 4096 ? (uint32_t)a->why.code : 0, .text = a->why.msg, .hint = a->why.hint };

	conn_reply(s, to.c, AK_OP_CHANGED, to.seq, s->out, ak_changed_encode(&m, s->out, sizeof(s->out)), fd, -1);
}

static void answer(struct server *s, struct waiter to, const struct stay_answer *a, int fd)
{
	if (!a->failed.code) {
		tell(s, to, a, fd);
		return;
	}
	ak_fd_close(&fd);
	conn_refuse(s, to.c, to.seq, AK_CODE_CHANGES, &a->failed);
}

/* ---- answers of the scribe ---- */

static void kill_for_disk(struct server *s)
{
	for (size_t i = 0; i < s->ncmds; i++) {
		struct cmd *c = s->cmds[i];

		if (c && c->box && c->box->id == s->copy.box && (c->state == CMD_RUNNING || c->state == CMD_SENT))
			cmd_kill(s, c, CAUSE_DISK);
	}
}

static void measured(struct server *s, const struct stay_answer *a)
{
	uint64_t now = ak_now_ns(), pause = (now - s->copy.measured_ns) * SERVE_MEASURE_SHARE;

	if (pause < SERVE_MEASURE_MS * NS_PER_MS)
		pause = SERVE_MEASURE_MS * NS_PER_MS;
	s->copy.measure_ns = now + (pause > MEASURE_MAX_NS ? MEASURE_MAX_NS : pause);
	s->copy.over = a->bytes > s->o->changes->c.disk_bytes;
	/* a command that comes after the one that wrote too much, and makes room, is let be */
	if (s->copy.over && a->bytes > s->copy.bytes)
		kill_for_disk(s);
	s->copy.bytes = a->bytes;
}

static void looked(struct server *s, struct stay_answer *a, int fd)
{
	struct waiter to = s->copy.looks[0].to;

	s->copy.nlooks--;
	memmove(&s->copy.looks[0], &s->copy.looks[1], s->copy.nlooks * sizeof(s->copy.looks[0]));
	if (s->copy.state == COPY_KEPT)
		a->outcome = AK_CHANGES_KEPT;
	answer(s, to, a, fd);
}

static void finished(struct server *s, struct stay_answer *a, int fd)
{
	struct copy *c = &s->copy;
	struct waiter to = c->finish;

	c->finish = (struct waiter){ 0 };
	c->over = false;
	c->bytes = 0;
	if (c->action != AK_FINISH_RESTORE && (a->failed.code || a->outcome == AK_CHANGES_KEPT))
		c->state = COPY_KEPT;
	else
		c->state = a->usable ? COPY_FREE : COPY_LOST;
	answer(s, to, a, fd);
}

/* ---- checkpoints ---- */

/* it takes a moment until all stand still; a process that hangs in the kernel is not waited for longer */
static void wait_frozen(int group)
{
	static const struct timespec moment = { .tv_nsec = 1000000 };
	uint64_t frozen = 0;

	for (unsigned i = 0; i < FREEZE_MS && cgroup_read_key(group, "cgroup.events", "frozen", &frozen) == 0 && !frozen; i++)
		(void)nanosleep(&moment, NULL);
}

/* what runs in its sandbox stands still meanwhile, where there is a group; without one only an idle sandbox is a sure thing */
static void freeze(struct server *s)
{
	const struct box *b = box_find(s, s->copy.box);

	if (b && b->running && b->group.dir >= 0 && cgroup_write(b->group.dir, "cgroup.freeze", "1") == 0)
		s->copy.frozen = fcntl(b->group.dir, F_DUPFD_CLOEXEC, 3);
	if (b && b->running && b->group.dir >= 0 && s->copy.frozen < 0)
		(void)cgroup_write(b->group.dir, "cgroup.freeze", "0");
	if (s->copy.frozen >= 0)
		wait_frozen(s->copy.frozen);
}

static void thaw(struct server *s)
{
	if (s->copy.frozen >= 0)
		(void)cgroup_write(s->copy.frozen, "cgroup.freeze", "0");
	ak_fd_close(&s->copy.frozen);
}

static void pointed(struct server *s, const struct stay_answer *a)
{
	struct ak_checkpointed m = { .point = a->point, .entries = a->in_layer, .bytes = a->bytes };
	struct waiter to = s->copy.point;

	thaw(s);
	s->copy.point = (struct waiter){ 0 };
	s->copy.point_due = false;
	if (a->failed.code)
		conn_refuse(s, to.c, to.seq, AK_CODE_CHANGES, &a->failed);
	else
		conn_reply(s, to.c, AK_OP_CHECKPOINTED, to.seq, s->out, ak_checkpointed_encode(&m, s->out, sizeof(s->out)), -1, -1);
}

static void take_answer(struct server *s, struct stay_answer *a, int fd)
{
	s->copy.asked = 0;
	switch (a->op) {
	case STAY_LOOK:
		looked(s, a, fd);
		break;
	case STAY_FINISH:
		finished(s, a, fd);
		break;
	case STAY_POINT:
		pointed(s, a);
		ak_fd_close(&fd);
		break;
	case STAY_MEASURE:
		measured(s, a);
		__attribute__((fallthrough));
	default:
		ak_fd_close(&fd);
	}
}

/* its scribe was killed: what there is stays a changeset, and whoever looks at it next reads the layer */
static void lost(struct server *s)
{
	struct copy *c = &s->copy;
	struct stay_answer a = { .outcome = AK_CHANGES_KEPT };

	ev_forget(s, &c->ev);
	(void)ak_err_set(&a.failed, ECHILD, "the process that reads the changes has ended; they are kept as %s", id_of(s));
	c->asked = 0;
	while (c->nlooks > 0)
		looked(s, &a, -1);
	if (c->point_due)
		pointed(s, &a);
	if (c->state == COPY_FINISHING)
		finished(s, &a, -1);
	c->state = COPY_LOST;
}

static void on_answer(struct server *s, struct ev *ev, uint32_t events)
{
	struct stay_answer a;
	int fd = -1, r = cow_stay_hear(s->o->changes, false, &a, &fd);

	(void)ev;
	(void)events;
	if (r == 1)
		take_answer(s, &a, fd);
	else if (r < 0)
		lost(s);
}

/* ---- orders ---- */

static bool something_runs(const struct server *s)
{
	const struct copy *c = &s->copy;

	for (size_t i = 0; c->box && i < AK_SANDBOXES_MAX; i++)
		if (s->boxes[i] && s->boxes[i]->id == c->box)
			return s->boxes[i]->running > 0 || s->boxes[i]->used_ms + 2 * SERVE_MEASURE_MS > now_ms();
	return false;
}

uint64_t copy_due(const struct server *s)
{
	const struct copy *c = &s->copy;

	if (!s->o->changes || !s->o->changes->c.disk_bytes || c->asked || c->state != COPY_FREE || !something_runs(s))
		return 0;
	return c->measure_ns ? c->measure_ns : 1;
}

static void ask(struct server *s, const struct stay_order *order)
{
	s->copy.asked = order->op;
	if (cow_stay_ask(s->o->changes, order) < 0)
		lost(s);
}

void copy_next(struct server *s)
{
	struct copy *c = &s->copy;
	uint64_t due = copy_due(s), now;

	if (!s->o->changes || c->asked || c->state == COPY_LOST)
		return;
	if (c->nlooks > 0) {
		ask(s, &(struct stay_order){ .op = STAY_LOOK, .limit = c->looks[0].limit });
	} else if (c->point_due) {
		freeze(s);
		ask(s, &(struct stay_order){ .op = STAY_POINT });
	} else if (c->state == COPY_FINISHING && !c->box) {
		ask(s, &(struct stay_order){ .op = STAY_FINISH, .action = c->action, .point = c->number });
	} else if (due) {
		now = ak_now_ns();
		if (due > now)
			return;
		c->measured_ns = now;
		ask(s, &(struct stay_order){ .op = STAY_MEASURE });
	}
}

int copy_begin(struct server *s)
{
	return s->o->changes ? ev_add(s, &s->copy.ev, s->o->changes->sock, EPOLLIN, on_answer, NULL) : 0;
}

void copy_close(struct server *s)
{
	struct stay_answer a;
	int fd = -1;

	if (!s->o->changes)
		return;
	for (copy_next(s); s->copy.asked; copy_next(s)) {
		if (cow_stay_hear(s->o->changes, true, &a, &fd) == 1)
			take_answer(s, &a, fd);
		else
			lost(s);
	}
	ev_forget(s, &s->copy.ev);
	cow_stay_end(s->o->changes, s->o->left);
}
