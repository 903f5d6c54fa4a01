/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cgroups of a serving executor's sandboxes. Process: executor, rootless or with --identity root. Privilege: to write in the place.
 *
 *	place ── ak-PID-RANDOM	one sandbox: its limits, no process
 *		  ├─ init	ak-init, keepers, file workers
 *		  └─ cN		one command and all it starts; dies as one when memory runs out (memory.oom.group)
 *
 * A group that passes controllers down may hold no process, and init's cgroup namespace must be rooted in the sandbox's group, so
 * that its keepers may start commands beside it (cgroups(7), "nsdelegate"). So init is born in that group and makes its namespace
 * there; then it is moved, the one time, and only then controllers are passed down. Commands are born in their leaves. Leaves are
 * made ahead, LEAVES_AHEAD more than commands run; init gives those back to itself that were not used, so each counts once.
 * A sandbox for one command (the pool) has a plain group, as `ak exec` has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/cgroup_file.h"
#include "executor/ns/cgroup_place.h"
#include "executor/serve_int.h"
#include "executor/shared/ak_fd.h"

#define LEAVES_AHEAD (AK_INIT_SPARES + 1u)
#define LEAF_SLOTS AK_INIT_LEAVES_MAX	/* init never has to hold more, whatever becomes of the commands */
#define INIT_LEAF "init"

struct leaf {
	uint32_t id;	/* 0: free */
	struct cgroup g;
};

static uint64_t or_unlimited(uint64_t v)
{
	return v == POLICY_NONE ? 0 : v;
}

/* helpers of ours are processes and memory of the group, too; RLIMIT_NPROC holds the exact number where it can */
int box_group_make(struct server *s, struct box *b, struct ak_err *err)
{
	const struct policy *p = &b->pol;
	const struct cgroup_limits l = {
		.memory_bytes = or_unlimited(p->memory_bytes),
		.pids = p->pids == POLICY_NONE ? 0 : p->pids + AK_INIT_HELPERS(AK_INIT_COMMANDS_MAX),
		.cpu_milli = or_unlimited(p->cpu_milli),
	};
	bool alone = p->plan.once;
	int r;

	b->pol.plan.leaves = false;
	if (s->o->cgroup_dir < 0)
		return 0;
	r = cgroup_make(s->o->cgroup_dir, s->o->cgroup_have, &l, &b->group, err);
	if (r < 0 || alone || !(b->group.have & CGROUP_MEMORY))
		return r;
	b->leaf = calloc(LEAF_SLOTS, sizeof(*b->leaf));
	if (!b->leaf)
		return ak_err_set(err, ENOMEM, "not enough memory for a sandbox");
	for (size_t i = 0; i < LEAF_SLOTS; i++)
		b->leaf[i].g = (struct cgroup)CGROUP_NONE;
	/* one command dies of its own, not the sandbox */
	r = cgroup_write_u64(b->group.dir, "memory.oom.group", 0);
	if (r < 0 && r != -ENOENT)
		return ak_err_sys(err, -r, "set memory.oom.group of the sandbox's cgroup");
	b->pol.plan.leaves = true;
	return 0;
}

