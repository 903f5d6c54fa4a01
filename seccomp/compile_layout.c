/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a filter from what it answers. The program is written from its end to its start: jumps only go
 * forward, so the place they lead to always exists already. Process: the build. Privilege: none.
 */
#include "seccomp/compile.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>

#define NONE UINT32_MAX
#define REACH 250 /* a conditional jump reaches 255; some are kept for what may come between */
#define OFF_NR ((uint32_t)offsetof(struct seccomp_data, nr))
#define OFF_ARCH ((uint32_t)offsetof(struct seccomp_data, arch))

struct writer {
	const struct dag *d;
	struct sock_filter rev[COMPILE_INSNS_MAX]; /* last instruction first */
	uint32_t n;
	bool full;
	uint32_t at[2][DAG_NODES_MAX]; /* place of a node; [1]: with its word in the accumulator already */
};

static uint32_t put(struct writer *w, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	if (w->n == COMPILE_INSNS_MAX) {
		w->full = true;
		return 0;
	}
	w->rev[w->n] = (struct sock_filter)BPF_JUMP(code, k, jt, jf);
	return w->n++;
}

/* A place that a conditional jump written next can reach and that does the same as the given one. */
static uint32_t near(struct writer *w, uint32_t place)
{
	if (w->n - place <= REACH)
		return place;
	if (w->rev[place].code == (BPF_RET | BPF_K))
		return put(w, BPF_RET | BPF_K, 0, 0, w->rev[place].k);
	return put(w, BPF_JMP | BPF_JA, 0, 0, w->n - place - 1);
}

static uint32_t put_jump(struct writer *w, uint16_t op, uint32_t k, uint32_t yes, uint32_t no)
{
	yes = near(w, yes);
	no = near(w, no);
	return put(w, BPF_JMP | op | BPF_K, (uint8_t)(w->n - yes - 1), (uint8_t)(w->n - no - 1), k);
}

/* @loaded: offset of the word that the accumulator holds unchanged when this place is reached, or NONE */
static uint32_t put_node(struct writer *w, int node, uint32_t loaded)
{
	const struct node *n = &w->d->nodes[node];
	bool have = n->kind != NODE_RET && loaded == n->off;
	uint32_t *at = &w->at[have][node];
	bool keeps = n->kind == NODE_SET || n->mask == WORD_ALL;
	uint32_t yes, no;

	if (*at != NONE && w->n - *at <= REACH)
		return *at;
	if (n->kind == NODE_RET)
		return *at = put(w, BPF_RET | BPF_K, 0, 0, n->k);
	if (*at != NONE)
		return *at = near(w, *at);
	no = put_node(w, n->no, keeps ? n->off : NONE);
	yes = put_node(w, n->yes, keeps ? n->off : NONE);
	*at = put_jump(w, n->kind == NODE_SET ? BPF_JSET : BPF_JEQ, n->kind == NODE_SET ? n->mask : n->k, yes,
		       no);
	if (!keeps)
		*at = put(w, BPF_ALU | BPF_AND | BPF_K, 0, 0, n->mask);
	if (!have)
		*at = put(w, BPF_LD | BPF_W | BPF_ABS, 0, 0, n->off);
	return *at;
}

/* Binary search over segments [from, to), the number in the accumulator. */
static uint32_t put_search(struct writer *w, size_t from, size_t to)
{
	const struct segment *s = w->d->segments;
	size_t mid = from + (to - from) / 2;
	uint32_t low, high;

	if (to - from == 1)
		return put_node(w, s[from].root, NONE);
	/* one number between two ranges of the same kind */
	if (to - from == 3 && s[from].root == s[from + 2].root &&
	    s[from + 1].first + 1 == s[from + 2].first) {
		high = put_node(w, s[from + 1].root, NONE);
		low = put_node(w, s[from].root, NONE);
		return put_jump(w, BPF_JEQ, s[from + 1].first, high, low);
	}
	high = put_search(w, mid, to);
	low = put_search(w, from, mid);
	return put_jump(w, BPF_JGE, s[mid].first, high, low);
}

int layout(const struct dag *d, const struct target *t, struct prog *ret)
{
	struct writer *w = calloc(1, sizeof(*w));
	uint32_t start, other;
	int rc = 0;

	if (!w)
		return -ENOMEM;
	w->d = d;
	for (int i = 0; i < DAG_NODES_MAX; i++)
		w->at[0][i] = w->at[1][i] = NONE;
	start = put_search(w, 0, d->n_segments);
	if (start + 1 != w->n) /* the search must follow the load */
		put(w, BPF_JMP | BPF_JA, 0, 0, w->n - start - 1);
	start = put(w, BPF_LD | BPF_W | BPF_ABS, 0, 0, OFF_NR);
	other = put_node(w, d->other_arch, NONE);
	put_jump(w, BPF_JEQ, t->scmp, start, other);
	put(w, BPF_LD | BPF_W | BPF_ABS, 0, 0, OFF_ARCH);
	if (w->full)
		rc = -E2BIG;
	for (uint32_t i = 0; i < w->n && !rc; i++)
		ret->insns[i] = w->rev[w->n - 1 - i];
	if (!rc)
		ret->count = w->n;
	free(w);
	return rc;
}
