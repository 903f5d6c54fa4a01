/* SPDX-License-Identifier: Apache-2.0 */
/* Serve mode of init: the loop that takes requests, sends replies and reaps. Never blocks on anybody; no privilege. */
#include "executor/init/box.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/shared/ak_weaken.h"

#define REAP_MAX 256		/* at a time: who forks and exits without end cannot keep init from its other work */
#define HELD_MAX_MS 10000	/* how long a command waits for a prepared process */
#define PAGE 4096u

enum { EXIT_LOST = 1 };		/* the executor is gone or talks nonsense */

/* ---- replies ---- */

int box_say(struct box *b, const struct init_rep *m, int fd)
{
	struct out *o = &b->out[b->nout];
	long n = -ENOBUFS;

	if (b->nout < BOX_OUT_MAX)
		n = init_rep_encode(m, o->buf, sizeof(o->buf));
	if (n < 0) {
		if (fd >= 0)
			(void)close(fd);
		return (int)n;
	}
	o->len = (size_t)n;
	o->fd = fd;
	b->nout++;
	return 0;
}

void box_failed(struct box *b, uint32_t id, uint32_t stage, int err, const char *text, const char *hint)
{
	const struct init_rep m = {
		.type = INIT_REP_FAILED,
		.id = id,
		.stage = stage,
		.code = (uint32_t)err,
		.exit_code = 125,
		.text = text,
		.hint = hint,
	};

	(void)box_say(b, &m, -1);
}

