/* SPDX-License-Identifier: Apache-2.0 */
/* `ak checkpoint list|restore` on a session of the agent. Process and privilege: see checkpoint_session.h. */
#include "executor/checkpoint_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/agent_session.h"
#include "executor/changes.h"
#include "executor/cmd_checkpoint.h"
#include "executor/cmd_sessions_agent.h"
#include "executor/named.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_parse.h"
#include "executor/workspace/changeset_again.h"
#include "executor/workspace/owner.h"
#include "executor/workspace/points.h"

#define NS 1000000000

/* one restore, for the child that does it */
struct back {
	struct changes *c;
	const struct checkpoint_args *a;
	uint32_t number;
};

static void put_json(struct ak_json *j, uint32_t number, int64_t made_ns, const struct ak_session_point *p)
{
	ak_json_obj(j, NULL);
	ak_json_u64(j, "id", number);
	ak_json_milli(j, "created", (uint64_t)made_ns / 1000000);
	if (p) {
		ak_json_u64(j, "run", p->run);
		ak_json_u64(j, "turn", p->turn);
	} else {
		ak_json_null(j, "run");
		ak_json_null(j, "turn");
	}
	ak_json_obj_end(j);
}

static void put_row(struct ak_buf *out, uint32_t number, int64_t made_ns, const struct ak_session_point *p)
{
	ak_buf_printf(out, "%-5u ", number);
	sessions_put_when(out, made_ns);
	if (p)
		ak_buf_printf(out, "  run %u, before turn %llu\n", p->run, (unsigned long long)p->turn);
	else
		ak_buf_str(out, "  before a rollback or a restore\n");
}

/* those that are there, in their order; a folder's change time is when it got its name */
static void put_all(const struct points *p, const struct agent_session_points *known, struct ak_json *j, struct ak_buf *out)
{
	for (uint32_t n = p->first; p->first && n <= p->last; n++) {
		const struct ak_session_point *of = agent_session_point(known, n);
		char name[16];
		struct stat st;

		(void)snprintf(name, sizeof(name), "%u", n);
		if (fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (j)
			put_json(j, n, st.st_ctim.tv_sec * (int64_t)NS + st.st_ctim.tv_nsec, of);
		else
			put_row(out, n, st.st_ctim.tv_sec * (int64_t)NS + st.st_ctim.tv_nsec, of);
	}
}

static int list(struct changes *c, const struct checkpoint_args *a, struct ak_err *err)
{
	struct agent_session_points known = { 0 };
	struct points p = POINTS_NONE;
	struct ak_buf b = { 0 };
	struct ak_json j;
	int r = points_open(&p, &c->cs, err);

	if (r < 0)
		return named_fail(err);
	agent_session_points(c->sessions, a->word[0], &known);
	ak_json_init(&j, &b);
	if (a->json) {
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "schema", "ak-session-checkpoints/1");
		ak_json_str(&j, "session", a->word[0]);
		ak_json_str(&j, "changeset", c->cs.id);
		ak_json_arr(&j, "checkpoints");
	} else if (p.first) {
		ak_buf_str(&b, "ID    CREATED\n");
	}
	put_all(&p, &known, a->json ? &j : NULL, &b);
	if (a->json) {
		ak_json_arr_end(&j);
		ak_json_obj_end(&j);
		ak_buf_str(&b, "\n");
	}
	ak_fd_close(&p.dir);
	free(known.v);
	r = b.failed ? 1 : named_print(b.data ? b.data : "", b.len);
	ak_buf_release(&b);
	return r;
}

/* only what concerns a session */
static int check_args(const struct checkpoint_args *a, size_t words, struct ak_err *err)
{
	if (a->dir || a->live)
		return ak_err_set(err, EINVAL, "checkpoint: %s is about a workspace, and %s is a session", a->dir ? "-C" : "--live", a->word[0]);
	if (a->nwords > words)
		return ak_err_set(err, EINVAL, "checkpoint: one word too many: %.80s (a session goes back as a whole)", a->word[words]);
	return 0;
}

static int begin(struct changes *c, const struct checkpoint_args *a, char *const env[], struct ak_err *err)
{
	int r = changes_begin(c, env, err);

	return r == 0 || r == -ENOENT ? changes_find(c, a->word[0], err) : r;
}

