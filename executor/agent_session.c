/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's view of the agent's sessions. Process: executor. Privilege: the caller's. */
#include "executor/agent_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/fsat.h"

int agent_session_mint(char ret[static AK_SESSION_ID_MAX], struct ak_err *err)
{
	unsigned char r[6];

	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return ak_err_sys(err, errno, "name a session");
	(void)snprintf(ret, AK_SESSION_ID_MAX, "s-%02x%02x%02x%02x%02x%02x", r[0], r[1], r[2], r[3], r[4], r[5]);
	return 0;
}

const char *agent_session_of(const struct changeset_meta *m)
{
	size_t n = sizeof(AGENT_SESSION_COMMAND) - 1;

	return strncmp(m->command, AGENT_SESSION_COMMAND, n) == 0 && ak_session_id_ok(m->command + n) ? m->command + n : NULL;
}

int agent_session_changeset(int sessions, const char *session, char ret_id[static CHANGESET_ID_MAX], struct changeset_meta *ret,
			    struct ak_err *err)
{
	char **ids = NULL;
	size_t more;
	int r = changeset_ids(sessions, &ids, &more, err);
	bool found = false;

	for (size_t i = 0; r == 0 && !found && ids[i]; i++) {
		struct changeset cs = CHANGESET_NONE;
		int opened = changeset_open(sessions, ids[i], CHANGESET_LOOK, &cs, NULL);
		/* one whose layer is gone is the session's all the same: who goes on with it has to hear of that */
		const char *of = opened == 0 || opened == -EBADMSG ? agent_session_of(&cs.meta) : NULL;

		found = of && strcmp(of, session) == 0;
		if (found) {
			(void)snprintf(ret_id, CHANGESET_ID_MAX, "%s", cs.id);
			*ret = cs.meta;
		}
		changeset_close(&cs);
	}
	changeset_ids_free(ids);
	return r < 0 ? r : found ? 0 : -ENOENT;
}

/* Return: descriptor; the folder must be the caller's and closed to others, as the agent made it */
static int open_folder(int sessions, const char *id)
{
	AK_AUTO_FD fd = ak_session_id_ok(id) ? openat(sessions, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	struct stat st;

	return fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022) ? -ENOENT : ak_fd_take(&fd);
}

/* the agent locks the folder for its run */
static bool is_busy(int folder)
{
	if (flock(folder, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	(void)flock(folder, LOCK_UN);
	return false;
}

int agent_session_read(int sessions, const char *id, struct agent_session *ret)
{
	AK_AUTO_FD folder = open_folder(sessions, id);
	struct ws_ident st;
	AK_AUTO_FD fd = -1;
	ssize_t n;

	if (folder < 0)
		return -ENOENT;
	(void)snprintf(ret->id, sizeof(ret->id), "%s", id);
	ret->busy = is_busy(folder);
	fd = ws_open_file(folder, AK_SESSION_ABOUT, &st);
	n = fd < 0 ? -1 : read(fd, ret->bytes, sizeof(ret->bytes));
	ret->known = n > 0 && ak_session_about_decode(ret->bytes, (size_t)n, &ret->about) == 0;
	return 0;
}

void agent_session_each(int sessions, bool (*f)(void *arg, const struct agent_session *s), void *arg)
{
	struct ak_dir d AK_UNINIT;
	struct agent_session s AK_UNINIT;
	const char *name;
	unsigned char type;
	bool more = true;

	d.fd = openat(sessions, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d.pos = d.len = 0;
	while (d.fd >= 0 && more && ak_dir_next(&d, &name, &type))
		if (ak_session_id_ok(name) && agent_session_read(sessions, name, &s) == 0)
			more = f(arg, &s);
	ak_fd_close(&d.fd);
}

struct last {
	const char *workspace;
	uint64_t ms;
	char *ret;
};

static bool newer(void *arg, const struct agent_session *s)
{
	struct last *l = arg;

	if (s->known && strcmp(s->about.workspace, l->workspace) == 0 && s->about.updated_ms >= l->ms) {
		l->ms = s->about.updated_ms;
		(void)snprintf(l->ret, AK_SESSION_ID_MAX, "%s", s->id);
	}
	return true;
}

int agent_session_last(int sessions, const char *workspace, char ret[static AK_SESSION_ID_MAX])
{
	struct last l = { .workspace = workspace, .ret = ret };

	ret[0] = '\0';
	agent_session_each(sessions, newer, &l);
	return ret[0] ? 0 : -ENOENT;
}

void agent_session_points(int sessions, const char *id, struct agent_session_points *ret)
{
	AK_AUTO_FD folder = open_folder(sessions, id);
	struct ws_ident st;
	AK_AUTO_FD fd = folder < 0 ? -1 : ws_open_file(folder, AK_SESSION_POINTS, &st);
	size_t most = fd < 0 ? 0 : st.size / AK_SESSION_POINT_BYTES;
	unsigned char record[AK_SESSION_POINT_BYTES];

	*ret = (struct agent_session_points){ 0 };
	most = most < AGENT_SESSION_POINTS_MAX ? most : AGENT_SESSION_POINTS_MAX;
	ret->v = most ? calloc(most, sizeof(*ret->v)) : NULL;
	while (ret->v && ret->n < most && read(fd, record, sizeof(record)) == (ssize_t)sizeof(record))
		ak_session_point_decode(record, &ret->v[ret->n++]);
}

/* the last one counts: a number that was given twice was given to another changeset before */
const struct ak_session_point *agent_session_point(const struct agent_session_points *p, uint32_t number)
{
	for (size_t i = p->n; i > 0; i--)
		if (p->v[i - 1].point == number)
			return &p->v[i - 1];
	return NULL;
}

void agent_session_discarded(int sessions, const struct changeset_meta *m)
{
	const char *id = agent_session_of(m);
	AK_AUTO_FD folder = id ? open_folder(sessions, id) : -1;
	AK_AUTO_FD fd = folder < 0 ? -1
				   : openat(folder, AK_SESSION_DISCARDED, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	(void)fd; /* that it is there says it all; without it the model is not told, and sees it in the workspace */
}

static int in_use(const char *id, struct ak_err *err)
{
	(void)ak_err_set(err, EBUSY, "the session %s is in use", id);
	ak_err_hint(err, "wait for its run to end, or end it");
	return -EBUSY;
}

int agent_session_idle(int sessions, const char *id, struct ak_err *err)
{
	AK_AUTO_FD folder = open_folder(sessions, id);

	return folder >= 0 && flock(folder, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK ? in_use(id, err) : 0;
}

int agent_session_remove(int sessions, const char *id, struct ak_err *err)
{
	AK_AUTO_FD folder = open_folder(sessions, id);

	if (folder < 0)
		return ak_err_set(err, ENOENT, "there is no session \"%.80s\"", id);
	if (flock(folder, LOCK_EX | LOCK_NB) < 0)
		return in_use(id, err);
	return ws_remove(sessions, id, err);
}