int box_send(int ctl, const void *buf, size_t len, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c = (struct cmsghdr *)control.buf;

		h.msg_control = control.buf;
		h.msg_controllen = sizeof(control.buf);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(ctl, &h, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Send what waits, as far as there is room. Return: false when the executor is gone */
static bool flush(struct box *b)
{
	uint32_t done = 0;
	bool alive = true;

	for (; done < b->nout; done++) {
		const struct out *o = &b->out[done];
		int r = box_send(b->in->ctl, o->buf, o->len, o->fd);

		if (r < 0) {
			/* the last: so many descriptors are on their way to somebody who does not take them (unix(7)) */
			alive = r == -EAGAIN || r == -EINTR || r == -ENOBUFS || r == -ETOOMANYREFS;
			break;
		}
		if (b->out[done].fd >= 0)
			(void)close(b->out[done].fd);
	}
	b->nout -= done;
	if (done > 0 && b->nout > 0)
		memmove(b->out, b->out + done, b->nout * sizeof(b->out[0]));
	return alive;
}

/* ---- requests ---- */

static void close_fds(const int *fds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		(void)close(fds[i]);
}

/* The command of the held request starts now, later or never */
static void try_exec(struct box *b, uint64_t now)
{
	struct held *h = &b->held;
	struct slot *s = slot_spare(b);
	int r = 0;

	b->retry_ns = 0;	/* asked for: try at once */
	if (slots_running(b) >= AK_INIT_COMMANDS_MAX) {
		box_failed(b, h->req.id, INIT_STAGE_SETUP, EAGAIN, "too many commands at a time", "wait for one to end");
	} else if (s) {
		slot_launch(b, s, h, now);
		h->is = false;
		return;
	} else if (slots_count(b, SLOT_PREPARING) == 0 && (r = slots_refill(b)) < 0) {
		box_failed(b, h->req.id, INIT_STAGE_SETUP, -r,
			   r == -EAGAIN ? "no process can be made: the limit of processes is reached" :
					  "no process can be made",
			   "end what runs in the sandbox, or raise the limit");
	} else if (now - h->since_ns > HELD_MAX_MS * 1000000ull) {
		box_failed(b, h->req.id, INIT_STAGE_SETUP, ETIMEDOUT, "no process was ready in time", NULL);
	} else {
		return;
	}
	close_fds(h->fds, h->nfds);
	h->is = false;
}

static uint32_t count_fds(void)
{
	uint32_t n = 0;
	int max = fcntl(0, F_DUPFD_CLOEXEC, 0);

	/* the lowest free number says nothing, so each is asked: a diagnosis, not on any path that matters */
	if (max >= 0)
		(void)close(max);
	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void say_stats(struct box *b, uint32_t id)
{
	struct rusage ru = { 0 };
	struct init_rep m = {
		.type = INIT_REP_STATS,
		.id = id,
		.running = slots_running(b),
		.spares = slots_count(b, SLOT_SPARE),
		.files = files_count(b),
		.processes = ak_tree_count(b->proc),
		.fds = count_fds(),
		.commands = b->commands,
	};

	(void)getrusage(RUSAGE_SELF, &ru);
	m.rss_bytes = (uint64_t)ru.ru_maxrss * 1024;
	(void)box_say(b, &m, -1);
}

static bool take_leaf(struct box *b, struct held *h)
{
	if (b->nleaves >= AK_INIT_LEAVES_MAX)
		return false;
	b->leaves[b->nleaves++] = (struct leaf){ .id = h->req.id, .fd = h->fds[0] };
	return true;
}

/* What came with the request is taken or closed. Return: false when the executor talks nonsense */
static bool handle(struct box *b, struct held *h)
{
	switch (h->req.type) {
	case INIT_REQ_EXEC:
		h->is = true;
		try_exec(b, h->since_ns);
		return true;
	case INIT_REQ_FILE:
		files_start(b, h);
		return true;
	case INIT_REQ_SIGNAL:
		slot_signal(b, h->req.id, h->req.signo);
		return true;
	case INIT_REQ_KILL:
		slot_kill(b, h->req.id);
		files_kill(b, h->req.id);
		return true;
	case INIT_REQ_STATS:
		say_stats(b, h->req.id);
		return true;
	case INIT_REQ_LEAF:
		return take_leaf(b, h);
	default:
		return false;
	}
}

/* The descriptors of a message; Return: false when there were more than any request has */
static bool collect(struct msghdr *m, struct held *h)
{
	bool fits = true;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (h->nfds < AK_INIT_REQ_FDS_MAX)
				h->fds[h->nfds++] = fd;
			else
				fits = close(fd) < 0 && false;
		}
	}
	return fits;
}

/* One request. Return: false to end */
static bool take_request(struct box *b)
{
	union {
		char buf[CMSG_SPACE(sizeof(int) * (AK_INIT_REQ_FDS_MAX + 1))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = b->buf, .iov_len = sizeof(b->buf) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf, .msg_controllen = sizeof(control.buf) };
	struct held *h = &b->held;
	ssize_t n = recvmsg(b->in->ctl, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	bool fits;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	h->nfds = 0;
	h->since_ns = now_ns();
	fits = collect(&m, h);
	if (n == 0 || init_req_decode(b->buf, (size_t)n, &h->req) < 0)
		fits = false;
	/* our own table of descriptors was full: that one command has to go without */
	if (fits && (m.msg_flags & MSG_CTRUNC) && h->req.type == INIT_REQ_EXEC) {
		close_fds(h->fds, h->nfds);
		box_failed(b, h->req.id, INIT_STAGE_SETUP, EMFILE, "too many descriptors in use", "wait for commands to end");
		return true;
	}
	if (!fits || (m.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) || h->nfds != init_req_fds(&h->req)) {
		close_fds(h->fds, h->nfds);
		return false;
	}
	return handle(b, h);
}

/* ---- processes ---- */

pid_t box_fork(int cgroup_fd)
{
	struct clone_args a = { .flags = CLONE_FILES | CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)cgroup_fd };
	long r;

	/* clone is what every filter lets through; the argument orders of the architectures differ only in what is 0 here */
	if (cgroup_fd < 0)
		r = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	else
		r = syscall(SYS_clone3, &a, sizeof(a));
	return r < 0 ? -errno : (pid_t)r;
}

/* A page that was shared with a child is copied when it is written first; that is dear while somebody waits */
__attribute__((noinline)) void box_touch(void)
{
	volatile char deep[2 * PAGE];

	deep[0] = deep[PAGE] = 0;
	errno = 0;
}

void box_wait(_Atomic uint32_t *word, uint32_t value)
{
	while (atomic_load(word) == value)
		(void)syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

void box_set(_Atomic uint32_t *word, uint32_t value)
{
	atomic_store(word, value);
	(void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool box_keeper_filters(const struct box *b)
{
	return !(b->cfg->flags & (INIT_LATE_FILTERS | INIT_LEAVES));
}

void box_wake(const struct box *b)
{
	const uint64_t one = 1;

	(void)write(b->event, &one, sizeof(one));	/* EAGAIN: it is full, so init wakes anyhow */
}

/* Return: whether there may be more */
static bool reap(struct box *b)
{
	for (int i = 0; i < REAP_MAX; i++) {
		int status;
		pid_t p = waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL);

		if (p <= 0)
			return false;
		if (WIFSTOPPED(status))
			slots_stopped(b, p);
		else if (!slots_reaped(b, p))
			(void)files_reaped(b, p, status);	/* else an orphan of a keeper that died */
	}
	return true;
}

/* ---- the loop ---- */

/* What is shared with keepers and commands; before any of them exists */
static bool map_slots(struct box *b)
{
	size_t each = (sizeof(struct slot_mem) + PAGE - 1) / PAGE * PAGE;
	uint8_t *all = mmap(NULL, each * BOX_SLOTS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return false;
	for (size_t i = 0; i < BOX_SLOTS; i++) {
		b->slots[i].mem = (struct slot_mem *)(void *)(all + i * each);
		b->slots[i].leaf_fd = -1;
	}
	return true;
}

/* A message may bring 36 descriptors, for 64 commands: the usual soft limit is too low. Commands get their own from the plan */
static void raise_nofile(void)
{
	uint64_t l[2];	/* struct rlimit64; the raw call, as libc's brings its locks along */

	if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, l) == 0) {
		l[0] = l[1] < 4096 ? l[1] : 4096;
		(void)syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, l, NULL);
	}
}

static struct box *box_new(struct init *in, const struct init_config *cfg)
{
	struct box *b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED)
		fail_simple(in, INIT_STAGE_SETUP, errno, "memory for serving");
	b->in = in;
	b->cfg = cfg;
	b->self = getpid();
	if (!map_slots(b))
		fail_simple(in, INIT_STAGE_SETUP, errno, "memory for serving");
	b->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b->event < 0 || b->proc < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, b->event < 0 ? "eventfd" : "open /proc of the sandbox");
	for (size_t i = 0; i < AK_INIT_SESSIONS_MAX; i++)
		b->sessions[i] = -1;
	for (uint32_t i = 0; i < cfg->nrlimits; i++) {
		if (cfg->rlimits[i].resource == RLIMIT_NPROC)
			b->nproc = i + 1;
	}
	if (!files_init(b))
		fail_simple(in, INIT_STAGE_SETUP, errno, "memory for serving");
	return b;
}

