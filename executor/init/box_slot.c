/* SPDX-License-Identifier: Apache-2.0 */
/* Serve mode, init's side of the commands: prepares, lets go, notices ends, reports; no privilege. */
#include "executor/init/box.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ull
#define PREPARE_MAX_NS (8000 * MS)	/* a keeper or command that does not get ready is ended (somebody stopped it) */
#define KILL_GRACE_NS (4000 * MS)	/* a keeper that does not end its command is ended itself */
#define LOST_MAX_NS (2000 * MS)		/* what a lost keeper left is not waited for any longer */
#define RETRY_NS (200 * MS)		/* after a slot that could not be prepared */
#define QUIET_NS (4 * MS)		/* after a command was let go or its end was told: the next is prepared when nobody waits */
#define SWEEP_MS 5

uint32_t slots_count(const struct box *b, enum slot_state state)
{
	uint32_t n = 0;

	for (size_t i = 0; i < BOX_SLOTS; i++)
		n += b->slots[i].state == state;
	return n;
}

uint32_t slots_running(const struct box *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < BOX_SLOTS; i++) {
		const struct slot *s = &b->slots[i];

		n += s->state == SLOT_LOST || (s->state == SLOT_RUNNING && atomic_load(&s->mem->phase) < PHASE_TELLING);
	}
	return n;
}

struct slot *slot_spare(struct box *b)
{
	for (size_t i = 0; i < BOX_SLOTS; i++) {
		if (b->slots[i].state == SLOT_SPARE)
			return &b->slots[i];
	}
	return NULL;
}

static struct slot *running(struct box *b, uint32_t id)
{
	for (size_t i = 0; i < BOX_SLOTS; i++) {
		if (b->slots[i].state == SLOT_RUNNING && b->slots[i].id == id)
			return &b->slots[i];
	}
	return NULL;
}

static uint32_t phase(const struct slot *s)
{
	return atomic_load(&s->mem->phase);
}

/* ---- preparing ---- */

static void close_leaf(struct slot *s)
{
	if (s->leaf_fd >= 0)
		(void)close(s->leaf_fd);
	s->leaf_fd = -1;
}

/* A new life for a slot; its keeper stays */
static void reset(struct slot *s)
{
	struct slot_mem *m = s->mem;

	atomic_store(&m->go, 0);
	atomic_store(&m->order, 0);
	atomic_store(&m->phase, PHASE_BORN);
	atomic_store(&m->signals, 0);
	atomic_store(&m->kill, 0);
	atomic_store(&m->direct, 0);
	m->told = 0;
	m->leaf = 0;
	m->failure.stage = 0;
	m->command = 0;
	*s = (struct slot){ .mem = m, .leaf_fd = -1, .state_out = -1, .keeper = s->keeper };
}

static void take_leaf(struct box *b, struct slot *s)
{
	s->mem->leaf = b->leaves[0].id;
	s->leaf_fd = b->leaves[0].fd;
	b->nleaves--;
	memmove(b->leaves, b->leaves + 1, b->nleaves * sizeof(b->leaves[0]));
}

/* It was not used: the executor counts on that each is, so there is room */
static void give_leaf_back(struct box *b, struct slot *s)
{
	if (s->leaf_fd < 0)
		return;
	memmove(b->leaves + 1, b->leaves, b->nleaves * sizeof(b->leaves[0]));
	b->leaves[0] = (struct leaf){ .id = s->mem->leaf, .fd = s->leaf_fd };
	b->nleaves++;
	s->leaf_fd = -1;
}

/* A FREE slot gets a keeper, the one of an IDLE slot an order */
static int prepare(struct box *b, struct slot *s)
{
	pid_t pid = 0;

	if ((b->cfg->flags & INIT_LEAVES) && b->nleaves == 0)
		return -ENOENT;
	reset(s);
	if (b->cfg->flags & INIT_LEAVES)
		take_leaf(b, s);
	s->mem->leaf_fd = s->leaf_fd;
	s->since_ns = now_ns();
	s->state = SLOT_PREPARING;
	if (s->keeper) {
		box_set(&s->mem->order, 1);
		return 0;
	}
	atomic_store(&s->mem->order, 1);
	pid = box_fork(-1);
	if (pid == 0)
		keeper_main(b, s);
	box_touch();
	if (pid > 0) {
		s->keeper = pid;
		return 0;
	}
	give_leaf_back(b, s);
	reset(s);	/* FREE */
	return pid;
}

