/* SPDX-License-Identifier: Apache-2.0 */
/* The changeset of one cow run. Process and privilege: see cow.h. */
#include "executor/cow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/cow_scribe.h"
#include "executor/hostinfo.h"
#include "executor/ns/kabi.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/changeset_again.h"
#include "executor/workspace/owner.h"
#include "executor/workspace/scan.h"
#include "executor/workspace/state.h"

void cow_init(struct cow *c)
{
	c->cs.dir = c->cs.lock = c->cs.upper = -1;
	c->sessions = c->lower = c->go = c->alarm = c->out = -1;
}

/* the words of the command, for `ak sessions` */
static void command_text(const struct exec_opts *o, char ret[static CHANGESET_COMMAND_MAX + 1])
{
	size_t len = 0;

	ret[0] = '\0';
	if (!o->argc)
		(void)snprintf(ret, CHANGESET_COMMAND_MAX + 1, "ak %s%s", o->name ? "create " : "serve", o->name ? o->name : "");
	for (int i = 0; i < o->argc && len < CHANGESET_COMMAND_MAX; i++)
		len += (size_t)snprintf(ret + len, CHANGESET_COMMAND_MAX + 1 - len, "%s%s", i ? " " : "", o->argv[i]);
}

static int find_workspace(struct cow *c, const struct plan *p, struct changeset_meta *m, struct ws_ident *top, struct ak_err *err)
{
	int r;

	if (strlen(p->workspace) > WS_PATH_MAX)
		return ak_err_set(err, ENAMETOOLONG, "workspace \"%.100s...\"", p->workspace);
	c->lower = open(p->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = c->lower < 0 ? -errno : ws_fstat(c->lower, top);
	if (r < 0)
		return ak_err_sys(err, -r, "open the workspace \"%s\"", p->workspace);
	(void)snprintf(m->workspace, sizeof(m->workspace), "%s", p->workspace);
	m->dev = top->dev;
	m->ino = top->ino;
	m->uid = c->range ? top->uid : geteuid();
	m->gid = c->range ? top->gid : getegid();
	m->start_ns = scan_now();
	return 0;
}

/* of the same folder, and the same owner: then nothing but time has passed */
static int open_again(struct cow *c, const char *id, const struct changeset_meta *m, struct ak_err *err)
{
	int r = changeset_open(c->sessions, id, CHANGESET_WAIT, &c->cs, err);

	if (r < 0) {
		changeset_close(&c->cs);
		return r;
	}
	if (strcmp(c->cs.meta.workspace, m->workspace) != 0 || c->cs.meta.ino != m->ino || c->cs.meta.uid != m->uid || c->cs.meta.gid != m->gid)
		r = ak_err_set(err, ESTALE, "the changes %s were made in another folder than %s is now", id, m->workspace);
	if (r == 0)
		r = changeset_again(&c->cs, err);
	if (r < 0)
		changeset_close(&c->cs);
	return r;
}

static int make_changeset(struct cow *c, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, const char *command,
			  const char *again, struct ak_err *err)
{
	struct changeset_meta m AK_UNINIT;
	struct ws_ident top;
	char *shown = NULL;
	int r;

	memset(&m, 0, sizeof(m));
	r = find_workspace(c, p, &m, &top, err);
	if (r < 0)
		return r;
	if (command)
		(void)snprintf(m.command, sizeof(m.command), "%s", command);
	else
		command_text(o, m.command);
	c->sessions = state_open(h, "sessions", true, err);
	if (c->sessions < 0)
		return c->sessions;
	r = state_check_fs(c->sessions, h->state_dir, err);
	if (r < 0)
		return r;
	changeset_sweep(c->sessions);
	/* a run that was killed before it changed anything has left nothing: that is swept up, and the next one begins anew */
	if (again && faccessat(c->sessions, again, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		again = NULL;
	r = again ? open_again(c, again, &m, err) : changeset_create(c->sessions, &m, &top, &c->cs, err);
	if (r < 0)
		return r;
	c->on = true;
	if (asprintf(&shown, "%s/sessions/%s/layer", h->state_dir, c->cs.id) < 0)
		return ak_err_set(err, ENOMEM, "not enough memory");
	p->cow_layer = shown;
	return 0;
}

static int share(struct cow *c, struct ak_err *err)
{
	void *p = mmap(NULL, sizeof(*c->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return ak_err_sys(err, errno, "mmap");
	c->shared = p;
	c->out = memfd_create("ak-changes", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (c->out < 0 && errno == EINVAL)
		c->out = memfd_create("ak-changes", MFD_CLOEXEC);
	return c->out < 0 ? ak_err_sys(err, errno, "memfd_create") : 0;
}

static int start_scribe(struct cow *c, struct ak_err *err)
{
	int go[2], alarm[2];
	int r = c->shared ? 0 : share(c, err);

	if (r < 0)
		return r;
	if (pipe2(go, O_CLOEXEC) < 0)
		return ak_err_sys(err, errno, "pipe");
	c->go = go[1];
	if (pipe2(alarm, O_CLOEXEC) < 0) {
		(void)close(go[0]);
		return ak_err_sys(err, errno, "pipe");
	}
	c->alarm = alarm[0];
	c->scribe = fork();
	if (c->scribe == 0)
		scribe_main(c, go[0], alarm[1]);
	r = c->scribe < 0 ? -errno : 0;
	(void)close(go[0]);
	(void)close(alarm[1]);
	if (r < 0)
		c->scribe = 0;
	return r < 0 ? ak_err_sys(err, -r, "fork") : 0;
}

int cow_make(struct cow *c, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, const char *command, const char *again,
	     struct ak_err *err)
{
	c->range = p->identity == PLAN_ID_RANGE;
	c->disk_bytes = p->cow_disk_bytes;
	c->allow = o->allow_protected;
	return make_changeset(c, o, h, p, command, again, err);
}

int cow_begin(struct cow *c, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, struct ak_err *err)
{
	int r;

	if (o->write != WRITE_COW)
		return 0;
	r = cow_make(c, o, h, p, NULL, NULL, err);
	return r == 0 && (c->range || c->disk_bytes) ? start_scribe(c, err) : r;
}

/* Return: 0, or why there is no answer */
static int ask_scribe(struct cow *c, char order, struct ak_err *err)
{
	int status;
	ssize_t n = write(c->go, &order, 1);

	ak_fd_close(&c->go);
	status = owner_wait(c->scribe);
	c->scribe = 0;
	if (n != 1 || status != 0)
		return ak_err_set(err, ECHILD, "the process that reads the changes ended too early (status %d)", status);
	return 0;
}

static int take_changes(struct cow *c, struct ak_err *err)
{
	struct stat st;
	void *p;
	int r;

	if (c->shared->scan.code) {
		*err = c->shared->scan;
		return -err->code;
	}
	if (fstat(c->out, &st) < 0 || st.st_size <= 0)
		return ak_err_set(err, EIO, "the list of changes is missing");
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, c->out, 0);
	if (p == MAP_FAILED)
		return ak_err_sys(err, errno, "mmap");
	r = journal_decode(p, (size_t)st.st_size, &c->changes);
	(void)munmap(p, (size_t)st.st_size);
	return r < 0 ? ak_err_sys(err, -r, "read the list of changes") : 0;
}

int cow_end(struct cow *c, bool apply, struct ak_err *err, struct ak_err *warn)
{
	int r;

	if (!c->on)
		return 0;
	c->kept = true;
	if (!c->range && !c->scribe && changeset_empty(&c->cs)) {
		c->known = true;
		c->kept = changeset_remove(c->sessions, &c->cs, warn) < 0;
		return 0;
	}
	r = c->scribe ? 0 : start_scribe(c, warn);
	if (r == 0)
		r = ask_scribe(c, apply ? SCRIBE_APPLY : SCRIBE_SCAN, warn);
	if (r == 0)
		r = take_changes(c, warn);
	c->known = r == 0;
	c->applied = c->shared && c->shared->applied;
	c->dropped = c->shared ? c->shared->dropped : 0;
	c->kept = !c->shared || !c->shared->removed;
	if (!apply || c->applied || (c->known && !c->kept))
		return 0;
	*err = c->shared && c->shared->apply.code ? c->shared->apply : *warn;
	*warn = (struct ak_err){ 0 };
	return err->code ? -err->code : ak_err_set(err, EIO, "the changes could not be taken over");
}

void cow_release(struct cow *c)
{
	ak_fd_close(&c->go);	/* end of file: the scribe ends */
	if (c->scribe > 0)
		(void)owner_wait(c->scribe);
	if (c->on && !c->kept && !c->known && changeset_empty(&c->cs))
		(void)changeset_remove(c->sessions, &c->cs, NULL);
	if (c->shared)
		(void)munmap(c->shared, sizeof(*c->shared));
	c->shared = NULL;
	journal_release(&c->changes);
	changeset_close(&c->cs);
	ak_fd_close(&c->alarm);
	ak_fd_close(&c->out);
	ak_fd_close(&c->lower);
	ak_fd_close(&c->sessions);
	c->on = false;
}