static int make_below(const struct box *b, const char *name, struct cgroup *ret)
{
	struct cgroup g = CGROUP_NONE;

	if (mkdirat(b->group.dir, name, 0755) < 0)
		return -errno;
	g.dir = openat(b->group.dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (g.dir < 0) {
		int r = -errno;

		(void)unlinkat(b->group.dir, name, AT_REMOVEDIR);
		return r;
	}
	g.parent = b->group.dir;
	(void)snprintf(g.name, sizeof(g.name), "%s", name);
	*ret = g;
	return 0;
}

/* Return: whether it is gone */
static bool remove_below(struct cgroup *g)
{
	bool gone = unlinkat(g->parent, g->name, AT_REMOVEDIR) == 0 || errno == ENOENT;

	if (gone)
		cgroup_close(g);
	return gone;
}

/* ---- leaves ---- */

static int leaf_make(struct box *b, struct leaf *leaf)
{
	char name[16];
	int r;

	if (++b->leaf_seq == 0)
		b->leaf_seq = 1;
	(void)snprintf(name, sizeof(name), "c%u", b->leaf_seq);
	r = make_below(b, name, &leaf->g);
	if (r < 0)
		return r;
	leaf->id = b->leaf_seq;
	leaf->g.have = b->leaf_have;
	r = cgroup_write_u64(leaf->g.dir, "memory.oom.group", 1);
	return r == -ENOENT ? 0 : r;	/* before 5.0: processes die one by one */
}

static int leaf_send(struct server *s, struct box *b)
{
	struct leaf *leaf = NULL;
	struct init_req q = { .type = INIT_REQ_LEAF };
	int fd, r;

	for (size_t i = 0; i < LEAF_SLOTS && !leaf; i++)
		if (!b->leaf[i].id && b->leaf[i].g.dir < 0)
			leaf = &b->leaf[i];
	if (!leaf)
		return -ENOSPC;
	r = leaf_make(b, leaf);
	if (r < 0)
		return r;
	q.id = leaf->id;
	fd = fcntl(leaf->g.dir, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	b->leaves++;
	return ctl_send(s, b, &q, &fd, 1);
}

void leaves_top_up(struct server *s, struct box *b)
{
	int r = 0;

	if (!b->leaf || !b->leaf_have || b->state == BOX_ENDING)
		return;
	for (size_t i = 0; i < LEAF_SLOTS; i++)
		if (!b->leaf[i].id && b->leaf[i].g.dir >= 0)
			(void)remove_below(&b->leaf[i].g);	/* something hangs in it: tried again */
	while (r == 0 && b->leaves < b->running + LEAVES_AHEAD)
		r = leaf_send(s, b);
	if (r < 0 && r != -ENOSPC)
		box_end(s, b, -r, "no cgroup can be made for a command: %s", strerror(-r));
}

/* init is alone in its group and has made its namespace there */
void leaves_begin(struct server *s, struct box *b)
{
	struct ak_err err = { 0 };
	char pid[16];
	int r;

	if (!b->leaf || b->leaf_have || b->state != BOX_STARTING) {
		box_end(s, b, EBADMSG, "the sandbox sent a message out of turn");
		return;
	}
	(void)snprintf(pid, sizeof(pid), "%d", (int)b->sb.pid);	/* it is our child and not waited for: the number is its own */
	r = make_below(b, INIT_LEAF, &b->init_leaf);
	if (r == 0)
		r = cgroup_write(b->init_leaf.dir, "cgroup.procs", pid);
	if (r < 0) {
		box_end(s, b, -r, "ak-init cannot be moved to its cgroup: %s", strerror(-r));
		return;
	}
	b->leaf_have = cgroup_pass_down(b->group.dir, b->group.have & (CGROUP_MEMORY | CGROUP_PIDS), &err);
	if (b->leaf_have & CGROUP_MEMORY)
		leaves_top_up(s, b);
	else
		box_end(s, b, err.code, "%s", err.msg);
}

/* ---- what was used ---- */

/* the kernel killed for want of memory, and the command's own end was that */
static void out_of_memory(struct cmd *c, const struct cgroup_usage *u, int wstatus)
{
	if (u->oom_kills > 0 && c->cause == CAUSE_NONE && WIFSIGNALED(wstatus) && WTERMSIG(wstatus) == SIGKILL)
		c->cause = CAUSE_MEMORY;
}

static void fill_usage(struct cmd *c, const struct cgroup_usage *u)
{
	if (u->cpu) {
		c->r.user_us = u->cpu_user_us;
		c->r.system_us = u->cpu_system_us;
	}
	if (u->memory)
		c->r.memory_peak_bytes = u->memory_peak_bytes;
	if (u->pids)
		c->watch.pids_peak = (uint32_t)u->pids_peak;
}

void leaf_ended(struct box *b, struct cmd *c, uint32_t id, int wstatus)
{
	struct cgroup_usage u;

	for (size_t i = 0; b->leaf && id && i < LEAF_SLOTS; i++) {
		struct leaf *leaf = &b->leaf[i];

		if (leaf->id != id)
			continue;
		cgroup_usage(&leaf->g, &u);
		out_of_memory(c, &u, wstatus);
		fill_usage(c, &u);
		leaf->id = 0;	/* removed when the answer has gone out */
		b->leaves--;
		return;
	}
}

void box_out_of_memory(struct box *b, struct cmd *c)
{
	struct cgroup_usage u;

	cgroup_usage(&b->group, &u);
	out_of_memory(c, &u, SIGKILL);
}

void box_group_remove(struct box *b)
{
	for (size_t i = 0; b->leaf && i < LEAF_SLOTS; i++)
		if (b->leaf[i].g.dir >= 0 && !remove_below(&b->leaf[i].g))
			cgroup_close(&b->leaf[i].g);
	if (b->init_leaf.dir >= 0 && !remove_below(&b->init_leaf))
		cgroup_close(&b->init_leaf);
	free(b->leaf);
	b->leaf = NULL;
	(void)cgroup_remove(&b->group);	/* what is left the next run removes */
}