/* Return: false to end */
static bool look_at_events(struct box *b, const struct pollfd *p, bool *more)
{
	struct signalfd_siginfo si;
	uint64_t count;

	if (p[1].revents)
		(void)read(b->in->sigfd, &si, sizeof(si));	/* at most one is pending; wait tells who it was */
	if (p[2].revents)
		(void)read(b->event, &count, sizeof(count));
	/* first what the slots say, then who ended: a result that is written is never taken for a lost one */
	slots_look(b);
	if (p[1].revents || *more)
		*more = reap(b);
	if (p[0].revents & POLLIN)
		return take_request(b);
	if (!(p[0].revents & (POLLHUP | POLLERR | POLLNVAL)))
		return true;
	if (!AK_WEAK(b->in->weaken, AK_WEAK_PDEATH))
		return false;
	b->in->ctl = -1;	/* the test build lives on */
	return true;
}

int box_serve(struct init *in, const struct init_config *cfg)
{
	struct box *b = box_new(in, cfg);
	bool more = false;

	b->buf[0] = 0;	/* the first request finds its page there */
	raise_nofile();
	check_no_new_privs(in);
	confine_paths(in);
	if (cfg->flags & INIT_LEAVES)
		(void)box_say(b, &(struct init_rep){ .type = INIT_REP_LEAVES }, -1);
	for (;;) {
		struct pollfd p[3] = { { .fd = in->ctl }, { .fd = in->sigfd, .events = POLLIN }, { .fd = b->event, .events = POLLIN } };
		int wait_ms;

		if (b->held.is)
			try_exec(b, now_ns());
		slots_report(b);
		files_report(b);
		if (!flush(b) && !AK_WEAK(in->weaken, AK_WEAK_PDEATH))
			return EXIT_LOST;
		if (b->nout == 0)
			slots_flushed(b);
		(void)slots_refill(b);
		wait_ms = slots_tick(b, now_ns());
		if (b->held.is && (wait_ms < 0 || wait_ms > 20))
			wait_ms = 20;
		/* only a few replies at a time: no event comes for those that are left */
		if (b->nout == 0 && (slots_count(b, SLOT_ENDED) > 0 || files_to_report(b)))
			wait_ms = 0;
		if (b->nout > 0)
			p[0].events = POLLOUT;
		else if (!b->held.is)
			p[0].events = POLLIN;
		if (poll(p, 3, more ? 0 : wait_ms) < 0 && errno != EINTR)
			return EXIT_LOST;
		if (!look_at_events(b, p, &more))
			return EXIT_LOST;
	}
}
