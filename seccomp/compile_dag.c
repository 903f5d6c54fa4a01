/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the program that libseccomp wrote apart: for every number it is run with the arguments unknown, which
 * leaves an answer, or a few questions about the arguments. Equal results are one node, so that neighbours
 * become ranges. The library alone decides what a filter means; this only finds out what it said. Loading
 * gets faster in proportion to the instructions saved, since the kernel translates each filter anew. Process:
 * the build. Privilege: none.
 */
#include "seccomp/compile.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>

#define OFF_NR ((uint32_t)offsetof(struct seccomp_data, nr))
#define OFF_ARCH ((uint32_t)offsetof(struct seccomp_data, arch))
#define OFF_ARGS ((uint32_t)offsetof(struct seccomp_data, args))
#define X32_BIT 0x40000000u

/* The accumulator: a value, or a word of the arguments under a mask. */
struct acc {
	bool known;
	uint32_t value;
	uint32_t off, mask;
};

struct run {
	struct dag *d;
	const struct prog *p;
	uint32_t nr, arch;
	int memo[COMPILE_INSNS_MAX]; /* at loads, where the accumulator does not matter: node + 1 */
};

static int eval(struct run *r, uint32_t pc, struct acc a);

static int node_get(struct dag *d, struct node n)
{
	for (int i = 0; i < d->n_nodes; i++) {
		const struct node *o = &d->nodes[i];

		if (o->kind == n.kind && o->off == n.off && o->mask == n.mask && o->k == n.k &&
		    o->yes == n.yes && o->no == n.no)
			return i;
	}
	if (d->n_nodes == DAG_NODES_MAX)
		return -E2BIG;
	d->nodes[d->n_nodes] = n;
	return d->n_nodes++;
}

static int node_ret(struct dag *d, uint32_t answer)
{
	return node_get(d, (struct node){.kind = NODE_RET, .k = answer});
}

static int node_test(struct dag *d, struct node n);

/* The same node where some bits of one word are known: questions about them are answered. */
static int assume(struct dag *d, int node, uint32_t off, uint32_t mask, uint32_t value)
{
	struct node n;

	if (node < 0 || d->nodes[node].kind == NODE_RET)
		return node;
	n = d->nodes[node];
	n.yes = assume(d, n.yes, off, mask, value);
	n.no = assume(d, n.no, off, mask, value);
	if (n.off != off)
		return node_test(d, n);
	if (n.kind == NODE_EQ) {
		if ((n.k ^ value) & n.mask & mask)
			return n.no;
		return n.mask & ~mask ? node_test(d, n) : n.yes;
	}
	if (value & mask & n.mask)
		return n.yes;
	n.mask &= ~mask;
	return n.mask ? node_test(d, n) : n.no;
}

/* "Any of these bits, else any of those, same answer" is one question. */
static int node_set(struct dag *d, struct node n)
{
	const struct node *next;

	n.no = assume(d, n.no, n.off, n.mask, 0);
	if (!(n.mask & (n.mask - 1)))
		n.yes = assume(d, n.yes, n.off, n.mask, n.mask);
	if (n.yes < 0 || n.no < 0 || n.yes == n.no)
		return n.yes < 0 ? n.yes : n.no;
	next = &d->nodes[n.no];
	if (next->kind == NODE_SET && next->off == n.off && next->yes == n.yes) {
		n.mask |= next->mask;
		n.no = next->no;
	}
	return node_get(d, n);
}

/* A question, simplified; one whose answers are the same is none. */
static int node_test(struct dag *d, struct node n)
{
	if (n.yes < 0 || n.no < 0)
		return n.yes < 0 ? n.yes : n.no;
	if (n.kind == NODE_SET)
		return node_set(d, n);
	if (n.k & ~n.mask)
		return n.no;
	if (!n.k && n.mask != WORD_ALL)
		return node_set(d, (struct node){NODE_SET, n.off, n.mask, 0, n.no, n.yes});
	if (n.k == n.mask && !(n.mask & (n.mask - 1)))
		return node_set(d, (struct node){NODE_SET, n.off, n.mask, 0, n.yes, n.no});
	n.yes = assume(d, n.yes, n.off, n.mask, n.k);
	if (n.yes < 0 || n.yes == n.no)
		return n.yes;
	return node_get(d, n);
}

