/* SPDX-License-Identifier: Apache-2.0 */
/* Says in words what a profile does, and writes its program down. Process: ak-policy. Privilege: none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/policy.h"
#include "seccomp/sim.h"

#define NR_END 512	/* numbers of both architectures end below */
#define LINE_COLS 110

enum fate { FATE_ALLOW, FATE_SOMETIMES, FATE_EPERM, FATE_ENOSYS, FATE_OTHER_ERRNO, FATE_KILL, FATE_TRAP, N_FATES };

static const char *const fate_names[N_FATES] = {
	[FATE_ALLOW] = "allowed",
	[FATE_SOMETIMES] = "depends on the arguments",
	[FATE_EPERM] = "refused, not permitted (EPERM)",
	[FATE_ENOSYS] = "refused, as if it did not exist (ENOSYS)",
	[FATE_OTHER_ERRNO] = "refused with another error",
	[FATE_KILL] = "kills the process",
	[FATE_TRAP] = "sends SIGSYS",
};

static uint32_t ask(const struct prog *p, const struct docker_host *host, int nr)
{
	const struct seccomp_data d = { .nr = nr, .arch = host->target->scmp };

	return bpf_sim_run(p->insns, p->count, &d);
}

const char *policy_call_name(const struct docker_host *host, int nr, char buf[32])
{
	const char *newer = nr_name(host->target, nr);
	char *s;

	if (newer)
		return newer;
	s = seccomp_syscall_resolve_num_arch(host->target->scmp, nr);
	if (!s)
		return NULL;
	(void)snprintf(buf, 32, "%s", s);
	free(s);
	return buf;
}

static bool has_condition(const struct docker_profile *p, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct docker_rule *r = &p->rules[i];

		for (size_t k = 0; k < r->n_names; k++) {
			if (strcmp(r->names[k], name) != 0 || r->action == p->def_action)
				continue;
			if (!r->argc)
				return false;
			found = true;
		}
	}
	return found;
}

static enum fate fate_of(const struct policy_result *r, const struct docker_host *host, int nr, const char *name)
{
	uint32_t a = ask(&r->prog, host, nr);

	if (has_condition(&r->profile, name))
		return FATE_SOMETIMES;
	switch (a & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
		return FATE_ALLOW;
	case SECCOMP_RET_ERRNO:
		return (a & SECCOMP_RET_DATA) == EPERM ? FATE_EPERM : (a & SECCOMP_RET_DATA) == ENOSYS ? FATE_ENOSYS : FATE_OTHER_ERRNO;
	case SECCOMP_RET_TRAP:
		return FATE_TRAP;
	default:
		return FATE_KILL;
	}
}

static void print_fate(const struct policy_result *r, const struct docker_host *host, enum fate want, FILE *f)
{
	char buf[32];
	size_t n = 0, col = 0;

	for (int pass = 0; pass < 2; pass++) {
		if (pass == 1 && n == 0)
			return;
		if (pass == 1)
			fprintf(f, "%s: %zu\n", fate_names[want], n);
		for (int nr = 0; nr < NR_END; nr++) {
			const char *name = policy_call_name(host, nr, buf);

			if (!name || fate_of(r, host, nr, name) != want)
				continue;
			n++;
			if (pass == 0)
				continue;
			if (col + strlen(name) + 1 > LINE_COLS) {
				fputc('\n', f);
				col = 0;
			}
			col += (size_t)fprintf(f, col ? " %s" : "  %s", name);
		}
	}
	fputc('\n', f);
}

static void print_action(uint32_t action, FILE *f)
{
	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
		fputs("allow", f);
		break;
	case SECCOMP_RET_ERRNO:
		fprintf(f, "errno %s", strerrorname_np((int)(action & SECCOMP_RET_DATA)) ?: "?");
		break;
	case SECCOMP_RET_TRAP:
		fputs("trap", f);
		break;
	default:
		fputs("kill the process", f);
	}
}

