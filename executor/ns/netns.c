/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network namespace and its loopback, made beside the mounts. Process: set-up child. Privilege: CAP_NET_ADMIN in its user
 * namespace.
 */
#include "executor/ns/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <sched.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/elsewhere.h"
#include "executor/ns/nslimit.h"
#include "executor/ns/vclone.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define LOOPBACK_IFINDEX 1	/* LOOPBACK_IFINDEX of include/net/flow.h: always the first device of a namespace */

/* Return: the request to bring loopback up, the caller's to nlmsg_free(); NULL: no memory */
static struct nl_msg *up_request(void)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC, .ifi_index = LOOPBACK_IFINDEX, .ifi_flags = IFF_UP,
				 .ifi_change = IFF_UP };
	struct nl_msg *msg = nlmsg_alloc_size((size_t)nlmsg_total_size(sizeof(ifi)));

	if (msg && (!nlmsg_put(msg, 0, 1, RTM_NEWLINK, 0, NLM_F_REQUEST | NLM_F_ACK) ||
		    nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) < 0)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/* ---- either thread: system calls without errno, nothing of libc ---- */

static int netlink_socket(void)
{
	return (int)vcall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE, 0, 0);
}

/* the kernel has answered when write returns: one message, an error number */
static int ask(int sock, const struct nlmsghdr *request)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char rest[64];
	} ack;
	long n = vcall(SYS_write, sock, (long)(uintptr_t)request, (long)request->nlmsg_len, 0, 0);

	if (n >= 0)
		n = vcall(SYS_read, sock, (long)(uintptr_t)&ack, (long)sizeof(ack), 0, 0);
	if (n < 0)
		return (int)n;
	if (n < (long)(sizeof(ack.h) + sizeof(ack.e.error)) || ack.h.nlmsg_type != NLMSG_ERROR)
		return -EBADMSG;
	return ack.e.error;
}

/* a socket tells its namespace without a look at /proc: socket(7), SIOCGSKNS of Linux 4.9 */
static int make_netns(struct netns_worker *w)
{
	int r = (int)vcall(SYS_unshare, CLONE_NEWNET, 0, 0, 0, 0);
	int sock = r < 0 ? -1 : netlink_socket();

	if (r < 0 || sock < 0)
		return r < 0 ? r : sock;
	if (w->up)
		w->lo = ask(sock, nlmsg_hdr(w->up));
	r = (int)vcall(SYS_ioctl, sock, SIOCGSKNS, 0, 0, 0);
	(void)vcall(SYS_close, sock, 0, 0, 0, 0);
	return r;
}

static void work(struct netns_worker *w)
{
	const char *name = NULL;

	w->net = make_netns(w);
	if (w->job.limit_dir >= 0)
		w->limit = nslimit_first(w->job.limit_dir, &w->job.limits, &name);
	w->limit_name = name;
	__atomic_store_n(&w->done, 1, __ATOMIC_RELEASE);
	(void)vcall(SYS_futex, (long)(uintptr_t)&w->done, FUTEX_WAKE_PRIVATE, 1, 0, 0);
	if (w->job.after)
		w->job.after(w->job.arg);
}

static void run_thread(void *arg)
{
	struct netns_worker *w = arg;

	w->began = true;
	work(w);
	vexit();
}

/* ---- the set-up child itself ---- */

static int explain_netns(int code, struct ak_err *err)
{
	(void)ak_err_sys(err, code, "make the sandbox's network namespace");
	/* which of the two cannot be read from here: the file shows the limit of our own user namespace */
	if (code == ENOSPC || code == EUSERS)
		ak_err_hint(err, "the sysctl user.max_net_namespaces is 0 or its limit is reached here; --net host does without");
	return -code;
}

static int loopback_failed(int code, struct ak_err *err)
{
	return ak_err_sys(err, code, "bring loopback up");
}

/* the thread ends before anything else runs with its affinity */
void netns_move_away(struct netns_worker *w)
{
	if (w->started)
		elsewhere(w->id);
}

/* it has got no processor all the time: it gets ours, since we wait */
static void move_here(struct netns_worker *w)
{
	cpu_set_t cpus;
	unsigned here;

	if (getcpu(&here, NULL) < 0 || here >= CPU_SETSIZE)
		return;
	CPU_ZERO(&cpus);
	CPU_SET(here, &cpus);
	(void)sched_setaffinity(w->id, sizeof(cpus), &cpus);
}

void netns_prepare(struct netns_worker *w, const struct netns_job *job)
{
	w->job = *job;
	w->net = -EAGAIN;
	w->limit = 0;
	w->limit_name = NULL;
	w->up = job->loopback ? up_request() : NULL;
	w->lo = job->loopback && !w->up ? -ENOMEM : 0;
	w->done = 0;
	w->began = w->started = false;
}

void netns_start(struct netns_worker *w)
{
	int r = vthread(w->stack, sizeof(w->stack), (uint32_t *)&w->tid, run_thread, w);

	w->started = r > 0;
	w->id = r;
}

void netns_begin(struct netns_worker *w, const struct netns_job *job)
{
	netns_prepare(w, job);
	netns_start(w);
	netns_move_away(w);
}

void netns_release(struct netns_worker *w)
{
	nlmsg_free(w->up);
	w->up = NULL;
}

static void wait_for(struct netns_worker *w)
{
	if (!w->began)
		move_here(w);
	while (__atomic_load_n(&w->done, __ATOMIC_ACQUIRE) == 0)
		(void)vcall(SYS_futex, (long)(uintptr_t)&w->done, FUTEX_WAIT_PRIVATE, 0, 0, 0);
}

void netns_end(struct netns_worker *w)
{
	uint32_t tid;

	if (!w->started)
		return;
	if (!w->began)
		move_here(w);
	/* not a private futex: see vclone_wait() */
	while ((tid = w->tid) != 0)
		(void)vcall(SYS_futex, (long)(uintptr_t)&w->tid, FUTEX_WAIT, (long)tid, 0, 0);
}

int netns_enter(struct netns_worker *w, struct ak_err *err)
{
	AK_AUTO_FD fd = -1;

	if (w->started)
		wait_for(w);
	else
		work(w);
	netns_release(w);
	fd = w->net;
	if (fd < 0)
		return explain_netns(-fd, err);
	if (w->lo < 0)
		return loopback_failed(-w->lo, err);
	if (w->limit < 0)
		return ak_err_sys(err, -w->limit, "write user.%s of the sandbox", w->limit_name);
	if (w->started && setns(fd, CLONE_NEWNET) < 0)
		return ak_err_sys(err, errno, "enter the sandbox's network namespace");
	return 0;
}

int netns_loopback_up(struct ak_err *err)
{
	struct nl_msg *up = up_request();
	AK_AUTO_FD sock = netlink_socket();
	int r = !up ? -ENOMEM : sock < 0 ? sock : ask(sock, nlmsg_hdr(up));

	nlmsg_free(up);
	return r < 0 ? loopback_failed(-r, err) : 0;
}