static int node_eq(struct dag *d, uint32_t off, uint32_t mask, uint32_t k, int yes, int no)
{
	return node_test(d, (struct node){NODE_EQ, off, mask, k, yes, no});
}

static int eval_jump(struct run *r, uint32_t pc, struct acc a)
{
	const struct sock_filter *s = &r->p->insns[pc];
	uint32_t yes = pc + 1 + s->jt, no = pc + 1 + s->jf;
	bool taken;

	if (BPF_OP(s->code) == BPF_JA)
		return eval(r, pc + 1 + s->k, a);
	if (!a.known) {
		if (BPF_OP(s->code) != BPF_JEQ)
			return -EINVAL; /* rules with an order are not used */
		return node_eq(r->d, a.off, a.mask, s->k, eval(r, yes, a), eval(r, no, a));
	}
	switch (BPF_OP(s->code)) {
	case BPF_JEQ:
		taken = a.value == s->k;
		break;
	case BPF_JGE:
		taken = a.value >= s->k;
		break;
	case BPF_JGT:
		taken = a.value > s->k;
		break;
	default:
		return -EINVAL;
	}
	return eval(r, taken ? yes : no, a);
}

static int eval_load(struct run *r, uint32_t pc)
{
	uint32_t off = r->p->insns[pc].k;
	struct acc a = {.off = off, .mask = WORD_ALL};
	int node;

	if (r->memo[pc])
		return r->memo[pc] - 1;
	if (off == OFF_NR || off == OFF_ARCH) {
		a.known = true;
		a.value = off == OFF_NR ? r->nr : r->arch;
	} else if (off < OFF_ARGS || off % sizeof(uint32_t) || off >= sizeof(struct seccomp_data)) {
		return -EINVAL;
	}
	node = eval(r, pc + 1, a);
	if (node >= 0)
		r->memo[pc] = node + 1;
	return node;
}

/* Every jump goes forward, so this ends. */
static int eval(struct run *r, uint32_t pc, struct acc a)
{
	const struct sock_filter *s;

	if (pc >= r->p->count)
		return -EINVAL;
	s = &r->p->insns[pc];
	if (s->code == (BPF_RET | BPF_K))
		return node_ret(r->d, s->k);
	if (s->code == (BPF_LD | BPF_W | BPF_ABS))
		return eval_load(r, pc);
	if (BPF_CLASS(s->code) == BPF_JMP)
		return eval_jump(r, pc, a);
	if (s->code != (BPF_ALU | BPF_AND | BPF_K))
		return -EINVAL;
	a.mask &= s->k;
	if (a.known) {
		a.value &= s->k;
	} else if (!a.mask) {
		a.known = true;
		a.value = 0;
	}
	return eval(r, pc + 1, a);
}

/* The rules kept beside the library, the last one added first, on top of what the library says. */
static int add_extras(struct dag *d, const struct builder *b, uint32_t nr, int root)
{
	for (unsigned int i = b->extras; i-- > 0 && root >= 0;) {
		const struct extra *e = &b->extra[i];
		int node;

		if (e->nr != nr)
			continue;
		node = node_ret(d, e->action);
		for (unsigned int k = e->argc; k-- > 0 && node >= 0;) {
			const struct scmp_arg_cmp *c = &e->args[k];
			uint32_t off =
				OFF_ARGS + c->arg * (uint32_t)sizeof(uint64_t); /* low half: little endian */

			if (c->op == SCMP_CMP_NE)
				node = node_eq(d, off, WORD_ALL, (uint32_t)c->datum_a, root, node);
			else
				node = node_eq(d, off, (uint32_t)c->datum_a, (uint32_t)c->datum_b, node,
					       root);
		}
		root = node;
	}
	return root;
}

