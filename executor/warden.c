/* SPDX-License-Identifier: Apache-2.0 */
/* Starts wardens, and what they say. Process: executor and warden. Privilege: the caller's. */
#include "executor/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/userns.h"
#include "executor/sandbox.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/stream.h"

#define CTL 3	/* number of the socket in a warden */

void backend_warn(struct backend_facts *f, const char *fmt, ...)
{
	va_list ap;

	char text[BACKEND_WARNING_BYTES];

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* several sandboxes of one executor find the same */
	for (uint32_t i = 0; i < f->nwarnings; i++)
		if (strcmp(f->warning[i], text) == 0)
			return;
	if (f->nwarnings < BACKEND_WARNINGS_MAX)
		memcpy(f->warning[f->nwarnings++], text, sizeof(text));
}

struct backend_facts *warden_facts(enum opt_backend b)
{
	struct backend_facts *f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (f == MAP_FAILED)
		return NULL;
	f->backend = b;
	return f;
}

void warden_facts_free(struct backend_facts *f)
{
	if (f)
		(void)munmap(f, sizeof(*f));
}

void warden_drop_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++) {
		if (null < 0)
			(void)close(fd);
		else if (null != fd)
			(void)dup2(null, fd);
	}
	if (null > 2)
		(void)close(null);
}

/* the streams onto 0, 1 and 2 and the socket onto 3, whatever numbers they have now */
static bool place(const struct streams *st, int ctl)
{
	const int from[4] = { st->s[0].child, st->s[1].child, st->s[2].child, ctl };
	int high[4];

	for (int i = 0; i < 4; i++) {
		high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 4);
		if (high[i] < 0)
			return false;
	}
	for (int i = 0; i < 4; i++)
		if (dup2(high[i], i) < 0)
			return false;
	return fcntl(CTL, F_SETFD, FD_CLOEXEC) == 0 && syscall(SYS_close_range, 4u, ~0u, 0) == 0;
}

static _Noreturn void run(int (*fn)(struct warden *w, void *arg), void *arg, struct backend_facts *facts, const struct streams *st,
			  int ctl)
{
	struct warden w = { .ctl = CTL, .facts = facts };

	if (!place(st, ctl) || setsid() < 0)
		_exit(125);
	_exit(fn(&w, arg));
}

int warden_start(int (*main)(struct warden *w, void *arg), void *arg, struct backend_facts *facts, const struct streams *st,
		 struct sandbox *ret, struct ak_err *err)
{
	AK_AUTO_FD pidfd = -1;
	int ctl[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) < 0)
		return ak_err_sys(err, errno, "make a socket");
	pid = userns_clone(0, -1, &pidfd, err);
	if (pid == 0)
		run(main, arg, facts, st, ctl[1]);
	ak_fd_close(&ctl[1]);
	if (pid < 0) {
		ak_fd_close(&ctl[0]);
		return (int)pid;
	}
	*ret = (struct sandbox){ .pidfd = ak_fd_take(&pidfd), .pid = pid, .ctl = ctl[0] };
	return 0;
}

int warden_message(struct warden *w)
{
	char buf[AK_INIT_MSG_MAX];
	struct init_msg m;
	ssize_t n = recv(w->ctl, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	/* the executor is trusted, but a message that is none is no reason to guess */
	if (init_msg_decode(buf, (size_t)n, &m) < 0 || m.type != INIT_MSG_SIGNAL)
		return 0;
	return (int)m.signo;
}

static void say(struct warden *w, const struct init_msg *m)
{
	char buf[AK_INIT_MSG_MAX];
	long n = init_msg_encode(m, buf, sizeof(buf));

	if (n > 0)
		(void)send(w->ctl, buf, (size_t)n, MSG_NOSIGNAL);	/* nobody there: nobody wants to know */
}

void warden_failed(struct warden *w, unsigned stage, unsigned exit_code, const struct ak_err *err)
{
	say(w, &(struct init_msg){ .type = INIT_MSG_FAILED, .stage = stage, .code = (uint32_t)err->code, .exit_code = exit_code,
				   .text = err->msg, .hint = err->hint });
}

void warden_exited(struct warden *w, int wstatus, uint64_t start_ns, uint64_t end_ns)
{
	say(w, &(struct init_msg){ .type = INIT_MSG_EXITED, .wstatus = (uint32_t)wstatus, .start_ns = start_ns,
				   .end_ns = end_ns });
}
