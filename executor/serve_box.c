/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes of a serving executor: start, end, pool. Process: executor. Privilege: as the executor's.
 *
 * A sandbox is in the table from its clone3 until its init has been waited for; whatever goes wrong in between ends in box_end()
 * (SIGKILL to its pid 1, by which the kernel ends all of it) and box_gone().
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/held.h"
#include "executor/ns/cgroup_place.h"
#include "executor/plan.h"
#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"

#define NS_PER_MS 1000000ull
#define POOL_RETRY_MS 1000u	/* after a prepared sandbox failed */
#define WARM_HEAP_BYTES (128u << 10)	/* of the heap's end, and of the stack: what requests use */
#define WARM_STACK_BYTES (32u << 10)

struct box *box_find(struct server *s, uint32_t id)
{
	for (size_t i = 0; id && i < AK_SANDBOXES_MAX; i++)
		if (s->boxes[i] && s->boxes[i]->id == id)
			return s->boxes[i];
	return NULL;
}

struct box *box_of(struct request *q, uint32_t id)
{
	struct box *b = box_find(q->s, id ? id : q->s->named);

	/* prepared ones are nobody's, and what another connection made is not told from what is not there */
	if (!b || b->pooled || (b->owner && b->owner != q->c) || (!b->owner && b->fresh)) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_NO_SANDBOX, ENOENT,
				 id ? "there is no sandbox %u" : "this executor has no sandbox of its own", id);
		return NULL;
	}
	if (b->state == BOX_ENDING) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_DEAD, ESHUTDOWN, "the sandbox has ended: %s",
				 b->why.code ? b->why.msg : "its init is gone");
		return NULL;
	}
	return b;
}

/* ---- end ---- */

static void answer_destroys(struct server *s, struct box *b)
{
	for (size_t i = 0; i < 4; i++)
		if (b->destroy[i].c)
			conn_ok(s, b->destroy[i].c, b->destroy[i].seq);
}

static void queue_release(struct box *b)
{
	for (; b->queued > 0; b->queued--) {
		struct ctl_msg *m = &b->queue[b->first];

		free(m->buf);
		for (size_t i = 0; i < m->nfds; i++)
			ak_fd_close(&m->fds[i]);
		b->first = (b->first + 1) % SERVE_CTL_QUEUE_MAX;
	}
	free(b->queue);
	b->queue = NULL;
}

void box_release(struct server *s, struct box *b)
{
	ev_close(s, &b->ctl);
	ev_close(s, &b->pid);
	queue_release(b);
	box_group_remove(b);
	policy_release(&b->pol);
	copy_leave(s, b);
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++)
		if (s->boxes[i] == b)
			s->boxes[i] = NULL;
	server_bury(s, &b->dead);
}

static void named_is_gone(struct server *s, struct box *b)
{
	if (!s->ready_said) {
		if (b->why.code)
			s->fatal = b->why;
		else
			(void)ak_err_set(&s->fatal, ECHILD, "the sandbox ended before it was ready");
	}
	server_stop(s);	/* it was what this executor was for */
}

/* init has been waited for: nothing of the sandbox is left */
static void box_gone(struct server *s, struct box *b)
{
	b->state = BOX_ENDING;
	for (size_t i = 0; i < s->ncmds; i++)
		if (s->cmds[i] && s->cmds[i]->box == b)
			cmd_lost(s, s->cmds[i], b);
	file_lost(s, b);
	if (b->create.c) {
		if (!b->why.code)
			(void)ak_err_set(&b->why, ECHILD, "the sandbox ended before it was ready");
		conn_refuse(s, b->create.c, b->create.seq, AK_CODE_START, &b->why);
	}
	if (b->pooled)
		s->pool_ns = ak_now_ns() + POOL_RETRY_MS * NS_PER_MS;
	answer_destroys(s, b);
	if (b->id == s->named)
		named_is_gone(s, b);
	box_release(s, b);
}