/* Keepers that are not needed for the spares end */
static void retire(struct slot *s)
{
	(void)kill(s->keeper, SIGKILL);
	s->state = SLOT_GONE;
}

static uint32_t fill_from(struct box *b, enum slot_state state, uint32_t have, uint32_t want, int *ret_err)
{
	for (size_t i = 0; i < BOX_SLOTS && have < want && *ret_err == 0; i++) {
		struct slot *s = &b->slots[i];

		if (s->state != state || s->busy)
			continue;
		*ret_err = prepare(b, s);
		have += *ret_err == 0;
	}
	return have;
}

/*
 * How many spares there should be now. The last one is replaced at once; the others are when nothing was asked or told for a moment,
 * since to prepare one costs as much as a small command, and whoever runs or waits for one should have the processors.
 */
static uint32_t wanted(struct box *b, uint32_t have)
{
	if (b->held.is || !b->ready)
		return have > 0 ? have : 1;
	if (b->cfg->flags & INIT_ONCE)
		return b->launched ? 0 : 1;
	if (have > 0 && b->quiet_ns && now_ns() < b->quiet_ns)
		return have;
	b->quiet_ns = 0;
	return have > 0 ? AK_INIT_SPARES : 1;
}

/* Keepers that wait for an order beyond those that the spares need; while something is asked for they may be wanted again */
static void retire_idle(struct box *b)
{
	uint32_t idle = 0;

	if (b->quiet_ns && now_ns() < b->quiet_ns)
		return;
	for (size_t i = 0; i < BOX_SLOTS; i++) {
		if (b->slots[i].state == SLOT_IDLE && !b->slots[i].busy && ++idle > AK_INIT_SPARES)
			retire(&b->slots[i]);
	}
}

static int fill_spares(struct box *b)
{
	uint32_t have = slots_count(b, SLOT_SPARE) + slots_count(b, SLOT_PREPARING), want = wanted(b, have);
	int r = 0;

	if (have >= want)
		return 0;
	if (b->retry_ns && now_ns() < b->retry_ns)
		return have > 0 ? 0 : -EAGAIN;
	b->retry_ns = 0;
	have = fill_from(b, SLOT_IDLE, have, want, &r);
	have = fill_from(b, SLOT_FREE, have, want, &r);
	if (r < 0 && r != -ENOENT)
		b->retry_ns = now_ns() + RETRY_NS;
	return have > 0 ? 0 : r;
}

int slots_refill(struct box *b)
{
	int r = fill_spares(b);

	retire_idle(b);
	return r;
}

/* A slot ended before it was used: why is told to who waits for it, or at the start to the executor */
static void not_prepared(struct box *b, struct slot *s)
{
	const struct slot_failure *why = &s->mem->failure;
	struct failure f = { .stage = INIT_STAGE_SETUP, .err = 0, .exit_code = 125, .hint = NULL };

	if (why->stage) {
		b->retry_ns = now_ns() + RETRY_NS;
		f.stage = (enum init_stage)why->stage;
		f.err = (int)why->err;
		f.hint = why->hint;
		text_raw(&f.text, why->text);
	} else {
		text_raw(&f.text, "a prepared process was ended");
	}
	if (!b->ready)
		fail(b->in, &f);
	if (b->held.is && why->stage) {
		box_failed(b, b->held.req.id, f.stage, f.err, f.text.buf, f.hint);
		for (uint32_t i = 0; i < b->held.nfds; i++)
			(void)close(b->held.fds[i]);
		b->held.is = false;
	}
}

/* ---- letting go ---- */

/* The terminal's master goes up before the command runs */
static int give_terminal(struct box *b, struct slot *s, const struct init_req *q)
{
	const struct init_rep m = { .type = INIT_REP_PTY, .id = q->id };
	int master = pty_make(q->rows, q->cols, &s->mem->slave);

	return master < 0 ? master : box_say(b, &m, master);
}

