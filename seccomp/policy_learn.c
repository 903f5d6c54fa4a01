/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the profile of what a run was seen to call. Never more than the profile it ran under: rules are taken from that one, so
 * a call that it allows for some arguments stays as conditional. Process: ak-policy. Privilege: none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/policy.h"

#define LINE_COLS 100

/*
 * What a process needs whatever it does: to end, to come back from a signal, to go on after a stop; and what init does between its
 * filters and the command: say why a command cannot be started, hand over a listener, reset signals
 */
static const char *const start_calls[] = {
	"write", "close", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sendmsg", "execve", "exit", "rt_sigpending", "restart_syscall",
	"exit_group",
};

static int number_of(const struct docker_host *host, const char *name)
{
	int nr = nr_extra(host->target, name);

	return nr == -ENOENT ? seccomp_syscall_resolve_name_arch(host->target->scmp, name) : nr;
}

static bool used(const struct ak_learned *l, int nr)
{
	return nr >= 0 && (unsigned)nr < AK_LEARNED_NUMBERS && (l->used[nr / 8] >> nr % 8 & 1);
}

static bool allows(const struct docker_rule *r)
{
	return r->action == SCMP_ACT_ALLOW;
}

/* does any rule let this call through, always or sometimes? */
static bool has_allow(const struct docker_profile *p, const struct docker_host *host, int nr, bool always)
{
	for (size_t i = 0; i < p->n_rules; i++)
		for (size_t k = 0; allows(&p->rules[i]) && !(always && p->rules[i].argc) && k < p->rules[i].n_names; k++)
			if (number_of(host, p->rules[i].names[k]) == nr)
				return true;
	return false;
}

/* ---- writing ---- */

struct names {
	FILE *f;
	size_t n, col;
};

static void put_name(struct names *w, const char *name)
{
	size_t len = strlen(name) + 4;

	if (w->n)
		fputc(',', w->f);
	if (!w->n || w->col + len > LINE_COLS) {
		fputs("\n\t\t\t\t", w->f);
		w->col = 0;
	} else {
		fputc(' ', w->f);
	}
	fprintf(w->f, "\"%s\"", name);
	w->col += len;
	w->n++;
}

static void begin_rule(struct names *w, FILE *f, bool *first)
{
	*w = (struct names){ .f = f };
	fprintf(f, "%s\n\t\t{\n\t\t\t\"names\": [", *first ? "" : ",");
	*first = false;
}

static void end_rule(const struct names *w, const char *rest)
{
	fprintf(w->f, "\n\t\t\t],\n\t\t\t%s\n\t\t}", rest);
}

static void put_always(const struct docker_profile *p, const struct docker_host *host, const struct ak_learned *l, FILE *f, bool *first)
{
	struct names w;
	char buf[32];

	begin_rule(&w, f, first);
	for (int nr = 0; nr < (int)AK_LEARNED_NUMBERS; nr++) {
		const char *name = used(l, nr) && has_allow(p, host, nr, true) ? policy_call_name(host, nr, buf) : NULL;

		if (name)
			put_name(&w, name);
	}
	end_rule(&w, "\"action\": \"SCMP_ACT_ALLOW\"");
}

static void put_args(const struct docker_rule *r, FILE *f)
{
	static const char *const ops[] = {
		[DOCKER_NE] = "NE", [DOCKER_LT] = "LT", [DOCKER_LE] = "LE", [DOCKER_EQ] = "EQ",
		[DOCKER_GE] = "GE", [DOCKER_GT] = "GT", [DOCKER_MASKED_EQ] = "MASKED_EQ",
	};

	fputs("\n\t\t\t],\n\t\t\t\"action\": \"SCMP_ACT_ALLOW\",\n\t\t\t\"args\": [", f);
	for (unsigned i = 0; i < r->argc; i++)
		fprintf(f, "%s\n\t\t\t\t{ \"index\": %u, \"value\": %llu, \"valueTwo\": %llu, \"op\": \"SCMP_CMP_%s\" }", i ? "," : "",
			r->args[i].index, (unsigned long long)r->args[i].value, (unsigned long long)r->args[i].value_two,
			ops[r->args[i].op]);
	fputs("\n\t\t\t]\n\t\t}", f);
}

static void put_sometimes(const struct docker_profile *p, const struct docker_host *host, const struct ak_learned *l, FILE *f, bool *first)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct docker_rule *r = &p->rules[i];
		struct names w = { 0 };

		for (size_t k = 0; allows(r) && r->argc && k < r->n_names; k++) {
			int nr = number_of(host, r->names[k]);

			if (!used(l, nr) || has_allow(p, host, nr, true))
				continue;
			if (!w.n)
				begin_rule(&w, f, first);
			put_name(&w, r->names[k]);
		}
		if (w.n)
			put_args(r, f);
	}
}

/* What the command tried, and did without: it gets the same answer again, where that is not the default's */
static void put_refused(const struct docker_profile *p, const struct docker_host *host, const struct ak_learned *l, FILE *f, bool *first)
{
	char buf[32], rest[80];

	for (unsigned err = 1; err <= DOCKER_ERRNO_MAX; err++) {
		struct names w = { 0 };

		for (int nr = 0; err != EPERM && nr < (int)AK_LEARNED_NUMBERS; nr++) {
			const char *name = l->refused[nr] == err && !has_allow(p, host, nr, false) ? policy_call_name(host, nr, buf) : NULL;

			if (!name)
				continue;
			if (!w.n)
				begin_rule(&w, f, first);
			put_name(&w, name);
		}
		(void)snprintf(rest, sizeof(rest), "\"action\": \"SCMP_ACT_ERRNO\",\n\t\t\t\"errnoRet\": %u", err);
		if (w.n)
			end_rule(&w, rest);
	}
}

static const char *scmp_name(const struct docker_host *host)
{
	return host->target->scmp == SCMP_ARCH_AARCH64 ? "SCMP_ARCH_AARCH64" : "SCMP_ARCH_X86_64";
}

void policy_print_learned(const struct docker_profile *p, const struct docker_host *host, const struct ak_learned *learned, FILE *f)
{
	struct ak_learned l = *learned;
	bool first = true;

	for (size_t i = 0; i < sizeof(start_calls) / sizeof(start_calls[0]); i++) {
		int nr = number_of(host, start_calls[i]);

		if (nr >= 0 && (unsigned)nr < AK_LEARNED_NUMBERS)
			l.used[nr / 8] |= (uint8_t)(1u << nr % 8);
	}
	fprintf(f, "{\n\t\"defaultAction\": \"SCMP_ACT_ERRNO\",\n\t\"defaultErrnoRet\": %d,\n\t\"architectures\": [\"%s\"],\n\t\"syscalls\": [",
		EPERM, scmp_name(host));
	put_always(p, host, &l, f, &first);
	put_sometimes(p, host, &l, f, &first);
	put_refused(p, host, &l, f, &first);
	fputs("\n\t]\n}\n", f);
}