static void on_pid(struct server *s, struct ev *ev, uint32_t events)
{
	struct box *b = ev->owner;
	siginfo_t si = { 0 };

	(void)events;
	ctl_drain(s, b);	/* what it said last is still there */
	if (waitid(P_PIDFD, (id_t)b->pid.fd, &si, WEXITED | WNOHANG) < 0 ? errno != EINTR : si.si_pid != 0) {
		if (!b->why.code && si.si_code != CLD_EXITED && si.si_pid)
			(void)ak_err_set(&b->why, ECHILD, "the sandbox's init was killed by signal %d", si.si_status);
		box_gone(s, b);
	}
}

/* to pid 1, with which the kernel ends all; or to a warden, which has to do that itself */
static int end_signal(const struct box *b)
{
	return b->pol.plan.held ? SIGTERM : SIGKILL;
}

void box_end(struct server *s, struct box *b, int code, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (b->state == BOX_ENDING)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	b->state = BOX_ENDING;
	if (!b->why.code)
		(void)ak_err_set(&b->why, code, "%s", text);
	b->watch_ns = 0;
	b->deadline_ns = ak_now_ns() + SERVE_END_MS * NS_PER_MS;
	if (syscall(SYS_pidfd_send_signal, b->pid.fd, end_signal(b), NULL, 0) < 0 && errno != ESRCH)
		ev_close(s, &b->ctl);	/* end of file means to init that we are gone: it ends by itself */
}

static unsigned start_ms(const struct server *s)
{
	return s->o->held ? HELD_START_MS : SERVE_START_MS;
}

void box_deadline(struct server *s, struct box *b, uint64_t now)
{
	(void)now;
	b->deadline_ns = 0;
	if (b->spent)
		box_end(s, b, ECANCELED, "its command has ended");
	else if (b->state == BOX_STARTING)
		box_end(s, b, ETIMEDOUT, "the sandbox was not ready in %u s", start_ms(s) / 1000);
	/* else: a process of it hangs in the kernel; the pidfd tells when it is gone, and nobody can use the sandbox until then */
}

/* ---- start ---- */

static struct box *box_new(struct server *s, struct ak_err *err)
{
	struct box *b;
	size_t i = 0;

	if (s->stopping) {
		(void)ak_err_set(err, ESHUTDOWN, "the executor ends");
		return NULL;
	}
	while (i < AK_SANDBOXES_MAX && s->boxes[i])
		i++;
	if (i == AK_SANDBOXES_MAX) {
		(void)ak_err_set(err, EMFILE, "all %u sandboxes of this executor are in use", AK_SANDBOXES_MAX);
		return NULL;
	}
	b = calloc(1, sizeof(*b));
	if (!b) {
		(void)ak_err_set(err, ENOMEM, "not enough memory for a sandbox");
		return NULL;
	}
	b->ctl.fd = b->pid.fd = -1;
	b->group = b->init_leaf = (struct cgroup)CGROUP_NONE;
	b->id = server_id(s);
	b->born_ms = b->used_ms = now_ms();
	s->boxes[i] = b;
	return b;
}

static int box_watch_for(struct server *s, struct box *b, struct ak_err *err)
{
	int r = ev_add(s, &b->pid, b->sb.pidfd, EPOLLIN, on_pid, b);

	if (r == 0)
		r = ev_add(s, &b->ctl, b->sb.ctl, EPOLLIN, ctl_event, b);
	return r < 0 ? ak_err_sys(err, -r, "wait for the sandbox") : 0;
}

static void kill_unwatched(struct box *b)
{
	ak_fd_close(&b->sb.ctl);
	(void)syscall(SYS_pidfd_send_signal, b->sb.pidfd, end_signal(b), NULL, 0);
	(void)waitid(P_PIDFD, (id_t)b->sb.pidfd, NULL, WEXITED);
	ak_fd_close(&b->sb.pidfd);
}

static int give_birth(struct server *s, struct box *b, struct ak_err *err)
{
	struct sandbox_birth birth = SANDBOX_BIRTH_NONE;
	int r;

	if (s->o->held)
		return held_start(s->o->held, &b->pol.plan, &b->sb, err);
	r = sandbox_prepare(&b->pol.plan, NULL, s->o->privs != NULL, s->o->landlock_abi, b->group.dir, &birth, err);
	if (r == 0)
		r = sandbox_start(&birth, s->o->privs, NULL, &b->sb, err);
	sandbox_birth_release(&birth);
	return r;
}

