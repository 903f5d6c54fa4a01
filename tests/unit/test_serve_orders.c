/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order a sandbox's init may say what, and what the executor makes of it: the executor's own functions between a client's
 * socket and one that plays init. The law is written down here once more, by itself, and every sequence of messages is held against it.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/opts.h"
#include "executor/serve_int.h"
#include "executor/shared/ak_chan.h"
#include "executor/shared/ak_fd.h"

#define LONGEST 4	/* messages of a sequence */
#define NEVER_GIVEN 1000000u

/* what a client was told */
struct heard {
	unsigned started, results, refused, ok, files;
	bool pty;
	uint32_t seq;	/* of the last one */
	struct ak_result r;
	char text[AK_TEXT_MAX];
};

struct rig {
	struct server *s;
	struct conn *c;
	int client;	/* the client's end of its connection */
	uint32_t seq;
};

/* a sandbox, and who plays its init */
struct sb {
	struct box *b;
	int init;
	pid_t pid;	/* what is killed when the sandbox ends */
};

static struct exec_opts opts;
static struct plan plan;
static struct serve_opts so;

/* ---- the executor ---- */

static void free_dead(struct server *s)
{
	while (s->dead) {
		struct dead *d = s->dead;

		s->dead = d->next;
		free(d);
	}
}

static void pump(struct rig *g)
{
	struct epoll_event e[8];
	int n;

	while ((n = epoll_wait(g->s->epoll, e, 8, 0)) > 0) {
		for (int i = 0; i < n; i++) {
			struct ev *ev = e[i].data.ptr;

			if (ev->fn)
				ev->fn(g->s, ev, e[i].events);
		}
		free_dead(g->s);
	}
	free_dead(g->s);	/* what ended without an event */
}

static void connect_client(struct rig *g)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	ck_assert_int_eq(conn_add(g->s, fds[0], false, NULL), 0);
	g->client = fds[1];
	for (size_t i = 0; i < AK_CONNECTIONS_MAX; i++)
		if (g->s->conns[i])
			g->c = g->s->conns[i];
	g->c->state = CONN_READY;
}

static void rig_open(struct rig *g)
{
	*g = (struct rig){ .s = calloc(1, sizeof(*g->s)) };
	opts = (struct exec_opts){ .seccomp = "default", .kill_after_ms = 100 };
	plan = (struct plan){ .workspace = (char *)"/ws", .cwd = (char *)"/ws", .user = (char *)"u", .home = (char *)"/h", .seccomp = "default",
			      .rootfs_fd = -1 };
	so = (struct serve_opts){ .opts = &opts, .plan = &plan, .cgroup_dir = -1, .listen_fd = -1, .conn_fd = -1, .signal_fd = -1, .alive_fd = -1 };
	g->s->o = &so;
	g->s->listen.fd = g->s->signal.fd = -1;
	g->s->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; i < AK_FILES_MAX; i++)
		g->s->files[i].data = -1;
	policy_seal(&g->s->pol, &plan, &opts, 0, false);
	(void)signal(SIGPIPE, SIG_IGN);
	connect_client(g);
}

static void rig_close(struct rig *g)
{
	for (size_t i = 0; i < g->s->ncmds; i++)
		if (g->s->cmds[i])
			cmd_release(g->s, g->s->cmds[i]);	/* jobs whose results nobody fetched */
	conn_end(g->s, g->c);
	pump(g);
	(void)close(g->client);
	(void)close(g->s->epoll);
	free(g->s);
}

