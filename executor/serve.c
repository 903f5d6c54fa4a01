/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The serving loop. Process: executor. Privilege: none (rootless), or two capabilities in its own user namespace (root mode).
 *
 * One thread, one epoll: clients, the listener, the control socket and the pidfd of every sandbox, pipes of captured output, and
 * signals. Nothing here waits for one of them: sockets and pipes are read and written without blocking, and every deadline is a
 * number that is looked at after each turn. What blocks for a moment is the making of a sandbox (docs/protocol.md).
 */
#include "executor/serve.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/cow_stay.h"
#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"

#define NS_PER_MS 1000000u
#define EVENTS_A_TURN 32
#define ACCEPTS_A_TURN 8

uint64_t now_ms(void)
{
	return ak_now_ns() / NS_PER_MS;
}

uint64_t wall_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / NS_PER_MS;
}

/* never 0, and never one that is in use: a number comes again only after four thousand million others */
uint32_t server_id(struct server *s)
{
	if (++s->next_id == 0)
		s->next_id = 1;
	return s->next_id;
}

/* counted in a circle: half of it is what came before, the other half what is to come */
bool server_gave(const struct server *s, uint32_t id)
{
	return id && s->next_id - id < UINT32_MAX / 2;
}

void server_stop(struct server *s)
{
	if (s->stopping)
		return;
	s->stopping = true;
	ev_forget(s, &s->listen);
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++)
		if (s->boxes[i])
			box_end(s, s->boxes[i], ESHUTDOWN, "the executor ends");
}

static void on_listen(struct server *s, struct ev *ev, uint32_t events)
{
	(void)events;
	for (int i = 0; i < ACCEPTS_A_TURN && ev->fn; i++) {
		int fd = accept4(ev->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;	/* nobody, or somebody who has gone again; no descriptors: asked again next turn */
		if (s->stopping)
			ak_fd_close(&fd);
		else
			(void)conn_add(s, fd, false, NULL);	/* too many: it is closed, and the client sees the end */
	}
}

/*
 * An empty pipe takes one byte at once. SIGCONT reaches whoever is of our session, whatever ids we have (kill(2)).
 */
static bool tell(const struct server *s, uint8_t signo)
{
	bool told = write(s->o->tell_fd, &signo, 1) == 1;

	(void)syscall(SYS_pidfd_send_signal, s->o->tell_pidfd, SIGCONT, NULL, 0);
	return told;
}

static bool is_stopped(int pidfd)
{
	siginfo_t si = { 0 };

	return waitid((idtype_t)P_PIDFD, (id_t)pidfd, &si, WSTOPPED | WNOHANG | WNOWAIT) == 0 && si.si_code == CLD_STOPPED;
}

/*
 * The client has given the terminal back and stopped (Ctrl-Z): the shell waits for us. We may have been stopped and continued
 * together with it, and see that late: then it is not stopped any more a moment later. Where we do not stop (nobody could continue us, or
 * our caller ignores the signal), or only we were continued, it goes on as well.
 */
static void follow_stop(const struct server *s)
{
	if (!is_stopped(s->o->follow_fd))
		return;
	(void)poll(NULL, 0, SERVE_STOP_MS);
	if (!is_stopped(s->o->follow_fd))
		return;
	(void)raise(SIGTSTP);
	(void)poll(NULL, 0, SERVE_STOP_MS);
	if (is_stopped(s->o->follow_fd))
		(void)syscall(SYS_pidfd_send_signal, s->o->follow_fd, SIGCONT, NULL, 0);
}

static void on_signal(struct server *s, struct ev *ev, uint32_t events)
{
	struct signalfd_siginfo si;

	(void)events;
	if (read(ev->fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (s->o->follow_fd > 0 && si.ssi_signo == SIGCHLD) {
		follow_stop(s);
		return;
	}
	if (s->o->follow_fd > 0 && si.ssi_signo == SIGINT) {
		/* not tell(), which continues it; where it finds no room, so many are there that one more says nothing new */
		(void)!write(s->o->tell_fd, &(uint8_t){ SIGINT }, 1);
		return;
	}
	if (si.ssi_signo != SIGTERM && si.ssi_signo != SIGINT && si.ssi_signo != SIGHUP && si.ssi_signo != SIGQUIT)
		return;
	if (s->o->seen && !s->o->seen->signo)
		s->o->seen->signo = (int)si.ssi_signo;
	if (s->o->tell_fd > 0 && !s->told_ns && tell(s, (uint8_t)si.ssi_signo))
		s->told_ns = ak_now_ns() + (uint64_t)SERVE_TOLD_MS * NS_PER_MS;
	else
		server_stop(s);
}

/* ---- deadlines ---- */

static void sooner(uint64_t *next, uint64_t at)
{
	if (at && at < *next)
		*next = at;
}

static void cmd_next(const struct cmd *c, uint64_t *next)
{
	sooner(next, c->timeout_ns);
	sooner(next, c->kill_ns);
	sooner(next, c->giveup_ns);
}

static uint64_t idle_end(const struct server *s)
{
	/* the time that the first sandbox takes is not idle: a container's may be long */
	return s->o->ttl_ms && s->ready_said && !s->running && s->o->ttl_ms < (UINT64_MAX - s->busy_ns) / NS_PER_MS ?
		       s->busy_ns + s->o->ttl_ms * NS_PER_MS : 0;
}

static bool pool_wanted(const struct server *s)
{
	uint32_t have = 0, all = 0;

	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++) {
		all += s->boxes[i] != NULL;
		have += s->boxes[i] && s->boxes[i]->pooled && s->boxes[i]->state == BOX_READY;
		/* one at a time */
		all += s->boxes[i] && s->boxes[i]->pooled && s->boxes[i]->state == BOX_STARTING ? AK_SANDBOXES_MAX : 0;
	}
	return !s->stopping && have < s->o->pool && all < AK_SANDBOXES_MAX;
}

/* when the next one is made: nobody has asked for anything for a moment, or somebody asks all the time */
static uint64_t pool_due(const struct server *s)
{
	uint64_t quiet = s->busy_ns + (uint64_t)SERVE_QUIET_MS * NS_PER_MS;
	uint64_t at = s->pool_late_ns && s->pool_late_ns < quiet ? s->pool_late_ns : quiet;

	return at > s->pool_ns ? at : s->pool_ns;
}

static uint64_t next_deadline(const struct server *s)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < s->ncmds; i++)
		if (s->cmds[i])
			cmd_next(s->cmds[i], &next);
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++) {
		if (!s->boxes[i])
			continue;
		sooner(&next, s->boxes[i]->deadline_ns);
		sooner(&next, s->boxes[i]->watch_ns);
	}
	for (size_t i = 0; i < AK_WAITS_MAX; i++)
		sooner(&next, s->waits[i].deadline_ns);
	sooner(&next, s->alive_ns);
	sooner(&next, copy_due(s));
	sooner(&next, s->stopping ? 0 : s->told_ns);
	sooner(&next, idle_end(s));
	if (pool_wanted(s))
		sooner(&next, pool_due(s));
	return next;
}

