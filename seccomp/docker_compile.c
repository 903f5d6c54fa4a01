/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the rules of a Docker-format profile into a filter. Process: ak-policy. Privilege: none. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/docker.h"

struct comp {
	const struct docker_profile *p;
	const struct docker_host *host;
	struct builder b;
	struct docker_notes *notes;
	struct json_error *err;
	size_t comparisons;
};

static int __attribute__((format(printf, 4, 5))) bad(struct comp *c, int code, uint32_t line, const char *fmt, ...)
{
	va_list ap;

	*c->err = (struct json_error){ .line = line, .col = 1 };
	va_start(ap, fmt);
	(void)vsnprintf(c->err->text, sizeof(c->err->text), fmt, ap);
	va_end(ap);
	return code;
}

static int rule_error(struct comp *c, const struct docker_rule *r, const char *name, int rc)
{
	return bad(c, rc, r->line, "\"%.40s\": %s", name, rc == -E2BIG ? "too many rules for calls newer than the library" : strerror(-rc));
}

/* one call, one conjunction of masked equalities, each on another argument */
static int add(struct comp *c, const struct docker_rule *r, const char *name, const struct scmp_arg_cmp *args, unsigned argc)
{
	int rc;

	c->comparisons += argc;
	if (c->comparisons > DOCKER_COMPARISONS_MAX)
		return bad(c, -E2BIG, r->line, "more than %u comparisons: the filter would be longer than the kernel takes (4096 instructions)",
			   DOCKER_COMPARISONS_MAX);
	rc = builder_rule(&c->b, name, r->action, args, argc);
	if (rc == -EEXIST)
		return 0;
	if (rc == -EOPNOTSUPP)
		return bad(c, rc, r->line, "\"%.40s\" is newer than the filter library, and a comparison of 64 bits on it cannot be said", name);
	return rc < 0 ? rule_error(c, r, name, rc) : 0;
}

struct alternatives {
	unsigned arg;
	size_t n;
	struct docker_masked m[64];
};

/* the arguments' alternatives, multiplied out: (a or b) and (c or d) is four conjunctions */
static int multiply(struct comp *c, const struct docker_rule *r, const char *name, const struct alternatives *alt, size_t n_alt)
{
	struct scmp_arg_cmp args[COMPILE_ARGS_MAX];
	size_t at[COMPILE_ARGS_MAX] = { 0 }, total = 1;

	for (size_t i = 0; i < n_alt; i++) {
		total *= alt[i].n;
		if (total > DOCKER_ALTERNATIVES_MAX)
			return bad(c, -E2BIG, r->line, "\"%.40s\": the comparisons of this rule are too many in combination", name);
	}
	for (size_t k = 0; k < total; k++) {
		size_t rest = k;
		int rc;

		for (size_t i = 0; i < n_alt; i++) {
			at[i] = rest % alt[i].n;
			rest /= alt[i].n;
			args[i] = (struct scmp_arg_cmp){ alt[i].arg, SCMP_CMP_MASKED_EQ, alt[i].m[at[i]].mask, alt[i].m[at[i]].datum };
		}
		rc = add(c, r, name, args, (unsigned)n_alt);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* the comparisons args[from..to) of one rule, ANDed */
static int add_and(struct comp *c, const struct docker_rule *r, const char *name, unsigned from, unsigned to)
{
	struct alternatives alt[COMPILE_ARGS_MAX];
	size_t n = 0;

	for (unsigned i = from; i < to; i++) {
		const struct docker_arg *a = &r->args[i];
		struct alternatives *o = &alt[n];

		o->arg = a->index;
		o->n = docker_expand(a, docker_arg_is_int(name, a->index) ? 32 : 64, o->m);
		if (o->n == 0) {
			docker_note(c->notes, r->line, "\"%.40s\": the comparison of argument %u is never true", name, a->index);
			return 0;
		}
		if (o->n == 1 && o->m[0].mask == 0)
			continue;	/* always true */
		n++;
	}
	return multiply(c, r, name, alt, n);
}

static bool same_arg_twice(const struct docker_rule *r)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < r->argc; i++) {
		if (seen >> r->args[i].index & 1)
			return true;
		seen |= 1u << r->args[i].index;
	}
	return false;
}

