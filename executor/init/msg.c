/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and messages to the executor, from init and from the command's child; no privilege. */
#include "executor/init/init.h"

#include "executor/init/box.h"
#include "executor/shared/ak_clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_SHOWN 200u

static void text_put(struct text *t, char c)
{
	if (t->len + 1 < sizeof(t->buf)) {
		t->buf[t->len++] = c;
		t->buf[t->len] = 0;
	}
}

void text_raw(struct text *t, const char *s)
{
	while (*s)
		text_put(t, *s++);
}

static void text_escaped(struct text *t, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	text_put(t, '\\');
	if (c == '\r' || c == '\n' || c == '\t') {
		text_put(t, c == '\r' ? 'r' : c == '\n' ? 'n' : 't');
		return;
	}
	text_put(t, 'x');
	text_put(t, hex[c >> 4]);
	text_put(t, hex[c & 15]);
}

void text_name(struct text *t, const char *s)
{
	size_t n = 0;

	for (; n < NAME_SHOWN && s[n]; n++) {
		if ((unsigned char)s[n] < 0x20 || s[n] == 0x7f)
			text_escaped(t, (unsigned char)s[n]);
		else
			text_put(t, s[n]);
	}
	if (s[n])
		text_raw(t, "...");
}

/* The write is by write(2): every filter lets it through, which is not sure of the socket calls */
int msg_send(int ctl, const struct init_msg *m)
{
	uint8_t buf[AK_INIT_MSG_MAX];
	long n = init_msg_encode(m, buf, sizeof(buf));

	if (n < 0)
		return (int)n;
	while (write(ctl, buf, (size_t)n) < 0) {
		struct pollfd p = { .fd = ctl, .events = POLLOUT };

		if (errno != EINTR && errno != EAGAIN)
			return -errno;
		(void)poll(&p, 1, -1);
	}
	return 0;
}

int msg_send_fd(int ctl, const struct init_msg *m, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	uint8_t buf[AK_INIT_MSG_MAX];
	long n = init_msg_encode(m, buf, sizeof(buf));
	struct iovec iov = { .iov_base = buf, .iov_len = n < 0 ? 0 : (size_t)n };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.buf,
			    .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	if (n < 0)
		return (int)n;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(ctl, &h, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void failure_store(struct slot_failure *to, const struct failure *f)
{
	size_t n = f->hint ? strnlen(f->hint, sizeof(to->hint) - 1) : 0;

	to->stage = f->stage;
	to->err = (uint32_t)f->err;
	to->exit_code = (uint32_t)f->exit_code;
	memcpy(to->text, f->text.buf, sizeof(to->text));
	memcpy(to->hint, f->hint ? f->hint : "", n);
	to->hint[n] = 0;
}

_Noreturn void fail(const struct init *in, const struct failure *f)
{
	const struct init_msg m = {
		.type = INIT_MSG_FAILED,
		.stage = f->stage,
		.code = (uint32_t)f->err,
		.exit_code = (uint32_t)f->exit_code,
		.text = f->text.buf,
		.hint = f->hint,
	};

	if (in->failure) {
		failure_store(in->failure, f);
		_exit(f->exit_code);
	}
	/* nobody else can be told; the exit code remains */
	(void)msg_send(in->ctl, &m);
	_exit(f->exit_code);
}

_Noreturn void fail_simple(const struct init *in, enum init_stage stage, int err, const char *what)
{
	struct failure f = { .stage = stage, .err = err, .exit_code = 125 };

	text_raw(&f.text, what);
	if (err) {
		text_raw(&f.text, ": ");
		text_raw(&f.text, strerror(err));
	}
	fail(in, &f);
}

uint64_t now_ns(void)
{
	return ak_now_ns();
}