static struct sb sb_open(struct rig *g, enum box_state state)
{
	struct sb x = { .b = calloc(1, sizeof(*x.b)) };
	struct ak_create as_it_is = { 0 };
	size_t i = 0;
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	x.init = fds[1];
	x.pid = fork();
	if (x.pid == 0) {
		(void)syscall(SYS_close_range, 3, ~0u, 0);	/* else it would keep the client's end open */
		for (;;)
			(void)raise(SIGSTOP);
	}
	ck_assert_int_eq(waitpid(x.pid, NULL, WUNTRACED), x.pid);	/* it has closed them */
	x.b->id = server_id(g->s);
	x.b->state = state;
	x.b->group = x.b->init_leaf = (struct cgroup)CGROUP_NONE;
	x.b->pid.fd = (int)syscall(SYS_pidfd_open, x.pid, 0);
	ck_assert_int_ge(x.b->pid.fd, 0);
	ck_assert_int_eq(policy_narrow(&g->s->pol, &as_it_is, &x.b->pol, NULL), 0);
	ck_assert_int_eq(ev_add(g->s, &x.b->ctl, fds[0], EPOLLIN, ctl_event, x.b), 0);
	while (g->s->boxes[i])
		i++;
	g->s->boxes[i] = x.b;
	return x;
}

static bool alive(const struct sb *x)
{
	return x->b->state != BOX_ENDING;
}

/* as when its init has been waited for */
static void sb_close(struct rig *g, struct sb *x)
{
	for (size_t i = 0; i < g->s->ncmds; i++)
		if (g->s->cmds[i] && g->s->cmds[i]->box == x->b)
			cmd_lost(g->s, g->s->cmds[i], x->b);
	file_lost(g->s, x->b);
	box_release(g->s, x->b);
	pump(g);
	(void)kill(x->pid, SIGKILL);
	(void)waitpid(x->pid, NULL, 0);
	(void)close(x->init);
}

/* ---- the client ---- */

static void ask(struct rig *g, uint16_t op, const void *payload, long len)
{
	ck_assert_int_gt(len, 0);
	ck_assert_int_eq(ak_chan_send(g->client, op, ++g->seq, payload, (size_t)len, NULL, 0, 0), 0);
	pump(g);
}

static void take(struct heard *h, struct ak_frame *f)
{
	struct ak_started st;

	h->seq = f->seq;
	switch (f->op) {
	case AK_OP_STARTED:
		h->started++;
		ck_assert_int_eq(ak_started_decode(f->payload, f->len, &st), 0);
		h->pty = f->nfds == 1;
		break;
	case AK_OP_RESULT:
		h->results++;
		ck_assert_int_eq(ak_result_decode(f->payload, f->len, &h->r), 0);
		(void)strncpy(h->text, h->r.text ? h->r.text : "", sizeof(h->text) - 1);
		break;
	case AK_OP_REFUSED:
		h->refused++;
		break;
	case AK_OP_OK:
		h->ok++;
		break;
	case AK_OP_FILE_REPLY:
		h->files++;
		break;
	default:
		ck_abort_msg("an answer %u", f->op);
	}
}

static struct heard hear(struct rig *g)
{
	static uint8_t buf[AK_MSG_MAX];
	struct heard h = { 0 };
	struct ak_frame f;

	pump(g);
	while (ak_chan_recv(g->client, buf, &f, MSG_DONTWAIT) == 1) {
		take(&h, &f);
		ak_frame_release(&f);
	}
	return h;
}

/* ---- init ---- */

/* The next request that init gets. Return: its id; 0: there is none */
static uint32_t asked(struct sb *x, uint32_t *ret_type)
{
	static uint8_t buf[AK_INIT_REQ_MAX];
	ssize_t n = recv(x->init, buf, sizeof(buf), MSG_DONTWAIT);
	struct init_req q;

	*ret_type = 0;
	if (n <= 0)
		return 0;
	ck_assert_int_eq(init_req_decode(buf, (size_t)n, &q), 0);
	*ret_type = q.type;
	return q.id;
}

static void send_rep(struct sb *x, const struct init_rep *m, int fd)
{
	uint8_t buf[AK_INIT_REP_MAX];
	long n = init_rep_encode(m, buf, sizeof(buf));
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl = { .align = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) } };
	struct iovec iov = { .iov_base = buf, .iov_len = (size_t)n };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	ck_assert_int_gt(n, 0);
	if (fd >= 0) {
		memcpy(CMSG_DATA(&ctl.align), &fd, sizeof(fd));
		h.msg_control = &ctl;
		h.msg_controllen = sizeof(ctl.space);
	}
	(void)sendmsg(x->init, &h, MSG_NOSIGNAL);	/* nobody takes it when the sandbox is being ended */
}