/* libseccomp cannot AND two comparisons of one argument; runc makes each a rule of its own, which is an OR */
static int add_or(struct comp *c, const struct docker_rule *r, const char *name)
{
	int rc = 0;

	docker_note(c->notes, r->line, "\"%.40s\": one argument is compared twice; as in runc any of the comparisons is enough", name);
	for (unsigned i = 0; i < r->argc && rc == 0; i++)
		rc = add_and(c, r, name, i, i + 1);
	return rc;
}

static int number_of(const struct comp *c, const char *name)
{
	int nr = nr_extra(c->host->target, name);

	if (nr != -ENOENT)
		return nr;
	if (seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR)
		return -ENOENT;
	nr = seccomp_syscall_resolve_name_arch(c->host->target->scmp, name);
	return nr < 0 ? -ENOSYS : nr;
}

/* a rule of the same call without comparisons decides alone, whatever this one says */
static bool overruled(const struct comp *c, const struct docker_rule *r, const char *name)
{
	for (size_t i = 0; r->argc && i < c->p->n_rules; i++) {
		const struct docker_rule *o = &c->p->rules[i];

		for (size_t k = 0; !o->argc && o->action != r->action && o->action != c->p->def_action && k < o->n_names; k++)
			if (strcmp(o->names[k], name) == 0)
				return true;
	}
	return false;
}

static int add_call(struct comp *c, const struct docker_rule *r, const char *name, uint32_t *newest)
{
	int nr = number_of(c, name);

	if (nr == -ENOENT)
		docker_note(c->notes, r->line, "unknown system call \"%.40s\" is left out", name);
	if (nr < 0)
		return 0;
	if ((uint32_t)nr > *newest)
		*newest = (uint32_t)nr;
	if (strcmp(name, "seccomp") == 0)
		return 0;	/* allowed in any case: see docker_compile() */
	if (r->action == c->p->def_action)
		return 0;	/* as runc: no effect */
	if (overruled(c, r, name))
		docker_note(c->notes, r->line, "\"%.40s\": another rule without comparisons decides alone; this one has no effect", name);
	if (overruled(c, r, name))
		return 0;
	return same_arg_twice(r) ? add_or(c, r, name) : add_and(c, r, name, 0, r->argc);
}

static int add_all(struct comp *c)
{
	const struct docker_profile *p = c->p;
	/* seccomp itself has to exist, and so does what is older */
	uint32_t newest = (uint32_t)seccomp_syscall_resolve_name_arch(c->host->target->scmp, "seccomp");
	int rc = 0;

	/* more rights than the profile gives, but none that matters: a filter can only be added, and no_new_privs is set */
	if (p->def_action != SCMP_ACT_ALLOW)
		rc = builder_rule(&c->b, "seccomp", SCMP_ACT_ALLOW, NULL, 0);
	if (rc < 0)
		return bad(c, rc, 1, "seccomp: %s", strerror(-rc));
	for (size_t i = 0; i < p->n_rules; i++) {
		for (size_t k = 0; k < p->rules[i].n_names; k++) {
			rc = add_call(c, &p->rules[i], p->rules[i].names[k], &newest);
			if (rc < 0)
				return rc;
		}
	}
	if (p->stub)
		c->b.stub_from = newest + 1;
	return 0;
}

int docker_compile(const struct docker_profile *p, const struct docker_host *host, struct prog *ret,
		   struct docker_notes *notes, struct json_error *ret_err)
{
	struct comp *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	*c = (struct comp){ .p = p, .host = host, .notes = notes, .err = ret_err };
	rc = builder_init(&c->b, host->target, p->def_action);
	if (rc < 0)
		(void)bad(c, rc, 1, "start a filter: %s", strerror(-rc));
	if (rc == 0)
		rc = add_all(c);
	if (rc == 0) {
		rc = builder_export(&c->b, ret);
		if (rc < 0)
			(void)bad(c, rc, 1, "%s", rc == -E2BIG ? "the filter would be longer than the kernel takes (4096 instructions)" : strerror(-rc));
	}
	builder_release(&c->b);
	free(c);
	return rc;
}
