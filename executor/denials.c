/* SPDX-License-Identifier: Apache-2.0 */
/* Answers and counts refused calls. Process: executor. Privilege: none. */
#include "executor/denials.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "seccomp/filters.h"

/* Linux 6.6: who is answered may run at once on the processor of the answerer, which then waits anyhow. Source: linux/seccomp.h */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

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
	(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);	/* older kernels: slower */
	d->fd = fd;
	d->observed = true;
	return 0;
}

static void count(struct denials *d, int nr, int err, bool by_floor)
{
	struct denial_count *c = &d->calls[nr >= 0 && (uint32_t)nr < DENIALS_NUMBERS ? (uint32_t)nr : DENIALS_NUMBERS];

	d->answered++;
	if (d->own) {
		d->own--;
		return;
	}
	if (c->count < DENIALS_COUNT_MAX)
		c->count++;
	c->err = (uint16_t)err;
	c->by_floor = by_floor;
	c->when = d->answered;
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
	bool by_floor = false;
	int err;

	if (ioctl(d->fd, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0)
		return false;	/* ENOENT: the caller was killed meanwhile */
	err = observe_errno(&d->filters, &req.n.data, &by_floor);
	resp.id = req.n.id;
	resp.error = -err;
	/* counted before it is answered: the caller may end at once, and the report follows */
	count(d, req.n.data.nr, err, by_floor);
	(void)ioctl(d->fd, SECCOMP_IOCTL_NOTIF_SEND, &resp);	/* ENOENT: it is gone */
	return true;
}

/* of this thread, without what others took from it */
static uint64_t processor_ns(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);	/* cannot fail: clock_gettime(2) */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* When the next answer may be given. What polling for it took is about as much again: hence twice */
static uint64_t rest(struct denials *d, uint64_t took_ns)
{
	uint64_t now = ak_now_ns(), end;

	if (!d->since_ns)
		d->since_ns = now;
	d->used_ns += 2 * took_ns;
	if (d->used_ns < DENIALS_LOOK_NS)
		return 0;
	end = d->since_ns + DENIALS_PART * d->used_ns;
	d->used_ns = 0;
	d->since_ns = end > now ? end : now;
	return end > now ? end : 0;
}

void denials_ready(struct denials *d, short revents)
{
	struct pollfd p = { .fd = d->fd, .events = POLLIN };
	bool flood = d->answered >= DENIALS_FREE;
	uint64_t start = flood ? processor_ns() : 0;

	for (unsigned i = 0; d->fd >= 0 && (revents & POLLIN) && i < DENIALS_BATCH; i++) {
		/* receiving waits when there is none, so look each time */
		if (!answer_one(d) || poll(&p, 1, 0) <= 0 || !(p.revents & POLLIN))
			break;
	}
	d->rest_ns = flood ? rest(d, processor_ns() - start) : 0;
	if (d->fd >= 0 && (revents & (POLLHUP | POLLERR)) && !(revents & POLLIN))
		ak_fd_close(&d->fd);
}

void denials_release(struct denials *d)
{
	ak_fd_close(&d->fd);
}

static struct denial describe(const struct denials *d, uint32_t i)
{
	const struct denial_count *c = &d->calls[i];
	const char *name = i < DENIALS_NUMBERS ? seccomp_call_name(i) : "other";
	struct denial r = { .count = c->count, .err = c->err, .by_floor = c->by_floor, .when = c->when };

	if (name)
		(void)snprintf(r.name, sizeof(r.name), "%s", name);
	else
		(void)snprintf(r.name, sizeof(r.name), "#%u", i);
	return r;
}

size_t denials_list(const struct denials *d, struct denial *ret, size_t max)
{
	size_t n = 0;

	for (uint32_t i = 0; i <= DENIALS_NUMBERS; i++) {
		size_t at = n;

		if (!d->calls[i].count || (n == max && ret[n - 1].count >= d->calls[i].count))
			continue;
		if (n < max)
			n++;
		else
			at = n - 1;
		while (at > 0 && ret[at - 1].count < d->calls[i].count) {
			ret[at] = ret[at - 1];
			at--;
		}
		ret[at] = describe(d, i);
	}
	return n;
}

/* Calls that programs try first and do without: libc, runtimes and tools of util-linux */
static bool is_probe(const char *name)
{
	static const char *const probes[] = {
		"clone3", "io_uring_setup", "openat2", "statmount", "listmount", "memfd_secret", "fsopen", "fspick", "fsconfig",
		"fsmount", "open_tree", "move_mount", "mount_setattr", "other",
	};

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (strcmp(name, probes[i]) == 0)
			return true;
	return false;
}

bool denials_explain(const struct denials *d, struct denial *ret)
{
	struct denial best = { 0 };

	for (uint32_t i = 0; i <= DENIALS_NUMBERS; i++) {
		struct denial c;

		if (!d->calls[i].count)
			continue;
		c = describe(d, i);
		if (c.err == ENOSYS && is_probe(c.name))
			continue;
		if (!best.count || (best.err == ENOSYS) > (c.err == ENOSYS) ||
		    ((best.err == ENOSYS) == (c.err == ENOSYS) && c.when > best.when))
			best = c;
	}
	if (!best.count)
		return false;
	*ret = best;
	return true;
}
