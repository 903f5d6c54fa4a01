/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors the serving loop waits for. Process: executor. Privilege: none. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_fd.h"

int ev_add(struct server *s, struct ev *ev, int fd, uint32_t events, void (*fn)(struct server *, struct ev *, uint32_t), void *owner)
{
	struct epoll_event e = { .events = events, .data.ptr = ev };

	*ev = (struct ev){ .fd = fd, .events = events, .fn = fn, .owner = owner };
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) < 0) {
		int r = -errno;

		*ev = (struct ev){ .fd = -1 };
		return r;
	}
	return 0;
}

void ev_want(struct server *s, struct ev *ev, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = ev };

	if (ev->fd < 0 || ev->events == events)
		return;
	ev->events = events;
	(void)epoll_ctl(s->epoll, EPOLL_CTL_MOD, ev->fd, &e);	/* it is registered: nothing to fail but memory it has */
}

void ev_forget(struct server *s, struct ev *ev)
{
	/* before the descriptor is closed: a copy of it in a child would keep the registration alive (epoll(7), Q6) */
	if (ev->fd >= 0 && ev->fn)
		(void)epoll_ctl(s->epoll, EPOLL_CTL_DEL, ev->fd, NULL);
	ev->fn = NULL;
	ev->fd = -1;
}

void ev_close(struct server *s, struct ev *ev)
{
	int fd = ev->fd;

	ev_forget(s, ev);
	ak_fd_close(&fd);
}

void server_bury(struct server *s, struct dead *d)
{
	d->next = s->dead;
	s->dead = d;
}