static void look_alive(struct server *s, uint64_t now)
{
	struct stat st;

	if (!s->alive_ns || now < s->alive_ns)
		return;
	s->alive_ns = now + (uint64_t)SERVE_ALIVE_MS * NS_PER_MS;
	if (fstat(s->o->alive_fd, &st) == 0 && st.st_nlink == 0)
		server_stop(s);	/* somebody removed the folder: nobody can reach us any more */
}

static void expire_waits(struct server *s, uint64_t now)
{
	for (size_t i = 0; i < AK_WAITS_MAX; i++) {
		struct wait w = s->waits[i];

		if (!w.deadline_ns || w.deadline_ns > now)
			continue;
		s->waits[i] = (struct wait){ 0 };
		conn_refuse_text(s, w.to.c, w.to.seq, AK_CODE_TIMEOUT, ETIMEDOUT, "job %u still runs", w.cmd);
	}
}

static void expire(struct server *s)
{
	uint64_t now = ak_now_ns(), idle = idle_end(s);

	for (size_t i = 0; i < s->ncmds; i++)
		if (s->cmds[i])
			cmd_deadline(s, s->cmds[i], now);
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++) {
		if (s->boxes[i] && s->boxes[i]->watch_ns && s->boxes[i]->watch_ns <= now)
			box_watch(s, s->boxes[i], now);
		if (s->boxes[i] && s->boxes[i]->deadline_ns && s->boxes[i]->deadline_ns <= now)
			box_deadline(s, s->boxes[i], now);
	}
	expire_waits(s, now);
	look_alive(s, now);
	copy_next(s);
	if ((idle && idle <= now) || (s->told_ns && s->told_ns <= now))
		server_stop(s);
}

/* ---- the loop ---- */

static int wait_ms(uint64_t next)
{
	uint64_t now = ak_now_ns();

	if (next == UINT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	next = (next - now + NS_PER_MS - 1) / NS_PER_MS;
	return next > INT_MAX ? INT_MAX : (int)next;
}

static void free_dead(struct server *s)
{
	while (s->dead) {
		struct dead *d = s->dead;

		s->dead = d->next;
		free(d);
	}
}

static void look_at_pool(struct server *s)
{
	uint64_t now;

	if (!pool_wanted(s)) {
		s->pool_late_ns = 0;
		return;
	}
	now = ak_now_ns();
	if (!s->pool_late_ns)
		s->pool_late_ns = now + (uint64_t)SERVE_QUIET_MAX_MS * NS_PER_MS;
	if (pool_due(s) <= now)
		pool_fill(s);
}

static int turn(struct server *s, struct ak_err *err)
{
	struct epoll_event e[EVENTS_A_TURN];
	int n = epoll_wait(s->epoll, e, EVENTS_A_TURN, wait_ms(next_deadline(s)));

	if (n < 0 && errno != EINTR)
		return ak_err_sys(err, errno, "wait for events");
	for (int i = 0; i < n; i++) {
		struct ev *ev = e[i].data.ptr;

		if (ev->fn)
			ev->fn(s, ev, e[i].events);
	}
	expire(s);
	look_at_pool(s);
	free_dead(s);
	if (s->fatal.code) {
		*err = s->fatal;
		return -s->fatal.code;
	}
	return 0;
}

static bool anything_left(const struct server *s)
{
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++)
		if (s->boxes[i])
			return true;
	return false;
}