static int u32_cmp(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Numbers at which the answer can change: at and just after everything that is compared with. */
static size_t breakpoints(const struct builder *b, const struct prog *lib, uint32_t *ret)
{
	size_t n = 0;

	ret[n++] = 0;
	for (uint32_t i = 0; i < lib->count; i++) {
		if (BPF_CLASS(lib->insns[i].code) != BPF_JMP)
			continue;
		ret[n++] = lib->insns[i].k;
		ret[n++] = lib->insns[i].k + 1;
	}
	for (unsigned int i = 0; i < b->extras; i++) {
		ret[n++] = b->extra[i].nr;
		ret[n++] = b->extra[i].nr + 1;
	}
	qsort(ret, n, sizeof(ret[0]), u32_cmp);
	return n;
}

static int eval_number(struct run *r, uint32_t arch, uint32_t nr)
{
	r->arch = arch;
	r->nr = nr;
	for (uint32_t i = 0; i < r->p->count; i++)
		r->memo[i] = 0;
	return eval(r, 0, (struct acc){.known = true});
}

static int add_segments(struct run *r, const struct builder *b, const uint32_t *points, size_t n)
{
	struct dag *d = r->d;

	for (size_t i = 0; i < n; i++) {
		int root;

		if (i && points[i] == points[i - 1])
			continue;
		root = add_extras(d, b, points[i], eval_number(r, b->target->scmp, points[i]));
		if (root < 0)
			return root;
		if (d->n_segments && d->segments[d->n_segments - 1].root == root)
			continue;
		if (d->n_segments == DAG_SEGMENTS_MAX)
			return -E2BIG;
		d->segments[d->n_segments++] = (struct segment){points[i], root};
	}
	return 0;
}

/* the new range [from, X32_BIT) in place of what began there, with what follows it kept */
static int stub_x32(struct dag *d, size_t n, uint32_t from, int enosys, int after)
{
	struct segment tail[8];
	size_t kept = 0;

	for (size_t i = n; i < d->n_segments; i++) {
		if (d->segments[i].first <= X32_BIT)
			continue;
		if (kept == sizeof(tail) / sizeof(tail[0]))
			return -E2BIG;
		tail[kept++] = d->segments[i];
	}
	d->segments[n++] = (struct segment){from, enosys};
	d->segments[n++] = (struct segment){X32_BIT, after};
	for (size_t i = 0; i < kept; i++)
		d->segments[n++] = tail[i];
	d->n_segments = n;
	return 0;
}

/* From a number on, and below those of x32, every answer becomes "does not exist" */
static int stub(struct dag *d, const struct builder *b)
{
	uint32_t end = b->target->scmp == SCMP_ARCH_X86_64 ? X32_BIT : UINT32_MAX;
	int enosys = node_ret(d, SCMP_ACT_ERRNO(ENOSYS));
	int after = -1;
	size_t n = 0;

	if (enosys < 0 || d->n_segments + 2 > DAG_SEGMENTS_MAX)
		return enosys < 0 ? enosys : -E2BIG;
	for (size_t i = 0; i < d->n_segments && d->segments[i].first <= end; i++)
		after = d->segments[i].root;
	while (n < d->n_segments && d->segments[n].first < b->stub_from)
		n++;
	if (end == UINT32_MAX) {
		d->segments[n] = (struct segment){b->stub_from, enosys};
		d->n_segments = n + 1;
		return 0;
	}
	return stub_x32(d, n, b->stub_from, enosys, after);
}

int dag_build(struct dag *d, struct builder *b, const struct prog *lib)
{
	uint32_t *points = calloc(2 * (COMPILE_INSNS_MAX + COMPILE_EXTRA_MAX) + 1, sizeof(*points));
	struct run *r = calloc(1, sizeof(*r));
	int rc = -ENOMEM;

	if (!points || !r)
		goto out;
	r->d = d;
	r->p = lib;
	rc = eval_number(r, 0, 0);
	if (rc < 0)
		goto out;
	d->other_arch = rc;
	rc = d->nodes[rc].kind == NODE_RET && d->nodes[rc].k == SCMP_ACT_KILL_PROCESS
		     ? add_segments(r, b, points, breakpoints(b, lib, points))
		     : -EINVAL;
	if (!rc && b->stub_from)
		rc = stub(d, b);
out:
	free(r);
	free(points);
	return rc;
}