/* Return: NULL, or what could not be had, with *@ret_err */
static const char *fill(struct box *b, struct slot *s, struct held *h, int *ret_err)
{
	struct slot_mem *m = s->mem;
	const struct init_req *q = &h->req;

	m->slave = -1;
	m->state_in = -1;
	m->state_out = -1;
	m->req = *q;
	m->req.body = NULL;
	m->body_len = q->body_len;
	if (q->body_len)
		memcpy(m->body, q->body, q->body_len);
	memcpy(m->fds, h->fds, h->nfds * sizeof(h->fds[0]));
	m->helpers = 1 + files_count(b);
	for (size_t i = 0; i < BOX_SLOTS; i++)
		m->helpers += b->slots[i].keeper != 0;
	m->helpers += 2 * AK_INIT_SPARES;	/* those that are prepared, and those to come */
	if (q->flags & INIT_EXEC_SESSION)
		*ret_err = -session_begin(b, q->session, (q->flags & INIT_EXEC_RESET) != 0, &m->state_in, &m->state_out);
	if (*ret_err)
		return "make room for the session's state";
	if (q->flags & INIT_EXEC_TTY)
		*ret_err = -give_terminal(b, s, q);
	return *ret_err ? "make a terminal of the sandbox (/dev/ptmx)" : NULL;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* The command has its own, or never will */
static void close_streams(struct slot *s)
{
	for (uint32_t i = 0; i < s->nfds; i++)
		close_one(&s->fds[i]);
	s->nfds = 0;
}

void slot_launch(struct box *b, struct slot *s, struct held *h, uint64_t now)
{
	const struct init_rep started = { .type = INIT_REP_STARTED, .id = h->req.id, .leaf = s->mem->leaf, .pid = (uint32_t)s->mem->command };
	int err = 0;
	const char *what = fill(b, s, h, &err);

	memcpy(s->fds, h->fds, h->nfds * sizeof(h->fds[0]));
	s->nfds = h->nfds;
	s->fds[s->nfds++] = s->mem->slave;
	s->fds[s->nfds++] = s->mem->state_in;
	s->state_out = s->mem->state_out;
	if (what) {
		struct text t = { .len = 0 };

		text_raw(&t, what);
		text_raw(&t, ": ");
		text_raw(&t, strerror(err));
		box_failed(b, h->req.id, INIT_STAGE_SETUP, err, t.buf, NULL);
		close_streams(s);
		close_one(&s->state_out);
		return;
	}
	close_leaf(s);
	s->id = h->req.id;
	s->session = h->req.flags & INIT_EXEC_SESSION ? h->req.session + 1 : 0;
	s->state = SLOT_RUNNING;
	s->since_ns = 0;
	s->mem->nfds = h->nfds + (s->mem->slave >= 0) + (s->mem->state_in >= 0);
	s->mem->start_ns = now;
	b->quiet_ns = now + QUIET_NS;
	b->launched = true;
	if (!(h->req.flags & (INIT_EXEC_STARTED | INIT_EXEC_TTY | INIT_EXEC_SESSION)))
		atomic_store(&s->mem->direct, 1);
	else
		b->undirect = true;
	/* should somebody have stopped it, its keeper has made it go on, or does so now */
	box_set(&s->mem->go, 1);
	if (h->req.flags & INIT_EXEC_STARTED)
		(void)box_say(b, &started, -1);
}

/* ---- while it runs ---- */

void slots_flushed(struct box *b)
{
	for (size_t i = 0; b->undirect && i < BOX_SLOTS; i++) {
		if (b->slots[i].state == SLOT_RUNNING && !b->slots[i].session)
			atomic_store(&b->slots[i].mem->direct, 1);
	}
	b->undirect = false;
}

/* Keepers block all signals and wait for this one and SIGCHLD; a stopped one goes on first */
static void nudge(const struct slot *s)
{
	if (s->keeper <= 0)
		return;
	(void)kill(s->keeper, SIGCONT);
	(void)kill(s->keeper, SIGUSR1);
}

void slot_signal(struct box *b, uint32_t id, uint32_t signo)
{
	struct slot *s = running(b, id);

	if (!s)
		return;
	atomic_fetch_or(&s->mem->signals, 1ull << (signo - 1));
	nudge(s);
}

void slot_kill(struct box *b, uint32_t id)
{
	struct slot *s = running(b, id);

	if (!s)
		return;
	atomic_store(&s->mem->kill, 1);
	if (!s->since_ns)
		s->since_ns = now_ns();
	nudge(s);
}

/* ---- the end ---- */

/* The executor knows; the slot is for another command */
static void done(struct box *b, struct slot *s)
{
	b->commands++;
	s->busy = s->keeper && (s->mem->result.flags & INIT_EXITED_LEFT);
	s->state = s->keeper ? SLOT_IDLE : SLOT_FREE;
}

static void ended(struct box *b, struct slot *s)
{
	const struct slot_result *r = &s->mem->result;
	const bool by_itself = WIFEXITED((int)r->wstatus) && !(r->flags & (INIT_EXITED_LOST | INIT_EXITED_KILLED)) && !s->mem->failure.stage;

	close_streams(s);
	if (s->session && session_end(b, s->session - 1, s->state_out, by_itself))
		s->mem->result.flags |= INIT_EXITED_STATE;
	s->state_out = -1;
	s->state = SLOT_ENDED;
	b->quiet_ns = now_ns() + QUIET_NS;
	if (s->mem->told)
		done(b, s);
}

void slots_look(struct box *b)
{
	for (size_t i = 0; i < BOX_SLOTS; i++) {
		struct slot *s = &b->slots[i];
		uint32_t now = s->state == SLOT_PREPARING || s->state == SLOT_SPARE || s->state == SLOT_RUNNING ? phase(s) : 0;

		if (s->state == SLOT_PREPARING && now == PHASE_PARKED) {
			s->state = SLOT_SPARE;
			if (!b->ready)
				(void)box_say(b, &(struct init_rep){ .type = INIT_REP_READY }, -1);
			if (!b->ready)
				b->quiet_ns = now_ns() + QUIET_NS;
			b->ready = true;
		} else if (s->state != SLOT_RUNNING && now == PHASE_ENDED) {
			give_leaf_back(b, s);
			s->state = s->keeper ? SLOT_IDLE : SLOT_FREE;
			not_prepared(b, s);
		} else if (s->state == SLOT_RUNNING && now == PHASE_ENDED) {
			ended(b, s);
		} else if (s->state == SLOT_RUNNING && now == PHASE_TAKEN) {
			close_streams(s);
		}
	}
}

void slot_rep(const struct slot_mem *m, struct init_rep *ret)
{
	const struct slot_result *r = &m->result;
	const struct slot_failure *f = &m->failure;
	struct init_rep rep = { .type = INIT_REP_EXITED, .id = m->req.id, .leaf = m->leaf };

	if (f->stage && !(r->flags & INIT_EXITED_LOST)) {
		rep.type = INIT_REP_FAILED;
		rep.stage = f->stage;
		rep.code = f->err;
		rep.exit_code = f->exit_code;
		rep.text = f->text;
		rep.hint = f->hint;
	} else {
		rep.flags = r->flags;
		rep.wstatus = r->wstatus;
		rep.start_ns = m->start_ns;
		rep.end_ns = r->end_ns < m->start_ns ? m->start_ns : r->end_ns;
		rep.user_ns = r->user_ns;
		rep.system_ns = r->system_ns;
		rep.maxrss_bytes = r->maxrss_bytes;
	}
	*ret = rep;
}

static void report(struct box *b, struct slot *s)
{
	struct init_rep rep;

	slot_rep(s->mem, &rep);
	(void)box_say(b, &rep, -1);
	done(b, s);
}

void slots_report(struct box *b)
{
	/* two places stay free for what the next request causes */
	for (size_t i = 0; i < BOX_SLOTS && b->nout + 2 < BOX_OUT_MAX; i++) {
		if (b->slots[i].state == SLOT_ENDED)
			report(b, &b->slots[i]);
	}
}

/* ---- keepers that died ---- */

static void lost(struct box *b, struct slot *s)
{
	s->mem->result = (struct slot_result){ .wstatus = SIGKILL, .flags = INIT_EXITED_LOST, .end_ns = now_ns() };
	if (atomic_load(&s->mem->kill))
		s->mem->result.flags |= INIT_EXITED_KILLED;
	s->state = SLOT_LOST;
	s->since_ns = s->mem->result.end_ns;
	b->sweep = true;
}

/* A keeper whose command's end is written may still be at what was left; who killed it meanwhile leaves that to us */
static bool has_left(const struct slot *s)
{
	const bool written = s->state == SLOT_ENDED || s->state == SLOT_IDLE || (s->state == SLOT_RUNNING && phase(s) == PHASE_ENDED);

	return written && (s->mem->result.flags & INIT_EXITED_LEFT);
}

static void keeper_gone(struct box *b, struct slot *s)
{
	s->keeper = 0;
	s->busy = false;
	switch (s->state) {
	case SLOT_RUNNING:
		if (phase(s) == PHASE_ENDED)
			ended(b, s);
		else
			lost(b, s);
		break;
	case SLOT_PREPARING:
	case SLOT_SPARE:
		give_leaf_back(b, s);
		b->sweep = true;	/* its command may still be parked */
		s->state = SLOT_FREE;
		not_prepared(b, s);
		break;
	case SLOT_IDLE:
	case SLOT_GONE:
		s->state = SLOT_FREE;
		break;
	default:	/* its end is still to be told */
		break;
	}
}

bool slots_reaped(struct box *b, pid_t pid)
{
	for (size_t i = 0; i < BOX_SLOTS; i++) {
		struct slot *s = &b->slots[i];

		if (s->keeper != pid || s->state == SLOT_FREE)
			continue;
		b->sweep |= has_left(s);
		keeper_gone(b, s);
		return true;
	}
	return false;
}

void slots_stopped(const struct box *b, pid_t pid)
{
	bool ours = false;

	for (size_t i = 0; i < BOX_SLOTS; i++)
		ours |= b->slots[i].keeper == pid;
	for (size_t i = 0; i < AK_INIT_FILES_MAX; i++)
		ours |= b->workers[i].pid == pid;
	if (ours)
		(void)kill(pid, SIGCONT);
}

/* End what has no keeper. Return: whether it is done */
static bool sweep(struct box *b)
{
	pid_t except[BOX_SLOTS + AK_INIT_FILES_MAX];
	struct ak_tree t = { .proc = b->proc, .root = getpid(), .except = except };

	for (size_t i = 0; i < BOX_SLOTS; i++) {
		if (b->slots[i].state != SLOT_FREE && b->slots[i].keeper)
			except[t.nexcept++] = b->slots[i].keeper;
	}
	for (size_t i = 0; i < AK_INIT_FILES_MAX; i++) {
		if (b->workers[i].pid)
			except[t.nexcept++] = b->workers[i].pid;
	}
	return ak_tree_kill(&t) == 0;
}

static void tick_slot(struct slot *s, uint64_t now)
{
	if (s->state == SLOT_PREPARING && now - s->since_ns > PREPARE_MAX_NS)
		(void)kill(s->keeper, SIGKILL);
	if (s->state == SLOT_RUNNING && s->since_ns && s->keeper && now - s->since_ns > KILL_GRACE_NS)
		(void)kill(s->keeper, SIGKILL);
}

static int soonest(int a, int ms)
{
	return a < 0 || ms < a ? ms : a;
}

int slots_tick(struct box *b, uint64_t now)
{
	bool clean = b->sweep && sweep(b);
	int wait_ms = -1;

	if (clean)
		b->sweep = false;
	for (size_t i = 0; i < BOX_SLOTS; i++) {
		struct slot *s = &b->slots[i];

		tick_slot(s, now);
		if (s->state == SLOT_PREPARING || (s->state == SLOT_RUNNING && s->since_ns))
			wait_ms = soonest(wait_ms, 200);
		if (s->state != SLOT_LOST)
			continue;
		if (!clean && now - s->since_ns > LOST_MAX_NS)
			s->mem->result.flags |= INIT_EXITED_LEFT;
		if (clean || now - s->since_ns > LOST_MAX_NS) {
			ended(b, s);
			wait_ms = 0;
		}
	}
	if (b->sweep)
		wait_ms = soonest(wait_ms, SWEEP_MS);
	if (b->retry_ns)
		wait_ms = soonest(wait_ms, (int)(RETRY_NS / MS));
	if (b->quiet_ns && !(b->cfg->flags & INIT_ONCE))
		wait_ms = soonest(wait_ms, (int)(QUIET_NS / MS));
	return wait_ms;
}
