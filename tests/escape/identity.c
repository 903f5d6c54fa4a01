/* SPDX-License-Identifier: Apache-2.0 */
/* Claims about identity and privilege: id maps, capabilities, securebits, no_new_privs. Runs as a command in
 * a sandbox. */
#include <grp.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include "tests/escape/esc.h"

/* Linux knows these since 6.17 and 4.3; the headers of Debian 12 only the latter */
#define WANT_SECUREBITS                                                                                      \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |     \
	 SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* no row of a map may show host id 0; with want_range the map must have ids enough for a range */
static void check_map(struct esc *e, const char *file, const char *name)
{
	unsigned long inner, outer, count;
	bool zero = false;
	int rows = 0;
	FILE *f = fopen(file, "re");

	while (f && fscanf(f, "%lu %lu %lu", &inner, &outer, &count) == 3) {
		rows++;
		zero |= outer == 0;
	}
	if (f)
		fclose(f);
	esc_is(e, name, rows > 0 && !zero, "%d rows%s", rows, zero ? ", host id 0 is mapped" : "");
}

static bool has_inner_0(const char *file)
{
	unsigned long inner, outer, count;
	bool found = false;
	FILE *f = fopen(file, "re");

	while (f && fscanf(f, "%lu %lu %lu", &inner, &outer, &count) == 3)
		found |= inner == 0;
	if (f)
		fclose(f);
	return found;
}

static void check_ids(struct esc *e)
{
	const char *uid = esc_arg(e, "uid");
	gid_t one = 1, groups[64];
	int n;

	check_map(e, "/proc/self/uid_map", "2:uid_map_without_host_0");
	check_map(e, "/proc/self/gid_map", "2:gid_map_without_host_0");
	if (uid)
		esc_is(e, "3:uid", getuid() == strtoul(uid, NULL, 10) && geteuid() == getuid(), "uid %u",
		       getuid());
	esc_is(e, "3:not_uid_0", getuid() != 0 && geteuid() != 0, "uid %u", getuid());
	/* an id that is not in the map is no id at all; one that is (a range has 0, which is not the host's)
	 * is forbidden */
	esc_err(e, "3:setresuid_0", setresuid(0, 0, 0), has_inner_0("/proc/self/uid_map") ? EPERM : EINVAL);
	esc_err(e, "3:setresgid_0", setresgid(0, 0, 0), has_inner_0("/proc/self/gid_map") ? EPERM : EINVAL);
	esc_err(e, "4:setgroups", setgroups(1, &one), EPERM);
	n = getgroups(64, groups);
	for (int i = 0; i < n; i++)
		if (groups[i] != 65534 && groups[i] != getgid())
			n = -1;
	esc_is(e, "4:groups", n >= 0, "none but the overflow gid: %d", n);
	esc_is(e, "9:umask", umask(022) == 022, "022");
}

static void check_caps(struct esc *e)
{
	static const char *const sets[] = {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"};
	char v[128], name[64];

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		esc_line("/proc/self/status", sets[i], v, sizeof(v));
		snprintf(name, sizeof(name), "5:%.6s", sets[i]);
		esc_is(e, name, v[0] && strspn(v, "0") == strlen(v), "%s", v);
	}
	esc_is(e, "6:no_new_privs", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "1");
	int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
	esc_is(e, "7:securebits", (bits & WANT_SECUREBITS) == WANT_SECUREBITS && !(bits & SECBIT_KEEP_CAPS),
	       "0x%x, want 0x%x", bits, WANT_SECUREBITS);
	const char *spec = esc_arg(e, "spec");
	int now = prctl(PR_GET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, 0, 0, 0);
	if (spec)
		esc_is(e, "70:speculation_as_outside", now == esc_num(spec), "%d, outside %s", now, spec);
	esc_err(e, "7:securebits_locked", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0), EPERM);
}

/* a set-user-id program of the host, stopped while it waits for a password, must run with our own ids */
static void check_suid_exec(struct esc *e)
{
	static const char *const progs[] = {"/usr/bin/su", "/bin/su"};
	char path[64], comm[64] = "", uids[128] = "", want[128];
	struct stat st;
	const char *prog = NULL;
	int p[2];

	for (size_t i = 0; i < 2 && !prog; i++)
		if (!stat(progs[i], &st) && (st.st_mode & S_ISUID))
			prog = progs[i];
	if (!prog || pipe2(p, O_CLOEXEC)) {
		esc_skip("6:setuid_program", "no set-user-id su here");
		return;
	}
	pid_t pid = fork();
	if (!pid) {
		dup2(p[0], 0);
		freopen("/dev/null", "w", stdout);
		freopen("/dev/null", "w", stderr);
		execl(prog, "su", "-c", "id", (char *)NULL);
		_exit(127);
	}
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	for (int i = 0; i < 200 && strcmp(comm, "su"); i++) {
		usleep(5000);
		esc_line(path, "Name:", comm, sizeof(comm));
	}
	esc_line(path, "Uid:", uids, sizeof(uids));
	snprintf(want, sizeof(want), "%u\t%u\t%u\t%u", getuid(), getuid(), getuid(), getuid());
	esc_is(e, "6:setuid_program", !strcmp(comm, "su") ? !strcmp(uids, want) : true, "%s runs as %s", comm,
	       uids);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);

	check_ids(&e);
	check_caps(&e);
	check_suid_exec(&e);
	return esc_end(&e);
}
