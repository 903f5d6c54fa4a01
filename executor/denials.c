/* SPDX-License-Identifier: Apache-2.0 */
/* Answers and counts refused calls. Process: executor. Privilege: none. */
#include "executor/denials.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "seccomp/filters.h"

void denials_init(struct denials *d, const struct observe_filters *f, unsigned own)
{
	*d = (struct denials){ .fd = -1, .own = own };
	if (f)
		d->filters = *f;
}

/* only a listener answers this request so: with ENOENT for an id that nobody waits with */
static bool is_listener(int fd)
{
	uint64_t id = 0;

	return ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) < 0 && errno == ENOENT;
}

int denials_listen(struct denials *d, int fd)
{
	if (d->observed || !d->filters.n_profile || !is_listener(fd)) {
		(void)close(fd);
		return -EBADMSG;
	}
	d->fd = fd;
	d->observed = true;
	return 0;
}

static void count(struct denials *d, int nr)
{
	uint32_t i = nr >= 0 && (uint32_t)nr < DENIALS_NUMBERS ? (uint32_t)nr : DENIALS_NUMBERS;

	if (d->own) {
		d->own--;
		return;
	}
	if (d->count[i] < DENIALS_COUNT_MAX)
		d->count[i]++;
}

/* Return: false when there is none now, or never again */
static bool answer_one(struct denials *d)
{
	/* the kernel's structures may be longer than ours: room for it, zeroed as it demands */
	union {
		struct seccomp_notif n;
		char room[512];
	} req = { .room = { 0 } };
	struct seccomp_notif_resp resp = { 0 };

	if (ioctl(d->fd, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0)
		return false;	/* ENOENT: the caller was killed meanwhile */
	resp.id = req.n.id;
	resp.error = -observe_errno(&d->filters, &req.n.data);
	/* counted before it is answered: the caller may end at once, and the report follows */
	count(d, req.n.data.nr);
	(void)ioctl(d->fd, SECCOMP_IOCTL_NOTIF_SEND, &resp);	/* ENOENT: it is gone */
	return true;
}

void denials_ready(struct denials *d, short revents)
{
	struct pollfd p = { .fd = d->fd, .events = POLLIN };

	for (unsigned i = 0; d->fd >= 0 && (revents & POLLIN) && i < DENIALS_BATCH; i++) {
		/* receiving waits when there is none, so look each time */
		if (!answer_one(d) || poll(&p, 1, 0) <= 0 || !(p.revents & POLLIN))
			break;
	}
	if (d->fd >= 0 && (revents & (POLLHUP | POLLERR)) && !(revents & POLLIN))
		ak_fd_close(&d->fd);
}

void denials_release(struct denials *d)
{
	ak_fd_close(&d->fd);
}

size_t denials_list(const struct denials *d, struct denial *ret, size_t max, char buf[32])
{
	size_t n = 0;

	for (uint32_t i = 0; i <= DENIALS_NUMBERS; i++) {
		const char *name = i < DENIALS_NUMBERS ? seccomp_call_name(i) : "other";
		size_t at = n;

		if (!d->count[i])
			continue;
		if (!name) {
			(void)snprintf(buf, 32, "#%u", i);
			name = buf;
		}
		if (n == max && ret[n - 1].count >= d->count[i])
			continue;
		if (n < max)
			n++;
		else
			at = n - 1;
		while (at > 0 && ret[at - 1].count < d->count[i]) {
			ret[at] = ret[at - 1];
			at--;
		}
		ret[at] = (struct denial){ name, d->count[i] };
	}
	return n;
}
