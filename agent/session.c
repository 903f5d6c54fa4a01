/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of sessions in the state folder. Process: agent. Privilege: none. */
#include "agent/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/env.h"
#include "agent/transcript.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"

#define TRIES 16

/* ours, a folder, closed to others */
static int check(int fd, const char *what, struct ak_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at %s", what);
	if (st.st_uid != geteuid() || (st.st_mode & 0022)) {
		(void)ak_err_set(err, EPERM, "%s belongs to somebody else, or others can write there", what);
		ak_err_hint(err, "it must be yours, mode 0700");
		return -EPERM;
	}
	return 0;
}

/* Return: negative errno */
static int not_made(int code, const char *what, struct ak_err *err)
{
	(void)ak_err_sys(err, code, "make the folder %s", what);
	ak_no_space(err, AK_STATE_NO_SPACE);
	return -code;
}

/* one folder below another, made where it is missing. Return: descriptor */
static int step(int dir, const char *name, bool make, bool own, struct ak_err *err)
{
	AK_AUTO_FD fd = -1;

	if (make && mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return not_made(errno, name, err);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (own ? O_NOFOLLOW : 0));
	if (fd < 0)
		return ak_err_sys(err, errno, "open the folder %s", name);
	if (own && check(fd, name, err) < 0)
		return -EPERM;
	return ak_fd_take(&fd);
}

static const char *state_home(char *const env[], bool *ret_by_xdg)
{
	const char *xdg = env_get(env, "XDG_STATE_HOME");

	*ret_by_xdg = xdg && xdg[0] == '/';
	return *ret_by_xdg ? xdg : env_get(env, "HOME");
}

/* STATE. Return: descriptor */
static int open_state(char *const env[], bool make, struct ak_err *err)
{
	static const char *const below_home[] = { ".local", "state", NULL };
	bool by_xdg;
	const char *top = state_home(env, &by_xdg);
	AK_AUTO_FD fd = -1;

	if (!top || top[0] != '/') {
		(void)ak_err_set(err, ENOENT, "no state folder: HOME is not set");
		ak_err_hint(err, "set HOME or XDG_STATE_HOME, or use --ephemeral");
		return -ENOENT;
	}
	if (by_xdg && make)
		(void)mkdir(top, 0700);
	fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ak_err_sys(err, errno, "open %s", top);
	for (size_t i = 0; !by_xdg && below_home[i]; i++) {
		int next = step(fd, below_home[i], make, false, err);

		ak_fd_close(&fd);
		fd = next;
		if (fd < 0)
			return fd;
	}
	return step(fd, "ak", make, true, err);
}

/* STATE/sessions. Return: descriptor, and its path */
static int open_sessions(char *const env[], bool make, char **ret_path, struct ak_err *err)
{
	AK_AUTO_FD state = open_state(env, make, err);
	bool by_xdg;
	const char *top = state_home(env, &by_xdg);
	AK_AUTO_FD fd = state < 0 ? state : step(state, "sessions", make, true, err);

	if (fd >= 0 && ret_path && asprintf(ret_path, "%s%s/ak/sessions", top, by_xdg ? "" : "/.local/state") < 0) {
		*ret_path = NULL;
		return ak_err_set(err, ENOMEM, "no memory for a path");
	}
	return fd < 0 ? fd : ak_fd_take(&fd);
}

int session_state(char *const env[], struct ak_err *err)
{
	return open_state(env, true, err);
}

static int mint(char *id)
{
	unsigned char r[6];

	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return -errno;
	(void)snprintf(id, SESSION_ID, "s-%02x%02x%02x%02x%02x%02x", r[0], r[1], r[2], r[3], r[4], r[5]);
	return 0;
}