struct box *box_start(struct server *s, const struct policy *pol, struct ak_err *err)
{
	struct ak_create as_it_is = { 0 };
	struct box *b = box_new(s, err);
	int r;

	if (!b)
		return NULL;
	r = policy_narrow(pol, &as_it_is, &b->pol, err);
	if (r == 0 && b->pol.plan.write == WRITE_COW)
		r = copy_take(s, b, err);
	if (r == 0)
		r = box_group_make(s, b, err);
	if (r == 0)
		r = give_birth(s, b, err);
	if (r < 0) {
		box_release(s, b);
		return NULL;
	}
	if (box_watch_for(s, b, err) < 0) {
		ev_forget(s, &b->pid);
		kill_unwatched(b);
		box_release(s, b);
		return NULL;
	}
	b->watch = (struct watch){ .root_pid = b->sb.pid,
				   .mem_limit_bytes = b->pol.memory_bytes == POLICY_NONE || (b->group.have & CGROUP_MEMORY) || s->o->held ?
							      0 : b->pol.memory_bytes };
	b->deadline_ns = ak_now_ns() + start_ms(s) * NS_PER_MS;
	return b;
}

enum ak_code box_code(const struct ak_err *err)
{
	return err->code == EMFILE ? AK_CODE_TOO_MANY : err->code == ESHUTDOWN ? AK_CODE_DEAD : err->code == EBUSY ? AK_CODE_BUSY :
														  AK_CODE_START;
}

/* ---- pool ---- */

uint32_t pool_ready(const struct server *s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++)
		n += s->boxes[i] && s->boxes[i]->pooled && s->boxes[i]->state == BOX_READY;
	return n;
}

static struct box *prepared(struct server *s, enum box_state state)
{
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++)
		if (s->boxes[i] && s->boxes[i]->pooled && s->boxes[i]->state == state)
			return s->boxes[i];
	return NULL;
}

struct box *box_fresh(struct server *s, struct conn *owner, struct ak_err *err)
{
	struct policy once = s->pol;
	struct box *b = prepared(s, BOX_READY);

	once.plan.once = true;
	if (!b)
		b = prepared(s, BOX_STARTING);
	if (!b)
		b = box_start(s, &once, err);
	if (!b)
		return NULL;
	b->pooled = false;
	b->fresh = true;
	b->owner = owner;
	return b;
}

/*
 * After a fork each page is copied when it is written first, which the next request would pay for. Source: madvise(2), Linux 5.14;
 * an older kernel refuses, and the copies are made one by one.
 */
static void have_pages(const void *from, const void *to)
{
	uintptr_t a = (uintptr_t)from & ~(uintptr_t)4095, b = ((uintptr_t)to + 4095) & ~(uintptr_t)4095;

	(void)madvise((void *)a, b - a, 23 /* MADV_POPULATE_WRITE */);
}

static void warm_up(struct server *s)
{
	extern char __data_start[], _end[];	/* what is written from the start, by the linker */
	const char *here = __builtin_frame_address(0), *heap_end = sbrk(0);

	have_pages(__data_start, _end);
	have_pages(heap_end - WARM_HEAP_BYTES > _end ? heap_end - WARM_HEAP_BYTES : _end, heap_end);
	have_pages(here - WARM_STACK_BYTES, here);
	have_pages(s, &s->buf[1]);
	have_pages(s->out, &s->out[1]);
	have_pages(s->req, &s->req[1]);
}

void pool_fill(struct server *s)
{
	struct policy background = s->pol;
	struct box *b;

	background.plan.background = true;	/* nobody waits for this one: clients are served meanwhile */
	background.plan.once = true;
	s->pool_ns = 0;
	s->pool_late_ns = 0;
	b = box_start(s, &background, NULL);
	warm_up(s);
	if (b)
		b->pooled = true;
	else
		s->pool_ns = ak_now_ns() + POOL_RETRY_MS * NS_PER_MS;
}
