/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's side of a changeset that stays. Process and privilege: see cow_stay.h. */
#include "executor/cow_stay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/opts.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_proto.h"
#include "executor/workspace/owner.h"

void cow_stay_init(struct cow_stay *w)
{
	*w = (struct cow_stay){ .sock = -1 };
	cow_init(&w->c);
}

static int start_scribe(struct cow_stay *w, struct ak_err *err)
{
	int sv[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return ak_err_sys(err, errno, "socketpair");
	w->scribe = fork();
	if (w->scribe == 0)
		stay_main(&w->c, sv[1]);
	r = w->scribe < 0 ? ak_err_sys(err, errno, "fork") : 0;
	(void)close(sv[1]);
	if (r < 0) {
		(void)close(sv[0]);
		w->scribe = 0;
		return r;
	}
	w->sock = sv[0];
	w->c.kept = true;	/* from now on its scribe decides */
	return 0;
}

int cow_stay_begin(struct cow_stay *w, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, const char *command,
		   const char *again, struct ak_err *err)
{
	int r;

	if (o->write != WRITE_COW)
		return 0;
	r = cow_make(&w->c, o, h, p, command, again, err);
	return r == 0 ? start_scribe(w, err) : r;
}

int cow_stay_ask(struct cow_stay *w, const struct stay_order *order)
{
	ssize_t n;

	do
		n = w->sock < 0 ? -1 : send(w->sock, order, sizeof(*order), MSG_NOSIGNAL);
	while (n < 0 && w->sock >= 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*order) ? 0 : -EPIPE;
}

static int take_fd(struct msghdr *h)
{
	int fd = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

int cow_stay_hear(struct cow_stay *w, bool wait, struct stay_answer *ret, int *ret_fd)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ctl;
	struct stay_answer a;
	struct iovec iov = { .iov_base = &a, .iov_len = sizeof(a) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl) };
	ssize_t n;
	int fd;

	if (w->sock < 0)
		return -EPIPE;
	do
		n = recvmsg(w->sock, &h, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	fd = n > 0 ? take_fd(&h) : -1;
	if (n != (ssize_t)sizeof(a) || (fd >= 0) != (a.data_len > 0)) {
		ak_fd_close(&fd);
		w->closed = true;
		return -EPIPE;
	}
	if (a.op == STAY_CLOSE)
		w->closed = true;
	*ret = a;
	*ret_fd = fd;
	return 1;
}

void cow_close_release(struct cow_close *c)
{
	free(c->data);
	*c = (struct cow_close){ 0 };
}

/* the last answer: what is left. The list is a help, so it may be missing */
static void note_close(const struct cow_stay *w, const struct stay_answer *a, int fd, struct cow_close *ret)
{
	*ret = (struct cow_close){ .kept = a->outcome == AK_CHANGES_KEPT, .total = a->total };
	(void)snprintf(ret->id, sizeof(ret->id), "%s", w->c.cs.id);
	if (fd < 0 || a->data_len > AK_CHANGES_BYTES_MAX)
		return;
	ret->data = malloc(a->data_len);
	if (ret->data && pread(fd, ret->data, a->data_len, 0) == (ssize_t)a->data_len) {
		ret->len = a->data_len;
	} else {
		free(ret->data);
		ret->data = NULL;
	}
}

void cow_stay_end(struct cow_stay *w, struct cow_close *ret)
{
	struct stay_order order = { .op = STAY_CLOSE };
	struct stay_answer a = { 0 };
	int fd = -1;

	if (w->scribe > 0 && !w->closed && cow_stay_ask(w, &order) == 0)
		while (cow_stay_hear(w, true, &a, &fd) == 1 && a.op != STAY_CLOSE)
			ak_fd_close(&fd);	/* the answer to an order before it */
	if (ret && w->scribe > 0) {
		if (!w->closed || a.op != STAY_CLOSE)
			a = (struct stay_answer){ .outcome = AK_CHANGES_KEPT };	/* its scribe was killed: what there is stays */
		note_close(w, &a, fd, ret);
	}
	ak_fd_close(&fd);
	ak_fd_close(&w->sock);	/* end of file: the scribe ends */
	if (w->scribe > 0)
		(void)owner_wait(w->scribe);
	w->scribe = 0;
	cow_release(&w->c);
}