static int take(struct session *s, const char *folder, struct ak_err *err)
{
	if (flock(s->dir, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return ak_err_sys(err, errno, "lock the session %s", s->id);
		(void)ak_err_set(err, EBUSY, "the session %s is in use", s->id);
		ak_err_hint(err, "wait for the other run to end");
		return -EBUSY;
	}
	if (asprintf(&s->path, "%s/%s", folder, s->id) < 0) {
		s->path = NULL;
		return ak_err_set(err, ENOMEM, "no memory for a path");
	}
	return 0;
}

int session_new(char *const env[], bool ephemeral, const char *id, struct session *ret, struct ak_err *err)
{
	struct session s = { .dir = -1 };
	char *folder = NULL;
	AK_AUTO_FD top = ephemeral ? -1 : open_sessions(env, true, &folder, err);
	int rc = ephemeral || top >= 0 ? 0 : top;

	for (int i = *id ? TRIES - 1 : 0; rc == 0 && i < TRIES; i++) {
		if (*id)
			(void)snprintf(s.id, sizeof(s.id), "%s", id);
		else
			rc = mint(s.id);
		if (rc < 0)
			(void)ak_err_sys(err, -rc, "name a session");
		if (rc < 0 || ephemeral || mkdirat(top, s.id, 0700) == 0)
			break;
		if (errno != EEXIST || *id)
			rc = not_made(errno, "of a session", err);
	}
	if (rc == 0 && !ephemeral) {
		s.dir = step(top, s.id, false, true, err);
		rc = s.dir < 0 ? s.dir : take(&s, folder, err);
	}
	free(folder);
	if (rc < 0)
		session_close(&s);
	else
		*ret = s;
	return rc;
}

static int open_at(int top, const char *folder, const char *id, struct session *ret, struct ak_err *err)
{
	struct session s = { .dir = -1 };
	int rc;

	(void)snprintf(s.id, sizeof(s.id), "%s", id);
	s.dir = step(top, id, false, true, err);
	if (s.dir == -ENOENT) {
		(void)ak_err_set(err, ENOENT, "there is no session %s", id);
		ak_err_hint(err, "sessions are folders in %s", folder);
	}
	rc = s.dir < 0 ? s.dir : take(&s, folder, err);
	if (rc < 0)
		session_close(&s);
	else
		*ret = s;
	return rc;
}

int session_open(char *const env[], const char *id, struct session *ret, struct ak_err *err)
{
	char *folder = NULL;
	AK_AUTO_FD top = -1;
	int rc;

	if (!ak_session_id_ok(id)) {
		(void)ak_err_set(err, EINVAL, "\"%.60s\" is no session", id);
		ak_err_hint(err, "a session is named like s-0123456789ab");
		return -EINVAL;
	}
	top = open_sessions(env, false, &folder, err);
	if (top == -ENOENT)
		(void)ak_err_set(err, ENOENT, "there is no session %s", id);
	rc = top < 0 ? top : open_at(top, folder, id, ret, err);
	free(folder);
	return rc;
}

/* the newest of @workspace: its name, or "" */
static int newest(int top, const char *workspace, char *id, struct ak_err *err)
{
	int copy = fcntl(top, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	int64_t best = -1;
	struct dirent *e;

	id[0] = '\0';
	if (!d) {
		ak_fd_close(&copy);
		return ak_err_sys(err, errno, "read the folder of sessions");
	}
	for (unsigned n = 0; n < SESSION_SCAN_MAX && (e = readdir(d)) != NULL; n++) {
		struct transcript_head h = { 0 };
		AK_AUTO_FD fd = ak_session_id_ok(e->d_name) ? openat(top, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
		struct stat st;

		if (fd < 0 || fstatat(fd, TRANSCRIPT_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		int64_t when = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;

		if (when > best && transcript_read_head(fd, &h, NULL) == 0 && strcmp(h.workspace, workspace) == 0) {
			best = when;
			memcpy(id, e->d_name, SESSION_ID); /* ak_session_id_ok() has looked at its length */
		}
		transcript_head_release(&h);
	}
	(void)closedir(d);
	return 0;
}

int session_last(char *const env[], const char *workspace, struct session *ret, struct ak_err *err)
{
	char *folder = NULL;
	char id[SESSION_ID] = "";
	AK_AUTO_FD top = open_sessions(env, false, &folder, err);
	int rc = top < 0 ? top : newest(top, workspace, id, err);

	if (rc == -ENOENT || (rc == 0 && !id[0])) {
		(void)ak_err_set(err, ENOENT, "this workspace has no session to go on with");
		rc = -ENOENT;
	}
	if (rc == 0)
		rc = open_at(top, folder, id, ret, err);
	free(folder);
	return rc;
}

void session_close(struct session *s)
{
	ak_fd_close(&s->dir);
	free(s->path);
	s->path = NULL;
}
