/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the filter compiler share. The compiler is a build tool (libseccomp, cJSON): nothing of
 * it is linked into a shipped program. Process: the build. Privilege: none.
 */
#ifndef AK_SECCOMP_COMPILE_H
#define AK_SECCOMP_COMPILE_H

#include <linux/filter.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seccomp/filters.h"

#define COMPILE_INSNS_MAX BPF_MAXINSNS /* the kernel's maximum for one filter */
#define COMPILE_ARGS_MAX 6
#define COMPILE_EXTRA_MAX 256 /* rules for calls that the library cannot name */

struct target {
	const char *name; /* as uname -m says it */
	uint32_t scmp;	  /* SCMP_ARCH_*, the same value as AUDIT_ARCH_* */
};

struct prog {
	struct sock_filter insns[COMPILE_INSNS_MAX];
	uint32_t count;
};

/* A rule that the library cannot take: its call is newer, or its condition is of another kind. Asked first.
 */
struct extra {
	uint32_t nr;
	uint32_t action;
	unsigned int argc;
	struct scmp_arg_cmp args[COMPILE_ARGS_MAX];
};

struct builder {
	const struct target *target;
	scmp_filter_ctx ctx;
	uint32_t def_action;
	struct extra extra[COMPILE_EXTRA_MAX];
	unsigned int extras;
	uint32_t stub_from; /* numbers from here on do not exist (ENOSYS); 0: as the filter says */
};

#define DAG_NODES_MAX 4096
#define DAG_SEGMENTS_MAX 8192
#define WORD_ALL 0xffffffffu

enum node_kind { NODE_RET, NODE_EQ, NODE_SET };

/* One question about a 32-bit word of struct seccomp_data, or an answer. Equal nodes exist once. */
struct node {
	enum node_kind kind;
	uint32_t off;  /* which word */
	uint32_t mask; /* EQ: (word & mask) == k; SET: (word & mask) != 0 */
	uint32_t k;    /* RET: the answer */
	int yes, no;   /* nodes */
};

struct segment {
	uint32_t first; /* from this number on, up to the next segment */
	int root;	/* node */
};

/* What a filter answers, as a function of the number and, where it matters, of the arguments. */
struct dag {
	struct node nodes[DAG_NODES_MAX];
	int n_nodes;
	struct segment segments[DAG_SEGMENTS_MAX];
	size_t n_segments;
	int other_arch; /* node for every other architecture */
};

enum { RULE_ABSENT = 0, RULE_ADDED = 1 };

/**
 * target_find() - the architecture of that name
 * @name: "x86_64" or "aarch64"
 *
 * Return: NULL for any other name. Lives for ever.
 */
const struct target *target_find(const char *name);

/**
 * nr_extra() - number of a call that an old library does not know
 * @t:    the architecture
 * @name: the call
 *
 * Return: the number, -ENOENT when the table does not have the name, -ENOSYS when this architecture lacks the
 * call.
 */
int nr_extra(const struct target *t, const char *name);

/** nr_name() - the name of a call that the table has; Return: NULL for every other number. Lives for ever. */
const char *nr_name(const struct target *t, int nr);

/**
 * nr_check() - compare the table with the library, for the names both know
 * @t: the architecture
 *
 * Return: 0, or -EINVAL after saying on stderr which number differs.
 */
int nr_check(const struct target *t);

/**
 * builder_init() - start a filter: only this architecture, every other one kills the process
 * @b:          storage of the caller
 * @t:          the architecture; borrowed
 * @def_action: what calls without a rule get
 *
 * Return: 0 or a negative errno. builder_release() is needed in both cases.
 */
int builder_init(struct builder *b, const struct target *t, uint32_t def_action);

/** builder_release() - give back what the filter holds */
void builder_release(struct builder *b);

/**
 * builder_rule() - add one rule
 * @b:      the filter
 * @name:   name of the call
 * @action: SCMP_ACT_*
 * @args:   conditions, all of which must hold
 * @argc:   number of conditions; 0: always
 *
 * Return: RULE_ADDED; RULE_ABSENT when the call exists but not on this architecture; -ENOENT when no list has
 * the name; another negative errno of the library.
 */
int builder_rule(struct builder *b, const char *name, uint32_t action, const struct scmp_arg_cmp *args,
		 unsigned int argc);

/**
 * builder_rule_int() - add one rule whose arguments are all int
 * @b:      the filter
 * @name:   name of the call
 * @action: SCMP_ACT_*
 * @args:   conditions, MASKED_EQ or NE, on the low 32 bits; several may be on one argument; all must hold
 * @argc:   number of conditions
 *
 * For what libseccomp cannot say: "not equal" under a mask. These rules come before those of builder_rule().
 *
 * Return: as builder_rule(); -EOPNOTSUPP for another kind of condition.
 */
int builder_rule_int(struct builder *b, const char *name, uint32_t action, const struct scmp_arg_cmp *args,
		     unsigned int argc);

/**
 * builder_export() - the finished program
 * @b:   the filter
 * @ret: filled on success
 *
 * Return: 0, -E2BIG when the kernel would refuse the size, or another negative errno.
 */
int builder_export(struct builder *b, struct prog *ret);

/**
 * dag_build() - take a program of the library apart, add the rules kept beside it
 * @d:   zeroed; filled on success
 * @b:   the filter, for its architecture and its own rules
 * @lib: the library's program
 *
 * Return: 0, -EINVAL for an instruction that a filter of this kind does not have, -E2BIG when a maximum is
 * reached.
 */
int dag_build(struct dag *d, struct builder *b, const struct prog *lib);

/**
 * layout() - write the program: one binary search over ranges of numbers, then the questions
 * @d:   what the filter answers
 * @t:   the architecture
 * @ret: filled on success
 *
 * Return: 0, or -E2BIG.
 */
int layout(const struct dag *d, const struct target *t, struct prog *ret);

/**
 * profile_compile() - one Docker-format profile
 * @path: the JSON file
 * @t:    the architecture
 * @ret:  filled on success
 *
 * Return: 0, or a negative errno after a line on stderr that names the place.
 */
int profile_compile(const char *path, const struct target *t, struct prog *ret);

/**
 * floor_compile() - one variant of the floor
 * @kind: which
 * @t:    the architecture
 * @ret:  filled on success
 *
 * Return: 0, or a negative errno after a line on stderr.
 */
int floor_compile(enum seccomp_floor_kind kind, const struct target *t, struct prog *ret);

#endif