/* One message by its letter: Pty, Started, Failed, Exited, exited with Lost, File */
static void say(struct sb *x, char what, uint32_t id)
{
	struct init_rep m = { .id = id };
	AK_AUTO_FD fd = -1;

	switch (what) {
	case 'P':
		m.type = INIT_REP_PTY;
		fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		break;
	case 'S':
		m.type = INIT_REP_STARTED;
		m.pid = 7;
		break;
	case 'F':
		m = (struct init_rep){ .type = INIT_REP_FAILED, .id = id, .stage = INIT_STAGE_EXEC, .code = ENOENT, .exit_code = 127,
				       .text = "no", .hint = "" };
		break;
	case 'E':
		m = (struct init_rep){ .type = INIT_REP_EXITED, .id = id, .wstatus = 3 << 8, .end_ns = 1 };
		break;
	case 'L':
		m = (struct init_rep){ .type = INIT_REP_EXITED, .id = id, .flags = INIT_EXITED_LOST, .wstatus = SIGKILL, .end_ns = 1 };
		break;
	default:
		m = (struct init_rep){ .type = INIT_REP_FILE, .id = id, .kind = INIT_KIND_FILE };
		break;
	}
	send_rep(x, &m, fd);
}

/* ---- commands ---- */

/* Return: the id init was asked with; 0: it was not asked */
static uint32_t exec(struct rig *g, struct sb *x, bool tty, uint32_t flags)
{
	static const char *const argv[] = { "true" };
	static uint8_t buf[AK_PAYLOAD_MAX];
	struct ak_exec m = { .sandbox = x->b->id, .kind = AK_EXEC_ARGV, .flags = flags, .body = { .cwd = "", .argv = { .vec = argv, .count = 1 } } };
	uint32_t id, type;

	for (int i = 0; tty && i < 3; i++)
		m.stream[i] = AK_STREAM_PTY;
	ask(g, AK_OP_EXEC, buf, ak_exec_encode(&m, buf, sizeof(buf)));
	id = asked(x, &type);
	ck_assert(id == 0 || type == INIT_REQ_EXEC);
	return id;
}

static void refer(struct rig *g, uint16_t op, uint32_t cmd)
{
	uint8_t buf[64];
	struct ak_cmd_ref m = { cmd };

	ask(g, op, buf, ak_cmd_ref_encode(&m, buf, sizeof(buf)));
}

/* The law of ak_init_serve.h, and what a client hears by it */
struct law {
	bool pty, started, broken;
	char end;	/* 0: none yet */
};

static void law_next(struct law *l, bool tty, char what)
{
	if (l->broken || l->end)
		return;	/* nothing is read any more, or nothing depends on it any more */
	if (what == 'P') {
		l->broken = !tty || l->pty || l->started;
		l->pty = true;
	} else if (what == 'S') {
		l->broken = l->started || (tty && !l->pty);
		l->started |= !l->broken;
	} else {
		l->end = what;
	}
}

static void result_is(const struct heard *h, char end, const char *seq)
{
	if (end == 'L')
		ck_assert_msg(h->r.status == AK_STATUS_SIGNALED && h->r.signal == SIGKILL, "%s: status %u", seq, h->r.status);
	else
		ck_assert_msg(h->r.status == AK_STATUS_EXITED && h->r.exit_code == (end == 'F' ? 127u : 3u), "%s: status %u code %u", seq,
			      h->r.status, h->r.exit_code);
}

