/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seccomp profiles as Docker and the OCI runtimes know them: read, selected for this host, turned into a filter. Semantics
 * follow runc, since that is where users' profiles were tried. Process: ak-policy. Privilege: none.
 * Source: OCI runtime-spec config-linux.md "Seccomp", moby profiles/seccomp, runc libcontainer/seccomp.
 */
#ifndef AK_SECCOMP_DOCKER_H
#define AK_SECCOMP_DOCKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seccomp/compile.h"
#include "seccomp/json_read.h"

#define DOCKER_RULES_MAX 4096u
#define DOCKER_NAMES_MAX 16384u		/* in all rules together */
#define DOCKER_ALTERNATIVES_MAX 1024u	/* masked comparisons that one rule may become for one call */
#define DOCKER_COMPARISONS_MAX 1500u	/* masked comparisons in a whole filter, of which each takes two instructions or more */
#define DOCKER_NOTES_MAX 64u
#define DOCKER_ERRNO_MAX 4095u

enum docker_op { DOCKER_NE, DOCKER_LT, DOCKER_LE, DOCKER_EQ, DOCKER_GE, DOCKER_GT, DOCKER_MASKED_EQ };

struct docker_arg {
	unsigned index;		/* 0..5 */
	enum docker_op op;
	uint64_t value;		/* MASKED_EQ: the mask */
	uint64_t value_two;	/* MASKED_EQ: what is compared with */
};

struct docker_rule {
	const char **names;	/* in the profile's memory */
	size_t n_names;
	uint32_t action;	/* SCMP_ACT_* with its errno */
	struct docker_arg args[COMPILE_ARGS_MAX];
	unsigned argc;
	uint32_t line;		/* of the rule, for messages */
};

/* What is true of the host and the command, for includes and excludes */
struct docker_host {
	const struct target *target;
	unsigned kernel_major, kernel_minor;
};

struct docker_profile {
	uint32_t def_action;		/* SCMP_ACT_* with its errno */
	bool stub;			/* numbers above the newest named call are ENOSYS, as runc does */
	struct docker_rule *rules;	/* owned; only those that apply on this host */
	size_t n_rules;
	const char **names;		/* owned; what the rules point into */
	size_t n_names;
	unsigned skipped;		/* rules that includes or excludes left out */
};

/* Remarks for the user: "FILE:LINE:COL: text", at most DOCKER_NOTES_MAX, the last says how many more there were */
struct docker_notes {
	const char *file;
	char *line[DOCKER_NOTES_MAX];	/* owned */
	size_t n;
	size_t more;
};

void docker_note(struct docker_notes *notes, uint32_t line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void docker_notes_release(struct docker_notes *notes);

/**
 * docker_read() - check a profile and keep what applies on this host
 * @doc:	as json_read() gave it; borrowed as long as the profile lives
 * @ret:	release with docker_release() also after a failure
 * @notes:	remarks; what is not an error but probably not what was meant
 * @ret_err:	place and text on failure
 *
 * Refuses every unknown key, action and comparison, SCMP_ACT_NOTIFY, SCMP_ACT_TRACE, SCMP_ACT_LOG and listener keys.
 * Capabilities: the command has none, so "includes" with one never applies and "excludes" never holds a rule back.
 * Return: 0, -EINVAL, -E2BIG, -ENOMEM.
 */
int docker_read(const struct json_doc *doc, const struct docker_host *host, struct docker_profile *ret,
		struct docker_notes *notes, struct json_error *ret_err);
void docker_release(struct docker_profile *p);

/**
 * docker_compile() - the filter of a profile
 * Comparisons become masked equalities: libseccomp 2.5 merges the ordered ones wrongly, and an int argument has to be compared
 * under a mask of 32 bits, since the kernel cuts what the filter sees whole.
 * Adds an ALLOW for seccomp(2) where the profile has none: the floor is loaded after it.
 * Return: 0; -EINVAL, -E2BIG (over what the kernel takes, or a rule that becomes too many), -ENOMEM; then @ret_err says why.
 */
int docker_compile(const struct docker_profile *p, const struct docker_host *host, struct prog *ret,
		   struct docker_notes *notes, struct json_error *ret_err);

/* One alternative: (arg & mask) == datum */
struct docker_masked {
	uint64_t mask, datum;
};

/**
 * docker_expand() - a comparison as alternatives of masked equalities
 * @a:		the comparison
 * @bits:	32 for an int argument, of which only the low half counts; else 64
 * @ret:	room for 64
 * Return: number of alternatives; 0: never true. A comparison that is always true is one alternative with an empty mask.
 */
size_t docker_expand(const struct docker_arg *a, unsigned bits, struct docker_masked ret[64]);

/** docker_arg_is_int() - does the kernel read this argument of this call as 32 bits? Only for those known. */
bool docker_arg_is_int(const char *call, unsigned index);

#endif