int policy_usable(const struct policy_result *r, struct json_error *ret_err)
{
	/* what init still calls after the profile is loaded, besides seccomp, which is always allowed */
	static const char *const needed[] = { "execve", "exit_group", "write" };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		const struct seccomp_data d = { .nr = seccomp_syscall_resolve_name(needed[i]), .arch = seccomp_arch_native() };

		if (bpf_sim_run(r->prog.insns, r->prog.count, &d) == SECCOMP_RET_ALLOW)
			continue;
		*ret_err = (struct json_error){ .line = 1, .col = 1 };
		(void)snprintf(ret_err->text, sizeof(ret_err->text),
			       "the profile does not allow %s: no command could be started; add it", needed[i]);
		return -EINVAL;
	}
	return 0;
}

void policy_print_check(const struct policy_result *r, const struct docker_host *host, FILE *f)
{
	fprintf(f, "profile %s for %s, kernel %u.%u: %zu rules apply, %u do not; %u instructions\n", r->notes.file, host->target->name,
		host->kernel_major, host->kernel_minor, r->profile.n_rules, r->profile.skipped, r->prog.count);
	fputs("default: ", f);
	print_action(r->profile.def_action, f);
	if (r->profile.stub)
		fputs("; numbers above the newest named call: errno ENOSYS", f);
	fputs("\nother architectures: kill the process\n\n", f);
	for (int i = 0; i < N_FATES; i++)
		print_fate(r, host, (enum fate)i, f);
	if (r->profile.def_action == SCMP_ACT_ALLOW)
		fputs("\nremark: everything that is not named is allowed; only ak's floor still refuses what is dangerous\n", f);
	for (size_t i = 0; i < r->notes.n; i++)
		fprintf(f, "%sremark: %s\n", i ? "" : "\n", r->notes.line[i]);
	if (r->notes.more)
		fprintf(f, "remark: and %zu more\n", r->notes.more);
	fputs("\nWhatever a profile says, ak's floor is loaded on top of it: see --seccomp in the manual page ak(1).\n", f);
}

static void print_load(const struct sock_filter *s, FILE *f)
{
	const uint32_t args = (uint32_t)offsetof(struct seccomp_data, args);

	if (s->k == offsetof(struct seccomp_data, nr))
		fputs("load number", f);
	else if (s->k == offsetof(struct seccomp_data, arch))
		fputs("load architecture", f);
	else
		fprintf(f, "load argument %u, %s half", (s->k - args) / 8, (s->k - args) % 8 ? "high" : "low");
}

static void print_insn(const struct sock_filter *s, uint32_t pc, FILE *f)
{
	const char *op = "?";

	switch (BPF_CLASS(s->code)) {
	case BPF_LD:
		print_load(s, f);
		return;
	case BPF_ALU:
		fprintf(f, "and 0x%x", s->k);
		return;
	case BPF_RET:
		fputs("return ", f);
		print_action(s->k, f);
		return;
	default:
		break;
	}
	if (BPF_OP(s->code) == BPF_JA) {
		fprintf(f, "go to %u", pc + 1 + s->k);
		return;
	}
	op = BPF_OP(s->code) == BPF_JEQ ? "==" : BPF_OP(s->code) == BPF_JGE ? ">=" : BPF_OP(s->code) == BPF_JGT ? ">" : "&";
	fprintf(f, "if %s 0x%x go to %u else %u", op, s->k, pc + 1 + s->jt, pc + 1 + s->jf);
}

void policy_print_program(const struct prog *p, FILE *f)
{
	fputs("\nprogram:\n", f);
	for (uint32_t pc = 0; pc < p->count; pc++) {
		const struct sock_filter *s = &p->insns[pc];

		fprintf(f, "%5u  %04x %3u %3u %08x  ", pc, s->code, s->jt, s->jf, s->k);
		print_insn(s, pc, f);
		fputc('\n', f);
	}
}