static void try(struct rig *g, struct sb *x, bool tty, const char *seq)
{
	uint32_t id = exec(g, x, tty, 0);
	struct law l = { 0 };
	struct heard h;

	ck_assert_uint_ne(id, 0);
	for (const char *p = seq; *p; p++) {
		say(x, *p, id);
		law_next(&l, tty, *p);
	}
	h = hear(g);
	ck_assert_msg(alive(x) == !l.broken, "%s%s: the sandbox %s", tty ? "pty: " : "", seq, alive(x) ? "lives" : x->b->why.msg);
	ck_assert_msg(h.started == l.started && h.results == (l.end != 0) && !h.refused, "%s: %u started, %u results", seq, h.started, h.results);
	ck_assert_msg(!h.started || h.pty == tty, "%s: the pty", seq);
	if (l.end)
		result_is(&h, l.end, seq);
	if (!l.end && !l.broken) {
		say(x, 'E', id);
		h = hear(g);
		ck_assert_msg(alive(x) && h.results == 1, "%s, then its end", seq);
	}
	if (l.broken) {
		sb_close(g, x);
		h = hear(g);
		ck_assert_msg(h.results == (l.end == 0) && (l.end || h.r.status == AK_STATUS_FAILED), "%s: the result of a sandbox that ended", seq);
		*x = sb_open(g, BOX_READY);
	}
	ck_assert_uint_eq(g->s->running, 0);
	ck_assert_uint_eq(x->b->running, 0);
}

