/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reading a changeset for the commands about them. Process: executor. Privilege: the caller's. */
#include "executor/changes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/agent_session.h"
#include "executor/named.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_path.h"
#include "executor/workspace/changeset_again.h"
#include "executor/workspace/owner.h"
#include "executor/workspace/protected_place.h"
#include "executor/workspace/scan.h"
#include "executor/workspace/state.h"
#include "executor/workspace/visible.h"

void changes_say(const char *fmt, ...)
{
	struct ak_buf b = { 0 };
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n >= 0) {
		ak_buf_printf(&b, "ak: %s\n", text);
		free(text);
	}
	if (!b.failed && b.len)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);	/* nobody left to tell when stderr is gone */
	ak_buf_release(&b);
}

void changes_path(struct ak_buf *out, const char *path)
{
	if (*path && visible_plain(path))
		ak_buf_str(out, path);
	else
		visible_quote(out, path);
}

void changes_by(struct ak_buf *out, const struct change *ch)
{
	if (!ch->by)
		return;
	ak_buf_str(out, " (by ");
	changes_path(out, ch->by);
	ak_buf_str(out, ")");
}

int changes_begin(struct changes *c, char *const env[], struct ak_err *err)
{
	int r = hostinfo_get(env, &c->host, err);

	if (r < 0)
		return r;
	c->sessions = state_open(&c->host, "sessions", false, err);
	if (c->sessions < 0)
		return c->sessions;
	changeset_sweep(c->sessions);
	return 0;
}

/* does a changeset belong to the folder we are in, or to one above it? */
static bool is_of_cwd(const struct changes *c, const char *id)
{
	struct changeset cs = CHANGESET_NONE;
	bool is = changeset_open(c->sessions, id, CHANGESET_LOOK, &cs, NULL) == 0 && c->host.cwd &&
		  ak_path_below(c->host.cwd, cs.meta.workspace);

	changeset_close(&cs);
	return is;
}

static int none_here(struct ak_err *err)
{
	(void)ak_err_set(err, ENOENT, "there is no changeset of this folder");
	ak_err_hint(err, "`ak sessions list` shows all there are");
	return -ENOENT;
}

static enum changeset_lock lock_for(const struct changes *c)
{
	return c->removes ? CHANGESET_REMOVE : CHANGESET_WAIT;
}

/* a session of the agent's stands for the changes that it left */
static int find_of_session(struct changes *c, const char *session, struct ak_err *err)
{
	char id[CHANGESET_ID_MAX];
	struct changeset_meta m AK_UNINIT;
	int r = c->removes ? agent_session_idle(c->sessions, session, err) : 0;

	if (r == 0)
		r = agent_session_changeset(c->sessions, session, id, &m, err);
	if (r == 0)
		return changeset_open(c->sessions, id, lock_for(c), &c->cs, err);
	if (r == -ENOENT) {
		(void)ak_err_set(err, ENOENT, "there are no kept changes of the session %s", session);
		ak_err_hint(err, "they were taken over, or discarded, or there is no such session: see ak sessions list");
	}
	return r;
}

int changes_find(struct changes *c, const char *id, struct ak_err *err)
{
	char **ids = NULL;
	size_t more;
	int r;

	if (c->sessions < 0 && id) {
		(void)ak_err_set(err, ENOENT, "there is no changeset \"%.80s\"", id);
		ak_err_hint(err, "there is none at all: `ak exec --write cow` makes one");
		return -ENOENT;
	}
	if (c->sessions < 0)
		return none_here(err);
	if (id && ak_session_id_ok(id))
		return find_of_session(c, id, err);
	if (id)
		return changeset_open(c->sessions, id, lock_for(c), &c->cs, err);
	r = changeset_ids(c->sessions, &ids, &more, err);
	for (size_t i = 0; r == 0 && ids[i]; i++) {
		if (!is_of_cwd(c, ids[i]))
			continue;
		r = changeset_open(c->sessions, ids[i], lock_for(c), &c->cs, err);
		changeset_ids_free(ids);
		return r;
	}
	changeset_ids_free(ids);
	return r < 0 ? r : none_here(err);
}

/* in the child that is the owner */
static int scan_again(void *arg)
{
	struct changes *c = arg;
	struct ak_err err = { 0 };
	int r = scan_layer(c->cs.upper, c->lower, c->place, c->cs.meta.start_ns, &c->j, &err);

	if (r == 0)
		r = changeset_remember(&c->cs, &c->j, &err);
	if (r == 0)
		r = changeset_store(&c->cs, &c->j, &err);
	return r < 0 ? named_fail(&err) : 0;
}

static int make_journal(struct changes *c, bool broken, struct ak_err *err)
{
	struct protected_place place AK_UNINIT;
	pid_t pid;

	if (broken)
		changes_say("the journal of changeset %s is half-written; it is made anew from what the run left", c->cs.id);
	protected_place_find(&place, c->cs.meta.workspace);
	c->place = &place;
	pid = owner_fork(c->cs.meta.uid, c->cs.meta.gid, scan_again, c, err);
	c->place = NULL;
	protected_place_release(&place);
	if (pid < 0)
		return (int)pid;
	if (owner_wait(pid) != 0)
		return ak_err_set(err, EIO, "the changes of %s could not be read", c->cs.id);
	return changeset_load(&c->cs, &c->j, err);
}

int changes_read(struct changes *c, struct ak_err *err)
{
	int r;

	c->lower = changeset_open_workspace(&c->cs, err);
	if (c->lower < 0)
		return c->lower;
	r = changeset_load(&c->cs, &c->j, err);
	if (r == -ENOENT || r == -EBADMSG)
		r = make_journal(c, r == -EBADMSG, err);
	if (r == -ENOENT || r == -EBADMSG)
		return ak_err_set(err, EIO, "the journal of changeset %s cannot be read", c->cs.id);
	return r;
}

int changes_remove(struct changes *c, struct ak_err *err)
{
	return changeset_remove(c->sessions, &c->cs, err);
}

int changes_discard(struct changes *c, struct ak_err *err)
{
	int r = changes_remove(c, err);

	if (r == 0)
		agent_session_discarded(c->sessions, &c->cs.meta);
	return r;
}

void changes_release(struct changes *c)
{
	journal_release(&c->j);
	changeset_close(&c->cs);
	ak_fd_close(&c->lower);
	ak_fd_close(&c->sessions);
	hostinfo_release(&c->host);
}