/* All that clients may ask for at a time does not fit into the usual soft limit. What is started here has limits of its own */
static void raise_nofile(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= SERVE_FDS_MAX)
		return;
	l.rlim_cur = l.rlim_max < SERVE_FDS_MAX ? l.rlim_max : SERVE_FDS_MAX;
	(void)setrlimit(RLIMIT_NOFILE, &l);	/* the soft one may always be raised so far */
}

static int set_up(struct server *s, struct ak_err *err)
{
	const struct serve_opts *o = s->o;
	int r = 0;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return ak_err_sys(err, errno, "epoll_create1");
	if (o->listen_fd >= 0)
		r = ev_add(s, &s->listen, o->listen_fd, EPOLLIN, on_listen, NULL);
	if (r == 0 && o->signal_fd >= 0)
		r = ev_add(s, &s->signal, o->signal_fd, EPOLLIN, on_signal, NULL);
	if (r < 0)
		return ak_err_sys(err, -r, "wait for clients");
	if (o->alive_fd >= 0)
		s->alive_ns = ak_now_ns() + (uint64_t)SERVE_ALIVE_MS * NS_PER_MS;
	r = copy_begin(s);
	if (r == 0)
		r = touch_begin(s);
	if (r < 0)
		return ak_err_sys(err, -r, "wait for the process that reads the changes");
	if (o->conn_fd >= 0)
		return conn_add(s, o->conn_fd, true, err);
	return 0;
}

static int first_box(struct server *s, struct ak_err *err)
{
	struct box *b;

	if (!s->o->name) {
		s->ready_said = true;
		if (s->o->ready)
			s->o->ready(s->o->ready_arg);
		return 0;
	}
	b = box_start(s, &s->pol, err);
	if (!b)
		return -(err && err->code ? err->code : EIO);
	(void)strncpy(b->name, s->o->name, sizeof(b->name) - 1);
	s->named = b->id;
	return 0;
}

static void answer_shutdown(struct server *s)
{
	for (size_t i = 0; i < 4; i++)
		if (s->shutdown[i].c)
			conn_ok(s, s->shutdown[i].c, s->shutdown[i].seq);
}

static void tear_down(struct server *s)
{
	s->stopping = true;
	for (size_t i = 0; i < AK_CONNECTIONS_MAX; i++)
		if (s->conns[i])
			conn_end(s, s->conns[i]);
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++)
		if (s->boxes[i])
			box_release(s, s->boxes[i]);
	for (size_t i = 0; i < s->ncmds; i++)
		if (s->cmds[i])
			cmd_release(s, s->cmds[i]);
	ev_forget(s, &s->listen);
	ev_forget(s, &s->signal);
	ev_forget(s, &s->copy.ev);
	touch_close(s);
	free_dead(s);
	ak_fd_close(&s->epoll);
}

int serve_run(const struct serve_opts *so, struct ak_err *err)
{
	struct ak_err own = { 0 };
	struct server *s = calloc(1, sizeof(*s));
	int r;

	if (!err)
		err = &own;
	if (!s)
		return ak_err_set(err, ENOMEM, "not enough memory to serve");
	s->o = so;
	s->epoll = s->listen.fd = s->signal.fd = s->copy.ev.fd = s->touch.ev.fd = s->copy.frozen = -1;
	s->born_ms = wall_ms();
	s->busy_ns = ak_now_ns();
	for (size_t i = 0; i < AK_FILES_MAX; i++)
		s->files[i].data = -1;
	raise_nofile();
	policy_seal(&s->pol, so->plan, so->opts, so->landlock_abi, so->tell_paths);
	s->pol.cgroup = so->cgroup_dir >= 0 ? so->cgroup_have : 0;
	s->pol.changes = so->changes ? so->changes->c.cs.id : NULL;
	r = set_up(s, err);
	if (r == 0)
		r = first_box(s, err);
	while (r == 0 && !(s->stopping && !anything_left(s)))
		r = turn(s, err);
	if (r == 0) {
		copy_close(s);
		answer_shutdown(s);
	}
	tear_down(s);
	free(s);
	return r;
}
