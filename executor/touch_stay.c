/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's side of what file tools change. Process and privilege: see touch_stay.h. */
#include "executor/touch_stay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"
#include "executor/shared/ak_session_file.h"
#include "executor/workspace/fsat.h"
#include "executor/workspace/owner.h"
#include "executor/workspace/state.h"

#define SWEEP_MAX 10000u	/* folders that one run looks at */

void touch_stay_init(struct touch_stay *t)
{
	*t = (struct touch_stay){ .sock = -1 };
}

/* Return: descriptor that holds its lock, if it is no session's, and nobody works with it; else -1 */
static int lock_left(int sessions, int dir, const char *name)
{
	AK_AUTO_FD fd = -1;
	struct stat st;

	if (strncmp(name, "s-", 2) != 0 || (sessions >= 0 && fstatat(sessions, name, &st, AT_SYMLINK_NOFOLLOW) == 0))
		return -1;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? ak_fd_take(&fd) : -1;
}

/* what a session that was removed, or stored nothing, has left; what cannot be looked at stays */
static void sweep(const struct hostinfo *h, int dir)
{
	AK_AUTO_FD sessions = state_open(h, "sessions", true, NULL);
	int fd = sessions < 0 ? -1 : openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		ak_fd_close(&fd);
		return;
	}
	for (unsigned n = 0; n < SWEEP_MAX && (e = readdir(d)) != NULL; n++) {
		AK_AUTO_FD lock = lock_left(sessions, dir, e->d_name);

		if (lock >= 0)
			(void)ws_remove(dir, e->d_name, NULL);
	}
	(void)closedir(d);
}

/* Return: descriptor of STATE/touched/uUID, which is that owner's */
static int open_folder(const struct hostinfo *h, uint32_t uid, uint32_t gid, struct ak_err *err)
{
	AK_AUTO_FD top = state_open(h, AK_SESSION_TOUCHED, true, err);
	AK_AUTO_FD dir = -1;
	char name[16];

	if (top < 0)
		return top;
	(void)snprintf(name, sizeof(name), "u%u", uid);
	if (mkdirat(top, name, 0700) < 0 && errno != EEXIST) {
		int r = ak_err_sys(err, errno, "make %s/touched/%s", h->state_dir, name);

		ak_no_space(err, AK_STATE_NO_SPACE);
		return r;
	}
	dir = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || (geteuid() == 0 && fchown(dir, uid, gid) < 0))
		return ak_err_sys(err, errno, "open %s/touched/%s", h->state_dir, name);
	return ak_fd_take(&dir);
}

static int start(struct touch_stay *t, struct touch_child *c, struct ak_err *err)
{
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return ak_err_sys(err, errno, "socketpair");
	c->sock = sv[1];
	t->child = fork();
	if (t->child == 0)
		touch_main(c);
	(void)close(sv[1]);
	if (t->child < 0) {
		(void)ak_err_sys(err, errno, "fork");
		(void)close(sv[0]);
		t->child = 0;
		return -err->code;
	}
	t->sock = sv[0];
	return 0;
}

void touch_stay_begin(struct touch_stay *t, const struct hostinfo *h, const char *workspace, const char *inside, bool owned)
{
	struct touch_child c = { .root = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .dir = -1, .inside = inside };
	struct ws_ident top = { 0 };

	if (c.root < 0 || ws_fstat(c.root, &top) < 0) {
		(void)ak_err_sys(&t->cannot, errno, "open the workspace \"%s\"", workspace);
	} else {
		c.uid = owned ? top.uid : geteuid();
		c.gid = owned ? top.gid : getegid();
		c.dir = open_folder(h, c.uid, c.gid, &t->cannot);
	}
	if (c.dir >= 0) {
		sweep(h, c.dir);
		(void)start(t, &c, &t->cannot);
	}
	ak_fd_close(&c.root);
	ak_fd_close(&c.dir);
}

int touch_stay_ask(struct touch_stay *t, const struct touch_order *order)
{
	ssize_t n;

	do
		n = t->sock < 0 ? -1 : send(t->sock, order, sizeof(*order), MSG_NOSIGNAL);
	while (n < 0 && t->sock >= 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*order) ? 0 : -EPIPE;
}

int touch_stay_hear(struct touch_stay *t, struct touch_answer *ret)
{
	struct touch_answer a;
	ssize_t n;

	do
		n = t->sock < 0 ? 0 : recv(t->sock, &a, sizeof(a), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n != (ssize_t)sizeof(a))
		return -EPIPE;
	*ret = a;
	return 1;
}

void touch_stay_end(struct touch_stay *t)
{
	ak_fd_close(&t->sock);	/* end of file: the child ends */
	if (t->child > 0)
		(void)owner_wait(t->child);
	t->child = 0;
}