START_TEST(every_order_of_messages_keeps_the_law)
{
	static const char letters[] = "PSFEL";
	char seq[LONGEST + 1];
	struct rig g;
	struct sb x;

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	for (int n = 0; n <= LONGEST; n++) {
		unsigned all = 1;

		for (int i = 0; i < n; i++)
			all *= 5;
		for (unsigned k = 0; k < all; k++) {
			unsigned at = k;

			for (int i = 0; i < n; i++, at /= 5)
				seq[i] = letters[at % 5];
			seq[n] = 0;
			try(&g, &x, _i, seq);
		}
	}
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

/* ---- ids ---- */

START_TEST(an_id_that_was_never_given_out_ends_the_sandbox)
{
	static const char what[] = "PSFELA";
	struct rig g;
	struct sb x;

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	say(&x, what[_i], NEVER_GIVEN);
	pump(&g);
	ck_assert(!alive(&x));
	ck_assert_int_eq(x.b->why.code, EBADMSG);
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

START_TEST(a_command_of_another_sandbox_is_none_of_its_business)
{
	static const char what[] = "SFELA";
	struct rig g;
	struct sb x, y;
	struct heard h;
	uint32_t id;

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	y = sb_open(&g, BOX_READY);
	id = exec(&g, &y, false, 0);
	say(&x, what[_i], id);
	h = hear(&g);
	ck_assert(!alive(&x) && alive(&y));
	ck_assert_uint_eq(h.started + h.results, 0);
	say(&y, 'E', id);
	h = hear(&g);
	ck_assert_uint_eq(h.results, 1);
	sb_close(&g, &x);
	sb_close(&g, &y);
	rig_close(&g);
}
END_TEST

START_TEST(what_comes_late_after_many_others_is_overlooked)
{
	struct rig g;
	struct sb x;
	uint32_t first;

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	first = exec(&g, &x, false, 0);
	say(&x, 'E', first);
	for (int i = 0; i < 1000; i++) {
		say(&x, 'E', exec(&g, &x, false, 0));
		ck_assert_uint_ge(hear(&g).results, 1);
	}
	say(&x, 'L', first);
	say(&x, 'E', first);
	pump(&g);
	ck_assert(alive(&x));
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

/* ---- jobs, kills, clients that go ---- */

START_TEST(a_job_keeps_the_result_it_had_first)
{
	uint8_t buf[64];
	struct ak_wait_req w;
	struct rig g;
	struct sb x;
	struct heard h;
	uint32_t id;

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	id = exec(&g, &x, false, AK_EXEC_JOB);
	say(&x, 'S', id);
	h = hear(&g);
	ck_assert_uint_eq(h.started, 1);
	say(&x, 'E', id);
	say(&x, 'L', id);
	say(&x, 'F', id);
	say(&x, 'S', id);
	h = hear(&g);
	ck_assert(alive(&x));
	ck_assert_uint_eq(h.results, 0);
	w = (struct ak_wait_req){ .cmd = id };
	ask(&g, AK_OP_WAIT, buf, ak_wait_req_encode(&w, buf, sizeof(buf)));
	h = hear(&g);
	ck_assert_uint_eq(h.results, 1);
	result_is(&h, 'E', "job");
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

START_TEST(a_kill_that_crosses_the_end_changes_nothing)
{
	struct rig g;
	struct sb x;
	struct heard h;
	uint32_t id, type;

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	id = exec(&g, &x, false, 0);
	say(&x, 'S', id);
	(void)hear(&g);
	refer(&g, AK_OP_KILL, id);
	ck_assert_uint_eq(asked(&x, &type), id);
	ck_assert_uint_eq(type, INIT_REQ_KILL);
	say(&x, 'E', id);
	say(&x, 'L', id);
	h = hear(&g);
	ck_assert(alive(&x));
	ck_assert_uint_eq(h.results, 1);
	ck_assert_uint_eq(h.ok, 1);
	result_is(&h, 'E', "killed");
	refer(&g, AK_OP_KILL, id);
	h = hear(&g);
	ck_assert_uint_eq(h.refused, 1);
	ck_assert_uint_eq(asked(&x, &type), 0);
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

START_TEST(a_command_whose_client_went_ends_for_nobody)
{
	static const char *const after[] = { "E", "L", "F", "SE", "SEL", "ES" };
	struct rig g;
	struct sb x;
	uint32_t id, type;

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	id = exec(&g, &x, false, 0);
	(void)close(g.client);
	pump(&g);
	ck_assert_uint_eq(asked(&x, &type), id);
	ck_assert_uint_eq(type, INIT_REQ_KILL);
	for (const char *p = after[_i]; *p; p++)
		say(&x, *p, id);
	pump(&g);
	ck_assert(alive(&x));
	ck_assert_uint_eq(g.s->running, 0);
	connect_client(&g);
	id = exec(&g, &x, false, 0);
	say(&x, 'E', id);
	ck_assert_uint_eq(hear(&g).results, 1);
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

START_TEST(a_command_that_waits_for_its_sandbox_can_be_killed)
{
	struct rig g;
	struct sb x;
	struct heard h;
	uint32_t id, type;

	rig_open(&g);
	x = sb_open(&g, BOX_STARTING);
	ck_assert_uint_eq(exec(&g, &x, false, 0), 0);
	id = g.s->next_id;
	refer(&g, AK_OP_KILL, id);
	h = hear(&g);
	ck_assert_uint_eq(h.ok, 1);
	ck_assert_uint_eq(h.results, 1);
	ck_assert_uint_eq(h.r.status, AK_STATUS_SIGNALED);
	ck_assert_uint_eq(x.b->running, 0);
	send_rep(&x, &(struct init_rep){ .type = INIT_REP_READY }, -1);
	pump(&g);
	ck_assert_int_eq(x.b->state, BOX_READY);
	ck_assert_uint_eq(asked(&x, &type), 0);
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

START_TEST(a_command_that_waits_goes_with_its_client)
{
	struct rig g;
	struct sb x;
	uint32_t type;

	rig_open(&g);
	x = sb_open(&g, BOX_STARTING);
	ck_assert_uint_eq(exec(&g, &x, false, 0), 0);
	(void)close(g.client);
	pump(&g);
	ck_assert_uint_eq(g.s->running, 0);
	send_rep(&x, &(struct init_rep){ .type = INIT_REP_READY }, -1);
	pump(&g);
	ck_assert(alive(&x));
	ck_assert_uint_eq(asked(&x, &type), 0);
	connect_client(&g);
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

/* ---- terminals ---- */

START_TEST(a_terminal_without_room_fails_its_command_only)
{
	struct rlimit before, none;
	struct rig g;
	struct sb x;
	struct heard h;
	uint32_t id, type;

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	id = exec(&g, &x, true, 0);
	say(&x, 'P', id);
	say(&x, 'S', id);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	pump(&g);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert(alive(&x));
	ck_assert_uint_eq(asked(&x, &type), id);
	ck_assert_uint_eq(type, INIT_REQ_KILL);
	say(&x, 'L', id);
	h = hear(&g);
	ck_assert_uint_eq(h.started, 0);
	ck_assert_uint_eq(h.results, 1);
	ck_assert_uint_eq(h.r.status, AK_STATUS_FAILED);
	ck_assert_uint_eq(h.r.exit_code, 125);
	ck_assert_uint_eq(h.r.err, EMFILE);
	ck_assert_ptr_nonnull(strstr(h.text, "no descriptor left"));
	id = exec(&g, &x, true, 0);
	say(&x, 'P', id);
	say(&x, 'S', id);
	h = hear(&g);
	ck_assert(h.started == 1 && h.pty);
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

START_TEST(a_descriptor_that_is_no_pty_ends_the_sandbox)
{
	struct rig g;
	struct sb x;
	uint32_t id;
	AK_AUTO_FD fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	id = exec(&g, &x, true, 0);
	send_rep(&x, &(struct init_rep){ .type = _i ? INIT_REP_STARTED : INIT_REP_PTY, .id = id }, fd);
	pump(&g);
	ck_assert(!alive(&x));
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

/* ---- file operations ---- */

static uint32_t ask_file(struct rig *g, struct sb *x)
{
	static uint8_t buf[AK_PAYLOAD_MAX];
	struct ak_file m = { .sandbox = x->b->id, .op = AK_FILE_STAT, .path = "f", .path2 = "" };
	uint32_t id, type;

	ask(g, AK_OP_FILE, buf, ak_file_encode(&m, buf, sizeof(buf)));
	id = asked(x, &type);
	ck_assert_uint_eq(type, INIT_REQ_FILE);
	return id;
}

START_TEST(a_second_answer_to_a_file_operation_is_overlooked)
{
	struct rig g;
	struct sb x;
	uint32_t id;

	rig_open(&g);
	x = sb_open(&g, BOX_READY);
	id = ask_file(&g, &x);
	say(&x, 'A', id);
	say(&x, 'A', id);
	ck_assert_uint_eq(hear(&g).files, 1);
	ck_assert(alive(&x));
	id = ask_file(&g, &x);
	(void)close(g.client);
	pump(&g);
	say(&x, 'A', id);	/* its client went: nobody hears it */
	pump(&g);
	ck_assert(alive(&x));
	connect_client(&g);
	id = exec(&g, &x, false, 0);
	say(&x, 'A', id);	/* no answer to a command */
	pump(&g);
	ck_assert(!alive(&x));
	sb_close(&g, &x);
	rig_close(&g);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("serve_orders");
	TCase *t = tcase_create("orders");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, every_order_of_messages_keeps_the_law, 0, 2);
	tcase_add_loop_test(t, an_id_that_was_never_given_out_ends_the_sandbox, 0, 6);
	tcase_add_loop_test(t, a_command_of_another_sandbox_is_none_of_its_business, 0, 5);
	tcase_add_test(t, what_comes_late_after_many_others_is_overlooked);
	tcase_add_test(t, a_job_keeps_the_result_it_had_first);
	tcase_add_test(t, a_kill_that_crosses_the_end_changes_nothing);
	tcase_add_loop_test(t, a_command_whose_client_went_ends_for_nobody, 0, 6);
	tcase_add_test(t, a_command_that_waits_for_its_sandbox_can_be_killed);
	tcase_add_test(t, a_command_that_waits_goes_with_its_client);
	tcase_add_test(t, a_terminal_without_room_fails_its_command_only);
	tcase_add_loop_test(t, a_descriptor_that_is_no_pty_ends_the_sandbox, 0, 2);
	tcase_add_test(t, a_second_answer_to_a_file_operation_is_overlooked);
	suite_add_tcase(suite, t);
	r = srunner_create(suite);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