int checkpoint_session_list(const struct checkpoint_args *a, char *const env[])
{
	struct changes c = CHANGES_NONE;
	struct ak_err err = { 0 };
	int r;

	if (check_args(a, 1, &err) < 0)
		return named_usage(&err);
	r = begin(&c, a, env, &err);
	r = r < 0 ? named_fail(&err) : list(&c, a, &err);
	changes_release(&c);
	return r;
}

static void say_done(const struct back *b, uint32_t before)
{
	struct ak_buf out = { 0 };
	struct ak_json j;

	if (!b->a->json) {
		if (!b->a->quiet)
			changes_say("the changes of %s are what they were at checkpoint %u; what they were until now is checkpoint %u", b->a->word[0],
				    b->number, before);
		return;
	}
	ak_json_init(&j, &out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "schema", "ak-session-restore/1");
	ak_json_str(&j, "session", b->a->word[0]);
	ak_json_u64(&j, "restored", b->number);
	ak_json_u64(&j, "before", before);
	ak_json_obj_end(&j);
	ak_buf_str(&out, "\n");
	if (!out.failed)
		(void)named_print(out.data, out.len);
	ak_buf_release(&out);
}

/* in the child that is the owner */
static int go_back(void *arg)
{
	struct back *b = arg;
	struct changeset *cs = &b->c->cs;
	struct points p = POINTS_NONE;
	struct ak_err err = { 0 };
	uint64_t entries;
	int r = points_open(&p, cs, &err);

	/* what is there first becomes a checkpoint too: going back is never the last word */
	if (r == 0 && (b->number < p.first || b->number > p.last || !p.first))
		r = ak_err_set(&err, ENOENT, "%s has no checkpoint %u", b->a->word[0], b->number);
	if (r == 0)
		r = points_save(&p, cs, 0, &entries, &err);
	if (r == 0)
		r = changeset_again(cs, &err);
	if (r == 0)
		r = points_restore(&p, cs, b->number, &err);
	if (r < 0)
		return named_fail(&err);
	say_done(b, p.last);
	return 0;
}

/*
 * The journal says that the changeset is wanted, also when nothing is changed now: one that has none and is empty is swept up. The
 * layer has changed places behind our back.
 */
static int make_journal(struct changes *c, struct ak_err *err)
{
	int upper = openat(c->cs.dir, "layer/upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	/* as changeset_open() does: its mode is the workspace's, which may be closed to its owner */
	if (upper < 0 && errno == EACCES)
		upper = openat(c->cs.dir, "layer/upper", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper < 0)
		return ak_err_sys(err, errno, "open the layer of changeset %s", c->cs.id);
	ak_fd_close(&c->cs.upper);
	c->cs.upper = upper;
	return changes_read(c, err);
}

int checkpoint_session_restore(const struct checkpoint_args *a, char *const env[])
{
	struct changes c = CHANGES_NONE;
	struct back b = { .c = &c, .a = a };
	struct ak_err err = { 0 };
	uint64_t number = 0;
	pid_t pid = -1;
	int r = check_args(a, 2, &err);

	if (r == 0 && a->nwords < 2)
		r = ak_err_set(&err, EINVAL, "checkpoint: the number of a checkpoint is missing (ak checkpoint list %s)", a->word[0]);
	if (r == 0 && ak_parse_u64(a->word[1], 1, UINT32_MAX, &number) < 0)
		r = ak_err_set(&err, EINVAL, "checkpoint: \"%.60s\" is no number of a checkpoint", a->word[1]);
	if (r < 0)
		return named_usage(&err);
	b.number = (uint32_t)number;
	r = begin(&c, a, env, &err);
	if (r == 0)
		pid = owner_fork(c.cs.meta.uid, c.cs.meta.gid, go_back, &b, &err);
	if (r < 0 || pid < 0)
		r = named_fail(&err);
	else if (owner_wait(pid) != 0)
		r = 1;
	else
		r = make_journal(&c, &err) < 0 ? named_fail(&err) : 0;
	changes_release(&c);
	return r;
}
