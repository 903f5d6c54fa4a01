/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output that the executor keeps: captured for a RESULT, or spooled for a job. Process: executor. Privilege: none.
 *
 * Both are head and tail in memory of bounded size (capture.h); memory grows with what is written. When all captures together
 * have AK_CAPTURE_TOTAL_MAX, none of them takes more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_fd.h"

static void keep(struct server *s, struct out *o, const uint8_t *p, size_t n)
{
	size_t before = capture_bytes(&o->kept);

	if (s->captured >= AK_CAPTURE_TOTAL_MAX)
		capture_hold(&o->kept);
	capture_add(&o->kept, p, n);
	s->captured += capture_bytes(&o->kept) - before;
}

/* Return: bytes read, 0 when there is nothing now, -1 at the end */
static ssize_t read_some(struct server *s, struct out *o, size_t max)
{
	ssize_t n;

	do
		n = read(o->ev.fd, s->buf, max < sizeof(s->buf) ? max : sizeof(s->buf));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		keep(s, o, s->buf, (size_t)n);
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	return n == 0 ? -1 : n;
}

static void on_output(struct server *s, struct ev *ev, uint32_t events)
{
	struct out *o = ev->owner;

	(void)events;
	if (read_some(s, o, SERVE_READ_BYTES) < 0)
		ev_close(s, ev);
}

int out_open(struct server *s, struct cmd *c, unsigned i, uint64_t max, int *ret_child, struct ak_err *err)
{
	struct out *o = &c->out[i];
	AK_AUTO_FD ours = -1;
	AK_AUTO_FD theirs = -1;
	int p[2], r;

	if (pipe2(p, O_CLOEXEC) < 0)
		return ak_err_sys(err, errno, "pipe");
	ours = p[0];
	theirs = p[1];
	if (fcntl(ours, F_SETFL, O_RDONLY | O_NONBLOCK) < 0)
		return ak_err_sys(err, errno, "pipe");
	if (max > SERVE_STREAM_PIPE_BYTES)
		(void)fcntl(ours, F_SETPIPE_SZ, (int)SERVE_STREAM_PIPE_BYTES);	/* faster; not everybody may */
	r = ev_add(s, &o->ev, ours, EPOLLIN, on_output, o);
	if (r < 0)
		return ak_err_sys(err, -r, "wait for output");
	ak_fd_take(&ours);
	o->cmd = c;
	o->counted = true;
	capture_init(&o->kept, max);
	*ret_child = ak_fd_take(&theirs);
	return 0;
}

/*
 * The command's tree has been ended: what is in the pipe now is all there will be. Somebody who got the descriptor over a socket
 * may still write; that is not waited for.
 */
void out_finish(struct server *s, struct out *o)
{
	int left = 0;

	if (o->ev.fd < 0 || !o->ev.fn)
		return;
	if (ioctl(o->ev.fd, FIONREAD, &left) < 0)
		left = 0;
	while (left > 0) {
		ssize_t n = read_some(s, o, (size_t)left);

		if (n <= 0)
			break;
		left -= (int)n;
	}
	ev_close(s, &o->ev);
}

void out_release(struct server *s, struct out *o)
{
	ev_close(s, &o->ev);
	s->captured -= capture_bytes(&o->kept);
	capture_release(&o->kept);
	free(o->done.head);
	free(o->done.tail);
	o->done = (struct capture){ 0 };
}
