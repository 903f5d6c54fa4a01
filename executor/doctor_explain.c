/* SPDX-License-Identifier: Apache-2.0 */
/* Why a kernel refused a namespace: facts are read only to explain a failure that was seen. Privilege: none.
 */
#include "executor/doctor_int.h"

#include <errno.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_parse.h"

#define FACT_FILE_MAX (1u << 20)

const struct doctor_ns doctor_ns_table[DOCTOR_NS_COUNT] = {
	{"user", CLONE_NEWUSER, "max_user_namespaces"},	      {"mount", CLONE_NEWNS, "max_mnt_namespaces"},
	{"pid", CLONE_NEWPID, "max_pid_namespaces"},	      {"net", CLONE_NEWNET, "max_net_namespaces"},
	{"ipc", CLONE_NEWIPC, "max_ipc_namespaces"},	      {"uts", CLONE_NEWUTS, "max_uts_namespaces"},
	{"cgroup", CLONE_NEWCGROUP, "max_cgroup_namespaces"},
};

static long sysctl_read(const char *name)
{
	char path[160], *text = NULL;
	size_t len;
	long v = -1;
	uint64_t u;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	if (ak_read_file(path, 64, &text, &len) < 0)
		return -1;
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	if (ak_parse_u64(text, 0, INT32_MAX, &u) == 0)
		v = (long)u;
	free(text);
	return v;
}

/* "Seccomp:\t2" in /proc/self/status */
static long seccomp_mode_read(void)
{
	struct ak_lines l;
	const char *line;
	char *text = NULL;
	size_t len;
	long mode = -1;

	if (ak_read_file("/proc/self/status", FACT_FILE_MAX, &text, &len) < 0)
		return -1;
	ak_lines_init(&l, text, len, 4096);
	while (ak_lines_next(&l, &line, &len)) {
		if (len > 9 && memcmp(line, "Seccomp:\t", 9) == 0)
			mode = line[9] - '0';
	}
	free(text);
	return mode;
}

/* A chrooted process usually has no mount at its "/" in mountinfo, and may not make user namespaces
 * (user_namespaces(7)). */
static bool chrooted_read(void)
{
	struct ak_lines l;
	const char *line, *field;
	char *text = NULL;
	size_t len, flen;
	bool found = false;

	if (ak_read_file("/proc/self/mountinfo", FACT_FILE_MAX, &text, &len) < 0)
		return false;
	ak_lines_init(&l, text, len, 8192);
	while (ak_lines_next(&l, &line, &len)) {
		for (int i = 0; i < 5; i++) {
			if (!ak_field(&line, &len, ' ', &field, &flen))
				break;
			if (i == 4 && flen == 1 && field[0] == '/')
				found = true;
		}
	}
	free(text);
	return !found;
}

void doctor_facts_read(struct doctor_facts *f)
{
	char name[64];

	*f = (struct doctor_facts){0};
	for (size_t i = 0; i < DOCTOR_NS_COUNT; i++) {
		snprintf(name, sizeof(name), "user/%s", doctor_ns_table[i].max_sysctl);
		f->ns_max[i] = sysctl_read(name);
	}
	f->userns_clone = sysctl_read("kernel/unprivileged_userns_clone");
	f->apparmor_userns = sysctl_read("kernel/apparmor_restrict_unprivileged_userns");
	f->memfd_noexec = sysctl_read("vm/memfd_noexec");
	f->seccomp_mode = seccomp_mode_read();
	f->chrooted = chrooted_read();
}

static void explain_limit(const struct doctor_facts *f, uint64_t ns, char *fix, size_t n)
{
	for (size_t i = 0; i < DOCTOR_NS_COUNT; i++) {
		if (!(ns & doctor_ns_table[i].flag) || f->ns_max[i] != 0)
			continue;
		snprintf(fix, n, "user.%s is 0: as root on the host, sysctl -w user.%s=10000",
			 doctor_ns_table[i].max_sysctl, doctor_ns_table[i].max_sysctl);
		return;
	}
	snprintf(fix, n,
		 "a limit of user.max_*_namespaces is used up here or in an outer user namespace: raise it "
		 "as root "
		 "on the host, or end other sandboxes");
}

static void explain_refused(const struct doctor_facts *f, enum trial_stage stage, char *fix, size_t n)
{
	if (!f->root && f->userns_clone == 0)
		snprintf(fix, n,
			 "kernel.unprivileged_userns_clone is 0: as root, sysctl -w "
			 "kernel.unprivileged_userns_clone=1");
	else if (!f->root && f->apparmor_userns == 1)
		snprintf(fix, n,
			 "kernel.apparmor_restrict_unprivileged_userns is 1: as root, load an AppArmor "
			 "profile for ak "
			 "that has \"userns,\", or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
	else if (stage != TRIAL_CLONE)
		fix[0] = '\0';
	else if (f->chrooted)
		snprintf(fix, n,
			 "this process is in a chroot, where the kernel refuses user namespaces: enter the "
			 "tree with "
			 "pivot_root, or start ak outside");
	else if (f->seccomp_mode == 2)
		snprintf(fix, n,
			 "a seccomp filter is already loaded and refuses it: in a container, start it with a "
			 "profile "
			 "that allows clone3, unshare, mount and pivot_root (docker: --security-opt "
			 "seccomp=unconfined)");
	else
		snprintf(fix, n,
			 "refused by a security module or a chroot: look in the kernel log (dmesg) for the "
			 "denial");
}

void doctor_explain(const struct doctor_facts *f, uint64_t ns, enum trial_stage stage, int code, char *fix,
		    size_t n)
{
	fix[0] = '\0';
	if (stage == TRIAL_CLONE && (code == ENOSPC || code == EUSERS))
		explain_limit(f, ns, fix, n);
	else if (code == EPERM || code == EACCES)
		explain_refused(f, stage, fix, n);
	else if (stage == TRIAL_CLONE && code == ENOSYS)
		snprintf(
			fix, n, "%s",
			f->seccomp_mode == 2
				? "a seccomp filter hides clone3: in a container, start it with a profile "
				  "that allows it (docker: "
				  "--security-opt seccomp=unconfined); in a sandbox of ak, nesting is refused"
				: "clone3 needs Linux 5.3 or newer");
	else if (stage == TRIAL_CLONE && code == EINVAL)
		snprintf(fix, n, "this kernel is built without one of these namespaces (CONFIG_*_NS)");
}
